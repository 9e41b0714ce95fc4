#include "schedule/contraction.h"

#include <algorithm>
#include <bit>

#include "base/error.h"
#include "schedule/contraction_parts.h"
#include "schedule/loop_steps.h"
#include "schedule/manual.h"
#include "schedule/reads.h"

namespace plait {

namespace contractions {

TensorView* packed(Fusion& graph, Op& contraction, TensorView* operand, const char* name) {
  TensorView* own = operand;
  if (shares_moves(graph, operand)) {
    std::vector<Op*> added;
    own = moved_again(graph, operand, added);
    put_ops(graph, added, contraction, false);
  }
  Op* copy = copy_of(graph, *own, name);
  put_ops(graph, {copy}, contraction, false);
  replace_input(contraction, operand, copy->out());
  return copy->out();
}

namespace {

// The operand of an elementwise op that lies as its result does: the first that has elements of its own everywhere.
TensorView* lies_alike(const PointwiseOp& op) {
  TensorView* out = nullptr;
  for (TensorView* in : op.in) {
    if (in->shape() != op.out()->shape()) continue;
    const bool repeats = in->definition != nullptr &&
                         (in->definition->kind == OpKind::Broadcast || in->definition->kind == OpKind::Full);
    if (!repeats) return in;
    out = in;
  }
  return out;
}

}  // namespace

bool is_dense(std::span<Op* const> ops, const TensorView& tensor, int dim) {
  const TensorView* t = &tensor;
  for (const Op* op = t->definition; op != nullptr && std::ranges::find(ops, op) != ops.end(); op = t->definition) {
    const auto* permute = as<Permute>(*op);
    const auto* pointwise = as<PointwiseOp>(*op);
    const TensorView* next = pointwise != nullptr ? lies_alike(*pointwise) : nullptr;
    if (permute != nullptr)
      dim = static_cast<int>(permute->dims[static_cast<size_t>(dim)]);
    else if (op->kind != OpKind::Slice && next == nullptr)
      break;
    t = next != nullptr ? next : inputs(*op)[0];
  }
  const std::vector<int>& order = t->domain.allocation;
  return (order.empty() ? static_cast<int>(t->rank()) - 1 : order.back()) == dim;
}

void store_result(Fusion& graph, TensorView& result) {
  if (!graph.is_output(&result)) return;
  std::vector<TensorView*> outputs = graph.outputs();
  outputs[0] = copy_of(graph, result, "_store")->out();
  graph.set_outputs(std::move(outputs));
}

}  // namespace contractions

using namespace contractions;

namespace {

using schedules::LoopStep;

constexpr int64_t kPanelBytes = 256 << 10;                            // on the stack of a thread
constexpr int64_t kMostRows = 32;                                     // of a tile: each is code of its own
constexpr int64_t kMostColumns = 64;                                  // of a panel
constexpr int64_t kMostTiles = 256, kLeastTiles = 4;                  // of rows that read a panel
constexpr int64_t kTiles = 16;                                        // the same where sizes are symbols
constexpr int64_t kPanels = 2, kMostPanels = 4;                       // of a task
constexpr int64_t kTasks = 4;                                         // for each core, where there is so much
constexpr int64_t kSquare = 16;                                       // terms that are packed together
constexpr int64_t kLeastRows = 24, kLeastColumns = 8, kLeastSum = 8;  // fewer do not pay for packing
constexpr int64_t kLeastElements = 4096;                              // of a matrix that few rows read

// Of few rows nothing is packed.
bool is_few(const schedules::Contraction& numbers) { return numbers.stages == 0; }

std::optional<Refused> refuse_product(const Op& op) {
  const Parts parts = parts_of(op);
  if (parts.linear && as<Linear>(op)->b != nullptr)
    return Refused{fmt::format("{} has a bias", describe(op)), "add the bias behind it"};
  if (parts.left == parts.right)
    return Refused{fmt::format("{} multiplies a tensor with itself", describe(op)), "make it two inputs of the fusion"};
  return std::nullopt;
}

std::optional<Refused> refuse(const Problem& problem) {
  const Segment& s = problem.segment;
  const Op* op = contraction_of(s.ops);
  if (op == nullptr)
    return Refused{"it has not one contraction",
                   "nothing: tiles are those of one, and of several attention alone makes a kernel"};
  if (auto refused = refuse_product(*op)) return refused;
  const Parts parts = parts_of(*op);
  std::set<const TensorView*> results = {parts.out};
  for (const Op* other : s.ops) {
    if (other == op) continue;
    const auto& in = inputs(*other);
    const bool behind = std::ranges::any_of(in, [&](const TensorView* t) { return results.contains(t); });
    const bool fits = behind ? other->kind == OpKind::PointwiseOp && other->out()->shape() == parts.out->shape()
                             : other->results.size() == 1 && may_be_read(*other);
    if (!fits)
      return Refused{fmt::format("{} stands beside the contraction", describe(*other)),
                     "leave only elementwise ops of the contraction's shape behind it, with moves in front"};
    if (behind) results.insert(other->out());
  }
  if (s.outputs.size() != 1)
    return Refused{"it has not one output", "let no other step read, and do not output, any but the last result"};
  if (!results.contains(s.outputs[0]))
    return Refused{"its output does not come of the contraction", "output what comes of the contraction alone"};
  return std::nullopt;
}

std::optional<Refused> refuse_types(const Problem& problem, const Target& target, bool few) {
  const Op& op = *contraction_of(problem.segment.ops);
  const Parts parts = parts_of(op);
  if (parts.out->rank() < 2 && !few)
    return Refused{fmt::format("{} has one row", describe(op)), "nothing: no second row reads a panel of it"};
  const auto is_one_of = [&](std::initializer_list<DType> list) {
    return std::ranges::count(list, parts.left->dtype) > 0 && parts.right->dtype == parts.left->dtype;
  };
  if (target.cuda()) {
    if (is_one_of({DType::f32, DType::f64, DType::bf16, DType::f16, DType::i32, DType::i64})) return std::nullopt;
    return Refused{fmt::format("{} is not of f32, f64, bf16, f16, i32 or i64", describe(op)),
                   "cast both operands to one of these"};
  }
  if (is_one_of({DType::f32, DType::f64, DType::bf16, DType::f16})) return std::nullopt;
  return Refused{fmt::format("{} is not of f32, f64, bf16 or f16", describe(op)), "cast both operands to one of these"};
}

// Terms of panels with so many columns together that the stack holds.
int64_t most_terms(const Parts& parts, int64_t columns) {
  return kPanelBytes / (columns * static_cast<int64_t>(size_of(compute_type(parts.left->dtype))));
}

// Sizes that the loops are made for.
std::optional<std::string> refuse_sizes(const Problem& problem, const schedules::Contraction& numbers) {
  const Parts parts = parts_of(*contraction_of(problem.segment.ops));
  const int64_t most = most_terms(parts, *numbers.stages * *numbers.columns);
  if (!problem.decide(sym::le(summed(parts), most)))
    return fmt::format("a panel of more than {} rows of %{} is none for the stack", most, parts.right->name);
  return std::nullopt;
}

// The loops of one segment, on a graph of its own.
class Builder {
 public:
  Builder(ScheduledGroup& group, const schedules::Contraction& numbers)
      : group_(group),
        graph_(*group.graph),
        numbers_(numbers),
        op_(*contraction_of(graph_.ops())),
        parts_(parts_of(op_)) {}

