// Pointwise ops element by element: value, range over the operands' intervals, own error, rounding.
#include <algorithm>
#include <cmath>

#include "base/error.h"
#include "reference/elements.h"
#include "reference/evaluator.h"
#include "scalar/convert.h"

namespace plait::reference {
namespace {

constexpr int kMaxArity = 3;

double integer_to_float(DType from, int64_t value, DType to) {
  if (from == DType::u64) {
    const auto bits = static_cast<uint64_t>(value);
    return to == DType::f64 ? static_cast<double>(bits) : round_to(to, static_cast<float>(bits));
  }
  return to == DType::f64 ? static_cast<double>(value) : round_to(to, static_cast<float>(value));
}

double integer_to_double(DType dtype, int64_t value) {
  return dtype == DType::u64 ? static_cast<double>(static_cast<uint64_t>(value)) : static_cast<double>(value);
}

double farther(const Interval& range) { return std::abs(range.lo) > std::abs(range.hi) ? range.lo : range.hi; }

class PointwiseLoop {
 public:
  PointwiseLoop(const PointwiseOp& op, const Operands& operands, const Context& context);
  Array run();

 private:
  struct Cell {  // one element of the result, on one choice of what the operands may be
    int64_t at[kMaxArity];
    double args[kMaxArity], radii[kMaxArity];
    int64_t integers[kMaxArity];  // of integer_, and of integers that become floats
    Interval ranges[kMaxArity];
    double value = 0, spread = 0;
    int64_t integer = 0;  // of a result in i64 or u64
  };
  // What the result may be on one choice: two points where it is discontinuous there.
  struct Found {
    Point points[2];
    size_t count = 1;
    bool excused = false;
  };
  bool has_spread() const;
  void element(int64_t i, Cell& cell);
  void operand(size_t o, bool alternative, Cell& cell) const;
  void compute_value(Cell& cell) const;
  Interval operand_range(size_t o, const Cell& cell) const;
  void bound(int64_t i, Cell& cell);
  unsigned alternatives(const Cell& cell) const;
  bool is_choice(unsigned chosen, const Cell& cell) const;
  Found bound_choice(Cell& cell) const;
  Found bound_float(const Cell& cell, Interval range, bool exact_operands) const;
  Found bound_discontinuity(const Cell& cell, Interval range) const;
  bool is_exact(const Cell& cell) const;
  bool is_whole(const Cell& cell) const;
  std::span<const double> args(const Cell& cell) const { return {cell.args, in_.size()}; }

