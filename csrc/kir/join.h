#pragma once
// Several kernels as one: what each does is done in phases of its own.
#include <vector>

#include "kir/kernel.h"

namespace plait::kir {

// One kernel of several.
struct JoinPart {
  Kernel kernel;
  std::vector<size_t> waves;        // by its own waves: the one of the whole in which each runs, ascending
  std::vector<uint32_t> arguments;  // by its own arguments (no workspaces): which buffer of the whole each is
  std::vector<sym::Expr> integers;  // by its own integers: which integer of the whole each is, with all that it knows
};

// Requires: `whole` has a name, target, pool, integers, its arguments, and workspaces for what parts give each other,
// and no phase; extents of buffers may be null. Parts that read what others write begin behind them. Ensures: one phase
// for each phase of a part, those of one wave beside each other, in the order of the parts; workspaces,
// counters and local buffers of the parts stand behind those of the whole; values and symbols are apart.
void join(Kernel& whole, std::vector<JoinPart> parts);

}  // namespace plait::kir
