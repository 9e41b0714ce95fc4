#include "run/donations.h"

#include <algorithm>
#include <set>

#include "program/happens_before.h"

namespace plait {
namespace {

// The steps that name each value, by value.
struct Uses {
  std::vector<std::vector<size_t>> reads, writes;
  explicit Uses(const Program& program) : reads(program.values.size()), writes(program.values.size()) {
    for (size_t s = 0; s < program.steps.size(); ++s) {
      for (ValueId id : plait::reads(*program.steps[s])) reads[id.index].push_back(s);
      for (ValueId id : plait::writes(*program.steps[s])) writes[id.index].push_back(s);
    }
  }
};

}  // namespace

std::vector<std::vector<size_t>> possible_donations(const Program& program, const RankBinding& binding) {
  const Uses uses(program);
  const HappensBefore order(program);
  std::set<uint32_t> replaced;
  for (ValueId id : program.outputs)
    if (const auto of = program.value(id).in_place_of) replaced.insert(of->index);
  std::vector<std::vector<size_t>> out(program.inputs.size());
  for (size_t i = 0; i < program.inputs.size(); ++i) {
    const uint32_t input = program.inputs[i].index;
    if (replaced.contains(input) || binding.bytes[input] <= 0) continue;
    for (size_t o = 0; o < program.outputs.size(); ++o) {
      const ValueId output = program.outputs[o];
      if (program.value(output).in_place_of || binding.bytes[output.index] != binding.bytes[input]) continue;
      const auto dead_at = [&](size_t write) {
        return std::all_of(uses.reads[input].begin(), uses.reads[input].end(),
                           [&](size_t read) { return order.before(read, write); });
      };
      const auto& writes = uses.writes[output.index];
      if (!writes.empty() && std::all_of(writes.begin(), writes.end(), dead_at)) out[i].push_back(o);
    }
  }
  return out;
}

}  // namespace plait
