#pragma once
#include "kir/kernel.h"

namespace plait::kir {

// Statements without effects leave the loops that they do not depend on.
// Moved are literals, coordinates, loads, computations and folds, to in front of the outermost loop that their operands
// and symbols allow; a condition is left only together with a loop around it, so that what rarely runs stays. Not
// moved: anything out of a phase's parallel loops; a bound index, and what speaks of it before it is bound; what reads
// a variable or a buffer out of a loop that changes it, or out of the buffer's block. A load leaves a loop that may run
// no iteration, or a condition, only where its index is proven to lie within the buffer, if need be by a condition that
// stays around it; on GPUs, of what the kernel leaves as it is, out of a loop whose threads meet in each iteration,
// under the conditions that speak of nothing within the loop, as its active lanes. A loop that does nothing but under a
// condition of what is around it goes under the condition. Requires: what verify() checks. Ensures: the same values and
// stores; running it again changes nothing. Why here: behind `vectorize`, whose splats and masks it moves; before
// `merge_equal`, which finds more where things stand further out.
void hoist(Kernel& kernel);

}  // namespace plait::kir
