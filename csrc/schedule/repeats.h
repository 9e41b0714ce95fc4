#pragma once
// Of GPUs, what a thread of an elementwise kernel has several of, so that operands which come again are read once: rows
// along a dim that operands lack (a bias, the tables of a rotary embedding), and pieces of a row of which each is read
// for the others too (its halves, rotated).
#include "schedule/scheduler.h"

namespace plait {

// Fills pieces, along and each where they pay and nobody pinned them, for vectors of so many lanes. UserError for
// pinned ones that do not apply.
void choose_repeats(const Problem& problem, const Target& target, schedules::Pointwise& numbers);

}  // namespace plait
