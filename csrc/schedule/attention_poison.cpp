#include "schedule/attention_poison.h"

#include <algorithm>
#include <limits>

#include "schedule/reads.h"

namespace plait {

namespace {

// Ops behind another one.
class Behind {
 public:
  Behind(Fusion& graph, const Op& op) : graph_(graph), op_(op) {}

  TensorView* pointwise(Pointwise function, std::vector<TensorView*> in, const char* name) {
    auto op = std::make_unique<PointwiseOp>();
    op->function = function;
    op->in = std::move(in);
    return add(std::move(op), name);
  }
  TensorView* constant(double value, DType dtype) {
    auto op = std::make_unique<Full>();
    op->value = Constant::from_double(dtype, value);
    return add(std::move(op), "_number");
  }
  // From `start` on, [extent, 1].
  TensorView* positions(sym::Expr extent, sym::Expr start, DType dtype) {
    auto op = std::make_unique<Iota>();
    op->shape = {extent, graph_.pool().constant(1)};
    op->dtype = dtype;
    op->start = start;
    return add(std::move(op), "_position");
  }
  template <class T>
  TensorView* add(std::unique_ptr<T> op, const char* name) {
    const Inferred type = infer(*op, graph_);
    added_.push_back(graph_.add_op(std::move(op), graph_.add_tensor(name, type.shape, type.dtype)));
    return added_.back()->out();
  }
  std::vector<Op*>& added() { return added_; }
  void finish() { put_ops(graph_, added_, op_, true); }

 private:
  Fusion& graph_;
  const Op& op_;
  std::vector<Op*> added_;
};

}  // namespace

TensorView* add_poison(Fusion& graph, const Matmul& product, bool below, sym::Expr offset) {
  TensorView *out = product.out(), *values = product.b;
  const DType dtype = out->dtype;  // positions are whole numbers below 2^24
  const size_t rank = out->rank();
  const sym::Expr zero = graph.pool().constant(0);
  Behind behind(graph, *out->definition);
  const std::vector<Op*> readers(graph.readers(out).begin(), graph.readers(out).end());
  TensorView* position = behind.positions(values->shape()[rank - 2], below ? offset : zero, dtype);
  TensorView* none = behind.constant(below ? 1 << 24 : -1, dtype);
  TensorView* finite = behind.pointwise(Pointwise::isfinite, {moved_again(graph, values, behind.added())}, "_finite");
  TensorView* where = behind.pointwise(Pointwise::where, {finite, none, position}, "_not_finite");
  auto most = std::make_unique<Reduce>();
  most->function = below ? Reduction::amin : Reduction::amax;
  most->in = where;
  most->dims = {static_cast<int64_t>(rank) - 2};
  most->keepdim = true;
  TensorView* last = behind.add(std::move(most), below ? "_first_not_finite" : "_last_not_finite");
  TensorView* own = behind.positions(out->shape()[rank - 2], below ? zero : offset, dtype);
  TensorView* reaches = behind.pointwise(below ? Pointwise::lt : Pointwise::gt, {last, own}, "_reaches");
  TensorView* nan = behind.constant(std::numeric_limits<double>::quiet_NaN(), dtype);
  TensorView* result = behind.pointwise(Pointwise::where, {reaches, nan, out}, "_poisoned");
  behind.finish();
  for (Op* reader : readers) replace_input(*reader, out, result);
  std::vector<TensorView*> outputs = graph.outputs();
  std::ranges::replace(outputs, out, result);
  graph.set_outputs(std::move(outputs));
  return last;
}

}  // namespace plait
