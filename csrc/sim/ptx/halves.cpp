// Arithmetic of f16 and bf16, alone and in pairs: computed exactly enough in double, rounded once.
#include "sim/ptx/families.h"
#include "sim/ptx/numbers.h"

namespace plait::sim::ptx {
namespace {

enum class HalfOp : uint8_t { add, sub, mul, fma, neg, abs, min, max, min_nan, max_nan };

template <class T, bool kFtz>
double value_of(uint16_t bits) {
  const float x = widened(T{bits});
  if constexpr (std::is_same_v<T, Half> && kFtz) return std::fabs(x) < 0x1p-14f ? std::copysign(0.0, x) : x;
  return x;
}

template <class T, bool kFtz>
uint16_t flushed_bits(uint16_t bits) {
  if (kFtz && std::is_same_v<T, Half> && (bits & 0x7c00) == 0) return bits & 0x8000;
  return bits;
}

template <class T, bool kFtz, bool kSmaller, bool kNan>
uint16_t extremum(uint16_t a, uint16_t b) {
  a = flushed_bits<T, kFtz>(a);
  b = flushed_bits<T, kFtz>(b);
  const float x = widened(T{a}), y = widened(T{b});
  if (x != x || y != y) {
    if (kNan || (x != x && y != y)) return 0x7fff;
    return x != x ? b : a;
  }
  if (x == y) return std::signbit(x) == kSmaller ? a : b;
  return (x < y) == kSmaller ? a : b;
}

template <HalfOp kOp, class T, bool kFtz, bool kSat>
uint16_t compute(uint16_t a, uint16_t b, uint16_t c) {
  if constexpr (kOp == HalfOp::neg) return flushed_bits<T, kFtz>(a ^ 0x8000);
  if constexpr (kOp == HalfOp::abs) return flushed_bits<T, kFtz>(a & 0x7fff);
  if constexpr (kOp >= HalfOp::min)
    return extremum < T, kFtz, kOp == HalfOp::min || kOp == HalfOp::min_nan, (kOp >= HalfOp::min_nan) > (a, b);
  const double x = value_of<T, kFtz>(a), y = value_of<T, kFtz>(b), z = value_of<T, kFtz>(c);
  double exact = 0;  // or rounded to odd
  if constexpr (kOp == HalfOp::add) exact = odd_sum(x, y);
  if constexpr (kOp == HalfOp::sub) exact = odd_sum(x, -y);
  if constexpr (kOp == HalfOp::mul) exact = x * y;
  if constexpr (kOp == HalfOp::fma) exact = odd_sum(x * y, z);
  if constexpr (kSat) exact = saturated_unit(exact);
  return flushed_bits<T, kFtz>(narrowed<T>(exact, Round::rn).bits);
}

template <HalfOp kOp, class T, bool kFtz, bool kSat>
uint32_t pair_of(uint32_t a, uint32_t b, uint32_t c) {
  const auto half = [&](int shift) {
    return uint32_t(compute<kOp, T, kFtz, kSat>(uint16_t(a >> shift), uint16_t(b >> shift), uint16_t(c >> shift)));
  };
  return half(0) | half(16) << 16;
}

template <HalfOp kOp, class T>
Handler by_form(bool pair, bool ftz, bool sat) {
  return choose(ftz, [&](auto f) {
    return choose(sat, [&](auto s) -> Handler {
      using U = uint32_t;
      using H = uint16_t;
      return pair ? ternary<pair_of<kOp, T, f.value, s.value>, U, U, U, U>
                  : ternary<compute<kOp, T, f.value, s.value>, H, H, H, H>;
    });
  });
}

template <HalfOp kOp>
Handler by_type(Type type, bool ftz, bool sat) {
  const bool pair = type == Type::f16x2 || type == Type::bf16x2;
  if (type == Type::f16 || type == Type::f16x2) return by_form<kOp, Half>(pair, ftz, sat);
  if (type != Type::bf16 && type != Type::bf16x2) return nullptr;
  return ftz || sat ? nullptr : by_form<kOp, Bfloat>(pair, false, false);
}

Handler handler_of(HalfOp op, Type type, bool ftz, bool sat) {
  switch (op) {
    case HalfOp::add:
      return by_type<HalfOp::add>(type, ftz, sat);
    case HalfOp::sub:
      return by_type<HalfOp::sub>(type, ftz, sat);
    case HalfOp::mul:
      return by_type<HalfOp::mul>(type, ftz, sat);
    case HalfOp::fma:
      return by_type<HalfOp::fma>(type, ftz, sat);
    case HalfOp::neg:
      return by_type<HalfOp::neg>(type, ftz, sat);
    case HalfOp::abs:
      return by_type<HalfOp::abs>(type, ftz, sat);
    case HalfOp::min:
      return by_type<HalfOp::min>(type, ftz, sat);
    case HalfOp::max:
      return by_type<HalfOp::max>(type, ftz, sat);
    case HalfOp::min_nan:
      return by_type<HalfOp::min_nan>(type, ftz, sat);
    case HalfOp::max_nan:
      return by_type<HalfOp::max_nan>(type, ftz, sat);
  }
  return nullptr;
}

}  // namespace

void decode_half_arithmetic(Decoder& d, Type type) {
  const std::string_view what = d.mnemonic();
  if (what == "mad") d.refuse("`mad` of halves");
  const HalfOp op = what == "add"   ? HalfOp::add
                    : what == "sub" ? HalfOp::sub
                    : what == "mul" ? HalfOp::mul
                                    : HalfOp::fma;
  d.take("rn");
  const bool ftz = d.take("ftz"), sat = d.take("sat");
  d.need_operands(op == HalfOp::fma ? 4 : 3);
  d.emit(handler_of(op, type, ftz, sat), d.target(0, type), d.source(1, type), d.source(2, type),
         op == HalfOp::fma ? d.source(3, type) : 0);
}

void decode_half_sign(Decoder& d, Type type) {
  const bool ftz = d.take("ftz");
  d.need_operands(2);
  d.emit(handler_of(d.mnemonic() == "neg" ? HalfOp::neg : HalfOp::abs, type, ftz, false), d.target(0, type),
         d.source(1, type));
}

void decode_half_extremum(Decoder& d, Type type) {
  const bool ftz = d.take("ftz"), nan = d.take("NaN"), smaller = d.mnemonic() == "min";
  d.need_operands(3);
  const HalfOp op = smaller ? (nan ? HalfOp::min_nan : HalfOp::min) : (nan ? HalfOp::max_nan : HalfOp::max);
  d.emit(handler_of(op, type, ftz, false), d.target(0, type), d.source(1, type), d.source(2, type));
}

}  // namespace plait::sim::ptx
