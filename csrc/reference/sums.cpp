#include "reference/sums.h"

#include <algorithm>

namespace plait::reference {
namespace {

Total sure(double value) { return {value, Interval::point(value), 0}; }
Total unknown(double value) { return {value, Interval::point(value), kInfinity}; }

// What every order of the roundings makes an infinity.
bool surely_overflows(DType wide, double least) { return least > max_finite(wide) * (1 + 1e-4); }

uint8_t mark_of(double value, double radius) {
  if (radius != 0) return kUnknownTerm;  // of a NaN or an infinity, or an infinite one
  if (std::isnan(value)) return kNaNTerm;
  return value > 0 ? kPlusInfinity : kMinusInfinity;
}

}  // namespace

void Sum::mark(double value, double r) { marks |= mark_of(value, r); }

Total total(const Sum& sum, DType wide, int64_t ranks) {
  if (sum.marks & kNaNTerm) return sure(kNaN);
  if (sum.marks & kUnknownTerm) return unknown(sum.sum);
  const bool may_overflow = sum.count > 1 && !(sum.size <= max_finite(wide));
  const bool plus = sum.marks & kPlusInfinity, minus = sum.marks & kMinusInfinity;
  if (plus || minus) {
    const double value = plus && minus ? kNaN : plus ? kInfinity : -kInfinity;
    return may_overflow ? unknown(value) : sure(value);
  }
  if (may_overflow) {
    // Terms of one sign only grow.
    const double least = std::abs(sum.sum) - sum.radius;
    const bool one_sign = std::abs(sum.sum) >= (sum.size - sum.radius) * (1 - 1e-9);
    if (one_sign && std::isfinite(sum.size) && surely_overflows(wide, least))
      return sure(std::copysign(kInfinity, sum.sum));
    return unknown(sum.sum);
  }
  return {sum.sum, Interval::point(sum.sum), sum_error(sum, unit_roundoff(wide), ranks)};
}

void Product::multiply(double factor, double r) {
  ++count;
  if (!std::isfinite(factor) || !std::isfinite(r)) {
    marks |= mark_of(factor, r);
    negative ^= std::signbit(factor);
    return;
  }
  value *= factor;
  const Interval by = to_interval(factor, r);
  const auto [least, most] = std::minmax({lo * by.lo, lo * by.hi, hi * by.lo, hi * by.hi});
  lo = least, hi = most;
  const double largest = std::abs(factor) + r, smallest = std::max(std::abs(factor) - r, 0.0);
  large *= std::max(largest, 1.0);
  if (factor == 0 && r == 0)
    zero = true;
  else
    small *= std::min(smallest, 1.0);
  negative ^= std::signbit(factor);
}

Total total(const Product& p, DType wide, int64_t ranks) {
  if (p.marks & kNaNTerm) return sure(kNaN);
  if (p.marks & kUnknownTerm) return unknown(p.value);
  if (p.marks & (kPlusInfinity | kMinusInfinity)) {
    if (p.zero) return sure(kNaN);
    const double value = p.negative ? -kInfinity : kInfinity;
    return p.small < min_normal(wide) ? unknown(value) : sure(value);
  }
  if (p.count > 1 && !(p.large <= max_finite(wide))) {
    const double least = std::min(std::abs(p.lo), std::abs(p.hi));
    if (!p.zero && p.small == 1 && surely_overflows(wide, least)) return sure(p.negative ? -kInfinity : kInfinity);
    return unknown(p.zero ? 0 : p.value);
  }
  if (p.zero) return sure(p.negative ? -0.0 : 0.0);
  double own = 0;
  if (p.count > 1 && !(p.exact && p.large * unit_roundoff(wide) <= 1)) {
    const double far = std::max(std::abs(p.lo), std::abs(p.hi));
    // In f64 the bounds themselves are rounded ones.
    own = (wide == DType::f64 ? 4 : 2) * unit_roundoff(wide) * static_cast<double>(p.count + ranks) * far;
    if (p.small < min_normal(wide)) own += static_cast<double>(p.count) * smallest_spacing(wide) * p.large;
  }
  return {p.value, {std::min(p.lo, p.value), std::max(p.hi, p.value)}, own};
}

Settled settle(DType dtype, const Total& total) {
  if (std::isinf(total.own)) return {total.value, kInfinity};
  const bool is_point = total.range.lo == total.value && total.range.hi == total.value;
  if (is_point && !is_narrow(dtype) && std::abs(total.value) + total.own < max_finite(dtype) / 2)
    return {total.value, total.own};  // as below, sooner
  return settle(dtype, total.value, total.range, total.own);
}

}  // namespace plait::reference
