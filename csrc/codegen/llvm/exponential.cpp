// Powers, logarithms and hyperbolic functions. f32 lanes are computed in f64 to about 40 bits, so that they round
// almost as if exact, and cancellations and ranges need no care. Polynomials interpolate at Chebyshev's points.
#include <limits>
#include <numbers>

#include "codegen/llvm/functions.h"
#include "codegen/llvm/math.h"

namespace plait::codegen::llvm {
namespace {

using Operands = std::vector<Ir>;

constexpr double kInf = std::numeric_limits<double>::infinity(), kNan = std::numeric_limits<double>::quiet_NaN();
constexpr double kRound = 0x1.8p52;  // added, it leaves the nearest integer in the low bits

// e^x = power (1 + q), power = 2^n.
struct Exponential {
  Ir power, q;
};

// q = r P(r), |r| <= ln 2 / 2, to 37 bits.
Exponential of_rest(Math& m, const Ir& shifted, const Ir& r) {
  const Ir p =
      m.polynomial(r, {0x1.a136bf03ec612p-16, 0x1.a17e052cd2c8fp-13, 0x1.6c166bde96885p-10, 0x1.1110a6173845ep-7,
                       0x1.55555565c7e0ep-5, 0x1.5555557e7777ep-3, 0x1.fffffffffe062p-2, 0x1.fffffffff61ddp-1});
  const Ir exponent = m.f.binary("shl", m.bits(shifted), m.i(52));
  return {m.from_bits(m.f.binary("add", exponent, m.i(int64_t(1023) << 52))), m.mul(r, p)};
}

// Beyond 300 the results are 0 and infinity in f32.
Exponential exponential(Math& m, const Ir& all) {
  const Ir x = m.at_most(m.at_least(all, -300), 300);
  const Ir shifted = m.fma(x, m.c(std::numbers::log2e), m.c(kRound)), n = m.sub(shifted, m.c(kRound));
  return of_rest(m, shifted, m.fma(n, m.c(-std::numbers::ln2), x));
}

Ir exp_wide(Math& m, const Ir& x) {
  const Exponential e = exponential(m, x);
  return m.fma(e.q, e.power, e.power);
}

Ir exp2_wide(Math& m, const Operands& p) {
  const Ir x = m.at_most(m.at_least(p[0], -300), 300);
  const Ir shifted = m.add(x, m.c(kRound)), n = m.sub(shifted, m.c(kRound));
  const Exponential e = of_rest(m, shifted, m.mul(m.sub(x, n), m.c(std::numbers::ln2)));
  return m.fma(e.q, e.power, e.power);
}

Ir expm1_wide(Math& m, const Ir& x) {
  const Exponential e = exponential(m, x);
  return m.fma(e.q, e.power, m.sub(e.power, m.c(1)));
}

// x = 2^e m, sqrt(1/2) <= m < sqrt(2).
struct Logarithm {
  Ir e, log_m;
};

// x positive and normal. Near 1, `above_one` is x - 1 with all its bits. log m = 2 atanh s, s = (m - 1) / (m + 1), to
// 50 bits.
Logarithm logarithm(Math& m, const Ir& x, const Ir* above_one = nullptr) {
  constexpr int64_t kRootHalf = 0x3FE6A09E667F3BCD;
  Function& f = m.f;
  const Ir offset = f.binary("add", m.bits(x), m.i((int64_t(1023) << 52) - kRootHalf));
  // The biased exponent as the low bits of 2^52 + it.
  const Ir biased = f.binary("or", f.binary("lshr", offset, m.i(52)), m.i(0x4330000000000000));
  const Ir e = m.sub(m.from_bits(biased), m.c(0x1p52 + 1023));
  const Ir mantissa = f.binary("add", f.binary("and", offset, m.i((int64_t(1) << 52) - 1)), m.i(kRootHalf));
  Ir g = m.sub(m.from_bits(mantissa), m.c(1));
  if (above_one != nullptr) g = m.select(f.compare("fcmp oeq", e, m.c(0)), *above_one, g);
  const Ir s = m.div(g, m.add(g, m.c(2))), z = m.mul(s, s);
  const Ir r = m.polynomial(z, {0x1.546adfbbda333p-3, 0x1.7382d06f0c1dep-3, 0x1.c71fcd1ced0aep-3, 0x1.2492462aa8c89p-2,
                                0x1.9999999b86b7cp-2, 0x1.55555555553b8p-1});
  const Ir cube = m.mul(s, z);
  return {e, m.fma(cube, r, m.add(s, s))};
}

// The logarithm of x at its special values, else `log`.
Ir finish_log(Math& m, const Ir& x, const Ir& log) {
  Function& f = m.f;
  const Ir finite = m.select(f.compare("fcmp oeq", x, m.c(kInf)), x, log);
  const Ir outside = m.select(f.compare("fcmp oeq", x, m.c(0)), m.c(-kInf), m.c(kNan));
  return m.select(f.compare("fcmp ogt", x, m.c(0)), finite, outside);
}

Ir log_wide(Math& m, const Ir& x) {
  const Logarithm l = logarithm(m, x);
  return finish_log(m, x, m.fma(l.e, m.c(std::numbers::ln2), l.log_m));
}

// log x by the logarithms of 2 and e in another base.
Ir log_base(Math& m, const Ir& x, double of_two, double of_e) {
  const Logarithm l = logarithm(m, x);
  return finish_log(m, x, m.fma(l.log_m, m.c(of_e), m.mul(l.e, m.c(of_two))));
}

Ir log1p_wide(Math& m, const Ir& x) {
  const Ir u = m.add(x, m.c(1));
  const Logarithm l = logarithm(m, u, &x);
  return m.copysign(finish_log(m, u, m.fma(l.e, m.c(std::numbers::ln2), l.log_m)), x);
}

Ir sinh_wide(Math& m, const Operands& p) {
  const Ir e = expm1_wide(m, m.abs(p[0]));
  const Ir twice = m.add(e, m.div(e, m.add(e, m.c(1))));
  return m.copysign(m.mul(twice, m.c(0.5)), p[0]);
}

Ir cosh_wide(Math& m, const Operands& p) {
  const Ir e = exp_wide(m, m.abs(p[0]));
  return m.mul(m.add(e, m.div(m.c(1), e)), m.c(0.5));
}

// log(a + sqrt(a^2 + 1)), a = |x|.
Ir asinh_wide(Math& m, const Operands& p) {
  const Ir a = m.abs(p[0]), square = m.mul(a, a), root = m.sqrt(m.add(square, m.c(1)));
  const Ir more = m.div(square, m.add(root, m.c(1)));
  const Ir infinite = m.f.compare("fcmp oeq", a, m.c(kInf));
  const Ir finite = m.select(infinite, a, m.add(a, more));
  return m.copysign(log1p_wide(m, finite), p[0]);
}

// log(x + sqrt(x^2 - 1)) with t = x - 1.
Ir acosh_wide(Math& m, const Operands& p) {
  const Ir t = m.sub(p[0], m.c(1));
  const Ir l = log1p_wide(m, m.add(t, m.sqrt(m.mul(t, m.add(t, m.c(2))))));
  return m.select(m.f.compare("fcmp olt", p[0], m.c(1)), m.c(kNan), l);
}

// log((1 + a) / (1 - a)) / 2, a = |x|.
Ir atanh_wide(Math& m, const Operands& p) {
  const Ir a = m.abs(p[0]);
  const Ir twice = m.add(a, a);
  const Ir l = log1p_wide(m, m.div(twice, m.sub(m.c(1), a)));
  return m.copysign(m.mul(l, m.c(0.5)), p[0]);
}

Ir cbrt_wide(Math& m, const Operands& p) {
  const Ir l = log_wide(m, m.abs(p[0]));
  return m.copysign(exp_wide(m, m.mul(l, m.c(1.0 / 3))), p[0]);
}

// e^(y log |x|), and the many special values of C's pow.
Ir pow_wide(Math& m, const Operands& p) {
  Function& f = m.f;
  const Ir &x = p[0], &y = p[1], a = m.abs(x), half = m.mul(y, m.c(0.5));
  const auto both = [&](const Ir& left, const Ir& right) { return f.binary("and", left, right); };
  const auto is_fraction = [&](const Ir& v) { return f.compare("fcmp une", v, f.intrinsic("llvm.trunc", {v})); };
  Ir r = exp_wide(m, m.mul(y, log_wide(m, a)));
  const Ir unit = f.compare("fcmp oeq", a, m.c(1));
  r = m.select(both(unit, f.compare("fcmp ord", y, y)), m.c(1), r);
  const Ir fraction = is_fraction(y);
  const Ir half_fraction = is_fraction(half);
  const Ir odd = both(half_fraction, f.binary("xor", fraction, integer(fraction.type, 1)));
  r = m.select(odd, m.copysign(r, x), r);
  const Ir below = f.compare("fcmp olt", x, m.c(0));
  const Ir negative = both(below, f.compare("fcmp ogt", x, m.c(-kInf)));
  r = m.select(both(negative, fraction), m.c(kNan), r);
  const Ir zeroth = f.compare("fcmp oeq", y, m.c(0));
  return m.select(f.binary("or", zeroth, f.compare("fcmp oeq", x, m.c(1))), m.c(1), r);
}

Ir hypot_wide(Math& m, const Operands& p) {
  const Ir root = m.sqrt(m.fma(p[0], p[0], m.mul(p[1], p[1])));
  const auto infinite = [&](const Ir& v) { return m.f.compare("fcmp oeq", m.abs(v), m.c(kInf)); };
  const Ir first = infinite(p[0]);
  return m.select(m.f.binary("or", first, infinite(p[1])), m.c(kInf), root);
}

// e^(-a^2) P((a - 4) / (a + 4)) / (1 + a), a = |x|, to 40 bits up to where f32 ends.
Ir erfc_wide(Math& m, const Operands& p) {
  const Ir a = m.at_most(m.abs(p[0]), 16);
  const Ir above = m.sub(a, m.c(4)), u = m.div(above, m.add(a, m.c(4)));
  const Ir q =
      m.polynomial(u, {-0x1.03d5c47cae528p-17, -0x1.a8ad06b818868p-17, 0x1.1b3befc8f108dp-14, -0x1.ee5a3e573d697p-15,
                       -0x1.99eb111155023p-12, 0x1.15518a85a555ep-9, -0x1.8db599703308ep-8, 0x1.8e858ef1f491bp-7,
                       -0x1.1efa07e45047ep-6, 0x1.f5c28927b95bfp-7, 0x1.03a845765413bp-8, -0x1.89dfddd7b8ea3p-5,
                       0x1.df6f78554733fp-4, -0x1.9841f8fe4cde1p-3, 0x1.5eb7f6ecb1c22p-1});
  const Ir scaled = m.mul(exp_wide(m, m.neg(m.mul(a, a))), q), tail = m.div(scaled, m.add(a, m.c(1)));
  const Ir negative = m.f.compare("fcmp olt", p[0], m.c(0));
  return m.select(negative, m.sub(m.c(2), tail), tail);
}

}  // namespace

Ir exp2(Function& f, const Ir& x) { return in_double(f, "exp2", {x}, exp2_wide); }
Ir expm1(Function& f, const Ir& x) {
  return in_double(f, "expm1", {x}, [](Math& m, const Operands& p) { return m.copysign(expm1_wide(m, p[0]), p[0]); });
}
Ir log2(Function& f, const Ir& x) {
  return in_double(f, "log2", {x},
                   [](Math& m, const Operands& p) { return log_base(m, p[0], 1, std::numbers::log2e); });
}
Ir log10(Function& f, const Ir& x) {
  constexpr double kOfTwo = std::numbers::ln2 / std::numbers::ln10;
  return in_double(f, "log10", {x},
                   [](Math& m, const Operands& p) { return log_base(m, p[0], kOfTwo, std::numbers::log10e); });
}
Ir log1p(Function& f, const Ir& x) {
  return in_double(f, "log1p", {x}, [](Math& m, const Operands& p) { return log1p_wide(m, p[0]); });
}
Ir sinh(Function& f, const Ir& x) { return in_double(f, "sinh", {x}, sinh_wide); }
Ir cosh(Function& f, const Ir& x) { return in_double(f, "cosh", {x}, cosh_wide); }
Ir asinh(Function& f, const Ir& x) { return in_double(f, "asinh", {x}, asinh_wide); }
Ir acosh(Function& f, const Ir& x) { return in_double(f, "acosh", {x}, acosh_wide); }
Ir atanh(Function& f, const Ir& x) { return in_double(f, "atanh", {x}, atanh_wide); }
Ir cbrt(Function& f, const Ir& x) { return in_double(f, "cbrt", {x}, cbrt_wide); }
Ir pow(Function& f, const Ir& x, const Ir& y) { return in_double(f, "pow", {x, y}, pow_wide); }
Ir hypot(Function& f, const Ir& x, const Ir& y) { return in_double(f, "hypot", {x, y}, hypot_wide); }
Ir erfc(Function& f, const Ir& x) { return in_double(f, "erfc", {x}, erfc_wide); }
Ir rsqrt(Function& f, const Ir& x) {
  return elementary(f, "rsqrt", {x}, [](Math& m, const Operands& p) { return m.div(m.c(1), m.sqrt(p[0])); });
}

Ir log_gamma(Function& f, const Ir& x) { return from_library(f, "log_gamma", {x}); }
Ir digamma(Function& f, const Ir& x) { return from_library(f, "digamma", {x}); }
Ir erfinv(Function& f, const Ir& x) { return from_library(f, "erfinv", {x}); }

}  // namespace plait::codegen::llvm
