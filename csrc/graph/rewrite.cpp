#include "graph/rewrite.h"

#include "base/error.h"

namespace plait {

void Rewriter::run(const std::function<void(Op*)>& visit_op) {
  std::vector<Op*> ops = fusion_.ops();
  for (Op* op : ops) visit_op(op);
  fusion_.set_order(std::move(order_));
  order_.clear();
}

void Rewriter::release(const Op& op, TensorView* out) {
  Inferred type = infer(op, fusion_);
  PLAIT_CHECK(type.dtype == out->dtype && type.shape == out->shape(), "{} does not give %{}: {}", describe(op),
              out->name, type_text(*out));
  out->definition = nullptr;
}

void Rewriter::replace(const std::function<void()>& build) {
  const size_t before = fusion_.ops().size();
  build();
  order_.insert(order_.end(), fusion_.ops().begin() + int64_t(before), fusion_.ops().end());
}

TensorView* Rewriter::constant(double value, DType dtype, const std::string& hint) {
  auto op = std::make_unique<Full>();
  op->value = Constant::from_double(dtype, value);
  return emit(std::move(op), hint);
}

TensorView* Rewriter::pointwise(Pointwise function, std::vector<TensorView*> in, const std::string& hint) {
  auto op = std::make_unique<PointwiseOp>();
  op->function = function;
  op->in = std::move(in);
  return emit(std::move(op), hint);
}

TensorView* Rewriter::cast(TensorView* in, DType to, const std::string& hint) {
  if (in->dtype == to) return in;
  auto op = std::make_unique<PointwiseOp>();
  op->function = Pointwise::cast;
  op->in = {in};
  op->to = to;
  return emit(std::move(op), hint);
}

TensorView* Rewriter::reshape(TensorView* in, std::vector<sym::Expr> shape, const std::string& hint) {
  auto op = std::make_unique<Reshape>();
  op->in = in;
  op->shape = std::move(shape);
  return emit(std::move(op), hint);
}

void Rewriter::reshape_as(TensorView* in, TensorView* out) {
  auto op = std::make_unique<Reshape>();
  op->in = in;
  op->shape = out->shape();
  emit_as(std::move(op), out);
}

void Rewriter::pointwise_as(Pointwise function, std::vector<TensorView*> in, TensorView* out) {
  auto op = std::make_unique<PointwiseOp>();
  op->function = function;
  op->in = std::move(in);
  emit_as(std::move(op), out);
}

void Rewriter::cast_as(TensorView* in, TensorView* out) {
  auto op = std::make_unique<PointwiseOp>();
  op->function = Pointwise::cast;
  op->in = {in};
  op->to = out->dtype;
  emit_as(std::move(op), out);
}

}  // namespace plait
