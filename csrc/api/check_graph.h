#pragma once
#include "ir/fusion.h"

namespace plait {

// UserError naming what no later stage could make sense of: no outputs, ops that only the compiler makes, expressions
// that speak of the rank.
void check_graph(const Fusion& fusion);

}  // namespace plait
