#include "sim/ptx/thread_order.h"

#include <algorithm>
#include <bit>

namespace plait::sim::ptx {

ThreadOrder::ThreadOrder(size_t warps) : of_(warps) {
  for (OfWarp& each : of_) each.known.assign(warps, 0);
}

Moment ThreadOrder::now(uint32_t warp) const {
  const OfWarp& own = of_[warp];
  return {epoch_, own.meetings, own.arrivals, static_cast<uint16_t>(warp)};
}

void ThreadOrder::meet(uint32_t warp, uint32_t lanes, bool all) {
  OfWarp& own = of_[warp];
  const uint32_t number = ++own.meetings;
  if (all) {
    own.all_met = number;
    return;
  }
  std::array<uint32_t, kLanes> together{};
  for (uint32_t rest = lanes; rest != 0; rest &= rest - 1) {
    const auto& of_lane = own.met[static_cast<size_t>(std::countr_zero(rest))];
    for (size_t other = 0; other < kLanes; ++other) together[other] = std::max(together[other], of_lane[other]);
  }
  for (uint32_t rest = lanes; rest != 0; rest &= rest - 1)
    together[static_cast<size_t>(std::countr_zero(rest))] = number;
  for (uint32_t rest = lanes; rest != 0; rest &= rest - 1)
    own.met[static_cast<size_t>(std::countr_zero(rest))] = together;
}

void ThreadOrder::whole_barrier() { ++epoch_; }

void ThreadOrder::arrive(uint32_t warp, Knowledge* together) {
  OfWarp& own = of_[warp];
  ++own.arrivals;
  together->resize(of_.size(), 0);
  for (size_t i = 0; i < of_.size(); ++i) (*together)[i] = std::max((*together)[i], own.known[i]);
  (*together)[warp] = own.arrivals;
}

void ThreadOrder::take(uint32_t warp, const Knowledge& together) {
  Knowledge& known = of_[warp].known;
  for (size_t i = 0; i < known.size(); ++i) known[i] = std::max(known[i], together[i]);
}

}  // namespace plait::sim::ptx
