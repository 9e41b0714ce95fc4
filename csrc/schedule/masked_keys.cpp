#include "schedule/masked_keys.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>

namespace plait {

namespace {

const PointwiseOp* pointwise_of(const TensorView* t) {
  return t->definition == nullptr ? nullptr : as<PointwiseOp>(*t->definition);
}

std::optional<double> constant_of(const TensorView* t) {
  const auto* full = t->definition == nullptr ? nullptr : as<Full>(*t->definition);
  return full != nullptr ? std::optional(full->value.to_double()) : std::nullopt;
}

bool is_finite(const TensorView* t) {
  const std::optional<double> value = constant_of(t);
  return value && std::isfinite(*value);
}

// ---- Which keys a choice is about.

constexpr int kMostDeep = 8;  // of expressions for positions and conditions

// Of tensors whose last dims are queries and keys.
using Position = KeyDistance;

Position sum_of(const Position& a, const Position& b, int sign) {
  return {a.keys + sign * b.keys, a.queries + sign * b.queries, sign > 0 ? a.offset + b.offset : a.offset - b.offset};
}

// A whole number, small enough for sums of a few to be what they are, or a size.
sym::Expr whole_number(const TensorView* t) {
  if (const auto* size = t->definition == nullptr ? nullptr : as<Size>(*t->definition))
    return t->dtype == DType::i64 ? size->value : sym::Expr();
  const std::optional<double> value = constant_of(t);
  const bool is_whole = value && std::abs(*value) <= 1 << 20 && *value == std::floor(*value);
  return is_whole ? t->fusion->pool().constant(static_cast<int64_t>(*value)) : sym::Expr();
}

// The positions along a dim of a tensor, whatever its other dims are.
struct Along {
  const Iota* iota;
  size_t dim;
};
std::optional<Along> along(const TensorView* t, int deep = 0) {
  if (t->definition == nullptr || deep > kMostDeep) return std::nullopt;
  const Op& op = *t->definition;
  if (const auto* iota = as<Iota>(op)) return Along{iota, static_cast<size_t>(iota->dim)};
  if (op.kind != OpKind::Unsqueeze && op.kind != OpKind::Broadcast && op.kind != OpKind::Permute) return std::nullopt;
  std::optional<Along> out = along(inputs(op)[0], deep + 1);
  if (!out) return std::nullopt;
  if (const auto* spread = as<Broadcast>(op)) {
    out->dim = static_cast<size_t>(spread->dims[out->dim]);
  } else if (const auto* permute = as<Permute>(op)) {
    out->dim = static_cast<size_t>(std::ranges::find(permute->dims, int64_t(out->dim)) - permute->dims.begin());
  } else {
    for (const int64_t fresh : as<Unsqueeze>(op)->dims)  // in order
      if (fresh <= static_cast<int64_t>(out->dim)) ++out->dim;
  }
  return out;
}

// `shape` of scores: a position along a dim of another extent, such as 1, is none of theirs.
std::optional<Position> position_of(const TensorView* t, const std::vector<sym::Expr>& shape, int deep = 0) {
  if (const sym::Expr number = whole_number(t)) return Position{0, 0, number};
  if (t->dtype != DType::i64 || deep > kMostDeep) return std::nullopt;  // others may wrap
  if (const std::optional<Along> found = along(t)) {
    const size_t behind = t->rank() - 1 - found->dim;
    const sym::Expr extent = found->iota->shape[static_cast<size_t>(found->iota->dim)];
    if (behind > 1 || extent != *(shape.end() - 1 - static_cast<int64_t>(behind)) || extent != t->extent(found->dim))
      return std::nullopt;
    return Position{behind == 0, behind == 1, found->iota->start ? found->iota->start : t->fusion->pool().constant(0)};
  }
  const PointwiseOp* op = pointwise_of(t);
  if (op == nullptr) return std::nullopt;
  const bool adds = op->function == Pointwise::add, negates = op->function == Pointwise::neg;
  if (!adds && !negates && op->function != Pointwise::sub) return std::nullopt;
  const Position zero{0, 0, t->fusion->pool().constant(0)};
  const auto first = negates ? zero : position_of(op->in[0], shape, deep + 1);
  const auto second = position_of(op->in[negates ? 0 : 1], shape, deep + 1);
  return first && second ? std::optional(sum_of(*first, *second, adds ? 1 : -1)) : std::nullopt;
}

// Whether a <= b or a < b, with the operands in this order or turned.
struct Comparison {
  bool turned, strict;
};
std::optional<Comparison> comparison_of(Pointwise function) {
  switch (function) {
    case Pointwise::le:
      return Comparison{false, false};
    case Pointwise::lt:
      return Comparison{false, true};
    case Pointwise::ge:
      return Comparison{true, false};
    case Pointwise::gt:
      return Comparison{true, true};
    default:
      return std::nullopt;
  }
}

// What either says, of each side; the first where both do.
VisibleKeys first_of(VisibleKeys a, const VisibleKeys& b) {
  if (!a.ahead) a.ahead = b.ahead;
  if (!a.behind) a.behind = b.behind;
  return a;
}
// What holds of either: the further one.
std::optional<sym::Expr> further(const std::optional<sym::Expr>& a, const std::optional<sym::Expr>& b) {
  if (!a || !b) return std::nullopt;
  if (a == b) return a;
  if (!a->constant() || !b->constant()) return std::nullopt;
  return *a->constant() < *b->constant() ? b : a;
}
VisibleKeys either(const VisibleKeys& a, const VisibleKeys& b) {
  return {further(a.ahead, b.ahead), further(a.behind, b.behind)};
}
// What both say.
VisibleKeys common(const VisibleKeys& a, const VisibleKeys& b) {
  return {a.ahead == b.ahead ? a.ahead : std::nullopt, a.behind == b.behind ? a.behind : std::nullopt};
}

// Keys outside of which `high` - `low` is below 0.
VisibleKeys not_below(const Position& low, const Position& high) {
  const Position apart = sum_of(high, low, -1);
  const bool ahead = apart.keys == -1 && apart.queries == 1, behind = apart.keys == 1 && apart.queries == -1;
  if (!sym::proven(sym::ge(apart.offset, 0))) return {};  // rows may see no key
  return ahead ? VisibleKeys{apart.offset, {}} : behind ? VisibleKeys{{}, apart.offset} : VisibleKeys();
}

// A logical function, also where it is one of bits.
bool is_and(const PointwiseOp& op) {
  return op.function == Pointwise::logical_and ||
         (op.function == Pointwise::bitwise_and && op.out()->dtype == DType::boolean);
}
bool is_or(const PointwiseOp& op) {
  return op.function == Pointwise::logical_or ||
         (op.function == Pointwise::bitwise_or && op.out()->dtype == DType::boolean);
}
bool is_not(const PointwiseOp& op) {
  return op.function == Pointwise::logical_not ||
         (op.function == Pointwise::bitwise_not && op.out()->dtype == DType::boolean);
}

// Outside of which keys a condition is not `kept`.
VisibleKeys kept_by(const TensorView* condition, bool kept, const std::vector<sym::Expr>& shape, int deep = 0) {
  const PointwiseOp* op = pointwise_of(condition);
  if (op == nullptr || deep > kMostDeep) return {};
  if (is_not(*op)) return kept_by(op->in[0], !kept, shape, deep + 1);
  if (kept ? is_and(*op) : is_or(*op))
    return first_of(kept_by(op->in[0], kept, shape, deep + 1), kept_by(op->in[1], kept, shape, deep + 1));
  if (kept ? is_or(*op) : is_and(*op))
    return either(kept_by(op->in[0], kept, shape, deep + 1), kept_by(op->in[1], kept, shape, deep + 1));
  std::optional<Comparison> how = comparison_of(op->function);
  if (!how) return {};
  if (!kept) how = Comparison{!how->turned, !how->strict};
  const TensorView* smaller = op->in[how->turned ? 1 : 0];
  auto high = position_of(op->in[how->turned ? 0 : 1], shape);
  const PointwiseOp* distance = pointwise_of(smaller);
  const bool both = distance != nullptr && distance->function == Pointwise::abs;
  const auto low = position_of(both ? distance->in[0] : smaller, shape);
  if (!low || !high) return {};
  if (how->strict) high->offset = high->offset - 1;
  const VisibleKeys out = not_below(*low, *high);
  if (!both) return out;
  const Position zero{0, 0, condition->fusion->pool().constant(0)};
  return first_of(out, not_below(sum_of(zero, *low, -1), *high));
}

// ---- What values are where a key is left out, and what rows are made of.
// Each holds, or everything that comes of its row is NaN, also by the keys that are kept: there is at least one.

enum class Value : uint8_t {
  unknown,
  least,   // -inf
  most,    // of a row: its maximum, or a number in its place
  weight,  // 0
  term,    // 0, of exponentials: the others of the row are not negative
  total,   // of a row: the sum of its terms, or a number but 0 in its place
};

// What a tensor is where keys are not visible.
struct Outside {
  Value value = Value::unknown;
  VisibleKeys keys;
  const TensorView* source = nullptr;  // of a row: what it was reduced from
  bool or_nan = false;                 // or all of the row is NaN
};

class Values {
 public:
  explicit Values(const AttentionParts& parts) : parts_(parts), shape_(parts.scores[0]->out()->shape()) {
    for (const Matmul* m : parts.scores) scores_.insert(m->out());
  }

