#include "schedule/norm_loops.h"

#include "axes/transforms.h"

namespace plait {

namespace {

// The column becomes the last of the kept dims, the others one: its place.
int put_column_last(TensorView& t, int column, int kept) {
  move_loop(t, column, kept - 1);
  for (int d = 2; d < kept; ++d) merge(t, 0);
  return kept > 1 ? 1 : 0;
}

// Loops over kept dims, then reduced ones. How many of each.
std::pair<int, int> kept_first(TensorView& t, int scanned) {
  state_reduction_axes(t);
  const int rank = static_cast<int>(t.rank());
  if (scanned < 0) return {rank, static_cast<int>(t.domain.reduction.size())};
  move_loop(t, scanned, rank - 1);
  return {rank - 1, 1};
}

// A row in parts, on GPUs threads and the blocks of a cluster, vectors and lanes.
void cut_row(TensorView& t, const schedules::Norm& numbers, int row) {
  const auto split_off = [&](int64_t count, ParallelType kind) {
    split(t, row, count);
    parallelize(t, row + 1, kind);
  };
  if (*numbers.vector > 1) split_off(*numbers.vector, ParallelType::vectorize);
  if (numbers.threads) split_off(*numbers.threads, ParallelType::thread_x);
  if (numbers.cluster.value_or(1) > 1) split_off(*numbers.cluster, ParallelType::cluster);
  if (*numbers.parts > 1) split(t, row, *numbers.parts);
  if (*numbers.parts > 1 && numbers.each.value_or(1) > 1) parallelize(t, row + 1, ParallelType::unroll);
}

}  // namespace

void norm_loops_of_column_sum(TensorView& t, const schedules::Norm& numbers) {
  const auto [kept, reduced] = kept_first(t, -1);
  for (int d = 1; d < kept; ++d) merge(t, 0);
  for (int d = 1; d < reduced; ++d) merge(t, 1);
  move_loop(t, 1, 0);
  const int64_t rows = numbers.threads ? *numbers.each : *numbers.rows;
  if (rows > 1) split(t, 0, rows);
  cut_row(t, numbers, rows > 1 ? 2 : 1);
}

int norm_loops(TensorView& t, const schedules::Norm& numbers, size_t row_begin, int scanned, ParallelType tasks) {
  const auto [kept, reduced] = kept_first(t, scanned);
  for (int d = 1; d < kept; ++d) merge(t, 0);
  int place = kept > 0 ? 1 : 0;
  if (kept > 0 && *numbers.rows > 1) {
    split(t, 0, *numbers.rows);
    place = 2;
  }
  if (kept > 0) parallelize(t, 0, tasks);
  const int64_t task = numbers.split.value_or(0), together = *numbers.vector * *numbers.parts;
  const int outer = static_cast<int>(row_begin);
  int row = place + outer;
  for (int d = 1; d < reduced - outer; ++d) merge(t, row);
  if (outer > 0 && task > 1) split(t, place, task);
  if (outer > 0 && task > 1) ++row;
  if (reduced == outer) return place;
  cut_row(t, numbers, row);
  if (outer == 0 && task > together) split(t, row, task / together);
  return place;
}

int norm_loops_of_blocks(TensorView& t, const schedules::Norm& numbers, size_t row_begin, int scanned,
                         ParallelType blocks) {
  const auto [kept, reduced] = kept_first(t, scanned);
  for (int d = 1; d < kept; ++d) merge(t, 0);
  int place = kept > 0 ? 1 : 0;
  if (kept > 0 && *numbers.rows > 1) {
    split(t, 0, *numbers.rows);
    parallelize(t, place++, ParallelType::thread_y);
  }
  if (kept > 0 && numbers.each.value_or(1) > 1) {
    split(t, 0, *numbers.each);
    ++place;
  }
  if (kept > 0) parallelize(t, 0, blocks);
  const int outer = static_cast<int>(row_begin);
  const int64_t task = numbers.split.value_or(0);
  int row = place + outer;
  for (int d = 1; d < reduced - outer; ++d) merge(t, row);
  if (outer > 0 && task > 1) split(t, place, task);
  if (outer > 0 && task > 1) ++row;
  if (reduced == outer) return place;
  cut_row(t, numbers, row);
  const int64_t together = *numbers.vector * *numbers.threads * *numbers.parts;
  if (outer == 0 && task > together) split(t, row, task / together);
  return place;
}

int norm_columns_of_blocks(TensorView& t, const schedules::Norm& numbers, int column, int scanned) {
  const auto [kept, reduced] = kept_first(t, scanned);
  if (scanned >= 0 && column > scanned) --column;
  const int place = put_column_last(t, column, kept);
  const bool lanes = *numbers.vector > 1;
  if (lanes) split(t, place, *numbers.vector);
  if (kept > 1) merge(t, 0);
  split(t, 0, *numbers.rows);
  parallelize(t, 0, ParallelType::block_x);
  parallelize(t, 1, ParallelType::thread_x);
  if (lanes) parallelize(t, 2, ParallelType::vectorize);
  const int first = lanes ? 3 : 2;
  for (int d = 1; d < reduced; ++d) merge(t, first);
  if (*numbers.threads > 1) {
    split(t, first, *numbers.threads);
    parallelize(t, first + 1, ParallelType::thread_y);
  }
  if (*numbers.parts > 1) split(t, first, *numbers.parts);
  const int64_t together = *numbers.threads * *numbers.parts;
  if (const int64_t task = numbers.split.value_or(0); task > together) split(t, first, task / together);
  return first;
}

int norm_loops_of_columns(TensorView& t, const schedules::Norm& numbers, int column, int scanned) {
  const auto [kept, reduced] = kept_first(t, scanned);
  if (scanned >= 0 && column > scanned) --column;
  const int place = put_column_last(t, column, kept);
  const bool lanes = *numbers.vector > 1;
  if (lanes) split(t, place, *numbers.vector);
  if (kept > 1) merge(t, 0);
  parallelize(t, 0, ParallelType::cpu_thread);
  if (lanes) parallelize(t, 1, ParallelType::vectorize);
  const bool parts = *numbers.parts > 1 && reduced > 0;
  if (parts) split(t, reduced + (lanes ? 1 : 0), *numbers.parts);
  const int64_t task = numbers.split.value_or(0) / (parts && reduced == 1 ? *numbers.parts : 1);
  const int first = lanes ? 2 : 1;
  if (task > 1) split(t, first, task);
  return first;
}

}  // namespace plait
