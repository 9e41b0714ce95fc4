#include "schedule/attention_operands.h"

#include <algorithm>

#include "schedule/find_attention.h"

namespace plait::attention_blocks {

namespace {

// Elements of its result are those of its operand.
bool is_dense_move(const Op& op) {
  return op.kind == OpKind::Permute || op.kind == OpKind::Unsqueeze || op.kind == OpKind::Squeeze ||
         op.kind == OpKind::Broadcast || op.kind == OpKind::Slice || op.kind == OpKind::Reshape;
}

// Where the dim of a move's result is a dim of its operand; -1 where it is none, or other elements lie side by side.
int dim_before(const Op& op, int dim) {
  const TensorView &in = *inputs(op)[0], &out = *op.out();
  if (const auto* permute = as<Permute>(op)) return static_cast<int>(permute->dims[static_cast<size_t>(dim)]);
  if (const auto* spread = as<Broadcast>(op)) {
    const auto at = std::ranges::find(spread->dims, int64_t{dim});
    const bool same = at != spread->dims.end() &&
                      in.extent(static_cast<size_t>(at - spread->dims.begin())) == out.extent(static_cast<size_t>(dim));
    return same ? static_cast<int>(at - spread->dims.begin()) : -1;
  }
  if (const auto* slice = as<Slice>(op)) return slice->dim == dim && slice->step != 1 ? -1 : dim;
  if (const auto* added = as<Unsqueeze>(op)) {
    if (std::ranges::count(added->dims, int64_t{dim}) > 0) return -1;
    return dim - static_cast<int>(std::ranges::count_if(added->dims, [&](int64_t d) { return d < dim; }));
  }
  if (const auto* gone = as<Squeeze>(op)) {
    int before = 0;
    for (int left = dim;; ++before) {
      if (std::ranges::count(gone->dims, int64_t{before}) > 0) continue;
      if (left-- == 0) return before;
    }
  }
  // A reshape: the last dim as it is, or a part of it.
  const bool last = dim == static_cast<int>(out.rank()) - 1 && in.rank() > 0;
  return last && (in.shape().back() == out.shape().back() ||
                  sym::proven(sym::eq(sym::mod(in.shape().back(), out.shape().back()), 0)))
             ? static_cast<int>(in.rank()) - 1
             : -1;
}

// Whether each of the op's operands is read at an element's own last coordinates.
bool reads_in_place(const Op& op) {
  if (op.kind == OpKind::PointwiseOp) return true;
  const auto* spread = as<Broadcast>(op);
  if (spread == nullptr) return false;
  const auto ahead = static_cast<int64_t>(op.results[0]->rank() - spread->dims.size());
  for (size_t d = 0; d < spread->dims.size(); ++d)
    if (spread->dims[d] != ahead + static_cast<int64_t>(d)) return false;
  return true;
}

}  // namespace

bool lies_dense(const TensorView& tensor, int dim, const std::set<const TensorView*>& given) {
  const TensorView* t = &tensor;
  while (!given.contains(t)) {
    if (t->definition == nullptr || !is_dense_move(*t->definition)) return false;
    dim = dim_before(*t->definition, dim);
    if (dim < 0) return false;
    t = inputs(*t->definition)[0];
  }
  const std::vector<int>& order = t->domain.allocation;
  return (order.empty() ? static_cast<int>(t->rank()) - 1 : order.back()) == dim;
}

std::set<const TensorView*> in_place_of(std::span<const TensorView* const> made,
                                        const std::set<const TensorView*>& scores) {
  std::set<const TensorView*> in_place, moved;
  std::vector<std::pair<const TensorView*, bool>> left;
  for (const TensorView* t : made) left.emplace_back(t, true);
  while (!left.empty()) {
    const auto [t, same] = left.back();
    left.pop_back();
    if (scores.contains(t) || !(same ? in_place : moved).insert(t).second || t->definition == nullptr) continue;
    const bool holds = same && reads_in_place(*t->definition);
    for (const TensorView* in : inputs(*t->definition)) left.emplace_back(in, holds);
  }
  for (const TensorView* t : moved) in_place.erase(t);
  return in_place;
}

bool are_same_elements(const TensorView* a, const TensorView* b, bool turned) {
  const auto strip = [&](const TensorView*& t) {
    for (; t->definition != nullptr && is_transpose(*t->definition); turned = !turned) t = inputs(*t->definition)[0];
  };
  strip(a), strip(b);
  return a == b && !turned;
}

}  // namespace plait::attention_blocks
