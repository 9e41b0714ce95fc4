#include "schedule/attention.h"

#include <algorithm>

#include "base/error.h"
#include "ir/make_op.h"
#include "schedule/manual.h"
#include "schedule/place_group.h"
#include "schedule/reads.h"

namespace plait {

namespace {

using schedules::LoopStep;
using schedules::Manual;
using schedules::ManualTensor;

constexpr int64_t kQueries = 16;
constexpr int64_t kBlock = 64;
constexpr int64_t kLeastQueries = 2 * kQueries, kLeastKeys = 256;  // of fewer, products of the library are as fast
constexpr size_t kMostOps = 64;
constexpr int64_t kTerms = 256;             // that a sum adds before its part goes into the whole
constexpr int64_t kMostFeatures = 256;      // of a head
constexpr int64_t kScoreBytes = 256 << 10;  // of a buffer of scores, each on the stack of a thread

// Over the last dim, of one value.
bool reduces_keys(const Op& op) {
  const auto* reduce = as<Reduce>(op);
  return reduce != nullptr && reduce->keepdim && !finds_index(reduce->function) && reduce->in->rank() >= 2 &&
         reduce->dims == std::vector<int64_t>{static_cast<int64_t>(reduce->in->rank()) - 1};
}

bool may_stand_between(const Op& op) {
  return is_elementwise(op) || keeps_places(op) || op.kind == OpKind::Slice || op.kind == OpKind::Reshape ||
         op.kind == OpKind::Full || op.kind == OpKind::Iota || op.kind == OpKind::Size || reduces_keys(op);
}

const Matmul* product_of_matrices(const Op& op) {
  const auto* matmul = as<Matmul>(op);
  const bool fits = matmul != nullptr && matmul->out()->rank() >= 2 && matmul->a->rank() == matmul->out()->rank() &&
                    matmul->b->rank() == matmul->out()->rank() && is_float(matmul->out()->dtype) &&
                    !is_narrow(matmul->out()->dtype) && matmul->a->dtype == matmul->out()->dtype &&
                    matmul->b->dtype == matmul->out()->dtype;
  return fits ? matmul : nullptr;
}

sym::Expr last(const TensorView& t) { return t.shape().back(); }

class Finder {
 public:
  Finder(const Fusion& fusion, const Matmul& product, bool moves) : fusion_(fusion), product_(product), moves_(moves) {}

  // Its ops, whether or not others read of them; false where it is no attention.
  bool find() {
    ops_.insert(product_.out()->definition);
    if (!collect(*product_.a) || scores_ == nullptr ||
        std::none_of(ops_.begin(), ops_.end(), [](const Op* op) { return reduces_keys(*op); }))
      return false;
    // Behind the product, what is elementwise of it and of rows: the division, where it stands there.
    const TensorView* end = product_.out();
    while (const Op* next = only_reader(*end)) {
      if (next->kind != OpKind::PointwiseOp || next->out()->shape() != end->shape()) break;
      std::set<const Op*> saved = ops_;
      ops_.insert(next);
      bool good = true;
      for (const TensorView* in : inputs(*next))
        if (in != end) good = good && (in->rank() == 0 || last(*in).constant() == 1) && collect(*in);
      if (!good) {
        ops_ = std::move(saved);
        break;
      }
      end = next->out();
    }
    end_ = end;
    find_dependent();
    drop_what_others_read();
    if (moves_) add_moves(*scores_->a);
    add_moves(*scores_->b);
    add_moves(*product_.b);
    return is_closed();
  }

  const std::set<const Op*>& ops() const { return ops_; }
  const Matmul& scores() const { return *scores_; }

 private:
  const Op* only_reader(const TensorView& t) const {
    const auto readers = fusion_.readers(&t);
    return readers.size() == 1 && !fusion_.is_output(&t) ? readers[0] : nullptr;
  }

  // What the tensor is made of, up to inputs, the scores, and ops that no such kernel has.
  bool collect(const TensorView& t) {
    std::vector<const TensorView*> stack = {&t};
    while (!stack.empty()) {
      const Op* op = stack.back()->definition;
      stack.pop_back();
      if (op == nullptr || ops_.contains(op)) continue;
      if (ops_.size() >= kMostOps) return false;
      if (const Matmul* matmul = product_of_matrices(*op)) {
        if (scores_ == nullptr) scores_ = matmul;
        if (scores_ != matmul) return false;
        ops_.insert(op);
        continue;
      }
      if (!may_stand_between(*op)) continue;  // an input, unless it comes of the scores
      ops_.insert(op);
      for (const TensorView* in : inputs(*op)) stack.push_back(in);
    }
    return true;
  }

