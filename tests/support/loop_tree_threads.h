#pragma once
// Iterations that run at once: which are around a statement, and which of them have met.
#include <numeric>

#include "axes/loop_tree.h"
#include "base/error.h"

namespace plait::tree_oracle {

inline bool runs_at_once(ParallelType loop) {
  return loop != ParallelType::serial && loop != ParallelType::unroll && loop != ParallelType::vectorize;
}
inline bool is_of_block(ParallelType loop) {
  return loop == ParallelType::thread_x || loop == ParallelType::thread_y || loop == ParallelType::thread_z;
}

// An order of n iterations that follows from the seed.
class AnyOrder {
 public:
  AnyOrder(uint64_t seed, int64_t n) : n_(std::max<int64_t>(n, 1)), first_(static_cast<int64_t>(seed % n_)) {
    for (step_ = n_ - 1 - static_cast<int64_t>(seed / 64 % n_); std::gcd(step_, n_) != 1;) ++step_;
  }
  int64_t at(int64_t i) const { return (first_ + i * step_) % n_; }

 private:
  int64_t n_, first_, step_;
};

// A place is an iteration of a run of a loop that runs at once, inside of another place; the first one is no loop's.
class Threads {
 public:
  Threads() { around_.push_back(0); }

  int here() const { return around_.back(); }

  // A run of a loop in which `here` comes to it, and its iterations. Empty, or why such a loop may not stand here.
  std::string begin(ParallelType kind) {
    for (int place : around_) {
      const ParallelType other = kind_of(place);
      if (other == kind) return fmt::format("a loop over {} inside of another one", name(kind));
      if (is_of_block(other) && !is_of_block(kind))
        return fmt::format("a loop over {} inside of one over {}", name(kind), name(other));
    }
    runs_.push_back({kind, true});
    places_.push_back({static_cast<int>(runs_.size()) - 1, here(), around_.size()});
    around_.push_back(static_cast<int>(places_.size()) - 1);
    return "";
  }
  void next() {
    places_.push_back(places_[static_cast<size_t>(here())]);
    around_.back() = static_cast<int>(places_.size()) - 1;
  }
  void end() {
    runs_[static_cast<size_t>(places_[static_cast<size_t>(here())].run)].open = false;
    around_.pop_back();
  }

  // The innermost place around that is still running: the loops within have ended.
  int running(int place) const {
    while (!runs_[static_cast<size_t>(places_[static_cast<size_t>(place)].run)].open)
      place = places_[static_cast<size_t>(place)].outer;
    return place;
  }
  // Whether what is done at the place is over for what stands here.
  bool has_met(int place) const {
    if (place == here()) return true;
    const int p = running(place);
    const size_t depth = places_[static_cast<size_t>(p)].depth;
    return depth < around_.size() && around_[depth] == p;
  }
  // A place for what several iterations do together, beside a place among them.
  int together(int place) {
    places_.push_back(places_[static_cast<size_t>(running(place))]);
    return static_cast<int>(places_.size()) - 1;
  }
  ParallelType kind_of(int place) const {
    return runs_[static_cast<size_t>(places_[static_cast<size_t>(place)].run)].kind;
  }

 private:
  struct Run {
    ParallelType kind;
    bool open;
  };
  struct Place {
    int run, outer;
    size_t depth;
  };
  std::vector<Run> runs_ = {{ParallelType::serial, true}};
  std::vector<Place> places_ = {{0, 0, 0}};
  std::vector<int> around_;
};

}  // namespace plait::tree_oracle
