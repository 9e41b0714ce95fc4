#include "reference/multiply.h"

#include <algorithm>
#include <cstring>

namespace plait::reference {
namespace {

using Four = double __attribute__((vector_size(32)));
static_assert(kPanelRows == 4);

constexpr int64_t kDepthBlock = 256;  // a panel of this depth stays in the first-level cache
constexpr int64_t kRowBlock = 32;     // panels of a kept in the second-level cache

// One 4 x 4 tile of the product over `depth` steps, added to c.
void add_tile(const double* a, const double* b, int64_t depth, double* c, int64_t stride, int64_t rows, int64_t cols) {
  Four sum[kPanelRows] = {};
  for (int64_t k = 0; k < depth; ++k, a += kPanelRows, b += kPanelRows) {
    Four right;
    std::memcpy(&right, b, sizeof right);
    sum[0] += a[0] * right;
    sum[1] += a[1] * right;
    sum[2] += a[2] * right;
    sum[3] += a[3] * right;
  }
  for (int64_t i = 0; i < rows; ++i)
    for (int64_t j = 0; j < cols; ++j) c[i * stride + j] += sum[i][j];
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
