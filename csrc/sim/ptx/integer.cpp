// Integer arithmetic.
#include <limits>

#include "base/error.h"
#include "sim/ptx/decoder.h"
#include "sim/ptx/families.h"
#include "sim/ptx/lanes.h"

namespace plait::sim::ptx {
namespace {

template <class T>
using Unsigned = std::make_unsigned_t<T>;

template <class T>
struct Twice;
template <>
struct Twice<uint16_t> {
  using type = uint32_t;
};
template <>
struct Twice<int16_t> {
  using type = int32_t;
};
template <>
struct Twice<uint32_t> {
  using type = uint64_t;
};
template <>
struct Twice<int32_t> {
  using type = int64_t;
};
template <>
struct Twice<uint64_t> {
  using type = unsigned __int128;
};
template <>
struct Twice<int64_t> {
  using type = __int128;
};

// Signed overflow wraps.
template <class T>
T wrap_add(T a, T b) {
  return static_cast<T>(static_cast<Unsigned<T>>(a) + static_cast<Unsigned<T>>(b));
}
template <class T>
T wrap_sub(T a, T b) {
  return static_cast<T>(static_cast<Unsigned<T>>(a) - static_cast<Unsigned<T>>(b));
}
template <class T>
T low_product(T a, T b) {
  return static_cast<T>(static_cast<Unsigned<T>>(uint64_t(Unsigned<T>(a)) * uint64_t(Unsigned<T>(b))));
}
template <class T>
T high_product(T a, T b) {
  using Wide = typename Twice<T>::type;
  return static_cast<T>((static_cast<Wide>(a) * static_cast<Wide>(b)) >> (8 * sizeof(T)));
}
template <class T>
typename Twice<T>::type wide_product(T a, T b) {
  using Wide = typename Twice<T>::type;
  return static_cast<Wide>(static_cast<Wide>(a) * static_cast<Wide>(b));
}

int32_t saturated(int64_t value) {
  return static_cast<int32_t>(std::min<int64_t>(std::max<int64_t>(value, std::numeric_limits<int32_t>::min()),
                                                std::numeric_limits<int32_t>::max()));
}

// A zero divisor is unspecified; hardware gives all ones and, as the remainder, the dividend.
template <class T>
T quotient(T a, T b) {
  if (b == 0) return static_cast<T>(-1);
  if (std::is_signed_v<T> && b == static_cast<T>(-1)) return wrap_sub(T(0), a);
  return static_cast<T>(a / b);
}
template <class T>
T remainder_of(T a, T b) {
  if (b == 0) return a;
  if (std::is_signed_v<T> && b == static_cast<T>(-1)) return 0;
  return static_cast<T>(a % b);
}

// Products of the parts of `a`, as type A, with as many parts of `b`, as type B, from `first` on, added to c modulo
// 2^32.
template <class A, class B, int first>
uint32_t dot(uint32_t a, uint32_t b, uint32_t c) {
  for (int i = 0; i < int(4 / sizeof(A)); ++i) {
    const int32_t x = static_cast<A>(a >> (8 * sizeof(A) * i)), y = static_cast<B>(b >> (8 * (first + i)));
    c += static_cast<uint32_t>(x * y);
  }
  return c;
}

template <class A, class B, int first>
constexpr Handler kDot = ternary<dot<A, B, first>, uint32_t, uint32_t, uint32_t, uint32_t>;

template <class Signed, class Unsigned, int first>
Handler dot_of(bool a, bool b) {
  if (a) return b ? kDot<Signed, int8_t, first> : kDot<Signed, uint8_t, first>;
  return b ? kDot<Unsigned, int8_t, first> : kDot<Unsigned, uint8_t, first>;
}

}  // namespace

void decode_dot(Decoder& d) {
  d.need_operands(4);
  const int part = d.mnemonic() == "dp4a" ? 2 : d.take_one({"lo", "hi"});
  const Type a = d.take_type(), b = d.take_type();
  for (Type type : {a, b})
    if (type != Type::u32 && type != Type::s32) d.refuse(fmt::format("`{}` of type .{}", d.mnemonic(), name(type)));
  if (part < 0) d.refuse("neither .lo nor .hi");
  const bool first = a == Type::s32, second = b == Type::s32;
  const Handler handler = part == 2   ? dot_of<int8_t, uint8_t, 0>(first, second)
                          : part == 0 ? dot_of<int16_t, uint16_t, 0>(first, second)
                                      : dot_of<int16_t, uint16_t, 2>(first, second);
  const Type sum = first || second ? Type::s32 : Type::u32;
  d.emit(handler, d.target(0, sum), d.source(1, a), d.source(2, b), d.source(3, sum));
}

void decode_integer_add(Decoder& d, Type type) {
  if (d.take("cc")) return decode_carried(d, type, true);
  d.need_operands(3);
  const bool adds = d.mnemonic() == "add";
  if (d.take("sat")) {
    if (type != Type::s32) d.refuse(".sat of another type than .s32");
    const Handler add =
        binary<[](int32_t a, int32_t b) { return saturated(int64_t(a) + b); }, int32_t, int32_t, int32_t>;
    const Handler sub =
        binary<[](int32_t a, int32_t b) { return saturated(int64_t(a) - b); }, int32_t, int32_t, int32_t>;
    d.emit(adds ? add : sub, d.target(0, type), d.source(1, type), d.source(2, type));
    return;
  }
  // Signed and unsigned wrap alike.
  const Handler handler = for_bits(
      type, [&]<class T>(T) -> Handler { return adds ? binary<wrap_add<T>, T, T, T> : binary<wrap_sub<T>, T, T, T>; });
  d.emit(is_integer(type) && class_of(type) != TypeClass::bits ? handler : nullptr, d.target(0, type),
         d.source(1, type), d.source(2, type));
}

void decode_integer_multiply(Decoder& d, Type type) {
  if (d.mnemonic() == "mad" && d.take("cc")) return decode_carried(d, type, true);
  const bool adds = d.mnemonic() == "mad";
  d.need_operands(adds ? 4 : 3);
  const int part = d.take_one({"lo", "hi", "wide"});
  if (part < 0) d.refuse("neither .lo nor .hi nor .wide");
  if (part == 2) {
    const Type wide = type == Type::u16   ? Type::u32
                      : type == Type::s16 ? Type::s32
                      : type == Type::u32 ? Type::u64
                      : type == Type::s32 ? Type::s64
                                          : Type::none;
    if (wide == Type::none) d.refuse(".wide of this type");
    const Handler handler = for_integer(type, [&]<class T>(T) -> Handler {
      if constexpr (sizeof(T) < 8) {
        using W = typename Twice<T>::type;
        return adds ? ternary<[](T a, T b, W c) { return wrap_add<W>(wide_product(a, b), c); }, W, T, T, W>
                    : binary<wide_product<T>, W, T, T>;
      }
      return nullptr;
    });
    d.emit(handler, d.target(0, wide), d.source(1, type), d.source(2, type), adds ? d.source(3, wide) : 0);
    return;
  }
  const Handler handler = for_integer(type, [&]<class T>(T) -> Handler {
    if (part == 0)
      return adds ? ternary<[](T a, T b, T c) { return wrap_add(low_product(a, b), c); }, T, T, T, T>
                  : binary<low_product<T>, T, T, T>;
    return adds ? ternary<[](T a, T b, T c) { return wrap_add(high_product(a, b), c); }, T, T, T, T>
                : binary<high_product<T>, T, T, T>;
  });
  d.emit(handler, d.target(0, type), d.source(1, type), d.source(2, type), adds ? d.source(3, type) : 0);
}

void decode_integer_divide(Decoder& d, Type type) {
  d.need_operands(3);
  const bool divides = d.mnemonic() == "div";
  const Handler handler = for_integer(type, [&]<class T>(T) -> Handler {
    return divides ? binary<quotient<T>, T, T, T> : binary<remainder_of<T>, T, T, T>;
  });
  d.emit(handler, d.target(0, type), d.source(1, type), d.source(2, type));
}

void decode_integer_sign(Decoder& d, Type type) {
  d.need_operands(2);
  const bool negates = d.mnemonic() == "neg";
  const Handler handler = for_integer(type, [&]<class T>(T) -> Handler {
    if constexpr (std::is_signed_v<T>)
      return negates ? unary<[](T a) { return wrap_sub(T(0), a); }, T, T>
                     : unary<[](T a) { return a < 0 ? wrap_sub(T(0), a) : a; }, T, T>;
    return nullptr;
  });
  d.emit(handler, d.target(0, type), d.source(1, type));
}

void decode_integer_extremum(Decoder& d, Type type) {
  d.need_operands(3);
  const bool smaller = d.mnemonic() == "min";
  const Handler handler = for_integer(type, [&]<class T>(T) -> Handler {
    return smaller ? binary<[](T a, T b) { return b < a ? b : a; }, T, T, T>
                   : binary<[](T a, T b) { return a < b ? b : a; }, T, T, T>;
  });
  d.emit(handler, d.target(0, type), d.source(1, type), d.source(2, type));
}

// ---- Instructions of both integers and floats.

namespace {

void by_type(Decoder& d, void (*integers)(Decoder&, Type), void (*floats)(Decoder&, Type),
             void (*halves)(Decoder&, Type)) {
  const Type type = d.take_type();
  const bool half = bits_of(type) == 16 || type == Type::f16x2 || type == Type::bf16x2;
  void (*chosen)(Decoder&, Type) = is_integer(type) ? integers : half ? halves : floats;
  if (chosen == nullptr) d.refuse(fmt::format("`{}` of type .{}", d.mnemonic(), name(type)));
  chosen(d, type);
}

}  // namespace

void decode_add(Decoder& d) { by_type(d, decode_integer_add, decode_float_arithmetic, decode_half_arithmetic); }
void decode_multiply(Decoder& d) {
  by_type(d, decode_integer_multiply, decode_float_arithmetic, decode_half_arithmetic);
}
void decode_divide(Decoder& d) { by_type(d, decode_integer_divide, decode_float_divide, nullptr); }
void decode_sign(Decoder& d) { by_type(d, decode_integer_sign, decode_float_sign, decode_half_sign); }
void decode_extremum(Decoder& d) { by_type(d, decode_integer_extremum, decode_float_extremum, decode_half_extremum); }
void decode_fma(Decoder& d) { by_type(d, nullptr, decode_float_arithmetic, decode_half_arithmetic); }

}  // namespace plait::sim::ptx
