#pragma once
// Whether an op is done in pieces: where it may be, and where that costs no more than to bring them together.
#include <vector>

#include "ir/factors.h"
#include "ir/fusion.h"

namespace plait {

// Whether what members exchange, each with all, is no more than the operand itself, as far as sizes are known.
bool pays_to_merge(const Op& op, const std::vector<Piece>& pieces);

// Whether the factor may have the pieces, and that pays; `wanted` are the layouts of results that are asked for. A
// random op counts its elements from the first index of its piece, and an index is compared with the places of a piece:
// that must be one range of the dim. What a lookup leaves pending is as large as its results: of a tensor that is
// smaller, all of it is there sooner. What a scatter leaves pending is as large as its operand: of fewer updates all
// are there sooner.
bool can_hold(const Op& op, const Factor& factor, const std::vector<Piece>& pieces, const std::vector<Layout>& wanted);

// Whether the op widens a sum that is pending over the axis, which nobody else reads, to add it to another one that is
// there before it: one collective does both.
bool joins_wider(const Op& op, const std::vector<bool>& pending, ReduceOp reduce, int axis);

}  // namespace plait
