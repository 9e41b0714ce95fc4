// The contraction scheduler on GPUs: a block has a tile of the result and goes along the sum in steps, for each of
// which its threads bring a panel of both operands to shared memory; each thread has a tile of sums in registers.
#include "base/error.h"
#include "schedule/contraction_parts.h"
#include "schedule/loop_steps.h"
#include "schedule/manual.h"

namespace plait::contractions {

namespace {

using schedules::LoopStep;

constexpr int64_t kAccess = 16;            // bytes of a thread's access
constexpr int64_t kMostShared = 48 << 10;  // bytes that any GPU has for a block without asking
constexpr int64_t kMostSums = 128;         // of a thread
constexpr int64_t kMostRows = 64;          // of a thread, as its accesses to a panel: each is code of its own
constexpr int64_t kMostThreads = 1024, kWarpThreads = 32;
// Of the instruction `mma`, and how a warp shares its result: threads of 8 rows, each 2 columns; and of a block that
// has no smaller tiles than it needs.
constexpr int64_t kMmaRows = 16, kMmaColumns = 8, kMmaTerms = 16, kMmaPair = 2;
constexpr int64_t kMmaDepth = 32, kMmaWarpRows = 32, kMmaLargeWarpRows = 64, kMmaWarpColumns = 32;
constexpr int64_t kMmaCapability = 80;

constexpr int64_t kTile = 64, kLargeTile = 128;  // rows and columns of a block
constexpr int64_t kThreads = 16;                 // of a block, in either dim
constexpr int64_t kStages = 2;                   // panels of a block
constexpr int64_t kDepth = 8;                    // terms of a panel: its threads meet all banks of shared memory

bool is_of_matrices(const Parts& parts) { return parts.left->dtype == DType::bf16 || parts.left->dtype == DType::f16; }

int64_t size_of_sum(const Parts& parts) { return static_cast<int64_t>(size_of(compute_type(parts.out->dtype))); }

// How the threads of a block share a panel and a tile.
struct Threads {
  int64_t x, y;
  int64_t lanes;  // columns of a thread that stand side by side
};
Threads threads_of(const Parts& parts, const schedules::Contraction& n) {
  if (n.mma == 1) return {kWarpThreads, *n.block / *n.rows * (*n.width / *n.columns), kMmaPair};
  return {*n.width / *n.columns, *n.block / *n.rows, std::min(*n.columns, kAccess / size_of_sum(parts))};
}

// Elements of a panel that a thread brings at once.
int64_t access_of(const TensorView& t, int64_t row, int64_t count, const Threads& threads) {
  int64_t out = std::min(kAccess / static_cast<int64_t>(size_of(t.dtype)), row);
  while (out > 1 && count % (out * threads.x * threads.y) != 0) out /= 2;
  return out;
}

class Builder {
 public:
  Builder(ScheduledGroup& group, const schedules::Contraction& numbers)
      : group_(group),
        graph_(*group.graph),
        n_(numbers),
        op_(*contraction_of(graph_.ops())),
        parts_(parts_of(op_)),
        threads_(threads_of(parts_, numbers)) {}

  void run() {
    Panel left = pack(parts_.left, false), right = pack(parts_.right, true);
    store_result(graph_, *parts_.out);
    const int block = std::ranges::all_of(blocks(), [](sym::Expr e) { return e.constant() == 1; }) ? 0 : 1;
    const int step = sym::ceildiv(summed(parts_), *n_.depth).constant() == 1 ? 0 : 1;
    for (Panel* panel : {&left, &right}) {
      state(*panel->tensor, loops_of(*panel), block + step, panel->layout.extent());
      group_.panels[panel->tensor] = panel->layout;
    }
    state(*parts_.out, tile(true), block, {});
    state(*graph_.outputs()[0], tile(false), {}, {});
    group_.stages = *n_.stages;
    schedule_by_hand(group_, decisions_);
    group_.aligned.clear();  // edges say all: the panels' rows are none of the result's
  }

 private:
  struct Panel {
    TensorView* tensor = nullptr;
    bool right = false;
    bool sum_inside = false;  // elements of a row of memory are terms of the sum
    PanelLayout layout;
  };

