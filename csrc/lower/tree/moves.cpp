// Ops that read elsewhere than where they write. Of an operand in memory, or of one that is computed anew for each
// reader, the coordinates are expressions of the result's own; one that the kernel places is read where placement says.
// Where there may be nothing to read, a variable holds what the result is then, and the load stands behind a condition.
#include <algorithm>
#include <cmath>
#include <numeric>

#include "base/error.h"
#include "lower/tree/emitter.h"
#include "scalar/index_status.h"

namespace plait::lowering {

namespace {

sym::Expr is_below(sym::Expr e, sym::Expr extent) { return sym::logical_and(sym::ge(e, 0), sym::lt(e, extent)); }

}  // namespace

kir::Value TreeEmitter::moved(const Reshape& op) {
  if (!by_coordinates(op, *op.in)) return operand(op, 0);
  const Coordinates at = own(op);
  sym::Expr place = number(0), stride = number(1);
  for (size_t d = at.size(); d-- > 0;) {
    place = place + at[d] * stride;
    stride = stride * extents_(op.out()->extent(d));
  }
  std::vector<int> row_major(op.in->rank());
  std::iota(row_major.begin(), row_major.end(), 0);
  if (is_input(*op.in) && op.in->domain.allocation == row_major) return load(arguments_.at(op.in), place);
  Coordinates from(op.in->rank());
  for (size_t d = from.size(); d-- > 0;) {
    const sym::Expr extent = extents_(op.in->extent(d));
    from[d] = d > 0 ? sym::mod(place, extent) : place;
    place = sym::floordiv(place, extent);
  }
  return read_at(op, 0, from);
}

kir::Value TreeEmitter::moved(const Slice& op) {
  if (!by_coordinates(op, *op.in)) return operand(op, 0);
  Coordinates at = own(op);
  sym::Expr& along = at[static_cast<size_t>(op.dim)];
  along = extents_(op.start) + along * op.step;
  return read_at(op, 0, at);
}

kir::Value TreeEmitter::moved(const Flip& op) {
  if (!by_coordinates(op, *op.in)) return operand(op, 0);
  Coordinates at = own(op);
  for (int64_t d : op.dims) {
    sym::Expr& along = at[static_cast<size_t>(d)];
    along = extents_(op.in->extent(static_cast<size_t>(d))) - 1 - along;
  }
  return read_at(op, 0, at);
}

// Along its innermost rolled dim the two parts are read apart, each without gaps.
kir::Value TreeEmitter::moved(const Roll& op) {
  if (!by_coordinates(op, *op.in)) return operand(op, 0);
  Coordinates at = own(op);
  const auto last = std::max_element(op.dims.begin(), op.dims.end());
  sym::Expr first, bound;  // the coordinate along that dim, and where the part without wrapping begins
  Coordinates parts;
  for (size_t k = 0; k < op.dims.size(); ++k) {
    const size_t d = static_cast<size_t>(op.dims[k]);
    const sym::Expr extent = op.in->extent(d);
    // The host divides, once; an empty dim has no elements to move.
    const sym::Expr shift = extents_(sym::mod(group_.graph->pool().constant(op.shifts[k]), sym::max(extent, 1)));
    const sym::Expr wrapped = at[d] - shift + extents_(extent), moved = at[d] - shift;
    if (op.dims[k] != *last || std::count(op.dims.begin(), op.dims.end(), *last) > 1) {
      at[d] = sym::select(sym::lt(at[d], shift), wrapped, moved);
      continue;
    }
    first = at[d];
    parts = {wrapped, moved};
    bound = shift;
  }
  if (parts.empty()) return read_at(op, 0, at);
  const Value out = variable(Constant::from_int64(compute_type(op.out()->dtype), 0));
  for (const bool wraps : {true, false}) {
    Coordinates from = at;
    from[static_cast<size_t>(*last)] = parts[wraps ? 0 : 1];
    const sym::Expr before = sym::lt(first, bound);
    guarded(wraps ? before : sym::logical_not(before), [&] { assign(out, read_at(op, 0, from)); });
  }
  return out;
}

kir::Value TreeEmitter::moved(const Repeat& op) {
  if (!by_coordinates(op, *op.in)) return operand(op, 0);
  const Coordinates here = own(op);
  const size_t fresh_dims = here.size() - op.in->rank();
  Coordinates at(here.begin() + static_cast<std::ptrdiff_t>(fresh_dims), here.end());
  for (size_t d = 0; d < at.size(); ++d)
    if (op.repeats[d + fresh_dims] != 1) at[d] = sym::mod(at[d], extents_(op.in->extent(d)));
  return read_at(op, 0, at);
}

kir::Value TreeEmitter::moved(const Pad& op) {
  sym::Expr inside = number(1);
  Coordinates at = own(op);
  for (size_t d = 0; d < at.size(); ++d) {
    if (op.low[d].constant() == 0 && op.high[d].constant() == 0) continue;
    at[d] = at[d] - extents_(op.low[d]);
    inside = sym::logical_and(inside, is_below(at[d], extents_(op.in->extent(d))));
  }
  const Constant fill = Constant::from_double(op.in->dtype, op.value);
  const DType wide = compute_type(fill.dtype);
  const Value out = variable(wide == fill.dtype ? fill : Constant::from_double(wide, fill.to_double()));
  guarded(inside, [&] { assign(out, operand_value(op, 0, at)); });
  return out;
}

kir::Value TreeEmitter::moved(const Cat& op) {
  const Coordinates here = own(op);
  const size_t dim = static_cast<size_t>(op.dim);
  const Value out = variable(Constant::from_int64(compute_type(op.out()->dtype), 0));
  sym::Expr start = number(0);
  for (size_t i = 0; i < op.in.size(); ++i) {
    const sym::Expr extent = extents_(op.in[i]->extent(dim));
    Coordinates at = here;
    at[dim] = here[dim] - start;
    guarded(sym::logical_and(sym::ge(here[dim], start), sym::lt(at[dim], extent)),
            [&] { assign(out, operand_value(op, i, at)); });
    start = start + extent;
  }
  return out;
}

// An index becomes a symbol of the block; what it addresses is read behind a test of its range.
sym::Expr TreeEmitter::bind(Value in) {
  auto stmt = std::make_unique<kir::Bind>();
  stmt->var = kernel_.pool->symbol(fmt::format("j{}", symbols_++));
  stmt->in = convert(in, DType::i64);
  const sym::Expr var = stmt->var;
  add(std::move(stmt));
  return var;
}

kir::Value TreeEmitter::looked_up(const Op& op, const Coordinates& index_at, int64_t dim, Coordinates at) {
  const TensorView& in = *inputs(op).front();
  const sym::Expr j = bind(operand_value(op, 1, index_at));
  const std::vector<sym::Expr>* range = held_range(op);
  const sym::Expr place = range != nullptr ? j - extents_((*range)[0]) : j;
  at[static_cast<size_t>(dim)] = place;
  const DType type = compute_type(in.dtype);
  // What ranks add where another one has the place: -0 leaves zeros their sign.
  const Constant zero = is_float(type) ? Constant::from_double(type, -0.0) : Constant::from_int64(type, 0);
  const Constant none = is_float(type) ? Constant::from_double(type, NAN) : zero;
  const Value out = variable(range != nullptr ? zero : none);
  const sym::Expr inside = is_below(place, extents_(in.extent(static_cast<size_t>(dim))));
  // Of what the kernel places, a lookup goes along a dim of one element only.
  guarded(inside, [&] { assign(out, operand_value(op, 0, at)); });
  if (range == nullptr && !status_) return out;
  guarded(sym::logical_not(range != nullptr ? is_below(j, extents_((*range)[1])) : inside), [&] {
    if (range != nullptr) assign(out, literal(none));
    if (status_) report(op, j, index_at);
  });
  return out;
}

kir::Value TreeEmitter::looked_up(const Gather& op) {
  const Coordinates here = own(op);
  return looked_up(op, here, op.dim, here);
}

kir::Value TreeEmitter::looked_up(const IndexSelect& op) {
  const Coordinates here = own(op);
  const auto first = here.begin() + op.dim, behind = first + static_cast<std::ptrdiff_t>(op.index->rank());
  Coordinates at(here.begin(), first);
  at.push_back(number(0));
  at.insert(at.end(), behind, here.end());
  return looked_up(op, {first, behind}, op.dim, at);
}

// What stands in the result once src is there too. Booleans are ordered as numbers.
kir::Value TreeEmitter::combined(ScatterUpdate update, Value before, Value src) {
  const std::optional<Pointwise> function = combining(update);
  if (!function) return src;
  if (src.dtype == DType::boolean)
    return convert(apply(*function, {convert(before, DType::i64), convert(src, DType::i64)}), DType::boolean);
  return apply(*function, {before, src});
}

// A scatter with one index for each row: the source where the index names this element, else the operand.
kir::Value TreeEmitter::placed_one(const Scatter& op) {
  const Coordinates here = own(op);
  const size_t dim = static_cast<size_t>(op.dim);
  Coordinates first = here;
  first[dim] = number(0);
  const sym::Expr j = bind(operand_value(op, 1, first)), place = op.range.empty() ? j : j - extents_(op.range[0]);
  const Value src = operand_value(op, 2, first), before = operand_value(op, 0, here);
  const Value named = apply(Pointwise::eq, {coordinate(here[dim]), coordinate(place)});
  const Value out = apply(Pointwise::where, {named, combined(op.update, before, src), before});
  if (!status_) return out;
  const sym::Expr extent = extents_(op.range.empty() ? op.in->extent(dim) : op.range[1]);
  guarded(sym::logical_not(is_below(j, extent)), [&] { report(op, j, first); });
  return out;
}

// Tells the run of index j, which the index tensor has at these coordinates (scalar/index_status.h).
void TreeEmitter::report(const Op& op, sym::Expr j, const Coordinates& at) {
  const auto lookup = checked_lookup(op);
  if (!lookup) return;
  sym::Expr position = number(0), stride = number(1);
  for (size_t d = at.size(); d-- > 0;) {
    const sym::Expr start = lookup->start.empty() ? number(0) : extents_(lookup->start[d]);
    position = position + (at[d] + start) * stride;
    stride = stride * extents_(lookup->global.empty() ? lookup->index->extent(d) : lookup->global[d]);
  }
  const sym::Expr place = sym::min(position, kMostPosition) * (int64_t{1} << kValueBits);
  const sym::Expr ordinal = sym::min(ordinals_.at(&op), kMostOrdinal) * (int64_t{1} << (kValueBits + kPositionBits));
  const auto word = [&](int64_t value) { return literal(Constant::from_int64(DType::u64, value)); };
  const Value key = convert(coordinate(ordinal + place), DType::u64);
  const Value value = convert(coordinate(j), DType::u64);
  for (int i = 0; i < kStatusWords; ++i) {
    const Value part = apply(Pointwise::shift_right, {value, word(kValueBits * i)});
    const Value low = apply(Pointwise::bitwise_and, {part, word((1 << kValueBits) - 1)});
    auto stmt = std::make_unique<kir::Atomic>();
    stmt->buffer = *status_;
    stmt->index = number(i);
    stmt->in = apply(Pointwise::bitwise_or, {key, low});
    add(std::move(stmt));
  }
}

}  // namespace plait::lowering
