#pragma once
// The nest scheduler: any single op as a plain loop nest, with a serial sum inside where the op sums.
#include "schedule/scheduler.h"

namespace plait {

// Schedules: schedules::Nest.
Scheduler nest_scheduler();

// Whether the loops of what the op sums combine parts, each added by itself: sums of floats and variances.
bool has_parts(const Op& op);
// Whether each element of a tile can have a state of the reduction: one value, into which elements go by one function.
bool can_have_tile(const Op& op);

}  // namespace plait
