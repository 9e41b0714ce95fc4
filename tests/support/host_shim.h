#pragma once
// Runs generated CUDA text on the host: the same text, compiled as C++ behind host_shim_prelude.h. Blocks and threads
// run one after the other, so it fits kernels without barriers.
#include <memory>
#include <string>

#include "device/device.h"
#include "kir/kernel.h"

namespace plait::test {

// The text as an executable; grid and block come with each launch. Compiled libraries are kept by content in the build
// folder. A text that does not compile, or no host compiler, is an InternalError with the compiler's messages.
std::shared_ptr<Executable> compile_host_cuda(const KernelText& kernel);
// Writes the kernel as CUDA first.
std::shared_ptr<Executable> compile_host_cuda(const kir::Kernel& kernel);

// A device named "host_cuda" over compile_host_cuda and host memory; it has no library products.
std::unique_ptr<Device> make_shim_device();

// Launches with the kernel's own grid and block, found from its integers.
void launch(const kir::Kernel& kernel, const Executable& executable, std::span<void* const> buffers,
            std::span<const int64_t> integers);

}  // namespace plait::test
