#pragma once
#include "kir/kernel.h"

namespace plait::kir {

// Loops marked `unroll` become copies of their body, one per iteration, in order.
// On CPUs, rows of as many lanes as there are rows stay a loop, marked, where they are much code: `transpose` needs no
// copies of them. Requires: what verify() checks, and a constant extent of at most kMostCopies for every marked loop.
// Ensures: no other loop is marked; the same stores, in the same order. Local buffers of a copy are its own. Why here:
// behind `tails`, which takes the conditions out of the copies, and before `vectorize`, which sees one body per vector.
void unroll(Kernel& kernel);

inline constexpr int64_t kMostCopies = 64;

}  // namespace plait::kir
