// Shape and type rules of ops that put elements in order, and of slices at positions. Attributes are complete
// (ir/complete.cpp).
#include "base/error.h"
#include "ir/infer_parts.h"

namespace plait::rules {

namespace {

std::vector<Inferred> values_and_indices(const TensorView* in, int64_t dim, sym::Expr count) {
  std::vector<sym::Expr> shape = in->shape();
  shape[size_t(dim)] = count;
  return {typed(shape, in->dtype, in), {shape, DType::i64, ""}};
}

// Where a slice begins: one integer.
void check_position(const Op& op, const TensorView* at) {
  check_index(op, at);
  check_rank(op, at, 0, 0, "a position is one integer: a tensor of no dims");
}

}  // namespace

std::vector<Inferred> infer(const Sort& op) {
  check_dim(op, op.dim, op.in->rank());
  check_extents(op, "count", op.count);
  if (op.count.size() > 1)
    throw UserError(fmt::format("{} counts", op.count.size()), describe(op), "leave them out: all elements are sorted");
  const sym::Expr extent = op.in->extent(size_t(op.dim)), count = op.count.empty() ? extent : op.count[0];
  if (sym::prove(sym::gt(count, extent)) == sym::Truth::yes)
    throw UserError(
        fmt::format("count is {}, dim {} of {} is {}", sym::print(count), op.dim, text(op.in), sym::print(extent)),
        describe(op), "leave it out: all elements are sorted");
  return values_and_indices(op.in, op.dim, count);
}

Inferred infer(const ArgSort& op) {
  check_dim(op, op.dim, op.in->rank());
  return {op.in->shape(), DType::i64, ""};
}

std::vector<Inferred> infer(const TopK& op) {
  check_dim(op, op.dim, op.in->rank());
  check_extents(op, "k", {op.k});
  const sym::Expr extent = op.in->extent(size_t(op.dim));
  const bool fewer = sym::proven(sym::le(op.k, extent));
  return values_and_indices(op.in, op.dim, fewer ? op.k : sym::min(op.k, extent));
}

Inferred infer(const SliceAt& op) {
  check_dim(op, op.dim, op.in->rank());
  check_position(op, op.at);
  check_extents(op, "size", {op.size});
  std::vector<sym::Expr> shape = op.in->shape();
  shape[size_t(op.dim)] = op.size;
  return typed(std::move(shape), op.in->dtype, op.in);
}

Inferred infer(const SliceUpdate& op) {
  check_dim(op, op.dim, op.in->rank());
  if (op.at) check_position(op, op.at);
  check_same_dtype(op, op.in, op.update);
  check_rank(op, op.update, op.in->rank(), op.in->rank(), "operand and update of slice_update have as many dims");
  for (size_t d = 0; d < op.in->rank(); ++d)
    if (int64_t(d) != op.dim) check_same_extent(op, op.update, d, op.in, d, "only the extents along dim may differ");
  const sym::Expr extent = op.in->extent(size_t(op.dim)), written = op.update->extent(size_t(op.dim));
  const bool outside =
      sym::bounds(op.start).hi < 0 || sym::prove(sym::gt(op.start + written, extent)) == sym::Truth::yes;
  if (!op.at && outside)
    throw UserError(fmt::format("places {} to {} of dim {} of {}", sym::print(op.start), sym::print(op.start + written),
                                op.dim, text(op.in)),
                    describe(op), fmt::format("the update lies within 0 to {}", sym::print(extent)));
  return same_as(op.in);
}

}  // namespace plait::rules
