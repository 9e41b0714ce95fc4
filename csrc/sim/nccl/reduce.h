#pragma once
// Reductions of the members' elements.
#include <cstddef>
#include <cstdint>
#include <span>

#include "sim/nccl/api.h"

namespace plait::sim::nccl {

// One member's elements. `factor` multiplies each before the sum: bits of a double for floats, an int64_t for integers.
struct Input {
  const std::byte* data = nullptr;
  uint64_t factor = 0;
};

enum class Combine : uint8_t { sum, prod, max, min, average, scaled_sum };

size_t size_of(ncclDataType_t type);
const char* name(ncclDataType_t type);
const char* name(Combine combine);
// Whether the stand-in reduces elements of the type; it moves those of every type.
bool reducible(ncclDataType_t type);
// The scalar in memory as `factor` of an Input.
uint64_t factor_of(ncclDataType_t type, const void* scalar);

// out[i] = reduction over the inputs, in their order, of element i, for i in 0 .. count. f16 and bf16 in f32, rounded
// once; f32, f64 and integers in their own type, integers wrap. average: floats are multiplied by the f32 (f64)
// 1 / inputs before the sum, sums of integers are divided by the number of inputs, toward zero. max and min give the
// operand that is a number, as fmax does.
void reduce(ncclDataType_t type, Combine combine, std::span<const Input> inputs, size_t count, std::byte* out);

}  // namespace plait::sim::nccl
