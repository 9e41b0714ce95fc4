#pragma once
#include "kir/kernel.h"

namespace plait::kir {

// Squares and rectangles of lanewise loads become contiguous ones and a transpose: where as many loads of one block as
// they have lanes, or 4, 8, ... fewer, read, in each lane, elements that lie side by side in a buffer that nothing
// writes, the loads run along these, one per lane, at the place of the first one, and a Transpose gives what each load
// gave; where only some lanes are active, a loop over these puts what they read into a stack buffer first. Where the
// rows are a loop that `unroll` left marked, the square is in a stack buffer, of which the loop loads a row.
//
// Requires: what verify() checks. Ensures: the same values from the same elements; target cuda is left as it is. Why
// here: behind `unroll`, whose copies are the rows of squares, and `vectorize`, which knows the lanes; before `hoist`
// and `merge_equal`, to which loads of one element after another are the same as before.
void transpose(Kernel& kernel);

}  // namespace plait::kir
