#pragma once
// How a kernel computes each kind of op: one line per kind, so that a new one does not compile without its own.
#include "ir/op.h"
#include "scalar/constant.h"
#include "scalar/reductions.h"

namespace plait::lowering {

enum class Form : uint8_t {
  element,  // by its readers' coordinates, among other ops
  read,     // the same, but reads elsewhere than where it writes: a kernel of its own
  sum,      // in the loops of a sum; contractions among other ops, reductions in a kernel of their own
  scan,     // carried through a loop
  scatter,  // a copy, then updates
  sort,     // in memory, along one dim
  none,     // no kernel: opened, or a step of the program
};

struct Kind {
  Form form;
  std::vector<Combine> combines = {};  // what the loops of a `sum` combine
};
Kind kind_of(const Op& op);

// The number below (or above) which there is none, in the type in which numbers of the dtype are ordered.
Constant end_of_order(DType dtype, bool least);

// What an update does with what stands in the result; nothing where it replaces it.
std::optional<Pointwise> combining(ScatterUpdate update);

}  // namespace plait::lowering
