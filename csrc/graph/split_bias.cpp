#include "graph/passes.h"
#include "graph/rewrite.h"

namespace plait {

void split_bias(Fusion& fusion) {
  Rewriter rewriter(fusion);
  rewriter.run([&](Op* op) {
    auto* linear = as<Linear>(*op);
    if (!linear || !linear->b) return rewriter.keep(op);
    TensorView* out = op->out();
    auto contraction = std::make_unique<Linear>();
    contraction->x = linear->x;
    contraction->w = linear->w;
    // The sum without its bias is no tensor of the user's, and f8 would round it.
    contraction->accumulate = linear->accumulate || is_f8(linear->x->dtype);
    TensorView* sum = rewriter.emit(std::move(contraction), out->name + "_product");
    sum->unbiased_of = out->name;
    TensorView* bias = linear->b;
    if (!is_narrow(out->dtype)) return rewriter.pointwise_as(Pointwise::add, {sum, bias}, out);
    const DType type = accumulation_type(out->dtype);
    TensorView* wide = sum->dtype == type ? sum : rewriter.cast(sum, type, out->name + "_wide");
    if (is_f8(bias->dtype)) bias = rewriter.cast(bias, type, out->name + "_bias");
    rewriter.cast_as(rewriter.pointwise(Pointwise::add, {wide, bias}, out->name + "_biased"), out);
  });
}

}  // namespace plait
