#pragma once
#include "kir/kernel.h"

namespace plait::kir {

// A serial loop of a CPU whose body does nothing but where `affine >= bound` holds begins where that first does: its
// iterations are counted from there. Where all iterations of inner loops begin at once, the condition goes.
// Ensures: the same stores. Why here: conditions stand as they were emitted; where
// loops end is found of loops that begin where they do.
void begins(Kernel& kernel);

}  // namespace plait::kir
