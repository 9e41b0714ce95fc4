// The contraction scheduler on CPUs for few rows: a matrix times a vector, or a few of them. Nothing is packed: each
// element of the matrix is read from memory once, where it lies, and goes into the sums of all rows of a tile in
// registers. Where the terms of the sum lie side by side in memory, lanes run along them; else along the columns. A
// task has some columns, whose results lie on the stack for what stands behind.
#include <algorithm>

#include "base/error.h"
#include "schedule/contraction_parts.h"
#include "schedule/loop_steps.h"
#include "schedule/manual.h"

namespace plait::contractions {

namespace {

using schedules::LoopStep;

constexpr int64_t kRowsTogether = 8;              // of a tile: each is code of its own
constexpr int64_t kRowsOfLines = 6;               // the same where terms lie side by side
constexpr int64_t kMostSymbolic = 32;             // rows that are a symbol, where they are more than a few
constexpr int64_t kTailOf = 16;                   // columns behind the last tile: at most one of so many
constexpr int64_t kLinesTogether = 4;             // columns whose terms lie side by side: streams of a tile
constexpr int64_t kMostColumns = 512;             // of a tile that reads a row of memory
constexpr int64_t kMostColumnsAgain = 64;         // the same where each row reads it again
constexpr int64_t kWidth = 64, kLeastWidth = 16;  // columns of a task whose terms lie side by side
constexpr int64_t kTasks = 2;                     // for each core
constexpr int64_t kStepsOfPart = 256;             // terms of a lane that are added before they go to the whole
constexpr int64_t kMostVectors = 64;              // of sums of a tile, beyond registers too
constexpr int64_t kMostLanes = 64;
constexpr int64_t kMostBytes = 256 << 10;  // of sums of a task on its stack

// How the dims of the result are cut.
struct Few {
  size_t stack = 0, rows = 0;  // how many dims are of a stack of matrices, and of rows; the others are columns
  bool along = false;          // lanes run along the sum
  std::vector<sym::Expr> extents;

  sym::Expr count(size_t begin, size_t end, sym::Expr one) const {
    for (size_t d = begin; d < end; ++d) one = one * extents[d];
    return one;
  }
};

Few few_of(std::span<Op* const> ops, const Parts& parts) {
  Few out;
  out.extents = parts.out->shape();
  out.along = sums_along(ops, parts);
  if (is_vector(parts)) return out;
  const bool of_stack = !parts.linear && parts.right->rank() > 2;
  out.stack = of_stack ? out.extents.size() - 2 : 0;
  out.rows = of_stack ? 1 : out.extents.size() - 1;
  return out;
}

sym::Expr one_of(const Parts& parts) { return parts.out->fusion->pool().constant(1); }
sym::Expr columns_of(const Few& few, const Parts& parts) {
  return few.count(few.stack + few.rows, few.extents.size(), one_of(parts));
}
sym::Expr rows_of(const Few& few, const Parts& parts) {
  return few.count(few.stack, few.stack + few.rows, one_of(parts));
}

// Loops by a letter for each, outermost first.
class Letters {
 public:
  explicit Letters(std::string letters) : letters_(std::move(letters)) {}

  // Loops that are one from then on, under the first letter.
  void merge(char letter) {
    const size_t at = place(letter);
    letters_.erase(at + 1, 1);
    add_step(steps_, Transform::Kind::merge, static_cast<int>(at), 0);
  }
  void split(char letter, char inner, int64_t factor) {
    const size_t at = place(letter);
    letters_.insert(at + 1, 1, inner);
    add_step(steps_, Transform::Kind::split, static_cast<int>(at), factor);
  }
  // Letters that are no loops are left out.
  void reorder(const std::string& wanted) {
    std::vector<int> order;
    std::string found;
    for (char letter : wanted) {
      if (!has(letter)) continue;
      order.push_back(static_cast<int>(place(letter)));
      found += letter;
    }
    reorder_loops(steps_, std::move(order));
    letters_ = found;
  }
  void run(char letter, ParallelType type) {
    if (has(letter)) run_loop(steps_, static_cast<int>(place(letter)), type);
  }
  bool has(char letter) const { return letters_.find(letter) != letters_.npos; }
  std::vector<LoopStep> steps() && { return std::move(steps_); }

