#pragma once
// What memory changes at once for whoever does the same.
#include <cstdint>
#include <string_view>

#include "scalar/dtype.h"

namespace plait {

// What an atomic makes of the element that is there and its operand.
enum class AtomicOp : uint8_t { min, max, add };
std::string_view name(AtomicOp op);  // "atomic_min"
// Whether elements of the dtype have it: integers of 32 and 64 bits all, f32 and f64 sums.
bool has_atomic(DType dtype, AtomicOp op);

}  // namespace plait
