#pragma once
// Happens-before between the threads of one block, as far as barriers make it: an access is ordered before a thread if
// a barrier that its thread reached behind it is known to that thread.
#include <array>
#include <cstdint>
#include <vector>

#include "sim/ptx/program.h"

namespace plait::sim::ptx {

// When an access of a lane happened, in the time of its block, of its warp and of its lanes.
struct Moment {
  uint32_t epoch = 0;     // barriers of the whole block before it, in all blocks so far
  uint32_t meeting = 0;   // bar.warp.sync of the warp before it
  uint32_t arrivals = 0;  // of the warp at barriers of a part of the block, in all blocks so far
  uint16_t warp = 0;
  friend bool operator==(const Moment&, const Moment&) = default;
};

class ThreadOrder {
 public:
  explicit ThreadOrder(size_t warps);

  // A block begins: what was before is ordered before all of it.
  void begin() { whole_barrier(); }
  Moment now(uint32_t warp) const;
  // Whether an access of a lane, another one or the same, is ordered before what `lane` of `warp` does now.
  bool before(const Moment& moment, int other, uint32_t warp, int lane) const {
    if (moment.epoch != epoch_) return true;
    if (moment.warp != warp) return of_[warp].known[moment.warp] > moment.arrivals;
    const OfWarp& own = of_[warp];
    return other == lane || moment.meeting < own.all_met || moment.arrivals < own.known[warp] ||
           moment.meeting < own.met[static_cast<size_t>(lane)][static_cast<size_t>(other)];
  }

  // bar.warp.sync of these lanes; `all`: every live lane of the warp.
  void meet(uint32_t warp, uint32_t lanes, bool all);
  // A barrier that all live threads of the block reached.
  void whole_barrier();

  // A barrier of a part of the block. What each warp knows where it arrives is brought together, and those that waited
  // take it with them.
  using Knowledge = std::vector<uint32_t>;  // by warp: arrivals
  void arrive(uint32_t warp, Knowledge* together);
  void take(uint32_t warp, const Knowledge& together);

 private:
  struct OfWarp {
    uint32_t meetings = 0;                                   // so far
    uint32_t all_met = 0;                                    // the number of the last one of all lanes
    std::array<std::array<uint32_t, kLanes>, kLanes> met{};  // by two lanes: the number of the last that joins them
    uint32_t arrivals = 0;
    Knowledge known;
  };

  uint32_t epoch_ = 1;
  std::vector<OfWarp> of_;
};

}  // namespace plait::sim::ptx
