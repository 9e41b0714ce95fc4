#include <algorithm>
#include <map>
#include <set>
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
    auto& like = ops_[{op->kind, operands.empty() ? nullptr : operands.front(), op->out()->dtype}];
    auto equal = std::find_if(like.begin(), like.end(), [&](const Op* other) {
      return same_fields(*op, *other) && same_type(*op->out(), *other->out());
    });
    if (equal != like.end()) return (*equal)->out();
    like.push_back(op);
    return nullptr;
  }

 private:
  std::map<std::tuple<OpKind, const TensorView*, DType>, std::vector<Op*>> ops_;  // by first operand and result's dtype
};

// Whether a kernel computes the tensor again for less than it would be to read it: constants, places, what is made of
// them alone, and casts that widen. `known` says so of the operands.
bool is_cheap(const Op& op, const std::set<const TensorView*>& known) {
  if (op.kind == OpKind::Full || op.kind == OpKind::Size || op.kind == OpKind::Iota) return true;
  const std::vector<TensorView*> operands = inputs(op);
  if (!is_elementwise(op) || operands.empty() || counter_offset(op)) return false;
  const auto* pointwise = as<PointwiseOp>(op);
  if (pointwise && pointwise->function == Pointwise::cast && size_of(operands[0]->dtype) < size_of(op.out()->dtype))
    return true;
  return std::all_of(operands.begin(), operands.end(), [&](const TensorView* in) { return known.contains(in); });
}

}  // namespace

void merge_equal(Fusion& fusion) {
  Kept kept;
  std::map<const TensorView*, TensorView*> first;  // tensor -> the first one that holds the same
  std::set<const TensorView*> cheap;
  std::vector<std::tuple<Op*, TensorView*, TensorView*>> apart;  // op, its cheap operand, the first one in its place
  for (Op* op : fusion.ops()) {
    for (TensorView* in : inputs(*op)) {
      const auto it = first.find(in);
      if (it == first.end()) continue;
      replace_input(*op, in, it->second);
      if (cheap.contains(in)) apart.emplace_back(op, in, it->second);
    }
    if (is_cheap(*op, cheap)) cheap.insert(op->out());
    TensorView* same = earlier(*op->out());
    if (!same) same = kept.find_or_keep(op);
    if (same) first[op->out()] = same;
  }
  // What is cheap has shown what is equal, and is computed where it is read.
  for (const auto& [op, own, shared] : apart) replace_input(*op, shared, own);
}

}  // namespace plait
