#pragma once
#include "kir/kernel.h"

namespace plait::kir {

// Tiles of GPUs that wait in shared memory: where threads that stand side by side read elements that lie apart, and
// would read neighbours if both dims of their tile changed places, the block reads the tile that way round into shared
// memory, and each thread takes its elements from there. Such a tile is a loop over rows of threads, a threads_y loop,
// a threads loop and perhaps lanes, one within another, with as many rows as columns.
//
// Requires: what verify() checks, threads loops. Ensures: the same values, each element of memory read as often as
// before. Why here: in front of `threads`, behind which nobody sees the tile.
void stage(Kernel& kernel);

}  // namespace plait::kir
