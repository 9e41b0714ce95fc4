#include "segment/attention_groups.h"

#include <fmt/format.h>

#include <algorithm>

#include "schedule/attention.h"
#include "schedule/find_attention.h"
#include "schedule/reads.h"
#include "segment/helpers.h"
#include "segment/wide_scores.h"

namespace plait {

namespace {

constexpr size_t kMostRelated = 64, kMostProducts = 4;
constexpr int64_t kLeastOfGpu = 16;  // queries and keys: rows of a matrix

// Products whose weights come of the same scores.
struct Related {
  std::vector<const Matmul*> by_queries, by_keys;
};

class AttentionGroups {
 public:
  AttentionGroups(Fusion& fusion, SegmentOptions& options)
      : fusion_(fusion), options_(options), written_(stated_names(options)) {}

  std::set<const Op*> run() {
    const std::vector<Op*> ops(fusion_.ops().begin(), fusion_.ops().end());
    if (options_.target.cuda()) return run_of_gpu(ops);
    take_gradients(ops);
    for (const Op* op : ops) {
      const Matmul* product = product_of_matrices(*op);
      if (product == nullptr) product = product_of_rounded(*op);
      if (product != nullptr && !taken_.contains(op)) take_forward(*product);
    }
    return std::move(taken_);
  }

 private:
  const Matmul* product_of(const Op& op) const {
    return limits_.narrow ? product_of_narrow(op) : product_of_matrices(op);
  }

  void take_gradients(const std::vector<Op*>& ops) {
    for (const Op* op : ops) {
      const Matmul* product = product_of(*op);
      if (product != nullptr && !taken_.contains(op) && is_by_keys(*product)) take_gradient(*product);
    }
  }

  // In bf16 and f16.
  std::set<const Op*> run_of_gpu(const std::vector<Op*>& ops) {
    limits_ = {true, kLeastOfGpu, kLeastOfGpu};
    take_gradients(ops);
    for (const Op* op : ops) {
      const Matmul* product = product_of_narrow(*op);
      if (product == nullptr || taken_.contains(op)) continue;
      if (const std::vector<Op*> found = find({product}, false); !found.empty()) take(found);
    }
    return std::move(taken_);
  }

  // The ops of a segment, in order; none where it cannot be.
  std::vector<Op*> find(const std::vector<const Matmul*>& products, bool by_keys) {
    const auto decide = [&](sym::Expr e) { return decide_sizes(options_, e, "scores on the stack"); };
    for (const bool moves : {true, false}) {
      Segment s;
      for (const Op* op : attention_of(fusion_, products, by_keys, moves, limits_, decide))
        s.ops.push_back(const_cast<Op*>(op));
      if (s.ops.empty()) continue;
      if (places_.empty())
        for (const Op* op : fusion_.ops()) places_.emplace(op, places_.size());
      std::ranges::sort(s.ops, {}, [&](const Op* op) { return places_.at(op); });
      const bool is_free = std::none_of(s.ops.begin(), s.ops.end(), [&](const Op* each) {
        return taken_.contains(each) || written_.contains(each->results[0]->name);
      });
      if (!is_free || comes_back(s.ops)) continue;
      list_tensors(s, fusion_);
      const auto refused = attention_refuses({fusion_, s, options_.guards}, options_.target);
      if (!refused) return s.ops;
      note(options_, fmt::format("no attention of %{}: {}; to change: {}", products[0]->out()->name, refused->reason,
                                 refused->change));
    }
    return {};
  }

  // Whether something outside that reads the ops comes to be read by them, by way of other segments of attention too.
  bool comes_back(const std::vector<Op*>& ops) const {
    const std::set<const Op*> own(ops.begin(), ops.end());
    const size_t last = places_.at(ops.back());
    std::set<const Op*> seen(own);
    std::vector<const Op*> left(ops.begin(), ops.end());
    while (!left.empty()) {
      const Op* op = left.back();
      left.pop_back();
      for (const TensorView* t : op->results)
        for (const Op* reader : fusion_.readers(t)) {
          if (own.contains(reader) && !own.contains(op)) return true;
          if (places_.at(reader) > last || !seen.insert(reader).second) continue;
          left.push_back(reader);
          if (const auto group = group_of_.find(reader); group != group_of_.end())
            for (const Op* each : groups_[group->second])
              if (seen.insert(each).second) left.push_back(each);
        }
    }
    return false;
  }

  // Whether they are: `--bisect` may leave them out.
  bool take(const std::vector<Op*>& ops) {
    if (!pin_segment(options_, ops, schedules::Attention(), "attention")) return false;
    taken_.insert(ops.begin(), ops.end());
    for (const Op* op : ops) group_of_[op] = groups_.size();
    groups_.push_back(ops);
    return true;
  }

  void take_forward(const Matmul& product) {
    WideScores scores(fusion_, product);
    if (!scores.empty()) places_.clear();
    const std::vector<Op*> ops = find({&product}, false);
    if (!ops.empty() && take(ops))
      scores.keep();
    else
      scores.take_back();
    if (!scores.empty()) places_.clear();
  }

