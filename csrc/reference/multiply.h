#pragma once
// The one loop nest behind every product of the reference evaluator.
#include <cstddef>
#include <cstdint>
#include <vector>

namespace plait::reference {

inline constexpr int64_t kPanelRows = 4;

// Rows of a matrix in panels of four, so that a product reads memory in order: element (row, k) lies at
// (row / 4 * depth + k) * 4 + row % 4. Rows that fill up the last panel are 0.
struct Panels {
  int64_t rows = 0, depth = 0;
  std::vector<double> data;
};

// `get(row, k)` gives the elements.
template <class Get>
Panels pack(int64_t rows, int64_t depth, Get&& get) {
  Panels panels{rows, depth, {}};
  panels.data.assign(static_cast<size_t>((rows + kPanelRows - 1) / kPanelRows * kPanelRows * depth), 0.0);
  for (int64_t row = 0; row < rows; ++row) {
    double* target = panels.data.data() + row / kPanelRows * kPanelRows * depth + row % kPanelRows;
    for (int64_t k = 0; k < depth; ++k) target[k * kPanelRows] = get(row, k);
  }
  return panels;
}

// c[i * b.rows + j] += sum over begin <= k < end of a(i, k) * b(j, k), in double.
void multiply_add(const Panels& a, const Panels& b, int64_t begin, int64_t end, double* c);

}  // namespace plait::reference
