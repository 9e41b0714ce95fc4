#include "schedule/attention.h"

#include <algorithm>

#include "base/error.h"
#include "ir/make_op.h"
#include "ir/op_fields.h"
#include "schedule/attention_blocks.h"
#include "schedule/attention_loops.h"
#include "schedule/attention_poison.h"
#include "schedule/divide_behind.h"
#include "schedule/find_attention.h"
#include "schedule/masked_keys.h"
#include "schedule/reads.h"

namespace plait {

namespace {

using schedules::LoopStep;
using schedules::Manual;

constexpr int64_t kBlock = 128;

// A copy of what `reader` reads, in front of it, which it reads instead.
TensorView* put_copy(Fusion& graph, Op& reader, TensorView& t, const char* name) {
  Op* op = copy_of(graph, t, name);
  put_ops(graph, {op}, reader, false);
  return op->out();
}

std::optional<Refused> refuse(const Problem& problem) {
  if (attention_parts(problem.segment.ops, true)) return attention_blocks::refuse(problem);
  return refuse_attention(problem.segment.ops, problem.segment.outputs);
}

// Changes the graph of a segment, and says the loops of its tensors.
class Builder {
 public:
  Builder(ScheduledGroup& group, const schedules::Attention& numbers)
      : group_(group),
        graph_(*group.graph),
        numbers_(numbers),
        parts_(*attention_parts(graph_.ops())),
        shape_(parts_.scores[0]->out()->shape()),
        loops_(numbers, shape_.size(), !parts_.others.empty()) {}

  void run() {
    const bool reduces = std::ranges::any_of(graph_.ops(), [](const Op* op) { return reduces_keys(*op); });
    streams_ = !reduces || numbers_.kept == 0;
    if (reduces && streams_)
      for (const Matmul* product : parts_.products) divide_behind(graph_, *product);
    visible_ = visible_keys(graph_, parts_).value_or(VisibleKeys());
    if (reduces && streams_) score_again();
    own_moves();
    for (const Matmul* product : parts_.products) poison(*product, parts_.by_keys);
    for (const Matmul* product : parts_.others) poison(*product, false);
    pack_operands();
    hold_weights();
    around_ = loops_.around(shape_, parts_.by_keys);
    store_outputs();
    for (const Op* op : graph_.ops()) decide(*op);
    state(*decided_last_, is_whole() ? loops_.of_features() : loops_.of({}), std::nullopt);
    schedule_by_hand(group_, decisions_);
    if (visible_.ahead || visible_.behind) limit_keys();
    group_.aligned.clear();  // edges say all: keys are no features
  }

 private:
  bool is_whole() const { return !parts_.others.empty(); }  // a task has all of a matrix

  void poison(const Matmul& product, bool by_keys) {
    if (visible_.ahead) poison_.insert(add_poison(graph_, product, by_keys, *visible_.ahead));
    if (visible_.behind) poison_.insert(add_poison(graph_, product, !by_keys, *visible_.behind));
  }

