// Arithmetic of f32 and f64.
#include <cmath>

#include "sim/ptx/families.h"
#include "sim/ptx/numbers.h"

namespace plait::sim::ptx {
namespace {

enum class Op : uint8_t { add, sub, mul, fma, div, sqrt, rcp };

template <class T, bool kFtz>
T in(T x) {
  if constexpr (std::is_same_v<T, float>) return flushed<kFtz>(x);
  return x;
}

template <class T, bool kFtz, bool kSat>
T out(T x) {
  if constexpr (std::is_same_v<T, float>) x = flushed<kFtz>(x);
  return kSat ? saturated_unit(x) : canonical(x);
}

template <Op kOp, class T>
T compute(T a, T b, T c) {
  switch (kOp) {
    case Op::add:
      return a + b;
    case Op::sub:
      return a - b;
    case Op::mul:
      return a * b;
    case Op::fma:
      return std::fma(a, b, c);
    case Op::div:
      return a / b;
    case Op::sqrt:
      return std::sqrt(a);
    case Op::rcp:
      return T(1) / a;
  }
  __builtin_unreachable();
}

template <Op kOp, class T, bool kFtz, bool kSat>
void lanes(Warp& warp, const Instruction& i) {
  const Slot<T>*a = row<T>(warp, i.a), *b = row<T>(warp, i.b), *c = row<T>(warp, i.c);
  for_lanes(warp, row<T>(warp, i.d), [=](int lane) {
    const auto value = [lane](const Slot<T>* from) { return in<T, kFtz>(from_slot<T>(from[lane])); };
    return to_slot<T>(out<T, kFtz, kSat>(compute<kOp>(value(a), value(b), value(c))));
  });
}

template <Op kOp, class T, bool kFtz, bool kSat>
void rounded_lanes(Warp& warp, const Instruction& i) {
  const RoundingScope scope(static_cast<Round>(i.immediate));
  lanes<kOp, T, kFtz, kSat>(warp, i);
}

#if defined(__x86_64__)
// With the machine's fused multiply-add; elsewhere the library computes it.
template <class T, bool kFtz, bool kSat>
__attribute__((target("avx2,fma"))) void fused_lanes(Warp& warp, const Instruction& i) {
  const Slot<T>*a = row<T>(warp, i.a), *b = row<T>(warp, i.b), *c = row<T>(warp, i.c);
  Slot<T>* const to = row<T>(warp, i.d);
  Slot<T> results[kLanes];
  for (int lane = 0; lane < kLanes; ++lane) {
    const T x = in<T, kFtz>(from_slot<T>(a[lane])), y = in<T, kFtz>(from_slot<T>(b[lane]));
    const T z = in<T, kFtz>(from_slot<T>(c[lane]));
    T value;
    if constexpr (std::is_same_v<T, float>)
      value = __builtin_fmaf(x, y, z);
    else
      value = __builtin_fma(x, y, z);
    results[lane] = to_slot<T>(out<T, kFtz, kSat>(value));
  }
  for_lanes(warp, to, [&](int lane) { return results[lane]; });
}

template <class T, bool kFtz, bool kSat>
void rounded_fused_lanes(Warp& warp, const Instruction& i) {
  const RoundingScope scope(static_cast<Round>(i.immediate));
  fused_lanes<T, kFtz, kSat>(warp, i);
}

bool has_fused() { return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma"); }
#endif

template <Op kOp, class T, bool kFtz, bool kSat>
Handler by_rounding(Round round) {
#if defined(__x86_64__)
  if constexpr (kOp == Op::fma) {
    if (has_fused()) return round == Round::rn ? fused_lanes<T, kFtz, kSat> : rounded_fused_lanes<T, kFtz, kSat>;
  }
#endif
  return round == Round::rn ? lanes<kOp, T, kFtz, kSat> : rounded_lanes<kOp, T, kFtz, kSat>;
}

template <Op kOp>
Handler by_type(Type type, Round round, bool ftz, bool sat) {
  if (type == Type::f64) return ftz || sat ? nullptr : by_rounding<kOp, double, false, false>(round);
  if (type != Type::f32) return nullptr;
  return choose(ftz, [&](auto f) {
    return choose(sat, [&](auto s) { return by_rounding<kOp, float, f.value, s.value>(round); });
  });
}

Handler handler_of(Op op, Type type, Round round, bool ftz, bool sat) {
  switch (op) {
    case Op::add:
      return by_type<Op::add>(type, round, ftz, sat);
    case Op::sub:
      return by_type<Op::sub>(type, round, ftz, sat);
    case Op::mul:
      return by_type<Op::mul>(type, round, ftz, sat);
    case Op::fma:
      return by_type<Op::fma>(type, round, ftz, sat);
    case Op::div:
      return by_type<Op::div>(type, round, ftz, sat);
    case Op::sqrt:
      return by_type<Op::sqrt>(type, round, ftz, sat);
    case Op::rcp:
      return by_type<Op::rcp>(type, round, ftz, sat);
  }
  return nullptr;
}

// ---- Pairs of f32 in 64 bits.

template <Op kOp, bool kFtz>
uint64_t pair_of(uint64_t a, uint64_t b, uint64_t c) {
  const auto half = [&](int shift) {
    const auto value = [&](uint64_t from) { return in<float, kFtz>(std::bit_cast<float>(uint32_t(from >> shift))); };
    return uint64_t(std::bit_cast<uint32_t>(out<float, kFtz, false>(compute<kOp>(value(a), value(b), value(c)))));
  };
  return half(0) | half(32) << 32;
}

template <Op kOp>
Handler pairs(Round round, bool ftz) {
  if (round != Round::rn) return nullptr;
  using U = uint64_t;
  return ftz ? ternary<pair_of<kOp, true>, U, U, U, U> : ternary<pair_of<kOp, false>, U, U, U, U>;
}

Handler pair_handler(Op op, Round round, bool ftz) {
  return op == Op::add   ? pairs<Op::add>(round, ftz)
         : op == Op::sub ? pairs<Op::sub>(round, ftz)
         : op == Op::mul ? pairs<Op::mul>(round, ftz)
                         : pairs<Op::fma>(round, ftz);
}

Op op_of(std::string_view mnemonic) {
  return mnemonic == "add" ? Op::add : mnemonic == "sub" ? Op::sub : mnemonic == "mul" ? Op::mul : Op::fma;
}

}  // namespace

// Without a rounding it is to nearest, and the assembler may fuse a product with a sum; here nothing is fused.
void decode_float_arithmetic(Decoder& d, Type type) {
  const Op op = op_of(d.mnemonic());
  const int round = d.take_one({"rn", "rz", "rm", "rp"});
  const bool ftz = d.take("ftz"), sat = d.take("sat");
  d.need_operands(op == Op::fma ? 4 : 3);
  if (op == Op::fma && round < 0) d.refuse("no rounding");
  const Round chosen = static_cast<Round>(std::max(round, 0));
  const Handler handler =
      type == Type::f32x2 ? (sat ? nullptr : pair_handler(op, chosen, ftz)) : handler_of(op, type, chosen, ftz, sat);
  d.emit(handler, d.target(0, type), d.source(1, type), d.source(2, type), op == Op::fma ? d.source(3, type) : 0)
      .immediate = static_cast<int64_t>(chosen);
}

namespace {

// Divisors above 2^126 give zero (and with an infinite dividend NaN): their reciprocal is a denormal.
template <bool kFtz>
float approximate_quotient(float a, float b) {
  a = flushed<kFtz>(a);
  b = flushed<kFtz>(b);
  const float size = std::fabs(b);
  if (size > 0x1p126f && std::isfinite(size)) return out<float, kFtz, false>(a * std::copysign(0.0f, b));
  return out<float, kFtz, false>(a / b);
}

}  // namespace

void decode_float_divide(Decoder& d, Type type) {
  if (d.mnemonic() != "div") d.refuse("a remainder of floats");
  const int round = d.take_one({"rn", "rz", "rm", "rp"}), fast = d.take_one({"full", "approx"});
  const bool ftz = d.take("ftz");
  d.need_operands(3);
  Handler handler = nullptr;
  if (round >= 0) {
    handler = handler_of(Op::div, type, static_cast<Round>(round), ftz, false);
  } else if (type == Type::f32 && fast == 0) {
    handler = handler_of(Op::div, type, Round::rn, ftz, false);
  } else if (type == Type::f32 && fast == 1) {
    handler = choose(ftz, [](auto f) -> Handler { return binary<approximate_quotient<f.value>, float, float, float>; });
  }
  d.emit(handler, d.target(0, type), d.source(1, type), d.source(2, type)).immediate = std::max(round, 0);
}

void decode_root(Decoder& d) {
  const int round = d.take_one({"rn", "rz", "rm", "rp"});
  const bool fast = d.take("approx"), ftz = d.take("ftz");
  const Type type = d.take_type();
  d.need_operands(2);
  const bool known = fast ? type == Type::f32 && round < 0 : round >= 0;
  d.emit(known ? handler_of(Op::sqrt, type, static_cast<Round>(std::max(round, 0)), ftz, false) : nullptr,
         d.target(0, type), d.source(1, type))
      .immediate = std::max(round, 0);
}

namespace {

// Only the upper words count: the operand's, and of the result 20 bits.
double gross_reciprocal(double x) {
  const double upper = std::bit_cast<double>(std::bit_cast<uint64_t>(x) & ~uint64_t(0xffffffff));
  if (std::isnan(x)) return std::bit_cast<double>(uint64_t(0x7fffffff) << 32);
  return std::bit_cast<double>(std::bit_cast<uint64_t>(flushed(1.0 / flushed(upper))) & ~uint64_t(0xffffffff));
}

}  // namespace

void decode_reciprocal(Decoder& d) {
  const int round = d.take_one({"rn", "rz", "rm", "rp"});
  const bool fast = d.take("approx"), ftz = d.take("ftz");
  const Type type = d.take_type();
  d.need_operands(2);
  Handler handler = nullptr;
  if (fast && type == Type::f64)
    handler = ftz && round < 0 ? unary<gross_reciprocal, double, double> : nullptr;
  else if (fast ? type == Type::f32 && round < 0 : round >= 0)
    handler = handler_of(Op::rcp, type, static_cast<Round>(std::max(round, 0)), ftz, false);
  d.emit(handler, d.target(0, type), d.source(1, type)).immediate = std::max(round, 0);
}

// ---- Signs and extrema.

namespace {

template <bool kFtz>
float negated(float x) {
  return flushed<kFtz>(std::bit_cast<float>(std::bit_cast<uint32_t>(x) ^ 0x80000000u));
}
template <bool kFtz>
float magnitude(float x) {
  return flushed<kFtz>(std::bit_cast<float>(std::bit_cast<uint32_t>(x) & 0x7fffffffu));
}
double negated_wide(double x) { return std::bit_cast<double>(std::bit_cast<uint64_t>(x) ^ uint64_t(1) << 63); }
double magnitude_wide(double x) { return std::bit_cast<double>(std::bit_cast<uint64_t>(x) & ~(uint64_t(1) << 63)); }

// Zeros are ordered by sign. One NaN: the other operand, with kNan NaN.
template <class T, bool kSmaller, bool kFtz, bool kNan>
T extremum(T a, T b) {
  a = in<T, kFtz>(a);
  b = in<T, kFtz>(b);
  if (std::isnan(a) || std::isnan(b)) {
    if (kNan || (std::isnan(a) && std::isnan(b))) return canonical(std::isnan(a) ? a : b);
    return std::isnan(a) ? b : a;
  }
  if (a == b) return std::signbit(a) == kSmaller ? a : b;
  return (a < b) == kSmaller ? a : b;
}

template <bool kSmaller>
Handler extremum_of(Type type, bool ftz, bool nan) {
  if (type == Type::f64)
    return ftz || nan ? nullptr : Handler(binary<extremum<double, kSmaller, false, false>, double, double, double>);
  if (type != Type::f32) return nullptr;
  return choose(ftz, [&](auto f) {
    return choose(nan, [&](auto n) -> Handler {
      return binary<extremum<float, kSmaller, f.value, n.value>, float, float, float>;
    });
  });
}

}  // namespace

void decode_float_sign(Decoder& d, Type type) {
  const bool negates = d.mnemonic() == "neg", ftz = d.take("ftz");
  d.need_operands(2);
  Handler handler = nullptr;
  if (type == Type::f32)
    handler = choose(ftz, [&](auto f) -> Handler {
      return negates ? unary<negated<f.value>, float, float> : unary<magnitude<f.value>, float, float>;
    });
  else if (type == Type::f64 && !ftz)
    handler = negates ? unary<negated_wide, double, double> : unary<magnitude_wide, double, double>;
  d.emit(handler, d.target(0, type), d.source(1, type));
}

void decode_float_extremum(Decoder& d, Type type) {
  const bool ftz = d.take("ftz"), nan = d.take("NaN");
  d.need_operands(3);
  d.emit(d.mnemonic() == "min" ? extremum_of<true>(type, ftz, nan) : extremum_of<false>(type, ftz, nan),
         d.target(0, type), d.source(1, type), d.source(2, type));
}

void decode_copysign(Decoder& d) {
  const Type type = d.take_type();
  d.need_operands(3);
  const Handler single = binary<[](uint32_t a, uint32_t b) { return (a & 0x80000000u) | (b & 0x7fffffffu); }, uint32_t,
                                uint32_t, uint32_t>;
  constexpr uint64_t kSign = uint64_t(1) << 63;
  const Handler wide =
      binary<[](uint64_t a, uint64_t b) { return (a & kSign) | (b & ~kSign); }, uint64_t, uint64_t, uint64_t>;
  d.emit(type == Type::f32   ? single
         : type == Type::f64 ? wide
                             : nullptr,
         d.target(0, type), d.source(1, type), d.source(2, type));
}

}  // namespace plait::sim::ptx
