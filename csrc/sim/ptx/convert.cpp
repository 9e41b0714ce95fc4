// Conversions.
#include <limits>

#include "sim/ptx/decoder.h"
#include "sim/ptx/numbers.h"

namespace plait::sim::ptx {
namespace {

// What a conversion does beside its types; kept in Instruction::immediate.
struct Spec {
  Round round = Round::rn;
  bool to_whole = false;  // .rni .rzi .rmi .rpi
  bool ftz = false, sat = false, relu = false, finite = false;
  bool wide_source = false, wide_target = false;  // registers of 64 bits
  bool half_target = false;                       // a register of 16 bits

  int64_t packed() const {
    return static_cast<int64_t>(round) | to_whole << 2 | ftz << 3 | sat << 4 | relu << 5 | finite << 6 |
           wide_source << 7 | wide_target << 8 | half_target << 9;
  }
  explicit Spec(int64_t bits)
      : round(static_cast<Round>(bits & 3)),
        to_whole(bits >> 2 & 1),
        ftz(bits >> 3 & 1),
        sat(bits >> 4 & 1),
        relu(bits >> 5 & 1),
        finite(bits >> 6 & 1),
        wide_source(bits >> 7 & 1),
        wide_target(bits >> 8 & 1),
        half_target(bits >> 9 & 1) {}
};

template <class T>
constexpr bool kIsNarrow = std::is_same_v<T, Half> || std::is_same_v<T, Bfloat>;
template <class T>
constexpr bool kIsFloat = kIsNarrow<T> || std::is_floating_point_v<T>;

template <class T>
double wide_value(T x) {
  if constexpr (kIsNarrow<T>)
    return widened(x);
  else
    return x;
}

template <class D, class S>
D integer_to_integer(S s, const Spec& spec) {
  if (!spec.sat) return static_cast<D>(s);
  const __int128 value = s, low = std::numeric_limits<D>::min(), high = std::numeric_limits<D>::max();
  return static_cast<D>(value < low ? low : value > high ? high : value);
}

// Saturates always. A NaN becomes 0, or the number of only the highest bit where a side has 64 bits.
template <class D, class S>
D float_to_integer(S s, const Spec& spec) {
  double x = wide_value(s);
  if (std::is_same_v<S, float> && spec.ftz) x = flushed<true>(static_cast<float>(x));
  if (x != x) {
    constexpr bool wide = sizeof(D) == 8 || std::is_same_v<S, double>;
    return wide ? static_cast<D>(std::make_unsigned_t<D>(1) << (8 * sizeof(D) - 1)) : D(0);
  }
  const double integer = rounded_integer(x, spec.round);
  if (integer <= static_cast<double>(std::numeric_limits<D>::min())) return std::numeric_limits<D>::min();
  if (integer >= std::ldexp(1.0, std::numeric_limits<D>::digits)) return std::numeric_limits<D>::max();
  return static_cast<D>(integer);
}

template <class D, class S>
D integer_to_float(S s, const Spec& spec) {
  if constexpr (kIsNarrow<D>) {
    using Wide = std::conditional_t<std::is_signed_v<S>, int64_t, uint64_t>;
    const D out = narrowed<D>(odd_double(static_cast<Wide>(s)), spec.round);
    return spec.sat ? narrowed<D>(saturated_unit(wide_value(out)), Round::rn) : out;
  } else {
    const D out = static_cast<D>(s);  // the caller has set the rounding
    return spec.sat ? saturated_unit(out) : out;
  }
}

template <class D>
D finish_narrow(double x, const Spec& spec) {
  D out = narrowed<D>(x, spec.round);
  const bool nan = (out.bits & 0x7fff) == 0x7fff;
  constexpr uint16_t infinity = std::is_same_v<D, Half> ? 0x7c00 : 0x7f80;
  if (spec.finite && !nan && (out.bits & 0x7fff) == infinity) out.bits -= 1;
  if (spec.relu && !nan && (out.bits & 0x8000) != 0) out.bits = 0;
  return out;
}

template <class D, class S>
D float_to_float(S s, const Spec& spec) {
  if constexpr (std::is_same_v<D, S> && kIsNarrow<D>) {
    if (!spec.to_whole && !spec.sat) return s;
  }
  double x = wide_value(s);
  if (std::is_same_v<S, float> && spec.ftz) x = flushed<true>(static_cast<float>(x));
  if (spec.to_whole) x = std::copysign(rounded_integer(x, spec.round), x);
  if (spec.sat) x = saturated_unit(x);
  if constexpr (kIsNarrow<D>) {
    return finish_narrow<D>(x, spec);
  } else if constexpr (std::is_same_v<D, float>) {
    const float out = static_cast<float>(x);  // the caller has set the rounding
    return canonical(spec.ftz ? flushed<true>(out) : out);
  } else {
    return x;
  }
}

template <class D, class S>
D converted(S s, const Spec& spec) {
  if constexpr (!kIsFloat<D> && !kIsFloat<S>)
    return integer_to_integer<D>(s, spec);
  else if constexpr (!kIsFloat<D>)
    return float_to_integer<D>(s, spec);
  else if constexpr (!kIsFloat<S>)
    return integer_to_float<D>(s, spec);
  else
    return float_to_float<D>(s, spec);
}

// The bits of a result in a register that may be wider: integers are extended.
template <class D>
uint64_t register_bits(D value) {
  if constexpr (std::is_integral_v<D>)
    return std::is_signed_v<D> ? static_cast<uint64_t>(static_cast<int64_t>(value)) : static_cast<uint64_t>(value);
  else
    return to_slot<D>(value);
}

template <class S, class D>
void convert_lanes(Warp& warp, const Instruction& i) {
  const Spec spec(i.immediate);
  // Whole numbers are rounded by value, all others by the machine.
  const RoundingScope scope(spec.to_whole || !kIsFloat<D> || kIsNarrow<D> ? Round::rn : spec.round);
  const auto value = [&](int lane) {
    const uint64_t bits = spec.wide_source ? row64(warp, i.a)[lane] : row32(warp, i.a)[lane];
    return register_bits(converted<D, S>(from_slot<S>(static_cast<Slot<S>>(bits)), spec));
  };
  if (spec.wide_target)
    for_lanes(warp, row64(warp, i.d), value);
  else if (spec.half_target)
    for_lanes(warp, row32(warp, i.d), [&](int lane) { return static_cast<uint32_t>(value(lane) & 0xffff); });
  else
    for_lanes(warp, row32(warp, i.d), [&](int lane) { return static_cast<uint32_t>(value(lane)); });
}

// fn(T{}) for the C++ type of a PTX type; 8 bits and floats included.
template <class Fn>
Handler for_any(Type type, Fn fn) {
  switch (type) {
    case Type::u8:
      return fn(uint8_t());
    case Type::s8:
      return fn(int8_t());
    case Type::f16:
      return fn(Half());
    case Type::bf16:
      return fn(Bfloat());
    case Type::f32:
      return fn(float());
    case Type::f64:
      return fn(double());
    default:
      return class_of(type) == TypeClass::bits ? nullptr : for_integer(type, fn);
  }
}

template <class D, class S>
D as_integer(S x) {
  return static_cast<D>(x);
}

Half nearest_half(float x) { return {x != x ? uint16_t(0x7fff) : f16_from_float(x)}; }
Bfloat nearest_bfloat(float x) { return {x != x ? uint16_t(0x7fff) : bf16_from_float(x)}; }

template <class D>
D nearest(float x) {
  if constexpr (std::is_same_v<D, Half>)
    return nearest_half(x);
  else
    return nearest_bfloat(x);
}

// The frequent ones, where nothing but the types matters and the registers have their sizes; null for all others.
Handler plain(Type from, Type to, const Spec& spec) {
  if (spec.packed() != Spec(0).packed()) return nullptr;
  if (from == Type::f16 && to == Type::f32) return unary<[](Half x) { return canonical(widened(x)); }, float, Half>;
  if (from == Type::bf16 && to == Type::f32)
    return unary<[](Bfloat x) { return canonical(widened(x)); }, float, Bfloat>;
  if (from == Type::f32 && to == Type::f16) return unary<nearest_half, Half, float>;
  if (from == Type::f32 && to == Type::bf16) return unary<nearest_bfloat, Bfloat, float>;
  if (!is_integer(from) || !is_integer(to) || bits_of(to) < 16) return nullptr;
  return for_any(from, [&]<class S>(S) {
    return for_integer(to, []<class D>(D) -> Handler {
      if constexpr (std::is_integral_v<S>) return unary<as_integer<D, S>, D, S>;
      return nullptr;
    });
  });
}

// d = {upper: a, lower: b}.
template <class D>
void pair_lanes(Warp& warp, const Instruction& i) {
  const uint32_t *upper = row32(warp, i.a), *lower = row32(warp, i.b);
  const Spec spec(i.immediate);
  const bool fast = spec.packed() == 0;
  for_lanes(warp, row32(warp, i.d), [=](int lane) {
    const float high = std::bit_cast<float>(upper[lane]), low = std::bit_cast<float>(lower[lane]);
    if (fast) return uint32_t(nearest<D>(high).bits) << 16 | nearest<D>(low).bits;
    return uint32_t(float_to_float<D>(high, spec).bits) << 16 | float_to_float<D>(low, spec).bits;
  });
}

Spec take_spec(Decoder& d, bool* rounded) {
  Spec spec(0);
  const int whole = d.take_one({"rni", "rzi", "rmi", "rpi"}), round = d.take_one({"rn", "rz", "rm", "rp"});
  spec.to_whole = whole >= 0;
  spec.round = static_cast<Round>(std::max({whole, round, 0}));
  spec.ftz = d.take("ftz");
  spec.sat = d.take("sat");
  spec.relu = d.take("relu");
  spec.finite = d.take("satfinite");
  *rounded = round >= 0;
  return spec;
}

bool is_narrow(Type type) { return bits_of(type) == 16 && is_float(type); }

void check_spec(const Decoder& d, Type from, Type to, const Spec& spec, bool rounded) {
  const bool f = is_float(from), t = is_float(to);
  const bool narrows = f && t && bits_of(to) < bits_of(from);
  if (f && !t && !spec.to_whole) d.refuse("a conversion to an integer without .rni, .rzi, .rmi or .rpi");
  if (!f && t && !rounded) d.refuse("a conversion to a float without a rounding");
  if (narrows && !rounded) d.refuse("a narrowing conversion without a rounding");
  if (!f && !t && (rounded || spec.to_whole)) d.refuse("a rounding between integers");
  if (f && t && from != to && bits_of(from) == 16 && bits_of(to) == 16) d.refuse("a conversion between f16 and bf16");
  if ((spec.relu || spec.finite) && (!is_narrow(to) || !f)) d.refuse(".relu or .satfinite of these types");
}

// To 10 bits of mantissa; a half goes away from zero, or to the even one.
template <bool kAway>
float to_tf32(float x) {
  const uint32_t bits = std::bit_cast<uint32_t>(x);
  if (x != x || (bits & 0x7f800000) == 0x7f800000) return canonical(x);
  return std::bit_cast<float>((bits + (kAway ? 0x1000 : 0xfff + (bits >> 13 & 1))) & ~uint32_t(0x1fff));
}

void decode_to_tf32(Decoder& d) {
  const bool away = d.take("rna");
  if (!away && !d.take("rn")) d.refuse("a conversion to tf32 of this form");
  d.need_target(away ? 80 : 90);
  if (d.take_type() != Type::f32) d.refuse("a conversion to tf32 of this type");
  d.need_operands(2);
  const Handler handler = away ? unary<to_tf32<true>, float, float> : unary<to_tf32<false>, float, float>;
  d.emit(handler, d.target(0, Type::b32), d.source(1, Type::f32));
}

uint8_t f8_from(float x, bool e4m3) {
  if (x != x) return 0x7f;
  return e4m3                                   ? f8e4m3_from_float(x)
         : std::isinf(x) || std::abs(x) > 57344 ? (x < 0 ? 0xfb : 0x7b)
                                                : f8e5m2_from_float(x);
}

// d of 16 bits = {upper: a, lower: b}; what is too large becomes the largest number.
template <bool kE4m3>
void pair_to_f8(Warp& warp, const Instruction& i) {
  const uint32_t *upper = row32(warp, i.a), *lower = row32(warp, i.b);
  for_lanes(warp, row32(warp, i.d), [=](int lane) {
    const float high = std::bit_cast<float>(upper[lane]), low = std::bit_cast<float>(lower[lane]);
    return uint32_t(f8_from(high, kE4m3)) << 8 | f8_from(low, kE4m3);
  });
}

template <bool kE4m3>
void pair_from_f8(Warp& warp, const Instruction& i) {
  const uint32_t* pair = row32(warp, i.a);
  for_lanes(warp, row32(warp, i.d), [=](int lane) {
    const auto half = [](uint8_t bits) {
      return uint32_t(nearest_half(kE4m3 ? f8e4m3_to_float(bits) : f8e5m2_to_float(bits)).bits);
    };
    return half(uint8_t(pair[lane] >> 8)) << 16 | half(uint8_t(pair[lane]));
  });
}

// Between pairs of f8 and of f32 or f16: saturated, or exact.
void decode_f8_pair(Decoder& d, bool e4m3) {
  d.need_target(89);
  if (!d.take("rn")) d.refuse("a conversion of f8 without .rn");
  if (d.take("satfinite")) {
    if (d.take_type() != Type::f32) d.refuse("a conversion to f8 of this type");
    d.need_operands(3);
    d.emit(e4m3 ? pair_to_f8<true> : pair_to_f8<false>, d.target(0, Type::b16), d.source(1, Type::f32),
           d.source(2, Type::f32));
    return;
  }
  if (d.take_type() != Type::f16x2) d.refuse("a conversion from f8 to this type");
  d.need_operands(2);
  d.emit(e4m3 ? pair_from_f8<true> : pair_from_f8<false>, d.target(0, Type::b32), d.source(1, Type::b16));
}

}  // namespace

void decode_convert(Decoder& d) {
  if (d.take("tf32")) return decode_to_tf32(d);
  if (const int f8 = d.take_one({"e4m3x2", "e5m2x2"}); f8 >= 0) return decode_f8_pair(d, f8 == 0);
  bool rounded = false;
  Spec spec = take_spec(d, &rounded);
  const Type to = d.take_type(), from = d.take_type();
  if (to == Type::f16x2 || to == Type::bf16x2) {
    d.need_operands(3);
    if (from != Type::f32 || !rounded || spec.ftz || spec.sat) d.refuse("a conversion to a pair of this form");
    d.emit(to == Type::f16x2 ? pair_lanes<Half> : pair_lanes<Bfloat>, d.target(0, to), d.source(1, from),
           d.source(2, from))
        .immediate = spec.packed();
    return;
  }
  d.need_operands(2);
  check_spec(d, from, to, spec, rounded);
  const int target_bits = d.register_bits(d.operand(0)), source_bits = d.register_bits(d.operand(1));
  const uint32_t target = d.target(d.operand(0), to, true), source = d.source(d.operand(1), from, true);
  const bool natural = target_bits == std::max(bits_of(to), 16) && (source_bits == 64) == (bits_of(from) == 64);
  if (const Handler handler = natural ? plain(from, to, spec) : nullptr) {
    d.emit(handler, target, source);
    return;
  }
  spec.wide_source = source_bits == 64 || (source_bits == 0 && bits_of(from) == 64);
  spec.wide_target = target_bits == 64 || (target_bits == 0 && bits_of(to) == 64);
  spec.half_target = target_bits == 16;
  const Handler handler =
      for_any(from, [&]<class S>(S) { return for_any(to, []<class D>(D) -> Handler { return convert_lanes<S, D>; }); });
  d.emit(handler, target, source).immediate = spec.packed();
}

}  // namespace plait::sim::ptx
