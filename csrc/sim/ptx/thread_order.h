#pragma once
// Happens-before between threads, as far as barriers of their block and fences make it: an access is ordered before a
// thread if a barrier that its thread reached behind it, or a word that it wrote behind a fence, is known to that
// thread.
#include <array>
#include <cstdint>
#include <memory>
#include <vector>

#include "sim/ptx/fence_order.h"

namespace plait::sim::ptx {

// An earlier access that is not ordered before the one at hand.
struct Race {
  uint32_t block = 0;  // its number in the grid
  uint32_t warp = 0;
  int lane = 0;
  uint32_t statement = 0;
  bool write = false;
};

// Of the threads of one block.
class ThreadOrder {
 public:
  ThreadOrder(size_t warps, bool fences);

  // A block begins: what was before in the same memory is ordered before all of it.
  void begin(uint32_t block, uint32_t cluster);
  Moment now(uint32_t warp) const;
  // Whether an access of a lane, another one or the same, is ordered before what `lane` of `warp` does now.
  bool before(const Moment& moment, int other, uint32_t warp, int lane) const {
    return before_by_barriers(moment, other, warp, lane) || (fences_ && knows(moment, other, warp, lane));
  }

  // bar.warp.sync of these lanes; `all`: every live lane of the warp.
  void meet(uint32_t warp, uint32_t lanes, bool all);
  // A barrier that all live threads of the block reached.
  void whole_barrier();

  // A barrier of a part of the block. What each warp knows where it arrives is brought together, and those that waited
  // take it with them.
  struct Knowledge {
    std::vector<uint32_t> arrivals;  // by warp
    uint32_t epoch = 0;              // of the last one
    Heard heard;
    void clear() { *this = {}; }
  };
  void arrive(uint32_t warp, Knowledge* together);
  void take(uint32_t warp, const Knowledge& together);
  // At the barrier of a cluster: what is before the arrivals of this block, for its phase of this number; and what
  // these lanes take of another block.
  std::shared_ptr<const Release> release_of_all(const Knowledge& together, uint32_t phase) const;
  void take_from_cluster(uint32_t warp, uint32_t lanes, const std::shared_ptr<const Release>& release,
                         const Knowledge& together);
  // Whether a lane knows of anything that another block did.
  bool has_heard_of(uint32_t block, uint32_t warp, int lane) const {
    return fences_ && (all_.acquired.knows_of(block) || lane_at(warp, lane).heard.acquired.knows_of(block));
  }

  // ---- Fences, where the kernel has any.
  bool fences() const { return fences_; }
  // What these lanes read before is acquired, and what is before is given by what they write behind it. `all`: .sc, in
  // one order with those of all threads.
  void fence(uint32_t warp, uint32_t lanes, Scope scope, bool all);
  // A strong write: what it gives. `releases`: what is before is given by this write.
  void give(uint32_t warp, int lane, Scope scope, bool releases, History& to);
  // A strong read. `acquires`: at once, without a fence.
  void read(uint32_t warp, int lane, Taken taken, bool acquires);

 private:
  struct OfWarp {
    uint32_t meetings = 0;                                   // so far
    uint32_t all_met = 0;                                    // the number of the last one of all lanes
    std::array<std::array<uint32_t, kLanes>, kLanes> met{};  // by two lanes: the number of the last that joins them
    uint32_t arrivals = 0;
    std::vector<uint32_t> known;  // by warp: arrivals
  };
  struct OfLane {
    Heard heard;                  // since the last barrier
    std::vector<Taken> taken;     // what it read itself
    std::array<Given, 4> fenced;  // by its last fence of each scope, where none of a wider one came behind
  };

  bool before_by_barriers(const Moment& moment, int other, uint32_t warp, int lane) const {
    if (moment.block != block_) return false;
    if (moment.epoch != epoch_) return true;
    if (moment.warp != warp) return of_[warp].known[moment.warp] > moment.arrivals;
    const OfWarp& own = of_[warp];
    return other == lane || moment.meeting < own.all_met || moment.arrivals < own.known[warp] ||
           moment.meeting < own.met[static_cast<size_t>(lane)][static_cast<size_t>(other)];
  }
  bool knows(const Moment& moment, int other, uint32_t warp, int lane) const;
  OfLane& lane_at(uint32_t warp, int lane) { return lanes_[warp * kLanes + static_cast<size_t>(lane)]; }
  const OfLane& lane_at(uint32_t warp, int lane) const { return lanes_[warp * kLanes + static_cast<size_t>(lane)]; }
  // `all`: by a fence .sc; `heard`: reads of others.
  void acquire(Acquired& to, const std::vector<Taken>& reads, Scope scope, bool all, bool heard) const;
  std::shared_ptr<const Release> release(uint32_t warp, int lane);
  static void add_heard(const OfLane& from, Heard& to);

  bool fences_;
  uint32_t block_ = 0, cluster_ = 0, epoch_ = 1;
  uint32_t first_epoch_ = 1;  // of the block
  std::vector<OfWarp> of_;
  std::vector<OfLane> lanes_;  // none without fences
  Heard all_;                  // what all threads know
};

}  // namespace plait::sim::ptx
