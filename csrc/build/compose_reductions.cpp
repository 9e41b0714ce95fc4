// Composites that combine elements along dims. Statistics of a norm take two passes, mean and then squares about it, so
// that both are sums that ranks can leave pending.
#include <cmath>
#include <limits>
#include <numeric>

#include "build/composer.h"

namespace plait::building {

namespace {

// A result with the reduced dims kept, as the op asks for it and in the operand's dtype.
template <class T>
TensorView* shaped(Composer& c, const T& op, TensorView* kept) {
  if (!op.keepdim && !op.dims.empty()) kept = c.squeeze(kept, op.dims);
  return c.cast(kept, op.in->dtype);
}

// 1 where an element is not 0: an integer, so that nothing rounds and ranks can combine it.
TensorView* flags(Composer& c, TensorView* in) {
  TensorView* flag = in->dtype == DType::boolean ? in : c.pointwise(Pointwise::ne, in, 0);
  return c.cast(flag, DType::i32);
}

// exp(x - max) along dim, its sum (kept), and x - max.
struct Exponentials {
  TensorView *shifted, *terms, *sum;
};
Exponentials exponentials(Composer& c, TensorView* x, int64_t dim) {
  Exponentials out;
  out.shifted = c.pointwise(Pointwise::sub, {x, c.reduce(Reduction::amax, x, {dim}, true)});
  out.terms = c.pointwise(Pointwise::exp, {out.shifted});
  out.sum = c.sum(out.terms, {dim}, true);
  return out;
}

// 1 / sqrt(square + eps).
TensorView* inverse_root(Composer& c, TensorView* square, double eps) {
  TensorView* root = c.pointwise(Pointwise::sqrt, {c.pointwise(Pointwise::add, square, eps)});
  return c.pointwise(Pointwise::reciprocal, {root});
}

// (x - mean) / sqrt(var + eps) over dims, mean and 1 / sqrt(var + eps).
struct Normalised {
  TensorView *unit, *mean, *rstd;
};
Normalised normalised(Composer& c, TensorView* x, const std::vector<int64_t>& dims, double eps) {
  TensorView* mean = c.mean(x, dims, true);
  TensorView* centred = c.pointwise(Pointwise::sub, {x, mean});
  TensorView* var = c.mean(c.pointwise(Pointwise::square, {centred}), dims, true);
  TensorView* rstd = inverse_root(c, var, eps);
  return {c.pointwise(Pointwise::mul, {centred, rstd}), mean, rstd};
}

// x * w + b; both may be null.
TensorView* affine(Composer& c, TensorView* x, TensorView* w, TensorView* b) {
  if (w) x = c.pointwise(Pointwise::mul, {x, c.wide(w)});
  return b ? c.pointwise(Pointwise::add, {x, c.wide(b)}) : x;
}

// One number per channel, p[c], beside x[n, c, ...].
TensorView* per_channel(Composer& c, TensorView* p, const TensorView* x) {
  if (!p || x->rank() == 2) return p;
  std::vector<int64_t> dims(x->rank() - 2);
  std::iota(dims.begin(), dims.end(), 1);
  return c.unsqueeze(p, std::move(dims));
}

}  // namespace

ShiftedTerms shifted_terms(Composer& c, TensorView* x, const std::vector<int64_t>& dims) {
  TensorView* most = c.reduce(Reduction::amax, x, dims, true);
  TensorView* empty = c.pointwise(Pointwise::eq, most, -std::numeric_limits<double>::infinity());
  TensorView* shifted = c.pointwise(Pointwise::sub, {x, c.where(empty, 0, most)});
  return {most, empty, c.pointwise(Pointwise::exp, {shifted})};
}

TensorView* composed(Composer& c, const Mean& op) {
  return c.cast(c.mean(c.wide(op.in), op.dims, op.keepdim), op.in->dtype);
}

TensorView* composed(Composer& c, const Std& op) {
  auto var = std::make_unique<Var>();
  var->in = c.wide(op.in);
  var->dims = op.dims;
  var->correction = op.correction;
  var->keepdim = op.keepdim;
  return c.cast(c.pointwise(Pointwise::sqrt, {c.emit(std::move(var))}), op.in->dtype);
}

Results composed(Composer& c, const VarMean& op) {
  auto var = std::make_unique<Var>();
  var->in = op.in;
  var->dims = op.dims;
  var->correction = op.correction;
  var->keepdim = op.keepdim;
  TensorView* mean = c.cast(c.mean(c.wide(op.in), op.dims, op.keepdim), op.in->dtype);
  return {mean, c.emit(std::move(var))};
}

Results composed(Composer& c, const MaxWithArgmax& op) {
  return {c.reduce(Reduction::amax, op.in, op.dims, op.keepdim),
          c.reduce(Reduction::argmax, op.in, op.dims, op.keepdim)};
}
Results composed(Composer& c, const MinWithArgmin& op) {
  return {c.reduce(Reduction::amin, op.in, op.dims, op.keepdim),
          c.reduce(Reduction::argmin, op.in, op.dims, op.keepdim)};
}

// The extremum of nothing is the least or greatest integer: compared with 0 it gives what is right of none.
TensorView* composed(Composer& c, const Any& op) {
  return c.pointwise(Pointwise::gt, c.reduce(Reduction::amax, flags(c, op.in), op.dims, op.keepdim), 0);
}
TensorView* composed(Composer& c, const All& op) {
  return c.pointwise(Pointwise::gt, c.reduce(Reduction::amin, flags(c, op.in), op.dims, op.keepdim), 0);
}

TensorView* composed(Composer& c, const LogSumExp& op) {
  TensorView* x = c.wide(op.in);
  const ShiftedTerms shifted = shifted_terms(c, x, op.dims);
  TensorView* most = shifted.most;
  TensorView* log = c.pointwise(Pointwise::log, {c.sum(shifted.terms, op.dims, true)});
  TensorView* out = c.pointwise(Pointwise::add, {log, most});
  // inf - inf is NaN: an infinite maximum is the result itself.
  return shaped(c, op, c.pointwise(Pointwise::where, {c.pointwise(Pointwise::isinf, {most}), most, out}));
}

TensorView* composed(Composer& c, const Norm& op) {
  TensorView* x = c.wide(op.in);
  if (op.p == 0) {
    TensorView* counted = c.cast(c.pointwise(Pointwise::ne, x, 0), x->dtype);
    return c.cast(c.sum(counted, op.dims, op.keepdim), op.in->dtype);
  }
  if (std::isinf(op.p)) {
    TensorView* size = c.pointwise(Pointwise::abs, {x});
    TensorView* end = c.reduce(op.p > 0 ? Reduction::amax : Reduction::amin, size, op.dims, op.keepdim);
    return c.cast(op.p > 0 ? c.pointwise(Pointwise::max, end, 0) : end, op.in->dtype);  // 0 of none
  }
  if (op.p == 2) {
    TensorView* sum = c.sum(c.pointwise(Pointwise::square, {x}), op.dims, op.keepdim);
    return c.cast(c.pointwise(Pointwise::sqrt, {sum}), op.in->dtype);
  }
  TensorView* size = c.pointwise(Pointwise::abs, {x});
  if (op.p == 1) return c.cast(c.sum(size, op.dims, op.keepdim), op.in->dtype);
  TensorView* sum = c.sum(c.pointwise(Pointwise::pow, size, op.p), op.dims, op.keepdim);
  return c.cast(c.pointwise(Pointwise::pow, sum, 1 / op.p), op.in->dtype);
}

TensorView* composed(Composer& c, const Softmax& op) {
  const Exponentials e = exponentials(c, c.wide(op.in), op.dim);
  return c.cast(c.pointwise(Pointwise::div, {e.terms, e.sum}), op.in->dtype);
}

TensorView* composed(Composer& c, const LogSoftmax& op) {
  const Exponentials e = exponentials(c, c.wide(op.in), op.dim);
  TensorView* log = c.pointwise(Pointwise::log, {e.sum});
  return c.cast(c.pointwise(Pointwise::sub, {e.shifted, log}), op.in->dtype);
}

Results composed(Composer& c, const LayerNorm& op) {
  TensorView* x = c.wide(op.x);
  const Normalised n = normalised(c, x, dims_from(x, x->rank() - size_t(op.dims)), op.eps);
  Results out = {c.cast(affine(c, n.unit, op.w, op.b), op.x->dtype)};
  if (op.statistics) out.insert(out.end(), {n.mean, n.rstd});
  return out;
}

Results composed(Composer& c, const RmsNorm& op) {
  TensorView* x = c.wide(op.x);
  TensorView* square = c.pointwise(Pointwise::square, {x});
  TensorView* rstd = inverse_root(c, c.mean(square, dims_from(x, x->rank() - size_t(op.dims)), true), op.eps);
  TensorView* unit = c.pointwise(Pointwise::mul, {x, rstd});
  Results out = {c.cast(affine(c, unit, op.w, nullptr), op.x->dtype)};
  if (op.statistics) out.push_back(rstd);
  return out;
}

Results composed(Composer& c, const GroupNorm& op) {
  std::vector<sym::Expr> shape = op.x->shape();
  shape[1] = sym::floordiv(shape[1], op.groups);
  shape.insert(shape.begin() + 1, c.extent(op.groups));
  TensorView* grouped = c.reshape(c.wide(op.x), std::move(shape));
  const std::vector<int64_t> dims = dims_from(grouped, 2);
  const Normalised n = normalised(c, grouped, dims, op.eps);
  TensorView *w = per_channel(c, op.w, op.x), *b = per_channel(c, op.b, op.x);
  Results out = {c.cast(affine(c, c.reshape(n.unit, op.x->shape()), w, b), op.x->dtype)};
  if (op.statistics) out.insert(out.end(), {c.squeeze(n.mean, dims), c.squeeze(n.rstd, dims)});
  return out;
}

Results composed(Composer& c, const BatchNorm& op) {
  TensorView* x = c.wide(op.x);
  TensorView *w = per_channel(c, op.w, x), *b = per_channel(c, op.b, x);
  std::vector<int64_t> dims = dims_from(x, 1);
  dims[0] = 0;  // all but 1
  Normalised n;
  if (op.mean) {
    n.mean = c.wide(per_channel(c, op.mean, x));
    n.rstd = inverse_root(c, c.wide(per_channel(c, op.var, x)), op.eps);
    n.unit = c.pointwise(Pointwise::mul, {c.pointwise(Pointwise::sub, {x, n.mean}), n.rstd});
  } else {
    n = normalised(c, x, dims, op.eps);
  }
  Results out = {c.cast(affine(c, n.unit, w, b), op.x->dtype)};
  for (TensorView* t : {n.mean, n.rstd})
    if (op.statistics) out.push_back(c.reshape(t, {op.x->extent(1)}));
  return out;
}

}  // namespace plait::building
