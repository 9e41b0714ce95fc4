#pragma once
// Dims of a reshape in runs, each of the same elements on both sides.
#include <vector>

#include "ir/factors.h"
#include "ir/op.h"

namespace plait {

// Dims [in, in_end) of the operand hold the same elements, in the same order, as dims [out, out_end) of the result.
struct ReshapeRun {
  size_t in = 0, in_end = 0, out = 0, out_end = 0;
  bool is_one_dim() const { return in_end - in == 1 && out_end - out == 1; }
};

// The shortest ones, in order. Dims of extent 1 between them are in none.
std::vector<ReshapeRun> reshape_runs(const Reshape& op);

// Of each run the first dims are one factor where one is a known multiple of the other: a piece of whole steps on one
// side is one on the other. Its other dims are `regroup`, dims of extent 1 between runs are whole.
std::vector<Factor> reshape_factors(const Reshape& op);

}  // namespace plait
