#pragma once
#include "kir/kernel.h"

namespace plait::kir {

// Wants: threads and threads_y loops of GPUs. Leaves: a Sync between any two of them of which one writes elements of
// shared memory that the other may meet, those of two iterations of a serial loop too; in front of it a Commit and a
// Wait where copies write them.
void synchronise(Kernel& kernel);

}  // namespace plait::kir
