#pragma once
#include "kir/kernel.h"

namespace plait::kir {

// A phase of a GPU's kernel becomes part of the launch before it, where that has blocks of the same threads: what one
// of its blocks does is done by the last block of those whose results it reads (LastBlock). That is all blocks of the
// launch where the phase is one block; else those that have the same number in the loops over blocks that both have
// alike, where that is proven of every buffer which both meet. Not where both need more shared memory than any block
// has. Ensures: the same values. Requires: no phase is beside another one. Why here: statements are final, and phases
// are known to be launches.
void run_last_blocks(Kernel& kernel);

}  // namespace plait::kir
