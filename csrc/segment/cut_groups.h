#pragma once
// Bounds of what one generated kernel holds, and the cutting of groups that exceed them.
#include "base/options.h"
#include "segment/groups.h"

namespace plait {

// 0 or less: no bound.
struct KernelLimits {
  int64_t statements;  // ops, pads as twelve, with the constants and scalars that it computes again
  int64_t live;        // values that later statements still read, at any place
  int64_t outputs;     // tensors that it writes
  int64_t inputs;      // tensors that it reads
};
// Of the options kernel_statements, kernel_live, kernel_outputs and kernel_inputs.
KernelLimits kernel_limits(const Options& options);
// What an op counts as.
int64_t statements_of(const Op& op);

// Cuts every group of elementwise ops that exceeds a limit into groups of consecutive ops within the limits, where the
// fewest bytes go to memory in between. A value of another domain than the group's that would be stored gets, with
// what it is made of, a group of its domain. Results of one list of `together` stay in one group, whatever its size,
// and two lists of a group that is cut come apart. `explain`, where not null, gets a line per cut. Linear in the ops.
void cut_groups(const Fusion& fusion, Grouping& grouping, const KernelLimits& limits,
                const std::vector<std::vector<std::string>>& together, std::string* explain);

}  // namespace plait
