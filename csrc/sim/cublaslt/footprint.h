#pragma once
// Which bytes a matrix of a layout occupies.
#include <cstdint>
#include <vector>

#include "sim/cublaslt/descriptors.h"

namespace plait::sim::cublaslt {

struct Range {
  uint64_t begin = 0, end = 0;  // addresses
};

// The bytes of a batch of matrices at `address`, sorted, touching ranges joined.
struct Footprint {
  std::vector<Range> ranges;
  bool overlaps_itself = false;  // two elements share bytes, as in a batch without a stride
  uint64_t begin() const { return ranges.front().begin; }
  uint64_t end() const { return ranges.back().end; }
};

// Bytes from the first to the last byte of the batch; at least 1 element per matrix.
uint64_t extent(const Layout& layout);
Footprint footprint(const Layout& layout, uint64_t address);
bool overlap(const Footprint& a, const Footprint& b);

}  // namespace plait::sim::cublaslt
