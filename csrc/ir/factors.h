#pragma once
// Factors: which axis of which operand and of which result is the same axis in one op, and how it behaves. Local to an
// op.
#include <algorithm>
#include <optional>
#include <vector>

#include "ir/op.h"

namespace plait {

enum class FactorKind : uint8_t {
  pass,     // operands and results may be sharded alike
  reduce,   // sharded operands leave a pending reduction over the mesh axis
  merge,    // one axis may cut one such factor: ranks exchange what they make of their pieces, and the op is done
  whole,    // must not be sharded
  permute,  // its elements change places: where the op allows it, one axis may cut it, and ranks gather what they need
  regroup,  // of a reshape: cut with the other dims of its run, where pieces of one side are pieces of the other
};

struct Factor {
  FactorKind kind = FactorKind::pass;
  sym::Expr extent;
  std::vector<int> operand_dim;     // per operand of inputs(op): its dim, or -1 where it has none
  std::vector<int> result_dim;      // per result: its dim, or -1 where it has none
  ReduceOp reduce = ReduceOp::sum;  // what cut operands leave pending in every result
  // One step of the factor is that many elements of the dim (reshape: heads of 64); empty and 1: they are the same.
  std::vector<int64_t> operand_scale;
  int64_t result_scale = 1;
  // Of an operand, or below 0 of a result: elements of the dim in one step.
  int64_t scale_in(int index) const {
    if (index < 0) return result_scale;
    return operand_scale.empty() ? 1 : operand_scale[static_cast<size_t>(index)];
  }
  bool shardable() const { return kind <= FactorKind::merge; }
  // Of an element of a result it is the place of the operands' elements that it comes of: not where a scan runs.
  bool keeps_places() const { return kind != FactorKind::merge || is_reduced(); }
  // No result has it.
  bool is_reduced() const {
    return std::all_of(result_dim.begin(), result_dim.end(), [](int dim) { return dim < 0; });
  }
};

// Factors of an op: the dims of the first result in order, then those that other results alone have, then reduced ones.
// A dim of extent 1 that meets a longer one has none.
std::vector<Factor> factors(const Op& op);

// The dim of its first operand along which a lookup or scatter goes; -1 for other ops.
int indexed_dim(const Op& op);

// The reduction over ranks, of which each has some of the updates, that gives the result of the scatter; nothing where
// none does: the last update stays, or they are booleans.
std::optional<ReduceOp> pending_update(const Scatter& op);

// Whether each element of the op's results is made of many of its operands', in loops of its kernel: contractions and
// reductions but for scans.
bool combines(const Op& op);

// Whether the op runs over the factor for each of its results: a loop of its kernel.
bool is_summed(const Op& op, const Factor& factor);

// Axes that the op sums over, in the order of its factors: what Domain::reduction of its first result holds.
std::vector<Axis> reduction_axes(const Op& op);

// How a pending reduction of operands passes through the op without being done first: the op computes the same function
// of partial values. `partial[i]` tells which operands are pending (with `reduce`, over one mesh axis), the others hold
// whole values. False where the reduction must come first.
bool passes_partial(const Op& op, const std::vector<bool>& partial, ReduceOp reduce);

// Whether the op contracts its one pending operand with what is whole, so that the result may be the pending sum.
// Passing it on is right, but costs more than the sum where results are larger, or others need it.
bool contracts_pending(const Op& op, const std::vector<bool>& partial);

// Whether the op casts its pending operand to a wider float, so that the result may be the pending sum. Passing it on
// is right, and its sum is rounded less, but has more bytes.
bool widens_pending(const Op& op, const std::vector<bool>& partial);

// Whether the op scales its one pending operand, element by element, by what is whole, so that the result may be the
// pending sum: a product with a number or a mask, a quotient by a number, a choice between it and 0. Passing it on is
// right, but costs more than the sum where results are larger, or others need it.
bool scales_pending(const Op& op, const std::vector<bool>& partial);

}  // namespace plait
