#include "sim/nccl/reduce.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <limits>
#include <type_traits>

#include "base/error.h"
#include "scalar/convert.h"

namespace plait::sim::nccl {
namespace {

template <class T>
struct Plain {
  using Storage = T;
  using Value = T;
  static T load(T value) { return value; }
  static T store(T value) { return value; }
};
struct Half {
  using Storage = uint16_t;
  using Value = float;
  static float load(uint16_t bits) { return f16_to_float(bits); }
  static uint16_t store(float value) { return f16_from_float(value); }
};
struct Bfloat {
  using Storage = uint16_t;
  using Value = float;
  static float load(uint16_t bits) { return bf16_to_float(bits); }
  static uint16_t store(float value) { return bf16_from_float(value); }
};

template <class V>
V add(V a, V b) {
  if constexpr (std::is_floating_point_v<V>) return a + b;
  return static_cast<V>(static_cast<uint64_t>(a) + static_cast<uint64_t>(b));
}
template <class V>
V multiply(V a, V b) {
  if constexpr (std::is_floating_point_v<V>) return a * b;
  return static_cast<V>(static_cast<uint64_t>(a) * static_cast<uint64_t>(b));
}
template <class V>
V larger(V a, V b) {
  if constexpr (std::is_floating_point_v<V>) return std::fmax(a, b);
  return std::max(a, b);
}
template <class V>
V smaller(V a, V b) {
  if constexpr (std::is_floating_point_v<V>) return std::fmin(a, b);
  return std::min(a, b);
}

template <class V>
V combined(Combine combine, V a, V b) {
  switch (combine) {
    case Combine::prod:
      return multiply(a, b);
    case Combine::max:
      return larger(a, b);
    case Combine::min:
      return smaller(a, b);
    default:
      return add(a, b);
  }
}

template <class V>
V factor_for(Combine combine, const Input& input, size_t inputs) {
  if constexpr (std::is_floating_point_v<V>) {
    return combine == Combine::average ? V(1) / V(inputs) : V(std::bit_cast<double>(input.factor));
  } else {
    return static_cast<V>(input.factor);
  }
}

template <class Type>
void reduce_as(Combine combine, std::span<const Input> inputs, size_t count, std::byte* out) {
  using V = typename Type::Value;
  using S = typename Type::Storage;
  constexpr size_t kBlock = 512;
  V sums[kBlock];
  const bool scales = combine == Combine::scaled_sum || (combine == Combine::average && std::is_floating_point_v<V>);
  for (size_t begin = 0; begin < count; begin += kBlock) {
    const size_t length = std::min(kBlock, count - begin);
    for (size_t p = 0; p < inputs.size(); ++p) {
      const auto* in = reinterpret_cast<const S*>(inputs[p].data) + begin;
      const V factor = scales ? factor_for<V>(combine, inputs[p], inputs.size()) : V(1);
      for (size_t i = 0; i < length; ++i) {
        V value = Type::load(in[i]);
        if (scales) value = multiply(value, factor);
        sums[i] = p == 0 ? value : combined(combine, sums[i], value);
      }
    }
    auto* target = reinterpret_cast<S*>(out) + begin;
    for (size_t i = 0; i < length; ++i) {
      if constexpr (!std::is_floating_point_v<V>) {
        if (combine == Combine::average) sums[i] = static_cast<V>(sums[i] / static_cast<V>(inputs.size()));
      }
      target[i] = Type::store(sums[i]);
    }
  }
}

}  // namespace

size_t size_of(ncclDataType_t type) {
  switch (type) {
    case ncclInt8:
    case ncclUint8:
    case ncclFloat8e4m3:
    case ncclFloat8e5m2:
      return 1;
    case ncclFloat16:
    case ncclBfloat16:
      return 2;
    case ncclInt32:
    case ncclUint32:
    case ncclFloat32:
      return 4;
    default:
      return 8;
  }
}

const char* name(ncclDataType_t type) {
  constexpr const char* kNames[] = {"i8",  "u8",  "i32", "u32",  "i64",  "u64",
                                    "f16", "f32", "f64", "bf16", "e4m3", "e5m2"};
  return type >= 0 && type < ncclNumTypes ? kNames[type] : "of an unknown type";
}

const char* name(Combine combine) {
  constexpr const char* kNames[] = {"sum", "prod", "max", "min", "avg", "scaled sum"};
  return kNames[static_cast<int>(combine)];
}

bool reducible(ncclDataType_t type) { return type != ncclFloat8e4m3 && type != ncclFloat8e5m2; }

uint64_t factor_of(ncclDataType_t type, const void* scalar) {
  auto read = [&](auto value) {
    std::memcpy(&value, scalar, sizeof value);
    return value;
  };
  switch (type) {
    case ncclInt8:
      return static_cast<uint64_t>(read(int8_t{}));
    case ncclUint8:
      return read(uint8_t{});
    case ncclInt32:
      return static_cast<uint64_t>(read(int32_t{}));
    case ncclUint32:
      return read(uint32_t{});
    case ncclInt64:
    case ncclUint64:
      return read(uint64_t{});
    case ncclFloat16:
      return std::bit_cast<uint64_t>(f16_to_double(read(uint16_t{})));
    case ncclBfloat16:
      return std::bit_cast<uint64_t>(bf16_to_double(read(uint16_t{})));
    case ncclFloat32:
      return std::bit_cast<uint64_t>(double(read(float{})));
    case ncclFloat64:
      return read(uint64_t{});
    default:
      PLAIT_CHECK(false, "a scalar of type {}", int(type));
  }
}

void reduce(ncclDataType_t type, Combine combine, std::span<const Input> inputs, size_t count, std::byte* out) {
  switch (type) {
    case ncclInt8:
      return reduce_as<Plain<int8_t>>(combine, inputs, count, out);
    case ncclUint8:
      return reduce_as<Plain<uint8_t>>(combine, inputs, count, out);
    case ncclInt32:
      return reduce_as<Plain<int32_t>>(combine, inputs, count, out);
    case ncclUint32:
      return reduce_as<Plain<uint32_t>>(combine, inputs, count, out);
    case ncclInt64:
      return reduce_as<Plain<int64_t>>(combine, inputs, count, out);
    case ncclUint64:
      return reduce_as<Plain<uint64_t>>(combine, inputs, count, out);
    case ncclFloat16:
      return reduce_as<Half>(combine, inputs, count, out);
    case ncclBfloat16:
      return reduce_as<Bfloat>(combine, inputs, count, out);
    case ncclFloat32:
      return reduce_as<Plain<float>>(combine, inputs, count, out);
    case ncclFloat64:
      return reduce_as<Plain<double>>(combine, inputs, count, out);
    default:
      PLAIT_CHECK(false, "a reduction of type {}", int(type));
  }
}

}  // namespace plait::sim::nccl
