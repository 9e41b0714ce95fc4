#pragma once
// Tiles of moves: where an operand lies across the output's row, both dims are cut into tiles. On CPUs a cache holds
// them, and they are cut into squares of vectors, which become contiguous loads (kir/passes/transpose.h); on GPUs
// shared memory does (kir/passes/stage.h).
#include "schedule/scheduler.h"

namespace plait {

// Dims of the output: [across, across_end) is a row of the operand, [row, rank) of the output, each in one piece in all
// that is read or written.
struct TileDims {
  int across = 0, across_end = 0, row = 0;
};
// Nothing where no operand lies across the row, or where squares of it are not to be had.
// `of_blocks`: for a GPU, where what stands under a condition may be part of a tile.
std::optional<TileDims> tile_dims(const Segment& segment, bool of_blocks);
// Bytes of the widest element of what lies across the row.
int64_t bytes_across(const Segment& segment, const TileDims& dims);

// The extents of a tile's dims: of the operand's row, and of the output's.
std::pair<sym::Expr, sym::Expr> tile_extents(const Segment& segment, const TileDims& dims);

// Loops: tiles (parallel), rows of squares, squares, rows and lanes of a square. GPUs: tiles, rows that a thread has,
// threads of rows, threads, lanes.
void transform_tiles(TensorView& t, const schedules::Pointwise& numbers, const TileDims& dims);

}  // namespace plait
