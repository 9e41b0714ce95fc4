#pragma once
// The static memory plan: one arena per rank, offsets fixed by lifetime over the order of the steps.
#include <cstdint>
#include <span>
#include <vector>

#include "program/program.h"

namespace plait {

// Steps of the first write and the last read of a temporary, as indices into Program::steps; a value that no step
// writes has `last` < `first`. The order of the steps is total, so two temporaries may share bytes exactly when their
// lifetimes have no step in common.
struct Lifetime {
  int64_t first = 0, last = -1;
  bool empty() const { return last < first; }
  bool overlaps(const Lifetime& other) const {
    return !empty() && !other.empty() && first <= other.last && other.first <= last;
  }
  bool operator==(const Lifetime&) const = default;
};

// By value. Inputs and outputs are not of the arena: their lifetimes are empty.
std::vector<Lifetime> lifetimes(const Program& program);

struct MemoryPlan {
  std::vector<int64_t> offsets;  // by value, in bytes, multiples of kBufferAlignment; 0 where nothing is placed
  int64_t arena_bytes = 0;
  int64_t live_bytes = 0;  // the largest sum of aligned sizes that are alive at one step: no plan is smaller
};

// Places buffers of `bytes[i]`, alive over `lifetimes[i]`: the largest first, each at the lowest offset where it meets
// nothing that is alive with it. Buffers of zero bytes or an empty lifetime take no place. Deterministic.
MemoryPlan plan_memory(std::span<const Lifetime> lifetimes, std::span<const int64_t> bytes);

}  // namespace plait
