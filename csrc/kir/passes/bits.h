#pragma once
#include "kir/kernel.h"

namespace plait::kir {

// What is loaded from narrow floats (bf16, f16, f8) and goes on as it is, through variables, choices and transposes, to
// stores of the same dtype moves as bits: a u32 in the place of an f32, so that nothing is widened and rounded again.
// Constants that take the same ways become the bits that they round to. Values that something computes with, of which
// one is stored to another dtype, or of which no load comes stay. Target cpu; GPUs have room beside their memory.
// Ensures: the same elements; a NaN keeps its payload. Why here: every load and store is there, in its last form.
void bits(Kernel& kernel);

}  // namespace plait::kir