  void run() {
    packed_ = packed(graph_, op_, parts_.right, "_packed");
    store_result(graph_, *parts_.out);
    const auto loop = [](bool is_one) { return is_one ? 0 : 1; };
    const int task = loop(tasks().constant() == 1), several = loop(panels() == 1);
    state(*packed_, panel(), task + (together() ? 0 : several),
          kPanelBytes / static_cast<int64_t>(size_of(compute_type(packed_->dtype))));
    state(*parts_.out, tile(true), task + several + loop(numbers_.block == numbers_.rows), {});
    state(*graph_.outputs()[0], tile(false), {}, {});
    schedule_by_hand(group_, decisions_);
    group_.aligned.clear();  // edges say all: the panel's rows are none of the result's
  }

 private:
  int64_t panels() const { return *numbers_.width / *numbers_.columns; }
  bool together() const { return numbers_.stages != 1; }

  sym::Expr tasks() const {
    const std::vector<sym::Expr>& shape = parts_.out->shape();
    const sym::Expr across = sym::ceildiv(shape.back(), *numbers_.width);
    if (parts_.linear) return sym::ceildiv(rows_of(parts_), *numbers_.block) * across;
    sym::Expr out = sym::ceildiv(shape[stacks(parts_)], *numbers_.block) * across;
    for (size_t d = 0; d < stacks(parts_); ++d) out = out * shape[d];
    return out;
  }