  // False where somebody sums over keys what may be other than 0 there.
  bool run(const Fusion& graph) {
    for (const Op* op : graph.ops()) {
      const auto& in = inputs(*op);
      if (std::none_of(in.begin(), in.end(), [&](const TensorView* t) { return scores_.contains(t); })) continue;
      if (property(op->kind) == OpProperty::contraction) continue;
      if (op->kind == OpKind::Reshape && is_row(*in[0])) continue;  // nothing of keys is left
      if (op->kind != OpKind::PointwiseOp && op->kind != OpKind::Reduce && !is_transposed(op->out())) return false;
      const Outside outside = outside_of(*op);
      if (op->kind == OpKind::Reduce) {
        if (outside.value == Value::unknown) return false;
        need(of(in[0]).keys);
      }
      values_[op->out()] = outside;
      scores_.insert(op->out());
    }
    return std::ranges::all_of(parts_.products, [&](const Matmul* m) { return sums(*m, parts_.by_keys); }) &&
           std::ranges::all_of(parts_.others, [&](const Matmul* m) { return sums(*m, false); });
  }
  const VisibleKeys& keys() const { return *keys_; }

 private:
  bool sums(const Matmul& product, bool by_keys) {
    const Outside weights = of(weights_of(product, by_keys));
    if (weights.value != Value::weight && weights.value != Value::term) return false;
    need(weights.keys);
    return true;
  }

