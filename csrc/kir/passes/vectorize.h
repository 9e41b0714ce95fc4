#pragma once
#include "kir/kernel.h"

namespace plait::kir {

// Loops of kind lanes become vectors: one statement for all lanes.
// - What depends on the lane has the loop's lanes; what does not stays one lane and is splat beside vectors.
// - A load or store is aligned or contiguous where its lanes lie side by side, proven, a load that runs backwards
//   without a mask reversed, others lanewise. A load whose index is the same for all lanes stays one lane.
//   Where an index divides, one element or a contiguous load stands for all lanes of one quotient, under that
//   condition; coordinates likewise. Whether an integer equals a coordinate that counts the lanes is asked in 32 bits.
// - A condition that holds for the first lanes (affine in the lane, or several) is `active` of loads, stores and
//   Accumulate; Assign and Merge keep what the other lanes have. Another affine condition (a pad has two sides) is
//   asked at both ends: where it holds there, it holds for all lanes; else lanes run one by one. None of it where
//   bounds are multiples of the lanes.
// - States that are started around the loop have its lanes from their start on, through all loops in between; Fold
//   folds them. A state that is merged or accumulated at one lane too takes that into lane 0. A state that is started
//   within the loop is one per lane, and its Fold a copy. A local buffer of the loop's body holds lanes side by side.
// - What has no vector form runs lane by lane in a serial loop, its operands and results in stack buffers: what a
//   bound index that depends on the lane addresses (a gather along the vectors), loops whose extent does, stores of all
//   lanes to one element, atomics.
// Requires: what verify() checks; lanes loops do not stand within each other; none assigns a Variable that is declared
// around it, or reads a state that it combines into; every Bind has a symbol of its own; target cpu. Ensures: no lanes
// loop; literals and loads that nobody reads any more are gone. Why here: behind `tails` and `unroll`, so that few
// conditions are left in bodies; before `hoist` and `merge_equal`, which move and merge splats and masks.
void vectorize(Kernel& kernel);

}  // namespace plait::kir
