#pragma once
// A sharded graph as a picture (`plait explain FILE --shard --svg OUT`).
#include <string>

#include "ir/fusion.h"

namespace plait {

// Most ranks, tensors and cells of a tensor's dim that are drawn; a line says how many more there are.
inline constexpr int64_t kMostDrawnRanks = 8;
inline constexpr size_t kMostDrawnTensors = 120, kMostDrawnRuns = 64;

// SVG that needs nothing else, for light and dark: a row for each tensor with what each rank holds of it, drawn over
// its two dims that are cut first (else its longest), hatched where a reduction is pending; between the rows what
// moves, over which teams and why. Extents at their `let` defaults, 8 where they have none.
std::string sharding_picture(const Fusion& sharded, const DeviceMesh& mesh);

}  // namespace plait
