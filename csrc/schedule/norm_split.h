#pragma once
// Rows that several tasks share: how many elements of a row a task of the first phase reduces.
#include <string>

#include "schedule/scheduler.h"

namespace plait {

// What of a group of rows decides whether and how they are split.
struct SplitRows {
  sym::Expr kept;         // rows; of columns, all kept elements
  sym::Expr reduced;      // elements of a row
  sym::Expr outermost;    // of its outermost reduced dims, which are split
  int64_t together = 1;   // of these, how many the loops within take at once
  sym::Expr inner;        // elements of a row per element of the outermost dims
  bool is_row = true;     // vectors run along the reduced dims
  bool one_pass = false;  // no op but those of kept dims waits for a reduction
  bool blocks = false;    // of a GPU, for tasks: more of them are busy at once, and what they read is in no cache
  bool scans = false;     // each part merges the states of all those in front of it
};

// Elements of the outermost reduced dims per task; 0: rows are not split. `pinned`: obeyed, or refused by a UserError.
// Follows from sizes alone, so that the order of additions does.
int64_t choose_split(const Problem& problem, const SplitRows& rows, const Choice& pinned);

}  // namespace plait
