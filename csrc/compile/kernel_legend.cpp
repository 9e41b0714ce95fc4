#include "compile/kernel_legend.h"

#include <fmt/core.h>

#include "ir/tensor_view.h"

namespace plait {

std::string kernel_legend(const Fusion& fusion, const LoweredKernel& lowered) {
  const kir::Kernel& kernel = lowered.kernel;
  const bool cuda = kernel.target == TargetKind::cuda;
  std::string out;
  for (size_t i = 0; i < kir::passed_buffers(kernel); ++i) {
    const kir::Buffer& buffer = kernel.buffers[i];
    const TensorView* tensor = fusion.find(buffer.name);
    out += fmt::format("{}{} = %{}{}\n", cuda ? "// b" : "; buffers ", i, buffer.name,
                       tensor != nullptr ? ": " + type_text(*tensor) : "");
  }
  for (size_t i = 0; i < lowered.arguments.size(); ++i)
    out += fmt::format("{}{} = {}\n", cuda ? "// n" : "; integers ", i, sym::print(lowered.arguments[i]));
  return out;
}

}  // namespace plait
