#pragma once
// Inputs drawn from a seed, for runs and checks that give none.
#include <map>
#include <string>

#include "reference/evaluate.h"

namespace plait::reference {

struct DrawOptions {
  uint64_t seed = 0;
  bool exact = false;                   // exact-integer mode
  sym::Environment sizes;               // symbols beyond the `let` defaults, or instead of them
  std::map<std::string, Tensor> given;  // inputs that the caller has; they are returned as they are
};

// A tensor for every input. Floats are normal (Philox: key = seed, offset = the input's ordinal among the inputs),
// parameters scaled by 0.02, rounded to the dtype; an integer is below 8 in size; one that ops take as an index,
// through moves and casts too, lies inside of what they index, and one whose range is stated inside of that; u64[] is
// the seed, bool is a coin. They are dense, in the order of their allocation. exact: small integers, made smaller and
// sparser until every stored value and every sum of a part of a product's terms is exact in its dtype (on a mesh, where
// ranks exchange such sums, in the product's own dtype). UserError: the graph has an op that leaves the integers
// (named), or no draw is small enough (the tensor is named).
std::map<std::string, Tensor> draw_inputs(const Fusion& fusion, const DrawOptions& options = {});

// Whether every op maps small integers to integers. If not, `why` names the op.
bool supports_exact(const Fusion& fusion, std::string* why = nullptr);

}  // namespace plait::reference
