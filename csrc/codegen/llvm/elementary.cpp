#include "codegen/llvm/functions.h"

#include <cmath>
#include <limits>
#include <numbers>

#include "codegen/llvm/math.h"

namespace plait::codegen::llvm {
namespace {

// ln 2 in two parts; the first has few bits.
constexpr double kLn2High = 0x1.62e4p-1, kLn2Low = 0x1.7f7d1cp-20;

// e^x = 2^n e^r, |r| <= ln 2 / 2; e^r by a polynomial; 2^n in two steps, so that results round once when denormal.
Ir exp_f32(Math& m, const Ir& all) {
  Function& f = m.f;
  const Ir x = m.at_most(m.at_least(all, -104), 89);                     // the results there are 0 and inf
  const Ir shifted = m.fma(x, m.c(std::numbers::log2e), m.c(12582912));  // 1.5 * 2^23: n in the low bits
  const Ir n = m.sub(shifted, m.c(12582912));
  const Ir exponent = f.binary("sub", m.bits(shifted), m.i(0x4B400000));
  const Ir r = m.fma(n, m.c(-kLn2Low), m.fma(n, m.c(-kLn2High), x));
  const Ir p = m.polynomial(r, {0x1.6a4d6p-10, 0x1.12398ep-7, 0x1.5558bp-5, 0x1.555492p-3, 0x1.fffffcp-2, 1, 1});
  const Ir half = f.binary("ashr", exponent, m.i(1));
  const Ir rest = f.binary("sub", exponent, half);
  const auto power = [&](const Ir& e) { return m.from_bits(f.binary("shl", f.binary("add", e, m.i(127)), m.i(23))); };
  const Ir first = m.mul(p, power(half));
  return m.mul(first, power(rest));
}

// x = 2^e m, sqrt(1/2) <= m < sqrt(2); log m = g - g^2/2 + g^3 P(g), g = m - 1.
Ir log_f32(Math& m, const Ir& x) {
  Function& f = m.f;
  const Ir tiny = f.compare("fcmp olt", x, m.c(0x1p-126));
  const Ir scaled = f.select(tiny, m.mul(x, m.c(0x1p23)), x);
  const Ir offset = f.binary("sub", m.bits(scaled), m.i(0x3F3504F3));
  const Ir exponent = f.cast("sitofp", f.binary("ashr", offset, m.i(23)), m.type);
  const Ir e = m.add(exponent, f.select(tiny, m.c(-23), m.c(0)));
  const Ir mantissa = f.binary("add", f.binary("and", offset, m.i(0x7FFFFF)), m.i(0x3F3504F3));
  const Ir g = m.sub(m.from_bits(mantissa), m.c(1)), square = m.mul(g, g);
  const Ir p = m.polynomial(g, {-0x1.38c9e6p-4, 0x1.0573aep-3, -0x1.0d8bfap-3, 0x1.22d71p-3, -0x1.547164p-3,
                                0x1.99a028p-3, -0x1.00022ap-2, 0x1.555554p-2});
  Ir tail = m.fma(e, m.c(kLn2Low), m.mul(m.mul(p, g), square));
  tail = m.fma(square, m.c(-0.5), tail);
  Ir r = m.fma(e, m.c(kLn2High), m.add(g, tail));
  const double inf = std::numeric_limits<double>::infinity();
  r = f.select(f.compare("fcmp oeq", x, m.c(inf)), x, r);
  const Ir outside = f.select(f.compare("fcmp oeq", x, m.c(0)), m.c(-inf), m.c(std::nan("")));
  return f.select(f.compare("fcmp ogt", x, m.c(0)), r, outside);
}

// An odd polynomial around zero, 1 - 2 / (e^2|x| + 1) further out.
Ir tanh_f32(Math& m, const Ir& x) {
  const Ir a = m.abs(x), s = m.mul(x, x);
  const Ir p = m.polynomial(s, {0x1.0d5176p-6, -0x1.af7d36p-5, 0x1.10cefcp-3, -0x1.555452p-2});
  const Ir small = m.fma(m.mul(p, s), a, a);
  const Ir e = exp(m.f, m.add(a, a));
  const Ir large = m.sub(m.c(1), m.div(m.c(2), m.add(e, m.c(1))));
  return m.copysign(m.f.select(m.f.compare("fcmp oge", a, m.c(0.55)), large, small), x);
}

// An odd polynomial around zero, 1 - e^Q(|x|) further out, Q = log erfc.
Ir erf_f32(Math& m, const Ir& x) {
  const Ir a = m.abs(x), s = m.mul(x, x);
  const Ir p =
      m.polynomial(s, {-0x1.390398p-11, 0x1.46fcc6p-8, -0x1.b681d8p-6, 0x1.ce19e8p-4, -0x1.8126e4p-2, 0x1.06eba6p-3});
  const Ir small = m.fma(p, a, a);
  const Ir q = m.polynomial(m.at_most(a, 4), {0x1.98d4f2p-13, -0x1.8da196p-9, 0x1.6b8e8ep-6, -0x1.a9654p-4,
                                              -0x1.4647b4p-1, -0x1.20ac3p+0, -0x1.b224acp-13});
  const Ir large = m.sub(m.c(1), exp(m.f, q));
  return m.copysign(m.f.select(m.f.compare("fcmp ogt", a, m.c(0.925)), large, small), x);
}

// e^-|x| never overflows, and small results keep their bits.
Ir sigmoid_body(Math& m, const Ir& x) {
  const Ir e = exp(m.f, m.neg(m.abs(x)));
  const Ir top = m.f.select(m.f.compare("fcmp olt", x, m.c(0)), e, m.c(1));
  return m.div(top, m.add(m.c(1), e));
}

Ir silu_body(Math& m, const Ir& x) { return m.div(x, m.add(m.c(1), exp(m.f, m.neg(x)))); }

// x / (1 + e^-2u), u = sqrt(2/pi) (x + 0.044715 x^3).
Ir gelu_tanh_body(Math& m, const Ir& x) {
  const double k = -2 * std::sqrt(2 / std::numbers::pi);
  const Ir argument = m.mul(x, m.fma(m.mul(x, x), m.c(0.044715 * k), m.c(k)));
  return m.div(x, m.add(m.c(1), exp(m.f, argument)));
}

Ir gelu_erf_body(Math& m, const Ir& x) {
  const Ir e = erf(m.f, m.mul(x, m.c(std::numbers::sqrt2 / 2)));
  const Ir half = m.mul(x, m.c(0.5));
  return m.mul(half, m.add(m.c(1), e));
}

using Body = Ir (*)(Math&, const Ir&);

Ir unary(Function& f, const Ir& x, const char* stem, Body body) {
  return elementary(f, stem, {x}, [&](Math& m, const std::vector<Ir>& p) { return body(m, p[0]); });
}

// f32: the body; f64: the C library.
Ir native(Function& f, const Ir& x, const char* stem, Body body) {
  return x.type.scalar == Scalar::f64 ? from_library(f, stem, {x}) : unary(f, x, stem, body);
}

}  // namespace

Ir exp(Function& f, const Ir& x) { return native(f, x, "exp", exp_f32); }
Ir log(Function& f, const Ir& x) { return native(f, x, "log", log_f32); }
Ir tanh(Function& f, const Ir& x) { return native(f, x, "tanh", tanh_f32); }
Ir erf(Function& f, const Ir& x) { return native(f, x, "erf", erf_f32); }
Ir sigmoid(Function& f, const Ir& x) { return unary(f, x, "sigmoid", sigmoid_body); }
Ir silu(Function& f, const Ir& x) { return unary(f, x, "silu", silu_body); }
Ir gelu_tanh(Function& f, const Ir& x) { return unary(f, x, "gelu_tanh", gelu_tanh_body); }
Ir gelu_erf(Function& f, const Ir& x) { return unary(f, x, "gelu_erf", gelu_erf_body); }

}  // namespace plait::codegen::llvm
