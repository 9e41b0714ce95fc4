#pragma once
// Evaluation op by op, for whole fusions, drawn inputs and single segments. Internal to csrc/reference.
#include <map>
#include <memory>

#include "reference/elements.h"
#include "reference/evaluate.h"

namespace plait::reference {

// What an op sees beside its operands.
struct Context {
  const Fusion& fusion;
  const sym::Environment& sizes;
  const EvaluateOptions& options;
  uint64_t* status = nullptr;  // the words of the run (scalar/index_status.h); null: nobody asks
  const Partial* partial_of(const TensorView& tensor) const;       // of the tensor itself, or null
  const Partial* partial_of_contraction(const Op& product) const;  // also of what it is before its bias joins
  std::vector<int64_t> shape(const std::vector<sym::Expr>& extents) const;
};

// A copy in which composites are opened into primitives by build/compose.h; results keep their names, random ops have
// the offsets that they have in `fusion`.
std::unique_ptr<Fusion> open_composites(const Fusion& fusion);
bool has_composites(const Fusion& fusion);

// Ordinal of a random op among the random ops of its fusion, or the offset it states.
int64_t random_offset(const Fusion& fusion, const Op& op);

// Whether every backend's elements of the tensor are NaN or from +0 on, by its definition: sums of squares, sizes,
// exponentials. False where that is not seen.
bool never_negative(const TensorView& tensor);

using Operands = std::map<const TensorView*, Array>;

// One op, no composite: an array for each result. All operands are present.
std::vector<Array> evaluate_op(const Op& op, const Operands& operands, const Context& context);
// The same, put among the operands of later ops.
void evaluate_into(const Op& op, Operands& values, const Context& context);

// A reduction over `dims`: the shape of its result, the number of its terms, and for every element of the operand where
// it goes (a) and its row-major position among the reduced dims (b).
struct Reduced {
  std::vector<int64_t> shape;
  int64_t terms;
  Walk walk;
};
Reduced reduced(const std::vector<int64_t>& shape, const std::vector<int64_t>& dims, std::vector<int64_t> out_shape);

// Whether ops of a kind are composites.
constexpr bool is_composite(OpKind kind) {
  constexpr bool kComposite[] = {
#define PLAIT_OP(Name, text, properties) OpProperty::properties == OpProperty::composite,
#include "ir/ops.def"
#undef PLAIT_OP
  };
  return kComposite[static_cast<size_t>(kind)];
}
template <class Node>
concept Composite = is_composite(Node::kKind);

// Parts of evaluate_op, by file: contraction, pointwise, creation, reductions, extrema, movement, indexing.
Array evaluate_pointwise(const PointwiseOp& op, const Operands& operands, const Context& context);
Array evaluate_linear(const Linear& op, const Operands& operands, const Context& context);
Array evaluate_matmul(const Matmul& op, const Operands& operands, const Context& context);
Array evaluate_full(const Full& op, const Context& context);
Array evaluate_iota(const Iota& op, const Context& context);
Array evaluate_size(const Size& op, const Context& context);
Array evaluate_uniform(const Uniform& op, const Operands& operands, const Context& context);
Array evaluate_normal(const Normal& op, const Operands& operands, const Context& context);
Array evaluate_reduce(const Reduce& op, const Operands& operands, const Context& context);
// amax, amin, argmax or argmin, of the dtype of a result.
Array evaluate_extremum(Reduction function, DType dtype, const Array& in, const Reduced& dims);
Array evaluate_var(const Var& op, const Operands& operands, const Context& context);
std::vector<Array> evaluate_var_mean(const VarMean& op, const Operands& operands, const Context& context);
std::vector<Array> evaluate_with_position(const MaxWithArgmax& op, const Operands& operands, const Context& context);
std::vector<Array> evaluate_with_position(const MinWithArgmin& op, const Operands& operands, const Context& context);
Array evaluate_scan(const CumSum& op, const Operands& operands, const Context& context);
Array evaluate_scan(const CumProd& op, const Operands& operands, const Context& context);
Array evaluate_scan(const LogCumSumExp& op, const Operands& operands, const Context& context);
std::vector<Array> evaluate_scan(const CumMax& op, const Operands& operands, const Context& context);
std::vector<Array> evaluate_scan(const CumMin& op, const Operands& operands, const Context& context);
std::vector<Array> evaluate_sort(const Sort& op, const Operands& operands, const Context& context);
Array evaluate_permute(const Permute& op, const Operands& operands, const Context& context);
Array evaluate_broadcast(const Broadcast& op, const Operands& operands, const Context& context);
Array evaluate_squeeze(const Squeeze& op, const Operands& operands, const Context& context);
Array evaluate_unsqueeze(const Unsqueeze& op, const Operands& operands, const Context& context);
Array evaluate_reshape(const Reshape& op, const Operands& operands, const Context& context);
Array evaluate_slice(const Slice& op, const Operands& operands, const Context& context);
Array evaluate_pad(const Pad& op, const Operands& operands, const Context& context);
Array evaluate_cat(const Cat& op, const Operands& operands, const Context& context);
Array evaluate_flip(const Flip& op, const Operands& operands, const Context& context);
Array evaluate_roll(const Roll& op, const Operands& operands, const Context& context);
Array evaluate_repeat(const Repeat& op, const Operands& operands, const Context& context);
Array evaluate_bitcast(const Bitcast& op, const Operands& operands, const Context& context);
Array evaluate_gather(const Gather& op, const Operands& operands, const Context& context);
Array evaluate_index_select(const IndexSelect& op, const Operands& operands, const Context& context);
Array evaluate_scatter(const Scatter& op, const Operands& operands, const Context& context);

}  // namespace plait::reference