  Panel pack(TensorView* operand, bool right) {
    Panel out{packed(graph_, op_, operand, right ? "_columns" : "_rows"), right};
    const int rank = static_cast<int>(operand->rank());
    out.sum_inside = is_dense(graph_.ops(), *operand, right && !parts_.linear ? rank - 2 : rank - 1);
    const int64_t others = right ? *n_.width : *n_.block;
    out.layout.row = out.sum_inside ? *n_.depth : others;
    out.layout.rows = out.sum_inside ? others : *n_.depth;
    // Threads read columns side by side, of one term; matrices 8 rows at once.
    out.layout.turned = n_.mma == 1;
    out.layout.transposed = right && out.sum_inside && !out.layout.turned;
    if (out.layout.transposed) out.layout.pad = kAccess / static_cast<int64_t>(size_of(operand->dtype));
    return out;
  }

  // What the loop over blocks is made of: the stack, tiles of rows, tiles of columns.
  std::vector<sym::Expr> blocks() const {
    const std::vector<sym::Expr>& shape = parts_.out->shape();
    const size_t stack = stacks(parts_);
    std::vector<sym::Expr> out(shape.begin(), shape.begin() + static_cast<std::ptrdiff_t>(stack));
    out.push_back(sym::ceildiv(parts_.linear ? rows_of(parts_) : shape[stack], *n_.block));
    out.push_back(sym::ceildiv(shape.back(), *n_.width));
    return out;
  }

  // The loop of a panel, whose stack has so many dims, that alone is the loop over blocks.
  std::optional<int> block_loop(const Panel& panel, int stack) const {
    std::optional<int> out;
    const std::vector<sym::Expr> all = blocks();
    for (size_t i = 0; i < all.size(); ++i) {
      if (all[i].constant() == 1) continue;
      if (out) return std::nullopt;
      out = static_cast<int>(i);
    }
    const int rows = static_cast<int>(all.size()) - 2;
    if (!out || *out == (panel.right ? rows : rows + 1)) return std::nullopt;
    if (*out >= rows) return stack;
    const int own = *out - (rows - stack);
    return own >= 0 && panel.tensor->extent(static_cast<size_t>(own)).constant() != 1 ? std::optional(own)
                                                                                      : std::nullopt;
  }

  // The stack as one dim, where there is one; in front of rows and columns.
  int merge_stack(std::vector<LoopStep>& out) const {
    const int stack = static_cast<int>(stacks(parts_));
    if (parts_.linear)
      for (size_t d = 0; d + 2 < parts_.out->rank(); ++d) add_step(out, Transform::Kind::merge, 0, 0);
    for (int d = 1; d < stack; ++d) add_step(out, Transform::Kind::merge, 0, 0);
    return stack > 0 ? 1 : 0;
  }

  // Loops in a new order, behind the stack, of which the first become the one over blocks.
  static void order_of_blocks(std::vector<LoopStep>& out, int first, std::initializer_list<int> loops) {
    std::vector<int> order;
    if (first == 1) order.push_back(0);
    for (int d : loops) order.push_back(first + d);
    reorder_loops(out, std::move(order));
    for (int d = 0; d <= first; ++d) add_step(out, Transform::Kind::merge, 0, 0);
    run_loop(out, 0, ParallelType::block_x);
  }

  // Blocks, (steps of the sum,) warps, threads of a warp, (terms in steps of the instruction,) tiles of rows and of
  // columns, (terms,) two rows and two columns of a thread.
  std::vector<LoopStep> tile_of_warps(bool sums) const {
    std::vector<LoopStep> out;
    const int first = merge_stack(out);
    const auto split = [&](int position, int64_t factor) {
      add_step(out, Transform::Kind::split, first + position, factor);
    };
    split(0, *n_.block);
    split(1, *n_.rows);
    split(2, kMmaRows);
    split(3, kMmaRows / 2);
    split(5, *n_.width);
    split(6, *n_.columns);
    split(7, kMmaColumns);
    split(8, kMmaPair);
    // [stack], block, warp, tile, half, row; block, warp, tile, pair, column; (step, tile, term)
    if (sums) {
      split(10, *n_.depth);
      split(11, kMmaTerms);
      order_of_blocks(out, first, {0, 5, 10, 1, 6, 4, 8, 11, 2, 7, 12, 3, 9});
    } else {
      order_of_blocks(out, first, {0, 5, 1, 6, 4, 8, 2, 7, 3, 9});
    }
    const int warps = sums ? 2 : 1, tiles = sums ? warps + 3 : warps + 2, half = sums ? tiles + 3 : tiles + 2;
    add_step(out, Transform::Kind::merge, warps, 0);
    add_step(out, Transform::Kind::merge, warps + 1, 0);
    run_loop(out, warps, ParallelType::thread_y);
    run_loop(out, warps + 1, ParallelType::thread_x);
    run_loop(out, tiles, ParallelType::unroll);
    run_loop(out, tiles + 1, ParallelType::unroll);
    run_loop(out, half, ParallelType::unroll);
    run_loop(out, half + 1, ParallelType::vectorize);
    return out;
  }

