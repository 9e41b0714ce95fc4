#pragma once
// A contraction left to a library, and the integers that say its extents and where its operands lie.
#include <compare>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "scalar/dtype.h"

namespace plait {

// out[..., m, n] = sum_k a[..., m, k] * b[..., k, n], the same batch dims in all three. `linear`: b is the weight of a
// linear, one for all batches. Launch: buffers {a, b, out}, each at its first element, and the integers of a
// ContractionArguments. Zero extents never reach a library; an empty sum is zero.
struct LibraryContraction {
  DType in = DType::f32, out = DType::f32;
  bool linear = true;
  auto operator<=>(const LibraryContraction&) const = default;
};

// `linear` or `matmul`.
std::string form_text(const LibraryContraction& contraction);

// Where an operand lies: element (i..., r, c) at sum i * batch + r * row + c * column from its first one, counted in
// elements. A stride 0 along a batch dim shares one matrix. `offset`, the first element's place in its buffer, only
// says how a buffer that is aligned itself is aligned there.
struct ContractionOperand {
  int64_t row = 0, column = 0, offset = 0;
  std::span<const int64_t> batch{};
  // From the first element to that of matrix number `index`, row-major over `extents`.
  int64_t matrix(int64_t index, std::span<const int64_t> extents) const;
};

// The integers of a launch by name; `a` has rows m and columns k, `b` rows k and columns n, `out` rows m and columns n.
struct ContractionArguments {
  std::span<const int64_t> batch{};  // extents
  int64_t m = 0, n = 0, k = 0;
  ContractionOperand a, b, out;

  ContractionArguments() = default;
  // InternalError: not as many integers as there can be, or a negative one.
  explicit ContractionArguments(std::span<const int64_t> integers);
  int64_t matrices() const;  // product of `batch`
  std::vector<int64_t> integers() const;
  std::string text() const;  // "batch 2 x 8, m 3, n 4, k 5"
};

// The same contraction with as few batch dims as strides allow: dims of extent 1 go, neighbours that lie as one dim
// become one, and a batch that shares b and continues the rows of a and out becomes rows. Dims along which both
// operands repeat come first.
std::vector<int64_t> simplify_contraction(std::span<const int64_t> integers);

// Writes zeros to the result, which host memory at `out` holds: an empty sum.
void zero_result(const ContractionArguments& contraction, void* out, DType dtype);

}  // namespace plait
