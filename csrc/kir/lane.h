#pragma once
// How an index depends on the lane; shared by the verifier and the code writers.
#include <optional>

#include "kir/stmt.h"

namespace plait::kir {

// The index of one lane.
sym::Expr at_lane(sym::Expr index, int64_t lane);

// s if index(lane) = index(0) + s * lane for every lane (0: the index does not depend on lane); nothing if that is not
// proven.
std::optional<int64_t> lane_stride(sym::Expr index);

// Whether the expression mentions the lane.
bool depends_on_lane(sym::Expr expr);

}  // namespace plait::kir
