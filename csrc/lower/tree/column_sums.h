#pragma once
// Sums over the rows of a kernel beside what is computed of each row, by tasks of several rows.
#include "axes/loop_tree.h"

namespace plait::lowering {

// `sums`: reductions over the loop of the root, which kept dims of others share, with a state for every column. Its
// iterations become tasks: each begins the states, and saves them to a workspace behind its rows. Results are phases of
// their own, one for those of one loop, which merge the states of each column in the order of tasks. Requires: what
// fuse_loops gives. Ensures: the same values; additions follow from the tree alone. Returns why the tree stays one
// phase, which is as right; nothing where it is parted. `on_blocks`: of GPUs, tasks are blocks, and so is a vector of
// columns in the phases behind, in which threads take tasks in turn.
std::optional<std::string> sum_columns_by_tasks(LoopTree& tree, const std::set<const Op*>& sums, bool on_blocks);

}  // namespace plait::lowering