  // Each product reads its operands through moves of its own.
  void own_moves() {
    for (const auto* list : {&parts_.scores, &parts_.products, &parts_.others})
      for (const Matmul* m : *list)
        for (TensorView* operand : {list == &parts_.scores ? m->a : nullptr, m->b}) {
          if (operand == nullptr || !shares_moves(graph_, operand)) continue;
          std::vector<Op*> added;
          TensorView* own = moved_again(graph_, operand, added);
          replace_input(*m->out()->definition, operand, own);
          put_ops(graph_, added, *m, false);
        }
    drop_unread(graph_);
  }
  // Reductions of what comes of scores alone have scores of their own, so that what comes of the reductions need not
  // wait with all scores in hand. UserError where something reduces what comes of these in turn, and is weighed by it.
  void score_again() {
    const std::vector<Op*> ops(graph_.ops().begin(), graph_.ops().end());
    const Matmul& scores = *parts_.scores[0];
    std::map<const TensorView*, int> levels = {{scores.out(), 0}};  // how many reductions stand one behind the other
    std::map<const TensorView*, TensorView*> twins;
    std::vector<Op*> order, first;
    for (Op* op : ops) {
      int level = -1;
      for (const TensorView* in : inputs(*op))
        if (const auto it = levels.find(in); it != levels.end()) level = std::max(level, it->second);
      if (op == scores.out()->definition) level = 0;
      if (is_product(op->out()) && level > 1)
        throw UserError(fmt::format("%{} weighs by what is reduced twice", op->out()->name), "attention",
                        "divide behind the product, or keep all scores: kept = 1");
      if (level < 0 || is_product(op->out())) {
        order.push_back(op);
        continue;
      }
      levels[op->out()] = level + (reduces_keys(*op) ? 1 : 0);
      order.push_back(op);
      if (level > 0) continue;
      if (reduces_keys(*op)) {
        first.push_back(op);
        continue;
      }
      Op* twin = twin_of(*op, twins);
      twins[op->out()] = twin->out();
      order.push_back(twin);
    }
    for (Op* op : first) replace_input(*op, inputs(*op)[0], twins.at(inputs(*op)[0]));
    graph_.set_order(std::move(order));
    parts_.scores.push_back(as<Matmul>(*twins.at(scores.out())->definition));
    drop_unread(graph_);
  }
  Op* twin_of(const Op& op, const std::map<const TensorView*, TensorView*>& twins) {
    std::unique_ptr<Op> copy = blank_op(op.kind);
    copy_fields(op, *copy, [](const auto& value) { return value; });
    Op* twin = graph_.add_op(std::move(copy), graph_.add_tensor(op.out()->name, op.out()->shape(), op.out()->dtype));
    for (TensorView* in : std::vector<TensorView*>(inputs(*twin)))
      if (const auto it = twins.find(in); it != twins.end()) replace_input(*twin, in, it->second);
    return twin;
  }

  // The operand of scores whose rows lanes are lies packed.
  void pack_operands() {
    for (const Matmul* scores : parts_.scores) {
      TensorView* operand = parts_.by_keys ? scores->b : scores->a;
      TensorView* packed = put_copy(graph_, *scores->out()->definition, *operand, "_packed");
      replace_input(*scores->out()->definition, operand, packed);
      packed_.insert(packed);
    }
  }

  // What reductions over keys and products read is in buffers.
  void hold_weights() {
    for (Op* op : std::vector<Op*>(graph_.ops().begin(), graph_.ops().end()))
      if (reduces_keys(*op)) hold(inputs(*op)[0]);
    for (const Matmul* product : parts_.products) hold(weights_of(*product, parts_.by_keys));
    for (const Matmul* product : parts_.others) hold(weights_of(*product, false));
  }
  void hold(TensorView* t) {
    if (is_scores(t)) {
      Op* copy = copy_of(graph_, *t, "_held");
      for (Op* reader : std::vector<Op*>(graph_.readers(t)))
        if (reader != copy) replace_input(*reader, t, copy->out());
      put_ops(graph_, {copy}, *t->definition, true);
      t = copy->out();
    }
    held_.insert(t);
  }
  bool is_scores(const TensorView* t) const {
    return std::ranges::any_of(parts_.scores, [&](const Matmul* m) { return m->out() == t; });
  }
  bool is_product(const TensorView* t) const {
    return std::ranges::any_of(parts_.products, [&](const Matmul* m) { return m->out() == t; }) || is_other(t);
  }
  bool is_other(const TensorView* t) const {
    return std::ranges::any_of(parts_.others, [&](const Matmul* m) { return m->out() == t; });
  }
  // Products, and all that comes of them.
  std::set<const TensorView*> behind_products(bool others_alone = false) const {
    std::set<const TensorView*> out;
    for (const Matmul* product : parts_.others) out.merge(coming_of(graph_.ops(), *product->out()));
    if (!others_alone)
      for (const Matmul* product : parts_.products) out.merge(coming_of(graph_.ops(), *product->out()));
    return out;
  }

