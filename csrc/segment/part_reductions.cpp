#include "segment/part_reductions.h"

#include <algorithm>
#include <map>
#include <set>

#include "base/error.h"
#include "ir/factors.h"
#include "ir/make_op.h"
#include "ir/op_fields.h"

namespace plait {

namespace {

constexpr size_t kMostNear = 24;  // elementwise ops in front of a reduction, or behind it, that are looked at
constexpr size_t kMostWhole = 2;  // tensors of the operand's size that are read again
constexpr size_t kMostKinds = 8;  // of reductions around an op that are told apart

std::vector<uint64_t> extents_of(const TensorView& t) {
  std::vector<uint64_t> out;
  for (const Axis& a : t.domain.logical) out.push_back(a.extent.id());
  return out;
}

bool same_shape(const TensorView& a, const TensorView& b) { return extents_of(a) == extents_of(b); }

// What a reduction reduces: the extents of its operand, by number, and the dims.
struct Kind {
  std::vector<uint64_t> extents;
  std::vector<int64_t> dims;
  auto operator<=>(const Kind&) const = default;
};

std::optional<Kind> kind_of(const Op& op) {
  if (property(op.kind) != OpProperty::reduction || !combines(op)) return std::nullopt;
  return visit(op, [](const auto& o) -> std::optional<Kind> {
    if constexpr (requires {
                    o.in->domain;
                    o.dims.size();
                  }) {
      Kind out{extents_of(*o.in), {o.dims.begin(), o.dims.end()}};
      std::sort(out.dims.begin(), out.dims.end());
      return out;
    } else {
      return std::nullopt;
    }
  });
}

using Kinds = std::set<Kind>;
void add(Kinds& to, const Kinds& from) {
  for (const Kind& kind : from)
    if (to.size() < kMostKinds) to.insert(kind);
}

class ReductionParter {
 public:
  ReductionParter(Fusion& fusion, const PartOptions& options) : fusion_(fusion), options_(options) {}

  std::vector<std::vector<Op*>> run() {
    const std::vector<Op*> ops = fusion_.ops();
    for (size_t i = 0; i < ops.size(); ++i) places_[ops[i]] = {i, 0};
    find_ahead(ops);
    find_behind(ops);
    for (Op* op : ops) {
      at_ = places_.at(op);
      if (!part(*op)) order_.push_back(op);
    }
    drop_unread();
    fusion_.set_order(order_);
    std::vector<std::vector<Op*>> out;
    for (auto& [kind, together] : first_)
      if (together.size() > 1) out.push_back(std::move(together));
    return out;
  }

 private:
  struct Seen {
    size_t first = SIZE_MAX;  // place of the first one
    bool inner = false;       // of one of them the result is read by ops of the operand's shape
  };

  // Reductions whose results an op reads by way of elementwise ops of its shape.
  void find_ahead(const std::vector<Op*>& ops) {
    for (const Op* op : ops) {
      if (const auto kind = kind_of(*op)) {
        Seen& seen = seen_[*kind];
        seen.first = std::min(seen.first, places_.at(op).first);
        seen.inner = seen.inner || is_inner(*op);
      }
      if (!is_elementwise(*op)) continue;
      for (const TensorView* in : inputs(*op)) {
        if (in->definition == nullptr) continue;
        if (const auto kind = kind_of(*in->definition)) add(ahead_[op], {*kind});
        if (is_elementwise(*in->definition)) add(ahead_[op], ahead_[in->definition]);
      }
    }
  }

  // Reductions that read an op's result so.
  void find_behind(const std::vector<Op*>& ops) {
    for (size_t i = ops.size(); i-- > 0;)
      for (const Op* reader : fusion_.readers(ops[i]->results[0])) {
        if (const auto kind = kind_of(*reader)) add(behind_[ops[i]], {*kind});
        if (is_elementwise(*reader) && same_shape(*reader->results[0], *ops[i]->results[0]))
          add(behind_[ops[i]], behind_[reader]);
      }
  }

