#pragma once
// The coordinate test: may the classes of one domain vary independently of each other?
#include <span>

#include "axes/axis_graph.h"

namespace plait {

// True where they may not: a class stands twice in the domain, or pushing independent values through all relations
// gives one class two values. Units are skipped. Symbols of extents take several values that respect their facts, so
// the answer never depends on defaults of sizes. Deterministic; `trials` points.
bool coordinates_conflict(const AxisGraph& graph, std::span<const int> domain, int trials = 24);

}  // namespace plait
