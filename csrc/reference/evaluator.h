#pragma once
// Evaluation op by op, for whole fusions, drawn inputs and single segments. Internal to csrc/reference.
#include <map>

#include "reference/evaluate.h"

namespace plait::reference {

// What an op sees beside its operands.
struct Context {
  const Fusion& fusion;
  const sym::Environment& sizes;
  const EvaluateOptions& options;
  const Partial* partial_of(const TensorView& tensor) const;   // of the tensor itself, or null
  const Partial* partial_of_product(const Op& product) const;  // also under the name that split_bias gives it
  std::vector<int64_t> shape(const std::vector<sym::Expr>& extents) const;
};

// Ordinal of a random op among the random ops of its fusion, or the offset it states.
int64_t random_offset(const Fusion& fusion, const Op& op);

using Operands = std::map<const TensorView*, Array>;

// One op. All operands are present.
Array evaluate_op(const Op& op, const Operands& operands, const Context& context);

// Parts of evaluate_op.
Array evaluate_pointwise(const PointwiseOp& op, const Operands& operands, const Context& context);
Array evaluate_linear(const Linear& op, const Operands& operands, const Context& context);
Array evaluate_matmul(const Matmul& op, const Operands& operands, const Context& context);

}  // namespace plait::reference
