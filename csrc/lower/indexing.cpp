// Ops that read where an integer tensor says. An index becomes a symbol of the block; what it addresses is read behind
// a test of its range.
#include <cmath>

#include "base/error.h"
#include "lower/statements.h"

namespace plait::lowering {

sym::Expr Statements::bind(kir::Value in) {
  auto stmt = std::make_unique<kir::Bind>();
  const sym::Expr var = state_.pool->symbol(fmt::format("j{}", symbols_++));
  stmt->var = var;
  stmt->in = convert(in, DType::i64);
  levels_.back().binds.push_back(var.symbol_name());
  levels_.back().block->push_back(std::move(stmt));
  return var;
}

// One index for all lanes of a vector.
sym::Expr Statements::index_from(const Op& op, const TensorView& index, const std::vector<sym::Expr>& at) {
  for (sym::Expr e : at)
    if (depends_on(placed(e, {}), state_.lane))
      throw UserError(fmt::format("{} has an index for every lane of a vector", describe(op)), state_.where(),
                      "vectorize another dim, or none");
  return bind(load_at(index, at, 1));
}

kir::Value Statements::looked_up(const Op& op, const TensorView& index, const std::vector<sym::Expr>& index_at,
                                 int64_t dim, std::vector<sym::Expr> at, int lanes) {
  const TensorView& in = *inputs(op).front();
  const sym::Expr j = index_from(op, index, index_at);
  at[static_cast<size_t>(dim)] = j;
  const DType type = compute_type(in.dtype);
  const kir::Value out =
      variable(is_float(type) ? Constant::from_double(type, NAN) : Constant::from_int64(type, 0), lanes);
  const sym::Expr extent = state_.extent(in.extent(static_cast<size_t>(dim)));
  where_true(op, sym::logical_and(sym::ge(j, 0), sym::lt(j, extent)), [&] { assign(out, load_at(in, at, lanes)); });
  return out;
}

kir::Value Statements::looked_up(const Gather& op, const Replacements& copy, int lanes) {
  const std::vector<sym::Expr> own = own_coordinates(*op.out(), copy);
  return looked_up(op, *op.index, own, op.dim, own, lanes);
}

kir::Value Statements::looked_up(const IndexSelect& op, const Replacements& copy, int lanes) {
  const std::vector<sym::Expr> own = own_coordinates(*op.out(), copy);
  const auto first = own.begin() + op.dim, behind = first + static_cast<std::ptrdiff_t>(op.index->rank());
  std::vector<sym::Expr> at(own.begin(), first);
  at.push_back(state_.pool->constant(0));
  at.insert(at.end(), behind, own.end());
  return looked_up(op, *op.index, {first, behind}, op.dim, at, lanes);
}

// Each element of the result looks for the indices that name it, in order.
kir::Value Statements::scattered(const ScatterAdd& op, const Replacements& copy, int lanes) {
  const std::vector<sym::Expr> own = own_coordinates(*op.out(), copy);
  const size_t dim = static_cast<size_t>(op.dim);
  const DType type = accumulation_type(op.in->dtype);
  const kir::Value sum = variable(Constant::from_int64(type, 0), lanes);
  assign(sum, convert(load_at(*op.in, own, lanes), type));
  sym::Expr reached = state_.pool->constant(1);
  for (size_t d = 0; d < own.size(); ++d)
    if (d != dim && op.index->extent(d) != op.in->extent(d))
      reached = sym::logical_and(reached, sym::lt(own[d], state_.extent(op.index->extent(d))));
  where_true(op, reached, [&] {
    Loop along;
    along.extent = state_.extent(op.index->extent(dim));
    sym::SymbolInfo facts;
    facts.lo = 0;
    facts.below = along.extent;
    along.var = state_.pool->symbol(fmt::format("s{}", symbols_++), facts);
    loop(along, along.extent, [&] {
      std::vector<sym::Expr> at = own;
      at[dim] = along.var;
      const sym::Expr j = index_from(op, *op.index, at);
      where_true(op, sym::eq(j, own[dim]),
                 [&] { assign(sum, apply(Pointwise::add, {sum, convert(load_at(*op.src, at, lanes), type)})); });
    });
  });
  return convert(sum, compute_type(op.out()->dtype));
}

}  // namespace plait::lowering
