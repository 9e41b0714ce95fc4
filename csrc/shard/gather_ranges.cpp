#include "shard/gather_ranges.h"

#include <algorithm>
#include <tuple>

#include "base/error.h"
#include "ir/factors.h"
#include "shard/assign.h"
#include "shard/reshard_plan.h"

namespace plait {

namespace {

constexpr int64_t kMostParts = 1024;  // that are looked at one by one

using Ranges = std::vector<std::vector<DimRange>>;

sym::Expr clamped(sym::Expr e, sym::Expr most) { return sym::min(sym::max(e, 0), most); }

// Elements of a range of the result that lie before a border of it. Counts between borders are differences of these, so
// that all of them make the range.
sym::Expr before(const DimRange& out, sym::Expr border) {
  return sym::min(out.start + out.count, border) - sym::min(out.start, border);
}

// With what lies between the steps.
Ranges needed(const Slice& op, size_t, const std::vector<sym::Expr>& extents, const DimRange& out) {
  const sym::Expr count = op.step == 1 ? out.count : sym::max(op.step * (out.count - 1) + 1, 0);
  return {{{sym::min(op.start + op.step * out.start, extents[0]), count}}};
}

Ranges needed(const Pad& op, size_t dim, const std::vector<sym::Expr>& extents, const DimRange& out) {
  const sym::Expr low = op.low[dim], count = before(out, low + extents[0]) - before(out, low);
  return {{{clamped(out.start - low, extents[0]), count}}};
}

Ranges needed(const Cat& op, size_t, const std::vector<sym::Expr>& extents, const DimRange& out) {
  Ranges ranges;
  sym::Expr offset = out.start - out.start, earlier = offset;
  for (size_t i = 0; i < op.in.size(); ++i) {
    const sym::Expr start = clamped(out.start - offset, extents[i]);
    offset = offset + extents[i];
    const sym::Expr all = i + 1 == op.in.size() ? out.count : before(out, offset);
    ranges.push_back({{start, all - earlier}});
    earlier = all;
  }
  return ranges;
}

Ranges needed(const Flip&, size_t, const std::vector<sym::Expr>& extents, const DimRange& out) {
  return {{{extents[0] - out.start - out.count, out.count}}};
}

// What goes beyond the end comes from the beginning.
Ranges needed(const Roll& op, size_t dim, const std::vector<sym::Expr>& extents, const DimRange& out) {
  int64_t shift = 0;
  for (size_t k = 0; k < op.dims.size(); ++k)
    if (static_cast<size_t>(op.dims[k]) == dim) shift = op.shifts[k];
  const sym::Expr begin = sym::mod(out.start - shift, sym::max(extents[0], 1));
  const sym::Expr first = sym::min(out.count, extents[0] - begin);
  return {{{begin, first}, {out.start - out.start, out.count - first}}};
}

Ranges needed(const Op& op, size_t, const std::vector<sym::Expr>&, const DimRange&) {
  PLAIT_CHECK(false, "{} gathers no ranges", describe(op));
  __builtin_unreachable();
}

}  // namespace

bool gathers_ranges(const Op& op) {
  return op.kind == OpKind::Slice || op.kind == OpKind::Pad || op.kind == OpKind::Cat || op.kind == OpKind::Flip ||
         op.kind == OpKind::Roll;
}

Ranges needed_ranges(const Op& op, size_t dim, const std::vector<sym::Expr>& extents, const DimRange& out) {
  return visit(op, [&](const auto& node) { return needed(node, dim, extents, out); });
}

void take_ranges(Op& op, size_t dim, const std::vector<sym::Expr>& extents, const DimRange& out) {
  if (auto* pad = as<Pad>(op)) {
    const sym::Expr low = pad->low[dim];
    pad->low[dim] = before(out, low);
    pad->high[dim] = out.count - before(out, low + extents[0]);
  } else if (auto* roll = as<Roll>(op)) {
    for (size_t k = 0; k < roll->dims.size(); ++k)
      if (static_cast<size_t>(roll->dims[k]) == dim) roll->shifts[k] = 0;
  }
}

void set_operands(Op& op, const std::vector<TensorView*>& operands) {
  if (auto* cat = as<Cat>(op)) cat->in = operands;
  if (auto* flip = as<Flip>(op)) flip->in = operands[0];
  if (auto* pad = as<Pad>(op)) pad->in = operands[0];
  if (auto* roll = as<Roll>(op)) roll->in = operands[0];
}

std::optional<Parts> sliced_parts(const Op& op, int64_t parts) {
  const auto* slice = as<Slice>(op);
  if (!slice || slice->step != 1 || parts > kMostParts) return std::nullopt;
  const auto dim = static_cast<size_t>(slice->dim);
  const sym::Expr part = sym::floordiv(slice->in->extent(dim), parts), extent = op.out()->extent(dim);
  for (Parts out; out.first < parts; ++out.first) {
    if (slice->start != out.first * part) continue;
    for (out.count = 1; out.first + out.count <= parts; ++out.count)
      if (extent == out.count * part && sym::floordiv(extent, out.count) == part) return out;
  }
  return std::nullopt;
}

std::optional<int64_t> part_around(const Op& op, int64_t parts) {
  const auto* slice = as<Slice>(op);
  if (!slice || slice->step != 1 || parts > kMostParts || sliced_parts(op, parts)) return std::nullopt;
  const sym::Expr part = sym::floordiv(slice->in->extent(static_cast<size_t>(slice->dim)), parts);
  for (int64_t k = 0; k < parts; ++k)
    if (sym::proven(sym::ge(slice->start, k * part)) && sym::proven(sym::le(slice->stop, (k + 1) * part))) return k;
  return std::nullopt;
}

void take_parts(Slice& local, const Slice& op, int64_t parts, sym::Expr piece) {
  const std::optional<Parts> taken = sliced_parts(op, parts);
  PLAIT_CHECK(taken, "{} takes no parts", describe(op));
  local.start = taken->first * piece;
  local.stop = local.start + taken->count * piece;
}

bool joins_parts(const Op& op, int64_t parts) {
  const auto* cat = as<Cat>(op);
  if (!cat || cat->in.size() < 2 || parts > kMostParts) return false;
  const auto dim = static_cast<size_t>(cat->dim);
  const sym::Expr part = cat->in[0]->extent(dim), extent = op.out()->extent(dim);
  const auto count = static_cast<int64_t>(cat->in.size());
  return std::ranges::all_of(cat->in, [&](const TensorView* t) { return t->extent(dim) == part; }) &&
         extent == count * part && sym::floordiv(extent, count * parts) == sym::floordiv(part, parts);
}

std::vector<Piece> in_parts(std::vector<Piece> pieces, size_t parts) {
  Piece local;
  local.local = static_cast<int64_t>(parts);
  pieces.insert(pieces.begin(), local);
  Layout layout{{{std::move(pieces)}}, {}};
  layout.normalize();
  return layout.dims[0].pieces;
}

namespace {

// Parts that pieces of the dim are cut from; 0: none.
int64_t front_parts(const TensorView& t, size_t dim) { return held_layout(t).dims[dim].pieces.front().local; }

}  // namespace

std::vector<size_t> moved_dims(const Op& op, const std::function<bool(const TensorView&, size_t)>& is_cut) {
  std::vector<size_t> out;
  if (!gathers_ranges(op)) return out;
  const std::vector<TensorView*> in = inputs(op);
  const std::vector<Factor> all = factors(op);
  for (size_t d = 0; d < op.out()->rank(); ++d) {
    const auto& pieces = held_layout(*op.out()).dims[d].pieces;
    if (as<Cat>(op) && !pieces.empty() && pieces.front().is_local()) continue;
    const auto cuts = [&](const Factor& f) {
      if (f.kind != FactorKind::permute) return false;
      for (size_t i = 0; i < in.size(); ++i)
        if (f.operand_dim[i] == static_cast<int>(d) && is_cut(*in[i], d))
          return !front_parts(*in[i], d) || part_around(op, front_parts(*in[i], d)).has_value();
      return false;
    };
    if (std::ranges::any_of(all, cuts)) out.push_back(d);
  }
  return out;
}

const TensorView* whole_along(const TensorView& t, size_t dim,
                              const std::function<Layout(const TensorView&)>& layout_of) {
  if (layout_of(t).dims[dim].pieces.empty()) return &t;
  const auto* reshard = t.definition ? as<Reshard>(*t.definition) : nullptr;
  const auto step = reshard ? single_step(layout_of(*reshard->in), layout_of(t)) : std::nullopt;
  const bool sliced = step && step->kind == ReshardKind::slice && layout_of(*reshard->in).dims[dim].pieces.empty();
  return sliced ? reshard->in : nullptr;
}

std::map<const Op*, size_t> near_slices(const Fusion& sharded) {
  using Place = std::tuple<const TensorView*, int64_t, int64_t>;  // with the step
  std::map<Place, std::vector<const Slice*>> all;
  for (const Op* op : sharded.ops()) {
    const auto* slice = as<Slice>(*op);
    if (!slice) continue;
    const auto dim = static_cast<size_t>(slice->dim);
    const auto &pieces = held_layout(*slice->in).dims[dim].pieces, &kept = held_layout(*slice->out()).dims[dim].pieces;
    const auto same_axis = [](const Piece& p, const Piece& q) { return !p.is_local() && p.mesh_axis == q.mesh_axis; };
    if (!pieces.empty() && std::ranges::equal(pieces, kept, same_axis))
      all[{slice->in, slice->dim, slice->step}].push_back(slice);
  }
  std::map<const Op*, size_t> out;
  size_t groups = 0;
  for (const auto& [place, slices] : all) {
    const TensorView& t = *std::get<0>(place);
    // How far ranges of a rank may lie apart: a quarter of its piece.
    const auto extent = at_defaults(sharded, t.extent(static_cast<size_t>(std::get<1>(place))));
    const int64_t members = members_of(t, held_layout(t).dims[static_cast<size_t>(std::get<1>(place))].pieces);
    if (!extent) continue;
    std::vector<const Slice*> near;
    for (const Slice* s : slices) {  // of as many elements as are missing at the ends, all begin near each other
      const auto length = at_defaults(sharded, s->out()->extent(static_cast<size_t>(s->dim)));
      if (length && *extent - *length * s->step <= *extent / members / 4) near.push_back(s);
    }
    if (near.size() < 2) continue;
    for (const Slice* s : near) out[s] = groups;
    ++groups;
  }
  return out;
}

const Pad* pad_of_halo(const TensorView& tensor, size_t dim, const std::map<const Op*, size_t>& near) {
  const auto* pad = tensor.definition ? as<Pad>(*tensor.definition) : nullptr;
  const Fusion& fusion = *tensor.fusion;
  if (!pad || fusion.is_output(&tensor)) return nullptr;
  const auto& pieces = held_layout(*pad->in).dims[dim].pieces;
  if (pieces.empty() || pieces.front().is_local()) return nullptr;
  for (size_t d = 0; d < tensor.rank(); ++d)
    if (d != dim && !held_layout(*pad->in).dims[d].pieces.empty() &&
        (pad->low[d].constant() != 0 || pad->high[d].constant() != 0))
      return nullptr;
  const std::vector<Op*>& readers = fusion.readers(&tensor);
  const auto first = readers.empty() ? near.end() : near.find(readers[0]);
  if (first == near.end()) return nullptr;
  for (const Op* reader : readers)
    if (const auto found = near.find(reader);
        found == near.end() || found->second != first->second || static_cast<size_t>(as<Slice>(*reader)->dim) != dim)
      return nullptr;
  return pad;
}

}  // namespace plait
