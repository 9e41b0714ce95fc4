#pragma once
// The static memory plan: one arena per rank, offsets fixed by lifetime under the order of streams and events.
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "program/happens_before.h"
#include "program/program.h"

namespace plait {

// When a temporary is alive. `first` and `last` are the steps of its write and of its last access in the list, as
// indices into Program::steps; a value that no step writes has `last` < `first`. `begin` is what is done when its write
// begins, `end` what must be done before its bytes may be written again. Two temporaries may share bytes exactly when
// every access of one happens before the write of the other.
struct Lifetime {
  int64_t first = 0, last = -1;
  StreamClock begin{}, end{};
  bool empty() const { return last < first; }
  bool overlaps(const Lifetime& other) const {
    return !empty() && !other.empty() && !within(end, other.begin) && !within(other.end, begin);
  }
  bool operator==(const Lifetime&) const = default;
};

// By value. Inputs and outputs are not of the arena: their lifetimes are empty.
std::vector<Lifetime> lifetimes(const Program& program);

struct MemoryPlan {
  std::vector<int64_t> offsets;  // by value, in bytes, multiples of kBufferAlignment; 0 where nothing is placed
  int64_t arena_bytes = 0;
  int64_t live_bytes = 0;  // the largest sum of aligned sizes alive at one step of the list: no plan is smaller
};

// Places buffers of `bytes[i]`, alive over `lifetimes[i]`: the largest first, each at the lowest offset where it meets
// nothing that is alive with it. Where that takes more than is alive at once, other orders and the smallest gaps are
// tried, up to 16 plans of at most 1,000 buffers, and the smallest is taken. Buffers of zero bytes or an empty lifetime
// take no place. Deterministic.
MemoryPlan plan_memory(std::span<const Lifetime> lifetimes, std::span<const int64_t> bytes);

// Two buffers that share bytes although both may be alive, or {-1, -1}: the check of a plan.
std::pair<int64_t, int64_t> shared_while_alive(const MemoryPlan& plan, std::span<const Lifetime> lifetimes,
                                               std::span<const int64_t> bytes);

}  // namespace plait
