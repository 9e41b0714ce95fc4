#pragma once
// The one loop nest behind every product of the reference evaluator.
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace plait::reference {

// An operand [rows, k] within arrays: element (row, k) lies at row * row_stride + k * k_stride.
struct Matrix {
  const double* value;
  const double* radius;  // of each value; null where they have none
  int64_t rows, row_stride, k_stride;
};

// What a product adds to, element (i, j) at i * b.rows + j. Null: not asked for; sum and wide or plain with it.
struct ProductSums {
  double* sum;              // of a b
  double* wide = nullptr;   // of (|a| + radius) (|b| + radius)
  double* plain = nullptr;  // of |a| |b|
};

// Adds sum over the indices k of a(i, k) * b(j, k), in double, in blocks of the indices' order.
void multiply_add(const Matrix& a, const Matrix& b, std::span<const int64_t> indices, const ProductSums& to);

}  // namespace plait::reference
