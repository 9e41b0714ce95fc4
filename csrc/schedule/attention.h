#pragma once
// The attention scheduler: softmax(q k^T ...) v with what is elementwise in front of the softmax, in it and behind, as
// one kernel that holds the scores of a few queries at a time.
#include "schedule/scheduler.h"

namespace plait {

// Schedules: schedules::Attention.
const Scheduler& attention_scheduler();

// Why there are no loops for a segment of attention (schedule/find_attention.h); nothing where there are.
std::optional<Refused> attention_refuses(const Problem& problem, const Target& target);

}  // namespace plait