  // Those that come of the scores.
  void find_dependent() {
    dependent_ = {scores_->out()->definition};
    const auto depends = [&](const Op* op) {
      const auto& in = inputs(*op);
      return std::any_of(in.begin(), in.end(), [&](const TensorView* t) {
        return t->definition != nullptr && dependent_.contains(t->definition);
      });
    };
    for (size_t before = 0; before != dependent_.size();) {
      before = dependent_.size();
      for (const Op* op : ops_)
        if (depends(op)) dependent_.insert(op);
    }
  }

  // What does not come of the scores and has readers elsewhere is an input.
  void drop_what_others_read() {
    const auto goes = [&](const Op* op) { return !dependent_.contains(op) && !is_inside(*op); };
    while (std::erase_if(ops_, goes) > 0) {}
  }

  bool is_inside(const Op& op) const {
    return std::all_of(op.results.begin(), op.results.end(), [&](const TensorView* t) {
      const auto readers = fusion_.readers(t);
      return !fusion_.is_output(t) &&
             std::all_of(readers.begin(), readers.end(), [&](const Op* r) { return ops_.contains(r); });
    });
  }

  // Permutes and broadcasts of an operand are read where it lies; so are slices and reshapes, if asked.
  void add_moves(const TensorView& operand) {
    const Op* op = operand.definition;
    if (op == nullptr || dependent_.contains(op) || ops_.contains(op)) return;
    const bool moves = op->kind == OpKind::Slice || op->kind == OpKind::Reshape;
    if (!keeps_places(*op) && !(moves_ && moves)) return;
    ops_.insert(op);
    if (!is_inside(*op)) {
      ops_.erase(op);
      return;
    }
    add_moves(*inputs(*op)[0]);
  }

  // One result; so nothing outside comes of the scores but by it.
  bool is_closed() const {
    return std::all_of(ops_.begin(), ops_.end(),
                       [&](const Op* op) { return op == end_->definition || is_inside(*op); });
  }

  const Fusion& fusion_;
  const Matmul& product_;
  const bool moves_;
  const Matmul* scores_ = nullptr;
  const TensorView* end_ = nullptr;
  std::set<const Op*> ops_, dependent_;
};

// The two products of a segment.
struct Parts {
  const Matmul* scores = nullptr;
  const Matmul* product = nullptr;
};
std::optional<Parts> parts_of(std::span<Op* const> ops) {
  Parts out;
  for (const Op* op : ops) {
    if (property(op->kind) != OpProperty::contraction) continue;
    const Matmul* matmul = product_of_matrices(*op);
    if (matmul == nullptr || out.product != nullptr) return std::nullopt;
    (out.scores == nullptr ? out.scores : out.product) = matmul;
  }
  return out.product != nullptr ? std::optional(out) : std::nullopt;
}

std::optional<std::string> accept(const Problem& problem) {
  if (!parts_of(problem.segment.ops)) return "it has not two products of matrices in f32 or f64";
  if (problem.segment.outputs.size() != 1) return "it has several results";
  const Parts parts = *parts_of(problem.segment.ops);
  const size_t rank = parts.scores->out()->rank();
  const auto has_rank = [&](const Op* op) { return !reduces_keys(*op) || inputs(*op)[0]->rank() == rank; };
  if (parts.product->out()->rank() != rank || parts.scores->a == parts.scores->b ||
      !std::all_of(problem.segment.ops.begin(), problem.segment.ops.end(), has_rank))
    return "its products and reductions have not the same dims";
  for (const Op* op : problem.segment.ops)
    if (property(op->kind) != OpProperty::contraction && !may_stand_between(*op))
      return fmt::format("{} is neither elementwise nor a reduction over keys", describe(*op));
  return std::nullopt;
}

// ---- Loops: [batch, blocks of queries] parallel, groups of queries, and in these the loops of each tensor, the
// queries of a group as lanes.

bool is_one(sym::Expr extent) { return extent.constant() == 1; }

class Loops {
 public:
  Loops(const schedules::Attention& numbers, size_t rank) : numbers_(numbers), batch_(static_cast<int>(rank) - 2) {}

