#include <algorithm>
#include <map>
#include <tuple>

#include "graph/passes.h"

namespace plait {

namespace {

// The operand of an op that keeps the order of the elements and changes how their places are numbered.
TensorView* reshaped(const TensorView& t) {
  if (!t.definition) return nullptr;
  return visit(
      *t.definition,
      overloaded{[](const Reshape& op) { return op.in; }, [](const Squeeze& op) { return op.in; },
                 [](const Unsqueeze& op) { return op.in; }, [](const auto&) -> TensorView* { return nullptr; }});
}

// The operand of an op that is all of it wherever their types are equal.
TensorView* kept_where_types_agree(const TensorView& t) {
  return visit(*t.definition,
               overloaded{[](const Broadcast& op) { return op.in; }, [](const Slice& op) { return op.in; },
                          [](const PointwiseOp& op) { return op.function == Pointwise::cast ? op.in[0] : nullptr; },
                          [](const auto&) -> TensorView* { return nullptr; }});
}

// What permutes that together change nothing began with.
TensorView* before_permutes(const TensorView& t) {
  std::vector<int64_t> dims(t.rank());
  for (size_t d = 0; d < dims.size(); ++d) dims[d] = int64_t(d);
  const std::vector<int64_t> unmoved = dims;
  for (const TensorView* at = &t; at->definition;) {
    const auto* permute = as<Permute>(*at->definition);
    if (!permute) return nullptr;
    for (int64_t& d : dims) d = permute->dims[size_t(d)];
    if (dims == unmoved) return permute->in;
    at = permute->in;
  }
  return nullptr;
}

// The tensor that `t` is again; null: a new one.
TensorView* earlier(const TensorView& t) {
  if (TensorView* in = kept_where_types_agree(t)) return same_type(*in, t) ? in : nullptr;
  for (TensorView* in = reshaped(t); in; in = reshaped(*in))
    if (same_type(*in, t)) return in;
  TensorView* in = before_permutes(t);
  return in && same_type(*in, t) ? in : nullptr;
}

// Ops already kept, to be found by another one that computes the same.
class Kept {
 public:
  // The result of an op that computes the same as `op`, of the same type; null: none, and `op` is kept.
  TensorView* find_or_keep(Op* op) {
    const std::vector<TensorView*> operands = inputs(*op);
    auto& like = ops_[{op->kind, operands.empty() ? nullptr : operands.front(), op->out->dtype}];
    auto equal = std::find_if(like.begin(), like.end(), [&](const Op* other) {
      return same_fields(*op, *other) && same_type(*op->out, *other->out);
    });
    if (equal != like.end()) return (*equal)->out;
    like.push_back(op);
    return nullptr;
  }

 private:
  std::map<std::tuple<OpKind, const TensorView*, DType>, std::vector<Op*>> ops_;  // by first operand and result's dtype
};

}  // namespace

void merge_equal(Fusion& fusion) {
  Kept kept;
  std::map<const TensorView*, TensorView*> first;  // tensor -> the first one that holds the same
  for (Op* op : fusion.ops()) {
    for (const TensorView* in : inputs(*op))
      if (auto it = first.find(in); it != first.end()) replace_input(*op, in, it->second);
    TensorView* same = earlier(*op->out);
    if (!same) same = kept.find_or_keep(op);
    if (same) first[op->out] = same;
  }
}

}  // namespace plait
