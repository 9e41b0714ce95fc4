#include "reference/multiply.h"

#include <algorithm>
#include <cmath>

#include "reference/tile.h"

namespace plait::reference {
namespace {

constexpr int64_t kPanelRows = kTile;
constexpr int64_t kDepthBlock = 256;   // a panel of this depth stays in the first-level cache
constexpr int64_t kRowBlock = 128;     // rows of a that stay in the second-level cache
constexpr int64_t kColumnBlock = 256;  // rows of b for which a is packed once more

int64_t panels_of(int64_t rows) { return (rows + kPanelRows - 1) / kPanelRows; }

void add_tile(const double (&from)[kPanelRows][kPanelRows], double* c, int64_t stride, int64_t rows, int64_t cols) {
  for (int64_t i = 0; i < rows; ++i)
    for (int64_t j = 0; j < cols; ++j) c[i * stride + j] += from[i][j];
}

// A block of a matrix in panels of four rows, so that a product reads memory in order: element (row, k) lies at
// (row / 4 * depth + k) * 4 + row % 4. What fills up the last panel is not read.
struct Block {
  int64_t rows = 0, depth = 0;
  std::vector<double> value, largest;  // x; |x| + radius

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
  if (!to.plain) return;
  if (m.radius)
    pack(m.radius + offset, m, indices, largest);
  else
    largest.assign(value.size(), 0.0);
  for (size_t i = 0; i < value.size(); ++i) largest[i] += std::abs(value[i]);
}

// c[i * stride + j] += the product of row i of a and row j of b, and the same of |terms| to `absolute` unless it is
// null.
void add_block(const Block& a, const std::vector<double>& left, const Block& b, const std::vector<double>& right,
               double* c, double* absolute, int64_t stride) {
  static const TileProduct product = fastest_tile();
  for (int64_t col = 0; col < b.rows; col += kPanelRows) {
    for (int64_t row = 0; row < a.rows; row += kPanelRows) {
      Tile tile;
      product(left.data() + row * a.depth, right.data() + col * b.depth, a.depth, tile);
      const int64_t at = row * stride + col;
      const int64_t rows = std::min(kPanelRows, a.rows - row), cols = std::min(kPanelRows, b.rows - col);
      add_tile(tile.sum, c + at, stride, rows, cols);
      if (absolute) add_tile(tile.absolute, absolute + at, stride, rows, cols);
    }
  }
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
        double* absolute = to.plain ? to.plain : to.wide;
        add_block(left, left.value, right, right.value, to.sum + at, absolute ? absolute + at : nullptr, b.rows);
        if (to.plain) add_block(left, left.largest, right, right.largest, to.wide + at, nullptr, b.rows);
      }
    }
  }
}

}  // namespace plait::reference
