#pragma once
// What the arguments of generated code are, in the words of the fusion: the head of what is shown to people. It is no
// part of what is compiled, whose names would tell equal kernels apart.
#include <string>

#include "ir/fusion.h"
#include "lower/lower.h"

namespace plait {

// `// b0 = %x: f32[b, 1024]`, a line for each tensor, then `// n0 = b` and what else the integers are, in comments of
// CUDA C++ or of LLVM. A workspace has its name alone.
std::string kernel_legend(const Fusion& fusion, const LoweredKernel& lowered);

}  // namespace plait
