// Reductions and scans of ONNX.
#include "import/onnx/importer.h"

namespace plait::onnx {
namespace {

using ReduceFunction = TensorView* (*)(TensorView*, Dims, bool);

// axes is an attribute before opset 13 (of ReduceSum) or 18, else an operand.
template <ReduceFunction function>
void reduce(Call& c) {
  const Dims axes = c.integers("axes", 1);
  if (axes.empty() && c.integer("noop_with_empty_axes", 0)) return c.give(set(c.in()));
  TensorView* out = function(c.in(), axes, c.integer("keepdims", 1) != 0);
  c.give(out->dtype == c.in()->dtype ? out : cast(out, c.in()->dtype));
}

TensorView* l1(TensorView* x, Dims dims, bool keepdim) { return norm(x, 1, std::move(dims), keepdim); }
TensorView* l2(TensorView* x, Dims dims, bool keepdim) { return norm(x, 2, std::move(dims), keepdim); }
TensorView* log_sum(TensorView* x, Dims dims, bool keepdim) { return log(sum(x, std::move(dims), keepdim)); }
TensorView* sum_square(TensorView* x, Dims dims, bool keepdim) { return sum(square(x), std::move(dims), keepdim); }

using ArgFunction = TensorView* (*)(TensorView*, Dims, bool);

template <ArgFunction function>
void arg(Call& c) {
  TensorView* x = c.in();
  const int64_t axis = c.axis(0, x->rank());
  const bool keepdim = c.integer("keepdims", 1) != 0;
  if (!c.integer("select_last_index", 0)) return c.give(function(x, {axis}, keepdim));
  TensorView* from_end = function(flip(x, {axis}), {axis}, keepdim);
  c.give(sub(sub(size(c.fusion(), size_of_dim(x, axis)), 1), from_end));
}

void cumulate(Call& c) {
  TensorView* x = c.in();
  TensorView* out = cumsum(x, c.integer(1), c.integer("exclusive", 0) != 0, c.integer("reverse", 0) != 0);
  c.give(out->dtype == x->dtype ? out : cast(out, x->dtype));
}

}  // namespace

std::vector<OpRow> reduction_rows() {
  const char* reduced = "axes keepdims noop_with_empty_axes";
  return {
      {"ArgMax", arg<argmax>, "axis keepdims select_last_index"},
      {"ArgMin", arg<argmin>, "axis keepdims select_last_index"},
      {"CumSum", cumulate, "exclusive reverse"},
      {"ReduceL1", reduce<l1>, reduced},
      {"ReduceL2", reduce<l2>, reduced},
      {"ReduceLogSum", reduce<log_sum>, reduced},
      {"ReduceLogSumExp", reduce<logsumexp>, reduced},
      {"ReduceMax", reduce<amax>, reduced},
      {"ReduceMean", reduce<mean>, reduced},
      {"ReduceMin", reduce<amin>, reduced},
      {"ReduceProd", reduce<prod>, reduced},
      {"ReduceSum", reduce<sum>, reduced},
      {"ReduceSumSquare", reduce<sum_square>, reduced},
  };
}

}  // namespace plait::onnx
