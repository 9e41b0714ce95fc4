// Ops of ONNX that work element by element.
#include <cmath>

#include "import/onnx/importer.h"

namespace plait::onnx {
namespace {

template <Pointwise function>
void apply(Call& c) {
  c.give(pointwise(function, c.all()));
}

// Any number of operands, from left to right.
TensorView* fold(Call& c, TensorView* (*two)(TensorView*, TensorView*)) {
  TensorView* out = c.in();
  for (size_t i = 1; i < c.count(); ++i) out = two(out, c.in(i));
  return out;
}

// The second operand as opsets before 7 align it: its dims begin at `axis` of the first, at the last dims by default.
TensorView* second(Call& c) {
  TensorView* y = c.in(1);
  if (!c.has_attribute("axis")) return y;
  const auto rank = static_cast<int64_t>(c.in()->rank()), own = static_cast<int64_t>(y->rank());
  const int64_t axis = c.axis(0, c.in()->rank());
  require(axis + own <= rank, "operands of {} and {} dims, from axis {} on", rank, own, axis);
  return axis + own == rank ? y : unsqueeze(y, iota_dims(own, rank - axis));
}

template <Pointwise function>
void arithmetic(Call& c) {
  c.give(pointwise(function, {c.in(), second(c)}));
}

void divide(Call& c) {
  TensorView* x = c.in();
  TensorView* y = second(c);
  if (is_float(x->dtype)) return c.give(div(x, y));
  c.give(floor_divide(sub(x, fmod(x, y)), y));  // toward zero
}

void bit_shift(Call& c) {
  c.give(c.text("direction", "") == "LEFT" ? shift_left(c.in(), c.in(1)) : shift_right(c.in(), c.in(1)));
}

void clip(Call& c) {
  TensorView* x = c.in();
  if (c.has(1)) x = max(x, c.in(1));
  if (c.has(2)) x = min(x, c.in(2));
  if (c.has_attribute("min")) x = max(x, c.number("min", 0));
  if (c.has_attribute("max")) x = min(x, c.number("max", 0));
  c.give(c.has(1) || c.has(2) || !c.node.attributes.empty() ? x : set(x));
}

void is_inf(Call& c) {
  TensorView* out = isinf(c.in());
  if (!c.integer("detect_negative", 1)) out = logical_and(out, gt(c.in(), 0));
  if (!c.integer("detect_positive", 1)) out = logical_and(out, lt(c.in(), 0));
  c.give(out);
}

void mean_of(Call& c) { c.give(div(fold(c, add), static_cast<double>(c.count()))); }

// The type of the base; the exponent may have another one.
void power(Call& c) {
  TensorView *x = c.in(), *y = second(c);
  const bool wide = is_float(y->dtype) && !is_float(x->dtype);
  const DType compute = wide ? DType::f64 : x->dtype;
  if (y->dtype != compute) y = cast(y, compute);
  TensorView* out = pow(wide ? cast(x, compute) : x, y);
  c.give(wide ? cast(out, x->dtype) : out);
}

// One slope per channel in opsets that do not broadcast it.
void prelu(Call& c) {
  TensorView *x = c.in(), *slope = c.in(1);
  if (c.importer.opset() < 9 && slope->rank() == 1 && x->rank() > 2) {
    slope = unsqueeze(slope, iota_dims(1, static_cast<int64_t>(x->rank()) - 1));
  }
  c.give(where(lt(x, 0), mul(x, slope), x));
}

void selu_of(Call& c) {
  const double alpha = c.number("alpha", 1.67326319217681884765625);
  c.give(mul(elu(c.in(), alpha), c.number("gamma", 1.05070102214813232421875)));
}

void shrink(Call& c) {
  const double lambda = c.number("lambd", 0.5), bias = c.number("bias", 0);
  TensorView* x = c.in();
  TensorView* inner = where(gt(x, lambda), sub(x, bias), 0);
  c.give(where(lt(x, -lambda), add(x, bias), inner));
}

void choose(Call& c) { c.give(where(c.in(), c.in(1), c.in(2))); }

std::vector<OpRow> activations() {
  return {
      {"Gelu", [](Call& c) { c.give(gelu(c.in(), c.text("approximate", "none") == "tanh" ? Gelu::tanh : Gelu::none)); },
       "approximate=none|tanh"},
      {"Mish", apply<Pointwise::mish>},
      {"Celu", [](Call& c) { c.give(celu(c.in(), c.number("alpha", 1))); }, "alpha"},
      {"Clip", clip, "min max"},
      {"Elu", [](Call& c) { c.give(elu(c.in(), c.number("alpha", 1))); }, "alpha"},
      {"HardSigmoid",
       [](Call& c) { c.give(clamp(add(mul(c.in(), c.number("alpha", 0.2)), c.number("beta", 0.5)), 0, 1)); },
       "alpha beta"},
      {"HardSwish", apply<Pointwise::hardswish>},
      {"LeakyRelu", [](Call& c) { c.give(leaky_relu(c.in(), c.number("alpha", 0.01))); }, "alpha"},
      {"PRelu", prelu},
      {"Relu", apply<Pointwise::relu>},
      {"Selu", selu_of, "alpha gamma"},
      {"Shrink", shrink, "lambd bias"},
      {"Sigmoid", apply<Pointwise::sigmoid>},
      {"Softplus", apply<Pointwise::softplus>},
      {"Softsign", apply<Pointwise::softsign>},
      {"ThresholdedRelu", [](Call& c) { c.give(where(gt(c.in(), c.number("alpha", 1)), c.in(), 0)); }, "alpha"},
  };
}

std::vector<OpRow> functions() {
  return {
      {"Abs", apply<Pointwise::abs>},
      {"Acos", apply<Pointwise::acos>},
      {"Acosh", apply<Pointwise::acosh>},
      {"Asin", apply<Pointwise::asin>},
      {"Asinh", apply<Pointwise::asinh>},
      {"Atan", apply<Pointwise::atan>},
      {"Atanh", apply<Pointwise::atanh>},
      {"Ceil", apply<Pointwise::ceil>},
      {"Cos", apply<Pointwise::cos>},
      {"Cosh", apply<Pointwise::cosh>},
      {"Erf", apply<Pointwise::erf>},
      {"Exp", apply<Pointwise::exp>},
      {"Floor", apply<Pointwise::floor>},
      {"Identity", [](Call& c) { c.give(c.value(0), 0); }},
      {"IsInf", is_inf, "detect_negative detect_positive"},
      {"IsNaN", apply<Pointwise::isnan>},
      {"Log", apply<Pointwise::log>},
      {"Neg", apply<Pointwise::neg>},
      {"Not", apply<Pointwise::logical_not>},
      {"Reciprocal", apply<Pointwise::reciprocal>},
      {"Round", apply<Pointwise::round>},
      {"Sign", apply<Pointwise::sign>},
      {"Sin", apply<Pointwise::sin>},
      {"Sinh", apply<Pointwise::sinh>},
      {"Sqrt", apply<Pointwise::sqrt>},
      {"Tan", apply<Pointwise::tan>},
      {"Tanh", apply<Pointwise::tanh>},
  };
}

std::vector<OpRow> binaries() {
  return {
      {"Add", arithmetic<Pointwise::add>, "axis broadcast"},
      {"And", apply<Pointwise::logical_and>},
      {"BitwiseAnd", apply<Pointwise::bitwise_and>},
      {"BitwiseNot", apply<Pointwise::bitwise_not>},
      {"BitwiseOr", apply<Pointwise::bitwise_or>},
      {"BitwiseXor", apply<Pointwise::bitwise_xor>},
      {"BitShift", bit_shift, "direction=LEFT|RIGHT"},
      {"Div", divide, "axis broadcast"},
      {"Equal", apply<Pointwise::eq>},
      {"Greater", apply<Pointwise::gt>},
      {"GreaterOrEqual", apply<Pointwise::ge>},
      {"Less", apply<Pointwise::lt>},
      {"LessOrEqual", apply<Pointwise::le>},
      {"Max", [](Call& c) { c.give(fold(c, max)); }},
      {"Mean", mean_of},
      {"Min", [](Call& c) { c.give(fold(c, min)); }},
      {"Mod", [](Call& c) { c.give(c.integer("fmod", 0) ? fmod(c.in(), c.in(1)) : remainder(c.in(), c.in(1))); },
       "fmod"},
      {"Mul", arithmetic<Pointwise::mul>, "axis broadcast"},
      {"Or", apply<Pointwise::logical_or>},
      {"Pow", power, "axis broadcast"},
      {"Sub", arithmetic<Pointwise::sub>, "axis broadcast"},
      {"Sum", [](Call& c) { c.give(fold(c, add)); }},
      {"Where", choose},
      {"Xor", apply<Pointwise::logical_xor>},
  };
}

}  // namespace

std::vector<OpRow> pointwise_rows() {
  std::vector<OpRow> out = functions();
  for (auto part : {binaries, activations})
    for (const OpRow& row : part()) out.push_back(row);
  return out;
}

}  // namespace plait::onnx