  // Tasks, panels, tiles of rows, (the sum,) rows and columns of a tile; panels inside of tiles where all are packed.
  std::vector<LoopStep> tile(bool sums) const {
    std::vector<LoopStep> out;
    const auto stack = static_cast<int>(stacks(parts_));
    if (parts_.linear) {
      for (size_t d = 0; d + 2 < parts_.out->rank(); ++d) add_step(out, Transform::Kind::merge, 0, 0);
      add_step(out, Transform::Kind::split, 0, *numbers_.block);
    } else {
      for (int d = 1; d < stack; ++d) add_step(out, Transform::Kind::merge, 0, 0);
      add_step(out, Transform::Kind::split, stack > 0 ? 1 : 0, *numbers_.block);
      if (stack > 0) add_step(out, Transform::Kind::merge, 0, 0);
    }
    add_step(out, Transform::Kind::split, 1, *numbers_.rows);
    add_step(out, Transform::Kind::split, 3, *numbers_.width);  // [block, tile, row, group, column, (sum)]
    std::vector<int> order = {0, 3, 1};
    const int column = panels() == 1 ? 4 : 5;
    if (panels() != 1) {
      add_step(out, Transform::Kind::split, 4, *numbers_.columns);
      order.insert(together() ? order.end() : order.end() - 1, 4);
    }
    if (sums) order.push_back(column + 1);
    order.insert(order.end(), {2, column});
    const int lanes = static_cast<int>(order.size()) - 2;
    reorder_loops(out, std::move(order));
    add_step(out, Transform::Kind::merge, 0, 0);
    run_loop(out, 0, ParallelType::cpu_thread);
    run_loop(out, lanes - 1, ParallelType::unroll);
    run_loop(out, lanes, ParallelType::vectorize);
    return out;
  }
  // Of the packed operand: its stack, panels, the sum, some terms of it, columns. Terms are together so that what lies
  // across in memory is read along its rows, and turned in registers.
  std::vector<LoopStep> panel() const {
    std::vector<LoopStep> out;
    const int rank = static_cast<int>(packed_->rank()), behind = panels() == 1 ? 1 : 2;
    const int column = parts_.linear ? 0 : rank - 1;
    add_step(out, Transform::Kind::split, column, *numbers_.width);
    if (panels() != 1) add_step(out, Transform::Kind::split, column + 1, *numbers_.columns);
    const int sum = parts_.linear ? column + behind + 1 : rank - 2;
    add_step(out, Transform::Kind::split, sum, kSquare);
    const int first = parts_.linear ? column : column + 1;  // of the loops over columns
    std::vector<int> order;
    for (int d = 0; d + 2 < rank; ++d) order.push_back(d);
    for (int d = 0; d < behind; ++d) order.push_back(first + d);
    order.insert(order.end(), {sum, sum + 1, first + behind});
    const int lanes = static_cast<int>(order.size()) - 1;
    const std::optional<int> task = task_alone();
    if (task) std::rotate(order.begin(), order.begin() + *task, order.begin() + *task + 1);
    reorder_loops(out, std::move(order));
    if (task) run_loop(out, 0, ParallelType::cpu_thread);
    run_loop(out, lanes - 1, ParallelType::unroll);
    run_loop(out, lanes, ParallelType::vectorize);
    return out;
  }

  // Which loop of the packed operand is the one over tasks, where these are of one dim, and it has that.
  std::optional<int> task_alone() const {
    const std::vector<sym::Expr>& shape = parts_.out->shape();
    const int rank = static_cast<int>(packed_->rank()), missing = static_cast<int>(shape.size()) - rank;
    const sym::Expr rows = parts_.linear ? rows_of(parts_) : shape[stacks(parts_)];
    const auto is_one = [](sym::Expr e) { return e.constant() == 1; };
    int several = is_one(sym::ceildiv(rows, *numbers_.block)) ? 0 : 1;
    std::optional<int> found;
    const auto add = [&](sym::Expr extent, std::optional<int> loop) {
      if (is_one(extent)) return;
      ++several;
      found = loop;
    };
    for (size_t d = 0; d < stacks(parts_); ++d) {
      const int own = static_cast<int>(d) - missing;
      const bool has = own >= 0 && !is_one(packed_->shape()[static_cast<size_t>(own)]);
      add(shape[d], has ? std::optional(own) : std::nullopt);
    }
    add(sym::ceildiv(shape.back(), *numbers_.width), rank - 2);
    return several == 1 ? found : std::nullopt;
  }

  void state(const TensorView& t, std::vector<LoopStep> loops, std::optional<int> inline_at, Choice keep) {
    decisions_.tensors.push_back(decided(t.name, std::move(loops), inline_at, keep));
  }

