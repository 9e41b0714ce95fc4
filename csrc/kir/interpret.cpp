#include "kir/interpret.h"

#include "kir/interpreter.h"

namespace plait::kir {

std::vector<int64_t> buffer_extents(const Kernel& kernel, const std::vector<int64_t>& integers) {
  sym::Environment env;
  for (size_t i = 0; i < integers.size(); ++i) env[kernel.integers[i].symbol_name()] = integers[i];
  std::vector<int64_t> out;
  for (const Buffer& buffer : kernel.buffers) out.push_back(sym::evaluate(buffer.extent, env));
  return out;
}

void interpret(const Kernel& kernel, const std::vector<int64_t>& integers, const std::vector<void*>& arguments,
               Observer& observer) {
  Interpreter(kernel, observer).run(integers, arguments);
}

}  // namespace plait::kir
