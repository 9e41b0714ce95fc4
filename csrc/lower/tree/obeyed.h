#pragma once
// Schedules by hand are obeyed: placement put every tensor where the person said, in the loops that they wrote.
#include "axes/loop_tree.h"
#include "schedule/scheduled_group.h"

namespace plait::lowering {

// UserError naming the first tensor that placement put elsewhere, the rule that its place breaks and what to change.
// `declined`: what placement said of the first place that it tried (TreeOptions::declined). Loops are those before
// fuse_loops. May add axes to the graph.
void check_obeyed(const ScheduledGroup& group, AxisGroup& axes, const LoopTree& tree, const TreeOptions& options,
                  const std::map<const TensorView*, Refusal>& declined, const std::string& where);

// What would have to change so that the rule holds.
std::string_view remedy(Rule rule);

}  // namespace plait::lowering
