#pragma once
// Loops of the norm scheduler, as transforms on the result of a group's reference: a reduction, or a scan along dim
// `scanned` (else -1), which takes the place of the reduced dims.
#include "ir/fusion.h"

namespace plait {

// Loops of rows: [kept, in groups of rows] as tasks, [rows], outer reduced dims, the row in parts, vectors and lanes;
// the outermost reduced one in tasks. The place of these.
int norm_loops(TensorView& t, const schedules::Norm& numbers, size_t row_begin, int scanned,
               ParallelType tasks = ParallelType::cpu_thread);

// Of a sum over all rows of the same loops: [groups of rows], [rows], which it reduces, and the row, which it keeps.
void norm_loops_of_column_sum(TensorView& t, const schedules::Norm& numbers);

// Loops of rows on GPUs: kept dims are blocks and, where a block has several rows, a loop and its threads in y; then
// outer reduced dims, the row in parts, the blocks of a cluster, threads in x, and lanes; the outermost reduced one in
// tasks. The place of these.
int norm_loops_of_blocks(TensorView& t, const schedules::Norm& numbers, size_t row_begin, int scanned,
                         ParallelType blocks = ParallelType::block_x);

// Loops of columns on GPUs: [other kept dims, vectors of columns] are blocks and threads in x, lanes, reduced dims as
// one, in tasks, parts and threads in y. The place of these.
int norm_columns_of_blocks(TensorView& t, const schedules::Norm& numbers, int column, int scanned);

// Loops of columns: [other kept dims, vectors of columns] parallel, lanes, reduced dims, the first one in tasks, the
// last one in parts. The place of the tasks.
int norm_loops_of_columns(TensorView& t, const schedules::Norm& numbers, int column, int scanned);

}  // namespace plait
