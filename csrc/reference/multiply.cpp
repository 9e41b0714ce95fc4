#include "reference/multiply.h"

#include <algorithm>
#include <cmath>

namespace plait::reference {
namespace {

using Two = double __attribute__((vector_size(16)));

constexpr int64_t kPanelRows = 4;
constexpr int64_t kDepthBlock = 256;   // a panel of this depth stays in the first-level cache
constexpr int64_t kRowBlock = 128;     // rows of a that stay in the second-level cache
constexpr int64_t kColumnBlock = 256;  // rows of b for which a is packed once more

int64_t panels_of(int64_t rows) { return (rows + kPanelRows - 1) / kPanelRows; }

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

// A block of a matrix in panels of four rows, so that a product reads memory in order: element (row, k) lies at
// (row / 4 * depth + k) * 4 + row % 4. What fills up the last panel is not read.
struct Block {
  int64_t rows = 0, depth = 0;
  std::vector<double> value, absolute, largest;  // x; |x|; |x| + radius

  void pack(const Matrix& m, int64_t first, int64_t count, std::span<const int64_t> indices, const ProductSums& to);

 private:
  void pack(const double* from, const Matrix& m, std::span<const int64_t> indices, std::vector<double>& into) const;
};

void Block::pack(const double* from, const Matrix& m, std::span<const int64_t> indices,
                 std::vector<double>& into) const {
  into.resize(static_cast<size_t>(panels_of(rows) * kPanelRows * depth));
  double* target = into.data();
  for (int64_t row = 0; row < rows; row += kPanelRows) {
    const double* lines[kPanelRows];
    for (int64_t r = 0; r < kPanelRows; ++r) lines[r] = from + std::min(row + r, rows - 1) * m.row_stride;
    for (const int64_t k : indices)
      for (const double* line : lines) *target++ = line[k * m.k_stride];
  }
}

void Block::pack(const Matrix& m, int64_t first, int64_t count, std::span<const int64_t> indices,
                 const ProductSums& to) {
  rows = count, depth = static_cast<int64_t>(indices.size());
  const int64_t offset = first * m.row_stride;
  pack(m.value + offset, m, indices, value);
  if (!to.wide) return;
  absolute.resize(value.size());
  for (size_t i = 0; i < value.size(); ++i) absolute[i] = std::abs(value[i]);
  if (!to.plain) return;
  if (m.radius)
    pack(m.radius + offset, m, indices, largest);
  else
    largest.assign(value.size(), 0.0);
  for (size_t i = 0; i < value.size(); ++i) largest[i] += absolute[i];
}

// c[i * stride + j] += the product of row i of a and row j of b.
void add_block(const Block& a, const std::vector<double>& left, const Block& b, const std::vector<double>& right,
               double* c, int64_t stride) {
  for (int64_t col = 0; col < b.rows; col += kPanelRows)
    for (int64_t row = 0; row < a.rows; row += kPanelRows)
      add_tile(left.data() + row * a.depth, right.data() + col * b.depth, a.depth, c + row * stride + col, stride,
               std::min(kPanelRows, a.rows - row), std::min(kPanelRows, b.rows - col));
}

}  // namespace

// Blocks are packed where they are used, so that what was read once is still in a cache.
void multiply_add(const Matrix& a, const Matrix& b, std::span<const int64_t> indices, const ProductSums& to) {
  Block left, right;
  for (size_t k = 0; k < indices.size(); k += kDepthBlock) {
    const auto some = indices.subspan(k, std::min<size_t>(kDepthBlock, indices.size() - k));
    for (int64_t col = 0; col < b.rows; col += kColumnBlock) {
      right.pack(b, col, std::min(kColumnBlock, b.rows - col), some, to);
      for (int64_t row = 0; row < a.rows; row += kRowBlock) {
        left.pack(a, row, std::min(kRowBlock, a.rows - row), some, to);
        const int64_t at = row * b.rows + col;
        add_block(left, left.value, right, right.value, to.sum + at, b.rows);
        if (to.plain) add_block(left, left.absolute, right, right.absolute, to.plain + at, b.rows);
        if (!to.wide) continue;
        const bool radii = to.plain != nullptr;
        add_block(left, radii ? left.largest : left.absolute, right, radii ? right.largest : right.absolute,
                  to.wide + at, b.rows);
      }
    }
  }
}

}  // namespace plait::reference
