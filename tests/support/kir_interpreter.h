#pragma once
// A slow executor of kernels of kernel IR over doubles. Every access is checked: bounds, claims about lanes, each
// element of a written buffer stored exactly once, of an updated one at least once, unless atomics keep it.
#include <vector>

#include "kir/kernel.h"

namespace plait::test {

// What ran: iterations of all loops, statements that touched memory.
struct Counts {
  int64_t iterations = 0, loads = 0, stores = 0, atomics = 0;
};

// buffers[i] holds the elements of kernel.buffers[i] (written ones are filled). Values are not rounded to f32; narrow
// stores and rounds are. Throws std::runtime_error naming the first wrong access.
Counts interpret(const kir::Kernel& kernel, std::vector<std::vector<double>>& buffers,
                 const std::vector<int64_t>& integers);

}  // namespace plait::test
