#pragma once
// Rows of lanes as typed values, and loops over them.
#include <bit>
#include <cstdint>
#include <type_traits>

#include "sim/ptx/program.h"

namespace plait::sim::ptx {

struct Half {
  uint16_t bits;
};
struct Bfloat {
  uint16_t bits;
};

// What a lane of a register holds: types of 16 bits lie in the lower half of a word whose upper half is zero.
template <class T>
using Slot = std::conditional_t<sizeof(T) == 8, uint64_t, uint32_t>;

template <class T>
inline T from_slot(Slot<T> slot) {
  if constexpr (sizeof(T) == 2)
    return std::bit_cast<T>(static_cast<uint16_t>(slot));
  else if constexpr (sizeof(T) == 1)
    return std::bit_cast<T>(static_cast<uint8_t>(slot));
  else
    return std::bit_cast<T>(slot);
}

template <class T>
inline Slot<T> to_slot(T value) {
  if constexpr (sizeof(T) == 2)
    return std::bit_cast<uint16_t>(value);
  else if constexpr (sizeof(T) == 1)
    return std::bit_cast<uint8_t>(value);
  else
    return std::bit_cast<Slot<T>>(value);
}

inline uint32_t* row32(Warp& warp, uint32_t row) { return warp.file + row; }
inline uint64_t* row64(Warp& warp, uint32_t row) { return reinterpret_cast<uint64_t*>(warp.file + row); }
template <class T>
inline Slot<T>* row(Warp& warp, uint32_t at) {
  if constexpr (sizeof(T) == 8)
    return row64(warp, at);
  else
    return row32(warp, at);
}

// out[lane] = fn(lane) for the executing lanes. `out` may be a row that fn reads at the same lane.
template <class Word, class Fn>
inline void for_lanes(const Warp& warp, Word* out, Fn fn) {
  if (warp.exec == ~0u) {
#ifndef __clang__  // which asks at run time
#pragma GCC ivdep
#endif
    for (int lane = 0; lane < kLanes; ++lane) out[lane] = fn(lane);
  } else {
    for (int lane = 0; lane < kLanes; ++lane)
      if ((warp.exec >> lane & 1) != 0) out[lane] = fn(lane);
  }
}

template <auto kFn, class D, class A>
void unary(Warp& warp, const Instruction& i) {
  const auto* a = row<A>(warp, i.a);
  for_lanes(warp, row<D>(warp, i.d), [=](int lane) { return to_slot<D>(kFn(from_slot<A>(a[lane]))); });
}

template <auto kFn, class D, class A, class B>
void binary(Warp& warp, const Instruction& i) {
  const auto* a = row<A>(warp, i.a);
  const auto* b = row<B>(warp, i.b);
  for_lanes(warp, row<D>(warp, i.d),
            [=](int lane) { return to_slot<D>(kFn(from_slot<A>(a[lane]), from_slot<B>(b[lane]))); });
}

template <auto kFn, class D, class A, class B, class C>
void ternary(Warp& warp, const Instruction& i) {
  const auto* a = row<A>(warp, i.a);
  const auto* b = row<B>(warp, i.b);
  const auto* c = row<C>(warp, i.c);
  for_lanes(warp, row<D>(warp, i.d), [=](int lane) {
    return to_slot<D>(kFn(from_slot<A>(a[lane]), from_slot<B>(b[lane]), from_slot<C>(c[lane])));
  });
}

// Bits of fn(lane).
template <class Fn>
inline uint32_t mask_of(Fn fn) {
  uint32_t mask = 0;
  for (int lane = 0; lane < kLanes; ++lane) mask |= static_cast<uint32_t>(fn(lane)) << lane;
  return mask;
}

inline void set_predicate(Warp& warp, uint32_t number, uint32_t mask) {
  uint32_t& out = warp.predicates[number];
  out = (out & ~warp.exec) | (mask & warp.exec);
}

// fn(T{}) for the C++ type of a PTX type; untyped bits are unsigned. Null for types outside the family.
template <class Fn>
Handler for_integer(Type type, Fn fn) {
  switch (type) {
    case Type::b16:
    case Type::u16:
      return fn(uint16_t());
    case Type::b32:
    case Type::u32:
      return fn(uint32_t());
    case Type::b64:
    case Type::u64:
      return fn(uint64_t());
    case Type::s16:
      return fn(int16_t());
    case Type::s32:
      return fn(int32_t());
    case Type::s64:
      return fn(int64_t());
    default:
      return nullptr;
  }
}

// fn of untyped words of 16, 32 or 64 bits.
template <class Fn>
Handler for_bits(Type type, Fn fn) {
  switch (bits_of(type)) {
    case 16:
      return fn(uint16_t());
    case 32:
      return fn(uint32_t());
    case 64:
      return fn(uint64_t());
    default:
      return nullptr;
  }
}

template <class Fn>
Handler choose(bool first, Fn fn) {
  return first ? fn(std::true_type()) : fn(std::false_type());
}

}  // namespace plait::sim::ptx
