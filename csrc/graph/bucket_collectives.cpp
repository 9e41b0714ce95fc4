// Small collectives that wait for nothing of each other become one.
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

// What collectives that may be one have in common.
struct Kind {
  OpKind kind;
  Team team;
  ReduceOp reduce;
  DType dtype;
  auto operator<=>(const Kind&) const = default;
};
using Run = std::vector<Op*>;
using Shape = std::vector<sym::Expr>;

const char* participle(OpKind kind) {
  if (kind == OpKind::AllGather) return "gathered";
  return kind == OpKind::ReduceScatter ? "scattered" : "reduced";
}

int64_t members_of(const Fusion& fusion, const Team& team) {
  int64_t out = 1;
  for (int axis : team.axes) out *= fusion.mesh().axes()[static_cast<size_t>(axis)].size;
  return out;
}

// Whether all members have as much of the first dim, which is seen where it is a number.
template <class T>
bool has_equal_pieces(const T& op) {
  const auto count = op.count.constant(), total = op.total.constant();
  return op.outer.constant() == 1 && count && total && *total == *count * members_of(*op.in->fusion, op.team);
}

// Gathers of what a run is given alone: they wait for nothing.
std::optional<Kind> kind_of(const Op& op, bool gathers) {
  if (const auto* o = as<AllReduce>(op)) return Kind{op.kind, o->team, o->reduce, o->in->dtype};
  if (const auto* o = as<ReduceScatter>(op); o && has_equal_pieces(*o))
    return Kind{op.kind, o->team, o->reduce, o->in->dtype};
  if (const auto* o = as<AllGather>(op); o && gathers && !o->in->definition && has_equal_pieces(*o))
    return Kind{op.kind, o->team, ReduceOp::sum, o->in->dtype};
  return std::nullopt;
}

sym::Expr elements(const TensorView& t) {
  sym::Expr out = t.fusion->pool().constant(1);
  for (sym::Expr e : t.shape()) out = out * e;
  return out;
}

class Bucketer {
 public:
  Bucketer(Fusion& fusion, const std::function<bool(sym::Expr)>& decide, bool gathers)
      : fusion_(fusion), decide_(decide), gathers_(gathers) {}

  void run() {
    std::vector<Kind> kinds;
    for (const Op* op : fusion_.ops())
      if (const auto kind = kind_of(*op, gathers_); kind && std::ranges::find(kinds, *kind) == kinds.end())
        kinds.push_back(*kind);
    for (const Kind& kind : kinds) {
      bool some = false;
      for (const Run& run : independent(kind))
        for (const Run& bucket : buckets(kind, run)) {
          if (bucket.size() < 2) continue;
          join(kind, bucket);
          some = true;
        }
      if (some) reorder();
    }
  }

 private:
  // The collectives of a kind in runs, as they stand; none in a run comes of another one in it.
  std::vector<Run> independent(const Kind& kind) const {
    std::vector<Run> out;
    std::set<const TensorView*> behind;  // what comes of the last run
    for (Op* op : fusion_.ops()) {
      const std::vector<TensorView*>& in = inputs(*op);
      const bool waits = std::ranges::any_of(in, [&](const TensorView* t) { return behind.contains(t); });
      if (kind_of(*op, gathers_) == kind) {
        if (out.empty() || waits) {
          out.emplace_back();
          behind.clear();
        }
        out.back().push_back(op);
      } else if (!waits) {
        continue;
      }
      behind.insert(op->results.begin(), op->results.end());
    }
    return out;
  }

