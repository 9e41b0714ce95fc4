#pragma once
// Where the lanes of a warp are in the program. Those at the smallest place run, until they reach the next place where
// others stand, which join them. Lanes that wait for others are not in that choice until somebody releases them.
#include <algorithm>
#include <array>
#include <bit>
#include <cstdint>

#include "sim/ptx/program.h"

namespace plait::sim::ptx {

class LanePlaces {
 public:
  // All lanes of `live` at the first instruction.
  void start(uint32_t live) {
    live_ = active_ = live;
    waiting_ = 0;
    place_ = 0;
    merge_at_ = kNoPlace;
    at_.fill(0);
  }
  uint32_t live() const { return live_; }        // lanes that have not ended
  uint32_t waiting() const { return waiting_; }  // of these, those that wait
  uint32_t active() const { return active_; }    // lanes that run; none where all live ones wait
  uint32_t place() const { return place_; }      // of those that run
  uint32_t place_of(int lane) const { return (active_ >> lane & 1) != 0 ? place_ : at_[static_cast<size_t>(lane)]; }

  // The active lanes go on.
  void next() { go(place_ + 1); }
  void branch(uint32_t taken, uint32_t target) {
    if (taken == active_) {
      target > merge_at_ ? leave_to(target) : go(target);
    } else if (taken == 0) {
      next();
    } else {
      set(taken, target);
      set(active_ & ~taken, place_ + 1);
      choose();
    }
  }
  // Of the active lanes these end, the others go on.
  void leave(uint32_t lanes) {
    live_ &= ~lanes;
    set(active_ & ~lanes, place_ + 1);
    choose();
  }
  // Of the active lanes these wait where they are, the others go on.
  void wait(uint32_t lanes) {
    set(lanes, place_);
    set(active_ & ~lanes, place_ + 1);
    waiting_ |= lanes;
    choose();
  }
  // Waiting lanes go on behind the instruction at which they wait.
  void release(uint32_t lanes) {
    set(active_, place_);
    for (uint32_t rest = lanes; rest != 0; rest &= rest - 1) ++at_[static_cast<size_t>(std::countr_zero(rest))];
    waiting_ &= ~lanes;
    choose();
  }

 private:
  static constexpr uint32_t kNoPlace = ~0u;

  void go(uint32_t place) {
    place_ = place;
    if (place == merge_at_) leave_to(place);
  }
  void leave_to(uint32_t place) {
    set(active_, place);
    choose();
  }
  void set(uint32_t lanes, uint32_t place) {
    for (; lanes != 0; lanes &= lanes - 1) at_[static_cast<size_t>(std::countr_zero(lanes))] = place;
  }
  void choose() {
    place_ = merge_at_ = kNoPlace;
    active_ = 0;
    for (uint32_t rest = live_ & ~waiting_; rest != 0; rest &= rest - 1) {
      const uint32_t at = at_[static_cast<size_t>(std::countr_zero(rest))], bit = rest & (0 - rest);
      if (at < place_) {
        merge_at_ = place_;
        place_ = at;
        active_ = bit;
      } else if (at == place_) {
        active_ |= bit;
      } else {
        merge_at_ = std::min(merge_at_, at);
      }
    }
  }

  std::array<uint32_t, kLanes> at_{};
  uint32_t live_ = 0, active_ = 0, waiting_ = 0;
  uint32_t place_ = 0, merge_at_ = kNoPlace;
};

}  // namespace plait::sim::ptx
