// Pointwise ops element by element: value, range over the operands' intervals, own error, rounding.
#include <algorithm>
#include <cmath>
#include <limits>

#include "base/error.h"
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
  struct Cell {  // one element of the result
    int64_t at[kMaxArity];
    double args[kMaxArity];
    Interval ranges[kMaxArity];
    double value = 0;
  };
  bool has_spread() const;
  void element(int64_t i, Cell& cell);
  void compute_value(int64_t i, Cell& cell);
  Interval operand_range(size_t o, const Cell& cell) const;
  void bound(int64_t i, Cell& cell);
  void bound_float(int64_t i, const Cell& cell, Interval range, bool exact_operands);
  void bound_jump(int64_t i, const Cell& cell, Interval range);
  void set(int64_t i, double value, double radius, bool excused);
  bool is_exact(const Cell& cell) const;
  std::span<const double> args(const Cell& cell) const { return {cell.args, in_.size()}; }

  const PointwiseOp& op_;
  const Context& context_;
  std::vector<const Array*> in_;
  std::vector<DType> types_;
  std::vector<uint8_t> from_zero_;  // operands that are never negative
  DType compute_ = DType::f32, to_ = DType::f32;
  bool is_cast_ = false, integer_ = false, radius_ = false;
  const Partial* partial_ = nullptr;
  Array out_;
};

