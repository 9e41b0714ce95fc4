#pragma once
// The scatter scheduler: scatters with elementwise ops in front of them and behind, in one kernel. Small ones are one
// walk over the index. Others are phases: chunks of the index count their updates per range of places, a phase of one
// task makes places of the counts, the chunks put their updates there, in order; then each range walks its own. Of GPUs
// a range and a tile of columns are a block, a thread has a vector of columns; where the last dim is scattered, and of
// chunks, a thread is a task.
#include "schedule/scatter_plan.h"
#include "schedule/scheduler.h"

namespace plait {

// Schedules: schedules::Scatter.
Scheduler scatter_scheduler();

// Why GPUs have no kernel of the plan; nothing where they have.
std::optional<Refused> scatter_refuses_of_gpus(const ScatterPlan& plan);

}  // namespace plait
