#include "scalar/interval.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "base/error.h"

namespace plait {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();
constexpr int kMaxArity = 3;

// Where the derivative of each of these is zero: Phi(x) + x phi(x) = 0, its tanh form, 1 + x sigmoid(-x) = 0. Left of
// it the function falls, right of it it rises.
constexpr double kGeluErfMinimum = -0.7517915246935645;
constexpr double kGeluTanhMinimum = -0.7524614220710162;
constexpr double kSiluMinimum = -1.2784645427610738;

// Range over the corners of the box. A corner without a value (inf - inf, 0 * inf) means anything, unless all are.
Interval corners(Pointwise op, std::span<const Interval> operands) {
  Interval result{kInfinity, -kInfinity};
  const unsigned count = 1u << operands.size();
  unsigned nan_corners = 0;
  for (unsigned corner = 0; corner < count; ++corner) {
    double args[kMaxArity];
    for (size_t i = 0; i < operands.size(); ++i) args[i] = corner >> i & 1 ? operands[i].hi : operands[i].lo;
    const double value = evaluate(op, std::span<const double>(args, operands.size()));
    if (std::isnan(value)) {
      ++nan_corners;
      continue;
    }
    result = {std::min(result.lo, value), std::max(result.hi, value)};
  }
  if (nan_corners == count) return Interval::point(kNaN);
  return nan_corners ? Interval::anything() : result;
}

// Corners and the value at `inner` where the operand's interval reaches over it.
Interval with_extremum(Pointwise op, std::span<const Interval> operands, double inner) {
  Interval result = corners(op, operands);
  if (result.is_anything() || result.is_nan() || operands[0].lo > inner || operands[0].hi < inner) return result;
  const double value = evaluate(op, std::span<const double>(&inner, 1));
  return {std::min(result.lo, value), std::max(result.hi, value)};
}

Interval outcome(bool may_be_false, bool may_be_true) { return {may_be_false ? 0.0 : 1.0, may_be_true ? 1.0 : 0.0}; }

Interval compare(Pointwise op, const Interval& a, const Interval& b) {
  if (a.is_nan() || b.is_nan()) return Interval::point(op == Pointwise::ne);
  if (a.is_anything() || b.is_anything()) return {0, 1};
  const bool may_less = a.lo<b.hi, may_greater = a.hi> b.lo, may_equal = a.lo <= b.hi && b.lo <= a.hi;
  switch (op) {
    case Pointwise::eq:
      return outcome(may_less || may_greater, may_equal);
    case Pointwise::ne:
      return outcome(may_equal, may_less || may_greater);
    case Pointwise::lt:
      return outcome(may_equal || may_greater, may_less);
    case Pointwise::le:
      return outcome(may_greater, may_less || may_equal);
    case Pointwise::gt:
      return outcome(may_less || may_equal, may_greater);
    case Pointwise::ge:
      return outcome(may_less, may_equal || may_greater);
    default:
      PLAIT_CHECK(false, "{} is no comparison", name(op));
  }
}

Interval select(const Interval& condition, const Interval& a, const Interval& b) {
  if (condition.is_nan() || condition.lo > 0 || condition.hi < 0) return a;
  if (condition.lo == 0 && condition.hi == 0) return b;
  if (a.is_nan() && b.is_nan()) return a;
  if (a.is_nan() || b.is_nan()) return Interval::anything();
  return {std::min(a.lo, b.lo), std::max(a.hi, b.hi)};
}

// Whether the op has no value somewhere in the box though it has one elsewhere, or has a pole there.
bool leaves_domain(Pointwise op, std::span<const Interval> operands) {
  switch (op) {
    case Pointwise::log:
    case Pointwise::sqrt:
      return operands[0].lo < 0 && operands[0].hi >= 0;
    case Pointwise::div:
      return operands[1].lo <= 0 && operands[1].hi >= 0 && operands[1].lo != operands[1].hi;
    default:
      return false;
  }
}

}  // namespace

Interval Interval::anything() { return {-kInfinity, kInfinity}; }
Interval Interval::point(double value) { return {value, value}; }
bool Interval::is_nan() const { return std::isnan(lo); }
bool Interval::is_anything() const { return lo == -kInfinity && hi == kInfinity; }
bool Interval::is_point() const { return lo == hi || is_nan(); }
bool Interval::contains(double value) const {
  if (is_nan() || std::isnan(value)) return is_anything() || (is_nan() && std::isnan(value));
  return lo <= value && value <= hi;
}

Interval interval(Pointwise op, std::span<const Interval> operands) {
  PLAIT_CHECK(operands.size() == size_t(info(op).arity), "{} of {} intervals", name(op), operands.size());
  for (const Interval& x : operands)
    PLAIT_CHECK(std::isnan(x.lo) == std::isnan(x.hi) && !(x.lo > x.hi), "interval [{}, {}]", x.lo, x.hi);
  if (info(op).type_rule == TypeRule::compare) return compare(op, operands[0], operands[1]);
  if (op == Pointwise::where) return select(operands[0], operands[1], operands[2]);
  if (op == Pointwise::cast) return operands[0];
  // From here on a NaN operand makes a NaN result.
  if (std::ranges::any_of(operands, [](const Interval& x) { return x.is_nan(); })) return Interval::point(kNaN);
  if (std::ranges::any_of(operands, [](const Interval& x) { return x.is_anything(); })) return Interval::anything();
  if (leaves_domain(op, operands)) return Interval::anything();
  switch (op) {
    case Pointwise::abs:
      return with_extremum(op, operands, 0.0);
    case Pointwise::gelu_erf:
      return with_extremum(op, operands, kGeluErfMinimum);
    case Pointwise::gelu_tanh:
      return with_extremum(op, operands, kGeluTanhMinimum);
    case Pointwise::silu:
      return with_extremum(op, operands, kSiluMinimum);
    default:
      return corners(op, operands);
  }
}

}  // namespace plait
