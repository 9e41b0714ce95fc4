#include <algorithm>

#include "graph/passes.h"
#include "graph/rewrite.h"

namespace plait {

namespace {

using Shape = std::vector<sym::Expr>;

TensorView* before_unchanged(TensorView* t) {
  while (TensorView* in = earlier(*t)) t = in;
  return t;
}

bool same_matrices(const Shape& a, const Shape& b) { return std::equal(a.end() - 2, a.end(), b.end() - 2); }

// Whether a stack of matrices has the batch dims of `parted` as one. Empty matrices say nothing about that.
bool merges(const Shape& parted, const Shape& merged) {
  if (merged.size() != 3 || parted.size() <= 3 || !same_matrices(parted, merged)) return false;
  sym::Expr batch = parted[0];
  for (size_t d = 1; d + 2 < parted.size(); ++d) batch = batch * parted[d];
  return batch == merged[0];
}

// An operand, or what it is the transpose of; and as its user had it before its batch dims were merged, null where they
// were not.
struct Source {
  TensorView *merged = nullptr, *parted = nullptr;
  bool transposed = false;
};
Source source_of(TensorView* operand) {
  Source out{before_unchanged(operand)};
  if (const auto* permute = out.merged->definition ? as<Permute>(*out.merged->definition) : nullptr;
      permute && permute->dims == std::vector<int64_t>{0, 2, 1})
    out = {before_unchanged(permute->in), nullptr, true};
  const auto* reshape = out.merged->definition ? as<Reshape>(*out.merged->definition) : nullptr;
  if (reshape && merges(reshape->in->shape(), out.merged->shape())) out.parted = reshape->in;
  return out;
}

Shape batch_of(const TensorView& parted) {
  Shape out = parted.shape();
  out.resize(out.size() - 2);
  return out;
}

class Parts {
 public:
  Parts(Fusion& fusion, Rewriter& rewriter, const std::function<std::optional<size_t>(const TensorView&)>& home)
      : fusion_(fusion), rewriter_(rewriter), home_(home) {}

  // Whether the product is one of parted stacks now.
  bool visit_op(const Op& op) {
    const auto* product = as<Matmul>(op);
    if (!product || op.out()->rank() != 3 || (home_ && home_(*op.out()) != size_t{0})) return false;
    const Shape merged = op.out()->shape();
    for (const TensorView* stack : {product->a, product->b})
      if (stack->rank() != 3 || stack->shape()[0] != merged[0]) return false;
    const Source a = source_of(product->a), b = source_of(product->b);
    const std::optional<Shape> batch = batch_for(*op.out(), a, b);
    if (!batch) return false;
    auto parted = std::make_unique<Matmul>();
    parted->a = operand(a, *batch);
    parted->b = operand(b, *batch);
    parted->accumulate = product->accumulate;
    TensorView* out = op.out();
    TensorView* result = rewriter_.emit(std::move(parted), out->name + "_parted");
    rewriter_.reshape_as(result, out);
    return true;
  }

 private:
  // The batch dims that all who have parted ones agree on; nothing where nobody computes with them.
  std::optional<Shape> batch_for(const TensorView& out, const Source& a, const Source& b) const {
    std::optional<Shape> batch;
    bool agree = true, computes = false;
    const auto add = [&](Shape each) {
      agree = agree && (!batch || *batch == each);
      batch = std::move(each);
    };
    for (const Source& each : {a, b}) {
      if (!each.parted) continue;
      add(batch_of(*each.parted));
      computes = computes || each.parted->definition;
    }
    for (const Op* reader : fusion_.readers(&out))
      if (const auto* parts = as<Reshape>(*reader); parts && merges(parts->out()->shape(), out.shape())) {
        add(batch_of(*parts->out()));
        computes = true;
      }
    return agree && computes ? batch : std::nullopt;
  }

  TensorView* operand(const Source& source, const Shape& batch) {
    TensorView* out = source.parted;
    if (!out) {
      const Shape merged = source.merged->shape();
      Shape shape = batch;
      shape.insert(shape.end(), merged.end() - 2, merged.end());
      out = rewriter_.reshape(source.merged, std::move(shape), source.merged->name + "_parted");
    }
    if (!source.transposed) return out;
    auto turned = std::make_unique<Permute>();
    turned->in = out;
    for (size_t d = 0; d < batch.size() + 2; ++d) turned->dims.push_back(static_cast<int64_t>(d));
    std::swap(turned->dims[batch.size()], turned->dims[batch.size() + 1]);
    return rewriter_.emit(std::move(turned), out->name + "_transposed");
  }

  Fusion& fusion_;
  Rewriter& rewriter_;
  const std::function<std::optional<size_t>(const TensorView&)>& home_;
};

}  // namespace

void part_batches(Fusion& fusion, const std::function<std::optional<size_t>(const TensorView&)>& home) {
  Rewriter rewriter(fusion);
  Parts parts(fusion, rewriter, home);
  rewriter.run([&](Op* op) {
    if (!parts.visit_op(*op)) rewriter.keep(op);
  });
}

}  // namespace plait
