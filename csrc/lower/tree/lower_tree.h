#pragma once
// A segment with a graph of its own (schedule/scheduled_group.h) -> one kernel, by way of its loop tree.
#include "lower/lower.h"
#include "schedule/scheduled_group.h"

namespace plait {

// Requires: the group's reference carries the loops. Ensures: kir::verify holds; buffers are the segment's inputs, then
// its outputs, in order. The order of additions follows from the sizes and the schedule. UserError naming tensor and
// rule where the loops do not fit. `pool`: that of the fusion, for the values of the integers.
// `tree_text`, where not null, gets the loop tree.
LoweredKernel lower_tree(const ScheduledGroup& group, sym::Pool& pool, const LowerOptions& options = {},
                         std::string* tree_text = nullptr);

// The same before any pass over kernel IR.
LoweredKernel emit_tree(const ScheduledGroup& group, sym::Pool& pool, const LowerOptions& options = {},
                        std::string* tree_text = nullptr);

}  // namespace plait
