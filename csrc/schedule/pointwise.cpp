#include "schedule/pointwise.h"

#include <algorithm>
#include <numeric>

#include "axes/place.h"
#include "axes/transforms.h"
#include "base/error.h"
#include "schedule/moved.h"
#include "schedule/reads.h"
#include "schedule/repeats.h"
#include "schedule/tiles.h"

namespace plait {

namespace {

constexpr int64_t kFlatBlock = 4096;  // elements per parallel iteration where all dims are one row
constexpr int64_t kRowBlock = 8192;   // the same where rows are kept whole ...
constexpr int64_t kLongRow = 32768;   // ... unless they may be longer than this
constexpr int64_t kVectorBytes = 16;  // of a thread's access, cuda
constexpr int64_t kMostBlock = 1024;  // threads
constexpr int64_t kMostUnroll = 4;    // of a GPU
constexpr int64_t kMostLanes = 64;
constexpr int64_t kTile = 128;        // rows and columns of a tile: 512 bytes of each row of f32
constexpr int64_t kWarpThreads = 32;  // along a row of a GPU's tile
constexpr int64_t kRowsOfTile = 8;    // of which each thread has the element of its column
constexpr int64_t kLeastOfTile = 16;  // elements of both dims, or most of a tile is idle
constexpr int64_t kLeastLanes = 4;    // of squares

std::optional<Refused> accept(const Problem& problem) {
  if (has_moves(problem.segment.ops)) return moved_refuses(problem.segment.ops, problem.segment.outputs);
  for (const Op* op : problem.segment.ops)
    if (!is_elementwise(*op)) return Refused{fmt::format("{} is not elementwise", describe(*op)), kOnlyMoves};
  AxisGroup group = build_axis_graph(problem.fusion.pool(), problem.segment.ops);
  const TensorView* reference = reference_tensor(problem.segment);
  for (const Edge& e : group.edges)
    if (e.hard && e.cut) return not_in_place(e);
  if (const TensorView* out = align(group, problem.segment.outputs)) return other_domain(*reference, *out);
  return std::nullopt;
}

// One operand in memory, or a random op, against the dims of the row that starts at dim `split`.
class SplitRule {
 public:
  explicit SplitRule(const Problem& problem)
      : problem_(problem), group_(build_axis_graph(problem.fusion.pool(), problem.segment.ops)) {
    const TensorView* reference = reference_tensor(problem.segment);
    align(group_, problem.segment.outputs);
    for (int a : group_.axes.at(reference).logical) dims_.push_back(group_.graph.find(a));
  }

  int rank() const { return static_cast<int>(dims_.size()); }

  // Why the row may not start at the dim; empty where it may.
  std::string refuse(int split) const {
    std::vector<int> row;
    for (size_t d = static_cast<size_t>(split); d < dims_.size(); ++d)
      if (!group_.graph.unit(dims_[d])) row.push_back(dims_[d]);
    for (const TensorView* t : problem_.segment.inputs)
      if (!follows(*t, row)) return fmt::format("%{}: {} is not contiguous along it", t->name, type_text(*t));
    for (const Op* op : problem_.segment.ops)
      if (!numbers_follow(*op, row))
        return fmt::format("the numbers of %{} are not consecutive along it", op->out()->name);
    return "";
  }

  int best() const {
    for (int split = 0; split + 1 < rank(); ++split)
      if (refuse(split).empty()) return split;
    return std::max(rank() - 1, 0);
  }

 private:
  // The operand has none of the row's dims, or all of them, innermost.
  bool follows(const TensorView& tensor, const std::vector<int>& row) const {
    const std::vector<int> own = domain_classes(group_, tensor);
    const bool any =
        std::any_of(own.begin(), own.end(), [&](int c) { return std::find(row.begin(), row.end(), c) != row.end(); });
    if (!any) return true;
    return own.size() >= row.size() && std::equal(row.rbegin(), row.rend(), own.rbegin());
  }

  bool numbers_follow(const Op& op, const std::vector<int>& row) const {
    if (const auto* u = as<Uniform>(op)) return random_follows(*u, row);
    if (const auto* n = as<Normal>(op)) return random_follows(*n, row);
    const auto* iota = as<Iota>(op);
    if (iota == nullptr || row.size() < 2) return true;
    const int cls = group_.graph.find(group_.axes.at(op.out()).logical[static_cast<size_t>(iota->dim)]);
    return std::find(row.begin(), row.end(), cls) == row.end();  // a count restarts at the end of its dim
  }