  const PointwiseOp& op_;
  const Context& context_;
  std::vector<const Array*> in_;
  std::vector<DType> types_;
  std::vector<uint8_t> from_zero_;  // operands that are never negative
  DType compute_ = DType::f32, to_ = DType::f32;
  bool is_cast_ = false, integer_ = false, radius_ = false, multiples_ = false;
  const Partial* partial_ = nullptr;
  Array out_;
};

// Whether the tensor, or a move of it, is the left operand of products in f32 and nothing else.
bool weighs_products(const TensorView& t) {
  const auto readers = t.fusion->readers(&t);
  const auto weighs = [&](const Op* op) {
    const auto* product = as<Matmul>(*op);
    if (product != nullptr) return product->a == &t && product->b != &t && product->out()->dtype == DType::f32;
    const bool moves = op->kind == OpKind::Reshape || op->kind == OpKind::Broadcast || op->kind == OpKind::Unsqueeze ||
                       op->kind == OpKind::Squeeze;
    return moves && weighs_products(*op->out());
  };
  return !readers.empty() && !t.fusion->is_output(&t) && std::ranges::all_of(readers, weighs);
}

// Whether a kernel of attention may round a multiple of what is cast, which it scales behind its product in f32: the
// cast is of exponentials, through factors, choices and divisions, and is the left operand of such products alone.
bool rounds_multiples(const PointwiseOp& cast) {
  const TensorView& out = *cast.out();
  if (cast.function != Pointwise::cast || cast.in[0]->dtype != DType::f32) return false;
  if ((out.dtype != DType::bf16 && out.dtype != DType::f16) || !weighs_products(out)) return false;
  const auto is_number = [](const TensorView* t) {
    return t->definition != nullptr && t->definition->kind == OpKind::Full;
  };
  const TensorView* t = cast.in[0];
  while (const auto* op = t->definition == nullptr ? nullptr : as<PointwiseOp>(*t->definition)) {
    const Pointwise f = op->function;
    if (f == Pointwise::exp || f == Pointwise::exp2) return true;
    const bool factor = f == Pointwise::mul && (is_number(op->in[0]) || is_number(op->in[1]));
    if (f != Pointwise::div && f != Pointwise::where && !factor) return false;
    t = f == Pointwise::where || (factor && is_number(op->in[0])) ? op->in[1] : op->in[0];
  }
  return false;
}

PointwiseLoop::PointwiseLoop(const PointwiseOp& op, const Operands& operands, const Context& context)
    : op_(op), context_(context), to_(op.out()->dtype), radius_(context.options.radius) {
  for (const TensorView* t : op.in) {
    in_.push_back(&operands.at(t));
    types_.push_back(t->dtype);
    from_zero_.push_back(!in_.back()->radius.empty() && never_negative(*t));
  }
  is_cast_ = op.function == Pointwise::cast;
  multiples_ = rounds_multiples(op);
  compute_ =
      is_cast_ ? (is_float(to_) && !is_float(types_[0]) ? to_ : types_[0]) : computation_type(op.function, types_);
  integer_ = !is_float(compute_) && std::ranges::none_of(types_, is_float);
  partial_ = context.partial_of(*op.out());
  out_ = make_array(to_, context.shape(op.out()->shape()));
  if (radius_) out_.radius.assign(out_.value.size(), 0.0);
  if (has_spread()) out_.spread.assign(out_.value.size(), 0.0);
}

// Whether the result is a sum that ranks may keep pending.
bool PointwiseLoop::has_spread() const {
  const auto f = op_.function;
  if (!is_float(to_) || (f != Pointwise::add && f != Pointwise::sub && f != Pointwise::neg)) return false;
  if (partial_) return true;
  return context_.options.spread && std::ranges::all_of(in_, [](const Array* a) { return !a->spread.empty(); });
}

// Calls element for every index of the result; trailing dims align and extent 1 broadcasts.
Array PointwiseLoop::run() {
  const std::vector<int64_t>& shape = out_.shape;
  const size_t rank = shape.size();
  std::vector<std::vector<int64_t>> strides(in_.size(), std::vector<int64_t>(rank, 0));
  for (size_t o = 0; o < in_.size(); ++o) {
    const auto own = row_major_strides(in_[o]->shape);
    for (size_t d = 0, shift = rank - own.size(); d < own.size(); ++d)
      if (in_[o]->shape[d] != 1) strides[o][d + shift] = own[d];
  }
  Cell cell{};
  std::vector<int64_t> index(rank, 0);
  for (int64_t i = 0; i < out_.elements(); ++i) {
    element(i, cell);
    for (size_t d = rank; d-- > 0;) {
      for (size_t o = 0; o < in_.size(); ++o) cell.at[o] += strides[o][d];
      if (++index[d] < shape[d]) break;
      for (size_t o = 0; o < in_.size(); ++o) cell.at[o] -= strides[o][d] * shape[d];
      index[d] = 0;
    }
  }
  if (std::ranges::all_of(out_.radius, [](double r) { return r == 0; })) out_.radius.clear();
  return std::move(out_);
}

void PointwiseLoop::operand(size_t o, bool alternative, Cell& cell) const {
  const Array& in = *in_[o];
  const int64_t at = cell.at[o];
  const bool convert = is_float(compute_) && !is_float(types_[o]) && types_[o] != DType::boolean;
  double value = alternative ? *in.alternative[at] : in.value[at];
  // Beside an alternative, a NaN or an infinity is one.
  cell.radii[o] = in.has_alternative(at) && !std::isfinite(value) ? 0 : in.radius_at(at);
  if (integer_ || convert) cell.integers[o] = alternative ? static_cast<int64_t>(value) : in.integer_at(at);
  if (convert) value = integer_to_float(types_[o], cell.integers[o], is_narrow(compute_) ? DType::f32 : compute_);
  cell.args[o] = value;
}

void PointwiseLoop::element(int64_t i, Cell& cell) {
  for (size_t o = 0; o < in_.size(); ++o) operand(o, false, cell);
  compute_value(cell);
  if (is_wide_integer(to_)) out_.integers[i] = cell.integer;
  cell.spread = 0;
  if (!out_.spread.empty()) {
    for (size_t o = 0; o < in_.size(); ++o)
      cell.spread +=
          in_[o]->spread.empty() ? std::abs(cell.args[o]) + in_[o]->reach_at(cell.at[o]) : in_[o]->spread[cell.at[o]];
    out_.spread[i] = cell.spread;
  }
  if (radius_)
    bound(i, cell);
  else
    out_.value[i] = is_float(to_) ? settle(to_, cell.value, Interval::point(cell.value), 0).value : cell.value;
}

// The result on the operands' values; integers exactly, casts to f32 and f64 rounded.
void PointwiseLoop::compute_value(Cell& cell) const {
  if (integer_) {
    const int64_t result = evaluate_int(op_.function, {cell.integers, in_.size()}, compute_);
    cell.integer = Constant::from_int64(to_, result).to_int64();
    cell.value = integer_to_double(to_, cell.integer);
    return;
  }
  cell.value = evaluate(op_.function, args(cell));
  if (is_cast_ && !is_narrow(to_)) {
    const Constant stored = Constant::from_double(to_, cell.value);
    cell.value = stored.to_double();
    if (is_wide_integer(to_)) cell.integer = stored.to_int64();
  }
}

Interval PointwiseLoop::operand_range(size_t o, const Cell& cell) const {
  const double radius = cell.radii[o];
  Interval range = to_interval(cell.args[o], radius);
  if (radius == 0) return range;
  if (types_[o] == DType::boolean) return {0, 1};
  // Anything may be NaN, of whatever sign the numbers are.
  if (is_unsigned(types_[o]) || (from_zero_[o] && !range.is_anything())) range.lo = std::max(range.lo, 0.0);
  // A narrow value is rounded before it enters a discontinuity; f8 is anyway.
  if (is_narrow(types_[o]) && is_discontinuous(op_.function, static_cast<int>(o), types_[o], to_))
    range = snap(types_[o], range);
  return range;
}

// Operands with an alternative, as bits.
unsigned PointwiseLoop::alternatives(const Cell& cell) const {
  unsigned out = 0;
  for (size_t o = 0; o < in_.size(); ++o) out |= unsigned{in_[o]->has_alternative(cell.at[o])} << o;
  return out;
}

// Whether the operands of these bits may be their alternatives together: one element read twice is one number.
bool PointwiseLoop::is_choice(unsigned chosen, const Cell& cell) const {
  for (size_t o = 1; o < in_.size(); ++o)
    for (size_t p = 0; p < o; ++p)
      if (in_[o] == in_[p] && cell.at[o] == cell.at[p] && (chosen >> o & 1) != (chosen >> p & 1)) return false;
  return true;
}

// The result on every choice of what the operands may be.
void PointwiseLoop::bound(int64_t i, Cell& cell) {
  const Found found = bound_choice(cell);
  const unsigned open = alternatives(cell);
  if (open == 0 && found.count == 1) {
    out_.value[i] = found.points[0].value;
    out_.radius[i] = found.points[0].radius;
    if (found.excused) set_possible(out_, i, {found.points[0], {}}, true);
    return;
  }
  std::vector<Point> points(found.points, found.points + found.count);
  bool excused = found.excused;
  for (unsigned chosen = 1; chosen <= open; ++chosen) {
    if ((chosen & ~open) != 0 || !is_choice(chosen, cell)) continue;
    Cell other = cell;
    for (size_t o = 0; o < in_.size(); ++o) operand(o, chosen >> o & 1, other);
    compute_value(other);
    const Found more = bound_choice(other);
    points.insert(points.end(), more.points, more.points + more.count);
    excused = true;
  }
  set_possible(out_, i, join(to_, points), excused);
}

PointwiseLoop::Found PointwiseLoop::bound_choice(Cell& cell) const {
  bool points = true;
  for (size_t o = 0; o < in_.size(); ++o) {
    cell.ranges[o] = operand_range(o, cell);
    points &= cell.ranges[o].is_point();
  }
  const double exact = is_cast_ ? cell.args[0] : cell.value;
  points &= !is_open(op_.function, args(cell));
  const Interval range = points ? Interval::point(exact) : interval(op_.function, {cell.ranges, in_.size()});
  return is_float(to_) ? bound_float(cell, range, points) : bound_discontinuity(cell, range);
}

// Integers and bool: exact, or open where the range holds more than one outcome.
PointwiseLoop::Found PointwiseLoop::bound_discontinuity(const Cell& cell, Interval range) const {
  const double value = cell.value;
  // What wraps may be anything.
  if (integer_ && to_ != DType::boolean && !range.is_point() &&
      (range.lo < least_finite(to_) || range.hi > max_finite(to_)))
    return {{{value, kInfinity}}, 1, true};
  if (is_cast_) {
    if (to_ == DType::boolean && !range.is_point() && range.contains(0))
      range = {0, 1};
    else
      range = {round_to(to_, range.lo), round_to(to_, range.hi)};
  }
  if (range.lo == range.hi) return {{{value, 0}}, 1, false};
  if (range.hi - range.lo == 1) return {{{value, 0}, {value == range.lo ? range.hi : range.lo, 0}}, 2, true};
  return {{{value, std::max(range.hi - value, value - range.lo)}}, 1, true};
}

// Whole numbers of which a correctly rounded op makes one that the computation type holds.
bool PointwiseLoop::is_whole(const Cell& cell) const {
  const PointwiseInfo& function = info(op_.function);
  if (!function.keeps_integers || function.error_ulp > 0.5 || function.argument_error != 0) return false;
  return std::abs(cell.value) * unit_roundoff(compute_) <= 1 &&
         std::ranges::all_of(args(cell), [](double x) { return x == std::trunc(x); });
}

// What every backend finds: whole numbers; a zero of a correctly rounded op or made by an operand that is 0 or
// infinite; an operand that is copied.
bool PointwiseLoop::is_exact(const Cell& cell) const {
  constexpr double kMinusInfinity = -kInfinity;
  if (op_.function == Pointwise::logaddexp && std::ranges::count(args(cell), kMinusInfinity) > 0) return true;
  if (op_.function == Pointwise::celu && cell.args[0] > 0) return true;
  if (cell.value != 0) return is_whole(cell);
  const PointwiseInfo& function = info(op_.function);
  if (function.error_ulp <= 0.5 && function.argument_error == 0) return true;
  return std::ranges::any_of(args(cell), [](double x) { return x == 0 || std::isinf(x); });
}

// Whether the op rounds to whole numbers, so that an interval of results holds these alone.
bool gives_whole(Pointwise op) {
  return op == Pointwise::floor || op == Pointwise::ceil || op == Pointwise::round || op == Pointwise::trunc ||
         op == Pointwise::sign;
}

PointwiseLoop::Found PointwiseLoop::bound_float(const Cell& cell, Interval range, bool exact_operands) const {
  double value = cell.value, own = 0;
  bool excused = false;
  if (op_.function == Pointwise::where) {
    const size_t taken = cell.args[0] != 0 ? 1 : 2;
    excused = !cell.ranges[0].is_point() || in_[taken]->excused_at(cell.at[taken]);
  } else {
    for (size_t o = 0; o < in_.size(); ++o) excused |= in_[o]->excused_at(cell.at[o]);
    excused |= !exact_operands && holds_discontinuity(op_.function, {cell.ranges, in_.size()});
  }
  if (gives_whole(op_.function) && range.hi - range.lo == 1) {
    const Settled lo = settle(to_, range.lo, Interval::point(range.lo), 0),
                  hi = settle(to_, range.hi, Interval::point(range.hi), 0);
    const bool low = value == range.lo;
    const Settled &first = low ? lo : hi, &second = low ? hi : lo;
    return {{{first.value, first.radius}, {second.value, second.radius}}, 2, true};
  }
  if (is_cast_ && is_narrow(to_) && types_[0] != DType::f32) {
    own = 0.5 * ulp(DType::f32, farther(range));  // by way of f32, or directly
    if (exact_operands && round_to(DType::f32, value) == value) own = 0;
  } else if (is_cast_) {
    range = {round_to(to_ == DType::f64 ? DType::f64 : DType::f32, range.lo),
             round_to(to_ == DType::f64 ? DType::f64 : DType::f32, range.hi)};
  } else if (std::abs(range.lo) > 1.0001 * max_finite(compute_) && std::abs(range.hi) > 1.0001 * max_finite(compute_) &&
             std::signbit(range.lo) == std::signbit(range.hi)) {
    value = std::copysign(kInfinity, range.lo);  // past the computation dtype, surely
    range = Interval::point(value);
  } else if (!exact_operands || !is_exact(cell)) {
    double far[kMaxArity];
    for (size_t o = 0; o < in_.size(); ++o) far[o] = farther(cell.ranges[o]);
    own = own_error(op_.function, compute_, {far, in_.size()}, farther(range));
    // In f64 this evaluator's own functions are no better than a backend's.
    if (compute_ == DType::f64 && info(op_.function).error_ulp > 0.5) own *= 2;
  }
  if (partial_ && !out_.spread.empty()) {
    const double rounding = is_narrow(to_) ? unit_roundoff(to_) * static_cast<double>(partial_->roundings) : 0;
    own += cell.spread * (rounding + unit_roundoff(compute_) * static_cast<double>(1 + partial_->ranks));
  }
  Settled settled = settle(to_, value, range, own);
  if (const double far = std::abs(farther(range)); multiples_ && std::isfinite(far) && std::isfinite(settled.value)) {
    const double rounding = far == 0 ? 0 : std::max(unit_roundoff(to_) * far, 0.5 * smallest_spacing(to_));
    const double apart = std::max(range.hi - settled.value, settled.value - range.lo);
    settled.radius = std::max(settled.radius, apart + rounding);
  }
  return {{{settled.value, settled.radius}}, 1, excused || std::isinf(settled.radius)};
}

}  // namespace

Array evaluate_pointwise(const PointwiseOp& op, const Operands& operands, const Context& context) {
  return PointwiseLoop(op, operands, context).run();
}

}  // namespace plait::reference
