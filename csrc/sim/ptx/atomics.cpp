// Atomics (atom) and those without the value before (red): lanes one after the other.
#include <algorithm>
#include <cstring>

#include "base/error.h"
#include "sim/ptx/addresses.h"
#include "sim/ptx/numbers.h"

namespace plait::sim::ptx {
namespace {

enum class Atomic : uint8_t { add, min, max, band, bor, bxor, exchange, compare, increment, decrement };

// The type of an element in memory, the width of its register and how it adds.
template <class T>
struct Number {
  using Bits = T;
  static T add(T a, T b) {
    return static_cast<T>(static_cast<std::make_unsigned_t<T>>(a) + static_cast<std::make_unsigned_t<T>>(b));
  }
};
// In global memory denormals are zeros, as operands and as results.
template <bool kFtz>
struct Single {
  using Bits = uint32_t;
  static Bits add(Bits a, Bits b) {
    const float x = flushed<kFtz>(std::bit_cast<float>(a)), y = flushed<kFtz>(std::bit_cast<float>(b));
    return std::bit_cast<Bits>(canonical(flushed<kFtz>(x + y)));
  }
};
struct Double {
  using Bits = uint64_t;
  static Bits add(Bits a, Bits b) { return std::bit_cast<Bits>(std::bit_cast<double>(a) + std::bit_cast<double>(b)); }
};
template <class T>
struct Narrow {
  using Bits = uint16_t;
  static Bits add(Bits a, Bits b) { return narrowed<T>(odd_sum(widened(T{a}), widened(T{b})), Round::rn).bits; }
};
template <class T>
struct NarrowPair {
  using Bits = uint32_t;
  static Bits add(Bits a, Bits b) {
    const auto half = [&](int shift) {
      return uint32_t(Narrow<T>::add(static_cast<uint16_t>(a >> shift), static_cast<uint16_t>(b >> shift)));
    };
    return half(0) | half(16) << 16;
  }
};

// What is in memory afterwards; `b`, `c`: the operands.
template <Atomic kOp, class N>
typename N::Bits after(typename N::Bits before, typename N::Bits b, typename N::Bits c) {
  using T = typename N::Bits;
  if constexpr (kOp == Atomic::add) return N::add(before, b);
  if constexpr (kOp == Atomic::min) return std::min(before, b);
  if constexpr (kOp == Atomic::max) return std::max(before, b);
  if constexpr (kOp == Atomic::band) return before & b;
  if constexpr (kOp == Atomic::bor) return before | b;
  if constexpr (kOp == Atomic::bxor) return before ^ b;
  if constexpr (kOp == Atomic::exchange) return b;
  if constexpr (kOp == Atomic::compare) return before == b ? c : before;
  if constexpr (kOp == Atomic::increment) return before >= b ? T(0) : static_cast<T>(before + 1);
  if constexpr (kOp == Atomic::decrement) return before == 0 || before > b ? b : static_cast<T>(before - 1);
}

// Program::rows from `target` on: of each element b, then of each c (compare), then of each the result.
template <Atomic kOp, class N, Where kWhere, bool kResult>
void atomic_lanes(Warp& warp, const Instruction& i) {
  using T = typename N::Bits;
  const uint32_t* rows = warp.run->program->rows.data() + i.target;
  const int count = i.count, results = kOp == Atomic::compare ? 2 * count : count;
  access_lanes<kWhere, false>(warp, i, [](int, const uint8_t*) {});
  access_lanes<kWhere, true>(warp, i, [&](int lane, uint8_t* at) {
    const auto operand = [&](int k) {
      return sizeof(T) == 8 ? static_cast<T>(row64(warp, rows[k])[lane]) : static_cast<T>(row32(warp, rows[k])[lane]);
    };
    for (int k = 0; k < count; ++k, at += sizeof(T)) {
      T before;
      std::memcpy(&before, at, sizeof before);
      const T now = after<kOp, N>(before, operand(k), kOp == Atomic::compare ? operand(count + k) : T(0));
      std::memcpy(at, &now, sizeof now);
      if constexpr (!kResult) continue;
      if constexpr (sizeof(T) == 8)
        row64(warp, rows[results + k])[lane] = static_cast<uint64_t>(before);
      else
        row32(warp, rows[results + k])[lane] = static_cast<std::make_unsigned_t<T>>(before);
    }
  });
}

// ---- Decoding.

// fn(N) for the number of a type that takes part in an operation; null where it does not.
template <class Fn>
Handler for_integers(Type type, Fn fn) {
  switch (type) {
    case Type::u32:
      return fn(Number<uint32_t>());
    case Type::s32:
      return fn(Number<int32_t>());
    case Type::u64:
      return fn(Number<uint64_t>());
    case Type::s64:
      return fn(Number<int64_t>());
    default:
      return nullptr;
  }
}

template <class Fn>
Handler for_untyped(Type type, Fn fn) {
  return type == Type::b32 ? fn(Number<uint32_t>()) : type == Type::b64 ? fn(Number<uint64_t>()) : nullptr;
}

template <bool kFtz, class Fn>
Handler for_sums(Type type, Fn fn) {
  switch (type) {
    case Type::f32:
      return fn(Single<kFtz>());
    case Type::f64:
      return fn(Double());
    case Type::f16:
      return fn(Narrow<Half>());
    case Type::bf16:
      return fn(Narrow<Bfloat>());
    case Type::f16x2:
      return fn(NarrowPair<Half>());
    case Type::bf16x2:
      return fn(NarrowPair<Bfloat>());
    default:
      return for_integers(type, fn);
  }
}

template <Where kWhere, bool kResult>
Handler handler_of(Atomic op, Type type) {
  const auto form = [&]<Atomic kOp>() {
    return [](auto number) -> Handler { return atomic_lanes<kOp, decltype(number), kWhere, kResult>; };
  };
  switch (op) {
    case Atomic::add:
      return for_sums < kWhere != Where::shared > (type, form.template operator()<Atomic::add>());
    case Atomic::min:
      return for_integers(type, form.template operator()<Atomic::min>());
    case Atomic::max:
      return for_integers(type, form.template operator()<Atomic::max>());
    case Atomic::band:
      return for_untyped(type, form.template operator()<Atomic::band>());
    case Atomic::bor:
      return for_untyped(type, form.template operator()<Atomic::bor>());
    case Atomic::bxor:
      return for_untyped(type, form.template operator()<Atomic::bxor>());
    case Atomic::exchange:
      return for_untyped(type, form.template operator()<Atomic::exchange>());
    case Atomic::compare:
      return for_untyped(type, form.template operator()<Atomic::compare>());
    case Atomic::increment:
      return type == Type::u32 ? Handler(atomic_lanes<Atomic::increment, Number<uint32_t>, kWhere, kResult>) : nullptr;
    case Atomic::decrement:
      return type == Type::u32 ? Handler(atomic_lanes<Atomic::decrement, Number<uint32_t>, kWhere, kResult>) : nullptr;
  }
  return nullptr;
}

template <Where kWhere>
Handler handler_of(Atomic op, Type type, bool result) {
  return result ? handler_of<kWhere, true>(op, type) : handler_of<kWhere, false>(op, type);
}

}  // namespace

void decode_atomic(Decoder& d) {
  const bool result = d.mnemonic() == "atom";
  AccessWords words = take_access_words(d);
  words.strong = true;
  const Space space = words.space;
  if (space != Space::global && space != Space::shared && space != Space::generic) d.refuse("an atomic in this space");
  const int op = d.take_one({"add", "min", "max", "and", "or", "xor", "exch", "cas", "inc", "dec"});
  if (op < 0) d.refuse("an atomic operation that is not modelled");
  const auto atomic = static_cast<Atomic>(op);
  d.take("noftz");
  while (d.takes_prefix("L1::") || d.takes_prefix("L2::")) {}
  const int vector = d.take_one({"v2", "v4", "v8"}), count = vector < 0 ? 1 : 2 << vector;
  const Type type = d.take_type();
  if (count > 1 && (atomic != Atomic::add || space != Space::global)) d.refuse("a vector of this operation");
  const size_t operands = atomic == Atomic::compare ? 2 : 1, first = result ? 1 : 0;
  d.need_operands(first + 1 + operands);
  std::vector<uint32_t> rows;
  const auto elements = [&](size_t index) {
    const Operand& operand = d.operand(index);
    if (count == 1) return std::vector<Operand>{operand};
    if (operand.elements.size() != static_cast<size_t>(count)) d.refuse("a vector of another length");
    return operand.elements;
  };
  for (size_t k = 0; k < operands; ++k)
    for (const Operand& each : elements(first + 1 + k)) rows.push_back(d.source(each, type));
  if (result)
    for (const Operand& each : elements(0)) rows.push_back(d.target(each, type));
  const int bytes = bits_of(type) / 8;
  const Address address =
      address_of(d, d.operand(first), space, static_cast<size_t>(count) * static_cast<size_t>(bytes));
  const uint32_t place = d.rows(rows);
  Instruction& added = d.emit(space == Space::shared   ? handler_of<Where::shared>(atomic, type, result)
                              : space == Space::global ? handler_of<Where::device>(atomic, type, result)
                                                       : handler_of<Where::generic>(atomic, type, result));
  place_access(added, address, count, bytes, words);
  added.update = 1;
  added.target = place;
  if (result) d.warps_wait();
  if (result && space != Space::shared) d.blocks_wait();
}

}  // namespace plait::sim::ptx
