#include "build/build.h"

#include <algorithm>
#include <cmath>

#include "base/error.h"
#include "build/emit.h"

namespace plait {

namespace building {

Fusion& fusion_of(std::string_view op, const std::vector<TensorView*>& operands) {
  for (size_t i = 0; i < operands.size(); ++i) {
    if (!operands[i])
      throw UserError(fmt::format("operand {} of {} is null", i, op), std::string(op),
                      "pass a tensor that an op, input() or parameter() returned");
    if (operands[i]->fusion != operands[0]->fusion)
      throw UserError(
          fmt::format("operands of {} belong to two fusions: %{} of @{} and %{} of @{}", op, operands[0]->name,
                      operands[0]->fusion->name(), operands[i]->name, operands[i]->fusion->name()),
          std::string(op), "build a graph in one Fusion");
  }
  if (operands.empty()) throw UserError(fmt::format("{} of nothing", op), std::string(op), "give at least one tensor");
  return *operands[0]->fusion;
}

std::vector<sym::Expr> resolve(Fusion& fusion, std::string_view op, const std::vector<Fusion::Extent>& shape,
                               bool open) {
  std::vector<sym::Expr> out;
  for (size_t d = 0; d < shape.size(); ++d) {
    if (open && shape[d].is_open()) {
      out.push_back(fusion.pool().constant(-1));
      continue;
    }
    try {
      out.push_back(shape[d].resolve(fusion));
    } catch (const UserError& e) {
      throw UserError(e.message(), fmt::format("{} dim {}", op, d), e.remedy());
    }
  }
  return out;
}

}  // namespace building

using building::emit;
using building::fusion_of;
using building::resolve;

std::string Scalar::text() const {
  return std::visit([](auto v) { return fmt::format("{}", v); }, value_);
}

Constant Scalar::as(DType dtype) const {
  auto refuse = [&](const char* remedy) {
    return UserError(fmt::format("{} is no {} constant", text(), name(dtype)), "", remedy);
  };
  if (is_float(dtype)) {
    if (const auto* d = std::get_if<double>(&value_)) {
      Constant out = Constant::from_double(dtype, *d);
      if (std::isfinite(*d) && !std::isfinite(out.to_double())) throw refuse("it overflows: cast the tensor first");
      return out;
    }
    const auto* u = std::get_if<uint64_t>(&value_);
    Constant out = u && *u > uint64_t(INT64_MAX) ? Constant::from_double(dtype, static_cast<double>(*u))
                                                 : Constant::from_int64(dtype, u ? int64_t(*u) : std::get<0>(value_));
    if (!std::isfinite(out.to_double())) throw refuse("it overflows: cast the tensor first");
    return out;
  }
  std::string digits = text();
  if (const auto* d = std::get_if<double>(&value_)) {
    if (!(std::floor(*d) == *d && std::abs(*d) < 9007199254740992.0)) throw refuse("cast the tensor to a float first");
    digits = fmt::format("{}", static_cast<int64_t>(*d));
  }
  auto constant = parse_constant(dtype, digits);
  if (!constant) throw refuse("it is out of range: cast the tensor first");
  return *constant;
}

TensorView* scalar_like(TensorView* like, Scalar value) {
  Fusion& fusion = fusion_of("a constant", {like});
  auto op = std::make_unique<Full>();
  try {
    op->value = value.as(like->dtype);
  } catch (const UserError& e) {
    throw UserError(e.message(), fmt::format("beside %{}: {}", like->name, type_text(*like)), e.remedy());
  }
  return emit(fusion, std::move(op));
}

TensorView* pointwise(Pointwise function, const std::vector<TensorView*>& in) {
  auto op = std::make_unique<PointwiseOp>();
  op->function = function;
  Fusion& fusion = fusion_of(text_name(*op), in);
  op->in = in;
  return emit(fusion, std::move(op));
}

TensorView* pointwise(Pointwise function, TensorView* a, Scalar b) {
  fusion_of(name(function), {a});
  return pointwise(function, {a, scalar_like(a, b)});
}

TensorView* pointwise(Pointwise function, Scalar a, TensorView* b) {
  fusion_of(name(function), {b});
  return pointwise(function, {scalar_like(b, a), b});
}

TensorView* pointwise(Pointwise function, TensorOrNumber a, TensorOrNumber b, TensorOrNumber c) {
  const TensorOrNumber in[] = {a, b, c};
  TensorView* like = nullptr;  // the first tensor; of where the last, which is no condition where there is another
  for (const TensorOrNumber& each : in)
    if (!each.is_number() && (!like || function == Pointwise::where)) like = each.tensor();
  if (!like)
    throw UserError(fmt::format("{} of numbers only", name(function)), std::string(name(function)),
                    "give at least one tensor");
  fusion_of(name(function), {like});
  std::vector<TensorView*> tensors;
  for (const TensorOrNumber& each : in)
    tensors.push_back(each.is_number() ? scalar_like(like, each.number()) : each.tensor());
  return pointwise(function, tensors);
}

TensorView* where(TensorView* condition, TensorView* a, TensorView* b) {
  return pointwise(Pointwise::where, {condition, a, b});
}

TensorView* cast(TensorView* x, DType to) {
  Fusion& fusion = fusion_of("cast", {x});
  auto op = std::make_unique<PointwiseOp>();
  op->function = Pointwise::cast;
  op->in = {x};
  op->to = to;
  return emit(fusion, std::move(op));
}

TensorView* gelu(TensorView* x, Gelu approx) {
  return pointwise(approx == Gelu::tanh ? Pointwise::gelu_tanh : Pointwise::gelu_erf, {x});
}

TensorView* linear(TensorView* x, TensorView* w, TensorView* b) {
  Fusion& fusion = b ? fusion_of("linear", {x, w, b}) : fusion_of("linear", {x, w});
  auto op = std::make_unique<Linear>();
  op->x = x;
  op->w = w;
  op->b = b;
  return emit(fusion, std::move(op));
}

TensorView* matmul(TensorView* a, TensorView* b) {
  Fusion& fusion = fusion_of("matmul", {a, b});
  auto op = std::make_unique<Matmul>();
  op->a = a;
  op->b = b;
  return emit(fusion, std::move(op));
}

TensorView* einsum(std::string_view equation, const std::vector<TensorView*>& in) {
  Fusion& fusion = fusion_of("einsum", in);
  auto op = std::make_unique<Einsum>();
  op->in = in;
  op->equation = equation;
  return emit(fusion, std::move(op));
}

TensorView* dropout(TensorView* x, double p, TensorView* seed, std::optional<int64_t> offset) {
  Fusion& fusion = fusion_of("dropout", {x, seed});
  auto op = std::make_unique<Dropout>();
  op->x = x;
  op->p = p;
  op->seed = seed;
  op->offset = offset;
  return emit(fusion, std::move(op));
}

TensorView* uniform(TensorView* seed, const std::vector<Fusion::Extent>& shape, std::optional<int64_t> offset) {
  Fusion& fusion = fusion_of("uniform", {seed});
  auto op = std::make_unique<Uniform>();
  op->shape = resolve(fusion, "uniform", shape);
  op->seed = seed;
  op->offset = offset;
  return emit(fusion, std::move(op));
}

TensorView* full(Fusion& fusion, const std::vector<Fusion::Extent>& shape, Scalar value, DType dtype) {
  auto op = std::make_unique<Full>();
  op->shape = resolve(fusion, "full", shape);
  op->value = value.as(dtype);
  return emit(fusion, std::move(op));
}

}  // namespace plait
