#include "support/exact_functions.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "base/error.h"

namespace plait::test {
namespace {

using Real = long double;

constexpr Real kPi = 3.14159265358979323846264338327950288L;
constexpr Real kNaN = std::numeric_limits<Real>::quiet_NaN();

// One function per row of pointwise.def, of up to three operands.
namespace formulas {

bool any_nan(Real x, Real y) { return std::isnan(x) || std::isnan(y); }

Real add(Real x, Real y, Real) { return x + y; }
Real sub(Real x, Real y, Real) { return x - y; }
Real mul(Real x, Real y, Real) { return x * y; }
Real div(Real x, Real y, Real) { return x / y; }
Real neg(Real x, Real, Real) { return -x; }
Real abs(Real x, Real, Real) { return std::abs(x); }
Real fmax(Real x, Real y, Real) { return std::fmax(x, y); }
Real fmin(Real x, Real y, Real) { return std::fmin(x, y); }
Real max(Real x, Real y, Real) { return any_nan(x, y) ? kNaN : std::fmax(x, y); }
Real min(Real x, Real y, Real) { return any_nan(x, y) ? kNaN : std::fmin(x, y); }
Real fmod(Real x, Real y, Real) { return std::fmod(x, y); }
Real remainder(Real x, Real y, Real) {
  const Real rest = std::fmod(x, y);
  return rest == 0 || std::isnan(rest) || std::signbit(rest) == std::signbit(y) ? rest : rest + y;
}
Real floor_divide(Real x, Real y, Real) {
  if (y == 0) return x / y;
  const Real rest = std::fmod(x, y), whole = std::round((x - rest) / y);
  return rest == 0 || std::isnan(rest) || std::signbit(rest) == std::signbit(y) ? whole : whole - 1;
}
Real pow(Real x, Real y, Real) { return std::pow(x, y); }
Real reciprocal(Real x, Real, Real) { return 1 / x; }
Real rsqrt(Real x, Real, Real) { return 1 / std::sqrt(x); }
Real square(Real x, Real, Real) { return x * x; }
Real sign(Real x, Real, Real) { return x > 0 ? 1 : x < 0 ? -1 : 0; }
Real floor(Real x, Real, Real) { return std::floor(x); }
Real ceil(Real x, Real, Real) { return std::ceil(x); }
Real round(Real x, Real, Real) { return std::isfinite(x) ? x - std::remainder(x, 1.0L) : x; }
Real trunc(Real x, Real, Real) { return x < 0 ? std::ceil(x) : std::floor(x); }
Real frac(Real x, Real, Real) { return std::fmod(x, 1.0L); }
Real fma(Real x, Real y, Real z) { return std::fma(x, y, z); }
Real lerp(Real x, Real y, Real z) { return std::abs(z) < 0.5L ? x + z * (y - x) : y - (y - x) * (1 - z); }
Real hypot(Real x, Real y, Real) { return std::hypot(x, y); }
Real copysign(Real x, Real y, Real) { return std::signbit(x) == std::signbit(y) ? x : -x; }
Real clamp(Real x, Real y, Real z) { return min(max(x, y, 0), z, 0); }
Real hardtanh(Real x, Real y, Real z) { return clamp(x, y, z); }
Real cbrt(Real x, Real, Real) { return std::cbrt(x); }
Real logaddexp(Real x, Real y, Real) {
  if (x == y) return x + std::log(2.0L);
  return max(x, y, 0) + std::log1p(std::exp(-std::abs(x - y)));
}
Real xlogy(Real x, Real y, Real) { return x == 0 && !std::isnan(y) ? 0 : x * std::log(y); }
Real xlog1py(Real x, Real y, Real) { return x == 0 && !std::isnan(y) ? 0 : x * std::log1p(y); }
Real atan2(Real x, Real y, Real) { return std::atan2(x, y); }

Real exp(Real x, Real, Real) { return std::exp(x); }
Real exp2(Real x, Real, Real) { return std::exp2(x); }
Real expm1(Real x, Real, Real) { return std::expm1(x); }
Real log(Real x, Real, Real) { return std::log(x); }
Real log2(Real x, Real, Real) { return std::log2(x); }
Real log10(Real x, Real, Real) { return std::log10(x); }
Real log1p(Real x, Real, Real) { return std::log1p(x); }
Real sqrt(Real x, Real, Real) { return std::sqrt(x); }

Real sin(Real x, Real, Real) { return std::sin(x); }
Real cos(Real x, Real, Real) { return std::cos(x); }
Real tan(Real x, Real, Real) { return std::tan(x); }
Real asin(Real x, Real, Real) { return std::asin(x); }
Real acos(Real x, Real, Real) { return std::acos(x); }
Real atan(Real x, Real, Real) { return std::atan(x); }
Real sinh(Real x, Real, Real) { return std::sinh(x); }
Real cosh(Real x, Real, Real) { return std::cosh(x); }
Real tanh(Real x, Real, Real) { return std::tanh(x); }
Real asinh(Real x, Real, Real) { return std::asinh(x); }
Real acosh(Real x, Real, Real) { return std::acosh(x); }
Real atanh(Real x, Real, Real) { return std::atanh(x); }

Real erf(Real x, Real, Real) { return std::erf(x); }
Real erfc(Real x, Real, Real) { return std::erfc(x); }
// Winitzki's guess, then Newton's steps on erf, further out on the logarithm of erfc, which is nearly a parabola.
Real erfinv(Real x, Real, Real) {
  const Real a = std::abs(x), out = 1 - a;
  if (!(a < 1)) return a == 1 ? std::copysign(std::numeric_limits<Real>::infinity(), x) : kNaN;
  if (a < 1e-15L) return x * std::sqrt(kPi) / 2;
  const Real l = std::log(out * (1 + a)), t = 2 / (kPi * 0.147L) + l / 2;
  Real y = std::sqrt(std::sqrt(t * t - l / 0.147L) - t);
  for (int step = 0; step < 6; ++step) {
    const Real slope = 2 / std::sqrt(kPi) * std::exp(-y * y), rest = std::erfc(y);
    const Real next = y - (a < 0.5L ? (std::erf(y) - a) / slope : std::log(out / rest) * rest / slope);
    if (std::abs(next - y) < 1e-13L * y) return std::copysign(next, x);  // the next step would move it by its square
    y = next;
  }
  return std::copysign(y, x);
}
Real lgamma(Real x, Real, Real) {
  int sign;
  return ::lgammal_r(x, &sign);
}
// By the recurrence up to 30 and the asymptotic series there, to long double's precision.
Real digamma(Real x, Real, Real) {
  if (x == 0) return std::copysign(std::numeric_limits<Real>::infinity(), -x);
  if (x < 0 && x == std::floor(x)) return kNaN;
  if (x < 0) return digamma(1 - x, 0, 0) - kPi / std::tan(kPi * (x - std::round(x)));
  Real sum = 0;
  for (; x < 30; x += 1) sum -= 1 / x;
  const Real y = 1 / (x * x);
  Real series = 0;
  for (Real term : {-1 / 12.0L, 691 / 32760.0L, -1 / 132.0L, 1 / 240.0L, -1 / 252.0L, 1 / 120.0L, -1 / 12.0L})
    series = series * y + term;
  return sum + std::log(x) - 1 / (2 * x) + series * y;
}

Real sigmoid(Real x, Real, Real) { return 1 / (1 + std::exp(-x)); }
Real relu(Real x, Real, Real) { return x < 0 ? 0 : x; }
Real relu6(Real x, Real, Real) { return std::isnan(x) ? x : std::min(std::max(x, 0.0L), 6.0L); }
Real leaky_relu(Real x, Real y, Real) { return x > 0 ? x : x * y; }
Real elu(Real x, Real y, Real) { return x > 0 ? x : y * std::expm1(x); }
Real celu(Real x, Real y, Real) { return x > 0 ? x : y * std::expm1(x / y); }
Real selu(Real x, Real, Real) {
  constexpr Real scale = 1.05070098735548049342L, alpha = 1.67326324235437728482L;
  return x > 0 ? scale * x : scale * (alpha * std::expm1(x));
}
Real gelu_erf(Real x, Real, Real) { return x * (std::erfc(-x / std::sqrt(2.0L)) / 2); }
Real gelu_tanh(Real x, Real, Real) {
  return x / (1 + std::exp(-2 * std::sqrt(2 / kPi) * (x + 0.044715L * (x * x * x))));
}
Real silu(Real x, Real, Real) { return x * sigmoid(x, 0, 0); }
Real mish(Real x, Real, Real) { return x * std::tanh(std::log1p(std::exp(x))); }
Real log_sigmoid(Real x, Real, Real) { return x < -10000 ? x : -std::log1p(std::exp(-x)); }
Real softplus(Real x, Real, Real) { return x > 20 ? x : std::log1p(std::exp(x)); }
Real softsign(Real x, Real, Real) { return x / (1 + std::abs(x)); }
Real tanhshrink(Real x, Real, Real) { return x - std::tanh(x); }
Real hardsigmoid(Real x, Real, Real) { return relu6(x + 3, 0, 0) / 6; }
Real hardswish(Real x, Real, Real) { return x * hardsigmoid(x, 0, 0); }
Real hardshrink(Real x, Real y, Real) { return std::abs(x) <= y ? 0 : x; }
Real softshrink(Real x, Real y, Real) {
  return x > y ? x - y : x < -y ? x + y : x * 0;  // NaN of an infinity that y covers, as PyTorch
}

Real eq(Real x, Real y, Real) { return Real(x == y); }
Real ne(Real x, Real y, Real) { return Real(!(x == y)); }
Real lt(Real x, Real y, Real) { return Real(x < y); }
Real le(Real x, Real y, Real) { return Real(x <= y); }
Real gt(Real x, Real y, Real) { return Real(y < x); }
Real ge(Real x, Real y, Real) { return Real(y <= x); }
Real isnan(Real x, Real, Real) { return Real(std::isnan(x)); }
Real isinf(Real x, Real, Real) { return Real(std::isinf(x)); }
Real isfinite(Real x, Real, Real) { return Real(std::isfinite(x)); }
Real signbit(Real x, Real, Real) { return Real(std::signbit(x)); }
Real logical_and(Real x, Real y, Real) { return Real(!(x == 0 || y == 0)); }
Real logical_or(Real x, Real y, Real) { return Real(!(x == 0 && y == 0)); }
Real logical_xor(Real x, Real y, Real) { return Real((x == 0) != (y == 0)); }
Real logical_not(Real x, Real, Real) { return Real(x == 0); }
Real where(Real x, Real y, Real z) { return x == 0 ? z : y; }
Real cast(Real x, Real, Real) { return x; }

}  // namespace formulas
}  // namespace

long double exact_result(Pointwise function, std::span<const double> args) {
  const Real x = args[0], y = args.size() > 1 ? args[1] : 0, z = args.size() > 2 ? args[2] : 0;
  switch (function) {
#define PLAIT_VALUE(name) return formulas::name(x, y, z)
#include "scalar/float_cases.def"
#undef PLAIT_VALUE
  }
  PLAIT_CHECK(false, "{} has no meaning on floats", name(function));
}

}  // namespace plait::test
