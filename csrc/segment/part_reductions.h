#pragma once
// Reductions that read what reductions over other dims read or make: they get ops of their own, so that a kernel of
// theirs reads memory, and nothing is written for it alone.
#include <functional>
#include <string_view>

#include "ir/fusion.h"

namespace plait {

struct PartOptions {
  std::function<bool(const TensorView&)> stays;  // a file says what makes it; null: none
  std::function<bool(std::string_view)> decide;  // asked before each change; null: all are done
  std::string* explain = nullptr;                // gets a line per change
};

// A sum, product, amax or amin over all dims of those that a neighbour reduces, and more, becomes two: over the
// neighbour's dims, with whose kernel it goes, and over the rest. Narrow sums stay wide between the two. Another one
// whose result no op of the operand's shape reads computes cheap elementwise ops in front of it again, where these read
// at most two tensors of the operand's size. Returns ops that belong to one kernel first of all. Near-linear.
std::vector<std::vector<Op*>> part_reductions(Fusion& fusion, const PartOptions& options);

}  // namespace plait
