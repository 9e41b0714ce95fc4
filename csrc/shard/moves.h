#pragma once
// What moves in a sharded graph, step by step: for the table and the picture of `plait explain --shard`.
#include <string>
#include <vector>

#include "ir/fusion.h"

namespace plait {

// A step of a reshard, an op that ranks merge from parts, or a move along a cut dim whose ranks take ranges.
struct ShardMove {
  const TensorView* result = nullptr;  // that the step makes
  std::string tensors;                 // "%x -> %x_gathered"
  std::string step;                    // "all-gather of dim 1 over tp"
  sym::Expr bytes;                     // of the global tensor that it is about; of parts, what each rank gives
  std::string cause;                   // the op that asked, who won a conflict
  Team team;                           // that does it
  bool exchanges = false;              // else nothing leaves a rank
};

// In the order of the graph. Near slices (gather_ranges.h) are the move of the first one.
std::vector<ShardMove> shard_moves(const Fusion& sharded);

// Why a tensor has its layout, without what its reshard says of itself.
std::string own_reason(const TensorView& tensor);

}  // namespace plait
