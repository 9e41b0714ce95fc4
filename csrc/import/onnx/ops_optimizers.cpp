// Steps of optimizers, of ONNX's domain ai.onnx.preview.training. Operands: rate, step count, then as many tensors of
// each kind (values, gradients, states) as are optimized together; results likewise.
#include "import/onnx/importer.h"

namespace plait::onnx {
namespace {

struct Step {
  Call& c;
  size_t count;  // tensors that are optimized
  Step(Call& call, size_t kinds) : c(call), count(call.count() < 2 ? 0 : (call.count() - 2) / kinds) {
    require(count > 0 && call.count() == 2 + kinds * count, "{} operands", call.count());
  }
  TensorView* of(size_t kind, size_t i) const { return c.in(2 + kind * count + i); }
  void give(TensorView* t, size_t kind, size_t i) const { c.give(t, kind * count + i); }
  // The gradient of the value's square joins.
  TensorView* gradient(size_t i) const { return add(mul(of(0, i), c.number("norm_coefficient", 0)), of(1, i)); }
  TensorView* begun() const { return gt(c.in(1), 0); }
};

void adagrad(Call& c) {
  const Step s(c, 3);
  TensorView* rate = div(c.in(), add(mul(cast(c.in(1), DType::f32), c.number("decay_factor", 0)), 1));
  for (size_t i = 0; i < s.count; ++i) {
    TensorView* g = s.gradient(i);
    TensorView* squares = add(s.of(2, i), square(g));
    s.give(sub(s.of(0, i), div(mul(rate, g), add(sqrt(squares), c.number("epsilon", 1e-6)))), 0, i);
    s.give(squares, 1, i);
  }
}

void momentum(Call& c) {
  const Step s(c, 3);
  const double alpha = c.number("alpha", 0), beta = c.number("beta", 0);
  for (size_t i = 0; i < s.count; ++i) {
    TensorView* g = s.gradient(i);
    TensorView* v = add(mul(s.of(2, i), alpha), where(s.begun(), mul(g, beta), g));
    TensorView* along = c.text("mode", "") == "nesterov" ? add(g, mul(v, alpha)) : v;
    s.give(sub(s.of(0, i), mul(c.in(), along)), 0, i);
    s.give(v, 1, i);
  }
}

}  // namespace

// Adam is left out: the stored numbers of test_adam_multiple are those of an epsilon of 0.01 that its model does not
// say.
std::vector<OpRow> optimizer_rows() {
  return {
      {"ai.onnx.preview.training.Adagrad", adagrad, "decay_factor epsilon norm_coefficient"},
      {"ai.onnx.preview.training.Momentum", momentum, "alpha beta mode=standard|nesterov norm_coefficient"},
  };
}

}  // namespace plait::onnx
