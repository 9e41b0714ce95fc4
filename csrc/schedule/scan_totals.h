#pragma once
// Scans of rows that tasks share: what a part begins with comes from a reduction of the parts in front of it.
#include "schedule/scheduled_group.h"

namespace plait {

// Adds a reduction of what each running sum or product goes through, in the type that it carries, which nobody reads.
// Before ops are copied for roots.
std::vector<Op*> add_totals(ScheduledGroup& group);
// What the scan of a total goes through.
const TensorView* totalled(const Op& total);
// Copies of scans share the total of the one that they are copies of.
void share_totals(ScheduledGroup& group);

}  // namespace plait
