#include <cmath>

#include "graph/passes.h"
#include "graph/rewrite.h"

namespace plait {

namespace {

// Uniform numbers are multiples of 2^-24: comparing with p in double is comparing with the next multiple, exactly.
double threshold(double p) { return std::ceil(std::ldexp(p, 24)) * std::ldexp(1.0, -24); }

void expand_dropout(Rewriter& rewriter, const Dropout& op) {
  TensorView* out = op.out;
  const std::string& name = out->name;
  DType wide = compute_type(op.x->dtype);
  auto random = std::make_unique<Uniform>();
  random->shape = op.x->shape();
  random->seed = op.seed;
  random->offset = op.offset;
  TensorView* uniform = rewriter.emit(std::move(random), name + "_uniform");
  TensorView* limit = rewriter.constant(threshold(op.p), DType::f32, name + "_threshold");
  TensorView* keep = rewriter.pointwise(Pointwise::ge, {uniform, limit}, name + "_keep");
  TensorView* x = rewriter.cast(op.x, wide, name + "_wide");
  TensorView* scale = rewriter.constant(1 / (1 - op.p), wide, name + "_scale");
  TensorView* scaled = rewriter.pointwise(Pointwise::mul, {x, scale}, name + "_scaled");
  TensorView* zero = rewriter.constant(0, wide, name + "_zero");
  if (wide == out->dtype) {
    rewriter.pointwise_as(Pointwise::where, {keep, scaled, zero}, out);
  } else {
    TensorView* chosen = rewriter.pointwise(Pointwise::where, {keep, scaled, zero}, name + "_chosen");
    rewriter.cast_as(chosen, out);
  }
}

}  // namespace

void number_random_ops(Fusion& fusion) {
  int64_t ordinal = 0;
  for (Op* op : fusion.ops()) {
    std::optional<int64_t>* offset = counter_offset(*op);
    if (!offset) continue;
    if (!*offset) *offset = ordinal;
    ++ordinal;
  }
}

void expand(Fusion& fusion) {
  Rewriter rewriter(fusion);
  rewriter.run([&](Op* op) {
    if (property(op->kind) != OpProperty::composite) return rewriter.keep(op);
    expand_dropout(rewriter, *as<Dropout>(*op));
  });
}

}  // namespace plait
