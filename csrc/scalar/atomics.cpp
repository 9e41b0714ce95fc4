#include "scalar/atomics.h"

namespace plait {

std::string_view name(AtomicOp op) {
  switch (op) {
    case AtomicOp::min:
      return "atomic_min";
    case AtomicOp::max:
      return "atomic_max";
    case AtomicOp::add:
      return "atomic_add";
  }
  __builtin_unreachable();
}

bool has_atomic(DType dtype, AtomicOp op) {
  if (is_integer(dtype)) return size_of(dtype) >= 4;
  return op == AtomicOp::add && (dtype == DType::f32 || dtype == DType::f64);
}

}  // namespace plait
