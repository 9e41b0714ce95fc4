#pragma once
// The loops of a GPU's launch.
#include <optional>
#include <vector>

#include "kir/kernel.h"

namespace plait::kir {

// Loops over blocks and threads, one within another, outermost first; what stands in the innermost one.
struct LaunchLoops {
  std::vector<const For*> blocks, threads;
  const Block* body = nullptr;
  int64_t shared = 0;  // bytes of shared memory, with those by which blocks learn that they are the last
};

inline constexpr int64_t kLastBlockBytes = 16;  // of shared memory, of a launch with a LastBlock, or an Await

// Of a phase; nothing where other statements stand among the loops, or no threads, or where blocks wait for others.
std::optional<LaunchLoops> launch_loops(const Kernel& kernel, const Block& phase);

// Whether blocks of both are of the same threads, whose number is known.
bool have_same_threads(const LaunchLoops& a, const LaunchLoops& b);

}  // namespace plait::kir
