#include "codegen/llvm/functions.h"

#include <cmath>
#include <initializer_list>
#include <limits>
#include <numbers>

#include "base/error.h"

namespace plait::codegen::llvm {
namespace {

// Arithmetic on lanes of one float type.
class Math {
 public:
  Math(Function& f, Type type) : f(f), type(type) {}

  Ir c(double value) const { return number(type, type.scalar == Scalar::f32 ? double(float(value)) : value); }
  Ir i(int64_t value) const { return integer(bits_type(), value); }
  Ir add(const Ir& a, const Ir& b) { return f.binary("fadd", a, b); }
  Ir sub(const Ir& a, const Ir& b) { return f.binary("fsub", a, b); }
  Ir mul(const Ir& a, const Ir& b) { return f.binary("fmul", a, b); }
  Ir div(const Ir& a, const Ir& b) { return f.binary("fdiv", a, b); }
  Ir fma(const Ir& a, const Ir& b, const Ir& c) { return f.intrinsic("llvm.fma", {a, b, c}); }
  Ir abs(const Ir& a) { return f.intrinsic("llvm.fabs", {a}); }
  Ir copysign(const Ir& magnitude, const Ir& sign) { return f.intrinsic("llvm.copysign", {magnitude, sign}); }
  Ir bits(const Ir& a) { return f.cast("bitcast", a, bits_type()); }
  Ir from_bits(const Ir& a) { return f.cast("bitcast", a, type); }
  // Horner's scheme, highest coefficient first.
  Ir polynomial(const Ir& x, std::initializer_list<double> coefficients) {
    Ir p = c(*coefficients.begin());
    for (auto k = coefficients.begin() + 1; k != coefficients.end(); ++k) p = fma(p, x, c(*k));
    return p;
  }
  // a where a < limit (or > limit), else the limit; NaN stays.
  Ir at_least(const Ir& a, double limit) { return f.select(f.compare("fcmp olt", a, c(limit)), c(limit), a); }
  Ir at_most(const Ir& a, double limit) { return f.select(f.compare("fcmp ogt", a, c(limit)), c(limit), a); }

  Function& f;
  const Type type;

