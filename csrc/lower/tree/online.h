#pragma once
// Sums of exp(x - max(x)) in the pass that finds the maximum.
#include "axes/loop_tree.h"
#include "schedule/scheduled_group.h"

namespace plait::lowering {

// A sum of exp(x - greatest) over a row, where `greatest` is that of the same row: as it is, or 0 where it is infinite.
struct OnlineSum {
  const Op* greatest = nullptr;
  const Op* difference = nullptr;  // x - greatest
  std::vector<const Op*> between;  // ops from the one to the other, in order

  bool is_between(const Op* op) const;
  // Whether `maker` gives what comes of the greatest, and whether the op is to read that of the part's.
  bool makes(const Op* maker) const { return maker == greatest || is_between(maker); }
  bool reads_part(const Op* op, const Op* maker) const { return (op == difference || is_between(op)) && makes(maker); }
};
using OnlineSums = std::map<const Op*, OnlineSum>;

// Those of a group: exp and difference are read by nobody else, and no rounding stands between them.
OnlineSums find_online_sums(const ScheduledGroup& group, bool strict_rounding);

// Behind fuse_loops, which gives both one loop over parts, of class `cls`: in it the exponents are from the greatest
// element of the part, and the sum is scaled when parts are merged. Why here: only parts of rows that tasks share have
// a state of their own; whole rows are read once more.
void go_online(LoopTree& tree, const OnlineSums& sums, int cls);

}  // namespace plait::lowering
