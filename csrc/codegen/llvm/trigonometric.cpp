// Trigonometric functions and their inverses, and what is left over from a division. f32 lanes are computed in f64 to
// about 35 bits, so that they round almost as if exact. Polynomials interpolate at Chebyshev's points.
#include <limits>
#include <numbers>

#include "codegen/llvm/functions.h"
#include "codegen/llvm/math.h"

namespace plait::codegen::llvm {
namespace {

using Operands = std::vector<Ir>;

constexpr double kInfinite = std::numeric_limits<double>::infinity(), kPi = std::numbers::pi;

// x = n pi/2 + r, |r| <= pi/4: sine and cosine of r, and n modulo 4.
struct Reduced {
  Ir sine, cosine, quadrant;
};

// Two parts of pi/2 hold 107 bits, n at most 30: over all f32 below 2^30 the smallest |r| is about 2^-29, so more than
// 40 bits of it are right.
Reduced reduce(Math& m, const Ir& x) {
  constexpr double kRound = 0x1.8p52;
  const Ir shifted = m.fma(x, m.c(2 / kPi), m.c(kRound)), n = m.sub(shifted, m.c(kRound));
  const Ir r = m.fma(n, m.c(-0x1.1a62633145c07p-54), m.fma(n, m.c(-0x1.921fb54442d18p+0), x)), z = m.mul(r, r);
  const Ir s =
      m.polynomial(z, {0x1.6dbdd26f56d2dp-19, -0x1.a013a6edc8f34p-13, 0x1.11110deeb33b2p-7, -0x1.555555545dd83p-3});
  const Ir c = m.polynomial(
      z, {-0x1.25242a3a17327p-22, 0x1.a015c40ec65ecp-16, -0x1.6c16bf5495185p-10, 0x1.5555555502be6p-5, -0.5});
  return {m.mul(r, m.fma(z, s, m.c(1))), m.fma(z, c, m.c(1)), m.f.binary("and", m.bits(shifted), m.i(3))};
}

Ir bit(Math& m, const Ir& word, int64_t mask) {
  return m.f.compare("icmp ne", m.f.binary("and", word, m.i(mask)), m.i(0));
}

// Arguments from 2^30 on, few in any data, go to the C function.
Ir with_huge(Math& m, const Ir& x, const Ir& common, const char* name) {
  return with_rare_calls(m.f, m.f.compare("fcmp oge", m.abs(x), m.c(0x1p30)), common, name, {x});
}

Ir sin_wide(Math& m, const Operands& p) {
  const Reduced r = reduce(m, p[0]);
  const Ir one = m.select(bit(m, r.quadrant, 1), r.cosine, r.sine);
  return with_huge(m, p[0], m.select(bit(m, r.quadrant, 2), m.neg(one), one), "sin");
}

Ir cos_wide(Math& m, const Operands& p) {
  const Reduced r = reduce(m, p[0]);
  const Ir one = m.select(bit(m, r.quadrant, 1), r.sine, r.cosine);
  const Ir next = m.f.binary("add", r.quadrant, m.i(1));
  return with_huge(m, p[0], m.select(bit(m, next, 2), m.neg(one), one), "cos");
}

Ir tan_wide(Math& m, const Operands& p) {
  const Reduced r = reduce(m, p[0]);
  const Ir odd = bit(m, r.quadrant, 1);
  const Ir top = m.select(odd, m.neg(r.cosine), r.sine), bottom = m.select(odd, r.sine, r.cosine);
  return with_huge(m, p[0], m.div(top, bottom), "tan");
}

// The angle of the point (x, y). With 0 <= p <= q the two lengths, atan(p / q) = atan t or pi/4 + atan t, |t| <=
// tan(pi/8).
Ir angle(Math& m, const Ir& y, const Ir& x) {
  Function& f = m.f;
  // Cut, infinite lengths still are infinite beside those of f32, and equal ones cancel.
  const Ir a = m.at_most(m.abs(y), 1e300), b = m.at_most(m.abs(x), 1e300), steep = f.compare("fcmp ogt", a, b);
  const Ir p = m.select(steep, b, a), q = m.select(steep, a, b);
  const Ir far = f.compare("fcmp ogt", p, m.mul(q, m.c(std::numbers::sqrt2 - 1)));
  const Ir top = m.select(far, m.sub(p, q), p), bottom = m.select(far, m.add(p, q), q);
  const Ir origin = f.compare("fcmp oeq", q, m.c(0));
  const Ir t = m.div(top, m.select(origin, m.c(1), bottom)), z = m.mul(t, t);
  const Ir s =
      m.polynomial(z, {-0x1.4b348fe081416p-5, 0x1.24425ba99f811p-4, -0x1.71d3963f586fcp-4, 0x1.c6f683c68ff3fp-4,
                       -0x1.2491c07b55c0bp-3, 0x1.9999982560b1bp-3, -0x1.55555555020aap-2});
  const Ir angle = m.fma(m.mul(t, z), s, t);
  Ir r = m.add(angle, m.select(far, m.c(kPi / 4), m.c(0)));
  r = m.select(steep, m.sub(m.c(kPi / 2), r), r);
  const Ir left = f.compare("icmp slt", m.bits(x), m.i(0));
  r = m.select(left, m.sub(m.c(kPi), r), r);
  const Ir nan = f.compare("fcmp uno", x, y);
  r = m.select(nan, m.add(x, y), r);
  return m.copysign(r, y);
}

// The other leg of the right triangle with hypotenuse 1; NaN outside of [-1, 1].
Ir other_leg(Math& m, const Ir& x) {
  const Ir below = m.sub(m.c(1), x);
  return m.sqrt(m.mul(below, m.add(m.c(1), x)));
}

// x - trunc(x / y) y is exact while the quotient has at most 52 bits; the rounded quotient may be one too large.
Ir fmod_wide(Math& m, const Operands& p) {
  Function& f = m.f;
  const Ir &x = p[0], &y = p[1], quotient = m.div(x, y);
  const Ir r = m.fma(m.neg(f.intrinsic("llvm.trunc", {quotient})), y, x);
  const Ir beyond = f.compare("fcmp olt", m.mul(r, x), m.c(0));
  const Ir inside = m.select(beyond, m.add(r, m.copysign(y, x)), r);
  const Ir all = m.select(f.compare("fcmp oeq", m.abs(y), m.c(kInfinite)), x, inside);
  const Ir rare = f.compare("fcmp uge", m.abs(quotient), m.c(0x1p52));  // NaN, infinite x and zero y too
  return with_rare_calls(f, rare, m.copysign(all, x), "fmod", {x, y});
}

}  // namespace

Ir sin(Function& f, const Ir& x) { return in_double(f, "sin", {x}, sin_wide); }
Ir cos(Function& f, const Ir& x) { return in_double(f, "cos", {x}, cos_wide); }
Ir tan(Function& f, const Ir& x) { return in_double(f, "tan", {x}, tan_wide); }
Ir asin(Function& f, const Ir& x) {
  return in_double(f, "asin", {x}, [](Math& m, const Operands& p) { return angle(m, p[0], other_leg(m, p[0])); });
}
Ir acos(Function& f, const Ir& x) {
  return in_double(f, "acos", {x}, [](Math& m, const Operands& p) { return angle(m, other_leg(m, p[0]), p[0]); });
}
Ir atan(Function& f, const Ir& x) {
  return in_double(f, "atan", {x}, [](Math& m, const Operands& p) { return angle(m, p[0], m.c(1)); });
}
Ir atan2(Function& f, const Ir& y, const Ir& x) {
  return in_double(f, "atan2", {y, x}, [](Math& m, const Operands& p) { return angle(m, p[0], p[1]); });
}
Ir fmod(Function& f, const Ir& x, const Ir& y) { return in_double(f, "fmod", {x, y}, fmod_wide); }

}  // namespace plait::codegen::llvm