 private:
  size_t place(char letter) const {
    const size_t at = letters_.find(letter);
    PLAIT_CHECK(at != letters_.npos, "no loop {} among {}", letter, letters_);
    return at;
  }
  std::string letters_;
  std::vector<LoopStep> steps_;
};

int64_t lanes_along(int64_t columns) {
  int64_t out = 1;
  while (out < kMostLanes && columns % (2 * out) == 0) out *= 2;
  return out;
}

class FewBuilder {
 public:
  FewBuilder(ScheduledGroup& group, const schedules::Contraction& numbers)
      : group_(group),
        graph_(*group.graph),
        n_(numbers),
        parts_(parts_of(*contraction_of(graph_.ops()))),
        few_(few_of(graph_.ops(), parts_)) {}

  void run() {
    store_result(graph_, *parts_.out);
    const sym::Expr tasks =
        few_.count(0, few_.stack, one_of(parts_)) * sym::ceildiv(columns_of(few_, parts_), *n_.width);
    Choice keep;
    if (n_.block) keep = (*n_.block + *n_.rows - 1) / *n_.rows * *n_.rows * *n_.width;
    state(*parts_.out, tile(), tasks.constant() == 1 ? 0 : 1, keep);
    state(*graph_.outputs()[0], results(), {}, {});
    schedule_by_hand(group_, decisions_);
    group_.aligned.clear();  // edges say all: what lies in front of a matrix has none of the result's axes
  }

 private:
  // Of the stack, rows, columns (and the sum).
  Letters begin(bool sums) const {
    const size_t columns = few_.extents.size() - few_.stack - few_.rows;
    Letters out(std::string(few_.stack, 's') + std::string(few_.rows, 'r') + std::string(columns, 'n') +
                (sums ? "k" : ""));
    for (const auto& [letter, count] : {std::pair('s', few_.stack), {'r', few_.rows}, {'n', columns}})
      for (size_t i = 1; i < count; ++i) out.merge(letter);
    out.split('n', 'a', *n_.width);
    return out;
  }
  static std::vector<LoopStep> end(Letters loops) {
    if (loops.has('s')) loops.merge('s');
    loops.run(loops.has('s') ? 's' : 'n', ParallelType::cpu_thread);
    loops.run('c', ParallelType::unroll);
    loops.run('q', ParallelType::unroll);
    loops.run('l', ParallelType::vectorize);
    return std::move(loops).steps();
  }
  std::vector<LoopStep> tile() const {
    Letters out = begin(true);
    out.split('a', 'c', *n_.columns);
    if (few_.rows > 0) out.split('r', 'q', *n_.rows);
    const int64_t lanes = *n_.depth, part = kStepsOfPart * lanes;
    if (!sym::proven(sym::le(summed(parts_), part))) out.split('k', 'p', part);
    if (!few_.along) out.split('c', 'l', lanes_along(*n_.columns));
    if (few_.along) out.split(out.has('p') ? 'p' : 'k', 'l', lanes);
    // Rows one by one, of a symbol, read what a part reads of the matrix again, from a near cache.
    out.reorder(few_.along || !n_.block ? "snarkpcql" : "snakrpcql");
    return end(std::move(out));
  }
  std::vector<LoopStep> results() const {
    Letters out = begin(false);
    out.split('a', 'l', few_.along ? std::min(*n_.width, kLeastWidth) : lanes_along(*n_.columns));
    out.reorder("snral");
    return end(std::move(out));
  }

  void state(const TensorView& t, std::vector<LoopStep> loops, std::optional<int> inline_at, Choice keep) {
    decisions_.tensors.push_back(decided(t.name, std::move(loops), inline_at, keep));
  }

