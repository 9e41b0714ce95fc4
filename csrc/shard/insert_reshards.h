#pragma once
// Pass: makes every change of layout an op of its own.
#include "ir/fusion.h"

namespace plait {

// After propagate. Where an operand's layout is not the one its op asks for (assign), or an op does not give the layout
// that its result has, a chain of Reshard ops stands between, which carry the steps of their plan (reshard_plan.h).
// - A tensor is resharded to a layout once; a later reader starts from whichever version of the tensor needs the least
//   communication.
// - An input or parameter whose storage differs from its compute layout gets the stored one as its `layout` (and no
// `stored`);
//   its first reader gathers it. With `gather_again` a reader gathers anew what was gathered of a parameter (or of a
//   cast of it) where since its last reader more than two others were: their memory is not kept.
// - The result of an op that gives another layout than the tensor has moves to a new tensor (`%y_pending`); `%y` keeps
//   its name and is the end of the chain.
// The reason of every resharded tensor says which op asked and which conflict was lost.
void insert_reshards(Fusion& fusion, bool gather_again = true);

}  // namespace plait
