#pragma once
// Functions of integers that no instruction computes alone, on lanes of i32 or i64. Nothing traps; what is not defined
// by arithmetic is as scalar/pointwise.h says.
#include "codegen/llvm/text.h"

namespace plait::codegen::llvm {

enum class Sign : bool { without, with };

// x / y rounded down; 0 for y = 0; wraps.
Ir floor_divide(Function& f, Sign sign, const Ir& x, const Ir& y);
// x to the power y, wraps; for y < 0 1 / x truncated, and 0 for x = 0.
Ir power(Function& f, Sign sign, const Ir& x, const Ir& y);
// Amounts below 0 or not below the number of bits move all bits out.
Ir shift_left(Function& f, const Ir& x, const Ir& y);
Ir shift_right(Function& f, Sign sign, const Ir& x, const Ir& y);

}  // namespace plait::codegen::llvm
