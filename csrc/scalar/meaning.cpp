// What each pointwise op means, on doubles and on integers: one function per row of pointwise.def, so that a row
// without one does not compile.
#include <cmath>
#include <cstdint>
#include <limits>
#include <numbers>

#include "base/error.h"
#include "scalar/convert.h"
#include "scalar/pointwise.h"
#include "scalar/special.h"

namespace plait {
namespace {

namespace on_floats {

double add(double x, double y, double) { return x + y; }
double sub(double x, double y, double) { return x - y; }
double mul(double x, double y, double) { return x * y; }
double div(double x, double y, double) { return x / y; }
double neg(double x, double, double) { return -x; }
double abs(double x, double, double) { return std::abs(x); }
double max(double x, double y, double) {
  if (std::isnan(x) || std::isnan(y)) return x + y;
  if (x == y) return std::signbit(x) ? y : x;
  return x > y ? x : y;
}
double min(double x, double y, double) {
  if (std::isnan(x) || std::isnan(y)) return x + y;
  if (x == y) return std::signbit(x) ? x : y;
  return x < y ? x : y;
}
double fmax(double x, double y, double) { return std::isnan(x) ? y : std::isnan(y) ? x : max(x, y, 0); }
double fmin(double x, double y, double) { return std::isnan(x) ? y : std::isnan(y) ? x : min(x, y, 0); }
double fmod(double x, double y, double) { return std::fmod(x, y); }
double remainder(double x, double y, double) {
  const double m = std::fmod(x, y);
  return m != 0 && (m < 0) != (y < 0) ? m + y : m;
}
double floor_divide(double x, double y, double) {
  if (y == 0) return x / y;
  const double m = std::fmod(x, y);
  double q = (x - m) / y;
  if (m != 0 && (m < 0) != (y < 0)) q -= 1;
  if (q == 0) return std::copysign(0.0, x / y);
  const double whole = std::floor(q);
  return q - whole > 0.5 ? whole + 1 : whole;
}
double pow(double x, double y, double) { return std::pow(x, y); }
double reciprocal(double x, double, double) { return 1 / x; }
double rsqrt(double x, double, double) { return 1 / std::sqrt(x); }
double square(double x, double, double) { return x * x; }
double sign(double x, double, double) { return (x > 0) - (x < 0); }
double floor(double x, double, double) { return std::floor(x); }
double ceil(double x, double, double) { return std::ceil(x); }
double round(double x, double, double) { return std::nearbyint(x); }
double trunc(double x, double, double) { return std::trunc(x); }
double frac(double x, double, double) { return x - std::trunc(x); }
double fma(double x, double y, double z) { return std::fma(x, y, z); }
double lerp(double x, double y, double z) { return std::abs(z) < 0.5 ? x + z * (y - x) : y - (y - x) * (1 - z); }
double hypot(double x, double y, double) { return std::hypot(x, y); }
double copysign(double x, double y, double) { return std::copysign(x, y); }
double clamp(double x, double y, double z) { return min(max(x, y, 0), z, 0); }
double cbrt(double x, double, double) { return std::cbrt(x); }
double logaddexp(double x, double y, double) {
  const double gap = x == y ? 0 : std::abs(x - y);
  return max(x, y, 0) + std::log1p(std::exp(-gap));
}
double xlogy(double x, double y, double) { return x == 0 && !std::isnan(y) ? 0 : x * std::log(y); }
double xlog1py(double x, double y, double) { return x == 0 && !std::isnan(y) ? 0 : x * std::log1p(y); }
double atan2(double x, double y, double) { return std::atan2(x, y); }

double exp(double x, double, double) { return std::exp(x); }
double exp2(double x, double, double) { return std::exp2(x); }
double expm1(double x, double, double) { return std::expm1(x); }
double log(double x, double, double) { return std::log(x); }
double log2(double x, double, double) { return std::log2(x); }
double log10(double x, double, double) { return std::log10(x); }
double log1p(double x, double, double) { return std::log1p(x); }
double sqrt(double x, double, double) { return std::sqrt(x); }

double sin(double x, double, double) { return std::sin(x); }
double cos(double x, double, double) { return std::cos(x); }
double tan(double x, double, double) { return std::tan(x); }
double asin(double x, double, double) { return std::asin(x); }
double acos(double x, double, double) { return std::acos(x); }
double atan(double x, double, double) { return std::atan(x); }
double sinh(double x, double, double) { return std::sinh(x); }
double cosh(double x, double, double) { return std::cosh(x); }
double tanh(double x, double, double) { return std::tanh(x); }
double asinh(double x, double, double) { return std::asinh(x); }
double acosh(double x, double, double) { return std::acosh(x); }
double atanh(double x, double, double) { return std::atanh(x); }

double erf(double x, double, double) { return std::erf(x); }
double erfc(double x, double, double) { return std::erfc(x); }
double erfinv(double x, double, double) { return plait::erfinv(x); }
double lgamma(double x, double, double) { return plait::log_gamma(x); }
double digamma(double x, double, double) { return plait::digamma(x); }

double sigmoid(double x, double, double) {
  if (x >= 0) return 1 / (1 + std::exp(-x));
  const double e = std::exp(x);
  return e / (1 + e);  // a NaN comes here and stays
}
double relu(double x, double, double) { return x > 0 || std::isnan(x) ? x : 0; }
double relu6(double x, double, double) { return clamp(x, 0, 6); }
double hardtanh(double x, double y, double z) { return clamp(x, y, z); }
double leaky_relu(double x, double y, double) { return x > 0 ? x : x * y; }
double elu(double x, double y, double) { return x > 0 ? x : y * std::expm1(x); }
double selu(double x, double, double) {
  constexpr double alpha = 1.6732632423543772848, scale = 1.0507009873554804934;
  return x > 0 ? scale * x : scale * alpha * std::expm1(x);
}
double celu(double x, double y, double) { return x > 0 ? x : y * std::expm1(x / y); }
// x Phi(x), with erfc: 1 + erf(x / sqrt(2)) would cancel for negative x.
double gelu_erf(double x, double, double) { return x * (0.5 * std::erfc(-x / std::numbers::sqrt2)); }
double gelu_tanh(double x, double, double) {
  const double u = std::sqrt(2 / std::numbers::pi) * (x + 0.044715 * (x * x * x));
  return x / (1 + std::exp(-2 * u));
}
double silu(double x, double, double) { return x * sigmoid(x, 0, 0); }
// tanh(log(1 + e)) = e (e + 2) / (e (e + 2) + 2), e = exp(x); 1 in double from x = 20 on.
double mish(double x, double, double) {
  const double e = std::exp(x > 20 ? 20 : x), n = e * (e + 2);
  return x * (n / (n + 2));
}
double log_sigmoid(double x, double, double) { return min(x, 0, 0) - std::log1p(std::exp(-std::abs(x))); }
double softplus(double x, double, double) { return x > 20 ? x : std::log1p(std::exp(x)); }
double softsign(double x, double, double) { return x / (1 + std::abs(x)); }
double tanhshrink(double x, double, double) { return x - std::tanh(x); }
double hardsigmoid(double x, double, double) { return clamp(x + 3, 0, 6) / 6; }
double hardswish(double x, double, double) { return x * (clamp(x + 3, 0, 6) / 6); }
double hardshrink(double x, double y, double) { return std::abs(x) <= y ? 0 : x; }
double softshrink(double x, double y, double) { return x > y ? x - y : x < -y ? x + y : x * 0; }

double eq(double x, double y, double) { return x == y; }
double ne(double x, double y, double) { return x != y; }
double lt(double x, double y, double) { return x < y; }
double le(double x, double y, double) { return x <= y; }
double gt(double x, double y, double) { return x > y; }
double ge(double x, double y, double) { return x >= y; }
double isnan(double x, double, double) { return std::isnan(x); }
double isinf(double x, double, double) { return std::isinf(x); }
double isfinite(double x, double, double) { return std::isfinite(x); }
double signbit(double x, double, double) { return std::signbit(x); }
double logical_and(double x, double y, double) { return x != 0 && y != 0; }
double logical_or(double x, double y, double) { return x != 0 || y != 0; }
double logical_xor(double x, double y, double) { return (x != 0) != (y != 0); }
double logical_not(double x, double, double) { return x == 0; }
double where(double x, double y, double z) { return x != 0 ? y : z; }
double cast(double x, double, double) { return x; }

}  // namespace on_floats

// Operands of one dtype; results wrap to it afterwards.
struct Integers {
  DType dtype;
  int64_t x, y, z;
  uint64_t ux() const { return static_cast<uint64_t>(x); }
  uint64_t uy() const { return static_cast<uint64_t>(y); }
  bool whole_u64() const { return dtype == DType::u64; }
  bool less() const { return whole_u64() ? ux() < uy() : x < y; }
  bool positive() const { return whole_u64() ? x != 0 : x > 0; }
  int bits() const { return static_cast<int>(8 * size_of(dtype)); }
  bool shifts_all_out() const { return whole_u64() ? uy() >= 64 : y < 0 || y >= bits(); }
};

namespace on_integers {

using Word = uint64_t;

Word add(const Integers& n) { return n.ux() + n.uy(); }
Word sub(const Integers& n) { return n.ux() - n.uy(); }
Word mul(const Integers& n) { return n.ux() * n.uy(); }
Word neg(const Integers& n) { return 0 - n.ux(); }
Word abs(const Integers& n) { return n.whole_u64() || n.x >= 0 ? n.ux() : 0 - n.ux(); }
Word max(const Integers& n) { return n.less() ? n.uy() : n.ux(); }
Word min(const Integers& n) { return n.less() ? n.ux() : n.uy(); }
Word fmax(const Integers& n) { return max(n); }
Word fmin(const Integers& n) { return min(n); }
Word floor_divide(const Integers& n) {
  if (n.y == 0) return 0;
  if (n.whole_u64()) return n.ux() / n.uy();
  if (n.y == -1) return 0 - n.ux();
  return static_cast<Word>(n.x / n.y - (n.x % n.y != 0 && (n.x < 0) != (n.y < 0)));
}
Word remainder(const Integers& n) { return n.ux() - floor_divide(n) * n.uy(); }
Word fmod(const Integers& n) {
  if (n.y == 0) return n.ux();
  if (n.whole_u64()) return n.ux() % n.uy();
  return n.y == -1 ? 0 : static_cast<Word>(n.x % n.y);
}
Word pow(const Integers& n) {
  if (!n.whole_u64() && n.y < 0) {
    if (n.x == 1) return 1;
    return n.x == -1 ? (n.y % 2 == 0 ? 1 : ~Word(0)) : 0;
  }
  Word result = 1, base = n.ux();
  for (Word exponent = n.uy(); exponent != 0; exponent >>= 1, base *= base)
    if (exponent & 1) result *= base;
  return result;
}
Word square(const Integers& n) { return n.ux() * n.ux(); }
Word sign(const Integers& n) { return n.positive() ? 1 : n.x == 0 ? 0 : ~Word(0); }
Word floor(const Integers& n) { return n.ux(); }
Word ceil(const Integers& n) { return n.ux(); }
Word round(const Integers& n) { return n.ux(); }
Word trunc(const Integers& n) { return n.ux(); }
Word fma(const Integers& n) { return n.ux() * n.uy() + static_cast<Word>(n.z); }
Word clamp(const Integers& n) {
  const auto above = static_cast<int64_t>(max(n));
  return min({n.dtype, above, n.z, 0});
}
Word relu(const Integers& n) { return n.positive() ? n.ux() : 0; }
Word relu6(const Integers& n) { return clamp({n.dtype, n.x, 0, 6}); }
Word hardtanh(const Integers& n) { return clamp(n); }
Word eq(const Integers& n) { return n.x == n.y; }
Word ne(const Integers& n) { return n.x != n.y; }
Word lt(const Integers& n) { return n.less(); }
Word le(const Integers& n) { return n.less() || n.x == n.y; }
Word gt(const Integers& n) { return !n.less() && n.x != n.y; }
Word ge(const Integers& n) { return !n.less(); }
Word isnan(const Integers&) { return 0; }
Word isinf(const Integers&) { return 0; }
Word isfinite(const Integers&) { return 1; }
Word signbit(const Integers& n) { return !n.whole_u64() && n.x < 0; }
Word logical_and(const Integers& n) { return n.x != 0 && n.y != 0; }
Word logical_or(const Integers& n) { return n.x != 0 || n.y != 0; }
Word logical_xor(const Integers& n) { return (n.x != 0) != (n.y != 0); }
Word logical_not(const Integers& n) { return n.x == 0; }
Word bitwise_and(const Integers& n) { return n.ux() & n.uy(); }
Word bitwise_or(const Integers& n) { return n.ux() | n.uy(); }
Word bitwise_xor(const Integers& n) { return n.ux() ^ n.uy(); }
Word bitwise_not(const Integers& n) { return n.dtype == DType::boolean ? n.x == 0 : ~n.ux(); }
Word shift_left(const Integers& n) { return n.shifts_all_out() ? 0 : n.ux() << n.y; }
Word shift_right(const Integers& n) {
  if (n.shifts_all_out()) return !n.whole_u64() && n.x < 0 ? ~Word(0) : 0;
  return n.whole_u64() ? n.ux() >> n.y : static_cast<Word>(n.x >> n.y);
}
Word where(const Integers& n) { return static_cast<Word>(n.x != 0 ? n.y : n.z); }
Word cast(const Integers& n) { return n.ux(); }

}  // namespace on_integers
}  // namespace

double evaluate(Pointwise op, std::span<const double> args) {
  PLAIT_CHECK(args.size() == size_t(info(op).arity), "{} of {} arguments", info(op).name, args.size());
  const double x = args[0], y = args.size() > 1 ? args[1] : 0, z = args.size() > 2 ? args[2] : 0;
  switch (op) {
#define PLAIT_VALUE(name) return on_floats::name(x, y, z)
#include "scalar/float_cases.def"
  }
  PLAIT_CHECK(false, "{} has no meaning on floats", info(op).name);
}

#undef PLAIT_VALUE

int64_t evaluate_int(Pointwise op, std::span<const int64_t> args, DType operand) {
  PLAIT_CHECK(args.size() == size_t(info(op).arity), "{} of {} arguments", info(op).name, args.size());
  PLAIT_CHECK(!is_float(operand), "evaluate_int of {} on {}", info(op).name, name(operand));
  const Integers n{operand, args[0], args.size() > 1 ? args[1] : 0, args.size() > 2 ? args[2] : 0};
  switch (op) {
#define PLAIT_VALUE(name) return wrap_to(operand, static_cast<int64_t>(on_integers::name(n)))
#define PLAIT_same PLAIT_VALUE
#define PLAIT_compare PLAIT_VALUE
#define PLAIT_test PLAIT_VALUE
#define PLAIT_logical PLAIT_VALUE
#define PLAIT_select PLAIT_VALUE
#define PLAIT_cast PLAIT_VALUE
#define PLAIT_bits PLAIT_VALUE
#define PLAIT_shift PLAIT_VALUE
#define PLAIT_to_float(name) break
#define PLAIT_float_only(name) break
#define X(name, arity, type_rule, ...) \
  case Pointwise::name:                \
    PLAIT_##type_rule(name);
#include "scalar/pointwise.def"
#undef X
  }
  PLAIT_CHECK(false, "{} has no meaning on integers", info(op).name);
}

}  // namespace plait
