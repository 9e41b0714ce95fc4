#pragma once
// Passes over one row become one: neighbouring loops of a loop tree with the same iterations are put together.
#include <set>

#include "lower/tree/online.h"

namespace plait::lowering {

// Puts a loop into an earlier one of the same body where both have the same class of axes, extent and binding, what
// stands between them is of no concern to the later one, and each of its iterations reads of the earlier one's results
// at most what the same iteration has made. Requires: what place_tree gives. Ensures: the same values in the same order
// of additions. Why here: placement gives every reduction and every buffer loops of their own; what they compute twice
// meets in one body, where merge_equal finds it. Loops over parts, of class `parts`, become one as if sums of `online`
// did not read what they are from. What reads of `copied`, which is there when its whole loop is done, stays behind
// that.
// Of rows with `column_sums` a loop joins one that stands for those around states of columns too.
void fuse_loops(LoopTree& tree, int parts = -1, const OnlineSums& online = {},
                const std::set<const TensorView*>& copied = {}, bool column_sums = false);

// Loops that run backward become forward ones: what their bodies compute is at the mirrored coordinates.
void turn_loops(LoopTree& tree);

}  // namespace plait::lowering
