#include "schedule/scatter.h"

#include <algorithm>

#include "base/error.h"
#include "schedule/scatter_plan.h"

namespace plait {

namespace {

constexpr int64_t kUpdateCost = 4;        // of an update beside the copy of an element
constexpr int64_t kSortedCost = 1 << 16;  // from here on updates are sorted by ranges
constexpr int64_t kShortRow = 8, kCachedElements = 2 << 20;
constexpr int64_t kRanges = 256;  // at most, while a range has kMostRows places or fewer
constexpr int64_t kMostRows = 1 << 14, kMostStackRows = 512;
constexpr int64_t kRangeElements = 128 << 10;  // of a range in memory: half a MiB of f32
constexpr int64_t kStackElements = 16 << 10;   // of what a range holds on the stack: half a MiB of f64
constexpr int64_t kLeastColumns = 32, kMostColumns = 16 << 10, kTasks = 16;
constexpr int64_t kTileColumns = 256, kTileElements = 16;  // of rows; of elements that have an index each
constexpr int64_t kAccess = 16;                            // GPUs: bytes of a thread's access
constexpr int64_t kLeastThreads = 32, kMostThreads = 256;  // GPUs: of a block
constexpr int64_t kBlocks = 1024, kMostPlaces = 1024;      // GPUs: ranges, while one has so many places or fewer
constexpr int64_t kAtomicCost = 1 << 12;                   // GPUs: from here on updates are worth a launch
constexpr int64_t kChunk = 4096, kLongChunk = 32768, kLongIndex = 1 << 20;

std::optional<Refused> accept(const Problem& problem) {
  ScatterPlan plan;
  return plan_scatters(problem.segment.ops, problem.segment.outputs, plan);
}

// Sizes of a plan.
struct Sizes {
  sym::Expr places, updates, copied, updated, others, last;  // others: dims in front of the inner ones; last: columns
  bool has_columns = false;
};

Sizes sizes_of(const Problem& problem, const ScatterPlan& plan) {
  const ScatterPart& part = plan.parts[plan.widest];
  const TensorView& out = *part.op->results[0];
  const size_t dim = size_t(part.op->dim);
  const sym::Expr one = problem.fusion.pool().constant(1);
  Sizes s{out.extent(dim), part.op->index->extent(dim), one, one, one, one, part.has_inner()};
  for (size_t d = 0; d < out.rank(); ++d) {
    s.copied = s.copied * out.extent(d);
    s.updated = s.updated * part.op->index->extent(d);
    if (d != dim && d < part.inner) s.others = s.others * out.extent(d);
  }
  if (s.has_columns) s.last = out.extent(out.rank() - 1);
  return s;
}

int64_t choose_lanes(const ScatterPlan& plan, const Sizes& sizes, const Target& target) {
  const TensorView& out = *plan.parts[plan.widest].op->results[0];
  const sym::Expr extent = sizes.has_columns ? sizes.last : sizes.places;
  int64_t lanes = size_of(out.dtype) == 8 ? target.vector_lanes / 2 : target.vector_lanes;
  while (lanes > 1 && lanes > sym::bounds(extent).hi) lanes /= 2;
  return std::max<int64_t>(lanes, 1);
}

int64_t choose_rows(const Problem& problem, const ScatterPlan& plan, const Sizes& sizes) {
  if (!plan.has_rows) return 0;
  if (!problem.decide(sym::ge(sizes.copied + sizes.updated * kUpdateCost, kSortedCost))) return 0;
  // Short rows in a cache are updated where they lie in less time than it takes to sort them.
  const bool is_short = !sizes.has_columns || problem.decide(sym::lt(sizes.copied, sizes.places * kShortRow));
  if (is_short && !problem.decide(sym::ge(sizes.copied, kCachedElements)) &&
      !problem.decide(sym::le(sizes.updated * kUpdateCost, sizes.copied)))
    return 0;
  const int64_t most = sizes.has_columns ? kMostStackRows : kMostRows;
  for (int64_t rows = 1; rows < most; rows *= 4)
    if (problem.decide(sym::le(sizes.places, rows * kRanges))) return rows;
  return most;
}

int64_t choose_columns(const Problem& problem, const ScatterPlan& plan, const Sizes& sizes, int64_t rows,
                       bool on_stack) {
  if (!sizes.has_columns) return 0;
  if (rows == 0) {
    const int64_t tile = plan.parts[plan.widest].per_element ? kTileElements : kTileColumns;
    if (problem.decide(sym::ge(sizes.others, kTasks)) || problem.decide(sym::le(sizes.last, tile))) return 0;
    return tile;
  }
  if (problem.decide(sym::lt(sizes.places, rows * kTasks))) return kTileColumns;
  return std::clamp((on_stack ? kStackElements : kRangeElements) / rows, kLeastColumns, kMostColumns);
}

// Of GPUs: a block has a tile of the columns of some places, a vector for each thread.
void choose_columns_of_threads(const Problem& problem, const ScatterPlan& plan, const Sizes& sizes,
                               schedules::Scatter& out) {
  if (!sizes.has_columns) {
    if (out.vector.value_or(1) != 1)
      throw UserError("vector does not apply: the last dim is scattered", problem.where(), "leave it out");
    out.vector = 1;
    out.columns = 0;
    return;
  }
  const ScatterPart& part = plan.parts[plan.widest];
  if (!out.vector) {
    out.vector = part.per_element ? 1 : kAccess / static_cast<int64_t>(size_of(part.op->results[0]->dtype));
    while (*out.vector > 1 && sym::divisor(sizes.last) % *out.vector != 0) out.vector = *out.vector / 2;
  }
  if (part.per_element && *out.vector != 1)
    throw UserError("vector does not apply: each element has an index of its own", problem.where(), "leave it out");
  if (out.columns.value_or(0) == 0) {
    int64_t threads = kLeastThreads;
    while (threads < kMostThreads && !problem.decide(sym::le(sizes.last, threads * *out.vector))) threads *= 2;
    out.columns = threads * *out.vector;
  }
  const int64_t threads = *out.columns / *out.vector;
  if (threads * *out.vector != *out.columns || (threads & (threads - 1)) != 0 || threads > 1024)
    throw UserError(
        fmt::format("columns = {} are no vectors of {} for a power of two of threads", *out.columns, *out.vector),
        problem.where(), "at most 1024 threads have a vector each");
}

// Of GPUs: why updates may not go to their places in any order.
std::optional<std::string> refuses_atomics(const Problem& problem, const ScatterPlan& plan) {
  for (const ScatterPart& part : plan.parts) {
    const DType dtype = part.op->results[0]->dtype;
    const std::optional<AtomicOp> op = atomic_of(part.op->update);
    if (!op || !has_atomic(dtype, *op))
      return fmt::format("there is none for {} of {}", name(part.op->update), name(dtype));
    if (is_float(dtype) && !problem.unordered_sums) return "sums of floats keep the order of the index";
  }
  return std::nullopt;
}

// Whether they do. A few are one walk.
bool choose_atomics(const Problem& problem, const ScatterPlan& plan, const Sizes& sizes,
                    const schedules::Scatter& pinned) {
  const std::optional<std::string> refused = refuses_atomics(problem, plan);
  if (pinned.atomics.value_or(0) > 0) {
    if (refused)
      throw UserError(fmt::format("atomics do not apply: {}", *refused), problem.where(),
                      "leave them out; for sums of floats, set the option unordered_sums");
    if (pinned.rows.value_or(0) > 0 || pinned.columns.value_or(0) > 0 || pinned.chunk)
      throw UserError("rows, columns and chunk do not apply: updates go to their places by atomics", problem.where(),
                      "leave them out");
    return true;
  }
  return !refused && !pinned.atomics && !pinned.rows && !pinned.columns && !pinned.chunk &&
         problem.decide(sym::ge(sizes.copied + sizes.updated * kUpdateCost, kAtomicCost));
}

schedules::Scatter choose_of_gpu(const Problem& problem, const ScatterPlan& plan, const schedules::Scatter& pinned) {
  const Sizes sizes = sizes_of(problem, plan);
  schedules::Scatter out = pinned;
  const bool atomics = choose_atomics(problem, plan, sizes, pinned);
  choose_columns_of_threads(problem, plan, sizes, out);
  if (atomics) return {.vector = out.vector, .atomics = 1};
  if (!out.rows) {
    out.rows = 0;
    const bool sorts =
        plan.has_rows && problem.decide(sym::ge(sizes.copied + sizes.updated * kUpdateCost, kSortedCost));
    for (int64_t rows = 1; sorts && rows <= kMostPlaces; rows *= 4) {
      out.rows = rows;
      if (problem.decide(sym::le(sizes.places, rows * kBlocks))) break;
    }
  }
  if (!out.chunk && *out.rows > 0) out.chunk = problem.decide(sym::ge(sizes.updates, kLongIndex)) ? 1024 : 64;
  return out;
}

Schedule choose(const Problem& problem, const Target& target, const Schedule& pin) {
  ScatterPlan plan;
  const auto refused = plan_scatters(problem.segment.ops, problem.segment.outputs, plan);
  PLAIT_CHECK(!refused, "a scatter that was not accepted: {}", refused->reason);
  const Sizes sizes = sizes_of(problem, plan);
  schedules::Scatter out;
  if (const auto* pinned = std::get_if<schedules::Scatter>(&pin)) out = *pinned;
  const auto refuse = [&](const char* key, const std::string& why) {
    throw UserError(fmt::format("{} does not apply: {}", key, why), problem.where(), "leave it out");
  };
  if (out.rows.value_or(0) > 0 && !plan.has_rows)
    refuse("rows", "the index does not name whole rows of the result, one after another");
  if (target.cuda()) {
    if (out.columns.value_or(0) > 0 && !sizes.has_columns) refuse("columns", "the last dim is scattered");
    out = choose_of_gpu(problem, plan, out);
    if (out.chunk && *out.rows == 0) refuse("chunk", "nothing is sorted");
    return out;
  }
  if (out.atomics.value_or(0) > 0) refuse("atomics", "CPUs have none");
  if (!out.vector) out.vector = choose_lanes(plan, sizes, target);
  if (!out.rows) out.rows = choose_rows(problem, plan, sizes);
  if (out.columns.value_or(0) > 0 && !sizes.has_columns) refuse("columns", "the last dim is scattered");
  if (!out.columns) {
    const auto in_memory = [&](const ScatterPart& p) {
      const auto& outputs = problem.segment.outputs;
      return !p.has_inner() || std::find(outputs.begin(), outputs.end(), p.op->results[0]) != outputs.end();
    };
    const bool on_stack = !std::all_of(plan.parts.begin(), plan.parts.end(), in_memory);
    out.columns = choose_columns(problem, plan, sizes, *out.rows, on_stack);
  }
  if (out.chunk && *out.rows == 0) refuse("chunk", "nothing is sorted");
  if (!out.chunk && *out.rows > 0) out.chunk = problem.decide(sym::ge(sizes.updates, kLongIndex)) ? kLongChunk : kChunk;
  return out;
}

std::optional<ScheduledGroup> group(const Problem& problem, const Schedule& schedule) {
  ScheduledGroup out = make_group(problem.fusion, problem.segment);
  out.schedule = schedule;
  return out;
}

}  // namespace

std::optional<Refused> scatter_refuses_of_gpus(const ScatterPlan& plan) {
  const bool wide = plan.parts[plan.widest].has_inner();
  for (const ScatterPart& part : plan.parts)
    if (part.has_inner() != wide)
      return Refused{fmt::format("{} has rows of one element and {} longer ones: threads of a block share no element",
                                 describe(*part.op), describe(*plan.parts[plan.widest].op)),
                     "give both rows of one length, or compile for the CPU"};
  return std::nullopt;
}

Scheduler scatter_scheduler() {
  return {.name = schedules::Scatter::kName,
          .accept = accept,
          .choose = choose,
          .apply = nullptr,
          .group = group,
          .refuses_of_gpus =
              [](const Problem& p) {
                ScatterPlan plan;
                const bool taken = !plan_scatters(p.segment.ops, p.segment.outputs, plan);
                return taken ? scatter_refuses_of_gpus(plan) : std::nullopt;
              },
          .concerns =
              [](std::span<Op* const> ops) {
                return std::ranges::any_of(ops, [](const Op* op) { return op->kind == OpKind::Scatter; });
              }};
}

}  // namespace plait
