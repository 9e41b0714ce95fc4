#include "reference/multiply.h"

#include <algorithm>

namespace plait::reference {
namespace {

using Two = double __attribute__((vector_size(16)));
static_assert(kPanelRows == 4);

constexpr int64_t kDepthBlock = 256;  // a panel of this depth stays in the first-level cache
constexpr int64_t kRowBlock = 32;     // panels of a kept in the second-level cache

// One 4 x 4 tile of the product over `depth` steps, added to c. The eight sums live in registers.
void add_tile(const double* a, const double* b, int64_t depth, double* c, int64_t stride, int64_t rows, int64_t cols) {
  Two s00{}, s01{}, s10{}, s11{}, s20{}, s21{}, s30{}, s31{};
  for (int64_t k = 0; k < depth; ++k, a += kPanelRows, b += kPanelRows) {
    const Two b0{b[0], b[1]}, b1{b[2], b[3]};
    const Two a0{a[0], a[0]}, a1{a[1], a[1]}, a2{a[2], a[2]}, a3{a[3], a[3]};
    s00 += a0 * b0, s01 += a0 * b1;
    s10 += a1 * b0, s11 += a1 * b1;
    s20 += a2 * b0, s21 += a2 * b1;
    s30 += a3 * b0, s31 += a3 * b1;
  }
  const Two sums[kPanelRows][2] = {{s00, s01}, {s10, s11}, {s20, s21}, {s30, s31}};
  for (int64_t i = 0; i < rows; ++i)
    for (int64_t j = 0; j < cols; ++j) c[i * stride + j] += sums[i][j / 2][j % 2];
}

}  // namespace

void multiply_add(const Panels& a, const Panels& b, int64_t begin, int64_t end, double* c) {
  const int64_t a_panels = (a.rows + kPanelRows - 1) / kPanelRows, b_panels = (b.rows + kPanelRows - 1) / kPanelRows;
  for (int64_t k = begin; k < end; k += kDepthBlock) {
    const int64_t depth = std::min(kDepthBlock, end - k);
    for (int64_t block = 0; block < a_panels; block += kRowBlock)
      for (int64_t q = 0; q < b_panels; ++q)
        for (int64_t p = block; p < std::min(block + kRowBlock, a_panels); ++p)
          add_tile(a.data.data() + (p * a.depth + k) * kPanelRows, b.data.data() + (q * b.depth + k) * kPanelRows,
                   depth, c + p * kPanelRows * b.rows + q * kPanelRows, b.rows,
                   std::min(kPanelRows, a.rows - p * kPanelRows), std::min(kPanelRows, b.rows - q * kPanelRows));
  }
}

}  // namespace plait::reference
