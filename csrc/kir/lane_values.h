#pragma once
// What statements compute, of numbers: for the interpreter.
#include <vector>

#include "kir/stmt.h"

namespace plait::kir {

// As Convert has it, storage dtypes included.
Constant converted(const Constant& in, DType to);
// The function in the dtype of its last operand, as `to`.
Constant computed(Pointwise function, const std::vector<Constant>& in, DType to);
// The lanes of a Running, of its operands.
std::vector<Constant> running(Pointwise function, std::vector<Constant> in, Constant before);

}  // namespace plait::kir
