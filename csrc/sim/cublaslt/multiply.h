#pragma once
// The arithmetic of matrix products, in host memory.
#include <cstdint>
#include <vector>

#include "scalar/dtype.h"

namespace plait::sim::cublaslt {

// How operands are rounded and sums are formed. Products of one element of D are added in the order of k, each by one
// fused multiply-add.
//   f64   doubles.
//   f32   floats; f16 and bf16 operands are exact in them.
//   tf32  as f32 after rounding the operands to 10 bits of mantissa, to nearest, ties away from zero (cvt.rna.tf32).
//   f16   as f32 over 16 products, after which the sum is rounded to f16 and goes on from there.
enum class Precision : uint8_t { f64, f32, tf32, f16 };

enum class Activation : uint8_t { none, relu, gelu };

// Where element (row, column) of a matrix lies: base + row * row_stride + column * column_stride, in elements.
struct View {
  DType type = DType::f32;
  const void* base = nullptr;
  int64_t row_stride = 1, column_stride = 1;
};

// One product: d = activation(alpha * a b + beta * c + bias), a [m, k], b [k, n], bias [m]; computed in f32 (f64 where
// the precision is), rounded once to the type of d. c is read only where beta is not 0. gelu is the tanh form.
// `splits` > 1: k is cut into that many parts of whole multiples of 16, the sums of which are added in order.
struct Product {
  Precision precision = Precision::f32;
  int64_t m = 0, n = 0, k = 0;
  int splits = 1;
  View a, b, c, d;
  const void* bias = nullptr;  // null: none
  DType bias_type = DType::f32;
  double alpha = 1, beta = 0;
  Activation activation = Activation::none;
};

// Operands are read before anything is written, so d may be c.
void multiply(const Product& product);

// The float rounded to tf32, to nearest, ties away from zero; NaN and infinities stay.
float round_to_tf32(float value);

}  // namespace plait::sim::cublaslt
