#pragma once
// What values that attention leaves out add to its result.
#include "ir/fusion.h"

namespace plait {

// Puts behind a product of weights and values, [..., x, element], NaN where a value beyond position x + offset is
// infinite or NaN, since its weight is 0, and 0 times that is NaN; or, `below`, one in front of x - offset. Returns the
// position of the last such value of each column, [..., 1, element], -1 where there is none; `below`, of the first, by
// the offset more, 2^24 where there is none.
TensorView* add_poison(Fusion& graph, const Matmul& product, bool below, sym::Expr offset);

}  // namespace plait