  // Weights that a product by queries reads as well: in one kernel with that; or computed again for those by keys.
  void take_gradient(const Matmul& product) {
    if (tried_.contains(&product)) return;
    const Related related = find_related(product);
    tried_.insert(related.by_keys.begin(), related.by_keys.end());
    if (related.by_keys.empty() || related.by_keys.size() > kMostProducts) return;
    if (const std::vector<Op*> ops = find(related.by_keys, true); !ops.empty()) {
      take(ops);
      return;
    }
    if (related.by_queries.size() != 1) return;
    std::vector<const Matmul*> all = related.by_keys;
    all.push_back(related.by_queries[0]);
    if (const std::vector<Op*> ops = limits_.narrow ? std::vector<Op*>() : find(all, true); !ops.empty()) {
      take(ops);
      return;
    }
    const size_t count = fusion_.tensor_count();
    const std::vector<Op*> order(fusion_.ops().begin(), fusion_.ops().end());
    const std::map<const TensorView*, TensorView*> twins = double_weights(related.by_keys);
    const std::vector<Op*> keys = find(related.by_keys, true), queries = find(related.by_queries, false);
    if (!keys.empty() && !queries.empty()) {
      take(keys);
      take(queries);
      return;
    }
    for (const Matmul* m : related.by_keys)
      for (const auto& [original, twin] : twins) {
        if (weights_of(*m, true) == twin) replace_input(*m->a->definition, twin, const_cast<TensorView*>(original));
        if (m->b == twin) replace_input(*m->out()->definition, twin, const_cast<TensorView*>(original));
      }
    fusion_.take_back(count);
    fusion_.set_order(order);
    places_.clear();
  }

  // From the weights through elementwise ops of as many elements, to and fro.
  Related find_related(const Matmul& product) const {
    Related out;
    const std::vector<sym::Expr> shape = weights_of(product, true)->shape();
    std::set<const TensorView*> seen;
    std::vector<const TensorView*> left = {weights_of(product, true)};
    while (!left.empty()) {
      const TensorView* t = left.back();
      left.pop_back();
      if (t->shape() != shape || t->definition == nullptr || !seen.insert(t).second) continue;
      if (seen.size() > kMostRelated) return {};
      if (t->definition->kind == OpKind::PointwiseOp)
        for (const TensorView* in : inputs(*t->definition)) left.push_back(in);
      for (const Op* reader : fusion_.readers(t)) {
        const Matmul* weighs = product_of(*reader);
        if (weighs != nullptr && weighs->a == t) out.by_queries.push_back(weighs);
        if (reader->kind == OpKind::PointwiseOp) left.push_back(reader->out());
        if (!is_transpose(*reader)) continue;
        for (const Op* next : fusion_.readers(reader->out()))
          if (const Matmul* m = product_of(*next); m != nullptr && m->a == reader->out()) out.by_keys.push_back(m);
      }
    }
    return out;
  }

  // Numbers and positions, and what is elementwise of them: they cost no memory.
  std::set<const Op*> free_ops() const {
    std::set<const Op*> out;
    for (const Op* op : fusion_.ops()) {
      const auto& in = inputs(*op);
      const auto is_free = [&](const TensorView* t) { return t->definition != nullptr && out.contains(t->definition); };
      if (is_number(*op) || (op->kind == OpKind::PointwiseOp && std::ranges::all_of(in, is_free))) out.insert(op);
    }
    return out;
  }

  // Scores and what comes of them, up to the weights of these products.
  std::map<const TensorView*, TensorView*> double_weights(const std::vector<const Matmul*>& products) {
    const std::set<const Op*> free = free_ops();
    std::set<const Op*> ops;
    std::vector<const TensorView*> left;
    for (const Matmul* m : products) left.push_back(weights_of(*m, true));
    const std::vector<sym::Expr> shape = left[0]->shape();
    while (!left.empty()) {
      const Op* op = left.back()->definition;
      const bool goes = op != nullptr && (free.contains(op) || keeps_places(*op) ||
                                          (op->out()->shape() == shape && op->results.size() == 1));
      left.pop_back();
      if (!goes || !ops.insert(op).second) continue;
      const bool of_scores = product_of(*op) != nullptr || keeps_places(*op);  // operands where they lie
      for (const TensorView* in : inputs(*op))
        if (!of_scores || (in->definition != nullptr && keeps_places(*in->definition))) left.push_back(in);
    }
    std::map<const TensorView*, TensorView*> twins;
    std::vector<Op*> order;
    for (Op* op : std::vector<Op*>(fusion_.ops().begin(), fusion_.ops().end())) {
      order.push_back(op);
      if (!ops.contains(op)) continue;
      Op* twin = duplicate(fusion_, *op);
      for (TensorView* in : std::vector<TensorView*>(inputs(*twin)))
        if (const auto it = twins.find(in); it != twins.end()) replace_input(*twin, in, it->second);
      twins[op->out()] = twin->out();
      order.push_back(twin);
    }
    fusion_.set_order(std::move(order));
    places_.clear();
    for (const Matmul* m : products) {
      if (TensorView* weights = weights_of(*m, true); twins.contains(weights))
        replace_input(*m->a->definition, weights, twins.at(weights));
      if (twins.contains(m->b)) replace_input(*m->out()->definition, m->b, twins.at(m->b));
    }
    drop_unread(fusion_, ops);
    return twins;
  }

  Fusion& fusion_;
  SegmentOptions& options_;
  AttentionLimits limits_;
  std::set<std::string, std::less<>> written_;
  std::set<const Op*> taken_;
  std::vector<std::vector<Op*>> groups_;  // of what is taken
  std::map<const Op*, size_t> group_of_;
  std::set<const Matmul*> tried_;       // products by keys
  std::map<const Op*, size_t> places_;  // in the order of the fusion; empty where that has changed
};

}  // namespace

std::set<const Op*> find_attention(Fusion& fusion, SegmentOptions& options) {
  const bool machine = options.target.kind == TargetKind::cpu || options.target.threads_cooperate();
  if (!machine || options.contractions != "auto") return {};
  return AttentionGroups(fusion, options).run();
}

}  // namespace plait
