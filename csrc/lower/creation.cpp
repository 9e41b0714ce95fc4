// Tensors from nothing: counters, sizes, random numbers.
#include <algorithm>
#include <numbers>

#include "lower/statements.h"

namespace plait::lowering {

// An integer as a number of another type; to a narrow one rounded once, from f64.
kir::Value Statements::number(kir::Value integer, DType to) {
  if (is_narrow(to)) return convert(round(convert(integer, DType::f64), to), compute_type(to));
  return convert(integer, compute_type(to));
}

kir::Value Statements::iota(const Iota& op, const Replacements& copy, int lanes) {
  const sym::Expr at = own_coordinates(*op.out(), copy)[static_cast<size_t>(op.dim)] + state_.extent(op.start);
  auto stmt = std::make_unique<kir::Coordinate>();
  stmt->out = fresh(DType::i64, lanes);
  stmt->index = placed(at, {});
  return number(put(std::move(stmt), depends_on(at, state_.lane) ? innermost() : level_of(at)), op.dtype);
}

kir::Value Statements::size(const Size& op, int lanes) {
  auto stmt = std::make_unique<kir::Coordinate>();
  stmt->out = fresh(DType::i64, lanes);
  stmt->index = state_.extents.value(op.value);
  return number(put(std::move(stmt), base_), op.dtype);
}

namespace {

// Given, or the ordinal of the op among the random ops of its fusion, in order of creation.
uint64_t offset_of(const Fusion& fusion, const Op& op) {
  if (const auto& given = *counter_offset(op)) return static_cast<uint64_t>(*given);
  const auto& ops = fusion.ops();
  return static_cast<uint64_t>(
      std::count_if(ops.begin(), ops.end(), [&](const Op* o) { return counter_offset(*o) && o->id < op.id; }));
}

}  // namespace

// The first random op of a kernel has its offset as an argument, and the others count from there: kernels that differ
// in it alone have one text.
sym::Expr Statements::random_offset(const Op& op) {
  const uint64_t offset = offset_of(state_.fusion, op);
  if (!state_.first_offset) {
    state_.first_offset = offset;
    const auto number = static_cast<int64_t>(offset);
    state_.offset_base =
        number < 0 ? state_.pool->constant(number) : state_.extents.argument(state_.fusion.pool().constant(number));
  }
  return state_.offset_base + static_cast<int64_t>(offset - *state_.first_offset);
}

// Consecutive numbers along the piece's row: the index is linear in the global extents.
template <class Random>
sym::Expr Statements::random_index(const Random& op, const Replacements& copy) {
  const std::vector<sym::Expr> at = own_coordinates(*op.out(), copy);
  sym::Expr index = state_.pool->constant(0), stride = state_.pool->constant(1);
  for (size_t d = at.size(); d-- > 0;) {
    const sym::Expr start = op.start.empty() ? state_.pool->constant(0) : state_.extent(op.start[d]);
    index = index + (at[d] + start) * stride;
    stride = stride * state_.extent(op.global.empty() ? op.shape[d] : op.global[d]);
  }
  return index;
}

kir::Value Statements::uniform(const Uniform& op, const Replacements& copy, int lanes) {
  return random(op, random_index(op, copy), copy, lanes);
}

kir::Value Statements::random(const Op& op, sym::Expr index, const Replacements& copy, int lanes) {
  auto stmt = std::make_unique<kir::Random>();
  stmt->seed = convert(operand(op, 0, copy, 1), DType::u64);
  stmt->out = fresh(DType::f32, lanes);
  stmt->index = placed(index, {});
  stmt->offset = random_offset(op);
  const size_t level = std::max(level_of(index), level_of(stmt->seed));
  return put(std::move(stmt), depends_on(index, state_.lane) ? innermost() : level);
}

// r cos or r sin of an angle of 2 pi u. The quarter turn that u is nearest to is taken out of it exactly, so that the
// functions see at most an eighth of a turn and no digits are lost.
kir::Value Statements::normal(const Normal& op, const Replacements& copy, int lanes) {
  const sym::Expr index = random_index(op, copy), pair = sym::floordiv(index, 2) * 2;
  const auto number = [&](double v) { return literal(Constant::from_double(DType::f32, v), lanes); };
  const auto choose = [&](kir::Value x, Pointwise test, double v, kir::Value a, kir::Value b) {
    return apply(Pointwise::where, {apply(test, {x, number(v)}), a, b});
  };
  const kir::Value first = random(op, pair, copy, lanes), second = random(op, pair + 1, copy, lanes);
  const kir::Value log = apply(Pointwise::log, {apply(Pointwise::sub, {number(1), first})});
  const kir::Value radius = apply(Pointwise::sqrt, {apply(Pointwise::mul, {number(-2), log})});
  const kir::Value turns = apply(Pointwise::mul, {number(4), second});  // quarters, below 4
  kir::Value quarter = number(4);
  for (int q = 3; q >= 0; --q) quarter = choose(turns, Pointwise::lt, q + 0.5, number(q), quarter);
  const kir::Value rest =
      apply(Pointwise::mul, {number(std::numbers::pi / 2), apply(Pointwise::sub, {turns, quarter})});
  const kir::Value cosine = apply(Pointwise::cos, {rest}), sine = apply(Pointwise::sin, {rest});
  // An odd lane takes the sine: the cosine of a quarter less.
  const kir::Value odd = convert(coordinate(sym::mod(index, 2), lanes), DType::f32);
  const kir::Value turned = apply(Pointwise::sub, {quarter, odd});
  kir::Value out = cosine;  // of 0 and 4 quarters
  out = choose(turned, Pointwise::eq, 3, sine, out);
  out = choose(turned, Pointwise::eq, 2, apply(Pointwise::neg, {cosine}), out);
  out = choose(turned, Pointwise::eq, 1, apply(Pointwise::neg, {sine}), out);
  out = choose(turned, Pointwise::eq, -1, sine, out);
  return apply(Pointwise::mul, {radius, out});
}

}  // namespace plait::lowering
