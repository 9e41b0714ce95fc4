#include "schedule/norm.h"

#include <algorithm>
#include <functional>
#include <numeric>

#include "axes/build_graph.h"
#include "axes/transforms.h"
#include "axes/walk.h"
#include "base/error.h"
#include "schedule/nest.h"
#include "schedule/norm_loops.h"
#include "schedule/norm_rows.h"
#include "schedule/norm_split.h"
#include "schedule/place_group.h"
#include "schedule/reads.h"
#include "schedule/scan_groups.h"

namespace plait {

namespace {

using namespace norm;

constexpr int64_t kVectors = 4;          // registers that serve as one vector of the kernel: accumulators of a sum
constexpr int64_t kLanesOfSums = 16;     // lanes of rows that are only summed: more cost more at the end of a row
constexpr int64_t kMostKept = 64 << 10;  // the same where a text pins it: half a MiB of f64
constexpr int64_t kMostLanes = 64;
constexpr int64_t kMostKeptBlocks = 65535;
constexpr int64_t kManyBlocks = 128;  // that keep the multiprocessors of a GPU busy
constexpr int64_t kRowsOfTask = 64;   // whose columns are summed
constexpr size_t kScansInRow = 2;     // of tasks that share rows: each waits for the one before it

std::optional<Refused> accept(const Problem& problem) {
  return norm_refuses(problem.fusion, problem.segment.ops, problem.segment.outputs,
                      [&](sym::Expr e) { return problem.decide(e); });
}

// Lanes: several registers' worth, but no more than the row has.
int64_t choose_vector(const Problem& problem, const Target& target, Rows& rows, int64_t most) {
  bool wide = false, sums = true;  // sums: and no functions of many instructions
  for (const Op* op : problem.segment.ops) {
    for (const TensorView* t : op->results) wide = wide || size_of(compute_type(t->dtype)) == 8;
    const auto* p = as<PointwiseOp>(*op);
    const auto* r = as<Reduce>(*op);
    const bool waits = p != nullptr && info(p->function).cost == CostClass::transcendental;
    const bool other = is_reduction(*op) && (r == nullptr || finds_index(r->function));
    sums = sums && !waits && !other && op->kind != OpKind::Uniform && op->kind != OpKind::Normal;
  }
  const int64_t lanes = wide ? target.vector_lanes / 2 : target.vector_lanes;
  int64_t vector = std::clamp<int64_t>(lanes * kVectors, 1, kMostLanes);
  if (rows.is_row() && !rows.scans() && rows.is_one_pass() && sums)
    vector = std::min(vector, std::max(lanes, wide ? kLanesOfSums / 2 : kLanesOfSums));
  while (vector > 1 && vector / 2 >= most) vector /= 2;
  return vector;
}

// Whether a buffer of so many elements holds a row as its loops lay it out: outer reduced dims, then whole parts.
bool holds_row(const Problem& problem, const Rows& rows, const schedules::Norm& numbers, int64_t elements) {
  const int64_t part = *numbers.vector * *numbers.parts;
  if (rows.row_begin() == 0) return elements >= part && problem.decide(sym::le(rows.row(0), elements / part * part));
  const sym::Expr parts = sym::ceildiv(rows.row(rows.row_begin()), part);
  return problem.decide(sym::le(rows.row(0, rows.row_begin()) * parts * part, elements));
}

// Elements of the outermost reduced dims per task of a first phase. Rows that are kept in buffers have no phases.
int64_t choose_split(const Problem& problem, Rows& rows, const schedules::Norm& numbers) {
  if (numbers.keep.value_or(0) > 0) {
    if (numbers.split.value_or(0) == 0) return 0;
    throw UserError(fmt::format("split = {} does not apply: rows are kept in buffers", *numbers.split), problem.where(),
                    "leave it out, or keep = 0");
  }
  if (!numbers.split && rows.longest_scans() > kScansInRow) return 0;
  SplitRows how;
  how.is_row = rows.is_row();
  how.one_pass = !rows.scans() && rows.is_one_pass();
  how.blocks = numbers.threads.has_value();
  how.scans = rows.scans();
  how.kept = rows.kept_extent();
  how.reduced = rows.row(0);
  const size_t count = rows.reduced_dims().size(), outer = how.is_row ? rows.row_begin() : count;
  const bool whole = how.is_row ? outer == 0 : outer == 1 || numbers.threads;
  how.outermost = rows.row(0, whole ? SIZE_MAX : 1);
  if (whole) how.together = (how.is_row ? *numbers.vector : 1) * *numbers.parts * numbers.threads.value_or(1);
  how.inner = rows.row(whole ? SIZE_MAX : 1);
  return choose_split(problem, how, numbers.split);
}

// How many elements of each tensor that is worth it are kept on the stack.
void choose_keep(const Problem& problem, const Rows& rows, schedules::Norm& out) {
  const ScheduledGroup stored = stored_group(problem.fusion, problem.segment);
  Rows kept = rows_of(stored);
  const auto count = static_cast<int64_t>(kept.worth_keeping().size());
  if (!out.keep) {
    const int64_t elements = elements_of_each(count);
    out.keep = count > 0 && holds_row(problem, rows, out, elements) ? elements : 0;
    return;
  }
  if (*out.keep == 0 && !kept.elsewhere().empty()) {
    const int64_t split = out.split.value_or(0);
    throw UserError(fmt::format("{} = {} does not apply: moves read at other places of %{}",
                                split > 0 ? "split" : "keep", split, (*kept.elsewhere().begin())->name),
                    problem.where(), split > 0 ? "leave it out" : "leave it out, or keep a row");
  }
  if (*out.keep == 0 || count == 0) return;
  if (count * *out.keep > kMostKept)
    throw UserError(fmt::format("keep = {} for {} tensors is too much for a stack", *out.keep, count), problem.where(),
                    fmt::format("keep at most {}", kMostKept / count));
  if (!holds_row(problem, rows, out, *out.keep))
    throw UserError(fmt::format("keep = {} does not hold a row of {} elements", *out.keep, sym::print(rows.row(0))),
                    problem.where(),
                    fmt::format("rows are kept in whole parts of vector * parts = {}", *out.vector * *out.parts));
}

// Rows of a task that sums columns too: 32 tasks where there are many rows, 16 at least.
int64_t rows_of_task(const Problem& problem, const Rows& rows) {
  return problem.decide(sym::ge(rows.kept_extent(), 32 * kRowsOfTask)) ? kRowsOfTask : kFewRows / 16;
}

schedules::Norm choose_of_gpu(const Problem& problem, const Target& target, Rows& rows, const schedules::Norm& pinned) {
  const bool parts_are_pinned = pinned.parts.has_value();
  schedules::Norm out = choose_norm_of_gpu(problem, target, pinned);
  if (!rows.column_sums().empty()) {
    if (out.split.value_or(0) == 0) return out;
    throw UserError(
        fmt::format("split = {} does not apply: tasks have whole rows, with sums over all of them", *out.split),
        problem.where(), "leave it out");
  }
  const bool is_pinned = out.shared.value_or(0) > 0;
  const bool many = rows.is_row() && out.keep == 0 && !out.split &&  // whole rows keep all blocks busy
                    problem.decide(sym::ge(rows.kept_extent(), kManyBlocks));
  if (is_pinned || many) choose_shared(problem, target, parts_are_pinned, out);
  if (out.shared.value_or(0) > 0) return out;
  const int64_t split = choose_split(problem, rows, out);
  // What is kept is the second dim of a grid then.
  const bool fits = split > 0 && problem.decide(sym::le(rows.kept_extent(), kMostKeptBlocks));
  if (fits) out.split = split;
  if (rows.is_row()) choose_shared(problem, target, parts_are_pinned, out);
  if (split > 0 && !fits && out.split)
    throw UserError(
        fmt::format("split = {} does not apply: more than {} rows or columns are no grid", split, kMostKeptBlocks),
        problem.where(), "leave it out");
  return out;
}

Schedule choose(const Problem& problem, const Target& target, const Schedule& pin) {
  schedules::Norm out;
  if (const auto* pinned = std::get_if<schedules::Norm>(&pin)) out = *pinned;
  Rows rows = rows_of(problem);
  if (target.cuda()) {
    const bool is_pinned = out.align.has_value();
    out = choose_of_gpu(problem, target, rows, out);
    settle_align(problem, is_pinned, out);
    return out;
  }
  for (const auto& [key, number] :
       {std::pair("threads", &out.threads), std::pair("each", &out.each), std::pair("cluster", &out.cluster),
        std::pair("shared", &out.shared), std::pair("align", &out.align)})
    if (*number) throw UserError(fmt::format("{} = {} is for GPUs", key, **number), problem.where(), "leave it out");
  const int64_t row = longest(rows.row(rows.is_row() ? rows.row_begin() : 0));
  if (!rows.is_row()) {
    const auto refuse = [&](const char* key, const Choice& number, int64_t only) {
      if (number.value_or(only) != only)
        throw UserError(
            fmt::format("{} = {} does not apply: the reduced dims are not the innermost in memory", key, *number),
            problem.where(), "leave it out");
    };
    refuse("rows", out.rows, 1);
    refuse("keep", out.keep, 0);
    out.keep = 0;
  }
  const TensorView& result = *rows.reference()->results[0];
  const int64_t along = rows.is_row() ? row : longest(result.extent(static_cast<size_t>(*rows.column())));
  if (!out.vector) out.vector = choose_vector(problem, target, rows, along);
  if (!out.rows) out.rows = rows.column_sums().empty() ? 1 : rows_of_task(problem, rows);
  if (!out.parts) out.parts = has_sums(problem) && row / (rows.is_row() ? *out.vector : 1) > kTerms ? kTerms : 1;
  if (out.split.value_or(0) > 0 && !out.keep) out.keep = 0;
  choose_keep(problem, rows, out);
  if (!rows.column_sums().empty()) {
    if (out.split.value_or(0) == 0) return out;
    throw UserError(
        fmt::format("split = {} does not apply: tasks have whole rows, with sums over all of them", *out.split),
        problem.where(), "leave it out");
  }
  if (const int64_t split = choose_split(problem, rows, out); split > 0) out.split = split;
  return out;
}

// The tensors, and the copies that roots got of them.
std::vector<TensorView*> with_copies(const ScheduledGroup& group, std::vector<TensorView*> tensors) {
  const std::set<const TensorView*> originals(tensors.begin(), tensors.end());
  for (const Op* op : group.graph->ops())
    for (TensorView* t : op->results) {
      const auto copy = group.copies.find(t);
      if (copy != group.copies.end() && originals.contains(copy->second)) tensors.push_back(t);
    }
  return tensors;
}

// How many loops are around those of a row, or of a vector of columns.
int make_loops(const Rows& rows, const schedules::Norm& numbers, TensorView& t) {
  if (!rows.column_sums().empty() && numbers.threads)
    return norm_loops_of_blocks(t, numbers, rows.row_begin(), rows.scanned(), ParallelType::serial);
  if (!rows.column_sums().empty())
    return norm_loops(t, numbers, rows.row_begin(), rows.scanned(), ParallelType::serial);
  if (numbers.threads)
    return rows.is_row() ? norm_loops_of_blocks(t, numbers, rows.row_begin(), rows.scanned())
                         : norm_columns_of_blocks(t, numbers, *rows.column(), rows.scanned());
  return rows.is_row() ? norm_loops(t, numbers, rows.row_begin(), rows.scanned())
                       : norm_loops_of_columns(t, numbers, *rows.column(), rows.scanned());
}

std::optional<ScheduledGroup> group(const Problem& problem, const Schedule& schedule) {
  const auto& numbers = std::get<schedules::Norm>(schedule);
  ScheduledGroup out = stored_group(problem.fusion, problem.segment);
  out.schedule = schedule, out.align = numbers.align.value_or(1);
  Fusion& graph = *out.graph;
  std::set<const TensorView*> kept;
  const int64_t shared = numbers.threads ? numbers.shared.value_or(0) : 0;
  if (shared > 0) kept = share_rows(out, numbers);
  if (numbers.threads && numbers.keep.value_or(0) > 0) kept = keep_rows(out, numbers);
  std::set<const Op*> scanned;
  if (numbers.threads && *numbers.vector > 1 && rows_of(out).is_row()) scanned = copy_around_scans(out);
  Rows rows = rows_of(out);
  PLAIT_CHECK(rows.reference() != nullptr, "a norm without a reduction");
  if (!numbers.threads && numbers.keep.value_or(0) > 0) kept = rows.worth_keeping();
  std::map<int, std::vector<Op*>> by_pass;
  const std::set<const TensorView*> outputs(graph.outputs().begin(), graph.outputs().end());
  for (Op* op : graph.ops()) {
    const TensorView* t = op->results[0];
    const bool stored =
        std::any_of(op->results.begin(), op->results.end(), [&](auto* r) { return outputs.contains(r); });
    const bool root = is_reduction(*op) || kept.contains(t) || stored || scanned.contains(op);
    if (out.reads.contains(op) || !root) continue;
    by_pass[4 * rows.stage(*t) - (is_reduction(*op) ? 2 : 0)].push_back(op);
  }
  const std::set<const Op*> before(graph.ops().begin(), graph.ops().end());
  if (numbers.split.value_or(0) > 0)
    for (Op* total : add_totals(out)) by_pass[4 * rows.stage(*totalled(*total)) - 1].push_back(total);
  std::vector<Op*> roots;
  for (const auto& [pass, ops] : by_pass) roots.insert(roots.end(), ops.begin(), ops.end());
  for (const TensorView* t : kept) out.kept[t] = graph.pool().constant(shared > 0 ? shared : *numbers.keep);
  out.whole = rows.elsewhere();
  copy_for_roots(out, roots, [&](const TensorView& t) { return before.contains(t.definition) && !rows.is_wide(t); });
  share_totals(out);
  out.reference = rows.reference()->results[0];
  out.aligned = with_copies(out, rows.aligned());
  // What a pass waits for is made once per row, in front of the pass.
  const int row_loops = make_loops(rows, numbers, *out.reference);
  if (numbers.split.value_or(0) > 0) out.phases = row_loops;
  out.column_sums = rows.column_sums();
  for (const Op* op : out.column_sums) {
    TensorView* sum = op->results[0];
    norm_loops_of_column_sum(*sum, numbers);
    out.own_loops.insert(sum);
    out.kept[sum] = graph.pool().constant(columns_of_each(static_cast<int64_t>(out.column_sums.size())));
  }
  if (numbers.threads && shared == 0 && (!kept.empty() || !out.column_sums.empty())) {
    out.cuts = {*numbers.vector, *numbers.threads, numbers.cluster.value_or(1), *numbers.parts};
    out.most = std::accumulate(out.cuts.begin(), out.cuts.end(), int64_t{1}, std::multiplies<>());
    for (int d : rows.reduced_dims())
      if (d >= 0) out.row.push_back(inputs(*rows.reference()).front()->extent(static_cast<size_t>(d)));
  }
  for (const Op* op : graph.ops())
    for (const TensorView* t : op->results) {
      if (out.reads.contains(op)) continue;
      const bool once = kept.contains(t) || (before.contains(op) && !rows.is_wide(*t));
      if (once && !outputs.contains(t)) out.inline_at[t] = row_loops;
    }
  if (rows.scans() && rows.is_row() && *numbers.vector > 1) place_vectors(out);
  return out;
}

}  // namespace

namespace {

Segment segment_of(std::span<Op* const> ops, std::span<TensorView* const> outputs) {
  Segment out{"asked", {}, {outputs.begin(), outputs.end()}, {ops.begin(), ops.end()}, {}, ""};
  std::set<const TensorView*> known;
  for (const Op* op : ops) known.insert(op->results.begin(), op->results.end());
  for (const Op* op : ops)
    for (TensorView* t : inputs(*op))
      if (known.insert(t).second) out.inputs.push_back(t);
  return out;
}

// Whether the loops go over the rows once: all that is computed stands in one loop of the root. Those around the
// initial values and results of columns are beside it.
bool goes_over_rows_once(const ScheduledGroup& group) {
  AxisGroup axes = build_axis_graph(group.graph->pool(), group.graph->ops(), {.extent = {}, .reads = &group.reads});
  LoopTree tree;
  if (place_group(group, axes, {}, tree)) return false;
  std::set<int> outermost;
  for (const auto& [op, placed] : tree.ops)
    if (placed.loop >= 0) outermost.insert(tree.path(placed.loop).front());
  return outermost.size() == 1;
}

// Why rows with sums of columns are no kernel of one pass over the rows.
std::optional<Refused> refuse_nests(const Fusion& fusion, std::span<Op* const> ops,
                                    std::span<TensorView* const> outputs) {
  const Segment segment = segment_of(ops, outputs);
  for (const int64_t keep : {kKeptElements, int64_t{0}}) {
    const schedules::Norm numbers{.vector = 8, .rows = 16, .parts = 1, .keep = keep};
    const std::optional<ScheduledGroup> asked = group({fusion, segment}, numbers);
    if (!goes_over_rows_once(*asked))
      return Refused{"sums of columns would go over the rows once more",
                     "let them be a kernel of their own: nothing is lost where rows are short"};
    if (asked->kept.size() == asked->column_sums.size()) break;  // no row is kept, whatever the number
  }
  return std::nullopt;
}

// fn(rows of the group, import of a condition into the fusion's pool).
template <class Fn>
std::optional<Refused> ask_rows(const Fusion& fusion, std::span<Op* const> ops, std::span<TensorView* const> outputs,
                                Fn&& fn) {
  const std::set<const Op*> reads = find_reads(ops);
  const auto is_read = [&](const TensorView* t) { return reads.contains(t->definition); };
  if (std::none_of(outputs.begin(), outputs.end(), is_read))
    return fn(Rows(fusion.pool(), ops, outputs, reads), [](sym::Expr e) { return e; });
  const ScheduledGroup group = stored_group(fusion, segment_of(ops, outputs));
  return fn(rows_of(group), [&](sym::Expr e) { return sym::import(fusion.pool(), e); });
}

}  // namespace

std::optional<Refused> norm_refuses(const Fusion& fusion, std::span<Op* const> ops,
                                    std::span<TensorView* const> outputs,
                                    const std::function<bool(sym::Expr)>& decide) {
  bool sums_columns = false;
  auto refused = ask_rows(fusion, ops, outputs, [&](const Rows& rows, const auto& import) {
    sums_columns = rows.reference() != nullptr && !rows.column_sums().empty();
    return rows.refuse([&](sym::Expr e) { return decide ? decide(import(e)) : sym::proven(import(e)); });
  });
  return refused || !sums_columns ? refused : refuse_nests(fusion, ops, outputs);
}

namespace {

// Whether reductions have results of different shapes.
bool reduces_unlike(std::span<Op* const> ops) {
  std::set<std::vector<uint64_t>> shapes;
  for (const Op* op : ops) {
    if (!is_reduction(*op)) continue;
    std::vector<uint64_t> ids;
    for (sym::Expr e : op->results[0]->shape())
      if (e.constant() != 1) ids.push_back(e.id());
    shapes.insert(std::move(ids));
  }
  return shapes.size() > 1;
}

}  // namespace

std::optional<Refused> norm_refuses_of_gpus(const Fusion& fusion, std::span<Op* const> ops,
                                            std::span<TensorView* const> outputs,
                                            const std::function<bool(sym::Expr)>& decide) {
  const bool scans = std::any_of(ops.begin(), ops.end(), [](const Op* op) { return is_scan(op->kind); });
  const bool moves = scans && std::any_of(ops.begin(), ops.end(), [](const Op* op) { return reads_elsewhere(*op); });
  if (!moves && !reduces_unlike(ops)) return std::nullopt;
  return ask_rows(fusion, ops, outputs, [&](const Rows& rows, const auto& import) -> std::optional<Refused> {
    if (rows.reference() == nullptr) return std::nullopt;
    const sym::Expr many = sym::ge(rows.kept_extent(), kLeastRowsOfGpus);
    if (!rows.column_sums().empty() && !(decide ? decide(import(many)) : sym::proven(many)))
      return Refused{fmt::format("{}, of fewer than {} rows", rows.column_sums_differ(), kLeastRowsOfGpus),
                     "nothing: blocks have several rows each, which is for many rows"};
    if (rows.elsewhere().empty()) return std::nullopt;
    return Refused{fmt::format("%{} is read at other places of its row, and a GPU keeps no whole rows",
                               (*rows.elsewhere().begin())->name),
                   "compile for the CPU, which keeps them, or let no move read the scan"};
  });
}

Scheduler norm_scheduler() {
  return {.name = schedules::Norm::kName,
          .accept = accept,
          .choose = choose,
          .apply = nullptr,
          .group = group,
          .refuses_of_gpus =
              [](const Problem& p) {
                return norm_refuses_of_gpus(p.fusion, p.segment.ops, p.segment.outputs,
                                            [&](sym::Expr e) { return p.decide(e); });
              },
          .concerns =
              [](std::span<Op* const> ops) {
                return std::ranges::any_of(ops, [](const Op* op) { return is_rowwise(*op); });
              }};
}

}  // namespace plait
