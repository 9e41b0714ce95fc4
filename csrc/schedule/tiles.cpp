#include "schedule/tiles.h"

#include <algorithm>
#include <numeric>

#include "axes/transforms.h"
#include "schedule/moved.h"

namespace plait {

namespace {

// Whether an op reads its operand under a condition.
bool is_guarded(const Op& op) {
  switch (op.kind) {
    case OpKind::Pad:
    case OpKind::Cat:
    case OpKind::Roll:
    case OpKind::Gather:
    case OpKind::IndexSelect:
      return true;
    default:
      return false;
  }
}

using Dims = std::vector<int>;

// Whether two dims of the output that follow one another are one in memory.
bool are_one(const std::vector<Dims>& memory, int d) {
  return std::all_of(memory.begin(), memory.end(), [&](const Dims& own) {
    const auto first = std::find(own.begin(), own.end(), d), second = std::find(own.begin(), own.end(), d + 1);
    if (first == own.end() && second == own.end()) return std::find(own.begin(), own.end(), -1) == own.end();
    return first != own.end() && first + 1 == second && second != own.end();
  });
}

// Dims [others], across, row: tiles, rows of a thread, threads of rows, threads, lanes.
void transform_tiles_of_blocks(TensorView& t, const schedules::Pointwise& numbers, int across) {
  const int64_t tile = numbers.tile.value(), rows = numbers.rows.value(), lanes = numbers.vector.value();
  const int row = across + 1;
  if (lanes > 1) split(t, row, lanes);
  split(t, row, tile / lanes);
  if (tile > rows) split(t, across, rows);
  split(t, across, tile / rows);
  // [across 2 or 3], [row 2 or 3]: tiles of both first.
  move_loop(t, across + (tile > rows ? 3 : 2), across + 1);
  for (int d = 0; d <= across; ++d) merge(t, 0);
  parallelize(t, 0, ParallelType::block_x);
  const int y = tile > rows ? 2 : 1;
  if (tile > rows) parallelize(t, 1, ParallelType::unroll);
  parallelize(t, y, ParallelType::thread_y);
  parallelize(t, y + 1, ParallelType::thread_x);
  if (lanes > 1) parallelize(t, y + 2, ParallelType::vectorize);
}

}  // namespace

std::optional<TileDims> tile_dims(const Segment& segment, bool of_blocks) {
  if (!of_blocks && std::any_of(segment.ops.begin(), segment.ops.end(), [](const Op* op) {
        return is_guarded(*op) || (property(op->kind) == OpProperty::creation && op->kind != OpKind::Full);
      }))
    return std::nullopt;
  const int rank = static_cast<int>(reference_tensor(segment)->rank()), last = rank - 1;
  std::vector<Dims> memory;
  for (const MemoryRead& r : memory_reads(segment)) memory.push_back(r.dims);
  for (const TensorView* out : segment.outputs) memory.push_back(memory_dims(*out));
  for (size_t i = memory.size() - segment.outputs.size(); i < memory.size(); ++i)
    if (memory[i].empty() || memory[i].back() != last) return std::nullopt;
  TileDims out;
  for (out.row = last; out.row > 0 && are_one(memory, out.row - 1);) --out.row;
  for (const Dims& own : memory) {
    const bool across = own.size() > 1 && own.back() >= 0 && own.back() < out.row;
    const auto has = [&](int d) { return std::find(own.begin(), own.end(), d) != own.end(); };
    if (!across || !(has(last) || (of_blocks && has(-1)))) continue;
    out.across = own.back();
    out.across_end = out.across + 1;
    while (out.across > 0 && are_one(memory, out.across - 1)) --out.across;
    return out;
  }
  return std::nullopt;
}

std::pair<sym::Expr, sym::Expr> tile_extents(const Segment& segment, const TileDims& dims) {
  const TensorView& t = *reference_tensor(segment);
  const auto product = [&](int begin, int end) {
    sym::Expr out = t.fusion->pool().constant(1);
    for (int d = begin; d < end; ++d) out = out * t.extent(static_cast<size_t>(d));
    return out;
  };
  return {product(dims.across, dims.across_end), product(dims.row, static_cast<int>(t.rank()))};
}

int64_t bytes_across(const Segment& segment, const TileDims& dims) {
  int64_t out = 1;
  for (const MemoryRead& r : memory_reads(segment))
    if (!r.dims.empty() && r.dims.back() >= dims.across && r.dims.back() < dims.across_end)
      out = std::max(out, static_cast<int64_t>(size_of(r.input->dtype)));
  return out;
}

void transform_tiles(TensorView& t, const schedules::Pointwise& numbers, const TileDims& dims) {
  const int64_t lanes = numbers.vector.value(), squares = numbers.tile.value() / lanes;  // of CPUs
  merge_loops(t, dims.row, static_cast<int>(t.rank()));
  merge_loops(t, dims.across, dims.across_end);
  int outer = dims.row - (dims.across_end - dims.across);  // dims of neither
  move_loop(t, dims.across, outer);
  for (; outer > 1; --outer) merge(t, 0);
  const int across = outer;
  if (numbers.rows) return transform_tiles_of_blocks(t, numbers, across);
  split(t, across + 1, lanes);
  split(t, across + 1, squares);
  split(t, across, lanes);
  split(t, across, squares);
  // Tiles, squares and rows of both: [across 3], [row 3].
  std::vector<int> order(static_cast<size_t>(across) + 6);
  std::iota(order.begin(), order.end(), 0);
  const int places[] = {0, 3, 1, 4, 2, 5};
  for (int i = 0; i < 6; ++i) order[static_cast<size_t>(across) + static_cast<size_t>(i)] = across + places[i];
  reorder(t, order);
  for (int d = 0; d <= across; ++d) merge(t, 0);
  parallelize(t, 0, ParallelType::cpu_thread);
  parallelize(t, 3, ParallelType::unroll);
  parallelize(t, 4, ParallelType::vectorize);
}

}  // namespace plait
