#pragma once
// Which segments share a launch (Segment::joins).
#include <span>
#include <vector>

#include "ir/fusion.h"

namespace plait {

// The segments of each launch, in order; a step that is no launch is a list of its own.
std::vector<std::vector<const Segment*>> launches(const Fusion& fusion);

// Segments, in order, as one: their ops, what they read and none of them makes, and of their outputs those that the
// fusion gives, others read, or nobody reads. Name and schedule are the first one's.
Segment as_one(const Fusion& fusion, std::span<const Segment* const> parts);

}  // namespace plait
