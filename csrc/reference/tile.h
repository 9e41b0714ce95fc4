#pragma once
// The inner loop of the evaluator's products.
#include <cstdint>

namespace plait::reference {

inline constexpr int64_t kTile = 4;

// Sums of a b and of |a b|, [row of a, row of b].
struct Tile {
  double sum[kTile][kTile] = {}, absolute[kTile][kTile] = {};
};

// Adds a[k * kTile + i] b[k * kTile + j] to element (i, j) for k in 0 .. depth, in this order; each term is rounded
// before it is added. Every implementation gives the same bits.
using TileProduct = void (*)(const double* a, const double* b, int64_t depth, Tile& tile);

// The fastest implementation that this processor runs, and any processor's.
TileProduct fastest_tile();
TileProduct portable_tile();

}  // namespace plait::reference
