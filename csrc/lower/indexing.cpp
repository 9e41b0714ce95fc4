// Ops that read where an integer tensor says. An index becomes a symbol of the block; what it addresses is read behind
// a test of its range.
#include <cmath>

#include "base/error.h"
#include "lower/statements.h"
#include "scalar/index_status.h"

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
  const auto is_below = [](sym::Expr e, sym::Expr extent) {
    return sym::logical_and(sym::ge(e, 0), sym::lt(e, extent));
  };
  const std::vector<sym::Expr>* range = held_range(op);
  const sym::Expr place = range != nullptr ? j - state_.extent((*range)[0]) : j;
  at[static_cast<size_t>(dim)] = place;
  const DType type = compute_type(in.dtype);
  // What ranks add where another one has the place: -0 leaves zeros their sign.
  const Constant zero = is_float(type) ? Constant::from_double(type, -0.0) : Constant::from_int64(type, 0);
  const Constant none = is_float(type) ? Constant::from_double(type, NAN) : zero;
  const kir::Value out = variable(range != nullptr ? zero : none, lanes);
  const sym::Expr inside = is_below(place, state_.extent(in.extent(static_cast<size_t>(dim))));
  where_true(op, inside, [&] { assign(out, load_at(in, at, lanes)); });
  if (range == nullptr && !state_.status) return out;
  where_true(op, sym::logical_not(range != nullptr ? is_below(j, state_.extent((*range)[1])) : inside), [&] {
    if (range != nullptr) assign(out, literal(none, lanes));
    if (state_.status) report(op, j, index_at);
  });
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

// Tells the run of index j, which the index tensor has at these coordinates (scalar/index_status.h).
void Statements::report(const Op& op, sym::Expr j, const std::vector<sym::Expr>& at) {
  const CheckedLookup lookup = *checked_lookup(op);
  sym::Expr position = state_.pool->constant(0), stride = state_.pool->constant(1);
  for (size_t d = at.size(); d-- > 0;) {
    const sym::Expr start = lookup.start.empty() ? state_.pool->constant(0) : state_.extent(lookup.start[d]);
    position = position + (at[d] + start) * stride;
    stride = stride * state_.extent(lookup.global.empty() ? lookup.index->extent(d) : lookup.global[d]);
  }
  const sym::Expr place = sym::min(position, kMostPosition) * (int64_t{1} << kValueBits);
  const sym::Expr ordinal = sym::min(state_.ordinal, kMostOrdinal) * (int64_t{1} << (kValueBits + kPositionBits));
  const auto number = [&](int64_t value) { return literal(Constant::from_int64(DType::u64, value), 1); };
  const kir::Value key = convert(coordinate(ordinal + place, 1), DType::u64);
  const kir::Value value = convert(coordinate(j, 1), DType::u64);
  for (int i = 0; i < kStatusWords; ++i) {
    const kir::Value part = apply(Pointwise::shift_right, {value, number(kValueBits * i)});
    const kir::Value low = apply(Pointwise::bitwise_and, {part, number((1 << kValueBits) - 1)});
    auto stmt = std::make_unique<kir::Atomic>();
    stmt->buffer = *state_.status;
    stmt->index = state_.pool->constant(i);
    stmt->in = apply(Pointwise::bitwise_or, {key, low});
    levels_.back().block->push_back(std::move(stmt));
  }
}

void Statements::update(const Leaf& leaf, sym::Expr place) {
  leaf_ = &leaf;
  for (const Replacements& copy : leaf.copies) update(copy, place);
  leaf_ = nullptr;
}

// The places that this iteration's updates may write: a range of the dim, which without ranges is all of it.
Statements::Reach Statements::reach_of(const Scatter& op, sym::Expr own) const {
  const sym::Expr extent = state_.extent(op.in->extent(static_cast<size_t>(op.dim)));
  sym::Expr first = own, places = state_.pool->constant(1);
  for (const Loop& l : state_.loops) {
    if (l.var != state_.scatter) continue;
    first = sym::substitute(own, {{l.name(), state_.pool->constant(0)}});
    places = l.extent;
  }
  return {first, sym::min(first + places, extent), extent};
}

// What stands in the result once src is there too. Booleans are ordered as numbers.
kir::Value Statements::combined(ScatterUpdate update, kir::Value before, kir::Value src) {
  const std::optional<Pointwise> function = combining(update);
  if (!function) return src;
  if (src.dtype == DType::boolean)
    return convert(apply(*function, {convert(before, DType::i64), convert(src, DType::i64)}), DType::boolean);
  return apply(*function, {before, src});
}

// The result holds the operand, and what the updates before this one made of it.
void Statements::update(const Replacements& copy, sym::Expr place) {
  const auto& op = *as<Scatter>(*state_.group.ops.front());
  const std::vector<sym::Expr> own = own_coordinates(*op.out(), copy);
  const size_t dim = static_cast<size_t>(op.dim);
  std::vector<sym::Expr> at = own, to = own;
  at[dim] = place;
  sym::Expr reached = state_.pool->constant(1);
  for (size_t d = 0; d < own.size(); ++d)
    if (d != dim && op.index->extent(d) != op.in->extent(d))
      reached = sym::logical_and(reached, sym::lt(own[d], state_.extent(op.index->extent(d))));
  where_true(op, reached, [&] {
    const sym::Expr j = index_from(op, *op.index, at);
    to[dim] = op.range.empty() ? j : j - state_.extent(op.range[0]);
    const auto [first, behind, extent] = reach_of(op, own[dim]);
    where_true(op, sym::logical_and(sym::ge(to[dim], first), sym::lt(to[dim], behind)), [&] {
      const auto out = static_cast<uint32_t>(state_.segment.inputs.size());
      const sym::Expr index = placed(memory_offset(state_, *op.out(), to), {});
      kir::Value before;
      if (op.update != ScatterUpdate::set) {
        auto load = std::make_unique<kir::Load>();
        load->buffer = out;
        load->out = fresh(compute_type(op.out()->dtype), 1);
        load->index = index;
        before = put(std::move(load), innermost());
      }
      auto stmt = std::make_unique<kir::Store>();
      stmt->in = combined(op.update, before, load_at(*op.src, at, 1));
      stmt->buffer = out;
      stmt->index = index;
      levels_.back().block->push_back(std::move(stmt));
    });
    if (!state_.status) return;
    // The first range tells of what lies in none.
    const sym::Expr whole = op.range.empty() ? extent : state_.extent(op.range[1]);
    const sym::Expr inside = sym::logical_and(sym::ge(j, 0), sym::lt(j, whole));
    const sym::Expr outside = sym::logical_and(sym::eq(first, 0), sym::logical_not(inside));
    where_true(op, outside, [&] { report(op, j, at); });
  });
}

}  // namespace plait::lowering