  template <class Random>
  bool random_follows(const Random& op, const std::vector<int>& row) const {
    if (!follows(*op.out(), row) || op.global.empty()) return follows(*op.out(), row);
    bool first = true;  // the row's outermost dim of the tensor may be a piece
    for (size_t d = 0; d < op.shape.size(); ++d) {
      const int cls = group_.graph.find(group_.axes.at(op.out()).logical[d]);
      if (std::find(row.begin(), row.end(), cls) == row.end()) continue;
      if (!first && op.shape[d] != op.global[d]) return false;
      first = false;
    }
    return true;
  }

  const Problem& problem_;
  AxisGroup group_;
  std::vector<int> dims_;
};

int best_split(const Problem& problem) {
  if (!has_moves(problem.segment.ops)) return SplitRule(problem).best();
  const int rank = static_cast<int>(reference_tensor(problem.segment)->rank());
  for (int split = 0; split + 1 < rank; ++split)
    if (refuse_moved_row(problem, split).empty()) return split;
  return std::max(rank - 1, 0);
}

// Inputs that moves read along the row that starts at dim `split`, or somewhere along it.
std::set<const TensorView*> read_along(const Segment& segment, int64_t split) {
  std::set<const TensorView*> out;
  for (const MemoryRead& r : memory_reads(segment))
    if (std::any_of(r.dims.begin(), r.dims.end(), [&](int d) { return d < 0 || d >= split; })) out.insert(r.input);
  return out;
}

// Bytes of the widest element that moves along the row.
int64_t widest_type(const Segment& segment, int64_t split) {
  int64_t most = 1;
  const bool moves = has_moves(segment.ops);
  const std::set<const TensorView*> along = moves ? read_along(segment, split) : std::set<const TensorView*>();
  for (const auto* list : {&segment.inputs, &segment.outputs})
    for (const TensorView* t : *list) {
      if (t->rank() == 0 || (moves && list == &segment.inputs && !along.contains(t))) continue;
      most = std::max(most, static_cast<int64_t>(size_of(t->dtype)));
    }
  return most;
}

// Whether the input has the dims of the row that starts at dim `split`; an output does.
bool has_row(const TensorView& input, const TensorView& reference, int64_t split) {
  const std::vector<sym::Expr>&own = input.shape(), &whole = reference.shape();
  const size_t row = whole.size() - static_cast<size_t>(split);
  return own.size() >= row && std::equal(own.end() - static_cast<std::ptrdiff_t>(row), own.end(),
                                         whole.end() - static_cast<std::ptrdiff_t>(row));
}

// The row that starts at dim `split`: the most elements it may have, and a number that divides its length.
struct Row {
  int64_t most = 1, divisor = 1;
};
Row row_of(const TensorView& reference, int64_t split) {
  constexpr int64_t kMany = int64_t{1} << 31;
  Row out;
  for (size_t d = static_cast<size_t>(split); d < reference.rank(); ++d) {
    const int64_t hi = std::clamp<int64_t>(sym::bounds(reference.extent(d)).hi, 1, kMany);
    out.most = std::min(kMany, out.most * hi);
    out.divisor *= std::gcd(kMostLanes, sym::divisor(reference.extent(d)));
  }
  return out;
}

// How many of a CPU's registers serve as one vector of the kernel: functions of long chains of instructions, which
// wait for each other, run side by side. Those that are calls for each lane gain nothing.
int64_t registers_of_vector(const Segment& segment) {
  int waits = 0;
  for (const Op* op : segment.ops) {
    if (op->kind == OpKind::Cat) return 1;  // most of what its operands compute is for other lanes
    if (op->kind == OpKind::Uniform || op->kind == OpKind::Normal) waits += 3;
    const auto* p = as<PointwiseOp>(*op);
    if (p == nullptr || info(p->function).cost != CostClass::transcendental) continue;
    using enum Pointwise;
    const Pointwise f = p->function;
    if (f == lgamma || f == digamma || f == erfinv || compute_type(op->out()->dtype) == DType::f64) continue;
    waits += f == exp || f == sigmoid || f == silu || f == log ? 1 : 2;
  }
  return waits >= 3 ? 4 : waits == 2 ? 2 : 1;
}

// Of a GPU: the widest of what has the row moves 16 bytes at a time, so that what a warp meets at once is one piece.
int64_t most_lanes_of_gpu(const Segment& segment, int64_t split) {
  const bool moves = has_moves(segment.ops);
  const std::set<const TensorView*> along = moves ? read_along(segment, split) : std::set<const TensorView*>();
  int64_t most = 2;
  for (const TensorView* t : segment.outputs) most = std::max(most, static_cast<int64_t>(size_of(t->dtype)));
  for (const TensorView* t : segment.inputs)
    if (moves ? along.contains(t) : has_row(*t, *reference_tensor(segment), split))
      most = std::max(most, static_cast<int64_t>(size_of(t->dtype)));
  return kVectorBytes / most;
}

// No longer than the row needs. Of a GPU rows that begin at any element have no vectors: threads side by side read
// elements side by side.
int64_t choose_vector(const Problem& problem, const Target& target, int64_t split) {
  const Row row = row_of(*reference_tensor(problem.segment), split);
  int64_t lanes = widest_type(problem.segment, split) == 8 ? target.vector_lanes / 2 : target.vector_lanes;
  if (target.cuda()) {
    lanes = most_lanes_of_gpu(problem.segment, split);
    while (split > 0 && lanes > 1 && row.divisor % lanes != 0) lanes /= 2;
  } else {
    lanes = std::min(lanes * registers_of_vector(problem.segment), kMostLanes);
  }
  while (lanes > 1 && lanes / 2 >= row.most) lanes /= 2;
  return std::max<int64_t>(1, lanes);
}

// A block of threads covers a part of one row or, where rows are short, several of them: as many threads as a row may
// need, and no fewer than kFewThreads.
void choose_block_of_threads(const Problem& problem, const Target& target, schedules::Pointwise& out) {
  constexpr int64_t kFewThreads = 4, kShort[] = {8, 32};
  const TensorView& reference = *reference_tensor(problem.segment);
  Row row = row_of(reference, *out.split);
  row.most /= out.pieces.value_or(1);
  const int64_t all = target.block_threads, together = *out.vector * *out.unroll;
  if (!out.threads) {
    const int64_t least = *out.split > 0 ? kFewThreads : 32;
    out.threads = all;
    while (*out.threads > least && *out.threads / 2 * together >= row.most) *out.threads /= 2;
    if (*out.split > 0 && *out.threads == all && !out.rows)
      for (int64_t threads : kShort) {
        sym::Expr extent = problem.fusion.pool().constant(1);
        for (auto d = static_cast<size_t>(*out.split); d < reference.rank(); ++d) extent = extent * reference.extent(d);
        if (!problem.decide(sym::le(extent, threads * together * out.pieces.value_or(1)))) continue;
        out.threads = threads;
        break;
      }
    if (!out.rows && *out.split > 0 && *out.threads < all) out.rows = all / *out.threads;
  }
  const int64_t rows = out.rows.value_or(1);
  if (rows > 1 && *out.split == 0)
    throw UserError(fmt::format("rows = {} does not apply: all dims are one row", rows), problem.where(),
                    "leave it out");
  if (rows * *out.threads > kMostBlock)
    throw UserError(fmt::format("{} rows of {} threads are no block", rows, *out.threads), problem.where(),
                    fmt::format("a block has at most {} threads", kMostBlock));
}

// Threads of long rows that have no vectors have as many elements at once by themselves.
void choose_unroll_of_gpu(const Problem& problem, const Target& target, schedules::Pointwise& out) {
  const TensorView& reference = *reference_tensor(problem.segment);
  if (*out.split == 0 || out.each || out.pieces) return;
  const int64_t lanes = most_lanes_of_gpu(problem.segment, *out.split);
  const int64_t unroll = std::min(kMostUnroll, lanes / *out.vector);
  sym::Expr row = problem.fusion.pool().constant(1);
  for (auto d = static_cast<size_t>(*out.split); d < reference.rank(); ++d) row = row * reference.extent(d);
  const int64_t together = target.block_threads * *out.vector * unroll;
  if (unroll > 1 && row_of(reference, *out.split).most >= together && problem.decide(sym::ge(row, together)))
    out.unroll = unroll;
}

// Whether the row that starts at dim `split` has at most kLongRow elements.
bool is_short(const Problem& problem, int64_t split) {
  const TensorView& reference = *reference_tensor(problem.segment);
  int64_t least = 1, most = 1;
  sym::Expr row = problem.fusion.pool().constant(1);
  for (size_t d = static_cast<size_t>(split); d < reference.rank(); ++d) {
    const auto [lo, hi] = sym::bounds(reference.extent(d));
    const auto times = [](int64_t number, int64_t extent) {
      return number * std::clamp<int64_t>(extent, 1, kLongRow + 1) > kLongRow ? kLongRow + 1 : number * extent;
    };
    least = times(least, std::max<int64_t>(lo, 1));
    most = times(most, std::max<int64_t>(hi, 1));
    if (least > kLongRow) return false;
    row = row * reference.extent(d);
  }
  return most <= kLongRow || problem.decide(sym::le(row, kLongRow));
}

int64_t choose_block(const Problem& problem, int64_t split) {
  if (split == 0) return kFlatBlock;
  return is_short(problem, split) ? 0 : kRowBlock;
}

// What the target does not have is not pinned, and the row has a dim to start at.
void check_pinned(const Problem& problem, bool cuda, const schedules::Pointwise& pinned) {
  const TensorView& reference = *reference_tensor(problem.segment);
  const auto rank = static_cast<int64_t>(reference.rank());
  if (pinned.split && (rank > 0 ? *pinned.split >= rank : *pinned.split != 0))
    throw UserError(fmt::format("split = {} leaves no dim for the inner row of %{}", *pinned.split, reference.name),
                    problem.where(), fmt::format("%{} has {} dims", reference.name, rank));
  if (rank == 0 && (pinned.vector.value_or(1) != 1 || pinned.unroll.value_or(1) != 1))
    throw UserError(fmt::format("%{} has no dim to vectorize or unroll", reference.name), problem.where(),
                    "use vector = 1, unroll = 1");
  const std::pair<const char*, const Choice*> of_gpus[] = {{"threads", &pinned.threads},
                                                           {"rows", &pinned.rows},
                                                           {"pieces", &pinned.pieces},
                                                           {"along", &pinned.along},
                                                           {"each", &pinned.each}};
  if (cuda && pinned.block)
    throw UserError("block does not apply to GPUs", problem.where(), "a block is threads * vector * unroll elements");
  for (const auto& [name, number] : of_gpus)
    if (!cuda && number->has_value())
      throw UserError(fmt::format("{} does not apply to CPUs", name), problem.where(), "pin block instead");
}

// A warp reads and writes 128 bytes of the widest operand that lies across the row: threads * lanes elements.
bool choose_tiles_of_blocks(const Problem& problem, const TileDims& dims, schedules::Pointwise& out) {
  const bool pinned = out.tile.has_value();
  if (!pinned && (out.threads || out.rows)) return false;
  const auto [across, row] = tile_extents(problem.segment, dims);
  const auto hold = [&, across = across, row = row](int64_t least) {
    const sym::Expr number = problem.fusion.pool().constant(least);
    return problem.decide(sym::le(number, across)) && problem.decide(sym::le(number, row));
  };
  if (!pinned && !hold(kLeastOfTile)) return false;
  if (!out.vector && pinned) out.vector = 1;
  if (!out.vector) {
    out.vector = std::max<int64_t>(1, 4 / bytes_across(problem.segment, dims));
    while (*out.vector > 1 && !hold(kLeastOfTile * *out.vector)) out.vector = *out.vector / 2;
  }
  if (!out.tile) out.tile = kWarpThreads * *out.vector;
  if (!out.rows) out.rows = std::min(kRowsOfTile, *out.tile);
  if (!out.threads) out.threads = std::max<int64_t>(1, *out.tile / *out.vector);
  if (*out.threads * *out.vector != *out.tile || *out.rows > *out.tile || *out.rows * *out.threads > kMostBlock)
    throw UserError(fmt::format("{} rows of {} threads of {} elements are no part of a tile of {}", *out.rows,
                                *out.threads, *out.vector, *out.tile),
                    problem.where(), fmt::format("give fewer; a block has at most {} threads", kMostBlock));
  return true;
}

// Where an operand lies across the row and both have room for a square, or a text pins tiles: their numbers.
bool choose_tiles(const Problem& problem, const Target& target, schedules::Pointwise& out) {
  const bool pinned = out.tile.has_value(),
             rows = out.split || out.block || out.unroll || out.pieces || out.along || out.each;
  if (pinned && rows)
    throw UserError("a schedule of tiles has no split, block, unroll, pieces, along or each", problem.where(),
                    "leave out tile, or those");
  const auto dims = rows || !has_moves(problem.segment.ops) ? std::nullopt : tile_dims(problem.segment, target.cuda());
  if (!dims) {
    if (pinned) throw UserError("no operand lies across the row", problem.where(), "leave out tile");
    return false;
  }
  if (target.cuda()) return choose_tiles_of_blocks(problem, *dims, out);
  const int64_t vector = out.vector.value_or(choose_vector(problem, target, dims->row));
  const auto [across, row] = tile_extents(problem.segment, *dims);
  const auto holds = [&](sym::Expr extent) {
    return problem.decide(sym::le(problem.fusion.pool().constant(vector), extent));
  };
  if (!pinned && (vector < kLeastLanes || !holds(across) || !holds(row))) return false;
  out.vector = vector;
  if (!pinned) out.tile = std::max(kTile, vector);
  if (*out.tile < vector)
    throw UserError(fmt::format("tile = {} is less than vector = {}", *out.tile, vector), problem.where(), "");
  return true;
}

// Rows of two elements (real and imaginary parts, stacked): loops over single elements of longer rows take a fifth of
// the time of so many vectors of two.
void choose_pairs(const Problem& problem, const Target& target, const Schedule& pin, schedules::Pointwise& out) {
  const int64_t rank = static_cast<int64_t>(reference_tensor(problem.segment)->rank());
  if (target.cuda() || !is_open(pin) || rank < 2 || *out.split < 2 || *out.vector > 2 || target.vector_lanes < 8 ||
      row_of(*reference_tensor(problem.segment), *out.split).most > 2)
    return;
  out.split = 1;
  out.vector = 1;
  out.unroll = 2;
}

Schedule choose(const Problem& problem, const Target& target, const Schedule& pin) {
  const TensorView& reference = *reference_tensor(problem.segment);
  schedules::Pointwise out;
  if (const auto* pinned = std::get_if<schedules::Pointwise>(&pin)) out = *pinned;
  check_pinned(problem, target.cuda(), out);
  if (choose_tiles(problem, target, out)) return out;
  if (!out.split) out.split = best_split(problem);
  if (!out.vector) out.vector = reference.rank() == 0 ? 1 : choose_vector(problem, target, *out.split);
  choose_pairs(problem, target, pin, out);
  if (!out.unroll) out.unroll = 1;
  if (target.cuda()) {
    choose_repeats(problem, target, out);
    if (is_open(pin)) choose_unroll_of_gpu(problem, target, out);
    choose_block_of_threads(problem, target, out);
    return out;
  }
  if (!out.block) out.block = reference.rank() == 0 ? 0 : choose_block(problem, *out.split);
  if (*out.block % (*out.vector * *out.unroll) != 0)
    throw UserError(fmt::format("block = {} is no multiple of vector * unroll", *out.block), problem.where(), "");
  return out;
}

// Of GPUs: blocks, [threads of rows], threads, [rows of each], vectors, [pieces], [lanes].
void transform_blocks(TensorView& t, const schedules::Pointwise& numbers, int cut, int rank) {
  const int64_t vector = *numbers.vector, unroll = *numbers.unroll, rows = numbers.rows.value_or(1);
  const bool each = numbers.each.value_or(1) > 1, pieces = numbers.pieces.value_or(1) > 1;
  const auto last = [&] { return static_cast<int>(loop_axes(t.domain).size()) - 1; };
  if (each) {
    const int along = static_cast<int>(*numbers.along);
    split(t, along, *numbers.each);
    move_loop(t, along + 1, last());
  }
  merge_loops(t, cut, rank);
  merge_loops(t, 0, cut);
  const int row = cut > 0 ? 1 : 0;
  if (pieces) {
    split(t, row, loop_axes(t.domain)[static_cast<size_t>(row)].extent.constant().value() / *numbers.pieces);
    move_loop(t, row, last());
  }
  split(t, row, *numbers.threads * vector * unroll);
  if (row > 0 && rows > 1) {
    split(t, 0, rows);
    move_loop(t, 1, 2);
  }
  if (row > 0) merge(t, 0);
  parallelize(t, 0, ParallelType::block_x);
  int thread = 1;
  if (row > 0 && rows > 1) parallelize(t, thread++, ParallelType::thread_y);
  if (vector > 1) {
    split(t, thread, vector);
    if (each || pieces) move_loop(t, thread + 1, last());
    parallelize(t, last(), ParallelType::vectorize);
  }
  split(t, thread, *numbers.threads);
  move_loop(t, thread, thread + 1);
  parallelize(t, thread, ParallelType::thread_x);
  const int vectors = thread + (each ? 2 : 1);
  if (each) move_loop(t, vectors, thread + 1);
  if (unroll > 1) parallelize(t, vectors, ParallelType::unroll);
  if (pieces) parallelize(t, vectors + 1, ParallelType::unroll);
}

// Loops: outer (parallel), [row], [unroll], [lanes].
void transform(TensorView& t, const schedules::Pointwise& numbers) {
  const int rank = static_cast<int>(t.rank()), cut = static_cast<int>(numbers.split.value());
  if (rank == 0) return;
  if (numbers.threads) return transform_blocks(t, numbers, cut, rank);
  const int64_t vector = numbers.vector.value(), unroll = numbers.unroll.value(), block = numbers.block.value();
  merge_loops(t, cut, rank);
  merge_loops(t, 0, cut);
  int row = cut > 0 ? 1 : 0;
  if (block > 0) {
    split(t, row, block);
    if (row > 0) merge(t, 0);
    row = 1;
  }
  int last = row;
  if (vector > 1) {
    split(t, row, vector);
    parallelize(t, ++last, ParallelType::vectorize);
  }
  if (unroll > 1) {
    split(t, row, unroll);
    parallelize(t, row + 1, ParallelType::unroll);
  }
  if (row > 0 || last > 0 || vector == 1) parallelize(t, 0, ParallelType::cpu_thread);
}

void transform(TensorView& t, const Segment& segment, const Schedule& schedule) {
  const auto& numbers = std::get<schedules::Pointwise>(schedule);
  if (numbers.tile)
    transform_tiles(t, numbers, tile_dims(segment, numbers.rows.has_value()).value());
  else
    transform(t, numbers);
}

void apply(const Problem& problem, const Schedule& schedule) {
  transform(*reference_tensor(problem.segment), problem.segment, schedule);
}

// Kernels with moves, and those whose threads have several rows, have a loop tree; others are one nest.
std::optional<ScheduledGroup> group(const Problem& problem, const Schedule& schedule) {
  const auto& numbers = std::get<schedules::Pointwise>(schedule);
  if (!has_moves(problem.segment.ops) && !numbers.each && !numbers.pieces) return std::nullopt;
  ScheduledGroup out = moved_group(problem, schedule);
  transform(*out.reference, problem.segment, schedule);
  return out;
}

}  // namespace

Scheduler pointwise_scheduler() {
  return {.name = schedules::Pointwise::kName,
          .accept = accept,
          .choose = choose,
          .apply = apply,
          .group = group,
          .concerns = [](std::span<Op* const> ops) {
            return std::ranges::all_of(ops, [](const Op* op) { return may_be_read(*op); });
          }};
}

std::string explain_split(const Problem& problem) {
  std::string moved;
  if (has_moves(problem.segment.ops)) {
    for (int split = 0; split < best_split(problem); ++split)
      moved += fmt::format("  the row does not start at dim {}: {}\n", split, refuse_moved_row(problem, split));
    return moved;
  }
  const SplitRule rule(problem);
  std::string out;
  for (int split = 0; split < rule.best(); ++split)
    out += fmt::format("  the row does not start at dim {}: {}\n", split, rule.refuse(split));
  return out;
}

}  // namespace plait
