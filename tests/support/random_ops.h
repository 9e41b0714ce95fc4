#pragma once
// A random op of a given kind over tensors of a graph: attributes and further operands are drawn so that it fits.
#include <random>
#include <vector>

#include "ir/fusion.h"
#include "support/op_words.h"

namespace plait::testing {

struct RandomOpContext {
  std::mt19937_64& random;
  Fusion& fusion;
  const std::vector<TensorView*>& pool;  // operands to choose from
  TensorView* seed = nullptr;            // u64[]
  bool exact = false;                    // integers stay integers
  TensorView* operand = nullptr;  // the first operand, where not null; ops that are discontinuous there are not made
};

// Adds the op (and, where it needs an index, a mask or a table, the ops or inputs that make them); null where no
// operand fits or the rules refuse what was drawn, and for Linear, Matmul, Dropout, Full and Uniform, which
// random_graph.cpp makes itself.
TensorView* add_random_op(const RandomOpContext& context, const OpWord& word);

}  // namespace plait::testing
