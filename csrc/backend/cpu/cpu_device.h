#pragma once
// The CPU as a device: kernels from LLVM IR text through the LLVM plug-in, contractions through the oneDNN plug-in, a
// thread pool of its own.
#include <memory>
#include <string>

#include "backend/cpu/thread_pool.h"
#include "device/device.h"
#include "device/memory_pool.h"

namespace plait {
// What a device of this kind has and may use.
struct CpuOptions {
  int threads = 0;  // threads that run a kernel, the caller's included; 0: one per core; 1 starts none
  int lanes = 0;    // f32 lanes of vectors; 0: what the processor prefers (16, 8 or 4)
  // Folder of libplait_llvm.so and libplait_onednn.so. Empty: where plugin_folders() of
  // base/library_search.h says.
  std::string plugin_folder;
  int64_t kept_mib = -1;   // of freed memory, for later runs; -1: a quarter of the machine's, 0: none
  bool disk_cache = true;  // kernels are kept in DiskCache::of_process()
  LentThreads lent{};      // not empty: kernels run on these, at most `threads` at once, and the device starts none
  // What code is made for: "native", or "x86-64-v2" to "x86-64-v4", of which the host may lack some: then kernels
  // compile, and a launch is a UserError.
  std::string processor = "native";
};

// Starts no thread and loads no library until the first launch or compile that needs them. compile() throws
// MissingError if the LLVM plug-in is absent, InternalError if it refuses the text. Safe to use from several threads at
// once; results do not depend on the number of threads. Executables keep the device's parts alive.
std::unique_ptr<Device> make_cpu_device(const CpuOptions& options = {});

// Of the memory of a device that make_cpu_device made; zeros of other devices, which keep none.
MemoryCounts memory_counts(Device& device);

}  // namespace plait
