#pragma once
// Placement of a scheduled group, and whether it put everything where a person asked.
#include "axes/loop_tree.h"
#include "schedule/scheduled_group.h"

namespace plait {

// The loop tree of a group. `axes`: of the group's ops. `options`: what follows from the group is filled in.
std::optional<Refusal> place_group(const ScheduledGroup& group, AxisGroup& axes, TreeOptions options, LoopTree& tree);

// A tensor that placement put elsewhere than asked.
struct Disobeyed {
  std::string what, remedy;  // for a UserError
};

// Of a group by hand: places it and tells the first tensor that is not where the person said, in the loops that they
// wrote, the rule that its place breaks and what would have to change. Nothing where all is obeyed. `holds`: whether a
// condition over sizes holds, for buffers of dynamic rows.
std::optional<Disobeyed> disobeyed(const ScheduledGroup& group, const std::function<bool(sym::Expr)>& holds);

// What would have to change so that the rule holds.
std::string_view remedy(Rule rule);

}  // namespace plait
