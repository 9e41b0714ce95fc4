#pragma once
// Scheduling by hand: what a person says of the loops of a segment, in a file or on a fusion (schedules::Manual), is
// performed on the segment's own graph. It is obeyed as it stands, or refused by name.
#include <functional>

#include "schedule/place_group.h"
#include "schedule/scheduler.h"

namespace plait {

// Schedules: schedules::Manual. It is asked for by name alone.
const Scheduler& manual_scheduler();

// Gives a group the loops, inline positions and buffers that are said of its tensors, by name; the last one with loops
// is the reference. What nobody speaks of is computed where it is read.
void schedule_by_hand(ScheduledGroup& group, const schedules::Manual& decisions);

// The same as of place_group.h. Whether a row fits its buffer may hang on sizes: then it is asked of the problem, and
// becomes part of what the kernel is made for.
std::optional<Disobeyed> disobeyed(const Problem& problem, const ScheduledGroup& group);

// The same of a group that `make` gives loops, also where a tensor of it cannot have them.
std::optional<Refused> refuse_loops(const Problem& problem, const std::function<ScheduledGroup()>& make);

// Why the segment is no kernel by hand of whose tensors nothing is said; nothing where it is one.
std::optional<Refused> refuse_by_hand(const Problem& problem);

}  // namespace plait
