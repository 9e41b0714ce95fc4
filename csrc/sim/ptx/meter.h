#pragma once
// What the accesses of a launch would cost a GPU's memory, counted request by request.
#include <unordered_set>

#include "sim/ptx/program.h"

namespace plait::sim::ptx {

// One instruction of a warp is a request. Atomics are not counted.
class Meter {
 public:
  explicit Meter(MemoryCounts& counts) : counts_(counts) {}

  // `at`: addresses of the lanes in device memory, or offsets in that of the block; each lane has `bytes` there.
  void device(const uint64_t* at, uint32_t lanes, size_t bytes, bool write);
  void shared(const uint64_t* at, uint32_t lanes, size_t bytes);

 private:
  MemoryCounts& counts_;
  std::unordered_set<uint64_t> read_, written_;  // sectors
};

}  // namespace plait::sim::ptx