  // Of a tensor [batch ..., queries, x]: x, or tiles of it, then the summed dim, then a tile's rows, then lanes.
  // `parts`: long sums, which add by parts.
  std::vector<LoopStep> of(bool tiled, bool sums, bool parts = false) const {
    std::vector<LoopStep> out = outer();
    // [tasks, groups, lanes, x, (summed)]
    const int x = 3, behind = tiled ? x + 2 : x + 1;
    if (tiled) add(out, Transform::Kind::split, x, *numbers_.rows);
    if (parts) add(out, Transform::Kind::split, behind, kTerms);
    std::vector<int> order = {0, 1, x};
    if (sums) order.push_back(behind);
    if (parts) order.push_back(behind + 1);
    if (tiled) order.push_back(x + 1);
    order.push_back(2);
    LoopStep reorder;
    reorder.kind = Transform::Kind::reorder;
    reorder.order = order;
    out.push_back(reorder);
    const int lanes = static_cast<int>(order.size()) - 1;
    if (tiled) parallel(out, lanes - 1, ParallelType::unroll);
    parallel(out, lanes, ParallelType::vectorize);
    return out;
  }

  // Loops around all tensors: tasks and groups; one iteration is none.
  int around(const std::vector<sym::Expr>& shape) const {
    sym::Expr tasks = sym::ceildiv(shape[shape.size() - 2], *numbers_.block);
    for (size_t d = 0; d + 2 < shape.size(); ++d) tasks = tasks * shape[d];
    return (is_one(tasks) ? 0 : 1) + (numbers_.block == numbers_.queries ? 0 : 1);
  }

 private:
  std::vector<LoopStep> outer() const {
    std::vector<LoopStep> out;
    for (int i = 1; i < batch_; ++i) add(out, Transform::Kind::merge, 0, 0);
    const int queries = batch_ > 0 ? 1 : 0;
    add(out, Transform::Kind::split, queries, *numbers_.block);
    add(out, Transform::Kind::split, queries + 1, *numbers_.queries);
    if (batch_ > 0) add(out, Transform::Kind::merge, 0, 0);
    parallel(out, 0, ParallelType::cpu_thread);
    return out;
  }
  static void add(std::vector<LoopStep>& out, Transform::Kind kind, int position, int64_t factor) {
    LoopStep step;
    step.kind = kind;
    step.position = position;
    step.factor = factor;
    out.push_back(step);
  }
  static void parallel(std::vector<LoopStep>& out, int position, ParallelType type) {
    add(out, Transform::Kind::parallel, position, 0);
    out.back().parallel = type;
  }

