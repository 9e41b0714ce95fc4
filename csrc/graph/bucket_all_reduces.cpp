// Small all-reduces that wait for nothing of each other become one.
#include <algorithm>
#include <compare>
#include <map>
#include <set>

#include "graph/passes.h"
#include "ir/make_op.h"
#include "mesh/collective_cost.h"

namespace plait {

namespace {

constexpr size_t kMostTensors = 16;  // of which each is a part of the kernel that puts them side by side

// What all-reduces of one team and reduction have in common.
struct Kind {
  Team team;
  ReduceOp reduce;
  DType dtype;
  auto operator<=>(const Kind&) const = default;
};
Kind kind_of(const AllReduce& op) { return {op.team, op.reduce, op.in->dtype}; }
using Run = std::vector<AllReduce*>;

sym::Expr elements(const TensorView& t) {
  sym::Expr out = t.fusion->pool().constant(1);
  for (sym::Expr e : t.shape()) out = out * e;
  return out;
}

// The all-reduces of a kind in runs, as they stand; none in a run comes of another one in it.
std::vector<Run> independent(const Fusion& fusion, const Kind& kind) {
  std::vector<Run> out;
  std::set<const TensorView*> behind;  // what comes of the last run
  for (Op* op : fusion.ops()) {
    const std::vector<TensorView*>& in = inputs(*op);
    const bool waits = std::ranges::any_of(in, [&](const TensorView* t) { return behind.contains(t); });
    auto* reduce = as<AllReduce>(*op);
    if (reduce != nullptr && kind_of(*reduce) == kind) {
      if (out.empty() || waits) {
        out.emplace_back();
        behind.clear();
      }
      out.back().push_back(reduce);
    } else if (!waits) {
      continue;
    }
    behind.insert(op->results.begin(), op->results.end());
  }
  return out;
}

class Bucketer {
 public:
  Bucketer(Fusion& fusion, const std::function<bool(sym::Expr)>& decide) : fusion_(fusion), decide_(decide) {}

  void run() {
    std::vector<Kind> kinds;
    for (const Op* op : fusion_.ops())
      if (const auto* reduce = as<AllReduce>(*op)) {
        const Kind kind = kind_of(*reduce);
        if (std::ranges::find(kinds, kind) == kinds.end()) kinds.push_back(kind);
      }
    for (const Kind& kind : kinds) {
      bool some = false;
      for (const Run& run : independent(fusion_, kind))
        for (const Run& bucket : buckets(run)) {
          if (bucket.size() < 2) continue;
          join(bucket);
          some = true;
        }
      if (some) reorder();
    }
  }

 private:
  // Of a run that has several, those that are small, as many together as may be. No other is asked about.
  std::vector<Run> buckets(const Run& run) const {
    std::vector<Run> out;
    if (run.size() < 2) return out;
    for (AllReduce* reduce : run) {
      const sym::Expr bytes = elements(*reduce->in) * static_cast<int64_t>(size_of(reduce->in->dtype));
      if (!decide_(sym::le(bytes, kMostJoinedBytes))) continue;
      if (out.empty() || out.back().size() == kMostTensors) out.emplace_back();
      out.back().push_back(reduce);
    }
    return out;
  }

  // The ops of a bucket stand at the place of its last all-reduce.
  void join(const Run& bucket) {
    std::vector<Op*>& added = at_[bucket.back()];
    const auto emit = [&](std::unique_ptr<Op> op, const std::string& name) {
      const Inferred type = infer(*op, fusion_);
      TensorView* out = fusion_.add_tensor(name, type.shape, type.dtype);
      added.push_back(fusion_.add_op(std::move(op), out));
      return out;
    };
    const auto define = [&](std::unique_ptr<Op> op, TensorView* out) {
      out->definition = nullptr;
      added.push_back(fusion_.add_op(std::move(op), out));
    };
    const std::string name = bucket.front()->out()->name;
    auto cat = std::make_unique<Cat>();
    for (const AllReduce* each : bucket) cat->in.push_back(row_of(each->in, emit));
    auto all = std::make_unique<AllReduce>();
    all->in = emit(std::move(cat), name + "_bucket");
    all->team = bucket.front()->team;
    all->reduce = bucket.front()->reduce;
    TensorView* sums = emit(std::move(all), name + "_bucket_reduced");
    sym::Expr start = fusion_.pool().constant(0);
    for (AllReduce* each : bucket) {
      TensorView* out = each->out();
      gone_.insert(out->definition);
      auto slice = std::make_unique<Slice>();
      slice->in = sums;
      slice->start = start;
      slice->stop = start = start + elements(*out);
      if (out->rank() == 1) {
        define(std::move(slice), out);
        continue;
      }
      auto reshape = std::make_unique<Reshape>();
      reshape->in = emit(std::move(slice), out->name + "_row");
      reshape->shape = out->shape();
      define(std::move(reshape), out);
    }
  }

  template <class Emit>
  TensorView* row_of(TensorView* t, const Emit& emit) const {
    if (t->rank() == 1) return t;
    auto reshape = std::make_unique<Reshape>();
    reshape->in = t;
    reshape->shape = {elements(*t)};
    return emit(std::move(reshape), t->name + "_row");
  }

  // What waits for a bucket that comes later stands behind it, in the order it had.
  void reorder() {
    std::vector<Op*> order, waiting;
    std::set<const TensorView*> known(fusion_.inputs().begin(), fusion_.inputs().end());
    const auto put = [&](Op* op) {
      const std::vector<TensorView*>& in = inputs(*op);
      if (!std::ranges::all_of(in, [&](const TensorView* t) { return known.contains(t); })) return false;
      order.push_back(op);
      known.insert(op->results.begin(), op->results.end());
      return true;
    };
    std::set<const Op*> added;
    for (const auto& [last, ops] : at_) added.insert(ops.begin(), ops.end());
    for (Op* op : std::vector<Op*>(fusion_.ops().begin(), fusion_.ops().end())) {
      if (added.contains(op)) continue;
      if (!gone_.contains(op)) {
        if (!put(op)) waiting.push_back(op);
        continue;
      }
      const auto bucket = at_.find(op);
      if (bucket == at_.end()) continue;
      for (Op* each : bucket->second)
        if (!put(each)) waiting.push_back(each);
      std::erase_if(waiting, put);
    }
    order.insert(order.end(), waiting.begin(), waiting.end());
    fusion_.set_order(std::move(order));
    at_.clear();
    gone_.clear();
  }

  Fusion& fusion_;
  const std::function<bool(sym::Expr)>& decide_;
  std::map<const Op*, std::vector<Op*>> at_;  // by the all-reduce in whose place they stand
  std::set<const Op*> gone_;
};

}  // namespace

void bucket_all_reduces(Fusion& fusion, const std::function<bool(sym::Expr)>& decide) {
  Bucketer(fusion, decide).run();
}

}  // namespace plait
