#include <algorithm>
#include <map>
#include <set>
#include <tuple>

#include "graph/passes.h"
#include "graph/rewrite.h"

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

uint64_t mixed(uint64_t a, uint64_t b) {
  return (a ^ (b + 0x9e3779b97f4a7c15 + (a << 6) + (a >> 2))) * 0xff51afd7ed558ccd;
}

// Equal for equal values of a field; parts of other types count nothing.
template <class T>
uint64_t hash(const T& value) {
  if constexpr (std::is_same_v<T, TensorView*>) {
    return value ? value->id + uint64_t{1} : 0;
  } else if constexpr (std::is_same_v<T, sym::Expr>) {
    return value ? value.id() : 0;
  } else if constexpr (std::is_same_v<T, Constant>) {
    return std::hash<std::string>()(value.text());
  } else if constexpr (std::is_integral_v<T> || std::is_enum_v<T>) {
    return static_cast<uint64_t>(value);
  } else if constexpr (std::is_floating_point_v<T>) {
    return std::hash<T>()(value);
  } else if constexpr (requires {
                         value.begin();
                         value.end();
                       }) {
    uint64_t out = 1;
    for (const auto& part : value) out = mixed(out, hash(part));
    return out;
  } else if constexpr (requires {
                         value.has_value();
                         *value;
                       }) {
    return value.has_value() ? mixed(1, hash(*value)) : 0;
  } else {
    return 0;
  }
}

uint64_t hash_fields(const Op& op) {
  uint64_t out = 1;
  visit(op, [&](const auto& node) {
    for_each_field(node, [&](auto, const auto& value) { out = mixed(out, hash(value)); });
  });
  return out;
}

// Ops already kept, to be found by another one that computes the same.
class Kept {
 public:
  // An op that computes the same as `op`, of the same types; null: none, and `op` is kept.
  const Op* find_or_keep(Op* op, size_t home) {
    auto& like = ops_[{op->kind, hash_fields(*op), op->results[0]->dtype, home}];
    auto equal = std::find_if(like.begin(), like.end(), [&](const Op* other) {
      return same_fields(*op, *other) &&
             std::equal(op->results.begin(), op->results.end(), other->results.begin(), other->results.end(),
                        [](const TensorView* a, const TensorView* b) { return same_type(*a, *b); });
    });
    if (equal != like.end()) return *equal;
    like.push_back(op);
    return nullptr;
  }

 private:
  // By fields, the first result's dtype and the segment.
  std::map<std::tuple<OpKind, uint64_t, DType, size_t>, std::vector<Op*>> ops_;
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

TensorView* earlier(const TensorView& t) {
  if (!t.definition) return nullptr;
  if (TensorView* in = kept_where_types_agree(t)) return same_type(*in, t) ? in : nullptr;
  for (TensorView* in = reshaped(t); in; in = reshaped(*in))
    if (same_type(*in, t)) return in;
  TensorView* in = before_permutes(t);
  return in && same_type(*in, t) ? in : nullptr;
}

void merge_equal(Fusion& fusion, const std::function<std::optional<size_t>(const TensorView&)>& home) {
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
    const std::optional<size_t> of_file = home ? home(*op->results[0]) : size_t{0};
    if (!of_file) continue;
    if (is_cheap(*op, cheap)) cheap.insert(op->out());
    const auto* gather = as<AllGather>(*op);
    if (gather && is_of_parameters(*gather->in)) continue;  // as often as it was asked for
    TensorView* same = op->results.size() == 1 ? earlier(*op->out()) : nullptr;
    if (same) {
      first[op->out()] = same;
    } else if (const Op* equal = kept.find_or_keep(op, *of_file)) {
      for (size_t r = 0; r < op->results.size(); ++r) first[op->results[r]] = equal->results[r];
    }
  }
  // What is cheap has shown what is equal, and is computed where it is read.
  for (const auto& [op, own, shared] : apart) replace_input(*op, shared, own);
}

}  // namespace plait