  ScheduledGroup& group_;
  Fusion& graph_;
  const schedules::Contraction& numbers_;
  Op& op_;
  Parts parts_;
  TensorView* packed_ = nullptr;
  schedules::Manual decisions_;
};

std::optional<ScheduledGroup> group(const Problem& problem, const Schedule& schedule) {
  ScheduledGroup out = make_group(problem.fusion, problem.segment);
  out.schedule = schedule;
  const auto& numbers = std::get<schedules::Contraction>(schedule);
  if (is_few(numbers))
    schedule_few(out, numbers);
  else if (numbers.depth)
    schedule_blocks(out, numbers);
  else
    Builder(out, numbers).run();
  return out;
}

// How many tasks there are with blocks of so many rows.
sym::Expr tasks_of(const Parts& parts, int64_t block, int64_t width) {
  const size_t stack = stacks(parts);
  const sym::Expr rows = parts.linear ? rows_of(parts) : parts.out->shape()[stack];
  sym::Expr out = sym::ceildiv(rows, block) * sym::ceildiv(parts.out->shape().back(), width);
  for (size_t d = 0; d < stack; ++d) out = out * parts.out->shape()[d];
  return out;
}

// Each block of rows packs every panel anew: as many rows as leave tasks for all cores. Panels that are packed together
// are read by a tile one after another, which so has its rows from the nearest cache. Numbers do not change results:
// what facts leave open is not worth a guard, which would part the sizes of one kernel.
void choose_tasks(const Problem& problem, const Target& target, schedules::Contraction& out) {
  const Parts parts = parts_of(*contraction_of(problem.segment.ops));
  const auto enough = [&](int64_t block, int64_t width) {
    return sym::proven(sym::ge(tasks_of(parts, block, width), kTasks * target.cores));
  };
  const auto holds = [&](int64_t panels) {
    return sym::proven(sym::le(summed(parts), most_terms(parts, panels * *out.columns)));
  };
  if (!out.width) {
    const bool many = holds(kMostPanels) && enough(kMostTiles * *out.rows, kMostPanels * *out.columns);
    const bool given = out.stages && *out.stages != 1 && std::has_single_bit(static_cast<uint64_t>(*out.stages));
    out.width = (given ? *out.stages : many ? kMostPanels : kPanels) * *out.columns;
  }
  const int64_t panels = std::max<int64_t>(1, *out.width / *out.columns);
  if (!out.stages) out.stages = panels <= kMostPanels && holds(panels) ? panels : 1;
  if (out.block) return;
  for (int64_t tiles = kMostTiles; tiles > kLeastTiles && !out.block; tiles /= 2)
    if (enough(tiles * *out.rows, *out.width)) out.block = tiles * *out.rows;
  if (out.block) return;
  const sym::Expr rows = parts.linear ? rows_of(parts) : parts.out->shape()[stacks(parts)];
  const int64_t tiles = tasks_of(parts, 1, 1).constant() ? kLeastTiles : kTiles;
  out.block = (sym::prove(sym::ge(rows, kLeastTiles * *out.rows)) != sym::Truth::no ? tiles : 1) * *out.rows;
}

bool has_few_rows(const Problem& problem) {
  return contraction_of_few(*contraction_of(problem.segment.ops), [&](sym::Expr e) { return problem.decide(e); });
}

// Sums of two vectors of columns fill the registers, but for those of the operands.
schedules::Contraction numbers_for(const Problem& problem, const Target& target, schedules::Contraction out) {
  if (target.cuda()) return numbers_of_blocks(problem, target, out);
  if (is_few(out)) return numbers_of_few(problem, target, out);
  if (!out.columns) out.columns = contraction_columns(*contraction_of(problem.segment.ops), target);
  if (!out.rows) out.rows = target.vector_lanes >= 16 ? 12 : 6;
  choose_tasks(problem, target, out);
  return out;
}

std::optional<std::string> refuse_numbers(const Problem& problem, const Target& target,
                                          const schedules::Contraction& numbers) {
  if (target.cuda()) return blocks_refuse(problem, target, numbers);
  if (is_few(numbers)) return few_refuse(problem, target, numbers);
  if (*numbers.columns > kMostColumns)
    return fmt::format("columns = {} are more than {}", *numbers.columns, kMostColumns);
  if (numbers.depth || numbers.mma) return "depth and mma are numbers of GPUs";
  if (*numbers.width % *numbers.columns != 0)
    return fmt::format("width = {} is no multiple of columns = {}", *numbers.width, *numbers.columns);
  if (numbers.stages != 1 && *numbers.stages * *numbers.columns != *numbers.width)
    return fmt::format("stages = {} is neither 1 nor all panels of width = {}", *numbers.stages, *numbers.width);
  if (*numbers.rows > kMostRows) return fmt::format("rows = {} are more than {}", *numbers.rows, kMostRows);
  if (*numbers.block % *numbers.rows != 0)
    return fmt::format("block = {} is no multiple of rows = {}", *numbers.block, *numbers.rows);
  return refuse_sizes(problem, numbers);
}

Schedule choose(const Problem& problem, const Target& target, const Schedule& pinned) {
  const auto* given = std::get_if<schedules::Contraction>(&pinned);
  schedules::Contraction out = given != nullptr ? *given : schedules::Contraction();
  if (!target.cuda() && out == schedules::Contraction() && has_few_rows(problem)) out.stages = 0;
  if (const auto refused = refuse_types(problem, target, is_few(out)))
    throw UserError(refused->reason, problem.where(), "leave the schedule out");
  out = numbers_for(problem, target, out);
  if (const auto reason = refuse_numbers(problem, target, out))
    throw UserError(*reason, problem.where(), "give others, or leave the schedule out");
  if (const auto found = disobeyed(problem, *group(problem, out)))
    throw UserError(fmt::format("contraction does not fit: {}", found->what), problem.where(),
                    "leave the schedule out: the library or a nest computes it");
  return out;
}

}  // namespace

int64_t contraction_columns(const Op& contraction, const Target& target) {
  const auto size = static_cast<int64_t>(size_of(compute_type(parts_of(contraction).left->dtype)));
  return 2 * std::max<int64_t>(1, target.vector_lanes * 4 / size);
}

int64_t contraction_rows() { return kLeastRows; }

bool contraction_of_few(const Op& contraction, const std::function<bool(sym::Expr)>& decide) {
  const Parts parts = parts_of(contraction);
  return parts.out->rank() == 1 || parts.out->shape().back().constant() == 1 ||
         !decide(sym::ge(rows_of(parts), kLeastRows));
}

namespace {

// Why a product does not pay for a kernel with panels, or for one of few rows.
std::optional<Refused> refuse_small(const Problem& problem, bool few, bool asks_rows) {
  const Parts parts = parts_of(*contraction_of(problem.segment.ops));
  const sym::Expr columns = parts.out->shape().back();
  if (few) {
    if (problem.decide(sym::ge(elements_of_matrix(parts), kLeastElements))) return std::nullopt;
    return Refused{"it is small", fmt::format("nothing: few rows pay from a matrix of {} elements on; `schedule "
                                              "contraction()` in a file insists",
                                              kLeastElements)};
  }
  if ((!asks_rows || problem.decide(sym::ge(rows_of(parts), kLeastRows))) &&
      problem.decide(sym::ge(columns, kLeastColumns)) && problem.decide(sym::ge(summed(parts), kLeastSum)))
    return std::nullopt;
  return Refused{"it is small",
                 fmt::format("nothing: panels pay from {} rows, {} columns and {} terms on; `schedule contraction()` "
                             "in a file insists",
                             kLeastRows, kLeastColumns, kLeastSum)};
}

}  // namespace

std::optional<Refused> contraction_refuses(const Problem& problem, const Target& target,
                                           const schedules::Contraction& given) {
  if (auto refused = refuse(problem)) return refused;
  const bool asked = given == schedules::Contraction();  // else rows are known to be few, or not
  const bool few = is_few(given) || (!target.cuda() && asked && has_few_rows(problem));
  if (auto refused = refuse_types(problem, target, few)) return refused;
  if (auto refused = refuse_small(problem, few, asked)) return refused;
  schedules::Contraction open = given;
  if (few) open.stages = 0;
  const schedules::Contraction numbers = numbers_for(problem, target, open);
  if (auto reason = refuse_numbers(problem, target, numbers))
    return Refused{*reason, "give other numbers: `schedule contraction(columns = ...)` in a file, or a shorter sum"};
  return refuse_loops(problem, [&] { return *group(problem, numbers); });
}

const Scheduler& contraction_scheduler() {
  static const Scheduler kContraction = {
      .name = schedules::Contraction::kName,
      .accept = refuse,
      .choose = choose,
      .apply = nullptr,
      .group = group,
      .refuses_sizes = [](const Problem& problem,
                          const Target& target) { return contraction_refuses(problem, target, {}); },
      .concerns =
          [](std::span<Op* const> ops) {
            return std::ranges::any_of(ops, [](const Op* op) { return property(op->kind) == OpProperty::contraction; });
          }};
  return kContraction;
}

}  // namespace plait
