#include "schedule/masked_keys.h"

#include <algorithm>
#include <cmath>
#include <map>

#include "base/error.h"
#include "ir/make_op.h"
#include "ir/op_fields.h"

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

// A position along the keys or along the queries, of tensors whose last dims are queries and keys.
struct Position {
  bool of_key = false;
  sym::Expr offset;
};

std::optional<Position> position_of(const TensorView* t) {
  if (const auto* iota = t->definition == nullptr ? nullptr : as<Iota>(*t->definition)) {
    const int64_t behind = static_cast<int64_t>(iota->shape.size()) - 1 - iota->dim;
    if (behind > 1 || is_float(iota->dtype)) return std::nullopt;
    return Position{behind == 0, iota->start ? iota->start : t->fusion->pool().constant(0)};
  }
  const PointwiseOp* op = pointwise_of(t);
  if (op == nullptr || op->in.size() != 2) return std::nullopt;
  const auto whole = [](const TensorView* in) -> sym::Expr {
    if (const auto* size = in->definition == nullptr ? nullptr : as<Size>(*in->definition)) return size->value;
    const std::optional<double> value = constant_of(in);
    const bool is_whole = value && std::abs(*value) <= 1e9 && *value == std::floor(*value);
    return is_whole ? in->fusion->pool().constant(static_cast<int64_t>(*value)) : sym::Expr();
  };
  if (is_float(t->dtype) || (op->function != Pointwise::add && op->function != Pointwise::sub)) return std::nullopt;
  std::optional<Position> position = position_of(op->in[0]);
  sym::Expr by = whole(op->in[1]);
  if (!position && op->function == Pointwise::add) {
    position = position_of(op->in[1]);
    by = whole(op->in[0]);
  }
  if (!position || !by) return std::nullopt;
  position->offset = op->function == Pointwise::add ? position->offset + by : position->offset - by;
  return position;
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

// Of a condition that is `kept` for no key beyond query + offset: the offset.
std::optional<sym::Expr> kept_ahead(const TensorView* condition, bool kept) {
  const PointwiseOp* op = pointwise_of(condition);
  if (op == nullptr) return std::nullopt;
  if (op->function == Pointwise::logical_not) return kept_ahead(op->in[0], !kept);
  if (op->function == (kept ? Pointwise::logical_and : Pointwise::logical_or)) {
    const std::optional<sym::Expr> first = kept_ahead(op->in[0], kept);
    return first ? first : kept_ahead(op->in[1], kept);
  }
  std::optional<Comparison> how = comparison_of(op->function);
  if (!how) return std::nullopt;
  if (!kept) how = Comparison{!how->turned, !how->strict};
  const auto low = position_of(op->in[how->turned ? 1 : 0]), high = position_of(op->in[how->turned ? 0 : 1]);
  if (!low || !high || !low->of_key || high->of_key) return std::nullopt;
  return high->offset - low->offset - (how->strict ? 1 : 0);
}

// ---- What values are where a key is left out, and what rows are made of.
// Each holds, or everything that comes of its row is NaN, also by the keys that are kept: there is at least one.

enum class Value : uint8_t {
  unknown,
  least,   // -inf
  most,    // of a row: its maximum, or a number in its place
  weight,  // 0
  total,   // of a row: the sum of its weights, or a number but 0 in its place
};

class Values {
 public:
  explicit Values(const AttentionParts& parts) : parts_(parts) {
    for (const Matmul* m : parts.scores) scores_.insert(m->out());
  }

  // False where somebody sums over keys what may be other than 0 there.
  bool run(const Fusion& graph) {
    for (const Op* op : graph.ops()) {
      const auto& in = inputs(*op);
      if (std::none_of(in.begin(), in.end(), [&](const TensorView* t) { return scores_.contains(t); })) continue;
      if (property(op->kind) == OpProperty::contraction) continue;
      if (op->kind != OpKind::PointwiseOp && op->kind != OpKind::Reduce && !is_transposed(op->out())) return false;
      const Value value = value_of(*op);
      if (op->kind == OpKind::Reduce && value == Value::unknown) return false;
      values_[op->out()] = value;
      scores_.insert(op->out());
    }
    return offset_.has_value() && std::ranges::all_of(parts_.products, [&](const Matmul* m) {
             return of(weights_of(*m, parts_.by_keys)) == Value::weight;
           });
  }
  std::optional<sym::Expr> offset() const { return offset_; }

 private:
  // Weights on their way to a product by keys.
  bool is_transposed(const TensorView* t) const {
    return parts_.by_keys && std::ranges::any_of(parts_.products, [&](const Matmul* m) { return m->a == t; });
  }

  Value of(const TensorView* t) const {
    const auto it = values_.find(t);
    return it == values_.end() ? Value::unknown : it->second;
  }

  Value value_of(const Op& op) {
    if (const auto* reduce = as<Reduce>(op)) {
      const Value in = of(reduce->in);
      if (reduce->function == Reduction::amax && in == Value::least) return Value::most;
      return reduce->function == Reduction::sum && in == Value::weight ? Value::total : Value::unknown;
    }
    const auto* p = as<PointwiseOp>(op);
    return p == nullptr ? Value::unknown : value_of(*p);
  }

  Value value_of(const PointwiseOp& op) {
    const Value first = of(op.in[0]), second = op.in.size() > 1 ? of(op.in[1]) : Value::unknown;
    switch (op.function) {
      case Pointwise::cast:
        return is_float(op.out()->dtype) && !is_narrow(op.out()->dtype) ? first : Value::unknown;
      case Pointwise::exp:
      case Pointwise::exp2:
        return first == Value::least ? Value::weight : Value::unknown;
      case Pointwise::sub:
        return first == Value::least && second == Value::most ? Value::least : Value::unknown;
      case Pointwise::mul:
        if (first == Value::unknown) return scaled(second, op.in[0]);
        return scaled(first, op.in[1]);
      case Pointwise::div:
        if (first == Value::weight && second == Value::total) return first;
        return scaled(first, op.in[1]);
      case Pointwise::where:
        return chosen(*op.in[0], *op.in[1], *op.in[2]);
      default:
        return Value::unknown;
    }
  }

  static Value scaled(Value value, const TensorView* by) {
    const bool keeps = value == Value::weight || value == Value::least;
    return keeps && is_finite(by) && *constant_of(by) > 0 ? value : Value::unknown;
  }

  Value chosen(const TensorView& condition, const TensorView& a, const TensorView& b) {
    const double infinity = std::numeric_limits<double>::infinity();
    const auto is_value = [&](const TensorView& t, Value value, double other) {
      return of(&t) == value || constant_of(&t) == other;
    };
    if (is_value(a, Value::least, -infinity) && is_value(b, Value::least, -infinity)) return Value::least;
    if (is_value(a, Value::weight, 0) && is_value(b, Value::weight, 0)) return Value::weight;
    for (const auto& [row, number] : {std::pair(&a, &b), std::pair(&b, &a)}) {
      if (of(row) == Value::most && is_finite(number)) return Value::most;
      if (of(row) == Value::total && is_finite(number) && *constant_of(number) != 0) return Value::total;
    }
    // Scores or -inf; weights or 0.
    const bool kept = constant_of(&b) == -infinity || constant_of(&b) == 0;
    const std::optional<double> left_out = constant_of(kept ? &b : &a);
    const std::optional<sym::Expr> ahead = kept_ahead(&condition, kept);
    const bool fits = ahead && (left_out == -infinity || left_out == 0.0) && (!offset_ || *offset_ == *ahead);
    if (!fits || !sym::proven(sym::ge(*ahead, 0))) return Value::unknown;
    offset_ = ahead;
    return left_out == 0.0 ? Value::weight : Value::least;
  }

  const AttentionParts& parts_;
  std::set<const TensorView*> scores_;  // with what comes of them
  std::map<const TensorView*, Value> values_;
  std::optional<sym::Expr> offset_;
};

// Ops behind another one.
class Behind {
 public:
  Behind(Fusion& graph, const Op& op) : graph_(graph), op_(op) {}

  TensorView* pointwise(Pointwise function, std::vector<TensorView*> in, const char* name) {
    auto op = std::make_unique<PointwiseOp>();
    op->function = function;
    op->in = std::move(in);
    return add(std::move(op), name);
  }
  TensorView* constant(double value, DType dtype) {
    auto op = std::make_unique<Full>();
    op->value = Constant::from_double(dtype, value);
    return add(std::move(op), "_number");
  }
  // From `start` on, [extent, 1].
  TensorView* positions(sym::Expr extent, sym::Expr start, DType dtype) {
    auto op = std::make_unique<Iota>();
    op->shape = {extent, graph_.pool().constant(1)};
    op->dtype = dtype;
    op->start = start;
    return add(std::move(op), "_position");
  }
  // The same values, by moves of their own: what two read of one another's loops would need a buffer.
  TensorView* moved_again(TensorView* t) {
    const Op* op = t->definition;
    if (op == nullptr || is_elementwise(*op)) return t;
    TensorView *in = inputs(*op)[0], *again = moved_again(in);
    std::unique_ptr<Op> copy = blank_op(op->kind);
    copy_fields(*op, *copy, [](const auto& value) { return value; });
    added_.push_back(graph_.add_op(std::move(copy), graph_.add_tensor(t->name + "_again", t->shape(), t->dtype)));
    if (again != in) replace_input(*added_.back(), in, again);
    return added_.back()->out();
  }
  template <class T>
  TensorView* add(std::unique_ptr<T> op, const char* name) {
    const Inferred type = infer(*op, graph_);
    added_.push_back(graph_.add_op(std::move(op), graph_.add_tensor(name, type.shape, type.dtype)));
    return added_.back()->out();
  }
  void finish() {
    std::vector<Op*> order;
    for (Op* op : graph_.ops()) {
      if (std::find(added_.begin(), added_.end(), op) != added_.end()) continue;
      order.push_back(op);
      if (op == &op_) order.insert(order.end(), added_.begin(), added_.end());
    }
    graph_.set_order(std::move(order));
  }

 private:
  Fusion& graph_;
  const Op& op_;
  std::vector<Op*> added_;
};

}  // namespace

