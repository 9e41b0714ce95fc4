#pragma once
// A random op of a given kind over tensors of a graph: attributes and further operands are drawn so that it fits.
#include <random>
#include <vector>

#include "ir/fusion.h"

namespace plait::testing {

struct RandomOpContext {
  std::mt19937_64& random;
  Fusion& fusion;
  const std::vector<TensorView*>& pool;  // operands to choose from
  TensorView* seed = nullptr;            // u64[]
  bool exact = false;                    // integers stay integers
};

// Kinds that users write and random graphs draw, without PointwiseOp.
const std::vector<OpKind>& random_op_kinds();

// Adds the op (and, where it needs an index, a mask or a table, the ops or inputs that make them); null where no
// operand fits or the rules refuse what was drawn.
TensorView* add_random_op(const RandomOpContext& context, OpKind kind);

}  // namespace plait::testing
