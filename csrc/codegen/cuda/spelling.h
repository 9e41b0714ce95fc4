#pragma once
// How CUDA C++ spells types, constants, conversions and the pointwise ops. Operands are names, calls or literals.
#include <span>
#include <string>
#include <string_view>

#include "codegen/cuda/helpers.h"
#include "kir/stmt.h"
#include "scalar/constant.h"
#include "scalar/pointwise.h"

namespace plait::codegen::cuda {

// Type of a value: bool, int, long long, unsigned, unsigned long long, float, double. Storage types: signed char,
// short, unsigned char, unsigned short, f8e4m3, f8e5m2, f16, bf16.
std::string_view value_type(DType dtype);
// Type of an element in memory: as value_type, but bool is a byte. Notes the helper of narrow floats.
std::string_view memory_type(DType dtype, Helpers& helpers);

// The literal with exactly these bits (a NaN: some NaN); negative ones in parentheses.
std::string literal(const Constant& constant);

// `text` of dtype `from` as `to`, by the rules of scalar/convert.h; narrow floats included on both sides.
std::string convert(const std::string& text, DType from, DType to, Helpers& helpers);

// function(operands) for operands of dtype `compute`; exhaustive over pointwise.def. cast is an internal error.
std::string spell(Pointwise function, DType compute, std::span<const std::string> operands, Helpers& helpers);

struct Binding {
  const char *variable, *index;
};

// Variable and built-in index of a loop bound to blocks or threads.
Binding binding(kir::LoopKind kind);

}  // namespace plait::codegen::cuda
