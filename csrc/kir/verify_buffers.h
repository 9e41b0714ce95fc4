#pragma once
#include "kir/kernel.h"

namespace plait::kir {

// Whether the text is an identifier of C.
bool is_identifier(const std::string& text);

// What verify() checks of a kernel's buffers by themselves: names, uses, the order of spaces, stack memory, turned
// rows.
void verify_buffers(const Kernel& kernel);

// What breaks an invariant of the buffers of a LoadMatrix or Mma; empty: nothing.
std::string fragments_problem(const Kernel& kernel, const Stmt& stmt);

}  // namespace plait::kir