  bool is_row(const TensorView& t) const { return t.rank() == shape_.size() && t.shape().back().constant() == 1; }

  // Of what is summed, the keys that all may leave out.
  void need(const VisibleKeys& keys) { keys_ = keys_ ? common(*keys_, keys) : keys; }

  // Weights on their way to a product by keys.
  bool is_transposed(const TensorView* t) const {
    return parts_.by_keys && std::ranges::any_of(parts_.products, [&](const Matmul* m) { return m->a == t; });
  }

  Outside of(const TensorView* t) const {
    const auto it = values_.find(t);
    return it == values_.end() ? Outside() : it->second;
  }

  Outside outside_of(const Op& op) {
    if (const auto* reduce = as<Reduce>(op)) {
      const Outside in = of(reduce->in);
      if (reduce->function == Reduction::amax && in.value == Value::least) return {Value::most, {}, reduce->in};
      if (reduce->function == Reduction::sum && in.value == Value::term) return {Value::total, {}, reduce->in};
      return {};
    }
    const auto* p = as<PointwiseOp>(op);
    return p == nullptr ? Outside() : outside_of(*p);
  }

  Outside outside_of(const PointwiseOp& op) {
    const Outside first = of(op.in[0]), second = op.in.size() > 1 ? of(op.in[1]) : Outside();
    switch (op.function) {
      case Pointwise::cast:
        return is_cast(first.value, op.out()->dtype) ? first : Outside();
      case Pointwise::exp:
      case Pointwise::exp2:
        return first.value == Value::least ? Outside{Value::term, first.keys, nullptr, first.or_nan} : Outside();
      case Pointwise::sub:
        if (first.value != Value::least || second.value != Value::most || second.source != op.in[0]) return {};
        return {Value::least, first.keys, nullptr, true};
      case Pointwise::mul:
        return first.value == Value::unknown ? scaled(second, op.in[0]) : scaled(first, op.in[1]);
      case Pointwise::div:
        if (first.value == Value::term && second.value == Value::total && second.source == op.in[0])
          return {Value::term, first.keys, nullptr, true};
        return scaled(first, op.in[1]);
      case Pointwise::where:
        return chosen(*op.in[0], *op.in[1], *op.in[2], is_row(*op.out()));
      default:
        return {};
    }
  }

