#include "scalar/interval.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>
#include <optional>

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
// tanh(s) + x sigmoid(x) / cosh(s)^2 = 0, s = softplus(x); and 2x + 3 = 0.
constexpr double kMishMinimum = -1.1924312145154996;
constexpr double kHardswishMinimum = -1.5;

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

Interval hull(const Interval& a, const Interval& b) {
  if (a.is_nan() && b.is_nan()) return a;
  if (a.is_nan() || b.is_nan()) return Interval::anything();
  return {std::min(a.lo, b.lo), std::max(a.hi, b.hi)};
}

// Corners, also those at `inner` where the first operand's interval reaches over it.
Interval with_extremum(Pointwise op, std::span<const Interval> operands, double inner) {
  const Interval result = corners(op, operands);
  if (operands[0].lo > inner || operands[0].hi < inner) return result;
  Interval cut[kMaxArity];
  std::ranges::copy(operands, cut);
  cut[0] = Interval::point(inner);
  return hull(result, corners(op, {cut, operands.size()}));
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
  return hull(a, b);
}

bool holds(const Interval& x, double value) { return x.lo <= value && value <= x.hi; }
bool is_zero(const Interval& x) { return x.lo == 0 && x.hi == 0; }
double largest(const Interval& x) { return std::max(std::abs(x.lo), std::abs(x.hi)); }
// Range of |x|.
Interval magnitude(const Interval& x) {
  return {holds(x, 0) ? 0 : std::min(std::abs(x.lo), std::abs(x.hi)), largest(x)};
}

Interval test(Pointwise op, const Interval& x) {
  const bool may_be_nan = x.is_nan() || x.is_anything(), may_be_number = !x.is_nan();
  const bool reaches_infinity = std::isinf(x.lo) || std::isinf(x.hi);
  const bool is_infinity = reaches_infinity && x.lo == x.hi;
  switch (op) {
    case Pointwise::isnan:
      return outcome(may_be_number, may_be_nan);
    case Pointwise::isinf:
      return outcome(!is_infinity, reaches_infinity);
    case Pointwise::isfinite:
      return outcome(may_be_nan || reaches_infinity, may_be_number && !is_infinity);
    default:
      return outcome(!(x.hi < 0), !(x.lo > 0));  // a NaN has either sign, an interval around 0 either zero
  }
}

Interval logical(Pointwise op, std::span<const Interval> operands) {
  bool may[2][2] = {{}, {}};  // of each operand: false, true
  for (size_t i = 0; i < operands.size(); ++i) {
    may[i][0] = !operands[i].is_nan() && holds(operands[i], 0);
    may[i][1] = !is_zero(operands[i]);
  }
  bool result[2] = {false, false};
  for (int a = 0; a < 2; ++a)
    for (int b = 0; b < (operands.size() == 2 ? 2 : 1); ++b) {
      if (!may[0][a] || (operands.size() == 2 && !may[1][b])) continue;
      const double args[] = {double(a), double(b)};
      result[evaluate(op, {args, operands.size()}) != 0] = true;
    }
  return outcome(result[0], result[1]);
}

// fmax and fmin: a NaN yields to the other operand.
Interval ignoring_nan(Pointwise op, std::span<const Interval> operands) {
  if (operands[0].is_nan()) return operands[1];
  if (operands[1].is_nan()) return operands[0];
  if (operands[0].is_anything() || operands[1].is_anything()) return Interval::anything();
  return corners(op, operands);
}

// An infinity beats NaN.
Interval hypot(const Interval& x, const Interval& y) {
  if (x.is_anything() || y.is_anything()) return Interval::anything();
  if (x.is_nan() && y.is_nan()) return x;
  if (x.is_nan() || y.is_nan()) {
    const Interval& number = x.is_nan() ? y : x;
    return std::isinf(largest(number)) ? Interval::anything() : Interval::point(kNaN);
  }
  const Interval sides[] = {magnitude(x), magnitude(y)};
  return corners(Pointwise::hypot, sides);
}