std::optional<sym::Expr> visible_ahead(const Fusion& graph, const AttentionParts& parts) {
  Values values(parts);
  return values.run(graph) ? values.offset() : std::nullopt;
}

TensorView* add_poison(Fusion& graph, const Matmul& product, bool by_keys, sym::Expr offset) {
  TensorView *out = product.out(), *values = product.b;
  const DType dtype = out->dtype;  // positions are whole numbers below 2^24
  const size_t rank = out->rank();
  const sym::Expr none_ahead = graph.pool().constant(0);
  Behind behind(graph, *out->definition);
  const std::vector<Op*> readers(graph.readers(out).begin(), graph.readers(out).end());
  TensorView* key = behind.positions(values->shape()[rank - 2], by_keys ? offset : none_ahead, dtype);
  TensorView* none = behind.constant(by_keys ? 1 << 24 : -1, dtype);
  TensorView* finite = behind.pointwise(Pointwise::isfinite, {behind.moved_again(values)}, "_finite");
  TensorView* where = behind.pointwise(Pointwise::where, {finite, none, key}, "_not_finite");
  auto most = std::make_unique<Reduce>();
  most->function = by_keys ? Reduction::amin : Reduction::amax;
  most->in = where;
  most->dims = {static_cast<int64_t>(rank) - 2};
  most->keepdim = true;
  TensorView* last = behind.add(std::move(most), "_last_not_finite");
  TensorView* query = behind.positions(out->shape()[rank - 2], by_keys ? none_ahead : offset, dtype);
  TensorView* beyond = behind.pointwise(by_keys ? Pointwise::lt : Pointwise::gt, {last, query}, "_beyond");
  TensorView* nan = behind.constant(std::numeric_limits<double>::quiet_NaN(), dtype);
  TensorView* result = behind.pointwise(Pointwise::where, {beyond, nan, out}, "_poisoned");
  behind.finish();
  for (Op* reader : readers) replace_input(*reader, out, result);
  std::vector<TensorView*> outputs = graph.outputs();
  std::ranges::replace(outputs, out, result);
  graph.set_outputs(std::move(outputs));
  return last;
}

}  // namespace plait
