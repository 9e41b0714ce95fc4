#pragma once
// Kernel IR to LLVM 19 IR text.
#include <string>

#include "kir/kernel.h"

namespace plait::codegen {

// One module with the entry `void @NAME(ptr %buffers, ptr %integers, i64 %begin, i64 %end)`: an array of buffer
// addresses, an array of i64, and the iterations of the cpu_thread loop to run (without such a loop the body runs if
// begin < end). Written buffers overlap no read buffer. Decides nothing: vectors, order and loops are the kernel's. The
// text depends on the kernel only; target and its features are the compiler's business.
// Requires a verified kernel for TargetKind::cpu; makes nodes in the kernel's pool.
std::string write_llvm(const kir::Kernel& kernel);

}  // namespace plait::codegen
