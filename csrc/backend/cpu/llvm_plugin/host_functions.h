#pragma once

#include <llvm/ADT/StringRef.h>

namespace llvm {
class Module;
}

namespace plait {

// Functions that codegen/llvm spells in plain arithmetic (functions.cpp: conversions of f16 and bf16) become
// instructions that the host has, by its features ("+avx2,+f16c,..."), with the same results bit for bit.
void use_host_instructions(llvm::Module& module, llvm::StringRef features);

}  // namespace plait