  // Whether ops of the operand's shape read the result, by way of a few elementwise ops.
  bool is_inner(const Op& op) const {
    const std::vector<uint64_t> whole = extents_of(*inputs(op)[0]);
    std::vector<const Op*> todo = {&op};
    for (size_t i = 0; i < todo.size() && todo.size() <= kMostNear; ++i)
      for (const TensorView* t : todo[i]->results)
        for (const Op* reader : fusion_.readers(t)) {
          if (!is_elementwise(*reader)) continue;
          if (extents_of(*reader->results[0]) == whole) return true;
          if (std::find(todo.begin(), todo.end(), reader) == todo.end()) todo.push_back(reader);
        }
    return todo.size() > kMostNear;
  }

  // The elementwise ops that make an operand, and what they meet.
  struct Chain {
    std::vector<Op*> ops;               // in order
    std::set<const TensorView*> whole;  // of the operand's shape, that lie in memory
    Kinds others;                       // reductions over other dims
    bool may_stand_again = true;
  };

  Chain chain_of(TensorView* operand, const Kind& kind) {
    Chain out;
    std::set<const Op*> seen;
    std::vector<TensorView*> todo = {operand};
    while (!todo.empty() && out.ops.size() <= kMostNear) {
      TensorView* t = todo.back();
      todo.pop_back();
      Op* op = t->definition;
      if (op != nullptr && same_shape(*t, *operand)) {
        add(out.others, ahead_[op]);
        add(out.others, behind_[op]);
      }
      if (op == nullptr || !is_elementwise(*op) || (fusion_.is_output(t) && t != operand)) {
        if (same_shape(*t, *operand)) out.whole.insert(t);
        continue;
      }
      if (!seen.insert(op).second) continue;
      out.ops.push_back(op);
      out.may_stand_again = out.may_stand_again && op->kind != OpKind::Uniform && op->kind != OpKind::Normal &&
                            !(options_.stays && options_.stays(*t));
      for (TensorView* in : inputs(*op)) todo.push_back(in);
    }
    out.may_stand_again = out.may_stand_again && out.ops.size() <= kMostNear;
    std::sort(out.ops.begin(), out.ops.end(), [&](const Op* a, const Op* b) { return places_.at(a) < places_.at(b); });
    std::erase_if(out.others, [&](const Kind& other) { return other.extents != kind.extents || other == kind; });
    return out;
  }

  bool decided(const Op& op, const std::string& how) {
    const std::string what = fmt::format("part %{}: {}", op.results[0]->name, how);
    if (options_.decide && !options_.decide(what)) return false;
    if (options_.explain != nullptr) *options_.explain += what + "\n";
    return true;
  }

  // Puts what stands for the reduction into the order; false where it stays as it is.
  bool part(Op& op) {
    const auto kind = kind_of(op);
    if (!kind || (options_.stays && options_.stays(*op.results[0]))) return false;
    TensorView* operand = inputs(op)[0];
    if (operand->definition == nullptr || !is_elementwise(*operand->definition)) return false;
    const Chain chain = chain_of(operand, *kind);
    if (const auto* reduce = as<Reduce>(op); reduce != nullptr && !finds_index(reduce->function))
      for (const Kind& other : chain.others) {
        const bool within = std::includes(kind->dims.begin(), kind->dims.end(), other.dims.begin(), other.dims.end());
        if (!within || !decided(op, "over the dims of its neighbour first")) continue;
        split(op, *reduce, other.dims);
        return true;
      }
    compute_again(op, *kind, operand, chain);
    return false;
  }

  // An op that stands for a part of the one at hand.
  void append(Op* made) {
    ++at_.second;
    places_[made] = at_;
    order_.push_back(made);
  }

  TensorView* emit(std::unique_ptr<Op> op, const std::string& hint) {
    const Inferred type = infer(*op, fusion_);
    TensorView* out = fusion_.add_tensor(hint, type.shape, type.dtype);
    out->dtype_alias = type.dtype_alias;
    append(fusion_.add_op(std::move(op), out));
    return out;
  }

  TensorView* cast(TensorView* in, DType to, const std::string& hint) {
    if (in->dtype == to) return in;
    auto op = std::make_unique<PointwiseOp>();
    op->function = Pointwise::cast;
    op->in = {in};
    op->to = to;
    return emit(std::move(op), hint);
  }

