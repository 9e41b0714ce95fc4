#include "graph/passes.h"
#include "graph/rewrite.h"

namespace plait {

void split_bias(Fusion& fusion, const Options& options) {
  Rewriter rewriter(fusion);
  rewriter.run([&](Op* op) {
    auto* linear = as<Linear>(*op);
    if (!linear || !linear->b) return rewriter.keep(op);
    TensorView* out = op->out;
    auto product = std::make_unique<Linear>();
    product->x = linear->x;
    product->w = linear->w;
    product->accumulate = linear->accumulate;
    TensorView* sum = rewriter.emit(std::move(product), out->name + "_product");
    TensorView* bias = linear->b;
    if (has_test_bug(options, "dropped_bias")) bias = rewriter.constant(0, bias->dtype, out->name + "_no_bias");
    if (!is_narrow(out->dtype)) return rewriter.pointwise_as(Pointwise::add, {sum, bias}, out);
    TensorView* wide = rewriter.cast(sum, accumulation_type(out->dtype), out->name + "_wide");
    rewriter.cast_as(rewriter.pointwise(Pointwise::add, {wide, bias}, out->name + "_biased"), out);
  });
}

}  // namespace plait
