#pragma once
// How a kernel computes each kind of op: one line per kind, so that a new one does not compile without its own.
#include "ir/op.h"

namespace plait::lowering {

enum class Form : uint8_t {
  element,  // by its readers' coordinates, among other ops
  read,     // the same, but reads elsewhere than where it writes: a kernel of its own
  sum,      // in the loops of a sum; contractions among other ops, reductions in a kernel of their own
  scan,     // carried through a loop
  scatter,  // a copy, then updates
  none,     // no kernel: opened, or a step of the program
};

// What the loops of a sum combine. Its state is one value unless more are named.
enum class Combine : uint8_t {
  sum,
  product,
  greatest,        // NaN where there is one
  least,           // likewise
  first_greatest,  // and its position
  first_least,     // likewise
  variance,        // mean, squares of distances from it, count
};

struct Kind {
  Form form;
  std::vector<Combine> combines = {};  // where the form is `sum`
};
Kind kind_of(const Op& op);

}  // namespace plait::lowering
