#pragma once
#include "kir/kernel.h"

namespace plait::kir {

// One statement for equal ones: where an equal statement stands before in the same block or one around it, its result
// is read instead. Equal is equal in all fields, operands after merging. What reads a variable or loads from a buffer
// is equal only where nothing between the two changes it; what a loop changes has changed at its start. Loops,
// conditions, bound indices and whatever has effects stay. Requires: what verify() checks. Ensures: the same values and
// stores, what nobody reads is gone; running it again changes nothing. Why here: behind `hoist`, which brings equal
// statements into blocks that enclose each other; before `expand_reductions`, which writes each formula once.
void merge_equal(Kernel& kernel);

}  // namespace plait::kir