  // Blocks, (steps of the sum,) threads, (the sum,) rows, columns and lanes of a thread.
  std::vector<LoopStep> tile(bool sums) const {
    if (n_.mma == 1) return tile_of_warps(sums);
    std::vector<LoopStep> out;
    const int first = merge_stack(out);
    add_step(out, Transform::Kind::split, first, *n_.block);
    add_step(out, Transform::Kind::split, first + 1, threads_.y);
    add_step(out, Transform::Kind::split, first + 3, *n_.width);
    add_step(out, Transform::Kind::split, first + 4, threads_.lanes);
    add_step(out, Transform::Kind::split, first + 4, threads_.x);
    // [stack], block, row, y, block, column, x, lane, (sum)
    if (sums) add_step(out, Transform::Kind::split, first + 7, *n_.depth);
    sums ? order_of_blocks(out, first, {0, 3, 7, 2, 5, 8, 1, 4, 6})
         : order_of_blocks(out, first, {0, 3, 2, 5, 1, 4, 6});
    const int y = sums ? 2 : 1, row = sums ? 5 : 3;
    run_loop(out, y, ParallelType::thread_y);
    run_loop(out, y + 1, ParallelType::thread_x);
    run_loop(out, row, ParallelType::unroll);
    run_loop(out, row + 1, ParallelType::unroll);
    run_loop(out, row + 2, ParallelType::vectorize);
    return out;
  }

  // Stack, blocks, steps of the sum, then all elements of the panel in the order of memory: accesses of a thread,
  // threads, lanes.
  std::vector<LoopStep> loops_of(const Panel& panel) const {
    std::vector<LoopStep> out;
    const int rank = static_cast<int>(panel.tensor->rank());
    int other = rank - 2, sum = rank - 1;
    if (panel.right && !parts_.linear) std::swap(other, sum);
    if (!panel.right && parts_.linear) {
      for (int d = 0; d + 2 < rank; ++d) add_step(out, Transform::Kind::merge, 0, 0);
      other = 0, sum = 1;
    }
    const int first = std::min(other, sum), size = first + 4;
    const int64_t others = panel.right ? *n_.width : *n_.block;
    add_step(out, Transform::Kind::split, std::max(other, sum), other < sum ? *n_.depth : others);
    add_step(out, Transform::Kind::split, first, other < sum ? others : *n_.depth);
    if (sum < other)
      sum = first, other = first + 2;
    else
      other = first, sum = first + 2;
    std::vector<int> order;
    for (int d = 0; d < first; ++d) order.push_back(d);
    order.insert(order.end(), {other, sum});
    order.insert(order.end(), {(panel.sum_inside ? other : sum) + 1, (panel.sum_inside ? sum : other) + 1});
    PLAIT_CHECK(static_cast<int>(order.size()) == size, "loops of panel %{}", panel.tensor->name);
    reorder_loops(out, std::move(order));
    add_step(out, Transform::Kind::merge, first + 2, 0);
    const int64_t lanes = access_of(*panel.tensor, panel.layout.row, others * *n_.depth, threads_);
    add_step(out, Transform::Kind::split, first + 2, lanes);
    add_step(out, Transform::Kind::split, first + 2, threads_.x);
    add_step(out, Transform::Kind::split, first + 2, threads_.y);
    if (const auto alone = block_loop(panel, first)) run_loop(out, *alone, ParallelType::block_x);
    run_loop(out, first + 2, ParallelType::unroll);
    run_loop(out, first + 3, ParallelType::thread_y);
    run_loop(out, first + 4, ParallelType::thread_x);
    run_loop(out, first + 5, ParallelType::vectorize);
    return out;
  }

  void state(const TensorView& t, std::vector<LoopStep> loops, std::optional<int> inline_at, Choice keep) {
    decisions_.tensors.push_back(decided(t.name, std::move(loops), inline_at, keep));
  }

