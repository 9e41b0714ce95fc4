// Ops that read elsewhere than where they write: coordinates of the operand as expressions of the result's. Where there
// may be nothing to read, a variable holds what the result is then, and the load stands behind a condition.
#include <cmath>
#include <numeric>

#include "base/error.h"
#include "lower/statements.h"

namespace plait::lowering {

kir::Value Statements::load_offset(const TensorView& tensor, sym::Expr offset, int lanes) {
  const auto [index, access] = place(placed(offset, {}), lanes);
  auto stmt = std::make_unique<kir::Load>();
  stmt->buffer = buffer_of(tensor);
  stmt->out = fresh(compute_type(state_.kernel.buffers[stmt->buffer].dtype), lanes);
  stmt->index = index;
  stmt->access = access;
  if (access != kir::Access::splat && lanes > 1) stmt->active = leaf_->active;
  return put(std::move(stmt), innermost());
}

kir::Value Statements::load_at(const TensorView& tensor, const std::vector<sym::Expr>& at, int lanes) {
  return load_offset(tensor, memory_offset(state_, tensor, at), lanes);
}

void Statements::where_true(const Op& op, sym::Expr condition, const std::function<void()>& body) {
  condition = placed(condition, {});
  if (depends_on(condition, state_.lane))
    throw UserError(fmt::format("what {} reads differs between the lanes of a vector", describe(op)), state_.where(),
                    "vectorize another dim, or none");
  guard(condition, body);
}

kir::Value Statements::moved(const Reshape& op, const Replacements& copy, int lanes) {
  const std::vector<sym::Expr> at = own_coordinates(*op.out(), copy);
  sym::Expr place = state_.pool->constant(0), stride = state_.pool->constant(1);
  for (size_t d = at.size(); d-- > 0;) {
    place = place + at[d] * stride;
    stride = stride * state_.extent(op.out()->extent(d));
  }
  std::vector<int> row_major(op.in->rank());
  std::iota(row_major.begin(), row_major.end(), 0);
  if (op.in->domain.allocation == row_major) return load_offset(*op.in, place, lanes);
  std::vector<sym::Expr> from(op.in->rank());
  for (size_t d = from.size(); d-- > 0;) {
    const sym::Expr extent = state_.extent(op.in->extent(d));
    from[d] = d > 0 ? sym::mod(place, extent) : place;
    place = sym::floordiv(place, extent);
  }
  return load_at(*op.in, from, lanes);
}

kir::Value Statements::moved(const Slice& op, const Replacements& copy, int lanes) {
  std::vector<sym::Expr> at = own_coordinates(*op.out(), copy);
  sym::Expr& along = at[static_cast<size_t>(op.dim)];
  along = state_.extent(op.start) + along * op.step;
  return load_at(*op.in, at, lanes);
}

kir::Value Statements::moved(const Flip& op, const Replacements& copy, int lanes) {
  std::vector<sym::Expr> at = own_coordinates(*op.out(), copy);
  for (int64_t d : op.dims) {
    sym::Expr& along = at[static_cast<size_t>(d)];
    along = state_.extent(op.in->extent(static_cast<size_t>(d))) - 1 - along;
  }
  return load_at(*op.in, at, lanes);
}

kir::Value Statements::moved(const Roll& op, const Replacements& copy, int lanes) {
  std::vector<sym::Expr> at = own_coordinates(*op.out(), copy);
  for (size_t k = 0; k < op.dims.size(); ++k) {
    const size_t d = static_cast<size_t>(op.dims[k]);
    const sym::Expr extent = op.in->extent(d);
    // The host divides, once; an empty dim has no elements to move.
    const sym::Expr shift = state_.extent(sym::mod(state_.fusion.pool().constant(op.shifts[k]), sym::max(extent, 1)));
    at[d] = sym::select(sym::lt(at[d], shift), at[d] - shift + state_.extent(extent), at[d] - shift);
  }
  return load_at(*op.in, at, lanes);
}

kir::Value Statements::moved(const Repeat& op, const Replacements& copy, int lanes) {
  const std::vector<sym::Expr> own = own_coordinates(*op.out(), copy);
  const size_t fresh_dims = own.size() - op.in->rank();
  std::vector<sym::Expr> at(own.begin() + static_cast<std::ptrdiff_t>(fresh_dims), own.end());
  for (size_t d = 0; d < at.size(); ++d)
    if (op.repeats[d + fresh_dims] != 1) at[d] = sym::mod(at[d], state_.extent(op.in->extent(d)));
  return load_at(*op.in, at, lanes);
}

kir::Value Statements::moved(const Pad& op, const Replacements& copy, int lanes) {
  std::vector<sym::Expr> at = own_coordinates(*op.out(), copy);
  sym::Expr inside = state_.pool->constant(1);
  for (size_t d = 0; d < at.size(); ++d) {
    if (op.low[d].constant() == 0 && op.high[d].constant() == 0) continue;
    at[d] = at[d] - state_.extent(op.low[d]);
    inside =
        sym::logical_and(inside, sym::logical_and(sym::ge(at[d], 0), sym::lt(at[d], state_.extent(op.in->extent(d)))));
  }
  const kir::Value out = variable(widened(Constant::from_double(op.in->dtype, op.value)), lanes);
  where_true(op, inside, [&] { assign(out, load_at(*op.in, at, lanes)); });
  return out;
}

kir::Value Statements::moved(const Cat& op, const Replacements& copy, int lanes) {
  const std::vector<sym::Expr> own = own_coordinates(*op.out(), copy);
  const size_t dim = static_cast<size_t>(op.dim);
  const kir::Value out = variable(Constant::from_int64(compute_type(op.out()->dtype), 0), lanes);
  sym::Expr start = state_.pool->constant(0);
  for (const TensorView* in : op.in) {
    const sym::Expr extent = state_.extent(in->extent(dim));
    std::vector<sym::Expr> at = own;
    at[dim] = own[dim] - start;
    where_true(op, sym::logical_and(sym::ge(own[dim], start), sym::lt(at[dim], extent)),
               [&] { assign(out, load_at(*in, at, lanes)); });
    start = start + extent;
  }
  return out;
}

}  // namespace plait::lowering
