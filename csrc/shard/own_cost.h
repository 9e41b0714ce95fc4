#pragma once
// What ranks exchange within an op: parts that they merge, ranges that they take of others' pieces.
#include "ir/fusion.h"
#include "shard/assign.h"

namespace plait {

// What that costs, as a reshard does (mesh/collective_cost.h), of operands that lie as they do now; where a size is not
// known, nothing.
double own_cost(const Op& op, const Assignment& assignment);

}  // namespace plait
