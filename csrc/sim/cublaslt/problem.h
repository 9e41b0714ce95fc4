#pragma once
// What a matmul asks for, read from its descriptors and checked against what the library supports.
#include <cstdint>
#include <optional>
#include <string>

#include "scalar/dtype.h"
#include "sim/cublaslt/descriptors.h"
#include "sim/cublaslt/multiply.h"

namespace plait::sim::cublaslt {

struct Problem {
  int64_t m = 0, n = 0, k = 0, batch = 1;
  Precision precision = Precision::f32;
  Activation activation = Activation::none;
  bool bias = false;
  DType bias_type = DType::f32, scale_type = DType::f32;
  Layout a{}, b{}, c{}, d{};
  MatmulDesc desc{};
};

struct Refusal {
  cublasStatus_t status = CUBLAS_STATUS_INVALID_VALUE;
  std::string why;
  bool probe = false;  // a question that a careful caller asks: no finding when a heuristic answers it
};

inline Refusal invalid(std::string why) { return {CUBLAS_STATUS_INVALID_VALUE, std::move(why), false}; }

// Reads the descriptors. Nothing: `problem` is one that the stand-in computes.
// NOT_SUPPORTED with `probe`: the real library refuses it too, and asking is fair. NOT_SUPPORTED without: the real
// library may do it, the stand-in does not. INVALID_VALUE: the descriptors contradict each other.
std::optional<Refusal> read_problem(cublasLtMatmulDesc_t desc, cublasLtMatrixLayout_t a, cublasLtMatrixLayout_t b,
                                    cublasLtMatrixLayout_t c, cublasLtMatrixLayout_t d, Problem* problem);

// Everything that an algorithm may depend on, in 64 bits.
uint64_t fingerprint(const Problem& problem);

DType element_type(int32_t cuda_type);  // of the types of types.def
// Distance between neighbours along the leading dimension's other side: elements (row, column) lie at
// row * row_stride + column * column_stride.
int64_t row_stride(const Layout& layout);
int64_t column_stride(const Layout& layout);
// "A [512 x 64, ld 512, column-major, f32]"
std::string describe(const char* name, const Layout& layout);

}  // namespace plait::sim::cublaslt
