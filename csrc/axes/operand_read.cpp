#include "axes/operand_read.h"

#include "axes/own_recipe.h"
#include "base/error.h"

namespace plait {

namespace {

using Extent = std::function<sym::Expr(sym::Expr)>;
using Coordinates = std::vector<sym::Expr>;

void read_reshape(const Reshape& op, const Coordinates& own, const Extent& extent, sym::Pool& pool, Coordinates& at) {
  Coordinates in, out;
  for (sym::Expr e : op.in->shape()) in.push_back(extent(e));
  for (sym::Expr e : op.out()->shape()) out.push_back(extent(e));
  for (const DimGroup& g : reshape_groups(in, out)) {
    sym::Expr place = pool.constant(0);
    for (size_t d = g.out; d < g.out_end; ++d) place = place * out[d] + own[d];
    for (size_t d = g.in_end; d-- > g.in;) {
      at[d] = d > g.in ? sym::mod(place, in[d]) : place;
      if (d > g.in) place = sym::floordiv(place, in[d]);
    }
  }
}

void read_pad(const Pad& op, const Extent& extent, PlacedOperand& out) {
  for (size_t d = 0; d < out.at.size(); ++d) {
    if (op.low[d].constant() == 0 && op.high[d].constant() == 0) continue;
    out.at[d] = out.at[d] - extent(op.low[d]);
    out.read.push_back({out.at[d], extent(op.in->extent(d))});
  }
}

void read_cat(const Cat& op, size_t operand, const Extent& extent, PlacedOperand& out) {
  const size_t d = static_cast<size_t>(op.dim);
  for (size_t i = 0; i < operand; ++i) out.at[d] = out.at[d] - extent(op.in[i]->extent(d));
  out.read.push_back({out.at[d], extent(op.in[operand]->extent(d))});
}

void read_roll(const Roll& op, const Extent& extent, Coordinates& at) {
  for (size_t k = 0; k < op.dims.size(); ++k) {
    const size_t d = static_cast<size_t>(op.dims[k]);
    const sym::Expr n = op.in->extent(d);
    const sym::Expr by = extent(sym::mod(n.pool().constant(op.shifts[k]), sym::max(n, 1)));
    at[d] = sym::select(sym::lt(at[d], by), at[d] - by + extent(n), at[d] - by);
  }
}

void read_repeat(const Repeat& op, const Coordinates& own, const Extent& extent, Coordinates& at) {
  const size_t fresh = own.size() - at.size();
  for (size_t d = 0; d < at.size(); ++d) {
    at[d] = own[fresh + d];
    if (op.repeats[fresh + d] != 1) at[d] = sym::mod(at[d], extent(op.in->extent(d)));
  }
}

Coordinates read_selected(const IndexSelect& op, size_t operand, const Coordinates& own) {
  const auto first = own.begin() + op.dim, behind = first + static_cast<std::ptrdiff_t>(op.index->rank());
  if (operand == 1) return {first, behind};
  Coordinates at(own.begin(), first);
  at.emplace_back();
  at.insert(at.end(), behind, own.end());
  return at;
}

// Paired dims; the others have one element.
Coordinates paired(const std::vector<int>& pairing, const OwnCoordinates& c, sym::Pool& pool) {
  Coordinates at;
  for (int place : pairing) {
    const size_t p = static_cast<size_t>(place);
    at.push_back(place < 0 ? pool.constant(0) : p < c.own.size() ? c.own[p] : c.reduced[p - c.own.size()]);
  }
  return at;
}

bool keeps_dims(const Op& op) {
  return op.kind == OpKind::Slice || op.kind == OpKind::Pad || op.kind == OpKind::Cat || op.kind == OpKind::Flip ||
         op.kind == OpKind::Roll || op.kind == OpKind::Gather || is_scan(op.kind);
}

}  // namespace

PlacedOperand operand_read(const AxisGroup& group, const Op& op, size_t operand, const OwnCoordinates& at,
                           const Extent& extent) {
  const Edge& edge = group.edges_of(op)[operand];
  sym::Pool& pool = group.graph.pool();
  PlacedOperand out;
  if (operand < inputs(op).size())
    out = operand_read(pool, edge.pairing, op, operand, at, extent);
  else
    out.at = paired(edge.pairing, at, pool);
  if (operand >= inputs(op).size())  // where reads move elements, its readers know the coordinate
    for (size_t d = 0; d < out.at.size(); ++d)
      if (edge.pairing[d] < 0 && !group.graph.unit(group.axes.at(edge.operand).logical[d])) out.at[d] = {};
  out.tensor = edge.operand;
  return out;
}

PlacedOperand operand_read(sym::Pool& pool, const std::vector<int>& pairing, const Op& op, size_t operand,
                           const OwnCoordinates& at, const Extent& extent) {
  PlacedOperand out;
  out.tensor = inputs(op)[operand];
  out.at = keeps_dims(op) ? at.own : paired(pairing, at, pool);
  if (const auto* o = as<Reshape>(op)) read_reshape(*o, at.own, extent, pool, out.at);
  if (const auto* o = as<Pad>(op)) read_pad(*o, extent, out);
  if (const auto* o = as<Cat>(op)) read_cat(*o, operand, extent, out);
  if (const auto* o = as<Roll>(op)) read_roll(*o, extent, out.at);
  if (const auto* o = as<Repeat>(op)) read_repeat(*o, at.own, extent, out.at);
  if (const auto* o = as<IndexSelect>(op)) out.at = read_selected(*o, operand, at.own);
  if (const auto* o = as<Slice>(op)) {
    sym::Expr& along = out.at[static_cast<size_t>(o->dim)];
    along = extent(o->start) + along * o->step;
  }
  if (const auto* o = as<Flip>(op)) {
    for (int64_t d : o->dims) {
      sym::Expr& along = out.at[static_cast<size_t>(d)];
      along = extent(o->in->extent(static_cast<size_t>(d))) - 1 - along;
    }
  }
  if (const auto* o = as<Gather>(op); o != nullptr && operand == 0) out.at[static_cast<size_t>(o->dim)] = {};
  out.read = needed(out.read);
  return out;
}

int scanned_dim(const Op& op) {
  const auto scan = scan_of(op);
  return scan ? static_cast<int>(scan->dim) : -1;
}

int indexed_dim(const Op& op, size_t operand) {
  return operand != 0 || op.kind == OpKind::Scatter ? -1 : plait::indexed_dim(op);
}

std::string unplaceable(const Op& op) {
  switch (property(op.kind)) {
    case OpProperty::composite:
      return "composites are opened before";
    case OpProperty::communication:
    case OpProperty::local_move:
      return "it moves data between or within ranks";
    default:
      break;
  }
  if (op.kind == OpKind::Sort) return "a sort has no loops here";
  if (op.kind == OpKind::Scatter) return "a scatter has no loops here";
  return "";
}

std::vector<RangeTerm> needed(const std::vector<RangeTerm>& terms) {
  std::vector<RangeTerm> out;
  for (const RangeTerm& t : terms) {
    if (sym::proven(sym::ge(t.value, 0)) && sym::proven(sym::lt(t.value, t.bound))) continue;
    bool known = false;
    for (const RangeTerm& o : out) known = known || (o.value == t.value && o.bound == t.bound);
    if (!known) out.push_back(t);
  }
  return out;
}

}  // namespace plait
