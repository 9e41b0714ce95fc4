#pragma once
// The nest scheduler: any single op as a plain loop nest, with a serial sum inside where the op sums.
#include "schedule/scheduler.h"

namespace plait {

// Keys: vector (lanes over the last dim of the result; of the operand where that is summed over), rows (rows of a
// contraction computed together, CPU only), threads (of a block, cuda only).
Scheduler nest_scheduler();

// Whether the loops of what the op sums combine parts, each added by itself: sums of floats and variances.
bool has_parts(const Op& op);

}  // namespace plait