// x^0 and 1^y are 1 whatever the other is. A negative base has values for integer exponents only.
Interval power(const Interval& x, const Interval& y) {
  if (x.is_nan()) return holds(y, 0) ? Interval::anything() : x;
  if (y.is_nan()) return holds(x, 1) ? Interval::anything() : y;
  if (x.is_anything() || y.is_anything()) return Interval::anything();
  const Interval operands[] = {x, y};
  if (x.lo >= 0) return corners(Pointwise::pow, operands);
  const bool between_integers = std::floor(y.hi) < std::ceil(y.lo);
  if (between_integers && x.hi < 0 && std::isfinite(x.lo)) return Interval::point(kNaN);
  const bool whole = y.lo == y.hi && std::isfinite(y.lo) && y.lo == std::trunc(y.lo);
  if (!whole || (y.lo < 0 && x.hi >= 0)) return Interval::anything();
  return with_extremum(Pointwise::pow, operands, 0);
}

// The sign of a NaN is open.
Interval with_sign(const Interval& x, const Interval& y) {
  if (x.is_nan() || x.is_anything()) return x;
  const Interval size = magnitude(x);
  if (y.lo > 0) return size;
  if (y.hi < 0) return {-size.hi, -size.lo};
  return {-size.hi, size.hi};
}

// Whether [lo, hi] holds offset + k period for an integer k; past 2^30 periods, where k is not known, it may.
bool holds_multiple(const Interval& x, double offset, double period) {
  if (largest(x) > period * 0x1p30) return true;
  const double slack = 4 * 0x1p-52 * largest(x);
  return std::floor((x.hi + slack - offset) / period) > std::floor((x.lo - slack - offset) / period);
}

// sin and cos; `top` is where a maximum lies.
Interval wave(Pointwise op, const Interval& x, double top) {
  Interval result = corners(op, {&x, 1});
  if (result.is_anything() || result.is_nan()) return result;
  if (holds_multiple(x, top, 2 * std::numbers::pi)) result.hi = 1;
  if (holds_multiple(x, top + std::numbers::pi, 2 * std::numbers::pi)) result.lo = -1;
  return result;
}

// Whether the integer next to x / y (below it, or towards zero) may change within the box, which holds no y = 0.
bool quotient_may_change(const Interval& x, const Interval& y, bool towards_zero) {
  if (std::isinf(largest(y))) return !towards_zero;
  double least = kInfinity, most = -kInfinity;
  for (double a : {x.lo, x.hi})
    for (double b : {y.lo, y.hi}) {
      const double q = a / b, slack = q == 0 && a != 0 ? 0x1p-1074 : 4 * 0x1p-52 * std::abs(q);
      if (std::isnan(q)) return true;
      least = std::min(least, q - slack), most = std::max(most, q + slack);
    }
  return towards_zero ? std::trunc(least) != std::trunc(most) : std::floor(least) != std::floor(most);
}

// remainder and fmod: linear where the quotient stays, else between 0 and the divisor.
Interval modulo(Pointwise op, std::span<const Interval> operands) {
  const Interval &x = operands[0], &y = operands[1];
  if (holds(y, 0) || std::isinf(largest(x))) return is_zero(y) ? Interval::point(kNaN) : Interval::anything();
  const bool by_sign_of_x = op == Pointwise::fmod;
  if (!quotient_may_change(x, y, by_sign_of_x)) return corners(op, operands);
  const double size = largest(y);
  const bool may_be_positive = by_sign_of_x ? x.hi > 0 : y.hi > 0, may_be_negative = by_sign_of_x ? x.lo < 0 : y.lo < 0;
  return {may_be_negative ? -size : 0, may_be_positive ? size : 0};
}

Interval fraction(const Interval& x) {
  if (std::isinf(largest(x))) return x.lo == x.hi ? Interval::point(kNaN) : Interval::anything();
  if (std::trunc(x.lo) == std::trunc(x.hi)) return corners(Pointwise::frac, {&x, 1});
  return {x.lo < 0 ? -1.0 : 0.0, x.hi > 0 ? 1.0 : 0.0};
}

// The angle falls by 2 pi across the negative half of the x axis.
Interval angle(const Interval& y, const Interval& x) {
  const Interval operands[] = {y, x};
  if (x.lo < 0 && holds(y, 0)) return {-std::numbers::pi, std::numbers::pi};
  return corners(Pointwise::atan2, operands);
}