  ScheduledGroup& group_;
  Fusion& graph_;
  const schedules::Contraction& n_;
  Parts parts_;
  Few few_;
  schedules::Manual decisions_;
};

}  // namespace

bool is_vector(const Parts& parts) { return parts.right->rank() == 2 && parts.out->shape().back().constant() == 1; }

bool sums_along(std::span<Op* const> ops, const Parts& parts) {
  const TensorView& matrix = is_vector(parts) ? *parts.left : *parts.right;
  const auto rank = static_cast<int>(matrix.rank());
  return is_dense(ops, matrix, is_vector(parts) || parts.linear ? rank - 1 : rank - 2);
}

void schedule_few(ScheduledGroup& group, const schedules::Contraction& numbers) { FewBuilder(group, numbers).run(); }

namespace {

// Of a tile that reads rows of memory: wide, so that these are read in one piece, but for registers and tasks; few are
// left over behind the last tile.
int64_t columns_across(int64_t most, int64_t rows, int64_t lanes, int64_t registers, sym::Expr all,
                       const std::function<bool(int64_t)>& enough) {
  const auto leaves = [&](int64_t columns) {
    const auto n = all.constant();
    return n && *n % columns * kTailOf > *n;
  };
  const int64_t vectors = rows == 1 ? kMostVectors : registers;  // sums of one row may lie in the nearest cache
  int64_t out = most;
  while (out > lanes && (rows * out > vectors * lanes || !enough(out) || leaves(out))) out /= 2;
  return out;
}

int64_t rows_together(sym::Expr rows, bool along) {
  const int64_t all = std::max<int64_t>(1, rows.constant().value_or(1)), most = along ? kRowsOfLines : kRowsTogether;
  const int64_t tiles = (all + most - 1) / most;
  return (all + tiles - 1) / tiles;
}

}  // namespace

// Tiles of as many rows each as fit registers; of a symbol one by one, which read a tile's part of the matrix from the
// nearest cache again. Lanes are those of a register, which sums have an order by; other numbers change no result.
schedules::Contraction numbers_of_few(const Problem& problem, const Target& target, schedules::Contraction out) {
  const Parts parts = parts_of(*contraction_of(problem.segment.ops));
  const Few few = few_of(problem.segment.ops, parts);
  const auto size = static_cast<int64_t>(size_of(compute_type(parts.left->dtype)));
  const int64_t lanes = std::max<int64_t>(1, target.vector_lanes * 4 / size);
  const int64_t registers = target.vector_lanes >= 16 ? 32 : 16;
  const sym::Expr rows = rows_of(few, parts), columns = columns_of(few, parts);
  const auto enough = [&](int64_t width) {
    const sym::Expr tasks = few.count(0, few.stack, one_of(parts)) * sym::ceildiv(columns, width);
    return !columns.constant() || sym::proven(sym::ge(tasks, kTasks * target.cores));
  };
  if (!out.rows) out.rows = rows_together(rows, few.along);
  // A dim of one element has no loop.
  if (columns.constant() == 1 && !out.columns && !out.width) out.columns = out.width = 1;
  if (summed(parts).constant() == 1 && !out.depth) out.depth = 1;
  if (!out.block && !rows.constant())
    out.block = problem.decide(sym::le(rows, kMostFewSymbolic)) ? kMostFewSymbolic : kMostSymbolic;
  if (!out.columns && !few.along)
    out.columns =
        columns_across(out.block ? kMostColumnsAgain : kMostColumns, *out.rows, lanes, registers, columns, enough);
  if (!out.columns) {
    out.columns = kLinesTogether;
    while (*out.columns > 1 && *out.rows * *out.columns > registers / 4 * 3) *out.columns /= 2;
  }
  if (!out.width) {
    out.width = few.along ? std::max(*out.columns, kWidth) : *out.columns;
    while (few.along && *out.width > std::max(*out.columns, kLeastWidth) && !enough(*out.width)) *out.width /= 2;
  }
  if (!out.depth) out.depth = few.along ? lanes : 1;
  return out;
}

std::optional<std::string> few_refuse(const Problem& problem, const Target& target,
                                      const schedules::Contraction& numbers) {
  const Parts parts = parts_of(*contraction_of(problem.segment.ops));
  const Few few = few_of(problem.segment.ops, parts);
  if (numbers.mma) return "mma is a number of GPUs";
  if (*numbers.width % *numbers.columns != 0)
    return fmt::format("width = {} is no multiple of columns = {}", *numbers.width, *numbers.columns);
  if (!few.along && numbers.depth != 1)
    return fmt::format("depth = {}: lanes run along the columns, which lie side by side in memory", *numbers.depth);
  const int64_t lanes = few.along ? 1 : std::min<int64_t>(target.vector_lanes, *numbers.columns);
  if (*numbers.rows * *numbers.columns > kMostVectors * lanes)
    return fmt::format("rows = {} and columns = {} are more than {} vectors of sums", *numbers.rows, *numbers.columns,
                       kMostVectors);
  const sym::Expr rows = rows_of(few, parts);
  const int64_t size = static_cast<int64_t>(size_of(compute_type(parts.out->dtype)));
  const int64_t tiles = kMostBytes / (*numbers.width * *numbers.rows * size), most = tiles * *numbers.rows;
  if (numbers.block.value_or(rows.constant().value_or(0)) > most)
    return fmt::format("results of more than {} rows are none for the stack", most);
  if (numbers.block && !problem.decide(sym::le(rows, *numbers.block)))
    return fmt::format("{} rows are more than block = {}", sym::print(rows), *numbers.block);
  return std::nullopt;
}

}  // namespace plait::contractions