PointwiseLoop::PointwiseLoop(const PointwiseOp& op, const Operands& operands, const Context& context)
    : op_(op), context_(context), to_(op.out()->dtype), radius_(context.options.radius) {
  for (const TensorView* t : op.in) {
    in_.push_back(&operands.at(t));
    types_.push_back(t->dtype);
    from_zero_.push_back(!in_.back()->radius.empty() && never_negative(*t));
  }
  is_cast_ = op.function == Pointwise::cast;
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

void PointwiseLoop::element(int64_t i, Cell& cell) {
  for (size_t o = 0; o < in_.size(); ++o) {
    const bool convert = is_float(compute_) && !is_float(types_[o]) && types_[o] != DType::boolean;
    const DType by_way_of = is_narrow(compute_) ? DType::f32 : compute_;
    cell.args[o] =
        convert ? integer_to_float(types_[o], in_[o]->integer_at(cell.at[o]), by_way_of) : in_[o]->value[cell.at[o]];
  }
  compute_value(i, cell);
  if (!out_.spread.empty())
    for (size_t o = 0; o < in_.size(); ++o)
      out_.spread[i] +=
          in_[o]->spread.empty() ? std::abs(cell.args[o]) + in_[o]->radius_at(cell.at[o]) : in_[o]->spread[cell.at[o]];
  if (radius_)
    bound(i, cell);
  else
    out_.value[i] = is_float(to_) ? settle(to_, cell.value, Interval::point(cell.value), 0).value : cell.value;
}

// The result on the operands' values; integers exactly, casts to f32 and f64 rounded.
void PointwiseLoop::compute_value(int64_t i, Cell& cell) {
  if (integer_) {
    int64_t ints[kMaxArity];
    for (size_t o = 0; o < in_.size(); ++o) ints[o] = in_[o]->integer_at(cell.at[o]);
    const std::span<const int64_t> span(ints, in_.size());
    const int64_t result = evaluate_int(op_.function, span, compute_);
    const Constant stored = Constant::from_int64(to_, result);
    cell.value = integer_to_double(to_, stored.to_int64());
    if (is_wide_integer(to_)) out_.integers[i] = stored.to_int64();
    return;
  }
  cell.value = evaluate(op_.function, args(cell));
  if (is_cast_ && !is_narrow(to_)) {
    const Constant stored = Constant::from_double(to_, cell.value);
    cell.value = stored.to_double();
    if (is_wide_integer(to_)) out_.integers[i] = stored.to_int64();
  }
}

Interval PointwiseLoop::operand_range(size_t o, const Cell& cell) const {
  const double radius = in_[o]->radius_at(cell.at[o]);
  Interval range = to_interval(cell.args[o], radius);
  if (radius == 0) return range;
  if (types_[o] == DType::boolean) return {0, 1};
  // Anything may be NaN, of whatever sign the numbers are.
  if (is_unsigned(types_[o]) || (from_zero_[o] && !range.is_anything())) range.lo = std::max(range.lo, 0.0);
  // A narrow value is rounded before it enters a jump; f8 is anyway.
  if (is_narrow(types_[o]) && jumps(op_.function, static_cast<int>(o), types_[o], to_)) range = snap(types_[o], range);
  return range;
}

void PointwiseLoop::bound(int64_t i, Cell& cell) {
  bool points = true;
  for (size_t o = 0; o < in_.size(); ++o) {
    cell.ranges[o] = operand_range(o, cell);
    points &= cell.ranges[o].is_point();
  }
  const double exact = is_cast_ ? cell.args[0] : cell.value;
  points &= !is_open(op_.function, args(cell));
  const Interval range = points ? Interval::point(exact) : interval(op_.function, {cell.ranges, in_.size()});
  if (is_float(to_))
    bound_float(i, cell, range, points);
  else
    bound_jump(i, cell, range);
}

// Integers and bool: exact, or open where the range holds more than one outcome.
void PointwiseLoop::bound_jump(int64_t i, const Cell& cell, Interval range) {
  // What wraps may be anything.
  if (integer_ && to_ != DType::boolean && !range.is_point() &&
      (range.lo < least_finite(to_) || range.hi > max_finite(to_)))
    return set(i, cell.value, std::numeric_limits<double>::infinity(), true);
  if (is_cast_) {
    if (to_ == DType::boolean && !range.is_point() && range.contains(0))
      range = {0, 1};
    else
      range = {round_to(to_, range.lo), round_to(to_, range.hi)};
  }
  if (range.lo == range.hi) return set(i, cell.value, 0, false);
  set(i, cell.value, std::max(range.hi - cell.value, cell.value - range.lo), true);
}

// What every backend finds: a zero of a correctly rounded op or made by an operand that is 0 or infinite; an operand
// that is copied.
bool PointwiseLoop::is_exact(const Cell& cell) const {
  constexpr double kMinusInfinity = -std::numeric_limits<double>::infinity();
  if (op_.function == Pointwise::logaddexp && std::ranges::count(args(cell), kMinusInfinity) > 0) return true;
  if (op_.function == Pointwise::celu && cell.args[0] > 0) return true;
  if (cell.value != 0) return false;
  const PointwiseInfo& function = info(op_.function);
  if (function.error_ulp <= 0.5 && function.argument_error == 0) return true;
  return std::ranges::any_of(args(cell), [](double x) { return x == 0 || std::isinf(x); });
}

void PointwiseLoop::bound_float(int64_t i, const Cell& cell, Interval range, bool exact_operands) {
  double value = cell.value, own = 0;
  bool excused = false;
  if (op_.function == Pointwise::where) {
    const Interval& condition = cell.ranges[0];
    excused = !condition.is_point() || in_[cell.args[0] != 0 ? 1 : 2]->excused_at(cell.at[cell.args[0] != 0 ? 1 : 2]);
  } else {
    for (size_t o = 0; o < in_.size(); ++o) excused |= in_[o]->excused_at(cell.at[o]);
    excused |= !exact_operands && holds_jump(op_.function, {cell.ranges, in_.size()});
  }
  if (is_cast_ && is_narrow(to_) && types_[0] != DType::f32) {
    own = 0.5 * ulp(DType::f32, farther(range));  // by way of f32, or directly
    if (exact_operands && round_to(DType::f32, value) == value) own = 0;
  } else if (is_cast_) {
    range = {round_to(to_ == DType::f64 ? DType::f64 : DType::f32, range.lo),
             round_to(to_ == DType::f64 ? DType::f64 : DType::f32, range.hi)};
  } else if (std::abs(range.lo) > 1.0001 * max_finite(compute_) && std::abs(range.hi) > 1.0001 * max_finite(compute_) &&
             std::signbit(range.lo) == std::signbit(range.hi)) {
    value = std::copysign(std::numeric_limits<double>::infinity(), range.lo);  // past the computation dtype, surely
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
    own += out_.spread[i] * (rounding + unit_roundoff(compute_) * static_cast<double>(1 + partial_->ranks));
  }
  const Settled settled = settle(to_, value, range, own);
  set(i, settled.value, settled.radius, excused || std::isinf(settled.radius));
}

void PointwiseLoop::set(int64_t i, double value, double radius, bool excused) {
  out_.value[i] = value;
  out_.radius[i] = radius;
  if (!excused) return;
  if (out_.excused.empty()) out_.excused.assign(out_.value.size(), 0);
  out_.excused[i] = 1;
}

}  // namespace

Array evaluate_pointwise(const PointwiseOp& op, const Operands& operands, const Context& context) {
  return PointwiseLoop(op, operands, context).run();
}

}  // namespace plait::reference
