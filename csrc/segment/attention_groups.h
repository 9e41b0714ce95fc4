#pragma once
#include <set>

#include "segment/segment.h"

namespace plait {

// Attention is a segment as a file would write it: its ops stay together, and its schedule is pinned
// (schedule/attention.h). Of a gradient, what both the product by queries and those by keys weigh their values by is
// computed twice, so that neither lies in memory. Changes the options; returns the ops.
std::set<const Op*> find_attention(Fusion& fusion, SegmentOptions& options);

}  // namespace plait
