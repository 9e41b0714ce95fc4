#pragma once
// How cuBLASLt computes one problem: descriptors and the algorithms that it proposes, best first.
#include <array>
#include <memory>
#include <string>
#include <vector>

#include "backend/cuda/cublaslt/cublaslt.h"
#include "backend/cuda/cublaslt/library.h"

namespace plait {

// What a plan depends on. Row-major operands are given to the library as their column-major transposes:
// out^T [n, m] = op(b) [n, k] op(a) [k, m].
struct PlanKey {
  MatmulProblem problem;  // without alpha and beta; dense strides written out
  bool reads_out = false;
  bool tf32 = false;
  int ordinal = 0;
  size_t workspace_bytes = 0;
  unsigned align_a = 256, align_b = 256, align_out = 256, align_bias = 256;  // bytes, powers of two

  auto fields() const {
    const MatmulProblem& p = problem;
    return std::array<int64_t, 25>{int64_t(p.in),
                                   int64_t(p.out),
                                   p.transpose_a,
                                   p.transpose_b,
                                   p.batch,
                                   p.m,
                                   p.n,
                                   p.k,
                                   p.a_row,
                                   p.b_row,
                                   p.out_row,
                                   p.a_batch,
                                   p.b_batch,
                                   p.out_batch,
                                   int64_t(p.epilogue),
                                   p.bias,
                                   reads_out,
                                   tf32,
                                   ordinal,
                                   int64_t(workspace_bytes),
                                   align_a,
                                   align_b,
                                   align_out,
                                   align_bias,
                                   0};
  }
  bool operator<(const PlanKey& other) const { return fields() < other.fields(); }
};

// A descriptor of the library that goes with its scope.
template <class T>
using LtHandle = std::unique_ptr<std::remove_pointer_t<T>, cublasStatus_t (*)(T)>;
using LtOperation = LtHandle<cublasLtMatmulDesc_t>;
using LtLayout = LtHandle<cublasLtMatrixLayout_t>;
using LtPreference = LtHandle<cublasLtMatmulPreference_t>;

struct Plan {
  LtOperation operation;  // of a plan with a bias: with the pointer of whoever made it
  LtLayout a, b, out;     // the library's A is our b, its B our a
  bool wide = false;      // alpha and beta are f64, else f32
  std::vector<cublasLtMatmulAlgo_t> algorithms;
};

LtOperation make_operation(const CublasLtLibrary& library, const PlanKey& key, const void* bias);

// The plan, or null with the reason where the library has no algorithm. `bias`: where problem.bias.
std::shared_ptr<const Plan> make_plan(const CublasLtLibrary& library, cublasLtHandle_t handle, const PlanKey& key,
                                      const void* bias, std::string* why_not);

}  // namespace plait
