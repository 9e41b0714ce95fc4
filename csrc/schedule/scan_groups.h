#pragma once
// Scans in groups of rows. Of rows that tasks share, what a part begins with comes from a reduction of the parts in
// front of it.
#include "schedule/scheduled_group.h"

namespace plait {

// Adds a reduction of what each scan goes through, in the type that it carries, which nobody reads: of an extremum one
// with its index, of a logcumsumexp a sum, which lowering takes for one of exponentials. Before ops are copied for
// roots.
std::vector<Op*> add_totals(ScheduledGroup& group);
// What the scan of a total goes through.
const TensorView* totalled(const Op& total);
// Copies of scans share the total of the one that they are copies of.
void share_totals(ScheduledGroup& group);

// What scans of vectors go through is computed a vector at once, in front of them, and so is what several of the loops
// over vectors read. The group has its reference's loops, the innermost over lanes.
void place_vectors(ScheduledGroup& group);

}  // namespace plait
