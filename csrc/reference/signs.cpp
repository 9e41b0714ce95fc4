// What a graph says of signs: an interval around a sum of squares ends at 0 for whoever takes its root.
#include <algorithm>
#include <cmath>

#include "reference/evaluator.h"

namespace plait::reference {
namespace {

constexpr int kMaxDepth = 8;  // of definitions that are looked at: the longest chain of a composite

bool never_negative(const TensorView& tensor, int depth);

bool all_of(const std::vector<TensorView*>& tensors, int depth) {
  return std::ranges::all_of(tensors, [&](const TensorView* t) { return never_negative(*t, depth); });
}

bool pointwise(const PointwiseOp& op, int depth) {
  switch (op.function) {
    case Pointwise::abs:
    case Pointwise::square:
    case Pointwise::exp:
    case Pointwise::exp2:
    case Pointwise::sigmoid:
    case Pointwise::cosh:
    case Pointwise::relu:
    case Pointwise::hypot:
      return is_float(op.out()->dtype);
    case Pointwise::pow:
      return is_float(op.out()->dtype) && never_negative(*op.in[0], depth);
    case Pointwise::where:
      return never_negative(*op.in[1], depth) && never_negative(*op.in[2], depth);
    case Pointwise::cast:
      return is_float(op.out()->dtype) && is_float(op.in[0]->dtype) && never_negative(*op.in[0], depth);
    case Pointwise::add:
    case Pointwise::mul:
    case Pointwise::div:
    case Pointwise::fma:
    case Pointwise::max:
    case Pointwise::min:
    case Pointwise::sqrt:
    case Pointwise::rsqrt:
    case Pointwise::reciprocal:
      return all_of(op.in, depth);
    default:
      return false;
  }
}

bool never_negative(const TensorView& tensor, int depth) {
  const Op* op = tensor.definition;
  if (!op || depth == 0 || !is_float(tensor.dtype)) return false;
  if (const auto* p = as<PointwiseOp>(*op)) return pointwise(*p, depth - 1);
  if (const auto* full = as<Full>(*op)) return full->value.to_double() >= 0 && !std::signbit(full->value.to_double());
  if (const auto* r = as<Reduce>(*op)) return r->function != Reduction::amax && all_of({r->in}, depth - 1);
  if (const auto* moments = as<VarMean>(*op)) return &tensor == op->results[1] || all_of({moments->in}, depth - 1);
  if (const auto* least = as<MinWithArgmin>(*op)) return all_of({least->in}, depth - 1);
  if (op->kind == OpKind::LogCumSumExp) return false;
  if (is_scan(op->kind) || op->kind == OpKind::Sort) return all_of(inputs(*op), depth - 1);
  if (op->kind == OpKind::Reshard) return all_of(inputs(*op), depth - 1);
  if (const auto* pad = as<Pad>(*op); pad && !(pad->value >= 0 && !std::signbit(pad->value))) return false;
  if (op->kind == OpKind::Bitcast) return false;
  if (property(op->kind) == OpProperty::movement) return all_of(inputs(*op), depth - 1);
  return op->kind == OpKind::Var || op->kind == OpKind::Uniform;
}

}  // namespace

bool never_negative(const TensorView& tensor) { return never_negative(tensor, kMaxDepth); }

}  // namespace plait::reference
