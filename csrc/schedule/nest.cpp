#include "schedule/nest.h"

#include <algorithm>
#include <numeric>

#include "axes/transforms.h"
#include "base/error.h"

namespace plait {

namespace {

constexpr int64_t kRows = 8;
constexpr int64_t kColumns = 1024;  // of a row that is only moved, per parallel iteration
constexpr int64_t kTile = 16;       // neighbours that a scatter takes along
constexpr int64_t kTerms = 32;      // of a sum that are added one after another
constexpr int kLevels = 3;          // of parts that a sum has along one dim

bool is_contraction(const Op& op) { return property(op.kind) == OpProperty::contraction; }

// Rows of a tile: no more than the result has. A matmul's batches are not rows, their operands differ.
int64_t choose_rows(const Op& op) {
  const size_t last = op.out()->rank() - 1;
  int64_t most = 1;
  for (size_t d = op.kind == OpKind::Matmul ? last - 1 : 0; d < last; ++d) {
    const int64_t hi = sym::bounds(op.out()->extent(d)).hi;
    if (hi >= kRows) return kRows;
    most *= std::max<int64_t>(hi, 1);
  }
  return std::min(most, kRows);
}

bool holds(const std::vector<int64_t>& dims, int64_t dim) {
  return std::find(dims.begin(), dims.end(), dim) != dims.end();
}

// Whether vectors run along what is summed: the operand's last dim.
bool sums_lanes(const Op& op) {
  const int64_t last = inputs(op).empty() ? -1 : static_cast<int64_t>(inputs(op).front()->rank()) - 1;
  if (const auto* var = as<Var>(op)) return holds(var->dims, last);
  if (const auto* moments = as<VarMean>(op)) return holds(moments->dims, last);
  const auto* reduce = as<Reduce>(op);
  return reduce != nullptr && holds(reduce->dims, last) && !finds_index(reduce->function);
}

// Why a nest has one lane: vectors would run along the last dim of the result, or of the operand where that is summed
// over. Empty where they may.
std::string one_lane(const Op& op) {
  const int64_t rank = inputs(op).empty() ? 0 : static_cast<int64_t>(inputs(op).front()->rank()), last = rank - 1;
  const auto unless = [](bool good, const char* why) { return good ? std::string() : std::string(why); };
  const char* apart = "neighbours in its last dim are no neighbours in the operand";
  const char* guarded = "elements of its last dim are not all read from one operand";
  const char* first = "the place of an extremum is found in order";
  const char* looked_up = "every element has an index of its own";
  return visit(op, overloaded{
                       [&](const Reduce& o) { return unless(!holds(o.dims, last) || sums_lanes(op), first); },
                       [&](const MaxWithArgmax& o) { return unless(!holds(o.dims, last), first); },
                       [&](const MinWithArgmin& o) { return unless(!holds(o.dims, last), first); },
                       [&]<class T>(const T&)
                         requires(is_scan(T::kKind))
                       { return std::string("its loops end with a scan"); },
                       [&](const Sort&) { return std::string("its elements change places"); },
                       [&](const Permute& o) { return unless(o.dims.back() == last, apart); },
                       [&](const Slice& o) { return unless(o.dim != last || o.step == 1, apart); },
                       [&](const Flip& o) { return unless(!holds(o.dims, last), apart); },
                       [&](const Roll& o) { return unless(!holds(o.dims, last), apart); },
                       [&](const Repeat& o) { return unless(rank == 0 || o.repeats.back() == 1, apart); },
                       [&](const Pad& o) {
                         const size_t d = static_cast<size_t>(last);
                         return unless(o.low[d].constant() == 0 && o.high[d].constant() == 0, guarded);
                       },
                       [&](const Cat& o) { return unless(o.dim != last, guarded); },
                       [&](const Gather&) { return std::string(looked_up); },
                       [&](const Scatter&) { return std::string(looked_up); },
                       [&](const IndexSelect& o) { return unless(o.dim != last, looked_up); },
                       [](const Op&) { return std::string(); },
                       });
}

// What a scatter costs on a CPU beside the copy of an element, which is 1: an update; the visit of an index by each of
// the ranges; branches to and from the range that takes it, which nothing foretells. Measured in f32 along one dim.
constexpr int64_t kUpdateCost = 4, kVisitCost = 3, kBranchCost = 12;
// There are no ranges where the other dims give this many parallel iterations, or where the scatter costs less.
constexpr int64_t kTasks = 16, kGpuTasks = 4096, kLeastCost = 1 << 15;
constexpr int64_t kRanges = 8, kGpuRanges = 256, kLeastPlaces = 64, kGpuLeastPlaces = 4;

// Ranges of a scatter's dim. Each walks the whole index, so that the updates of a place keep their order. By sizes
// alone there are no more than give parallel iterations enough. On a CPU what they add is at most half of the rest; on
// a GPU the threads of a warp walk together, and a range is a thread.
int64_t choose_ranges(const Problem& problem, const Scatter& op, bool cuda) {
  const size_t dim = static_cast<size_t>(op.dim), last = op.in->rank() - 1;
  const sym::Expr places = op.in->extent(dim);
  sym::Expr others = problem.fusion.pool().constant(1), copied = places, updated = op.index->extent(dim);
  for (size_t d = 0; d <= last; ++d) {
    if (d == dim) continue;
    others = others * (d == last && !cuda ? sym::ceildiv(op.in->extent(d), kTile) : op.in->extent(d));
    copied = copied * op.in->extent(d);
    updated = updated * op.index->extent(d);
  }
  const sym::Expr cost = copied + updated * kUpdateCost;
  const int64_t tasks = cuda ? kGpuTasks : kTasks, least = cuda ? kGpuLeastPlaces : kLeastPlaces;
  if (!problem.decide(sym::lt(others, tasks)) || !problem.decide(sym::ge(cost, kLeastCost))) return 1;
  for (int64_t ranges = cuda ? kGpuRanges : kRanges; ranges > 1; ranges /= 2) {
    const sym::Expr added = updated * (kVisitCost * (ranges - 1) + kBranchCost);
    if (problem.decide(sym::lt(others * (ranges / 2), tasks)) && problem.decide(sym::ge(places, ranges * least)) &&
        (cuda || problem.decide(sym::le(added * 2, cost))))
      return ranges;
  }
  return 1;
}

// Lanes along the last dim; along one that is summed no more than it has elements, and none where those are few.
int64_t choose_lanes(const TensorView& tensor, bool summed, const Target& target) {
  const sym::Expr extent = tensor.shape().back();
  int64_t lanes = extent.constant() == 1       ? 1
                  : size_of(tensor.dtype) == 8 ? target.vector_lanes / 2
                                               : target.vector_lanes;
  if (summed)
    while (lanes > 1 && lanes > sym::bounds(extent).hi) lanes = lanes > 4 ? lanes / 2 : 1;
  return std::max<int64_t>(1, lanes);
}

std::optional<Refused> accept(const Problem& problem) {
  if (problem.segment.ops.size() != 1)
    return Refused{fmt::format("{} ops, and a nest computes a single one", problem.segment.ops.size()),
                   "nothing: what no schedule has beside others is a kernel of its own"};
  const Op& op = *problem.segment.ops.front();
  const OpProperty kind = property(op.kind);
  const bool moves = kind == OpProperty::communication || kind == OpProperty::local_move;
  if (moves || kind == OpProperty::composite)
    return Refused{fmt::format("{} is no computation", describe(op)), "nothing: it is a step of its own"};
  return std::nullopt;
}

Schedule choose(const Problem& problem, const Target& target, const Schedule& pin) {
  const Op& op = *problem.segment.ops.front();
  const TensorView& out_tensor = *op.results[0];
  schedules::Nest out;
  if (const auto* pinned = std::get_if<schedules::Nest>(&pin)) out = *pinned;
  const auto refuse = [&](const char* key, const Choice& pinned, std::string why) {
    if (pinned) throw UserError(fmt::format("{} does not apply: {}", key, why), problem.where(), "leave it out");
  };
  const auto* scatter = as<Scatter>(op);
  if (scatter == nullptr) {
    refuse("ranges", out.ranges, "the op is no scatter");
  } else if (!out.ranges) {
    out.ranges = choose_ranges(problem, *scatter, target.cuda());
  } else if (*out.ranges > 1 && !problem.decide(sym::ge(op.out()->extent(size_t(scatter->dim)), *out.ranges))) {
    refuse("ranges", out.ranges, fmt::format("dim {} may have fewer places", scatter->dim));
  }
  if (target.cuda()) {
    refuse("rows", out.rows, "a thread computes one element");
    refuse("vector", out.vector, "a thread computes one element");
    if (!out.threads) out.threads = target.block_threads;
    return out;
  }
  refuse("threads", out.threads, "a CPU has no blocks of threads");
  const bool summed = sums_lanes(op);
  if (out_tensor.rank() == 0) {
    if (!summed) refuse("vector", out.vector, "the result has no dim");
    refuse("rows", out.rows, "the result has no dim");
    if (!summed) return out;
  }
  const std::string why_one = one_lane(op);
  if (!why_one.empty() && out.vector.value_or(1) != 1) refuse("vector", out.vector, why_one);
  if (!out.vector)
    out.vector = why_one.empty() ? choose_lanes(summed ? *inputs(op).front() : out_tensor, summed, target) : 1;
  if (!is_contraction(op) || out_tensor.rank() < 2)
    refuse("rows", out.rows, is_contraction(op) ? "the result has one dim" : "the op sums nothing");
  else if (!out.rows)
    out.rows = choose_rows(op);
  return out;
}

// The dim that a scan, a scatter or a sort goes along.
std::optional<int64_t> serial_dim(const Op& op) {
  if (const auto scan = scan_of(op)) return scan->dim;
  if (const auto* sort = as<Sort>(op)) return sort->dim;
  if (const auto* scatter = as<Scatter>(op)) return scatter->dim;
  return std::nullopt;
}

// That dim becomes the innermost of the result's; the number of the others.
int put_last(const Op& op, int kept) {
  const auto dim = serial_dim(op);
  if (!dim) return kept;
  move_loop(*op.results[0], static_cast<int>(*dim), kept - 1);
  return kept - 1;
}

void apply_cuda(TensorView& t, int kept, int64_t threads) {
  for (int d = kept - 1; d > 0; --d) merge(t, d - 1);
  if (kept == 0) return;
  split(t, 0, threads);
  parallelize(t, 0, ParallelType::block_x);
  parallelize(t, 1, ParallelType::thread_x);
}

// Loops of ops that combine or move elements: [rows * blocks of columns] parallel, [columns / vector], lanes; sums
// stand inside. A sum takes long enough for an iteration to be one vector.
void apply_rows(TensorView& t, int kept, int64_t vector, bool sums) {
  if (kept == 0) return;
  for (int d = kept - 1; d > 1; --d) merge(t, 0);
  const int column = kept > 1 ? 1 : 0;
  const int64_t block = sums ? vector : kColumns;
  if (block > 1) split(t, column, block);
  if (column > 0) merge(t, 0);
  parallelize(t, 0, ParallelType::cpu_thread);
  if (vector == 1) return;
  if (block > vector) split(t, 1, vector);
  parallelize(t, block > vector ? 2 : 1, ParallelType::vectorize);
}

// Ranges of a scatter's dim, which is the loop behind the others, become the first loop. The number of loops before the
// places of a range.
int split_ranges(TensorView& t, int64_t dim, int others, int64_t ranges) {
  if (ranges == 1) return others;
  const sym::Expr places = t.extent(static_cast<size_t>(dim));
  split(t, others, sym::max(sym::ceildiv(places, ranges), 1));
  move_loop(t, others, 0);
  return others + 1;
}

// Loops of a scatter: [ranges of its dim, the other dims, the last of them in tiles] parallel, the places of a range,
// the elements of a tile, which are neighbours in memory.
void apply_scatter(TensorView& t, int64_t dim, int others, int64_t ranges) {
  const bool tiles = dim < others;  // else the dim is the last one
  const int outer = split_ranges(t, dim, others, ranges);
  if (outer == 0) return;
  if (tiles) {
    split(t, outer - 1, kTile);
    move_loop(t, outer, outer + 1);
  }
  for (int d = outer - 1; d > 0; --d) merge(t, 0);
  parallelize(t, 0, ParallelType::cpu_thread);
}

// Long sums get loops over parts, and parts of parts, each of which is added by itself, so that an element meets few
// additions. Lanes that run along what is summed are its last loop. Returns the number of loops that a sum has.
int split_sums(const Op& op, int kept, int64_t vector) {
  TensorView& t = *op.results[0];
  const std::vector<Axis> axes = t.domain.reduction;  // a split swaps the domain
  int loops = 0;
  for (size_t a = 0; a < axes.size(); ++a) {
    const int64_t lanes = a + 1 == axes.size() ? vector : 1;
    int levels = 1;
    if (has_parts(op))
      for (int64_t left = sym::bounds(axes[a].extent).hi / lanes; left > kTerms && levels < kLevels; left /= kTerms)
        ++levels;
    const int first = kept + loops;
    for (int i = 1; i < levels; ++i) split(t, first, i == 1 ? kTerms * lanes : kTerms);
    loops += levels;
    if (lanes == 1) continue;
    split(t, first + levels - 1, lanes);
    parallelize(t, first + levels, ParallelType::vectorize);
    ++loops;
  }
  return loops;
}

// Loops: [batch * columns / vector * rows / tile] parallel, [rows of a tile] unrolled, sum, lanes.
void apply(const Problem& problem, const Schedule& schedule) {
  const auto& numbers = std::get<schedules::Nest>(schedule);
  const Op& op = *problem.segment.ops.front();
  TensorView& t = *op.results[0];
  state_reduction_axes(t);
  const int kept = static_cast<int>(t.rank());
  const int64_t sum_lanes = sums_lanes(op) ? numbers.vector.value_or(1) : 1;
  const int sums = split_sums(op, kept, sum_lanes);
  const auto* scatter = as<Scatter>(op);
  const int64_t ranges = numbers.ranges.value_or(1);
  if (numbers.threads) {
    const int others = put_last(op, kept);
    return apply_cuda(t, scatter ? split_ranges(t, scatter->dim, others, ranges) : others, *numbers.threads);
  }
  if (kept == 0) return;
  if (scatter != nullptr) return apply_scatter(t, scatter->dim, put_last(op, kept), ranges);
  const OpProperty kind = property(op.kind);
  if (kind == OpProperty::reduction || kind == OpProperty::movement || kind == OpProperty::indexing)
    return apply_rows(t, put_last(op, kept), sum_lanes > 1 ? 1 : numbers.vector.value(),
                      kind == OpProperty::reduction || op.kind == OpKind::Sort);
  const int64_t vector = numbers.vector.value(), rows = numbers.rows.value_or(1);
  // Dims before the last: those that the rows of a tile share their operand over are one.
  const int batch = op.kind == OpKind::Matmul ? std::max(kept - 2, 0) : 0;
  for (int d = batch - 1; d > 0; --d) merge(t, d - 1);
  const int row = batch > 0 ? 1 : 0;
  for (int d = kept - 1 - batch; d > 1; --d) merge(t, row);
  const bool has_rows = kept - batch > 1;
  int column = has_rows ? row + 1 : row;
  const bool tile = has_rows && rows > 1, lanes = vector > 1;
  if (tile) {
    split(t, row, rows);
    parallelize(t, row + 1, ParallelType::unroll);
    ++column;
  }
  if (lanes) {
    split(t, column, vector);
    parallelize(t, column + 1, ParallelType::vectorize);
  }
  // Columns before rows: a panel of the weights stays in the cache while the rows pass.
  std::vector<int> order, sum_loops(static_cast<size_t>(sums));
  std::iota(sum_loops.begin(), sum_loops.end(), column + 1 + (lanes ? 1 : 0));
  if (batch > 0) order.push_back(0);
  order.push_back(column);
  if (has_rows) order.push_back(row);
  const size_t outer = order.size();
  if (tile) order.push_back(row + 1);
  order.insert(order.end(), sum_loops.begin(), sum_loops.end());
  if (lanes) order.push_back(column + 1);
  reorder(t, order);
  for (size_t i = 1; i < outer; ++i) merge(t, 0);
  parallelize(t, 0, ParallelType::cpu_thread);
}

}  // namespace

bool has_parts(const Op& op) {
  const auto* reduce = as<Reduce>(op);
  const bool sums = is_contraction(op) || op.kind == OpKind::Var || op.kind == OpKind::VarMean ||
                    (reduce != nullptr && reduce->function == Reduction::sum);
  return sums && is_float(op.results[0]->dtype);
}

Scheduler nest_scheduler() { return {schedules::Nest::kName, accept, choose, apply}; }

bool can_have_tile(const Op& op) {
  if (property(op.kind) == OpProperty::contraction) return true;
  const auto* reduce = as<Reduce>(op);
  return reduce != nullptr && reduce->in->dtype != DType::boolean && !finds_index(reduce->function);
}

}  // namespace plait