  // The reduction over `dims` first, then over all that it reduces. Sums and products of narrow floats round once.
  void split(Op& op, const Reduce& whole, const std::vector<int64_t>& dims) {
    TensorView *operand = whole.in, *out = op.out();
    const bool adds = whole.function == Reduction::sum || whole.function == Reduction::prod;
    const DType wide = accumulation_type(operand->dtype);
    const bool narrow = adds && is_float(operand->dtype) && wide != operand->dtype;
    if (narrow) operand = cast(operand, wide, operand->name + "_wide");
    auto first = std::make_unique<Reduce>();
    first->in = operand;
    first->function = whole.function;
    first->dims = dims;
    first->keepdim = true;
    auto second = std::make_unique<Reduce>();
    second->in = emit(std::move(first), out->name + "_rows");
    second->function = whole.function;
    second->dims = whole.dims;
    second->keepdim = whole.keepdim;
    TensorView* made = emit(std::move(second), out->name + "_whole");
    if (narrow) made = cast(made, out->dtype, out->name + "_narrow");
    // `out` keeps its name and readers: the last op defines it.
    Op* last = made->definition;
    made->definition = nullptr;
    fusion_.define(*last, 0, out);
  }

  // Gives a reduction that ends here the ops of the chain for its own, with others of its kind.
  void compute_again(Op& op, const Kind& kind, TensorView* operand, const Chain& chain) {
    if (!chain.may_stand_again || chain.whole.size() > kMostWhole || fusion_.is_output(operand)) return;
    const Seen& own = seen_.at(kind);
    const bool yields = std::any_of(chain.others.begin(), chain.others.end(), [&](const Kind& other) {
      const Seen& theirs = seen_.at(other);
      return theirs.inner || theirs.first < own.first;
    });
    if (own.inner || !yields || !decided(op, "computes what it reads again")) return;
    std::map<const TensorView*, TensorView*>& copies = copies_[kind];
    std::vector<Op*>& together = first_[kind];
    for (Op* from : chain.ops) {
      TensorView* out = from->out();
      if (copies.contains(out)) continue;
      std::unique_ptr<Op> copy = blank_op(from->kind);
      copy_fields(*from, *copy, [&]<class T>(const T& value) {
        const auto own = [&](TensorView* t) { return copies.contains(t) ? copies.at(t) : t; };
        T mapped = value;
        if constexpr (std::is_same_v<T, TensorView*>) mapped = own(value);
        if constexpr (std::is_same_v<T, std::vector<TensorView*>>)
          std::transform(value.begin(), value.end(), mapped.begin(), own);
        return mapped;
      });
      TensorView* made = fusion_.add_tensor(out->name + "_again", out->shape(), out->dtype);
      made->dtype_alias = out->dtype_alias;
      append(fusion_.add_op(std::move(copy), made));
      together.push_back(order_.back());
      copies[out] = made;
      replaced_.insert(from);
    }
    replace_input(op, operand, copies.at(operand));
    together.push_back(&op);
  }

  // Ops in whose place others stand now.
  void drop_unread() {
    std::set<const TensorView*> read(fusion_.outputs().begin(), fusion_.outputs().end());
    std::vector<Op*> kept;
    for (size_t i = order_.size(); i-- > 0;) {
      if (replaced_.contains(order_[i]) && !read.contains(order_[i]->out())) continue;
      kept.push_back(order_[i]);
      for (const TensorView* t : inputs(*order_[i])) read.insert(t);
    }
    std::reverse(kept.begin(), kept.end());
    order_ = std::move(kept);
  }

  Fusion& fusion_;
  const PartOptions& options_;
  using Place = std::pair<size_t, size_t>;  // of an op of the graph, and how many were made in its place so far
  std::map<const Op*, Place> places_;
  Place at_;
  std::map<const Op*, Kinds> ahead_, behind_;
  std::map<Kind, Seen> seen_;
  std::map<Kind, std::map<const TensorView*, TensorView*>> copies_;
  std::map<Kind, std::vector<Op*>> first_;
  std::set<const Op*> replaced_;  // computed again elsewhere
  std::vector<Op*> order_;
};

}  // namespace

std::vector<std::vector<Op*>> part_reductions(Fusion& fusion, const PartOptions& options) {
  return ReductionParter(fusion, options).run();
}

}  // namespace plait
