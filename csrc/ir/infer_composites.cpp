// Shape and type rules of composites. Attributes are complete (ir/complete.cpp).
#include <cmath>

#include "base/error.h"
#include "ir/einsum.h"
#include "ir/infer_parts.h"
#include "sym/quotient.h"

namespace plait::rules {

namespace {

void check_eps(const Op& op, double eps) {
  if (!(eps >= 0) || std::isinf(eps))
    throw UserError(fmt::format("eps is {}", eps), describe(op), "eps is a number from 0");
}

// An optional parameter of one dim, as long as dim `dim` of x.
void check_channel(const Op& op, const TensorView* x, size_t dim, const TensorView* p) {
  if (!p) return;
  check_same_dtype(op, x, p);
  check_rank(op, p, 1, 1, "weights of the norm are [channels]");
  check_same_extent(op, x, dim, p, 0, "one weight for every channel");
}

// An optional parameter of the shape of x's last dims.
void check_last(const Op& op, const TensorView* x, size_t dims, const TensorView* p) {
  if (!p) return;
  check_same_dtype(op, x, p);
  check_rank(op, p, dims, dims, "weights of the norm have the shape of the normalised dims");
  for (size_t d = 0; d < dims; ++d)
    check_same_extent(op, x, x->rank() - dims + d, p, d, "weights of the norm have the shape of the normalised dims");
}

void check_last_dims(const Op& op, const TensorView* x, int64_t dims) {
  if (dims < 1 || dims > int64_t(x->rank()))
    throw UserError(fmt::format("dims is {} for {}", dims, text(x)), describe(op), "normalise 1 to all dims");
}

Inferred square(const Op& op, const TensorView* in) {
  check_rank(op, in, 2, SIZE_MAX, "the operand is a matrix or a stack of them");
  return same_as(in);
}

Inferred reduced_float(const Op& op, const TensorView* in, const std::vector<int64_t>& dims, bool keepdim,
                       Fusion& fusion) {
  check_float(op, in);
  check_dims(op, dims, in->rank(), true);
  return typed(reduced(in, dims, keepdim, fusion), in->dtype, in);
}

Inferred reduced_bool(const Op& op, const TensorView* in, const std::vector<int64_t>& dims, bool keepdim,
                      Fusion& fusion) {
  check_dims(op, dims, in->rank(), true);
  return typed(reduced(in, dims, keepdim, fusion), DType::boolean, in);
}

Inferred along(const Op& op, const TensorView* in, int64_t dim) {
  check_float(op, in);
  check_dim(op, dim, in->rank());
  return same_as(in);
}

}  // namespace

Inferred infer(const Einsum& op) {
  if (op.in.empty()) throw UserError("einsum of nothing", describe(op), "give at least one tensor");
  for (const TensorView* t : op.in) check_same_dtype(op, op.in[0], t);
  if (op.in[0]->dtype == DType::boolean)
    throw UserError(fmt::format("{} has no products to add", text(op.in[0])), describe(op), "cast it first");
  const EinsumLabels labels = read_equation(op);
  std::vector<sym::Expr> shape;
  for (int label : labels.out) shape.push_back(labels.extents.at(label));
  return typed(std::move(shape), op.in[0]->dtype, op.in[0]);
}

Inferred infer(const Dropout& op) {
  check_float(op, op.x);
  check_seed(op, op.seed);
  check_offset(op, op.offset);
  if (!(op.p >= 0 && op.p < 1)) throw UserError(fmt::format("p is {}", op.p), describe(op), "dropout takes 0 <= p < 1");
  return same_as(op.x);
}

Inferred infer(const Set& op) { return same_as(op.in); }

Inferred infer(const Stack& op, Fusion& fusion) {
  if (op.in.empty()) throw UserError("stack of nothing", describe(op), "give at least one tensor");
  const TensorView* first = op.in.front();
  check_dim(op, op.dim, first->rank() + 1);
  for (const TensorView* t : op.in) {
    check_same_dtype(op, first, t);
    check_rank(op, t, first->rank(), first->rank(), "the tensors of stack have one shape");
    for (size_t d = 0; d < t->rank(); ++d) check_same_extent(op, first, d, t, d, "the tensors of stack have one shape");
  }
  std::vector<sym::Expr> shape = first->shape();
  shape.insert(shape.begin() + op.dim, fusion.pool().constant(int64_t(op.in.size())));
  return typed(std::move(shape), first->dtype, first);
}

Inferred infer(const Expand& op) {
  check_extents(op, "extent", op.shape);
  if (op.shape.size() < op.in->rank())
    throw UserError(fmt::format("{} has more dims than the {} of the shape", text(op.in), op.shape.size()),
                    describe(op), fmt::format("give at least {} extents; -1 keeps one", op.in->rank()));
  const size_t shift = op.shape.size() - op.in->rank();
  for (size_t d = 0; d < op.in->rank(); ++d)
    if (!is_unit(op.in->extent(d)) && op.in->extent(d) != op.shape[d + shift])
      throw UserError(fmt::format("dim {} of {} meets extent {}", d, text(op.in), sym::print(op.shape[d + shift])),
                      describe(op), "make them equal, or 1 to broadcast");
  return typed(op.shape, op.in->dtype, op.in);
}

Inferred infer(const Eye& op) {
  check_extents(op, "rows", {op.rows});
  check_extents(op, "columns", {op.columns});
  return {{op.rows, op.columns}, op.dtype, ""};
}

Inferred infer(const Tril& op) { return square(op, op.in); }
Inferred infer(const Triu& op) { return square(op, op.in); }

Inferred infer(const Embedding& op) {
  check_index(op, op.index);
  check_rank(op, op.table, 2, 2, "a table is [entries, width]");
  std::vector<sym::Expr> shape = op.index->shape();
  shape.push_back(op.table->extent(1));
  return typed(std::move(shape), op.table->dtype, op.table);
}

Inferred infer(const TakeAlong& op, Fusion& fusion) {
  check_index(op, op.index);
  check_rank(op, op.index, op.in->rank(), op.in->rank(), "index and operand of take_along have as many dims");
  check_dim(op, op.dim, op.in->rank());
  std::vector<sym::Expr> shape;
  for (size_t d = 0; d < op.in->rank(); ++d) {
    const sym::Expr a = op.in->extent(d), b = op.index->extent(d);
    if (int64_t(d) != op.dim && !is_unit(a) && !is_unit(b))
      check_same_extent(op, op.in, d, op.index, d, "make them equal, or 1 to broadcast");
    shape.push_back(int64_t(d) == op.dim || !is_unit(b) ? b : a);
  }
  (void)fusion;
  return typed(std::move(shape), op.in->dtype, op.in);
}

Inferred infer(const OneHot& op) {
  check_index(op, op.index);
  check_extents(op, "classes", {op.classes});
  std::vector<sym::Expr> shape = op.index->shape();
  shape.push_back(op.classes);
  return {std::move(shape), op.dtype, ""};
}

Inferred infer(const Mean& op, Fusion& fusion) { return reduced_float(op, op.in, op.dims, op.keepdim, fusion); }
Inferred infer(const LogSumExp& op, Fusion& fusion) { return reduced_float(op, op.in, op.dims, op.keepdim, fusion); }
Inferred infer(const Any& op, Fusion& fusion) { return reduced_bool(op, op.in, op.dims, op.keepdim, fusion); }
Inferred infer(const All& op, Fusion& fusion) { return reduced_bool(op, op.in, op.dims, op.keepdim, fusion); }

Inferred infer(const Std& op, Fusion& fusion) {
  if (op.correction < 0)
    throw UserError(fmt::format("correction is {}", op.correction), describe(op), "give 0 or more, usually 1");
  return reduced_float(op, op.in, op.dims, op.keepdim, fusion);
}

Inferred infer(const Norm& op, Fusion& fusion) {
  if (std::isnan(op.p)) throw UserError("p is nan", describe(op), "give a number, inf or -inf");
  return reduced_float(op, op.in, op.dims, op.keepdim, fusion);
}

Inferred infer(const Softmax& op) { return along(op, op.in, op.dim); }
Inferred infer(const LogSoftmax& op) { return along(op, op.in, op.dim); }

namespace {

std::vector<int64_t> last_dims(const TensorView* x, int64_t count) {
  std::vector<int64_t> dims;
  for (int64_t d = int64_t(x->rank()) - count; d < int64_t(x->rank()); ++d) dims.push_back(d);
  return dims;
}

// The result of a norm, and the statistics that it is asked for.
std::vector<Inferred> with_statistics(const TensorView* x, bool asked, size_t count,
                                      const std::vector<sym::Expr>& shape) {
  std::vector<Inferred> out = {same_as(x)};
  for (size_t i = 0; asked && i < count; ++i) out.push_back({shape, compute_type(x->dtype), ""});
  return out;
}

}  // namespace

std::vector<Inferred> infer(const Split& op, Fusion& fusion) {
  check_dim(op, op.dim, op.in->rank());
  if (op.sizes.empty()) throw UserError("split into no parts", describe(op), "give the size of each part");
  check_extents(op, "size", op.sizes);
  sym::Expr sum = fusion.pool().constant(0);
  for (sym::Expr size : op.sizes) sum = sum + size;
  const sym::Expr extent = op.in->extent(size_t(op.dim));
  if (sum != extent)
    throw UserError(fmt::format("the parts have {} elements of the {} of dim {} of {}", sym::print(sum),
                                sym::print(extent), op.dim, text(op.in)),
                    describe(op), "sizes add up to the extent of the dim");
  std::vector<Inferred> out;
  for (sym::Expr size : op.sizes) {
    std::vector<sym::Expr> shape = op.in->shape();
    shape[size_t(op.dim)] = size;
    out.push_back(typed(std::move(shape), op.in->dtype, op.in));
  }
  return out;
}

std::vector<Inferred> infer(const LayerNorm& op, Fusion& fusion) {
  check_float(op, op.x);
  check_last_dims(op, op.x, op.dims);
  check_last(op, op.x, size_t(op.dims), op.w);
  check_last(op, op.x, size_t(op.dims), op.b);
  check_eps(op, op.eps);
  const auto dims = last_dims(op.x, op.dims);
  return with_statistics(op.x, op.statistics, 2, reduced(op.x, dims, true, fusion));
}

std::vector<Inferred> infer(const RmsNorm& op, Fusion& fusion) {
  check_float(op, op.x);
  check_last_dims(op, op.x, op.dims);
  check_last(op, op.x, size_t(op.dims), op.w);
  check_eps(op, op.eps);
  const auto dims = last_dims(op.x, op.dims);
  return with_statistics(op.x, op.statistics, 1, reduced(op.x, dims, true, fusion));
}

std::vector<Inferred> infer(const GroupNorm& op, Fusion& fusion) {
  check_float(op, op.x);
  check_rank(op, op.x, 2, SIZE_MAX, "the operand is x[n, channels, ...]");
  if (op.groups < 1) throw UserError(fmt::format("groups is {}", op.groups), describe(op), "give 1 or more groups");
  if (sym::divisor(op.x->extent(1)) % op.groups != 0)
    throw UserError(fmt::format("{} channels of {} do not divide into {} groups", sym::print(op.x->extent(1)),
                                text(op.x), op.groups),
                    describe(op), "channels are a multiple of the groups, e.g. f32[n, 8*c]");
  check_channel(op, op.x, 1, op.w);
  check_channel(op, op.x, 1, op.b);
  check_eps(op, op.eps);
  return with_statistics(op.x, op.statistics, 2, {op.x->extent(0), fusion.pool().constant(op.groups)});
}

std::vector<Inferred> infer(const BatchNorm& op, Fusion& fusion) {
  check_float(op, op.x);
  check_rank(op, op.x, 2, SIZE_MAX, "the operand is x[n, channels, ...]");
  for (const TensorView* p : {op.w, op.b, op.mean, op.var}) check_channel(op, op.x, 1, p);
  if (!op.mean != !op.var)
    throw UserError("one of mean and var is given", describe(op), "give both (inference) or neither (training)");
  check_eps(op, op.eps);
  (void)fusion;
  return with_statistics(op.x, op.statistics, 2, {op.x->extent(1)});
}

Inferred infer(const CrossEntropy& op) {
  check_float(op, op.x);
  check_index(op, op.target);
  check_rank(op, op.x, 1, SIZE_MAX, "logits are x[..., classes]");
  check_rank(op, op.target, op.x->rank() - 1, op.x->rank() - 1, "targets have the shape of the logits without classes");
  for (size_t d = 0; d < op.target->rank(); ++d)
    check_same_extent(op, op.x, d, op.target, d, "targets have the shape of the logits without classes");
  if (!(op.smoothing >= 0 && op.smoothing <= 1))
    throw UserError(fmt::format("smoothing is {}", op.smoothing), describe(op), "smoothing is 0 to 1");
  return typed(op.reduction == LossReduction::none ? op.target->shape() : std::vector<sym::Expr>{}, op.x->dtype, op.x);
}

Inferred infer(const Mse& op) {
  check_float(op, op.x);
  check_same_dtype(op, op.x, op.y);
  check_rank(op, op.y, op.x->rank(), op.x->rank(), "both operands have one shape");
  for (size_t d = 0; d < op.x->rank(); ++d) check_same_extent(op, op.x, d, op.y, d, "both operands have one shape");
  return typed(op.reduction == LossReduction::none ? op.x->shape() : std::vector<sym::Expr>{}, op.x->dtype, op.x);
}

Inferred infer(const SwiGlu& op) {
  check_float(op, op.gate);
  check_same_dtype(op, op.gate, op.up);
  check_rank(op, op.up, op.gate->rank(), op.gate->rank(), "gate and up have one shape");
  for (size_t d = 0; d < op.gate->rank(); ++d)
    check_same_extent(op, op.gate, d, op.up, d, "gate and up have one shape");
  return same_as(op.gate);
}

Inferred infer(const Rope& op, Fusion& fusion) {
  check_float(op, op.x);
  check_rank(op, op.x, 1, SIZE_MAX, "the operand is x[..., s, d]");
  if (sym::divisor(op.x->extent(op.x->rank() - 1)) % 2 != 0)
    throw UserError(fmt::format("the last dim of {} is not known to be even", text(op.x)), describe(op),
                    "rotary pairs need an even extent, e.g. f32[s, 2*d]");
  for (const TensorView* t : {op.cos, op.sin}) {
    check_same_dtype(op, op.x, t);
    check_rank(op, t, 0, op.x->rank(), "tables broadcast to the operand");
  }
  if (broadcast(op, {op.x, op.cos, op.sin}, 0, fusion) != op.x->shape())
    throw UserError(fmt::format("the tables are longer than {}", text(op.x)), describe(op),
                    "tables broadcast to the operand");
  return same_as(op.x);
}

std::vector<Inferred> infer(const Sdpa& op, Fusion& fusion) {
  const char* shapes = "operands are q[..., h, s, d], k[..., g, t, d], v[..., g, t, e]";
  for (const TensorView* t : {op.q, op.k, op.v}) check_rank(op, t, 3, SIZE_MAX, shapes);
  check_float(op, op.q);
  const size_t r = op.q->rank();
  for (const TensorView* t : {op.k, op.v}) {
    check_same_dtype(op, op.q, t);
    check_rank(op, t, r, r, shapes);
    for (size_t d = 0; d + 3 < r; ++d) check_same_extent(op, op.q, d, t, d, "leading dims are equal");
  }
  check_same_extent(op, op.q, r - 1, op.k, r - 1, "q and k have one head width");
  check_same_extent(op, op.k, r - 2, op.v, r - 2, "k and v have one length");
  check_same_extent(op, op.k, r - 3, op.v, r - 3, "k and v have equally many heads");
  const sym::Expr h = op.q->extent(r - 3), g = op.k->extent(r - 3);
  if (!sym::exact_quotient(h, g))
    throw UserError(
        fmt::format("{} query heads of {} are {} a multiple of {} key heads of {}", sym::print(h), text(op.q),
                    h.constant() && g.constant() ? "not" : "not known to be", sym::print(g), text(op.k)),
        describe(op),
        g.constant() ? "query heads are a multiple of key heads, e.g. q[b, 4*g, s, d]"
                     : fmt::format("write query heads as a product with key heads, e.g. q[b, 4*{0}, s, d] "
                                   "or q[b, n*{0}, s, d]",
                                   g.is_symbol() ? sym::print(g) : "(" + sym::print(g) + ")"));
  if (op.scale && !std::isfinite(*op.scale))
    throw UserError(fmt::format("scale is {}", *op.scale), describe(op), "give a finite number");
  std::vector<sym::Expr> shape = op.q->shape();
  if (op.mask) {
    if (op.mask->dtype != DType::boolean) check_same_dtype(op, op.q, op.mask);
    check_rank(op, op.mask, 0, r, "the mask broadcasts to [..., h, s, t]");
    shape[r - 1] = op.k->extent(r - 2);
    for (size_t d = 0; d < op.mask->rank(); ++d) {
      const sym::Expr e = op.mask->extent(d), want = shape[d + r - op.mask->rank()];
      if (!is_unit(e) && e != want)
        throw UserError(fmt::format("dim {} of the mask {} meets extent {}", d, text(op.mask), sym::print(want)),
                        describe(op), "the mask broadcasts to [..., h, s, t]");
    }
  }
  (void)fusion;
  shape[r - 1] = op.v->extent(r - 1);
  std::vector<Inferred> out = {typed(shape, op.q->dtype, op.q)};
  shape.pop_back();
  if (op.statistics) out.push_back({std::move(shape), compute_type(op.q->dtype), ""});
  return out;
}

}  // namespace plait::rules
