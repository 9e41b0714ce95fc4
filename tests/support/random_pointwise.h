#pragma once
// Random small fusions of elementwise ops with broadcasting and products, with static and symbolic extents, and random
// schedules for their nests.
#include <memory>
#include <random>

#include "support/direct_evaluation.h"

namespace plait::test {

struct RandomCase {
  std::unique_ptr<Fusion> fusion;
  sym::Environment env;  // values of the symbols, within their facts
  Values inputs;
};

RandomCase random_case(uint32_t seed, bool narrow = false);

// Random splits, merges, reorders and bindings on the segment's first output. UserError where one does not apply.
void random_schedule(const Segment& segment, std::mt19937& random);

}  // namespace plait::test
