// Tensors from nothing: counters, sizes, random numbers.
#include <numbers>

#include "base/error.h"
#include "lower/tree/emitter.h"

namespace plait::lowering {

// An integer as a number of another type; to a narrow one rounded once, from f64.
kir::Value TreeEmitter::number_as(Value integer, DType to) {
  if (is_narrow(to)) return convert(round(convert(integer, DType::f64), to), compute_type(to));
  return convert(integer, compute_type(to));
}

kir::Value TreeEmitter::iota(const Iota& op) {
  const sym::Expr at = own(op)[static_cast<size_t>(op.dim)] + extents_(op.start);
  return number_as(coordinate(at), op.dtype);
}

kir::Value TreeEmitter::size(const Size& op) { return number_as(coordinate(extents_.value(op.value)), op.dtype); }

// The first random op of a kernel has its offset as an argument, and the others count from there: kernels that differ
// in it alone have one text.
sym::Expr TreeEmitter::random_offset(const Op& op) {
  const auto& stated = *counter_offset(op);
  PLAIT_CHECK(stated.has_value(), "{} has no offset", describe(op));
  const auto offset = static_cast<uint64_t>(*stated);
  if (!first_offset_) {
    first_offset_ = offset;
    offset_base_ = *stated < 0 ? number(*stated) : extents_.argument(group_.graph->pool().constant(*stated));
  }
  return offset_base_ + static_cast<int64_t>(offset - *first_offset_);
}

// Consecutive numbers along the piece's row: the index is linear in the global extents.
template <class Random>
sym::Expr TreeEmitter::random_index(const Random& op) {
  const Coordinates at = own(op);
  sym::Expr index = number(0), stride = number(1);
  for (size_t d = at.size(); d-- > 0;) {
    const sym::Expr start = op.start.empty() ? number(0) : extents_(op.start[d]);
    index = index + (at[d] + start) * stride;
    stride = stride * extents_(op.global.empty() ? op.shape[d] : op.global[d]);
  }
  return index;
}
template sym::Expr TreeEmitter::random_index(const Uniform& op);
template sym::Expr TreeEmitter::random_index(const Normal& op);

kir::Value TreeEmitter::random(const Op& op, sym::Expr index) {
  auto stmt = std::make_unique<kir::Random>();
  stmt->seed = convert(operand(op, 0), DType::u64);
  stmt->out = fresh(DType::f32);
  stmt->index = index;
  stmt->offset = random_offset(op);
  return put(std::move(stmt));
}

// r cos or r sin of an angle of 2 pi u, as lower/creation.cpp.
kir::Value TreeEmitter::normal(const Normal& op) {
  const sym::Expr index = random_index(op), pair = sym::floordiv(index, 2) * 2;
  const auto constant = [&](double v) { return literal(Constant::from_double(DType::f32, v)); };
  const auto choose = [&](Value x, Pointwise test, double v, Value a, Value b) {
    return apply(Pointwise::where, {apply(test, {x, constant(v)}), a, b});
  };
  const Value first = random(op, pair), second = random(op, pair + 1);
  const Value log = apply(Pointwise::log, {apply(Pointwise::sub, {constant(1), first})});
  const Value radius = apply(Pointwise::sqrt, {apply(Pointwise::mul, {constant(-2), log})});
  const Value turns = apply(Pointwise::mul, {constant(4), second});  // quarters, below 4
  Value quarter = constant(4);
  for (int q = 3; q >= 0; --q) quarter = choose(turns, Pointwise::lt, q + 0.5, constant(q), quarter);
  const Value rest = apply(Pointwise::mul, {constant(std::numbers::pi / 2), apply(Pointwise::sub, {turns, quarter})});
  const Value cosine = apply(Pointwise::cos, {rest}), sine = apply(Pointwise::sin, {rest});
  // An odd element takes the sine: the cosine of a quarter less.
  const Value odd = convert(coordinate(sym::mod(index, 2)), DType::f32);
  const Value turned = apply(Pointwise::sub, {quarter, odd});
  Value out = cosine;  // of 0 and 4 quarters
  out = choose(turned, Pointwise::eq, 3, sine, out);
  out = choose(turned, Pointwise::eq, 2, apply(Pointwise::neg, {cosine}), out);
  out = choose(turned, Pointwise::eq, 1, apply(Pointwise::neg, {sine}), out);
  out = choose(turned, Pointwise::eq, -1, sine, out);
  return apply(Pointwise::mul, {radius, out});
}

}  // namespace plait::lowering
