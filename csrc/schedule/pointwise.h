#pragma once
// The pointwise scheduler: elementwise groups whose outputs share one domain. Leading dims form an outer group that
// runs in parallel, the others one inner row that is cut into vectors.
#include "schedule/scheduler.h"

namespace plait {

// Schedules: schedules::Pointwise.
Scheduler pointwise_scheduler();

// Why the outer group has the dims it has: one line per operand that is not as long as the row.
std::string explain_split(const Problem& problem);

}  // namespace plait