 private:
  Type bits_type() const { return type.with(type.scalar == Scalar::f32 ? Scalar::i32 : Scalar::i64); }
};

// ln 2 in two parts; the first has few bits.
constexpr double kLn2High = 0x1.62e4p-1, kLn2Low = 0x1.7f7d1cp-20;

// e^x = 2^n e^r, |r| <= ln 2 / 2; e^r by a polynomial; 2^n in two steps, so that results round once when denormal.
Ir exp_f32(Math& m, Ir x) {
  Function& f = m.f;
  x = m.at_most(m.at_least(x, -104), 89);                                // the results there are 0 and inf
  const Ir shifted = m.fma(x, m.c(std::numbers::log2e), m.c(12582912));  // 1.5 * 2^23: n in the low bits
  const Ir n = m.sub(shifted, m.c(12582912));
  const Ir exponent = f.binary("sub", m.bits(shifted), m.i(0x4B400000));
  const Ir r = m.fma(n, m.c(-kLn2Low), m.fma(n, m.c(-kLn2High), x));
  const Ir p = m.polynomial(r, {0x1.6a4d6p-10, 0x1.12398ep-7, 0x1.5558bp-5, 0x1.555492p-3, 0x1.fffffcp-2, 1, 1});
  const Ir half = f.binary("ashr", exponent, m.i(1));
  const Ir rest = f.binary("sub", exponent, half);
  const auto power = [&](const Ir& e) { return m.from_bits(f.binary("shl", f.binary("add", e, m.i(127)), m.i(23))); };
  return m.mul(m.mul(p, power(half)), power(rest));
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

// The C library's function of f64, lane by lane.
Ir library_call(Function& f, const Ir& x, const std::string& name) {
  f.module().declare(name, fmt::format("declare double @{}(double) nounwind willreturn memory(none)", name));
  Ir result{x.type, "poison"};
  for (int lane = 0; lane < x.type.lanes; ++lane) {
    result = f.insert(result, f.call(name, {Scalar::f64, 1}, {f.extract(x, lane)}), lane);
  }
  return result;
}

// e^-|x| never overflows, and small results keep their bits.
Ir sigmoid_body(Math& m, const Ir& x) {
  const Ir e = exp(m.f, m.f.define(m.type, "fneg " + m.abs(x).typed()));
  const Ir top = m.f.select(m.f.compare("fcmp olt", x, m.c(0)), e, m.c(1));
  return m.div(top, m.add(m.c(1), e));
}

Ir silu_body(Math& m, const Ir& x) {
  return m.div(x, m.add(m.c(1), exp(m.f, m.f.define(m.type, "fneg " + x.typed()))));
}

// x / (1 + e^-2u), u = sqrt(2/pi) (x + 0.044715 x^3).
Ir gelu_tanh_body(Math& m, const Ir& x) {
  const double k = -2 * std::sqrt(2 / std::numbers::pi);
  const Ir argument = m.mul(x, m.fma(m.mul(x, x), m.c(0.044715 * k), m.c(k)));
  return m.div(x, m.add(m.c(1), exp(m.f, argument)));
}

Ir gelu_erf_body(Math& m, const Ir& x) {
  const Ir e = erf(m.f, m.mul(x, m.c(std::numbers::sqrt2 / 2)));
  return m.mul(m.mul(x, m.c(0.5)), m.add(m.c(1), e));
}

// Calls the helper `stem` on the operands; body(function, parameters) writes it on first use.
template <class Body>
Ir helper(Function& f, const std::string& stem, Type type, const std::vector<Ir>& operands, Body&& body) {
  const std::string name = fmt::format("plait.{}.{}", stem, operands[operands.size() > 1 ? 1 : 0].type.suffix());
  if (!f.module().has(name)) {
    Function inner(f.module());
    std::vector<Ir> parameters;
    std::string list;
    for (const Ir& operand : operands) {
      parameters.push_back({operand.type, fmt::format("%p{}", parameters.size())});
      list += (list.empty() ? "" : ", ") + parameters.back().typed();
    }
    const Ir result = body(inner, parameters);
    f.module().define(name, fmt::format("define internal {} @{}({}) alwaysinline nounwind {{\nentry:\n{}  ret {}\n}}\n",
                                        type.text(), name, list, inner.body(), result.typed()));
  }
  return f.call(name, type, operands);
}

using MathBody = Ir (*)(Math&, const Ir&);

Ir elementary(Function& f, const Ir& x, const char* stem, MathBody body) {
  PLAIT_CHECK(x.type.is_float(), "{} of {}", stem, x.type.text());
  return helper(f, stem, x.type, {x}, [&](Function& inner, const std::vector<Ir>& p) {
    Math math(inner, x.type);
    return body(math, p[0]);
  });
}

Ir from_library(Function& f, const Ir& x, const char* stem) {
  return helper(f, stem, x.type, {x},
                [&](Function& inner, const std::vector<Ir>& p) { return library_call(inner, p[0], stem); });
}

}  // namespace

Ir exp(Function& f, const Ir& x) {
  if (x.type.scalar == Scalar::f64) return from_library(f, x, "exp");
  return elementary(f, x, "exp", [](Math& m, const Ir& v) { return exp_f32(m, v); });
}
Ir log(Function& f, const Ir& x) {
  return x.type.scalar == Scalar::f64 ? from_library(f, x, "log") : elementary(f, x, "log", log_f32);
}
Ir tanh(Function& f, const Ir& x) {
  return x.type.scalar == Scalar::f64 ? from_library(f, x, "tanh") : elementary(f, x, "tanh", tanh_f32);
}
Ir erf(Function& f, const Ir& x) {
  return x.type.scalar == Scalar::f64 ? from_library(f, x, "erf") : elementary(f, x, "erf", erf_f32);
}
Ir sigmoid(Function& f, const Ir& x) { return elementary(f, x, "sigmoid", sigmoid_body); }
Ir silu(Function& f, const Ir& x) { return elementary(f, x, "silu", silu_body); }
Ir gelu_tanh(Function& f, const Ir& x) { return elementary(f, x, "gelu_tanh", gelu_tanh_body); }
Ir gelu_erf(Function& f, const Ir& x) { return elementary(f, x, "gelu_erf", gelu_erf_body); }

namespace {

// f64 to f32 rounded to odd: of the two neighbours the one with an odd last bit, unless exact. Rounding that to a type
// with at least two bits less gives what one rounding of the f64 would give.
Ir round_to_odd(Function& f, const Ir& x) {
  const Type narrow = x.type.with(Scalar::f32), word = x.type.with(Scalar::i32);
  const Ir near = f.cast("fptrunc", x, narrow), wide = f.cast("fpext", near, x.type);
  const Ir bits = f.cast("bitcast", near, word);
  const Ir above = f.compare("fcmp ogt", f.intrinsic("llvm.fabs", {wide}), f.intrinsic("llvm.fabs", {x}));
  const Ir other = f.binary("add", bits, f.select(above, integer(word, -1), integer(word, 1)));
  const Ir even = f.compare("icmp eq", f.binary("and", bits, integer(word, 1)), integer(word, 0));
  const Ir inexact = f.compare("fcmp one", wide, x);
  return f.cast("bitcast", f.select(f.binary("and", even, inexact), other, bits), narrow);
}

Ir bf16_bits(Function& f, const Ir& x) {
  const Type word = x.type.with(Scalar::i32);
  const auto k = [&](int64_t value) { return integer(word, value); };
  const Ir bits = f.cast("bitcast", x, word), high = f.binary("lshr", bits, k(16));
  const Ir bias = f.binary("add", f.binary("and", high, k(1)), k(0x7FFF));
  const Ir rounded = f.binary("lshr", f.binary("add", bits, bias), k(16));
  const Ir chosen = f.select(f.compare("fcmp uno", x, x), f.binary("or", high, k(0x40)), rounded);
  return f.cast("trunc", chosen, x.type.with(Scalar::i16));
}

Ir f16_bits(Function& f, const Ir& x) {
  const Type word = x.type.with(Scalar::i32);
  const auto k = [&](int64_t value) { return integer(word, value); };
  const Ir bits = f.cast("bitcast", x, word), magnitude = f.binary("and", bits, k(0x7FFFFFFF));
  // Normal results: rebias the exponent by -112, round at bit 13; a carry into the exponent is right, up to infinity.
  const Ir odd = f.binary("and", f.binary("lshr", magnitude, k(13)), k(1));
  const Ir biased = f.binary("add", f.binary("add", magnitude, k(0xFFF - (int64_t(112) << 23))), odd);
  const Ir normal = f.binary("lshr", biased, k(13));
  // Denormal results: adding 1/2 rounds at 2^-24 and leaves the result's bits at the bottom.
  const Ir sum = f.binary("fadd", f.cast("bitcast", magnitude, x.type), number(x.type, 0.5));
  const Ir denormal = f.binary("sub", f.cast("bitcast", sum, word), k(0x3F000000));
  const Ir payload = f.binary("and", f.binary("lshr", magnitude, k(13)), k(0x3FF));
  const Ir nan = f.binary("or", payload, k(0x7E00));
  Ir r = f.select(f.compare("icmp ult", magnitude, k(0x38800000)), denormal, normal);
  r = f.select(f.compare("icmp ugt", magnitude, k(0x477FFFFF)), k(0x7C00), r);
  r = f.select(f.compare("icmp ugt", magnitude, k(0x7F800000)), nan, r);
  const Ir sign = f.binary("and", f.binary("lshr", bits, k(16)), k(0x8000));
  return f.cast("trunc", f.binary("or", r, sign), x.type.with(Scalar::i16));
}

Ir f16_value(Function& f, const Ir& half) {
  const Type word = half.type.with(Scalar::i32), number_type = half.type.with(Scalar::f32);
  const auto k = [&](int64_t value) { return integer(word, value); };
  const Ir bits = f.cast("zext", half, word), magnitude = f.binary("and", bits, k(0x7FFF));
  const Ir rebias = f.select(f.compare("icmp ugt", magnitude, k(0x7BFF)), k(224 << 23), k(112 << 23));
  const Ir normal = f.binary("add", f.binary("shl", magnitude, k(13)), rebias);
  const Ir quiet = f.select(f.compare("icmp ugt", magnitude, k(0x7C00)), k(0x400000), k(0));
  const Ir denormal = f.binary("fmul", f.cast("sitofp", magnitude, number_type), number(number_type, 0x1p-24));
  const Ir r = f.select(f.compare("icmp ult", magnitude, k(0x400)), f.cast("bitcast", denormal, word),
                        f.binary("or", normal, quiet));
  const Ir sign = f.binary("shl", f.binary("and", bits, k(0x8000)), k(16));
  return f.cast("bitcast", f.binary("or", r, sign), number_type);
}

Ir bf16_value(Function& f, const Ir& bits) {
  const Type word = bits.type.with(Scalar::i32);
  const Ir high = f.binary("shl", f.cast("zext", bits, word), integer(word, 16));
  return f.cast("bitcast", high, bits.type.with(Scalar::f32));
}

}  // namespace

Ir round_to_narrow(Function& f, const Ir& x, DType narrow) {
  const std::string stem = fmt::format("to_{}", name(narrow));
  return helper(f, stem, x.type.with(Scalar::i16), {x}, [&](Function& inner, const std::vector<Ir>& p) {
    const Ir single = x.type.scalar == Scalar::f64 ? round_to_odd(inner, p[0]) : p[0];
    return narrow == DType::bf16 ? bf16_bits(inner, single) : f16_bits(inner, single);
  });
}

Ir widen_narrow(Function& f, const Ir& bits, DType narrow) {
  const std::string stem = fmt::format("from_{}", name(narrow));
  return helper(f, stem, bits.type.with(Scalar::f32), {bits}, [&](Function& inner, const std::vector<Ir>& p) {
    return narrow == DType::bf16 ? bf16_value(inner, p[0]) : f16_value(inner, p[0]);
  });
}

namespace {

struct Words {
  Ir w[4];
};

// Ten rounds of Philox 4x32 on the counters. Words lie in i64 lanes with zeros above, so that a product is one
// instruction that multiplies the low halves.
Words philox_rounds(Function& f, const Ir& seed, const Ir& counter, const Ir& offset) {
  const int lanes = counter.type.lanes;
  const auto low = [&](const Ir& v) { return f.binary("and", v, integer(v.type, 0xFFFFFFFF)); };
  const auto high = [&](const Ir& v) { return f.binary("lshr", v, integer(v.type, 32)); };
  Words c{{low(counter), high(counter), f.splat(low(offset), lanes), f.splat(high(offset), lanes)}};
  Ir key0 = low(seed), key1 = high(seed);
  for (int round = 0; round < 10; ++round) {
    const Ir p0 = f.binary("mul", c.w[0], integer(counter.type, 0xD2511F53));
    const Ir p1 = f.binary("mul", c.w[2], integer(counter.type, 0xCD9E8D57));
    const Ir x0 = f.binary("xor", f.binary("xor", high(p1), c.w[1]), f.splat(key0, lanes));
    const Ir x2 = f.binary("xor", f.binary("xor", high(p0), c.w[3]), f.splat(key1, lanes));
    c = {{x0, low(p1), x2, low(p0)}};
    key0 = low(f.binary("add", key0, integer(key0.type, 0x9E3779B9)));
    key1 = low(f.binary("add", key1, integer(key1.type, 0xBB67AE85)));
  }
  for (Ir& word : c.w) word = f.cast("trunc", word, word.type.with(Scalar::i32));
  return c;
}

Ir uniform_of_word(Function& f, const Ir& word) {
  const Type type = word.type.with(Scalar::f32);
  const Ir bits = f.binary("lshr", word, integer(word.type, 8));
  return f.binary("fmul", f.cast("sitofp", bits, type), number(type, 0x1p-24));
}

Ir join(Function& f, const Ir& a, const Ir& b) {
  const int lanes = a.type.lanes;
  const Type type{a.type.scalar, 2 * lanes};
  if (lanes == 1) return f.insert(f.insert({type, "poison"}, a, 0), b, 1);
  return f.define(
      type, fmt::format("shufflevector {}, {}, {}", a.typed(), b.typed(), iota({Scalar::i32, 2 * lanes}).typed()));
}

// Lane 4k + w of the result is lane k of word w.
Ir interleave(Function& f, const Words& c) {
  const Ir first = join(f, c.w[0], c.w[1]), second = join(f, c.w[2], c.w[3]);
  const int counters = c.w[0].type.lanes;
  std::string mask;
  for (int lane = 0; lane < 4 * counters; ++lane) {
    mask += fmt::format("{}i32 {}", lane == 0 ? "" : ", ", lane % 4 * counters + lane / 4);
  }
  return f.define({Scalar::i32, 4 * counters}, fmt::format("shufflevector {}, {}, <{} x i32> <{}>", first.typed(),
                                                           second.typed(), 4 * counters, mask));
}

}  // namespace

Ir uniform(Function& f, const Ir& seed, const Ir& index, uint64_t offset) {
  const std::vector<Ir> operands{seed, index, integer({Scalar::i64, 1}, int64_t(offset))};
  return helper(f, "uniform", index.type.with(Scalar::f32), operands, [&](Function& g, const std::vector<Ir>& p) {
    const Words c = philox_rounds(g, p[0], g.binary("lshr", p[1], integer(p[1].type, 2)), p[2]);
    const Ir which = g.binary("and", p[1], integer(p[1].type, 3));
    Ir word = c.w[0];
    for (int w = 1; w < 4; ++w) word = g.select(g.compare("icmp eq", which, integer(which.type, w)), c.w[w], word);
    return uniform_of_word(g, word);
  });
}

Ir uniform_run(Function& f, const Ir& seed, const Ir& first_index, uint64_t offset, int lanes) {
  const std::vector<Ir> operands{seed, first_index, integer({Scalar::i64, 1}, int64_t(offset))};
  const std::string stem = fmt::format("uniform_run{}", lanes);
  return helper(f, stem, {Scalar::f32, lanes}, operands, [&](Function& g, const std::vector<Ir>& p) {
    const int counters = lanes / 4;
    const Ir first = g.splat(g.binary("lshr", p[1], integer(p[1].type, 2)), counters);
    const Ir counter = counters == 1 ? first : g.binary("add", first, iota({Scalar::i64, counters}));
    return uniform_of_word(g, interleave(g, philox_rounds(g, p[0], counter, p[2])));
  });
}

}  // namespace plait::codegen::llvm
