#pragma once
#include <span>

#include "backend/cpu/object_code.h"

namespace plait {

// The C functions that code generated for the CPU may call. Those that codegen/llvm names start with plait_: names of
// the C library would let LLVM change one call into another, for which there is no symbol. The others are what LLVM
// itself calls where the host lacks an instruction.
std::span<const CFunction> c_library();

}  // namespace plait
