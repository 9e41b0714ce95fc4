#pragma once
// Random kernels as lowering emits them: loops of kind lanes and marked `unroll`, conditions in place, one statement
// per load, op and store, reductions as statements; and what they run on.
#include <memory>
#include <random>
#include <string>
#include <vector>

#include "device/tensor.h"
#include "support/kernel_builder.h"

namespace plait::test {

struct RandomKernel {
  kir::Kernel kernel;
  bool exact = true;  // whether any order of its additions gives the same bits
};

// Buffers: x f32[rows*columns], w f32[columns], s f32[rows], index i64[columns], seed u64[1], narrow bf16[columns];
// written: y f32[rows*columns], z f32[rows]. Integers: rows (at most 16), columns (at most 256).
RandomKernel random_kernel(uint64_t seed);

// Data of small integers, `y` and `z` filled with a mark.
std::vector<Tensor> random_kernel_tensors(int64_t rows, int64_t columns, uint64_t seed);

// Whether results agree: bit for bit but for NaN, or to a thousandth where the kernel is not exact.
bool results_agree(const Tensor& a, const Tensor& b, bool exact);

}  // namespace plait::test
