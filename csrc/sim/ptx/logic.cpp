// Operations on bits.
#include <algorithm>

#include "sim/ptx/decoder.h"
#include "sim/ptx/lanes.h"

namespace plait::sim::ptx {
namespace {

constexpr auto kAnd = [](auto a, auto b) { return static_cast<decltype(a)>(a & b); };
constexpr auto kOr = [](auto a, auto b) { return static_cast<decltype(a)>(a | b); };
constexpr auto kXor = [](auto a, auto b) { return static_cast<decltype(a)>(a ^ b); };

template <auto kFn>
void logic_predicates(Warp& warp, const Instruction& i) {
  set_predicate(warp, i.d, kFn(warp.predicates[i.a], warp.predicates[i.b]));
}

void not_predicate(Warp& warp, const Instruction& i) { set_predicate(warp, i.d, ~warp.predicates[i.a]); }

template <class T>
constexpr int kBits = 8 * sizeof(T);

template <class T>
T shift_left(T a, uint32_t n) {
  return n >= uint32_t(kBits<T>) ? T(0) : static_cast<T>(a << n);
}

template <class T>  // of a signed type: the sign comes in
T shift_right(T a, uint32_t n) {
  if (n >= uint32_t(kBits<T>)) return std::is_signed_v<T> && a < 0 ? static_cast<T>(-1) : T(0);
  return static_cast<T>(a >> n);
}

uint64_t pair(uint32_t low, uint32_t high) { return uint64_t(high) << 32 | low; }

template <class T>
T extract(T a, uint32_t position, uint32_t length) {
  using U = std::make_unsigned_t<T>;
  constexpr uint32_t top = kBits<T> - 1;
  position &= 255;
  length &= 255;
  if (length == 0) return 0;
  const bool negative = std::is_signed_v<T> && (U(a) >> std::min(position + length - 1, top) & 1) != 0;
  const U bits = position > top ? U(0) : static_cast<U>(U(a) >> position);
  const uint32_t known = std::min(length, position > top ? 0 : top + 1 - position);
  const U mask = known > top ? ~U(0) : static_cast<U>((U(1) << known) - 1);
  return static_cast<T>((bits & mask) | (negative ? ~mask : U(0)));
}

template <class T>
T insert(T a, T b, uint32_t position, uint32_t length) {
  constexpr uint32_t top = kBits<T> - 1;
  position &= 255;
  length &= 255;
  if (length == 0 || position > top) return b;
  const T ones = length > top ? ~T(0) : static_cast<T>((T(1) << length) - 1);
  const T mask = static_cast<T>(ones << position);
  return static_cast<T>((b & ~mask) | (static_cast<T>(a << position) & mask));
}

template <class T>
void insert_lanes(Warp& warp, const Instruction& i) {
  const Slot<T>*a = row<T>(warp, i.a), *b = row<T>(warp, i.b);
  const uint32_t *position = row32(warp, i.c), *length = row32(warp, i.e);
  for_lanes(warp, row<T>(warp, i.d), [=](int lane) {
    return to_slot<T>(insert(from_slot<T>(a[lane]), from_slot<T>(b[lane]), position[lane], length[lane]));
  });
}

uint32_t permute(uint32_t a, uint32_t b, uint32_t selector) {
  const uint64_t bytes = pair(a, b);
  uint32_t out = 0;
  for (int i = 0; i < 4; ++i) {
    const uint32_t which = selector >> 4 * i & 15;
    const uint32_t byte = static_cast<uint32_t>(bytes >> 8 * (which & 7)) & 255;
    const uint32_t value = (which & 8) == 0 ? byte : (byte & 128) != 0 ? 255u : 0u;
    out |= value << 8 * i;
  }
  return out;
}

void lop3_lanes(Warp& warp, const Instruction& i) {
  const uint32_t *a = row32(warp, i.a), *b = row32(warp, i.b), *c = row32(warp, i.c);
  const int64_t table = i.immediate;
  for_lanes(warp, row32(warp, i.d), [=](int lane) {
    uint32_t out = 0;
    for (int k = 0; k < 8; ++k) {
      if ((table >> k & 1) == 0) continue;
      out |= ((k & 4) != 0 ? a[lane] : ~a[lane]) & ((k & 2) != 0 ? b[lane] : ~b[lane]) &
             ((k & 1) != 0 ? c[lane] : ~c[lane]);
    }
    return out;
  });
}

template <class T>
T reversed(T a) {
  T out = 0;
  for (int i = 0; i < kBits<T>; ++i) out |= static_cast<T>(a >> i & 1) << (kBits<T> - 1 - i);
  return out;
}

// The highest bit that differs from the sign, ~0 if there is none.
template <class T>
uint32_t highest(T a) {
  using U = std::make_unsigned_t<T>;
  const U bits = static_cast<U>(std::is_signed_v<T> && a < 0 ? ~a : a);
  return bits == 0 ? ~0u : static_cast<uint32_t>(kBits<T> - 1 - std::countl_zero(bits));
}

}  // namespace

void decode_logic(Decoder& d) {
  const Type type = d.take_type();
  const int which = d.mnemonic() == "and" ? 0 : d.mnemonic() == "or" ? 1 : d.mnemonic() == "xor" ? 2 : 3;
  d.need_operands(which == 3 ? 2 : 3);
  if (type == Type::pred) {
    const uint32_t out = d.predicate_target(d.operand(0)), a = d.predicate(d.operand(1));
    if (which == 3)
      d.emit(not_predicate, out, a);
    else
      d.emit(which == 0   ? logic_predicates<kAnd>
             : which == 1 ? logic_predicates<kOr>
                          : logic_predicates<kXor>,
             out, a, d.predicate(d.operand(2)));
    return;
  }
  const Handler handler = for_bits(type, [&]<class T>(T) -> Handler {
    if (which == 0) return binary<kAnd, T, T, T>;
    if (which == 1) return binary<kOr, T, T, T>;
    if (which == 2) return binary<kXor, T, T, T>;
    return unary<[](T a) { return static_cast<T>(~a); }, T, T>;
  });
  d.emit(class_of(type) == TypeClass::bits ? handler : nullptr, d.target(0, type), d.source(1, type),
         which == 3 ? 0 : d.source(2, type));
}

void decode_shift(Decoder& d) {
  const Type type = d.take_type();
  d.need_operands(3);
  const bool left = d.mnemonic() == "shl";
  const Handler handler = for_integer(type, [&]<class T>(T) -> Handler {
    if (!left) return binary<shift_right<T>, T, T, uint32_t>;
    if constexpr (!std::is_signed_v<T>) return binary<shift_left<T>, T, T, uint32_t>;
    return nullptr;
  });
  d.emit(handler, d.target(0, type), d.source(1, type), d.source(2, Type::u32));
}

namespace {

template <bool kLeft, bool kWraps>
uint32_t funnel(uint32_t low, uint32_t high, uint32_t n) {
  n = kWraps ? n & 31 : std::min(n, 32u);
  const uint64_t both = pair(low, high);
  return static_cast<uint32_t>(kLeft ? both >> (32 - n) : both >> n);
}

}  // namespace

void decode_funnel(Decoder& d) {
  const int left = d.take_one({"l", "r"}), wraps = d.take_one({"clamp", "wrap"});
  const Type type = d.take_type();
  d.need_operands(4);
  if (left < 0 || wraps < 0 || type != Type::b32) d.refuse("this form of `shf` is not modelled");
  using U = uint32_t;
  const Handler handler = choose(left == 0, [&](auto l) {
    return choose(wraps == 1, [](auto w) -> Handler {
      return ternary<funnel<decltype(l)::value, decltype(w)::value>, U, U, U, U>;
    });
  });
  d.emit(handler, d.target(0, type), d.source(1, type), d.source(2, type), d.source(3, Type::u32));
}

void decode_lop3(Decoder& d) {
  const Type type = d.take_type();
  d.need_operands(5);
  if (d.operand(4).kind != Operand::Kind::integer || d.operand(4).bits > 255) d.refuse("the table is no literal");
  d.emit(type == Type::b32 ? lop3_lanes : nullptr, d.target(0, type), d.source(1, type), d.source(2, type),
         d.source(3, type))
      .immediate = static_cast<int64_t>(d.operand(4).bits);
}

void decode_prmt(Decoder& d) {
  const Type type = d.take_type();
  d.need_operands(4);
  d.emit(type == Type::b32 ? ternary<permute, uint32_t, uint32_t, uint32_t, uint32_t> : nullptr, d.target(0, type),
         d.source(1, type), d.source(2, type), d.source(3, Type::u32));
}

void decode_bfe(Decoder& d) {
  const Type type = d.take_type();
  d.need_operands(4);
  const Handler handler = for_integer(type, []<class T>(T) -> Handler {
    if constexpr (sizeof(T) >= 4) return ternary<extract<T>, T, T, uint32_t, uint32_t>;
    return nullptr;
  });
  d.emit(handler, d.target(0, type), d.source(1, type), d.source(2, Type::u32), d.source(3, Type::u32));
}

void decode_bfi(Decoder& d) {
  const Type type = d.take_type();
  d.need_operands(5);
  const Handler handler = type == Type::b32   ? Handler(insert_lanes<uint32_t>)
                          : type == Type::b64 ? Handler(insert_lanes<uint64_t>)
                                              : nullptr;
  const uint32_t length = d.source(4, Type::u32);
  d.emit(handler, d.target(0, type), d.source(1, type), d.source(2, type), d.source(3, Type::u32)).e = length;
}

void decode_count_bits(Decoder& d) {
  const std::string_view what = d.mnemonic();
  const bool amount = what == "bfind" && d.take("shiftamt");
  const Type type = d.take_type();
  d.need_operands(2);
  const Handler handler = for_integer(type, [&]<class T>(T) -> Handler {
    if constexpr (sizeof(T) >= 4) {
      if (what == "bfind")
        return amount ? unary<[](T a) { return highest(a) == ~0u ? ~0u : uint32_t(kBits<T> - 1) - highest(a); },
                              uint32_t, T>
                      : unary<highest<T>, uint32_t, T>;
      if constexpr (!std::is_signed_v<T>) {
        if (what == "brev") return unary<reversed<T>, T, T>;
        if (what == "popc") return unary<[](T a) { return uint32_t(std::popcount(a)); }, uint32_t, T>;
        return unary<[](T a) { return uint32_t(std::countl_zero(a)); }, uint32_t, T>;
      }
    }
    return nullptr;
  });
  d.emit(handler, d.target(0, what == "brev" ? type : Type::u32), d.source(1, type));
}

}  // namespace plait::sim::ptx