// x f(y): f(y) has no value left of `domain`, and x = 0 gives 0 there, too.
Interval product_with_log(Pointwise op, std::span<const Interval> operands, double domain) {
  const Interval &x = operands[0], &y = operands[1];
  if (is_zero(x)) return Interval::point(0);
  if (y.hi < domain && !holds(x, 0)) return Interval::point(kNaN);
  if (y.lo < domain) return Interval::anything();
  return holds(x, 0) ? hull(corners(op, operands), Interval::point(0)) : corners(op, operands);
}

// lgamma is convex between its poles: above both tangents at the ends, which meet in the middle.
Interval log_gamma(const Interval& x) {
  if (x.lo <= 0 && std::floor(x.hi) >= std::ceil(x.lo)) return Interval::anything();
  const Interval ends = corners(Pointwise::lgamma, {&x, 1});
  if (x.is_point()) return ends;
  if (std::isinf(x.hi)) return {std::min(ends.lo, -0.125), ends.hi};
  const double a = evaluate(Pointwise::digamma, {&x.lo, 1}), b = evaluate(Pointwise::digamma, {&x.hi, 1});
  if (!(a < 0 && b > 0)) return ends;
  const double at_lo = evaluate(Pointwise::lgamma, {&x.lo, 1}), at_hi = evaluate(Pointwise::lgamma, {&x.hi, 1});
  const double middle = (at_lo - at_hi + b * x.hi - a * x.lo) / (b - a);
  const double lowest = at_lo + a * (std::clamp(middle, x.lo, x.hi) - x.lo);
  return {std::min(ends.lo, lowest - 1e-12 * (1 + std::abs(lowest))), ends.hi};
}

// softshrink by a negative number falls at x = y from 2 y to 0; on either side of it stands one sum.
Interval shrink(Pointwise op, std::span<const Interval> operands) {
  const Interval &x = operands[0], &y = operands[1];
  const bool one_sum = x.lo > y.hi || (x.hi <= y.lo && x.hi < -y.hi);
  if (op == Pointwise::softshrink && (y.lo >= 0 || one_sum)) return corners(op, operands);
  const double shift = op == Pointwise::softshrink ? largest(y) : 0;
  if (op == Pointwise::hardshrink && !holds_discontinuity(op, operands))
    return magnitude(x).hi <= y.lo ? Interval::point(0) : x;
  return {std::min(0.0, x.lo - shift), std::max(0.0, x.hi + shift)};
}

// Whether the op has no value somewhere in the box though it has one elsewhere, or has a pole there.
bool leaves_domain(Pointwise op, std::span<const Interval> operands) {
  const Interval &x = operands[0], &last = operands.back();
  const auto below = [&](double least) { return x.lo < least && x.hi >= least; };
  switch (op) {
    case Pointwise::log:
    case Pointwise::log2:
    case Pointwise::log10:
    case Pointwise::sqrt:
    case Pointwise::rsqrt:
      return below(0);
    case Pointwise::log1p:
      return below(-1);
    case Pointwise::acosh:
      return below(1);
    case Pointwise::asin:
    case Pointwise::acos:
    case Pointwise::atanh:
    case Pointwise::erfinv:
      return below(-1) || (x.lo <= 1 && x.hi > 1);
    case Pointwise::div:
    case Pointwise::floor_divide:
    case Pointwise::reciprocal:
    case Pointwise::celu:
      return holds(last, 0) && last.lo != last.hi;
    case Pointwise::tan:
      return holds_multiple(x, std::numbers::pi / 2, std::numbers::pi);
    case Pointwise::digamma:
      return x.lo <= 0 && std::floor(x.hi) >= std::ceil(x.lo) && x.lo != x.hi;
    default:
      return false;
  }
}

