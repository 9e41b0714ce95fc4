#pragma once
// Pass: layouts for every tensor, op by op through factors, in both directions, to a fixed point.
#include "ir/fusion.h"

namespace plait {

// Sets layout, layout_source and reason of every tensor.
// Requires: composites expanded, biases split off where the sum is sharded, nothing localized.
// - Annotated tensors keep their layout. Inputs and parameters without one are replicated, so are results of reshards
//   that the user wrote.
// - Forward: an open result takes what its op gives (assign); an output that would be pending is reduced to whole.
// - Backward: where no operand shards a dim of an open result, the dim takes the pieces that all its readers ask for,
// if
//   they agree (so a backward step never causes communication: where readers differ, the tensor stays whole and each
//   reader slices it). Creation ops have no operand dims and get theirs this way only. A result's claim has the lowest
//   priority in its op, so that what operands bring wins at every round, and the end does not depend on the order of
//   visits.
// UserError naming the tensor: an annotation the mesh cannot bear, a pending input or output, a pending annotation that
// is not what the op gives, a composite or localized op.
// `by_cost`: layouts are chosen by what moves around them, too (propagation.h); else they are what ops give one by one.
void propagate(Fusion& fusion, bool by_cost = true);

}  // namespace plait
