#include <algorithm>

#include "graph/passes.h"
#include "graph/rewrite.h"

namespace plait {

namespace {

using Shape = std::vector<sym::Expr>;

constexpr int64_t kVectorElements = 16;  // of most vectors
constexpr int kMostBehind = 8;           // ops in front of a kept result that are looked at

// One dim that becomes several, all others as they are.
struct Split {
  size_t dim = 0;
  Shape parts;  // at least two
  const TensorView* reader = nullptr;
};

std::optional<Split> split_of(const Shape& from, const Shape& to) {
  if (to.size() <= from.size()) return std::nullopt;
  size_t dim = 0;
  while (dim < from.size() && from[dim] == to[dim]) ++dim;
  const size_t behind = dim < from.size() ? from.size() - dim - 1 : 0, count = to.size() - from.size() + 1;
  if (dim == from.size() ||
      !std::equal(from.end() - static_cast<int64_t>(behind), from.end(), to.end() - static_cast<int64_t>(behind)))
    return std::nullopt;
  Split out{dim, {to.begin() + static_cast<int64_t>(dim), to.begin() + static_cast<int64_t>(dim + count)}};
  sym::Expr product = out.parts[0];
  for (size_t i = 1; i < count; ++i) product = product * out.parts[i];
  return product == from[dim] ? std::optional(out) : std::nullopt;
}

// Whether loops over the parts go through memory in runs as good as before.
bool keeps_vectors(const Split& split, const Shape& from) {
  if (split.dim + 1 < from.size()) return true;
  const std::optional<int64_t> last = split.parts.back().constant();
  return last && *last > 0 && *last % kVectorElements == 0;
}

class Lift {
 public:
  Lift(Fusion& fusion, Rewriter& rewriter, const std::function<std::optional<size_t>(const TensorView&)>& home)
      : fusion_(fusion), rewriter_(rewriter), home_(home) {}

  // Whether the op computes with its dim in parts now, and its result is those merged.
  bool visit_op(const Op& op) {
    const auto* pointwise = as<PointwiseOp>(op);
    if (!pointwise || (home_ && home_(*op.out()) != size_t{0})) return false;
    const std::optional<Split> split = wanted(*op.out());
    if (!split) return false;
    for (const TensorView* t : pointwise->in)
      if (t->rank() > op.out()->rank() || !stands_apart(*t, kMostBehind)) return false;
    auto parted = std::make_unique<PointwiseOp>();
    parted->function = pointwise->function;
    parted->to = pointwise->to;
    for (TensorView* t : pointwise->in) parted->in.push_back(operand(t, *op.out(), *split));
    TensorView* out = op.out();
    TensorView* result = rewriter_.emit(std::move(parted), out->name + "_parted");
    result->layout = split->reader->layout;  // which moves nothing any more, and which merge_equal compares
    rewriter_.reshape_as(result, out);
    return true;
  }

 private:
  // Whether no generated kernel has it beside ops with whole dims: a constant, or for this reader alone an input, what
  // a library or other ranks give, or elementwise ops of these.
  bool stands_apart(const TensorView& t, int most) const {
    const Op* op = t.definition;
    if (op != nullptr && inputs(*op).empty()) return true;
    if (fusion_.readers(&t).size() != 1 || is_output(t)) return false;
    if (op == nullptr || by_library(*op) || property(op->kind) == OpProperty::communication) return true;
    return op->kind == OpKind::PointwiseOp && most > 0 &&
           std::ranges::all_of(inputs(*op), [&](const TensorView* in) { return stands_apart(*in, most - 1); });
  }

  static bool by_library(const Op& op) { return op.kind == OpKind::Matmul || op.kind == OpKind::Linear; }

  bool is_output(const TensorView& t) const {
    return std::ranges::find(fusion_.outputs(), &t) != fusion_.outputs().end();
  }

  // How a reader parts the result, where that is kept or read by a library too, and by nobody else.
  std::optional<Split> wanted(const TensorView& t) const {
    if (fusion_.aliases.contains(t.name)) return std::nullopt;  // its own op writes it in place
    std::optional<Split> found;
    bool needed = is_output(t);
    for (const Op* reader : fusion_.readers(&t)) {
      const auto* parts = as<Reshape>(*reader);
      std::optional<Split> split;
      if (parts && computes(*parts->out())) split = split_of(t.shape(), parts->shape);
      if (!split) {
        if (!by_library(*reader)) return std::nullopt;
        needed = true;
        continue;
      }
      split->reader = parts->out();
      if (found && (found->dim != split->dim || found->parts != split->parts)) return std::nullopt;
      found = split;
    }
    return needed && found && keeps_vectors(*found, t.shape()) ? found : std::nullopt;
  }

  // Whether somebody computes with it, element by element or along rows.
  bool computes(const TensorView& t) const {
    const auto& readers = fusion_.readers(&t);
    return std::any_of(readers.begin(), readers.end(), [](const Op* reader) {
      return as<PointwiseOp>(*reader) != nullptr || as<Reduce>(*reader) != nullptr;
    });
  }

  // An operand, whose dims stand at the right of the result's.
  TensorView* operand(TensorView* t, const TensorView& out, const Split& split) {
    const size_t missing = static_cast<size_t>(out.rank() - t->rank());
    if (split.dim < missing) return t;
    const size_t dim = split.dim - missing;
    Shape shape = t->shape();
    Shape parts = split.parts;
    if (shape[dim] != out.shape()[split.dim]) std::fill(parts.begin(), parts.end(), shape[dim]);  // it is 1
    shape.erase(shape.begin() + static_cast<int64_t>(dim));
    shape.insert(shape.begin() + static_cast<int64_t>(dim), parts.begin(), parts.end());
    return rewriter_.reshape(t, std::move(shape), t->name + "_parted");
  }

  Fusion& fusion_;
  Rewriter& rewriter_;
  const std::function<std::optional<size_t>(const TensorView&)>& home_;
};

}  // namespace

void lift_reshapes(Fusion& fusion, const std::function<std::optional<size_t>(const TensorView&)>& home) {
  Rewriter rewriter(fusion);
  Lift lift(fusion, rewriter, home);
  rewriter.run([&](Op* op) {
    if (!lift.visit_op(*op)) rewriter.keep(op);
  });
}

}  // namespace plait
