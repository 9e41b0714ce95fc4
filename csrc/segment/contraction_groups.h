#pragma once
#include <set>

#include "segment/segment.h"

namespace plait {

// Contractions on CPUs that no library computes, or all where options ask for own ones, are segments as a file would
// write them: with what is elementwise behind them, schedule `contraction` pinned (schedule/contraction.h). `taken`:
// ops of other segments. Changes the options.
void find_contractions(Fusion& fusion, SegmentOptions& options, const std::set<const Op*>& taken);

}  // namespace plait
