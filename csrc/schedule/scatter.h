#pragma once
// The scatter scheduler of CPUs: scatters with elementwise ops in front of them and behind, in one kernel. Small ones
// are one walk over the index. Others are phases: chunks of the index count their updates per range of places, a serial
// phase makes places of the counts, the chunks put their updates there, in order; then each range walks its own.
#include "schedule/scheduler.h"

namespace plait {

// Schedules: schedules::Scatter.
Scheduler scatter_scheduler();

}  // namespace plait
