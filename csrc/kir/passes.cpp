#include "kir/passes.h"

#include "kir/expand_functions.h"

namespace plait::kir {

std::span<const KernelPass> kernel_passes() {
  static constexpr KernelPass kPasses[] = {
      {"expand_functions", expand_functions},
  };
  return kPasses;
}

void run_passes(Kernel& kernel, std::string_view until) {
  for (const KernelPass& pass : kernel_passes()) {
    pass.run(kernel);
    verify(kernel);
    if (pass.name == until) return;
  }
}

}  // namespace plait::kir
