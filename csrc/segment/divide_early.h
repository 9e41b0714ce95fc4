#pragma once
// The division of a softmax goes in front of the product that reads its terms, where one kernel makes both.
#include <functional>

#include "ir/fusion.h"

namespace plait {

// matmul(e, v) / s becomes matmul(e / s, v) where e is an exponential and s the sum of its rows, or 1 where all of a
// row is nothing: the rows that make e and s divide them too, and no kernel stands behind the product. The composite of
// attention divides behind, where keys that ranks part give two pending sums; here no axis of devices is left.
void divide_early(Fusion& fusion, const std::function<bool(const Op&)>& stays = {});

}  // namespace plait
