#pragma once
// Rows that begin anywhere in a sector of memory, by threads that read whole sectors.
#include "axes/loop_tree.h"

namespace plait::lowering {

// The loops over a row of the reference begin at the multiple of `align` elements in front of its first element in
// memory: what one met at place i of the row is at i - (first element mod align), and nothing is there below 0. Terms
// say so. Where threads keep rows, the schedule has room for the places in front; else the outermost loop of the row
// has as many iterations as they need. Requires: what turn_loops gives, of one phase; a row is one dim. Ensures: the
// same values; the tree stays as it is where its loops are others than these.
void align_rows(LoopTree& tree, int64_t align, bool kept, const TreeOptions& how);

}  // namespace plait::lowering
