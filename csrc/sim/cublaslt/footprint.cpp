#include "sim/cublaslt/footprint.h"

#include <algorithm>

#include "scalar/dtype.h"
#include "sim/cublaslt/problem.h"

namespace plait::sim::cublaslt {

uint64_t extent(const Layout& layout) {
  const bool column_major = layout.order == CUBLASLT_ORDER_COL;
  const uint64_t run = column_major ? layout.rows : layout.cols, runs = column_major ? layout.cols : layout.rows;
  const uint64_t elements = static_cast<uint64_t>(layout.batch_count - 1) * static_cast<uint64_t>(layout.batch_stride) +
                            (runs - 1) * static_cast<uint64_t>(layout.ld) + run;
  return elements * size_of(element_type(layout.type));
}

Footprint footprint(const Layout& layout, uint64_t address) {
  const bool column_major = layout.order == CUBLASLT_ORDER_COL;
  const auto element = static_cast<uint64_t>(size_of(element_type(layout.type)));
  const uint64_t run = (column_major ? layout.rows : layout.cols) * element;
  const uint64_t runs = column_major ? layout.cols : layout.rows;
  const uint64_t step = static_cast<uint64_t>(layout.ld) * element;
  const uint64_t batch_step = static_cast<uint64_t>(layout.batch_stride) * element;
  std::vector<Range> all;
  for (int32_t batch = 0; batch < layout.batch_count; ++batch) {
    const uint64_t base = address + static_cast<uint64_t>(batch) * batch_step;
    if (step == run) {
      all.push_back({base, base + run * runs});
    } else {
      for (uint64_t i = 0; i < runs; ++i) all.push_back({base + i * step, base + i * step + run});
    }
  }
  std::sort(all.begin(), all.end(), [](const Range& a, const Range& b) { return a.begin < b.begin; });
  Footprint result;
  for (const Range& range : all) {
    if (result.ranges.empty() || result.ranges.back().end < range.begin) {
      result.ranges.push_back(range);
      continue;
    }
    if (range.begin < result.ranges.back().end) result.overlaps_itself = true;
    result.ranges.back().end = std::max(result.ranges.back().end, range.end);
  }
  return result;
}

bool overlap(const Footprint& a, const Footprint& b) {
  size_t j = 0;
  for (const Range& range : a.ranges) {
    while (j < b.ranges.size() && b.ranges[j].end <= range.begin) ++j;
    if (j < b.ranges.size() && b.ranges[j].begin < range.end) return true;
  }
  return false;
}

}  // namespace plait::sim::cublaslt
