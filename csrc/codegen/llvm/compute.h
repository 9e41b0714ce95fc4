#pragma once
// Spelling of pointwise functions, conversions and memory formats in LLVM IR.
#include <vector>

#include "codegen/llvm/text.h"
#include "scalar/pointwise.h"

namespace plait::codegen::llvm {

// Operands have one dtype (`where`: the last two); the meaning is that of scalar/pointwise.h.
Ir compute(Function& f, Pointwise function, DType operand, const std::vector<Ir>& in);
// The rules of scalar/convert.h, between wide dtypes.
Ir convert(Function& f, const Ir& in, DType from, DType to);
// f32 or f64 rounded once to a narrow dtype and widened again.
Ir round_through(Function& f, const Ir& in, DType narrow);
// Elements as they lie in memory (memory_type) to values and back; floats round once.
Ir from_memory(Function& f, const Ir& element, DType buffer);
Ir to_memory(Function& f, const Ir& in, DType from, DType buffer);

}  // namespace plait::codegen::llvm
