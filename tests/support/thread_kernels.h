#pragma once
// Kernels of GPUs whose threads cooperate, as text: of every reduction, of several passes over a row.
#include <string>
#include <vector>

#include "kir/kernel.h"

namespace plait::testing {

struct ThreadKernel {
  std::string name, text;
  std::vector<std::vector<int64_t>> sizes;  // values of its integers
};
const std::vector<ThreadKernel>& thread_kernels();

// Memory of the arguments: what is read drawn by the seed (small whole numbers, so that sums are exact), the rest 0.
std::vector<std::vector<unsigned char>> thread_kernel_memory(const kir::Kernel& kernel,
                                                             const std::vector<int64_t>& integers, uint64_t seed);

}  // namespace plait::testing
