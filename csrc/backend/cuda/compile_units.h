#pragma once
// Kernels compiled together, on threads.
#include <span>
#include <string>
#include <vector>

#include "backend/cuda/nvrtc.h"

namespace plait {

struct CompiledUnit {
  std::vector<size_t> kernels;  // which of those given, in their order
  std::string title;            // their names
  NvrtcUnit result;
};

// Groups kernels with different names into units and compiles those on up to `threads` threads, the caller's included
// (0: one per core; 1 starts none). As many units as threads: a kernel more in a unit costs about half of a run of its
// own. Runs of NVRTC are kept in `disk` (may be null). The first error in
// order of the kernels is thrown when all are done.
std::vector<CompiledUnit> compile_units(std::span<const KernelText> kernels, const std::string& architecture,
                                        int threads, DiskCache* disk = nullptr);

}  // namespace plait