  const schedules::Attention& numbers_;
  int batch_;
};

ManualTensor decision(const TensorView& t, std::vector<LoopStep> loops, int64_t inline_at, Choice keep = {}) {
  ManualTensor out;
  out.tensor = t.name;
  out.loops = std::move(loops);
  out.inline_at = inline_at;
  out.keep = keep;
  return out;
}

// A copy of what `reader` reads, in front of it, which it reads instead.
TensorView* put_copy(Fusion& graph, Op& reader, TensorView& t, const char* name) {
  Op* op = copy_of(graph, t, name);
  std::vector<Op*> order(graph.ops().begin(), graph.ops().end());
  std::erase(order, op);
  order.insert(std::find(order.begin(), order.end(), &reader), op);
  graph.set_order(std::move(order));
  return op->out();
}

std::optional<ScheduledGroup> group(const Problem& problem, const Schedule& schedule) {
  const auto& numbers = std::get<schedules::Attention>(schedule);
  ScheduledGroup out = make_group(problem.fusion, problem.segment);
  out.schedule = schedule;
  Fusion& graph = *out.graph;
  const Parts parts = *parts_of(graph.ops());
  Op &scores = *parts.scores->out()->definition, &product = *parts.product->out()->definition;
  TensorView* queries = put_copy(graph, scores, *parts.scores->a, "_packed");
  replace_input(scores, parts.scores->a, queries);
  // What reductions over keys and the product read is in buffers.
  std::vector<TensorView*> held;
  const auto hold = [&](TensorView* t) {
    if (std::find(held.begin(), held.end(), t) == held.end()) held.push_back(t);
  };
  for (Op* op : std::vector<Op*>(graph.ops().begin(), graph.ops().end())) {
    if (!reduces_keys(*op) && op != &product) continue;
    TensorView* in = inputs(*op)[0];
    if (in->definition != &scores) {
      hold(in);
      continue;
    }
    TensorView* copy = put_copy(graph, *op, *in, "_held");
    for (Op* reader : std::vector<Op*>(graph.readers(in)))
      if (reader != copy->definition) replace_input(*reader, in, copy);
    hold(copy);
  }
  const Loops loops(numbers, scores.out()->rank());
  const std::vector<sym::Expr> shape = scores.out()->shape();
  const int around = loops.around(shape), in_tiles = is_one(sym::ceildiv(shape.back(), *numbers.rows)) ? 0 : 1;
  const int64_t keys = kScoreBytes / static_cast<int64_t>(size_of(scores.out()->dtype));
  const int64_t features = *numbers.queries * kMostFeatures;
  Manual decisions;
  for (const Op* op : graph.ops()) {
    const TensorView& t = *op->results[0];
    const bool is_held = std::find(held.begin(), held.end(), &t) != held.end();
    if (&t == queries) decisions.tensors.push_back(decision(t, loops.of(false, false), around, features));
    if (op == &scores) decisions.tensors.push_back(decision(t, loops.of(true, true), around + in_tiles));
    if (is_held) {
      const bool first = &t == held.front();  // whose tiles the scores' are
      decisions.tensors.push_back(decision(t, loops.of(first, false), around, keys));
    }
    if (reduces_keys(*op))
      decisions.tensors.push_back(
          decision(t, loops.of(false, true, as<Reduce>(*op)->function == Reduction::sum), around));
    if (op == &product && !graph.is_output(&t))
      decisions.tensors.push_back(decision(t, loops.of(true, true, true), around, features));
  }
  TensorView* result = graph.outputs()[0];
  if (result == product.out()) {
    decisions.tensors.push_back(decision(*result, loops.of(true, true, true), around, features));
    result = copy_of(graph, *result, "_store")->out();
    graph.set_outputs({result});
  }
  decisions.tensors.push_back(decision(*result, loops.of(false, false), 0));
  decisions.tensors.back().inline_at.reset();
  schedule_by_hand(out, decisions);
  out.aligned.clear();  // edges say all: keys are no features
  return out;
}

schedules::Attention numbers_for(const Target& target, schedules::Attention out) {
  if (!out.queries) out.queries = kQueries;
  if (!out.block) out.block = std::max(kBlock, *out.queries);
  if (!out.rows) out.rows = target.vector_lanes >= 16 ? 8 : 4;
  return out;
}

// What about its loops does not hold, on a graph of its own.
std::optional<Disobeyed> disobeyed_loops(const Problem& problem, const schedules::Attention& numbers) {
  const ScheduledGroup own = std::move(*group(problem, numbers));
  const auto holds = [&](sym::Expr e) { return problem.decide(sym::import(problem.fusion.pool(), e)); };
  return disobeyed(own, holds);
}

Schedule choose(const Problem& problem, const Target& target, const Schedule& pinned) {
  const auto* given = std::get_if<schedules::Attention>(&pinned);
  const schedules::Attention out = numbers_for(target, given != nullptr ? *given : schedules::Attention());
  if (*out.block % *out.queries != 0)
    throw UserError(fmt::format("block = {} is no multiple of queries = {}", *out.block, *out.queries), problem.where(),
                    "give a multiple");
  if (const auto found = disobeyed_loops(problem, out))
    throw UserError(fmt::format("attention does not fit: {}", found->what), problem.where(),
                    "leave the schedule out: scores are in memory then");
  return out;
}

}  // namespace

std::set<const Op*> attention_of(const Fusion& fusion, const Op& product, bool moves,
                                 const std::function<bool(sym::Expr)>& decide) {
  const Matmul* matmul = product_of_matrices(product);
  if (matmul == nullptr) return {};
  Finder finder(fusion, *matmul, moves);
  if (!finder.find()) return {};
  const TensorView& scores = *finder.scores().out();
  const int64_t bytes = static_cast<int64_t>(size_of(scores.dtype));
  const bool fits =
      decide(sym::ge(scores.shape()[scores.rank() - 2], kLeastQueries)) && decide(sym::ge(last(scores), kLeastKeys)) &&
      decide(sym::le(last(scores), kScoreBytes / (kQueries * bytes))) &&
      decide(sym::le(last(*finder.scores().a), kMostFeatures)) && decide(sym::le(last(*matmul->out()), kMostFeatures));
  return fits ? finder.ops() : std::set<const Op*>();
}

bool is_attention(const Problem& problem, const Target& target) {
  if (accept(problem)) return false;
  try {
    return !disobeyed_loops(problem, numbers_for(target, {}));
  } catch (const UserError&) {  // loops that some tensor cannot have
    return false;
  }
}

const Scheduler& attention_scheduler() {
  static const Scheduler kAttention = {schedules::Attention::kName, accept, choose, nullptr, group, [](const Segment&) {
                                         return std::optional<std::string>("kernels of attention are of CPUs");
                                       }};
  return kAttention;
}

}  // namespace plait
