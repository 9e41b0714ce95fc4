#pragma once
// What holds where the threads of a block cooperate.
#include "kir/kernel.h"

namespace plait::kir {

// Uniformity: Sync, LastBlock, Shuffle, Prefix and Fold over threads stand only where all threads of the block come: in
// loops and under conditions that do not speak of a thread, of what an iteration of such a loop counts, or of a bound
// symbol; within a thread_x loop, a thread_y loop, or both, x within y, of whole warps, which a Fold over threads
// divides. Shared memory: between a store and a load of another thread, either first, stands a Sync of the block that
// is always reached; a thread is taken to be another one unless the index is the same but for variables of serial loops
// and differs between any two threads in any of their iterations, or both are further apart than threads reach. Where
// loops over threads are for a pass to remove, nothing is checked. InternalError naming the statement.
void verify_threads(const Kernel& kernel, const Phase& phase);

}  // namespace plait::kir
