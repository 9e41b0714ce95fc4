#include "comm/local/reduce.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstddef>
#include <type_traits>

#include "base/error.h"
#include "scalar/convert.h"

namespace plait {
namespace {

// How elements lie in memory, and the type in which they are reduced.
template <class T, class A>
struct Plain {
  using Storage = T;
  using Accumulator = A;
  static A load(T value) { return A(value); }
  static T store(A value) { return T(value); }
};
struct E4m3 {
  using Storage = uint8_t;
  using Accumulator = float;
  static float load(uint8_t bits) { return f8e4m3_to_float(bits); }
  static uint8_t store(float value) { return f8e4m3_from_float(value); }
};
struct E5m2 {
  using Storage = uint8_t;
  using Accumulator = float;
  static float load(uint8_t bits) { return f8e5m2_to_float(bits); }
  static uint8_t store(float value) { return f8e5m2_from_float(value); }
};
struct Half {
  using Storage = uint16_t;
  using Accumulator = float;
  static float load(uint16_t bits) { return f16_to_float(bits); }
  static uint16_t store(float value) { return f16_from_float(value); }
};
struct Bfloat {
  using Storage = uint16_t;
  using Accumulator = float;
  static float load(uint16_t bits) { return std::bit_cast<float>(uint32_t(bits) << 16); }
  static uint16_t store(float value) { return bf16_from_float(value); }
};
struct Bool {
  using Storage = uint8_t;
  using Accumulator = int64_t;
  static int64_t load(uint8_t value) { return value; }
  static uint8_t store(int64_t value) { return value != 0; }
};

template <class A>
bool is_nan(A x) {
  if constexpr (std::is_floating_point_v<A>) return std::isnan(x);
  return false;
}

template <CommReduce R, class A>
A combine(A a, A b) {
  if constexpr (R == CommReduce::max) {
    return b > a || is_nan(b) ? b : a;
  } else if constexpr (R == CommReduce::min) {
    return b < a || is_nan(b) ? b : a;
  } else if constexpr (std::is_floating_point_v<A>) {
    return R == CommReduce::sum ? a + b : a * b;
  } else {
    return R == CommReduce::sum ? A(uint64_t(a) + uint64_t(b)) : A(uint64_t(a) * uint64_t(b));
  }
}

template <class Type, CommReduce R>
void reduce_typed(std::span<const CommMember> members, int64_t byte_offset, int64_t count, void* out) {
  using Storage = typename Type::Storage;
  using Accumulator = typename Type::Accumulator;
  constexpr int64_t kBlock = 512;
  Accumulator sum[kBlock];
  auto source = [&](const CommMember& member) {
    return reinterpret_cast<const Storage*>(static_cast<const std::byte*>(member.in) + byte_offset);
  };
  auto* target = static_cast<Storage*>(out);
  for (int64_t begin = 0; begin < count; begin += kBlock) {
    const int64_t length = std::min(kBlock, count - begin);
    const Storage* first = source(members[0]) + begin;
    for (int64_t i = 0; i < length; ++i) sum[i] = Type::load(first[i]);
    for (const CommMember& member : members.subspan(1)) {
      const Storage* in = source(member) + begin;
      for (int64_t i = 0; i < length; ++i) sum[i] = combine<R>(sum[i], Type::load(in[i]));
    }
    for (int64_t i = 0; i < length; ++i) target[begin + i] = Type::store(sum[i]);
  }
}

template <class Type>
void reduce_by(CommReduce reduce, std::span<const CommMember> members, int64_t byte_offset, int64_t count, void* out) {
  switch (reduce) {
    case CommReduce::sum:
      return reduce_typed<Type, CommReduce::sum>(members, byte_offset, count, out);
    case CommReduce::max:
      return reduce_typed<Type, CommReduce::max>(members, byte_offset, count, out);
    case CommReduce::min:
      return reduce_typed<Type, CommReduce::min>(members, byte_offset, count, out);
    case CommReduce::prod:
      return reduce_typed<Type, CommReduce::prod>(members, byte_offset, count, out);
  }
}

}  // namespace

void reduce_members(DType dtype, CommReduce reduce, std::span<const CommMember> members, int64_t byte_offset,
                    int64_t count, void* out) {
  PLAIT_CHECK(!members.empty(), "a reduction over no members");
  switch (dtype) {
    case DType::boolean:
      return reduce_by<Bool>(reduce, members, byte_offset, count, out);
    case DType::i8:
      return reduce_by<Plain<int8_t, int64_t>>(reduce, members, byte_offset, count, out);
    case DType::i16:
      return reduce_by<Plain<int16_t, int64_t>>(reduce, members, byte_offset, count, out);
    case DType::i32:
      return reduce_by<Plain<int32_t, int64_t>>(reduce, members, byte_offset, count, out);
    case DType::i64:
      return reduce_by<Plain<int64_t, int64_t>>(reduce, members, byte_offset, count, out);
    case DType::u8:
      return reduce_by<Plain<uint8_t, int64_t>>(reduce, members, byte_offset, count, out);
    case DType::u16:
      return reduce_by<Plain<uint16_t, int64_t>>(reduce, members, byte_offset, count, out);
    case DType::u32:
      return reduce_by<Plain<uint32_t, int64_t>>(reduce, members, byte_offset, count, out);
    case DType::u64:
      return reduce_by<Plain<uint64_t, uint64_t>>(reduce, members, byte_offset, count, out);
    case DType::f8e4m3:
      return reduce_by<E4m3>(reduce, members, byte_offset, count, out);
    case DType::f8e5m2:
      return reduce_by<E5m2>(reduce, members, byte_offset, count, out);
    case DType::f16:
      return reduce_by<Half>(reduce, members, byte_offset, count, out);
    case DType::bf16:
      return reduce_by<Bfloat>(reduce, members, byte_offset, count, out);
    case DType::f32:
      return reduce_by<Plain<float, float>>(reduce, members, byte_offset, count, out);
    case DType::f64:
      return reduce_by<Plain<double, double>>(reduce, members, byte_offset, count, out);
  }
}

}  // namespace plait
