#pragma once
// Rows that several tasks share: a loop over parts of the reduced dims becomes a phase of its own.
#include "axes/loop_tree.h"

namespace plait::lowering {

// `cls`: the class of the loop over parts, the outermost reduced one, which stands in the loops over kept dims. Each of
// these loops becomes a phase, its iterations the tasks; the kept loops stand inside of it. A task saves the state of
// each reduction to a workspace. What stood behind the loop in the same body (results, elementwise ops of kept dims)
// is a phase as well, which merges the states in the order of parts; values that later phases read go to workspaces.
// A scan begins in each part with what its total has in front of it.
// Ops of kept dims that wait for no reduction are computed again in each phase that reads them. Requires: what
// fuse_loops gives. Ensures: the same values; additions follow from the tree alone. Returns why the tree stays one
// phase, which is as right; nothing where it is split. Why here: placement knows one nest, and phases are cuts of it.
std::optional<std::string> split_phases(LoopTree& tree, int cls, bool on_blocks = false);

}  // namespace plait::lowering
