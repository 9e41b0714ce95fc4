#pragma once
// What is judged: the loop tree that csrc/axes and csrc/lower make of a random case.
#include "support/loop_tree_case.h"

namespace plait::tree_oracle {

struct PlaceCaseOptions {
  uint32_t rules_off = 0;
  bool test_unions = true;
};
// Placement and, of cases that say so, what lowering does in front of statements. A refusal where an op has no place.
std::optional<Refusal> place_case(const Case& c, LoopTree& tree, const PlaceCaseOptions& options = {});

}  // namespace plait::tree_oracle
