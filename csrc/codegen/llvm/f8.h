#pragma once
// Conversions of the floats of eight bits, by instructions that every target has.
#include "codegen/llvm/text.h"

namespace plait::codegen::llvm {

// Bits (i8 lanes) of f32 lanes, rounded to nearest even by the rules of scalar/convert.h.
Ir f8_bits(Function& f, const Ir& x, DType dtype);
// f32 lanes of i8 lanes, exact.
Ir f8_value(Function& f, const Ir& bits, DType dtype);

}  // namespace plait::codegen::llvm
