#pragma once
// Whether the elements that a kernel meets lie inside of its buffers.
#include <string>
#include <vector>

#include "kir/kernel.h"

namespace plait::kir {

// Loads, stores and atomics whose indices are not proven to lie in 0 .. extent-1 of their buffer, for every active
// lane: from the ranges of enclosing loops, the conditions of enclosing Ifs, `active` and the facts of the pool. Each
// as its line of text. What is not proven need not be wrong. Requires a verified kernel.
std::vector<std::string> unproven_accesses(const Kernel& kernel);

}  // namespace plait::kir
