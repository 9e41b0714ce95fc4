// Where the shared variables of a kernel lie.
#include <algorithm>

#include "sim/ptx/text.h"

namespace plait::sim::ptx {

void place_shared(const std::vector<Variable>& of_module, TextKernel& kernel) {
  const auto names = [&](const Variable& variable) {
    const auto in = [&](const Operand& operand, const auto& again) -> bool {
      return operand.name == variable.name ||
             std::ranges::any_of(operand.elements, [&](const Operand& each) { return again(each, again); });
    };
    return std::ranges::any_of(kernel.statements, [&](const Statement& each) {
      return std::ranges::any_of(each.operands, [&](const Operand& operand) { return in(operand, in); });
    });
  };
  size_t& total = kernel.info.shared_bytes;
  const auto align = [&](const Variable& each) {
    total = (total + each.alignment - 1) / each.alignment * each.alignment;
  };
  std::vector<Variable> unsized;
  for (const Variable& each : of_module) {
    if (!names(each)) continue;
    if (each.bytes == 0) {
      unsized.push_back(each);
      continue;
    }
    align(each);
    kernel.variables.push_back(each);
    kernel.variables.back().offset = total;
    total += each.bytes;
  }
  for (const Variable& each : unsized) align(each);
  for (Variable& each : unsized) {
    each.offset = total;
    kernel.variables.push_back(std::move(each));
  }
}

}  // namespace plait::sim::ptx
