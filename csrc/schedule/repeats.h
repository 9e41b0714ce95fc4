#pragma once
// Of GPUs, what a thread of an elementwise kernel has several of, so that operands which come again are read once: rows
// along a dim that operands lack (a bias, the tables of a rotary embedding), and pieces of a row of which each is read
// for the others too (its halves, rotated).
#include "schedule/scheduler.h"

namespace plait {

// The outer dim, before dim `split`, of which rows share the most bytes of operands, of those that 8, 4 or 2 divide,
// and the largest of these numbers; nothing where no rows share any.
struct RepeatedRows {
  int dim = 0;
  int64_t each = 1;
};
std::optional<RepeatedRows> repeated_rows(const Segment& segment, int split);

// Of how many pieces the row from dim `split` on is, where an input is read at several of them; 1 where none is.
int64_t pieces_of_row(const Segment& segment, int split);

// Fills pieces, along and each where they pay and nobody pinned them, for vectors of so many lanes. UserError for
// pinned ones that do not apply.
void choose_repeats(const Problem& problem, const Target& target, schedules::Pointwise& numbers);

}  // namespace plait
