#pragma once
// Derived functions said by core functions, once for all code writers.
#include "kir/kernel.h"

namespace plait::kir {

// Whether writers spell the function on operands of this dtype; else expand_functions replaces it.
bool is_core(Pointwise function, DType operand);

// Replaces every Compute of a derived function (FunctionForm in scalar/pointwise.h) by literals and Computes of core
// functions at the same place, within the error that the table states: square(x) becomes mul(x, x).
// Requires: what verify() checks. Ensures: the same, and every Compute is core. Why here: a writer then knows half the
// functions, and all devices compute the other half alike.
void expand_functions(Kernel& kernel);

}  // namespace plait::kir
