#include "schedule/norm_split.h"

#include <algorithm>

#include "base/error.h"

namespace plait {

namespace {

constexpr int64_t kTask = 16 << 10;     // elements of a row per task: 64 KiB of f32
constexpr int64_t kColumnTask = 64;     // rows of a task that reduces columns
constexpr int64_t kFewRows = 16;        // fewer than these do not keep the threads of a machine busy
constexpr int64_t kFewRowsOfSums = 64;  // the same where each element is read once, so that phases cost nothing

int64_t rounded(int64_t elements, int64_t together) { return std::max<int64_t>(elements / together, 1) * together; }

int64_t follow(const Problem& problem, const SplitRows& rows) {
  const int64_t task = rounded(rows.is_row ? std::max<int64_t>(kTask / rows.outer, 1) : kColumnTask, rows.together);
  if (!problem.decide(sym::gt(rows.outermost, 2 * task))) return 0;
  const bool whole = rows.outermost == rows.reduced;
  if (rows.is_row && !whole && !problem.decide(sym::gt(rows.reduced, 2 * kTask))) return 0;
  return !rows.is_row || problem.decide(sym::lt(rows.kept, rows.one_pass ? kFewRowsOfSums : kFewRows)) ? task : 0;
}

}  // namespace

int64_t choose_split(const Problem& problem, const SplitRows& rows, const Choice& pinned) {
  if (!pinned) return follow(problem, rows);
  if (*pinned % rows.together == 0) return *pinned;
  throw UserError(fmt::format("split = {} cuts what one iteration takes at once", *pinned), problem.where(),
                  fmt::format("give a multiple of {}, or 0", rows.together));
}

}  // namespace plait
