#include <algorithm>

#include "graph/passes.h"
#include "graph/rewrite.h"

namespace plait {

namespace {

bool is_cast_to(const Op* op, DType dtype) {
  const auto* p = as<PointwiseOp>(*op);
  return p && p->function == Pointwise::cast && p->to == dtype;
}

// The same product, kept in its accumulation type, as a new tensor.
template <class Product>
TensorView* accumulate(Rewriter& rewriter, const Product& product) {
  auto wide = std::make_unique<Product>();
  for_each_field(product, [&](auto field, const auto& value) { (*wide).*(field.member) = value; });
  wide->accumulate = true;
  TensorView* out = rewriter.emit(std::move(wide), product.out->name + "_sum");
  out->layout = product.out->layout;
  out->layout_source = LayoutSource::inferred;
  out->reason = "the unrounded %" + product.out->name;
  return out;
}

}  // namespace

void widen_products(Fusion& fusion) {
  Rewriter rewriter(fusion);
  std::vector<std::pair<TensorView*, TensorView*>> replaced;  // result of a cast -> unrounded product
  auto widen = [&](const auto& product) {
    TensorView* out = product.out;
    DType wide = accumulation_type(out->dtype);
    auto readers = fusion.readers(out);
    bool pointwise = std::any_of(readers.begin(), readers.end(), [](Op* r) { return r->kind == OpKind::PointwiseOp; });
    if (product.accumulate || !is_narrow(out->dtype) || !out->layout.partial.empty() || !pointwise) return false;
    TensorView* sum = accumulate(rewriter, product);
    rewriter.cast_as(sum, out);
    for (Op* r : readers)
      if (is_cast_to(r, wide) && r->out->layout == sum->layout) replaced.emplace_back(r->out, sum);
    return true;
  };
  rewriter.run([&](Op* op) {
    const auto* linear = as<Linear>(*op);
    const auto* matmul = as<Matmul>(*op);
    bool done = linear ? widen(*linear) : matmul && widen(*matmul);
    if (!done) rewriter.keep(op);
  });
  for (const auto& [from, to] : replaced)
    if (!fusion.is_output(from))
      for (Op* reader : fusion.readers(from)) replace_input(*reader, from, to);
  remove_dead_code(fusion);
}

}  // namespace plait
