#pragma once
// Scheduling by hand: what a person says of the loops of a segment, in a file or on a fusion (schedules::Manual), is
// performed on the segment's own graph. It is obeyed as it stands, or refused by name.
#include "schedule/scheduler.h"

namespace plait {

// Schedules: schedules::Manual. It is asked for by name alone.
const Scheduler& manual_scheduler();

}  // namespace plait