  // Results of products come last, and of these the one whose loops all others stand in.
  void store_outputs() {
    std::set<const TensorView*> behind = behind_products();
    std::vector<TensorView*> outputs = graph_.outputs();
    for (TensorView*& t : outputs) {
      const bool is_row = !behind.contains(t);
      if (is_row || is_product(t)) t = copy_of(graph_, *t, "_store")->out();
      if (is_row)
        rows_.insert(t);
      else
        behind.insert(t);
    }
    graph_.set_outputs(outputs);
    // What the products need comes first: rows that nothing but results come of need not stand in front of their loops.
    std::set<const Op*> needed;
    std::vector<const Op*> left;
    for (const auto* list : {&parts_.products, &parts_.others})
      for (const Matmul* product : *list) left.push_back(product->out()->definition);
    while (!left.empty()) {
      const Op* op = left.back();
      left.pop_back();
      if (op == nullptr || !needed.insert(op).second) continue;
      for (const TensorView* in : inputs(*op)) left.push_back(in->definition);
    }
    const std::set<const TensorView*> behind_others = behind_products(true);
    const auto stage = [&](const Op* op) {
      if (is_other(op->out())) return 1;  // in front of what joins its loops
      if (!behind.contains(op->out())) return needed.contains(op) ? 0 : 2;
      if (!graph_.is_output(op->out())) return 2;
      return behind_others.contains(op->out()) ? 4 : 3;
    };
    std::vector<Op*> order(graph_.ops().begin(), graph_.ops().end());
    std::ranges::stable_sort(order, {}, stage);
    graph_.set_order(order);
    decided_last_ = order.back()->out();
    if (is_whole()) joined_last_ = order[order.size() - 2]->out();
  }

  void decide(const Op& op) {
    const TensorView& t = *op.results[0];
    const int64_t features = *numbers_.queries * kMostFeatures;
    const int64_t terms = kScoreBytes / static_cast<int64_t>(size_of(parts_.scores[0]->out()->dtype));
    const bool last = parts_.by_keys;
    const int64_t groups = is_whole() ? *numbers_.block / *numbers_.queries : 1;  // of what is held
    if (&t == decided_last_) return;
    if (packed_.contains(&t)) return state(t, loops_.of({.lanes_last = last}), around_, groups * features);
    const int in_part = around_ + (streams_ ? in_parts() : 0);
    if (is_scores(&t))
      return state(t, loops_.of({.lanes_last = last, .tiled = true, .sums = true, .cut_x = streams_}),
                   in_part + in_tiles() + (groups > 1 ? 1 : 0));
    if (held_.contains(&t))
      state(t, loops_.of({.lanes_last = last, .tiled = makes_scores(t), .cut_x = streams_}), in_part, terms);
    if (poison_.contains(&t)) state(t, loops_.of_task(kQueries), around_task(), kMostFeatures);
    if (const auto* reduce = as<Reduce>(op); reduce != nullptr && reduces_keys(op))
      state(t, loops_.of({.sums = true, .parts = streams_ || reduce->function == Reduction::sum}), around_);
    if (is_other(&t))
      state(
          t, loops_.of_sum_over_lanes(features_together(t)), around_task(),
          sym::proven(sym::le(states_of_all(*parts_.others[0]), terms)) ? terms : kMostStates);  // on the stack, or not
    else if (is_product(&t))
      state(t, loops_.of({.tiled = true, .sums = true, .parts = true, .parts_first = streams_}), around_,
            groups * features);
    if (rows_.contains(&t)) state(t, loops_.of_rows(t.rank() - (is_row(t) ? 1 : 0)), around_);
    if (graph_.is_output(&t) && !rows_.contains(&t))
      state(t, loops_.of({}), &t == joined_last_ ? around_task() : around_);
  }
  // Lanes of features.
  int64_t features_together(const TensorView& t) const {
    return t.shape().back().constant().value_or(1) % *numbers_.queries == 0 ? *numbers_.queries : kQueries;
  }
  int around_task() const { return loops_.around_task(shape_, parts_.by_keys); }
  void state(const TensorView& t, std::vector<LoopStep> loops, std::optional<int> inline_at, Choice keep = {}) {
    decisions_.tensors.push_back(decided(t.name, std::move(loops), inline_at, keep));
  }
  // Loops over tiles, and over parts; one iteration is none.
  int in_tiles() const {
    return sym::ceildiv(streams_ ? sym::min(terms(), kWeighed) : terms(), *numbers_.rows).constant() == 1 ? 0 : 1;
  }
  int in_parts() const { return sym::ceildiv(terms(), kWeighed).constant() == 1 ? 0 : 1; }
  sym::Expr terms() const { return shape_[shape_.size() - (parts_.by_keys ? 2 : 1)]; }
  bool is_row(const TensorView& t) const { return t.rank() == shape_.size() && t.shape().back().constant() == 1; }