  ScheduledGroup& group_;
  Fusion& graph_;
  const schedules::Contraction& n_;
  Op& op_;
  Parts parts_;
  const Threads threads_;
  schedules::Manual decisions_;
};

}  // namespace

// The largest tile that the result fills.
schedules::Contraction numbers_of_blocks(const Problem& problem, const Target& target, schedules::Contraction out) {
  const Parts parts = parts_of(*contraction_of(problem.segment.ops));
  const sym::Expr rows = parts.linear ? rows_of(parts) : parts.out->shape()[stacks(parts)];
  const bool large = size_of_sum(parts) <= 4 && problem.decide(sym::ge(rows, kLargeTile)) &&
                     problem.decide(sym::ge(parts.out->shape().back(), kLargeTile));
  const auto choose = [](Choice& choice, int64_t value) {
    if (!choice) choice = std::max<int64_t>(1, value);
  };
  choose(out.block, large ? kLargeTile : kTile);
  choose(out.width, large ? kLargeTile : kTile);
  if (is_of_matrices(parts) && target.compute_capability() >= kMmaCapability) choose(out.mma, 1);
  if (out.mma == 1) {
    choose(out.rows, std::min(*out.block, large ? kMmaLargeWarpRows : kMmaWarpRows));
    choose(out.columns, std::min(*out.width, kMmaWarpColumns));
    choose(out.depth, kMmaDepth);
  }
  choose(out.rows, *out.block / kThreads);
  choose(out.columns, *out.width / kThreads);
  choose(out.depth, kDepth);
  choose(out.stages, kStages);
  return out;
}

std::optional<std::string> blocks_refuse(const Problem& problem, const Target& target,
                                         const schedules::Contraction& n) {
  const Parts parts = parts_of(*contraction_of(problem.segment.ops));
  if (n.stages == 0 || *n.columns > kMostRows) return "few rows and wide columns are numbers of CPUs";
  if (*n.block % *n.rows != 0) return fmt::format("block = {} is no multiple of rows = {}", *n.block, *n.rows);
  if (*n.width % *n.columns != 0) return fmt::format("width = {} is no multiple of columns = {}", *n.width, *n.columns);
  if (n.mma != 1 && *n.rows > kMostRows)
    return fmt::format("rows = {} of a thread are more than {}", *n.rows, kMostRows);
  if (n.mma == 1) {
    if ((*n.block & (*n.block - 1)) != 0)
      return fmt::format("block = {} is no power of two, which mma takes", *n.block);
    if (!is_of_matrices(parts)) return "mma takes bf16 and f16";
    if (target.compute_capability() < kMmaCapability) return fmt::format("{} has no such mma", target.architecture);
    if (*n.rows % kMmaRows != 0 || *n.columns % kMmaColumns != 0 || *n.depth % kMmaTerms != 0)
      return fmt::format("rows = {}, columns = {} and depth = {} are no multiples of {}, {} and {}, which mma takes",
                         *n.rows, *n.columns, *n.depth, kMmaRows, kMmaColumns, kMmaTerms);
  }
  const int64_t of_tile = n.mma == 1 ? kWarpThreads : 1;
  const int64_t count = *n.block / *n.rows * (*n.width / *n.columns) * of_tile;
  if ((count & (count - 1)) != 0 || count < kWarpThreads || count > kMostThreads)
    return fmt::format("{} threads of a block are no power of two from {} to {}", count, kWarpThreads, kMostThreads);
  if (*n.rows * *n.columns / of_tile > kMostSums)
    return fmt::format("{} sums of a thread are more than {}", *n.rows * *n.columns / of_tile, kMostSums);
  const Threads threads = threads_of(parts, n);
  for (const auto& [operand, others] : {std::pair(parts.left, *n.block), std::pair(parts.right, *n.width)}) {
    const int64_t elements = others * *n.depth;
    if (const int64_t each = elements / count / access_of(*operand, *n.depth, elements, threads); each > kMostRows)
      return fmt::format("{} accesses of a thread to a panel are more than {}", each, kMostRows);
  }
  if (*n.block * *n.depth % count != 0 || *n.width * *n.depth % count != 0)
    return fmt::format("{} threads do not share panels of {} and {} elements", count, *n.block * *n.depth,
                       *n.width * *n.depth);
  const auto size = static_cast<int64_t>(size_of(parts.left->dtype));
  const int64_t pad = n.mma == 1 ? 0 : kAccess / size;
  const int64_t bytes = (*n.block + *n.width + pad) * *n.depth * *n.stages * size;
  if (bytes > kMostShared) return fmt::format("panels of {} bytes are more than {}", bytes, kMostShared);
  return std::nullopt;
}

void schedule_blocks(ScheduledGroup& group, const schedules::Contraction& numbers) { Builder(group, numbers).run(); }

}  // namespace plait::contractions
