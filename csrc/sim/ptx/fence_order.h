#pragma once
// Happens-before by values: what a thread knows when it fences and then writes a word with a strong access, a thread
// that reads this word with one and then fences knows too, in other blocks of the launch as well.
#include <array>
#include <cstdint>
#include <map>
#include <memory>
#include <vector>

#include "sim/ptx/program.h"

namespace plait::sim::ptx {

// When an access of a lane happened, in the time of its block, of its warp and of its lanes.
struct Moment {
  uint32_t block = 0;     // its number in the grid
  uint32_t epoch = 0;     // barriers of the whole block before it; 0: there was no access
  uint32_t meeting = 0;   // of the warp before it: bar.warp.sync, and fences
  uint32_t arrivals = 0;  // of the warp at barriers of a part of the block
  uint16_t warp = 0;
  friend bool operator==(const Moment&, const Moment&) = default;
};

inline constexpr uint16_t kNoWarp = 0xffff;

class Acquired;

// What is ordered before a thread at a moment: its own accesses, what barriers order before it, what it acquired.
// Without a moment (epoch 0) only what stands in `more`.
struct Release {
  Moment at;  // of kNoWarp: what is before barriers alone, of which `meeting` counts those of the cluster
  uint32_t cluster = 0;
  int lane = 0;
  uint32_t all_met = 0;                  // as in ThreadOrder
  std::array<uint32_t, kLanes> met{};    // by other lanes of the warp
  std::vector<uint32_t> known;           // by warp: arrivals
  std::shared_ptr<const Acquired> more;  // null: nothing

  // Of its own block; what it acquired is asked by itself.
  bool covers(const Moment& moment, int other) const;
};

// A release as a strong write hands it over. Fences .sc (`by_sc`) order those of other threads too, which barriers
// joined with the fence or with the write; what only they order (`for_sc`) is taken over by such fences alone.
struct Given {
  std::shared_ptr<const Release> release;
  Scope scope = Scope::block;  // the narrower one of the fence and of the write
  bool by_sc = false, for_sc = false;
};
// Of one word: what those who read it take over. A plain store begins anew, atomics continue.
using History = std::vector<Given>;

// What a thread knows of others by what it took over: of each block those releases that no later one covers.
class Acquired {
 public:
  void add(const std::shared_ptr<const Release>& release);  // with all that it acquired
  void add(const Acquired& other);
  bool covers(const Moment& moment, int lane) const;
  bool knows_of(uint32_t block) const { return of_.contains(block); }
  bool empty() const { return of_.empty(); }

 private:
  bool add_alone(const std::shared_ptr<const Release>& release);

  std::map<uint32_t, std::vector<std::shared_ptr<const Release>>> of_;  // by block
};

// A history as far as it went when a lane read the word.
struct Taken {
  std::shared_ptr<const History> history;
  size_t count = 0;
  Scope scope = Scope::block;  // of the read
};

// What threads tell each other at barriers.
struct Heard {
  Acquired acquired;
  Acquired fenced;           // by fences .sc of the device: given by what any of them writes from now on
  std::vector<Taken> taken;  // what a fence .sc of any of them acquires

  bool empty() const { return acquired.empty() && fenced.empty() && taken.empty(); }
  void add(const Heard& other);
};

// Adds a read, in the place of an earlier one of the same word.
void add_read(std::vector<Taken>& reads, Taken read);

}  // namespace plait::sim::ptx
