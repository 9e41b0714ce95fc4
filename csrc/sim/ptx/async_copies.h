#pragma once
// Copies that threads of a block have under way from device memory to its shared memory (cp.async). Their bytes are
// there when their thread has waited for them; until then nobody may touch either end.
#include <array>
#include <cstdint>
#include <vector>

#include "sim/ptx/program.h"

namespace plait::sim::ptx {

inline constexpr size_t kMostCopied = 16;  // bytes of a copy

struct AsyncCopy {
  const Instruction* by = nullptr;
  uint32_t number = 0;  // in the block, from 1
  uint32_t warp = 0;
  int lane = 0;
  size_t offset = 0, bytes = 0;  // in shared memory
  uint64_t from = 0;             // in device memory
  size_t read = 0;               // bytes of these; behind them come zeros
  std::array<uint8_t, kMostCopied> data{};
};

class AsyncCopies {
 public:
  explicit AsyncCopies(size_t warps) : lanes_(warps * kLanes) {}

  void begin();                                  // of a block: nothing is under way
  uint32_t add(AsyncCopy copy);                  // to the open group of its lane; its number
  void commit(uint32_t warp, int lane);          // ends the open group
  const AsyncCopy* find(uint32_t number) const;  // one that is under way; null: none
  // Ends those of a lane that are in none of its newest `kept` groups and not in the open one; in order.
  std::vector<AsyncCopy> finish(uint32_t warp, int lane, uint32_t kept);

 private:
  struct OfLane {
    std::vector<std::vector<AsyncCopy>> groups;  // that have ended, oldest first
    std::vector<AsyncCopy> open;
  };
  OfLane& at(uint32_t warp, int lane) { return lanes_[warp * kLanes + static_cast<size_t>(lane)]; }

  std::vector<OfLane> lanes_;
  uint32_t count_ = 0;
};

}  // namespace plait::sim::ptx
