#pragma once
// A program called as careless and unlucky callers call it.
#include <string>

#include "plait.h"

namespace plait::testing {

// What was done, so that tests can show that it was.
struct AwkwardCalls {
  int moved = 0;    // runs whose inputs lie at odd addresses, or with gaps between their elements
  int forked = 0;   // runs in a child of the process
  int saved = 0;    // runs of the program as a file gives it back
  int refused = 0;  // runs that an index out of range ended, as it does the reference
};

// Runs the program again with inputs that are not aligned, that are strided, in a forked child, as it comes back from a
// file, and with an index out of range; then once more as at first. Outputs must be the given ones to the bit, and an
// index is refused where the device `reference` refuses it, unless not `all_stored`: it may belong to what nobody
// stores. Returns what was wrong, or nothing. For programs on the host, of one process.
std::string call_awkwardly(const Fusion& fusion, Compiled& program, const Tensors& inputs, const Tensors& outputs,
                           AwkwardCalls& calls, bool all_stored = true);

}  // namespace plait::testing
