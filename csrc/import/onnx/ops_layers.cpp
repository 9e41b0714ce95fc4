// Products, norms and softmax of ONNX.
#include <algorithm>
#include <cmath>
#include <optional>

#include "import/onnx/importer.h"

namespace plait::onnx {
namespace {

// Opsets before 13 flatten all dims from the axis on into one.
template <TensorView* (*function)(TensorView*, int64_t)>
void along_axis(Call& c) {
  TensorView* x = c.in();
  if (c.importer.opset() >= 13) return c.give(function(x, c.axis(-1, x->rank())));
  const Sizes shape = x->shape();
  const auto rank = static_cast<int64_t>(shape.size());
  const int64_t axis = c.axis(1, x->rank());
  if (axis == rank - 1) return c.give(function(x, axis));
  TensorView* flat = reshape_to(x, Sizes{product(c.fusion(), shape, 0, axis), product(c.fusion(), shape, axis, rank)});
  c.give(reshape_to(function(flat, 1), shape));
}

// 1 at the first of the largest.
TensorView* hardmax(TensorView* x, int64_t dim) {
  TensorView* at = argmax(x, {dim}, true);
  return cast(eq(at, iota(*x->fusion, extents_of(x->shape()), dim)), x->dtype);
}

TensorView* transposed(TensorView* x, bool swap) {
  require(x->rank() == 2, "an operand of {} dims", x->rank());
  return swap ? permute(x, {1, 0}) : x;
}

void gemm(Call& c) {
  TensorView* x = transposed(c.in(), c.integer("transA", 0));
  const bool rows = c.integer("transB", 0) != 0;
  TensorView* w = transposed(c.in(1), false);
  TensorView* y = rows ? linear(x, w) : matmul(x, w);
  if (const double alpha = c.number("alpha", 1); alpha != 1) y = mul(y, alpha);
  if (c.has(2)) {
    const double beta = c.number("beta", 1);
    y = add(y, beta == 1 ? c.in(2) : mul(c.in(2), beta));
  }
  c.give(y);
}

// Operands of one dim get a second one, which the result loses.
TensorView* product_of(TensorView* a, TensorView* b) {
  require(a->rank() > 0 && b->rank() > 0, "a product of numbers without dims");
  const bool row = a->rank() == 1, column = b->rank() == 1;
  TensorView* out = matmul(row ? unsqueeze(a, {0}) : a, column ? unsqueeze(b, {1}) : b);
  if (column) out = squeeze(out, {-1});
  return row ? squeeze(out, {column ? -1 : -2}) : out;
}

void matmul_op(Call& c) { c.give(product_of(c.in(), c.in(1))); }

// What the numbers stand for, in a type in which products of them and their sums are exact.
TensorView* without_zero(Call& c, size_t i, size_t zero) {
  TensorView* x = cast(c.in(i), DType::f64);
  return c.has(zero) ? sub(x, cast(c.in(zero), DType::f64)) : x;
}

void matmul_integer(Call& c) {
  c.give(cast(round(product_of(without_zero(c, 0, 2), without_zero(c, 1, 3))), DType::i32));
}

// Per channel along `axis`, or for all.
TensorView* beside(TensorView* x, TensorView* t, int64_t axis) {
  if (t->rank() == 0) return t;
  std::vector<int64_t> shape(x->rank(), 1);
  require(t->rank() == 1, "scales of {} dims", t->rank());
  shape[static_cast<size_t>(axis)] = extent(t, 0);
  return reshape_to(t, shape);
}

void quantize(Call& c) {
  TensorView* x = c.in();
  const int64_t axis = x->rank() > 1 ? c.axis(1, x->rank()) : 0;
  TensorView* zero = c.has(2) ? beside(x, c.in(2), axis) : nullptr;
  c.give(quantized(div(x, beside(x, c.in(1), axis)), zero, zero ? zero->dtype : DType::u8));
}

void dequantize(Call& c) {
  TensorView* x = c.in();
  const int64_t axis = x->rank() > 1 ? c.axis(1, x->rank()) : 0;
  TensorView* whole = cast(x, DType::i32);
  if (c.has(2)) whole = sub(whole, cast(beside(x, c.in(2), axis), DType::i32));
  TensorView* scale = beside(x, c.in(1), axis);
  c.give(mul(cast(whole, scale->dtype), scale));
}

void dynamic_quantize(Call& c) {
  TensorView* x = c.in();
  TensorView *low = min(amin(x), 0), *high = max(amax(x), 0);
  TensorView* scale = div(sub(high, low), 255);
  TensorView* zero = cast(clamp(round(div(sub(0, low), scale)), 0, 255), DType::u8);
  c.give(quantized(div(x, scale), zero, DType::u8));
  c.give(scale, 1);
  c.give(zero, 2);
}

void qlinear_matmul(Call& c) {
  TensorView* y = cast(product_of(without_zero(c, 0, 2), without_zero(c, 3, 5)), DType::f32);
  c.give(quantized(div(mul(mul(y, c.in(1)), c.in(4)), c.in(6)), c.in(7), c.in(7)->dtype));
}

void group_normalization(Call& c) {
  TensorView* x = c.in();
  const int64_t groups = c.integer("num_groups", 0), channels = extent(x, 1);
  require(groups >= 1 && channels % groups == 0, "{} groups of {} channels", groups, channels);
  TensorView *scale = c.in(1), *bias = c.in(2);
  if (c.importer.opset() < 21) {  // one number for each group
    const auto spread = [&](TensorView* t) {
      return reshape_to(expand_to(unsqueeze(t, {1}), std::vector<int64_t>{groups, channels / groups}),
                        std::vector<int64_t>{channels});
    };
    scale = spread(scale), bias = spread(bias);
  }
  c.give(group_norm(x, groups, scale, bias, c.number("epsilon", 1e-5)));
}

void rms_normalization(Call& c) {
  const auto rank = static_cast<int64_t>(c.in()->rank());
  c.give(rms_norm(c.in(), c.in(1), rank - c.axis(-1, c.in()->rank()), c.number("epsilon", 1e-5)));
}

void layer_normalization(Call& c) {
  TensorView* x = c.in();
  const auto rank = static_cast<int64_t>(x->rank());
  const int64_t axis = c.axis(-1, x->rank());
  const Dims dims = iota_dims(axis, rank);
  const double eps = c.number("epsilon", 1e-5);
  c.give(layer_norm(x, c.in(1), c.in_or_null(2), rank - axis, eps));
  if (c.wants(1)) c.give(mean(x, dims, true), 1);
  if (c.wants(2)) c.give(rsqrt(add(var(x, dims, 0, true), eps)), 2);
}

void batch_normalization(Call& c) {
  TensorView* x = c.in();
  const double eps = c.number("epsilon", 1e-5), momentum = c.number("momentum", 0.9);
  if (!c.integer("training_mode", 0))
    return c.give(batch_norm(x, {.w = c.in(1), .b = c.in(2), .mean = c.in(3), .var = c.in(4)}, eps));
  require(x->rank() >= 2, "an operand of {} dims", x->rank());
  Dims others = iota_dims(0, static_cast<int64_t>(x->rank()));
  others.erase(others.begin() + 1);
  const MeanAndVar now = var_mean(x, others, 0);
  c.give(batch_norm(x, {.w = c.in(1), .b = c.in(2)}, eps));
  c.give(add(mul(c.in(3), momentum), mul(now.mean, 1 - momentum)), 1);
  c.give(add(mul(c.in(4), momentum), mul(now.var, 1 - momentum)), 2);
}

void instance_normalization(Call& c) {
  c.give(group_norm(c.in(), extent(c.in(), 1), c.in(1), c.in(2), c.number("epsilon", 1e-5)));
}

void mean_variance_normalization(Call& c) {
  Dims dims = c.integers("axes");
  if (dims.empty()) dims = {0, 2, 3};
  TensorView* x = c.in();
  c.give(div(sub(x, mean(x, dims, true)), add(stddev(x, dims, 0, true), 1e-9)));
}

// Each channel divided by a power of the sum of squares in a window of channels.
void lrn(Call& c) {
  TensorView* x = c.in();
  const int64_t size = c.integer("size", 1), channels = extent(x, 1);
  const double alpha = c.number("alpha", 1e-4), beta = c.number("beta", 0.75), bias = c.number("bias", 1);
  require(size >= 1 && size < 10000, "size {}", size);
  std::vector<int64_t> low(x->rank(), 0), high(x->rank(), 0);
  low[1] = (size - 1) / 2, high[1] = size - 1 - low[1];
  TensorView* squares = pad(square(x), extents(low), extents(high));
  std::vector<TensorView*> window;
  for (int64_t k = 0; k < size; ++k) window.push_back(slice(squares, 1, k, k + channels));
  TensorView* total = sum(stack(window, 0), {0});
  c.give(div(x, pow(add(mul(total, alpha / static_cast<double>(size)), bias), beta)));
}

TensorView* spatial(Call& c, TensorView* (*function)(TensorView*, Dims, bool)) {
  return function(c.in(), iota_dims(2, static_cast<int64_t>(c.in()->rank())), true);
}

}  // namespace

// The clamp in front keeps the cast and the sum exact.
TensorView* quantized(TensorView* scaled, TensorView* zero, DType to) {
  TensorView* y = cast(round(clamp(scaled, -1e6, 1e6)), DType::i32);
  if (zero) y = add(y, cast(zero, DType::i32));
  return cast(clamp(y, least_finite(to), max_finite(to)), to);
}

std::vector<OpRow> layer_rows() {
  return {
      {"BatchNormalization", batch_normalization, "training_mode epsilon momentum is_test=1"},
      {"DequantizeLinear", dequantize, "axis"},
      {"DynamicQuantizeLinear", dynamic_quantize},
      {"Gemm", gemm, "alpha beta transA transB broadcast=0|1"},
      {"GroupNormalization", group_normalization, "epsilon num_groups stash_type=1"},
      {"RMSNormalization", rms_normalization, "axis epsilon stash_type=1"},
      {"GlobalAveragePool", [](Call& c) { c.give(spatial(c, mean)); }},
      {"GlobalMaxPool", [](Call& c) { c.give(spatial(c, amax)); }},
      {"Hardmax", along_axis<hardmax>, "axis"},
      {"InstanceNormalization", instance_normalization, "epsilon"},
      {"LayerNormalization", layer_normalization, "axis epsilon stash_type=1"},
      {"LogSoftmax", along_axis<log_softmax>, "axis"},
      {"LRN", lrn, "size alpha beta bias"},
      {"MatMul", matmul_op},
      {"MatMulInteger", matmul_integer},
      {"MeanVarianceNormalization", mean_variance_normalization, "axes"},
      {"QLinearMatMul", qlinear_matmul},
      {"QuantizeLinear", quantize, "axis"},
      {"Softmax", along_axis<softmax>, "axis"},
  };
}

}  // namespace plait::onnx
