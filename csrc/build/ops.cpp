// Builders of every op that is not pointwise.
#include "build/ops.h"

#include <numeric>

#include "base/error.h"
#include "build/emit.h"

namespace plait {

using building::emit;
using building::emit_all;
using building::fusion_of;
using building::resolve;

namespace {

// An op with one operand `in`; `fill` sets the attributes.
template <class T, class Fn>
TensorView* unary(std::string_view name, TensorView* x, Fn&& fill) {
  Fusion& fusion = fusion_of(name, {x});
  auto op = std::make_unique<T>();
  op->in = x;
  fill(*op);
  return emit(fusion, std::move(op));
}

TensorView* reduce(Reduction function, TensorView* x, Dims dims, bool keepdim) {
  return unary<Reduce>(name(function), x, [&](Reduce& op) {
    op.function = function;
    op.dims = std::move(dims);
    op.keepdim = keepdim;
  });
}

template <class T>
TensorView* reduce_as(std::string_view name, TensorView* x, Dims dims, bool keepdim) {
  return unary<T>(name, x, [&](T& op) {
    op.dims = std::move(dims);
    op.keepdim = keepdim;
  });
}

// Those of the operands that are there.
std::vector<TensorView*> present(std::initializer_list<TensorView*> operands) {
  std::vector<TensorView*> out;
  for (TensorView* t : operands)
    if (t) out.push_back(t);
  return out;
}

// A number that may count from the end, or an extent.
sym::Expr end_of(Fusion& fusion, std::string_view op, const std::optional<Fusion::Extent>& value) {
  if (!value) return {};
  if (const auto back = value->negative()) return fusion.pool().constant(*back);
  return resolve(fusion, op, {*value})[0];
}

}  // namespace

TensorView* sum(TensorView* x, Dims dims, bool keepdim) { return reduce(Reduction::sum, x, std::move(dims), keepdim); }
TensorView* prod(TensorView* x, Dims dims, bool keepdim) {
  return reduce(Reduction::prod, x, std::move(dims), keepdim);
}
TensorView* amax(TensorView* x, Dims dims, bool keepdim) {
  return reduce(Reduction::amax, x, std::move(dims), keepdim);
}
TensorView* amin(TensorView* x, Dims dims, bool keepdim) {
  return reduce(Reduction::amin, x, std::move(dims), keepdim);
}
TensorView* argmax(TensorView* x, Dims dims, bool keepdim) {
  return reduce(Reduction::argmax, x, std::move(dims), keepdim);
}
TensorView* argmin(TensorView* x, Dims dims, bool keepdim) {
  return reduce(Reduction::argmin, x, std::move(dims), keepdim);
}
TensorView* any(TensorView* x, Dims dims, bool keepdim) { return reduce_as<Any>("any", x, std::move(dims), keepdim); }
TensorView* all(TensorView* x, Dims dims, bool keepdim) { return reduce_as<All>("all", x, std::move(dims), keepdim); }
TensorView* mean(TensorView* x, Dims dims, bool keepdim) {
  return reduce_as<Mean>("mean", x, std::move(dims), keepdim);
}
TensorView* logsumexp(TensorView* x, Dims dims, bool keepdim) {
  return reduce_as<LogSumExp>("logsumexp", x, std::move(dims), keepdim);
}
TensorView* var(TensorView* x, Dims dims, int64_t correction, bool keepdim) {
  return unary<Var>("var", x, [&](Var& op) {
    op.dims = std::move(dims);
    op.correction = correction;
    op.keepdim = keepdim;
  });
}
TensorView* stddev(TensorView* x, Dims dims, int64_t correction, bool keepdim) {
  return unary<Std>("std", x, [&](Std& op) {
    op.dims = std::move(dims);
    op.correction = correction;
    op.keepdim = keepdim;
  });
}
MeanAndVar var_mean(TensorView* x, Dims dims, int64_t correction, bool keepdim) {
  auto op = std::make_unique<VarMean>();
  op->in = x;
  op->dims = std::move(dims);
  op->correction = correction;
  op->keepdim = keepdim;
  const auto out = emit_all(fusion_of("var_mean", {x}), std::move(op));
  return {out[0], out[1]};
}
namespace {

template <class T>
Extremum extremum(const char* name, TensorView* x, Dims dims, bool keepdim) {
  auto op = std::make_unique<T>();
  op->in = x;
  op->dims = std::move(dims);
  op->keepdim = keepdim;
  const auto out = emit_all(fusion_of(name, {x}), std::move(op));
  return {out[0], out[1]};
}

}  // namespace

Extremum max_with_argmax(TensorView* x, Dims dims, bool keepdim) {
  return extremum<MaxWithArgmax>("max_with_argmax", x, std::move(dims), keepdim);
}
Extremum min_with_argmin(TensorView* x, Dims dims, bool keepdim) {
  return extremum<MinWithArgmin>("min_with_argmin", x, std::move(dims), keepdim);
}
TensorView* norm(TensorView* x, double p, Dims dims, bool keepdim) {
  return unary<Norm>("norm", x, [&](Norm& op) {
    op.p = p;
    op.dims = std::move(dims);
    op.keepdim = keepdim;
  });
}
TensorView* cumsum(TensorView* x, int64_t dim, bool exclusive, bool reverse) {
  return unary<CumSum>("cumsum", x, [&](CumSum& op) {
    op.dim = dim;
    op.exclusive = exclusive;
    op.reverse = reverse;
  });
}

TensorView* cumprod(TensorView* x, int64_t dim, bool exclusive, bool reverse) {
  return unary<CumProd>("cumprod", x, [&](CumProd& op) {
    op.dim = dim;
    op.exclusive = exclusive;
    op.reverse = reverse;
  });
}
TensorView* logcumsumexp(TensorView* x, int64_t dim) {
  return unary<LogCumSumExp>("logcumsumexp", x, [&](LogCumSumExp& op) { op.dim = dim; });
}

namespace {

template <class T, class Fn>
ValuesAndIndices values_and_indices(const char* name, TensorView* x, Fn&& fill) {
  auto op = std::make_unique<T>();
  op->in = x;
  fill(*op);
  const auto out = emit_all(fusion_of(name, {x}), std::move(op));
  return {out[0], out[1]};
}

}  // namespace

ValuesAndIndices cummax(TensorView* x, int64_t dim) {
  return values_and_indices<CumMax>("cummax", x, [&](CumMax& op) { op.dim = dim; });
}
ValuesAndIndices cummin(TensorView* x, int64_t dim) {
  return values_and_indices<CumMin>("cummin", x, [&](CumMin& op) { op.dim = dim; });
}
ValuesAndIndices sort(TensorView* x, int64_t dim, bool descending) {
  return values_and_indices<Sort>("sort", x, [&](Sort& op) {
    op.dim = dim;
    op.descending = descending;
  });
}
TensorView* argsort(TensorView* x, int64_t dim, bool descending) {
  return unary<ArgSort>("argsort", x, [&](ArgSort& op) {
    op.dim = dim;
    op.descending = descending;
  });
}
ValuesAndIndices topk(TensorView* x, const Fusion::Extent& k, int64_t dim, bool largest) {
  return values_and_indices<TopK>("topk", x, [&](TopK& op) {
    op.k = resolve(*x->fusion, "topk", {k})[0];
    op.dim = dim;
    op.largest = largest;
  });
}

TensorView* set(TensorView* x) {
  return unary<Set>("set", x, [](Set&) {});
}
TensorView* permute(TensorView* x, Dims dims) {
  return unary<Permute>("permute", x, [&](Permute& op) { op.dims = std::move(dims); });
}
TensorView* transpose(TensorView* x, int64_t a, int64_t b) {
  fusion_of("transpose", {x});
  const auto rank = static_cast<int64_t>(x->rank());
  Dims dims(x->rank());
  std::iota(dims.begin(), dims.end(), 0);
  for (int64_t* d : {&a, &b}) {
    if (*d < -rank || *d >= rank)
      throw UserError(fmt::format("there is no dim {} of %{}: {}", *d, x->name, type_text(*x)), "transpose",
                      fmt::format("dims are {} to {}", -rank, rank - 1));
    if (*d < 0) *d += rank;
  }
  std::swap(dims[static_cast<size_t>(a)], dims[static_cast<size_t>(b)]);
  return permute(x, std::move(dims));
}
TensorView* broadcast(TensorView* x, const std::vector<Fusion::Extent>& shape, Dims dims) {
  return unary<Broadcast>("broadcast", x, [&](Broadcast& op) {
    op.shape = resolve(*x->fusion, "broadcast", shape);
    op.dims = std::move(dims);
  });
}
TensorView* expand(TensorView* x, const std::vector<Fusion::Extent>& shape) {
  return unary<Expand>("expand", x, [&](Expand& op) { op.shape = resolve(*x->fusion, "expand", shape, true); });
}
TensorView* squeeze(TensorView* x, Dims dims) {
  return unary<Squeeze>("squeeze", x, [&](Squeeze& op) { op.dims = std::move(dims); });
}
TensorView* unsqueeze(TensorView* x, Dims dims) {
  return unary<Unsqueeze>("unsqueeze", x, [&](Unsqueeze& op) { op.dims = std::move(dims); });
}
TensorView* reshape(TensorView* x, const std::vector<Fusion::Extent>& shape) {
  return unary<Reshape>("reshape", x, [&](Reshape& op) { op.shape = resolve(*x->fusion, "reshape", shape, true); });
}
TensorView* slice(TensorView* x, int64_t dim, std::optional<Fusion::Extent> start, std::optional<Fusion::Extent> stop,
                  int64_t step) {
  return unary<Slice>("slice", x, [&](Slice& op) {
    op.dim = dim;
    op.start = end_of(*x->fusion, "slice", start);
    op.stop = end_of(*x->fusion, "slice", stop);
    op.step = step;
  });
}
TensorView* pad(TensorView* x, const std::vector<Fusion::Extent>& low, const std::vector<Fusion::Extent>& high,
                double value) {
  return unary<Pad>("pad", x, [&](Pad& op) {
    op.low = resolve(*x->fusion, "pad", low);
    op.high = resolve(*x->fusion, "pad", high);
    op.value = value;
  });
}
TensorView* cat(const std::vector<TensorView*>& in, int64_t dim) {
  Fusion& fusion = fusion_of("cat", in);
  auto op = std::make_unique<Cat>();
  op->in = in;
  op->dim = dim;
  return emit(fusion, std::move(op));
}
TensorView* stack(const std::vector<TensorView*>& in, int64_t dim) {
  Fusion& fusion = fusion_of("stack", in);
  auto op = std::make_unique<Stack>();
  op->in = in;
  op->dim = dim;
  return emit(fusion, std::move(op));
}
std::vector<TensorView*> split(TensorView* x, const std::vector<Fusion::Extent>& sizes, int64_t dim) {
  Fusion& fusion = fusion_of("split", {x});
  auto op = std::make_unique<Split>();
  op->in = x;
  op->sizes = resolve(fusion, "split", sizes);
  op->dim = dim;
  return emit_all(fusion, std::move(op));
}
TensorView* flip(TensorView* x, Dims dims) {
  return unary<Flip>("flip", x, [&](Flip& op) { op.dims = std::move(dims); });
}
TensorView* roll(TensorView* x, Dims shifts, Dims dims) {
  return unary<Roll>("roll", x, [&](Roll& op) {
    op.shifts = std::move(shifts);
    op.dims = std::move(dims);
  });
}
TensorView* repeat(TensorView* x, Dims repeats) {
  return unary<Repeat>("repeat", x, [&](Repeat& op) { op.repeats = std::move(repeats); });
}
TensorView* bitcast(TensorView* x, DType to) {
  return unary<Bitcast>("bitcast", x, [&](Bitcast& op) { op.to = to; });
}
TensorView* tril(TensorView* x, int64_t diagonal) {
  return unary<Tril>("tril", x, [&](Tril& op) { op.diagonal = diagonal; });
}
TensorView* triu(TensorView* x, int64_t diagonal) {
  return unary<Triu>("triu", x, [&](Triu& op) { op.diagonal = diagonal; });
}

TensorView* iota(Fusion& fusion, const std::vector<Fusion::Extent>& shape, int64_t dim, DType dtype) {
  auto op = std::make_unique<Iota>();
  op->shape = resolve(fusion, "iota", shape);
  op->dim = dim;
  op->dtype = dtype;
  return emit(fusion, std::move(op));
}
TensorView* size(Fusion& fusion, const Fusion::Extent& value, DType dtype) {
  auto op = std::make_unique<Size>();
  op->value = resolve(fusion, "size", {value})[0];
  op->dtype = dtype;
  return emit(fusion, std::move(op));
}
TensorView* eye(Fusion& fusion, const Fusion::Extent& rows, std::optional<Fusion::Extent> columns, DType dtype) {
  auto op = std::make_unique<Eye>();
  op->rows = resolve(fusion, "eye", {rows})[0];
  if (columns) op->columns = resolve(fusion, "eye", {*columns})[0];
  op->dtype = dtype;
  return emit(fusion, std::move(op));
}
TensorView* normal(TensorView* seed, const std::vector<Fusion::Extent>& shape, std::optional<int64_t> offset) {
  Fusion& fusion = fusion_of("normal", {seed});
  auto op = std::make_unique<Normal>();
  op->shape = resolve(fusion, "normal", shape);
  op->seed = seed;
  op->offset = offset;
  return emit(fusion, std::move(op));
}

namespace {

// Gather and its kin: an operand, an index, a dim.
template <class T>
TensorView* indexed(std::string_view name, TensorView* x, TensorView* index, int64_t dim, Bounds bounds) {
  Fusion& fusion = fusion_of(name, {x, index});
  auto op = std::make_unique<T>();
  op->in = x;
  op->index = index;
  op->dim = dim;
  op->bounds = bounds;
  return emit(fusion, std::move(op));
}

}  // namespace

TensorView* gather(TensorView* x, TensorView* index, int64_t dim, Bounds bounds) {
  return indexed<Gather>("gather", x, index, dim, bounds);
}
TensorView* take_along(TensorView* x, TensorView* index, int64_t dim, Bounds bounds) {
  return indexed<TakeAlong>("take_along", x, index, dim, bounds);
}
TensorView* index_select(TensorView* x, TensorView* index, int64_t dim, Bounds bounds) {
  return indexed<IndexSelect>("index_select", x, index, dim, bounds);
}
TensorView* embedding(TensorView* index, TensorView* table, Bounds bounds) {
  Fusion& fusion = fusion_of("embedding", {index, table});
  auto op = std::make_unique<Embedding>();
  op->index = index;
  op->table = table;
  op->bounds = bounds;
  return emit(fusion, std::move(op));
}
TensorView* scatter(TensorView* x, TensorView* index, TensorView* src, int64_t dim, ScatterUpdate update,
                    Bounds bounds) {
  Fusion& fusion = fusion_of("scatter", {x, index, src});
  auto op = std::make_unique<Scatter>();
  op->in = x;
  op->index = index;
  op->src = src;
  op->dim = dim;
  op->update = update;
  op->bounds = bounds;
  return emit(fusion, std::move(op));
}
TensorView* slice_at(TensorView* x, TensorView* at, int64_t dim, const Fusion::Extent& size, Bounds bounds) {
  Fusion& fusion = fusion_of("slice_at", {x, at});
  auto op = std::make_unique<SliceAt>();
  op->in = x;
  op->at = at;
  op->dim = dim;
  op->size = resolve(fusion, "slice_at", {size})[0];
  op->bounds = bounds;
  return emit(fusion, std::move(op));
}
TensorView* slice_update(TensorView* x, TensorView* update, int64_t dim, const Fusion::Extent& start, Bounds bounds) {
  Fusion& fusion = fusion_of("slice_update", {x, update});
  auto op = std::make_unique<SliceUpdate>();
  op->in = x;
  op->update = update;
  op->dim = dim;
  op->start = resolve(fusion, "slice_update", {start})[0];
  op->bounds = bounds;
  return emit(fusion, std::move(op));
}
TensorView* slice_update(TensorView* x, TensorView* update, TensorView* at, int64_t dim, Bounds bounds) {
  Fusion& fusion = fusion_of("slice_update", {x, update, at});
  auto op = std::make_unique<SliceUpdate>();
  op->in = x;
  op->update = update;
  op->at = at;
  op->dim = dim;
  op->bounds = bounds;
  return emit(fusion, std::move(op));
}
TensorView* one_hot(TensorView* index, const Fusion::Extent& classes, DType dtype) {
  Fusion& fusion = fusion_of("one_hot", {index});
  auto op = std::make_unique<OneHot>();
  op->index = index;
  op->classes = resolve(fusion, "one_hot", {classes})[0];
  op->dtype = dtype;
  return emit(fusion, std::move(op));
}

TensorView* softmax(TensorView* x, int64_t dim) {
  return unary<Softmax>("softmax", x, [&](Softmax& op) { op.dim = dim; });
}
TensorView* log_softmax(TensorView* x, int64_t dim) {
  return unary<LogSoftmax>("log_softmax", x, [&](LogSoftmax& op) { op.dim = dim; });
}
namespace {

// A weight and a bias, which may be null.
std::vector<TensorView*> weighed(const char* op, TensorView* x, TensorView* w, TensorView* b) {
  if (!x) fusion_of(op, {x});
  if (b && !w) throw UserError("a bias without a weight", op, "give a weight of ones, or add the bias afterwards");
  return present({x, w, b});
}

NormAndStatistics emit_norm(Fusion& fusion, std::unique_ptr<Op> op) {
  const auto out = emit_all(fusion, std::move(op));
  return {out[0], out.size() > 2 ? out[1] : nullptr, out.size() > 1 ? out.back() : nullptr};
}

NormAndStatistics layer_norm(TensorView* x, TensorView* w, TensorView* b, int64_t dims, double eps, bool statistics) {
  Fusion& fusion = fusion_of("layer_norm", weighed("layer_norm", x, w, b));
  auto op = std::make_unique<LayerNorm>();
  op->x = x;
  op->w = w;
  op->b = b;
  op->dims = dims;
  op->eps = eps;
  op->statistics = statistics;
  return emit_norm(fusion, std::move(op));
}

NormAndStatistics rms_norm(TensorView* x, TensorView* w, int64_t dims, double eps, bool statistics) {
  Fusion& fusion = fusion_of("rms_norm", weighed("rms_norm", x, w, nullptr));
  auto op = std::make_unique<RmsNorm>();
  op->x = x;
  op->w = w;
  op->dims = dims;
  op->eps = eps;
  op->statistics = statistics;
  return emit_norm(fusion, std::move(op));
}

NormAndStatistics group_norm(TensorView* x, int64_t groups, TensorView* w, TensorView* b, double eps, bool statistics) {
  Fusion& fusion = fusion_of("group_norm", weighed("group_norm", x, w, b));
  auto op = std::make_unique<GroupNorm>();
  op->x = x;
  op->w = w;
  op->b = b;
  op->groups = groups;
  op->eps = eps;
  op->statistics = statistics;
  return emit_norm(fusion, std::move(op));
}

NormAndStatistics batch_norm(TensorView* x, BatchNormInputs in, double eps, bool statistics) {
  std::vector<TensorView*> operands = weighed("batch_norm", x, in.w, in.b);
  for (TensorView* t : present({in.mean, in.var})) operands.push_back(t);
  Fusion& fusion = fusion_of("batch_norm", operands);
  auto op = std::make_unique<BatchNorm>();
  op->x = x;
  op->w = in.w;
  op->b = in.b;
  op->mean = in.mean;
  op->var = in.var;
  op->eps = eps;
  op->statistics = statistics;
  return emit_norm(fusion, std::move(op));
}

std::vector<TensorView*> attention(TensorView* q, TensorView* k, TensorView* v, AttentionOptions options,
                                   bool statistics) {
  const char* name = "scaled_dot_product_attention";
  Fusion& fusion = options.mask ? fusion_of(name, {q, k, v, options.mask}) : fusion_of(name, {q, k, v});
  auto op = std::make_unique<Sdpa>();
  op->q = q;
  op->k = k;
  op->v = v;
  op->mask = options.mask;
  op->causal = options.causal;
  op->scale = options.scale;
  op->statistics = statistics;
  return emit_all(fusion, std::move(op));
}

}  // namespace

TensorView* layer_norm(TensorView* x, TensorView* w, TensorView* b, int64_t dims, double eps) {
  return layer_norm(x, w, b, dims, eps, false).y;
}
NormAndStatistics layer_norm_statistics(TensorView* x, TensorView* w, TensorView* b, int64_t dims, double eps) {
  return layer_norm(x, w, b, dims, eps, true);
}
TensorView* rms_norm(TensorView* x, TensorView* w, int64_t dims, double eps) {
  return rms_norm(x, w, dims, eps, false).y;
}
NormAndStatistics rms_norm_statistics(TensorView* x, TensorView* w, int64_t dims, double eps) {
  return rms_norm(x, w, dims, eps, true);
}
TensorView* group_norm(TensorView* x, int64_t groups, TensorView* w, TensorView* b, double eps) {
  return group_norm(x, groups, w, b, eps, false).y;
}
NormAndStatistics group_norm_statistics(TensorView* x, int64_t groups, TensorView* w, TensorView* b, double eps) {
  return group_norm(x, groups, w, b, eps, true);
}
TensorView* batch_norm(TensorView* x, BatchNormInputs in, double eps) { return batch_norm(x, in, eps, false).y; }
NormAndStatistics batch_norm_statistics(TensorView* x, BatchNormInputs in, double eps) {
  return batch_norm(x, in, eps, true);
}
TensorView* cross_entropy(TensorView* x, TensorView* target, CrossEntropyOptions options) {
  Fusion& fusion = fusion_of("cross_entropy", {x, target});
  auto op = std::make_unique<CrossEntropy>();
  op->x = x;
  op->target = target;
  op->ignore_index = options.ignore_index;
  op->smoothing = options.smoothing;
  op->reduction = options.reduction;
  return emit(fusion, std::move(op));
}
TensorView* mse(TensorView* x, TensorView* y, LossReduction reduction) {
  Fusion& fusion = fusion_of("mse", {x, y});
  auto op = std::make_unique<Mse>();
  op->x = x;
  op->y = y;
  op->reduction = reduction;
  return emit(fusion, std::move(op));
}
TensorView* swiglu(TensorView* gate, TensorView* up) {
  Fusion& fusion = fusion_of("swiglu", {gate, up});
  auto op = std::make_unique<SwiGlu>();
  op->gate = gate;
  op->up = up;
  return emit(fusion, std::move(op));
}
TensorView* rope(TensorView* x, TensorView* cos, TensorView* sin, bool interleaved) {
  Fusion& fusion = fusion_of("rope", {x, cos, sin});
  auto op = std::make_unique<Rope>();
  op->x = x;
  op->cos = cos;
  op->sin = sin;
  op->interleaved = interleaved;
  return emit(fusion, std::move(op));
}
TensorView* scaled_dot_product_attention(TensorView* q, TensorView* k, TensorView* v, AttentionOptions options) {
  return attention(q, k, v, options, false)[0];
}
AttentionAndStatistics scaled_dot_product_attention_statistics(TensorView* q, TensorView* k, TensorView* v,
                                                               AttentionOptions options) {
  const auto out = attention(q, k, v, options, true);
  return {out[0], out[1]};
}

}  // namespace plait