  // Of a run that has several, those that are small, as many together as may be, of gathers as much: what they make
  // is there from the first of them on. No other is asked about.
  std::vector<Run> buckets(const Kind& kind, const Run& run) const {
    std::vector<Run> out;
    if (run.size() < 2) return out;
    const int64_t most = most_joined_bytes(fusion_.mesh(), kind.team.axes);
    sym::Expr all = fusion_.pool().constant(0);
    for (Op* op : run) {
      const TensorView& t = kind.kind == OpKind::AllGather ? *op->out() : *inputs(*op)[0];
      const sym::Expr bytes = elements(t) * static_cast<int64_t>(size_of(kind.dtype));
      if (!decide_(sym::le(bytes, most))) continue;
      const bool sums = kind.kind == OpKind::AllGather && !out.empty();
      if (out.empty() || out.back().size() == kMostTensors || (sums && !decide_(sym::le(all + bytes, most)))) {
        out.emplace_back();
        all = fusion_.pool().constant(0);
      }
      all = all + bytes;
      out.back().push_back(op);
    }
    return out;
  }

  // The ops of a bucket stand at the place of its last collective, of gathers, whose operands are there, of its first.
  void join(const Kind& kind, const Run& bucket) {
    std::vector<Op*>& added = at_[kind.kind == OpKind::AllGather ? bucket.front() : bucket.back()];
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
    const bool scatters = kind.kind == OpKind::ReduceScatter, gathers = kind.kind == OpKind::AllGather;
    const sym::Expr members = fusion_.pool().constant(members_of(fusion_, kind.team));
    auto cat = std::make_unique<Cat>();
    cat->dim = scatters ? 1 : 0;
    sym::Expr own = fusion_.pool().constant(0);  // elements of a member
    for (Op* op : bucket) {
      const sym::Expr part = elements(scatters ? *op->out() : *inputs(*op)[0]);
      own = own + part;
      cat->in.push_back(reshaped(inputs(*op)[0], scatters ? Shape{members, part} : Shape{part}, emit));
    }
    TensorView* side_by_side = emit(std::move(cat), name + "_bucket");
    TensorView* done = fusion_.add_tensor(name + "_bucket_" + participle(kind.kind),
                                          gathers ? Shape{members, own} : Shape{own}, kind.dtype);
    added.push_back(fusion_.add_op(joined(kind, side_by_side, own, members), done));
    sym::Expr start = fusion_.pool().constant(0);
    for (Op* op : bucket) {
      TensorView* out = op->out();
      gone_.insert(op);
      auto slice = std::make_unique<Slice>();
      slice->in = done;
      slice->dim = gathers ? 1 : 0;
      slice->start = start;
      slice->stop = start = start + elements(gathers ? *inputs(*op)[0] : *out);
      if (out->rank() == 1 && !gathers) {
        define(std::move(slice), out);
        continue;
      }
      auto reshape = std::make_unique<Reshape>();
      reshape->in = emit(std::move(slice), out->name + "_row");
      reshape->shape = out->shape();
      define(std::move(reshape), out);
    }
  }

  // The collective of a bucket, of which each member has, or gets, so many elements.
  static std::unique_ptr<Op> joined(const Kind& kind, TensorView* in, sym::Expr own, sym::Expr members) {
    const auto around = [&](auto op) -> std::unique_ptr<Op> {
      op->in = in, op->team = kind.team;
      if constexpr (requires { op->reduce; }) op->reduce = kind.reduce;
      if constexpr (requires { op->count; }) {
        op->outer = op->inner = in->fusion->pool().constant(1);
        op->count = own, op->total = members * own;
      }
      return op;
    };
    if (kind.kind == OpKind::AllGather) return around(std::make_unique<AllGather>());
    if (kind.kind == OpKind::ReduceScatter) return around(std::make_unique<ReduceScatter>());
    return around(std::make_unique<AllReduce>());
  }

  template <class Emit>
  static TensorView* reshaped(TensorView* t, Shape shape, const Emit& emit) {
    if (t->rank() == shape.size() && t->shape() == shape) return t;
    auto reshape = std::make_unique<Reshape>();
    reshape->in = t;
    reshape->shape = std::move(shape);
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
  bool gathers_;
  std::map<const Op*, std::vector<Op*>> at_;  // by the collective in whose place they stand
  std::set<const Op*> gone_;
};

}  // namespace

void bucket_collectives(Fusion& fusion, const std::function<bool(sym::Expr)>& decide, bool gathers) {
  Bucketer(fusion, decide, gathers).run();
}

}  // namespace plait
