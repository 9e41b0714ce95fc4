#include "schedule/norm_split.h"

#include <algorithm>

#include "base/error.h"

namespace plait {

namespace {

constexpr int64_t kTask = 16 << 10;         // elements of a row per task: 64 KiB of f32
constexpr int64_t kMostTask = 1 << 20;      // the same of scans of very long rows
constexpr int64_t kFewRows = 16;            // fewer than these do not keep the threads of a machine busy
constexpr int64_t kFewRowsOfSums = 64;      // the same where each element is read once, so that phases cost nothing
constexpr int64_t kFewBlocks = 256;         // the same of the multiprocessors of a GPU
constexpr int64_t kColumnTask = 128;        // rows of a task that reduces columns
constexpr int64_t kManyColumns = 8 << 10;   // of so many, those of a vector stay in the cache between passes
constexpr int64_t kLeast = 1 << 10;         // elements per state of a task where reduced dims lie apart
constexpr int64_t kLeastOfBlock = 8 << 10;  // the same of a block
constexpr int64_t kLeastOfPiece = 128;      // elements of a row that lie together, where a task of a CPU walks it
constexpr int64_t kTogether = 8;            // of the outermost dim, where one alone has fewer
constexpr int64_t kCached = 8 << 20;        // elements that stay in the last cache between phases: 32 MiB of f32

// Reduced dims that are one: of rows where they are few, since each lies in one piece; of columns always, since a task
// then walks memory in its order.
int64_t follow_whole(const Problem& problem, const SplitRows& rows) {
  int64_t task = std::max<int64_t>((rows.is_row ? kTask : kColumnTask) / rows.together, 1) * rows.together;
  // A block that merges what all others left reads no more of that than an eighth of its own part, twice: a state has 8
  // bytes, an element 4, and half of the others are in front of it.
  if (rows.blocks && rows.scans)
    while (task < kMostTask && problem.decide(sym::gt(rows.reduced, task * (task / 4)))) task *= 2;
  if (!problem.decide(sym::gt(rows.reduced, 2 * task))) return 0;
  if (!rows.is_row) return rows.one_pass || problem.decide(sym::lt(rows.kept, kManyColumns)) ? task : 0;
  const int64_t few = rows.blocks ? kFewBlocks : rows.one_pass ? kFewRowsOfSums : kFewRows;
  return problem.decide(sym::lt(rows.kept, few)) ? task : 0;
}

// Reduced dims that lie apart, as those of batch norm: what lies between them is walked in its order by one task.
int64_t follow_apart(const Problem& problem, const SplitRows& rows) {
  if (!problem.decide(sym::gt(rows.reduced, 2 * kTask))) return 0;
  const int64_t least = rows.blocks ? kLeastOfBlock : kLeast;
  const int64_t task = problem.decide(sym::ge(rows.inner, least)) ? 1 : kTogether;
  if (task > 1 && !problem.decide(sym::ge(rows.inner * task, kLeast))) return 0;
  if (!problem.decide(sym::gt(rows.outermost, 4 * task))) return 0;
  if (rows.blocks && problem.decide(sym::lt(rows.kept, kFewBlocks))) return task;
  // A task that walks all pieces of its row finds them in its cache when it reads them again.
  if (!rows.blocks && !rows.one_pass && problem.decide(sym::ge(rows.kept, kFewRows)) &&
      problem.decide(sym::ge(rows.inner, kLeastOfPiece)))
    return 0;
  return rows.one_pass || problem.decide(sym::le(rows.kept * rows.reduced, kCached)) ? task : 0;
}

}  // namespace

int64_t choose_split(const Problem& problem, const SplitRows& rows, const Choice& pinned) {
  if (!pinned) return rows.outermost == rows.reduced ? follow_whole(problem, rows) : follow_apart(problem, rows);
  if (*pinned % rows.together == 0) return *pinned;
  throw UserError(fmt::format("split = {} cuts what one iteration takes at once", *pinned), problem.where(),
                  fmt::format("give a multiple of {}, or 0", rows.together));
}

}  // namespace plait