  // 0 and -inf are what they are in every float that has them; a row may become another one.
  static bool is_cast(Value value, DType to) {
    const bool element = value == Value::least || value == Value::weight || value == Value::term;
    return is_float(to) && (!is_narrow(to) || (element && !is_always_rounded(to)));
  }

  static Outside scaled(const Outside& outside, const TensorView* by) {
    const Value value = outside.value;
    const bool keeps = value == Value::weight || value == Value::term || value == Value::least;
    return keeps && is_finite(by) && *constant_of(by) > 0 ? outside : Outside();
  }

  Outside chosen(const TensorView& condition, const TensorView& a, const TensorView& b, bool row) const {
    for (const auto& [of_row, number] : {std::pair(&a, &b), std::pair(&b, &a)}) {
      const Outside known = of(of_row);
      if (row && known.value == Value::most && is_finite(number)) return known;
      if (row && known.value == Value::total && is_finite(number) && *constant_of(number) != 0) return known;
    }
    for (const auto& [value, number] : {std::pair(Value::least, -std::numeric_limits<double>::infinity()),
                                        std::pair(Value::term, 0.0), std::pair(Value::weight, 0.0)}) {
      const bool kept = constant_of(&b) == number;
      if (!kept && constant_of(&a) != number) {
        if (of(&a).value == value && of(&b).value == value)
          return {value, common(of(&a).keys, of(&b).keys), nullptr, of(&a).or_nan || of(&b).or_nan};
        continue;
      }
      const TensorView& other = kept ? a : b;
      const Outside& known = of(&other);
      if (value == Value::term && known.value != value) continue;  // others of the row may be negative
      // Where nothing is known of the other, it is this value outside of what the condition keeps, on either side. A
      // condition for each key may hide that the others of a row are NaN.
      const bool holds = known.value == value && (!known.or_nan || is_row(condition));
      const VisibleKeys keys = first_of(kept_by(&condition, kept, shape_), holds ? known.keys : VisibleKeys());
      if (keys.ahead || keys.behind) return {value, keys, nullptr, holds && known.or_nan};
    }
    return {};
  }

  const AttentionParts& parts_;
  const std::vector<sym::Expr> shape_;  // of scores
  std::set<const TensorView*> scores_;  // with what comes of them
  std::map<const TensorView*, Outside> values_;
  std::optional<VisibleKeys> keys_;
};

}  // namespace

std::vector<KeyDistance> distances_of(const TensorView& condition, const std::vector<sym::Expr>& shape) {
  const PointwiseOp* op = pointwise_of(&condition);
  const std::optional<Comparison> how = op != nullptr ? comparison_of(op->function) : std::nullopt;
  if (!how) return {};
  const TensorView* smaller = op->in[how->turned ? 1 : 0];
  const PointwiseOp* distance = pointwise_of(smaller);
  const bool both = distance != nullptr && distance->function == Pointwise::abs;
  const auto low = position_of(both ? distance->in[0] : smaller, shape);
  auto high = position_of(op->in[how->turned ? 0 : 1], shape);
  if (!low || !high) return {};
  if (how->strict) high->offset = high->offset - 1;
  std::vector<KeyDistance> out = {sum_of(*high, *low, -1)};
  if (both) out.push_back(sum_of(*high, *low, 1));
  return out;
}

std::optional<VisibleKeys> visible_keys(const Fusion& graph, const AttentionParts& parts) {
  Values values(parts);
  if (!values.run(graph)) return std::nullopt;
  VisibleKeys out = values.keys();
  const std::vector<sym::Expr>& shape = parts.scores[0]->out()->shape();
  const bool sees_itself = sym::proven(sym::le(shape[shape.size() - 2], shape.back()));
  if (!sees_itself) out.behind.reset();  // the last queries may see no key
  return out.ahead || out.behind ? std::optional(out) : std::nullopt;
}

}  // namespace plait
