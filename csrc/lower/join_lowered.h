#pragma once
// Lowered segments that share a launch -> one kernel (kir/join.h).
#include "lower/lower.h"

namespace plait {

struct LoweredPart {
  const Segment* segment = nullptr;
  LoweredKernel lowered;
};

// `whole`: the parts as one (ir/launches.h); they stand in order. Ensures: buffers are the
// inputs and outputs of the whole, in order; what parts give each other alone lies in workspaces. A part begins when
// those are done whose results it reads; sizes that parts share are one integer.
LoweredKernel join_lowered(const Segment& whole, std::vector<LoweredPart> parts, std::string name);

}  // namespace plait
