#include "device/device.h"

#include <fmt/format.h>

#include "base/error.h"

namespace plait {

std::string KernelText::signature() const {
  std::string out =
      fmt::format("{} {} {} {} {} {}", buffers, integers, status, workspaces, counters, fmt::join(waves, " "));
  return shared_bytes.empty() ? out : fmt::format("{} shared {}", out, fmt::join(shared_bytes, " "));
}

std::string phase_entry(const std::string& kernel, size_t phase) {
  return phase == 0 ? kernel : fmt::format("{}_phase{}", kernel, phase);
}

std::shared_ptr<Memory> Device::shared_memory(size_t bytes, int ordinal) { return allocator(ordinal).allocate(bytes); }

std::unique_ptr<Stream> Device::make_stream(int) { return make_host_stream(); }

std::unique_ptr<Stream> Device::adopt_stream(void*, int) {
  throw UserError("this device has no streams of its own", "device " + name(), "leave the stream empty");
}

std::shared_ptr<const std::string> Device::machine_code(const KernelText&) {
  throw UserError("this device has no machine code", "device " + name(), "take cpu or a GPU");
}

std::shared_ptr<Executable> Device::load(const KernelText&, const std::shared_ptr<const std::string>&,
                                         const KernelFacts&) {
  throw UserError("this device has no machine code", "device " + name(), "take cpu or a GPU");
}

std::string Device::code_lacks(std::string_view needs) const {
  return needs == code_needs() ? "" : fmt::format("it needs {}, and this is {}", needs, code_needs());
}

std::vector<CompiledKernel> Device::compile_many(std::span<const KernelText> kernels) {
  std::vector<CompiledKernel> out(kernels.size());
  for (size_t i = 0; i < kernels.size(); ++i) out[i].executable = compile(kernels[i], &out[i].facts);
  return out;
}

}  // namespace plait