  // Whether scores are computed where the tensor is: it comes of them without a buffer between.
  bool makes_scores(const TensorView& t) const {
    std::set<const TensorView*> seen;
    std::vector<const TensorView*> left = {&t};
    while (!left.empty()) {
      const TensorView* next = left.back();
      left.pop_back();
      if (is_scores(next)) return true;
      if (next->definition == nullptr || !seen.insert(next).second || (next != &t && held_.contains(next))) continue;
      if (reduces_keys(*next->definition)) continue;
      for (const TensorView* in : inputs(*next->definition)) left.push_back(in);
    }
    return false;
  }

  // A little more, where that makes tiles whole.
  std::optional<sym::Expr> whole_tiles(const std::optional<sym::Expr>& offset) const {
    if (!offset || !offset->constant()) return offset;
    return graph_.pool().constant((*offset->constant() + *numbers_.rows - 1) / *numbers_.rows * *numbers_.rows);
  }

  // Of what comes of the scores, what no lane of a group sees is left out.
  void limit_keys() {
    KeyLimit out;
    out.step = *numbers_.queries;
    out.ahead = whole_tiles(visible_.ahead);
    out.behind = whole_tiles(visible_.behind);
    out.by_keys = parts_.by_keys;
    const auto is_known = [](const std::optional<sym::Expr>& offset) { return !offset || offset->constant(); };
    const bool fits_tiles = *numbers_.queries % *numbers_.rows == 0 && kWeighed % *numbers_.rows == 0;
    out.rows = fits_tiles && is_known(out.ahead) && is_known(out.behind) ? *numbers_.rows : 1;
    const std::set<const TensorView*> behind = behind_products();
    std::set<const TensorView*> scores;
    for (const Op* op : graph_.ops()) {
      const auto& in = inputs(*op);
      if (behind.contains(op->out()) && !is_product(op->out())) continue;
      if (!is_scores(op->out()) &&
          std::none_of(in.begin(), in.end(), [&](const TensorView* t) { return scores.contains(t); }))
        continue;
      const bool sums = is_product(op->out()) || reduces_keys(*op);
      if (op->kind == OpKind::Permute) {  // in front of a product, which has a limit itself
        scores.insert(op->out());
        continue;
      }
      const bool has_keys = op->out()->rank() == shape_.size() && !is_row(*op->out());
      if (sums || has_keys)
        out.ops[op] = is_other(op->out()) ? Limited::sum_over_lanes : sums ? Limited::sum : Limited::result;
      if (!is_product(op->out())) scores.insert(op->out());
    }
    group_.keys = std::move(out);
  }