// Ops for which neither NaN nor anything decides by itself.
std::optional<Interval> beyond_numbers(Pointwise op, std::span<const Interval> operands) {
  switch (info(op).type_rule) {
    case TypeRule::compare:
      return compare(op, operands[0], operands[1]);
    case TypeRule::test:
      return test(op, operands[0]);
    case TypeRule::logical:
      return logical(op, operands);
    case TypeRule::select:
      return select(operands[0], operands[1], operands[2]);
    case TypeRule::cast:
      return operands[0];
    case TypeRule::bits:
    case TypeRule::shift:
      return Interval::anything();
    default:
      break;
  }
  if (op == Pointwise::fmax || op == Pointwise::fmin) return ignoring_nan(op, operands);
  if (op == Pointwise::hypot) return hypot(operands[0], operands[1]);
  if (op == Pointwise::pow) return power(operands[0], operands[1]);
  if (op == Pointwise::copysign) return with_sign(operands[0], operands[1]);
  return std::nullopt;
}

// All operands are numbers, and within the domain.
Interval of_numbers(Pointwise op, std::span<const Interval> operands) {
  switch (op) {
    case Pointwise::abs:
    case Pointwise::square:
    case Pointwise::cosh:
    case Pointwise::elu:
    case Pointwise::celu:
    case Pointwise::leaky_relu:
      return with_extremum(op, operands, 0.0);
    case Pointwise::gelu_erf:
      return with_extremum(op, operands, kGeluErfMinimum);
    case Pointwise::gelu_tanh:
      return with_extremum(op, operands, kGeluTanhMinimum);
    case Pointwise::silu:
      return with_extremum(op, operands, kSiluMinimum);
    case Pointwise::mish:
      return with_extremum(op, operands, kMishMinimum);
    case Pointwise::hardswish:
      return with_extremum(op, operands, kHardswishMinimum);
    case Pointwise::softplus:
      return with_extremum(op, operands, 20.0);  // a small step down
    case Pointwise::sin:
      return wave(op, operands[0], std::numbers::pi / 2);
    case Pointwise::cos:
      return wave(op, operands[0], 0);
    case Pointwise::remainder:
    case Pointwise::fmod:
      return modulo(op, operands);
    case Pointwise::frac:
      return fraction(operands[0]);
    case Pointwise::atan2:
      return angle(operands[0], operands[1]);
    case Pointwise::xlogy:
      return product_with_log(op, operands, 0);
    case Pointwise::xlog1py:
      return product_with_log(op, operands, -1);
    case Pointwise::lgamma:
      return log_gamma(operands[0]);
    case Pointwise::hardshrink:
    case Pointwise::softshrink:
      return shrink(op, operands);
    default:
      return corners(op, operands);
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
  if (const auto result = beyond_numbers(op, operands)) return *result;
  // From here on a NaN operand makes a NaN result, except that of sign.
  if (op == Pointwise::sign && operands[0].is_nan()) return Interval::point(0);
  if (std::ranges::any_of(operands, [](const Interval& x) { return x.is_nan(); })) return Interval::point(kNaN);
  if (std::ranges::any_of(operands, [](const Interval& x) { return x.is_anything(); })) return Interval::anything();
  return leaves_domain(op, operands) ? Interval::anything() : of_numbers(op, operands);
}

bool holds_discontinuity(Pointwise op, std::span<const Interval> operands) {
  if (info(op).continuity != Continuity::discontinuous) return false;
  const Interval &x = operands[0], &last = operands.back();
  const auto open = [](const Interval& each) { return each.is_nan() || each.is_anything(); };
  if (op == Pointwise::copysign) return open(last) || (holds(last, 0) && last.lo != last.hi);
  if (std::ranges::any_of(operands, open)) return false;
  switch (op) {
    case Pointwise::fmod:
    case Pointwise::remainder:
      return holds(last, 0) ? last.lo != last.hi : quotient_may_change(x, last, op == Pointwise::fmod);
    case Pointwise::frac:
      return std::trunc(x.lo) != std::trunc(x.hi);
    case Pointwise::hardshrink:
      return magnitude(x).lo <= last.hi && magnitude(x).hi > last.lo;
    case Pointwise::atan2:
      return last.lo < 0 && holds(x, 0) && x.lo != x.hi;
    default: {
      const Interval range = interval(op, operands);
      return range.lo < range.hi;
    }
  }
}

}  // namespace plait
