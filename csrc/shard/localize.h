#pragma once
// Pass: from global to local extents. Device axes leave; what stays is one rank's graph, with its rank as symbols.
#include <functional>
#include <memory>

#include "ir/fusion.h"

namespace plait {

struct LocalizeOptions {
  // Whether the communicator reduces numbers of a type over ranks; null: all that ReduceOp names but logsumexp, which
  // none does. What it does not, every rank gathers and reduces.
  std::function<bool(ReduceOp, DType)> reduces;
};

// After insert_reshards: a new fusion, for a mesh of these sizes, in a new pool.
// - Extents are those of this rank: local_extent with the sizes as numbers and `rank.AXIS`, 0 <= rank.AXIS < size.
//   Symbols that name mesh sizes become numbers.
// - A Reshard becomes AllReduce, AllGather, ReduceScatter, AllToAll, GatherRange, GatherBlock or LocalSlice over
// [outer, count, inner]
//   (op.h); local pieces outside of the piece that moves count into outer. Moves along a cut dim (gather_ranges.h) are
//   done to the GatherRange that their rank needs. A reduction that the communicator does not do becomes an
//   AllGather of the members' operands in front of their dims, a LocalSlice where the result is sharded, and a Reduce.
//   A step along an axis of size 1 vanishes: its result is its operand (under the name of the output, if either is one;
//   a copy where both must keep their names).
// - Uniform gets the global extents and the first index of its piece per dim, where it is sharded.
// - Tensors keep names and reasons. `layout` says how the global tensor is sharded: for inputs and outputs as they are
// held
//   (inputs: as stored), elsewhere without the axes of size 1. `stored` is empty.
// UserError naming tensor and dim: a local piece does not divide a known extent (check_pieces.h for the others).
std::unique_ptr<Fusion> localize(const Fusion& sharded, const DeviceMesh& mesh, const LocalizeOptions& options = {});

}  // namespace plait
