// Attributes as users may write them become what the node holds.
#include <algorithm>
#include <numeric>

#include "base/error.h"
#include "ir/einsum.h"
#include "ir/infer_parts.h"

namespace plait {

using namespace rules;

namespace {

void count_from_end(const Op& op, int64_t& dim, size_t rank) {
  const int64_t given = dim;
  if (dim < 0) dim += int64_t(rank);
  if (dim >= 0) return;
  dim = given;
  check_dim(op, dim, rank);
}

void count_from_end(const Op& op, std::vector<int64_t>& dims, size_t rank) {
  for (int64_t& d : dims) count_from_end(op, d, rank);
}

// Dims of a reduction: all where none are given, in increasing order.
void reduce_dims(const Op& op, std::vector<int64_t>& dims, size_t rank) {
  if (dims.empty()) {
    dims.resize(rank);
    std::iota(dims.begin(), dims.end(), 0);
    return;
  }
  count_from_end(op, dims, rank);
  std::sort(dims.begin(), dims.end());
}

void complete_squeeze(Squeeze& op) {
  if (op.dims.empty()) {
    for (size_t d = 0; d < op.in->rank(); ++d)
      if (is_unit(op.in->extent(d))) op.dims.push_back(int64_t(d));
    return;
  }
  reduce_dims(op, op.dims, op.in->rank());
}

// The product of `have` divided by the product of `known`, where that is sure: extents that stand on both sides cancel,
// and a constant divides what is left.
std::optional<sym::Expr> exact_quotient(std::vector<sym::Expr> have, const std::vector<sym::Expr>& known,
                                        Fusion& fusion) {
  sym::Expr left = fusion.pool().constant(1);
  for (sym::Expr e : known) {
    const auto same = std::find(have.begin(), have.end(), e);
    if (same != have.end())
      have.erase(same);
    else
      left = left * e;
  }
  const sym::Expr rest = element_count(have, fusion);
  if (rest == left) return fusion.pool().constant(1);
  const auto by = left.constant();
  if (!by || *by < 1) return std::nullopt;
  const sym::Expr quotient = sym::floordiv(rest, *by);
  if (quotient * *by == rest) return quotient;
  return std::nullopt;
}

void complete_reshape(Reshape& op, Fusion& fusion) {
  const auto open = std::find_if(op.shape.begin(), op.shape.end(), [](sym::Expr e) { return e.constant() == -1; });
  if (open == op.shape.end()) return;
  std::vector<sym::Expr> known;
  for (auto it = op.shape.begin(); it != op.shape.end(); ++it) {
    if (it == open) continue;
    if (it->constant() == -1) throw UserError("two extents of the new shape are -1", describe(op), "leave one open");
    if (it->constant() == 0)
      throw UserError("-1 beside an extent of 0 could be anything", describe(op), "write the extent");
    known.push_back(*it);
  }
  const auto quotient = exact_quotient(op.in->shape(), known, fusion);
  if (!quotient)
    throw UserError(fmt::format("the elements of {} are not known to divide by {}", text(op.in),
                                sym::print(element_count(known, fusion))),
                    describe(op), "write the operand's extents so that they divide, e.g. f32[4*n]");
  *open = *quotient;
}

// `value` counted from the end where it is a negative number.
sym::Expr from_start(sym::Expr value, sym::Expr extent) {
  return value.constant().value_or(0) < 0 ? sym::max(extent + value, 0) : value;
}

void complete_slice(Slice& op, Fusion& fusion) {
  count_from_end(op, op.dim, op.in->rank());
  check_dim(op, op.dim, op.in->rank());
  const sym::Expr extent = op.in->extent(size_t(op.dim));
  op.start = from_start(op.start ? op.start : fusion.pool().constant(0), extent);
  op.stop = from_start(op.stop ? op.stop : extent, extent);
  if (!sym::proven(sym::le(op.stop, extent))) op.stop = sym::min(op.stop, extent);
  // A start past an extent that is known only later stays as it is: extents that come of it stay short.
  if (extent.is_constant()) op.start = sym::min(op.start, extent);
}

void complete_pad(Pad& op, Fusion& fusion) {
  for (auto* widths : {&op.low, &op.high})
    if (widths->empty()) widths->resize(op.in->rank(), fusion.pool().constant(0));
}

// Shapes in which -1 stands for the operand's extent, trailing dims aligned.
void complete_expand(Expand& op) {
  const size_t rank = op.in->rank();
  for (size_t d = 0; d < op.shape.size(); ++d)
    if (op.shape[d].constant() == -1 && op.shape.size() - d <= rank)
      op.shape[d] = op.in->extent(d + rank - op.shape.size());
}

}  // namespace

void complete(Op& op, Fusion& fusion) {
  visit(op, overloaded{
                [&](Reduce& o) { reduce_dims(o, o.dims, o.in->rank()); },
                [&](Var& o) { reduce_dims(o, o.dims, o.in->rank()); },
                [&](VarMean& o) { reduce_dims(o, o.dims, o.in->rank()); },
                [&](MaxWithArgmax& o) { reduce_dims(o, o.dims, o.in->rank()); },
                [&](MinWithArgmin& o) { reduce_dims(o, o.dims, o.in->rank()); },
                [&](Split& o) { count_from_end(o, o.dim, o.in->rank()); },
                [](Einsum& o) { o.equation = complete_equation(o.equation); },
                [&](Mean& o) { reduce_dims(o, o.dims, o.in->rank()); },
                [&](Std& o) { reduce_dims(o, o.dims, o.in->rank()); },
                [&](Any& o) { reduce_dims(o, o.dims, o.in->rank()); },
                [&](All& o) { reduce_dims(o, o.dims, o.in->rank()); },
                [&](LogSumExp& o) { reduce_dims(o, o.dims, o.in->rank()); },
                [&](Norm& o) { reduce_dims(o, o.dims, o.in->rank()); },
                [&]<class T>(T& o)
                  requires(is_scan(T::kKind) || T::kKind == OpKind::Sort)
                { count_from_end(o, o.dim, o.in->rank()); },
                [&](ArgSort& o) { count_from_end(o, o.dim, o.in->rank()); },
                [&](TopK& o) { count_from_end(o, o.dim, o.in->rank()); },
                [&](SliceAt& o) { count_from_end(o, o.dim, o.in->rank()); },
                [&](SliceUpdate& o) {
                  count_from_end(o, o.dim, o.in->rank());
                  if (!o.start) o.start = fusion.pool().constant(0);
                },
                [&](Softmax& o) { count_from_end(o, o.dim, o.in->rank()); },
                [&](LogSoftmax& o) { count_from_end(o, o.dim, o.in->rank()); },
                [&](Permute& o) { count_from_end(o, o.dims, o.in->rank()); },
                [&](Broadcast& o) { count_from_end(o, o.dims, o.shape.size()); },
                [&](Squeeze& o) { complete_squeeze(o); },
                [&](Unsqueeze& o) {
                  count_from_end(o, o.dims, o.in->rank() + o.dims.size());
                  std::sort(o.dims.begin(), o.dims.end());
                },
                [&](Reshape& o) { complete_reshape(o, fusion); },
                [&](Slice& o) { complete_slice(o, fusion); },
                [&](Pad& o) { complete_pad(o, fusion); },
                [&](Cat& o) {
                  if (!o.in.empty()) count_from_end(o, o.dim, o.in.front()->rank());
                },
                [&](Stack& o) {
                  if (!o.in.empty()) count_from_end(o, o.dim, o.in.front()->rank() + 1);
                },
                [&](Flip& o) { count_from_end(o, o.dims, o.in->rank()); },
                [&](Roll& o) { count_from_end(o, o.dims, o.in->rank()); },
                [&](Gather& o) { count_from_end(o, o.dim, o.in->rank()); },
                [&](TakeAlong& o) { count_from_end(o, o.dim, o.in->rank()); },
                [&](IndexSelect& o) { count_from_end(o, o.dim, o.in->rank()); },
                [&](Scatter& o) { count_from_end(o, o.dim, o.in->rank()); },
                [&](Iota& o) {
                  count_from_end(o, o.dim, o.shape.size());
                  if (!o.start) o.start = fusion.pool().constant(0);
                },
                [&](Eye& o) {
                  if (!o.columns) o.columns = o.rows;
                },
                [&](Expand& o) { complete_expand(o); },
                [](Op&) {},
                });
}

}  // namespace plait
