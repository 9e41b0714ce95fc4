// What compositions are made of, and those that make and move elements.
#include "build/compose.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "base/error.h"
#include "build/composer.h"

namespace plait {

namespace building {

namespace {

template <class T>
constexpr bool is_composed =
    property(T::kKind) == OpProperty::composite || (NamesResults<T> && !is_scan(T::kKind) && T::kKind != OpKind::Sort);

template <class T, class Fn>
TensorView* unary(Composer& c, TensorView* in, Fn&& fill) {
  auto op = std::make_unique<T>();
  op->in = in;
  fill(*op);
  return c.emit(std::move(op));
}

TensorView* full(Composer& c, Constant value) {
  auto op = std::make_unique<Full>();
  op->value = value;
  return c.emit(std::move(op));
}

}  // namespace

TensorView* Composer::pointwise(Pointwise function, std::vector<TensorView*> in) {
  auto op = std::make_unique<PointwiseOp>();
  op->function = function;
  op->in = std::move(in);
  return emit(std::move(op));
}
TensorView* Composer::pointwise(Pointwise function, TensorView* a, double b) {
  return pointwise(function, {a, constant(b, a->dtype)});
}
TensorView* Composer::where(TensorView* condition, double a, TensorView* b) {
  return pointwise(Pointwise::where, {condition, constant(a, b->dtype), b});
}
TensorView* Composer::where(TensorView* condition, TensorView* a, double b) {
  return pointwise(Pointwise::where, {condition, a, constant(b, a->dtype)});
}

TensorView* Composer::cast_always(TensorView* x, DType to) {
  auto op = std::make_unique<PointwiseOp>();
  op->function = Pointwise::cast;
  op->in = {x};
  op->to = to;
  return emit(std::move(op));
}
TensorView* Composer::cast(TensorView* x, DType to) { return x->dtype == to ? x : cast_always(x, to); }
TensorView* Composer::wide(TensorView* x) { return cast(x, compute_type(x->dtype)); }

TensorView* Composer::constant(double value, DType dtype) { return full(*this, Constant::from_double(dtype, value)); }
TensorView* Composer::constant(int64_t value, DType dtype) { return full(*this, Constant::from_int64(dtype, value)); }

TensorView* Composer::iota(std::vector<sym::Expr> shape, int64_t dim, DType dtype) {
  auto op = std::make_unique<Iota>();
  op->shape = std::move(shape);
  op->dim = dim;
  op->dtype = dtype;
  return emit(std::move(op));
}

TensorView* Composer::size(sym::Expr value, DType dtype) {
  auto op = std::make_unique<Size>();
  op->value = value;
  op->dtype = dtype;
  return emit(std::move(op));
}

TensorView* Composer::reduce(Reduction function, TensorView* x, std::vector<int64_t> dims, bool keepdim) {
  return unary<Reduce>(*this, x, [&](Reduce& op) {
    op.function = function;
    op.dims = std::move(dims);
    op.keepdim = keepdim;
  });
}

TensorView* Composer::mean(TensorView* x, std::vector<int64_t> dims, bool keepdim) {
  sym::Expr count = extent(1);
  for (int64_t d : dims) count = count * x->extent(size_t(d));
  TensorView* total = sum(x, std::move(dims), keepdim);
  return pointwise(Pointwise::div, {total, size(count, x->dtype)});
}

TensorView* Composer::reshape(TensorView* x, std::vector<sym::Expr> shape) {
  return unary<Reshape>(*this, x, [&](Reshape& op) { op.shape = std::move(shape); });
}
TensorView* Composer::unsqueeze(TensorView* x, std::vector<int64_t> dims) {
  return unary<Unsqueeze>(*this, x, [&](Unsqueeze& op) { op.dims = std::move(dims); });
}
TensorView* Composer::squeeze(TensorView* x, std::vector<int64_t> dims) {
  return unary<Squeeze>(*this, x, [&](Squeeze& op) { op.dims = std::move(dims); });
}
TensorView* Composer::broadcast(TensorView* x, std::vector<sym::Expr> shape) {
  return unary<Broadcast>(*this, x, [&](Broadcast& op) {
    op.dims.resize(x->rank());
    std::iota(op.dims.begin(), op.dims.end(), int64_t(shape.size() - x->rank()));
    op.shape = std::move(shape);
  });
}

std::vector<int64_t> dims_from(const TensorView* x, size_t first) {
  std::vector<int64_t> dims(x->rank() - first);
  std::iota(dims.begin(), dims.end(), int64_t(first));
  return dims;
}

// Uniform numbers are multiples of 2^-24: comparing with p in double is comparing with the next multiple, exactly.
TensorView* composed(Composer& c, const Dropout& op) {
  auto random = std::make_unique<Uniform>();
  random->shape = op.x->shape();
  random->seed = op.seed;
  random->offset = op.offset;
  TensorView* uniform = c.emit(std::move(random));
  const double threshold = std::ceil(std::ldexp(op.p, 24)) * std::ldexp(1.0, -24);
  TensorView* keep = c.pointwise(Pointwise::ge, uniform, threshold);
  TensorView* scaled = c.pointwise(Pointwise::mul, c.wide(op.x), 1 / (1 - op.p));
  return c.cast(c.where(keep, scaled, 0), op.x->dtype);
}

TensorView* composed(Composer& c, const Set& op) { return c.cast_always(op.in, op.in->dtype); }

TensorView* composed(Composer& c, const Stack& op) {
  auto cat = std::make_unique<Cat>();
  for (TensorView* t : op.in) cat->in.push_back(c.unsqueeze(t, {op.dim}));
  cat->dim = op.dim;
  return c.emit(std::move(cat));
}

TensorView* composed(Composer& c, const Expand& op) { return c.broadcast(op.in, op.shape); }

TensorView* composed(Composer& c, const Eye& op) {
  TensorView* row = c.iota({op.rows, c.extent(1)}, 0, DType::i64);
  TensorView* column = c.iota({op.columns}, 0, DType::i64);
  return c.cast(c.pointwise(Pointwise::eq, {row, column}), op.dtype);
}

namespace {

// in where `compare`(column, row + diagonal) of the last two dims, else 0.
TensorView* triangle(Composer& c, TensorView* in, int64_t diagonal, Pointwise compare) {
  const size_t rank = in->rank();
  TensorView* row = c.iota({in->extent(rank - 2), c.extent(1)}, 0, DType::i64);
  TensorView* column = c.iota({in->extent(rank - 1)}, 0, DType::i64);
  if (diagonal != 0) row = c.pointwise(Pointwise::add, {row, c.constant(diagonal, DType::i64)});
  return c.where(c.pointwise(compare, {column, row}), in, 0);
}

}  // namespace

TensorView* composed(Composer& c, const Tril& op) { return triangle(c, op.in, op.diagonal, Pointwise::le); }
TensorView* composed(Composer& c, const Triu& op) { return triangle(c, op.in, op.diagonal, Pointwise::ge); }

TensorView* composed(Composer& c, const Embedding& op) {
  auto select = std::make_unique<IndexSelect>();
  select->in = op.table;
  select->index = op.index;
  select->bounds = op.bounds;
  select->ordinal = op.ordinal;
  return c.emit(std::move(select));
}

Results composed(Composer& c, const Split& op) {
  Results out;
  sym::Expr start = c.extent(0);
  for (sym::Expr size : op.sizes) {
    auto slice = std::make_unique<Slice>();
    slice->in = op.in;
    slice->dim = op.dim;
    slice->start = start;
    slice->stop = start = start + size;
    out.push_back(c.emit(std::move(slice)));
  }
  return out;
}

TensorView* composed(Composer& c, const TakeAlong& op) {
  std::vector<sym::Expr> in = op.out()->shape();
  in[size_t(op.dim)] = op.in->extent(size_t(op.dim));
  auto gather = std::make_unique<Gather>();
  gather->in = op.in->shape() == in ? op.in : c.broadcast(op.in, in);
  gather->index = op.index->shape() == op.out()->shape() ? op.index : c.broadcast(op.index, op.out()->shape());
  gather->dim = op.dim;
  gather->bounds = op.bounds;
  gather->ordinal = op.ordinal;
  return c.emit(std::move(gather));
}

TensorView* composed(Composer& c, const OneHot& op) {
  TensorView* index = c.unsqueeze(op.index, {int64_t(op.index->rank())});
  TensorView* classes = c.iota({op.classes}, 0, op.index->dtype);
  return c.cast(c.pointwise(Pointwise::eq, {index, classes}), op.dtype);
}

}  // namespace building

bool can_compose(OpKind kind) {
  switch (kind) {
#define PLAIT_OP(Name, text, properties) \
  case OpKind::Name:                     \
    return building::is_composed<Name>;
#include "ir/ops.def"
#undef PLAIT_OP
  }
  __builtin_unreachable();
}

std::vector<TensorView*> compose(Fusion& fusion, const Op& composite, const std::string& prefix) {
  building::Composer composer(fusion, prefix);
  std::vector<TensorView*> out = visit(composite, [&]<class T>(const T& op) -> std::vector<TensorView*> {
    if constexpr (!building::is_composed<T>)
      throw InternalError(fmt::format("{} is not made of other ops", text_name(op)), describe(op), "");
    else if constexpr (NamesResults<T>)
      return building::composed(composer, op);
    else
      return {building::composed(composer, op)};
  });
  PLAIT_CHECK(out.size() == composite.results.size(), "{} composes to {} results", describe(composite), out.size());
  for (size_t i = 0; i < out.size(); ++i) {
    const TensorView& wanted = *composite.results[i];
    PLAIT_CHECK(out[i]->definition && out[i]->dtype == wanted.dtype && out[i]->shape() == wanted.shape() &&
                    std::count(out.begin(), out.end(), out[i]) == 1,
                "{} composes to {}", describe(composite), type_text(*out[i]));
  }
  return out;
}

void compose_as(Fusion& fusion, const Op& composite) {
  const size_t before = fusion.ops().size();
  const std::vector<TensorView*> wanted = composite.results;
  const std::vector<TensorView*> built = compose(fusion, composite, wanted[0]->name);
  for (size_t i = 0; i < built.size(); ++i) {
    Op& maker = *built[i]->definition;
    PLAIT_CHECK(maker.id >= fusion.ops()[before]->id, "%{} is not built for %{}", built[i]->name, wanted[i]->name);
    fusion.define(maker,
                  size_t(std::find(maker.results.begin(), maker.results.end(), built[i]) - maker.results.begin()),
                  wanted[i]);
    if (built.size() > 1)  // one result may be made of another one
      for (size_t k = before; k < fusion.ops().size(); ++k) replace_input(*fusion.ops()[k], built[i], wanted[i]);
  }
}

}  // namespace plait
