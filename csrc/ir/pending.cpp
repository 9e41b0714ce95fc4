// How pending reductions pass through ops (factors.h).
#include <algorithm>
#include <cmath>
#include <optional>

#include "base/error.h"
#include "ir/factors.h"

namespace plait {

namespace {

// Elements only change places, so what is pending may stay so. A padded element counts once on every rank.
bool only_moves(const Op& op, ReduceOp reduce) {
  if (const auto* pad = as<Pad>(op)) return reduce == ReduceOp::sum && pad->value == 0;
  return property(op.kind) == OpProperty::movement && op.kind != OpKind::Bitcast;
}

// A reduction of pending values of its own kind: both only add terms.
bool reduces_alike(const Op& op, ReduceOp reduce) {
  const auto* r = as<Reduce>(op);
  if (!r || r->in->dtype != r->out()->dtype) return false;
  switch (r->function) {
    case Reduction::sum:
      return reduce == ReduceOp::sum && is_float(r->in->dtype);
    case Reduction::amax:
      return reduce == ReduceOp::max;
    case Reduction::amin:
      return reduce == ReduceOp::min;
    case Reduction::prod:
    case Reduction::argmax:
    case Reduction::argmin:
      return false;
  }
  __builtin_unreachable();
}

}  // namespace

bool contracts_pending(const Op& op, const std::vector<bool>& partial) {
  if (property(op.kind) != OpProperty::contraction || std::count(partial.begin(), partial.end(), true) != 1)
    return false;
  const std::vector<TensorView*>& in = inputs(op);
  const DType type = op.out()->dtype;
  return in.size() == 2 && is_float(type) && !is_narrow(type) && in[0]->dtype == type && in[1]->dtype == type;
}

namespace {

// The op that computes a tensor, in whatever layout; null: an input.
const Op* origin(const TensorView& t) {
  const Op* out = t.definition;
  while (const auto* reshard = out ? as<Reshard>(*out) : nullptr) out = reshard->in->definition;
  return out;
}

// A number that all elements are, if it is known.
std::optional<double> number(const TensorView& t) {
  const Op* op = origin(t);
  const auto* full = op ? as<Full>(*op) : nullptr;
  return full ? std::optional(full->value.to_double()) : std::nullopt;
}

bool is_mask(const TensorView& t) {
  const Op* op = origin(t);
  const auto* cast = op ? as<PointwiseOp>(*op) : nullptr;
  return cast && cast->function == Pointwise::cast && cast->in[0]->dtype == DType::boolean;
}

// Numbers that make no summand greater, however many of them scale it one behind another: one that grows may overflow
// where the sum does not, and of both signs that is NaN.
bool shrinks_as_factor(const TensorView& t) {
  const auto by = number(t);
  return by && std::abs(*by) <= 1;
}

bool shrinks_as_divisor(const TensorView& t) {
  const auto by = number(t);
  return by && std::abs(*by) >= 1 && std::isfinite(*by);
}

// Whether a greater number never becomes a smaller one: the greatest of what the op makes is what it makes of the
// greatest. Of several pending operands that holds of their own reduction. Of 8 bits an infinity may be NaN.
bool keeps_order(const PointwiseOp& p, const std::vector<bool>& partial, ReduceOp reduce) {
  const auto pending = std::ranges::count(partial, true);
  if (pending == 0) return false;
  if (pending > 1) return p.function == (reduce == ReduceOp::max ? Pointwise::max : Pointwise::min);
  const auto at = static_cast<size_t>(std::find(partial.begin(), partial.end(), true) - partial.begin());
  const TensorView& in = *p.in[at];
  const DType type = p.out()->dtype;
  if (in.shape() != p.out()->shape() || is_f8(type) || is_f8(in.dtype)) return false;
  if (p.function == Pointwise::cast) return is_float(type) && is_float(in.dtype) && size_of(type) < size_of(in.dtype);
  if (!std::ranges::all_of(p.in, [&](const TensorView* t) { return t->dtype == type; })) return false;
  if (p.function == Pointwise::max || p.function == Pointwise::min || p.function == Pointwise::relu) return true;
  const auto by = p.in.size() == 2 && is_float(type) ? number(*p.in[1 - at]) : std::nullopt;
  if (!by || !std::isfinite(*by)) return false;
  switch (p.function) {
    case Pointwise::add:
      return true;
    case Pointwise::sub:
      return at == 0;
    case Pointwise::mul:
      return *by > 0;
    case Pointwise::div:
      return at == 0 && *by > 0;
    default:
      return false;
  }
}

}  // namespace

bool widens_pending(const Op& op, const std::vector<bool>& partial) {
  const auto* p = as<PointwiseOp>(op);
  if (!p || p->function != Pointwise::cast || !partial[0]) return false;
  const DType from = p->in[0]->dtype, to = op.out()->dtype;
  return is_float(from) && is_float(to) && !is_f8(from) && size_of(from) < size_of(to);
}

bool scales_pending(const Op& op, const std::vector<bool>& partial) {
  const auto* p = as<PointwiseOp>(op);
  if (!p || std::count(partial.begin(), partial.end(), true) != 1) return false;
  const DType type = op.out()->dtype;
  const auto pending = static_cast<size_t>(std::find(partial.begin(), partial.end(), true) - partial.begin());
  if (!is_float(type) || is_narrow(type) || p->in[pending]->dtype != type) return false;
  switch (p->function) {
    case Pointwise::mul:
      return p->in[1 - pending]->dtype == type &&
             (is_mask(*p->in[1 - pending]) || shrinks_as_factor(*p->in[1 - pending]));
    case Pointwise::div:
      return pending == 0 && p->in[1]->dtype == type && shrinks_as_divisor(*p->in[1]);
    case Pointwise::where:
      return pending > 0 && number(*p->in[3 - pending]) == 0;
    default:
      return false;
  }
}

bool passes_partial(const Op& op, const std::vector<bool>& partial, ReduceOp reduce) {
  PLAIT_CHECK(partial.size() == inputs(op).size(), "{} operands of {} are pending or not", partial.size(),
              describe(op));
  if (op.results.size() != 1) return false;
  if (is_f8(op.out()->dtype) && reduce != ReduceOp::max && reduce != ReduceOp::min) return false;  // rounded when whole
  const bool every = std::all_of(partial.begin(), partial.end(), [](bool b) { return b; });
  if (every && (only_moves(op, reduce) || reduces_alike(op, reduce))) return true;
  const auto* p = as<PointwiseOp>(op);
  if (p && (reduce == ReduceOp::max || reduce == ReduceOp::min)) return keeps_order(*p, partial, reduce);
  if (!p || reduce != ReduceOp::sum || !is_float(op.out()->dtype)) return false;
  bool equal_types = std::all_of(p->in.begin(), p->in.end(), [&](auto* t) { return t->dtype == op.out()->dtype; });
  switch (p->function) {
    case Pointwise::neg:
    case Pointwise::add:
    case Pointwise::sub:
      return every && equal_types;
    default:
      return false;
  }
}

}  // namespace plait
