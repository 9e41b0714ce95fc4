#pragma once
#include <set>

#include "segment/segment.h"

namespace plait {

// Contractions that no library computes, those of CPUs for which tiles with what stands behind cost less, or all where
// options ask for own ones, are segments as a file would write them: with moves of their operands and what is
// elementwise behind them, schedule `contraction` pinned (schedule/contraction.h). Of CPUs, and of GPUs whose blocks
// have shared memory. `taken`: ops of other segments. Changes the options.
void find_contractions(Fusion& fusion, SegmentOptions& options, const std::set<const Op*>& taken);

}  // namespace plait