  ScheduledGroup& group_;
  Fusion& graph_;
  const schedules::Attention& numbers_;
  AttentionParts parts_;
  const std::vector<sym::Expr> shape_;  // of scores
  const AttentionLoops loops_;
  VisibleKeys visible_;
  std::set<const TensorView*> packed_, held_, poison_, rows_;
  TensorView* decided_last_ = nullptr;  // whose loops are those of all
  TensorView* joined_last_ = nullptr;   // of a whole matrix: the result by keys whose loops the others by keys join
  int around_ = 0;
  bool streams_ = false;  // nothing needs all scores of a lane at once: they come and go in parts
  Manual decisions_;
};

std::optional<ScheduledGroup> group(const Problem& problem, const Schedule& schedule) {
  if (const auto& numbers = std::get<schedules::Attention>(schedule); numbers.keys)
    return attention_blocks::schedule(problem, numbers);
  ScheduledGroup out = make_group(problem.fusion, problem.segment);
  out.schedule = schedule;
  Builder(out, std::get<schedules::Attention>(schedule)).run();
  return out;
}

schedules::Attention numbers_for(const Problem& problem, const Target& target, schedules::Attention out) {
  const bool two_vectors =
      target.vector_lanes >= 16 && size_of(attention_parts(problem.segment.ops)->scores[0]->out()->dtype) == 4;
  if (!out.queries) out.queries = two_vectors ? 2 * kQueries : kQueries;  // enough sums at once for two units
  if (!out.block) out.block = std::max(kBlock, *out.queries);
  if (!out.rows) out.rows = target.vector_lanes >= 16 ? 8 : 4;
  if (!out.kept) {
    const TensorView& scores = *attention_parts(problem.segment.ops)->scores[0]->out();
    const int64_t most = kScoreBytes / (*out.queries * static_cast<int64_t>(size_of(scores.dtype)));
    const bool reduces = std::ranges::any_of(problem.segment.ops, [](const Op* op) { return reduces_keys(*op); });
    out.kept = !reduces || problem.decide(sym::le(scores.shape().back(), most)) ? 1 : 0;
  }
  return out;
}

Schedule choose(const Problem& problem, const Target& target, const Schedule& pinned) {
  const auto* given = std::get_if<schedules::Attention>(&pinned);
  if (target.cuda())
    return attention_blocks::choose(problem, target, given != nullptr ? *given : schedules::Attention());
  if (!attention_parts(problem.segment.ops))
    throw UserError("kernels of attention in bf16 and f16 are of GPUs", problem.where(), "leave the schedule out");
  if (given != nullptr && (given->keys || given->stages))
    throw UserError("keys and stages are numbers of GPUs", problem.where(), "leave them out");
  const schedules::Attention out = numbers_for(problem, target, given != nullptr ? *given : schedules::Attention());
  if (*out.block % *out.queries != 0)
    throw UserError(fmt::format("block = {} is no multiple of queries = {}", *out.block, *out.queries), problem.where(),
                    "give a multiple");
  if (const auto found = disobeyed(problem, *group(problem, out)))
    throw UserError(fmt::format("attention does not fit: {}", found->what), problem.where(),
                    "leave the schedule out: scores are in memory then");
  return out;
}

}  // namespace

std::optional<Refused> attention_refuses(const Problem& problem, const Target& target) {
  if (target.cuda()) return attention_blocks::refuse(problem, target);
  if (auto refused = refuse_attention(problem.segment.ops, problem.segment.outputs)) return refused;
  return refuse_loops(problem, [&] { return *group(problem, numbers_for(problem, target, {})); });
}

const Scheduler& attention_scheduler() {
  static const Scheduler kAttention = {
      .name = schedules::Attention::kName,
      .accept = refuse,
      .choose = choose,
      .apply = nullptr,
      .group = group,
      .refuses_of_gpus = [](const Problem& problem) { return attention_blocks::refuse(problem); },
      .refuses_sizes = attention_refuses,
      .concerns =
          [](std::span<Op* const> ops) {
            const auto is = [](const Op* op) { return product_of_matrices(*op) || product_of_narrow(*op); };
            return std::ranges::count_if(ops, is) > 1;
          }};
  return kAttention;
}

}  // namespace plait
