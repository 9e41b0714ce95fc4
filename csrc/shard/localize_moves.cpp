// Moves along dims of which ranks hold pieces.
#include <algorithm>

#include "shard/localizer.h"

namespace plait {

DimRange Localizer::own_range(const TensorView& t, size_t dim) const {
  const Layout layout = effective(t);
  return {first_index(t, layout, dim), local_dim(t, layout, dim)};
}

void Localizer::add_moved(const Op& op, std::unique_ptr<Op> local, const std::vector<size_t>& dims) {
  if (as<Slice>(op)) {
    const std::vector<Piece> pieces = effective(*inputs(op)[0]).dims[dims[0]].pieces;
    if (const int64_t parts = pieces.front().local; parts > 0)
      return add_slice_of_part(op, dims[0], parts, *part_around(op, parts));
  }
  std::vector<TensorView*> now = inputs(*local);
  for (size_t d : dims) {
    const DimRange out = own_range(*op.out(), d);
    std::vector<sym::Expr> extents;
    for (const TensorView* t : inputs(op)) extents.push_back(import(t->extent(d)));
    const auto ranges = needed_ranges(*local, d, extents, out);
    if (as<Slice>(op)) return add_slice(op, d, ranges[0][0]);
    for (size_t i = 0; i < now.size(); ++i) {
      std::vector<TensorView*> parts;
      for (const DimRange& range : ranges[i]) parts.push_back(ranged(*inputs(op)[i], now[i], d, range, op.out()->name));
      now[i] = parts[0];
      if (parts.size() == 1) continue;
      auto all = std::make_unique<Cat>();
      all->in = parts, all->dim = static_cast<int64_t>(d);
      const auto type = infer(*all, *out_);
      now[i] = between(std::move(all), op.out()->name + "_joined", type.shape);
    }
    take_ranges(*local, d, extents, out);
  }
  set_operands(*local, now);
  if (infer(*local, *out_).shape != local_shape(*op.out())) return add_moved_whole(op, dims);
  add(std::move(local), op.results);
}

void Localizer::add_moved_whole(const Op& op, const std::vector<size_t>& dims) {
  auto local = copied_op(op);
  std::vector<TensorView*> now = inputs(*local);
  for (size_t d : dims)
    for (size_t i = 0; i < now.size(); ++i) {
      const TensorView& t = *inputs(op)[i];
      const DimRange all = {out_->pool().constant(0), import(t.extent(d))};
      now[i] = ranged(t, now[i], d, all, op.out()->name);
    }
  set_operands(*local, now);
  std::vector<sym::Expr> shape = infer(*local, *out_).shape;
  TensorView* part = between(std::move(local), op.out()->name + "_whole", shape);
  std::unique_ptr<LocalSlice> slice;
  for (size_t d : dims) {
    if (slice) part = between(std::move(slice), op.out()->name + "_part", shape);
    slice = std::make_unique<LocalSlice>();
    slice->in = part;
    set_middle(*slice, around(*part, d, own_range(*op.out(), d)));
    shape[d] = slice->count;
  }
  add(std::move(slice), op.results);
}

TensorView* Localizer::ranged(const TensorView& t, TensorView* local, size_t dim, const DimRange& range,
                              const std::string& name) {
  std::vector<sym::Expr> shape = local->shape();
  shape[dim] = range.count;
  return between(range_of(t, local, dim, range), name + "_range", shape);
}

std::unique_ptr<Op> Localizer::range_of(const TensorView& t, TensorView* local, size_t dim,
                                        const DimRange& range) const {
  const bool fresh = local == operand(&t) || !is_cut(t, dim);
  if (const auto* whole = fresh ? whole_along(t, dim, [&](const TensorView& of) { return effective(of); }) : nullptr) {
    auto op = std::make_unique<LocalSlice>();
    op->in = whole == &t ? local : operand(whole);
    set_middle(*op, around(*op->in, dim, range));
    return op;
  }
  const Team team = team_of(effective(t).dims[dim].pieces);
  const DimRange own = own_range(t, dim);
  if (!sym::proven(sym::ge(range.start, own.start)) ||
      !sym::proven(sym::le(range.start + range.count, own.start + own.count)))
    return range_op(t, local, dim, team, range);
  auto op = std::make_unique<LocalSlice>();
  op->in = local;
  set_middle(*op, around(*local, dim, {range.start - own.start, range.count}));
  return op;
}

Localizer::Middle Localizer::around(const TensorView& local, size_t dim, const DimRange& range) const {
  Middle m{out_->pool().constant(1), range.start, range.count, local.extent(dim), out_->pool().constant(1)};
  for (size_t d = 0; d < dim; ++d) m.outer = m.outer * local.extent(d);
  for (size_t d = dim + 1; d < local.rank(); ++d) m.inner = m.inner * local.extent(d);
  return m;
}

std::unique_ptr<GatherRange> Localizer::range_op(const TensorView& t, TensorView* local, size_t dim, const Team& team,
                                                 const DimRange& range) const {
  const RankPieces::Cut held = cut(t, static_cast<int>(dim), effective(t).dims[dim].pieces, team.axes.size());
  Middle m = around(*local, dim, {held.start, held.count});
  m.outer = m.outer * held.outer, m.total = held.total;
  auto op = std::make_unique<GatherRange>();
  op->in = local, op->team = team;
  set_middle(*op, m);
  op->start = range.start, op->taken = range.count;
  return op;
}

void Localizer::add_slice(const Op& op, size_t dim, const DimRange& range) {
  const TensorView& t = *inputs(op)[0];
  const int64_t step = as<Slice>(op)->step;
  const auto group = near_.find(&op);
  const bool alone = group == near_.end() || !is_cut(*op.out(), dim);
  if (alone && step == 1) return add(range_of(t, operand(&t), dim, range), op.results);
  auto local = std::make_unique<Slice>();
  local->dim = static_cast<int64_t>(dim), local->step = step;
  if (alone) {
    local->in = ranged(t, operand(&t), dim, range, op.out()->name);
    local->start = out_->pool().constant(0);
  } else {
    const auto& [all, begin] = halo(t, dim, group->second);
    local->in = all;
    local->start = range.start - begin;
  }
  local->stop = local->start + range.count;
  add(std::move(local), op.results);
}

void Localizer::add_slice_of_part(const Op& op, size_t dim, int64_t parts, int64_t part) {
  const TensorView& t = *inputs(op)[0];
  std::vector<Piece> pieces = effective(t).dims[dim].pieces;
  pieces.erase(pieces.begin());
  const sym::Expr extent = sym::floordiv(import(t.extent(dim)), parts);
  const RankPieces::Cut held = pieces_.cut(extent, pieces, pieces.size());
  auto own = std::make_unique<Slice>();
  own->in = operand(&t), own->dim = static_cast<int64_t>(dim);
  own->start = part * held.count, own->stop = (part + 1) * held.count;
  std::vector<sym::Expr> shape = own->in->shape();
  shape[dim] = held.count;
  TensorView* piece = between(std::move(own), op.out()->name + "_part", shape);
  Middle m = around(*piece, dim, {held.start, held.count});
  m.total = extent;
  const DimRange out = own_range(*op.out(), dim);
  auto range = std::make_unique<GatherRange>();
  range->in = piece, range->team = team_of(pieces);
  set_middle(*range, m);
  range->start = import(as<Slice>(op)->start) + out.start - part * extent, range->taken = out.count;
  add(std::move(range), op.results);
}

const std::pair<TensorView*, sym::Expr>& Localizer::halo(const TensorView& t, size_t dim, size_t group) {
  auto& [all, begin] = halos_[group];
  if (all) return halos_[group];
  sym::Expr end;
  for (const auto& [other, number] : near_) {
    if (number != group) continue;
    const DimRange range =
        needed_ranges(*copied_op(*other), dim, {import(t.extent(dim))}, own_range(*other->out(), dim))[0][0];
    begin = begin ? sym::min(begin, range.start) : range.start;
    end = end ? sym::max(end, range.start + range.count) : range.start + range.count;
  }
  const Pad* pad = pad_of_halo(t, dim, near_);
  if (pad && is_cut(*pad->in, dim)) {
    all = padded(*pad, dim, {begin, end - begin});
    return halos_[group];
  }
  all = ranged(t, operand(&t), dim, {begin, end - begin}, t.name);
  return halos_[group];
}

TensorView* Localizer::padded(const Pad& op, size_t dim, const DimRange& range) {
  const std::vector<sym::Expr> extents = {import(op.in->extent(dim))};
  std::unique_ptr<Op> local = copied_op(op);
  const DimRange needed = needed_ranges(*local, dim, extents, range)[0][0];
  take_ranges(*local, dim, extents, range);
  set_operands(*local, {ranged(*op.in, operand(op.in), dim, needed, op.out()->name)});
  const std::vector<sym::Expr> shape = infer(*local, *out_).shape;
  return between(std::move(local), op.out()->name + "_range", shape);
}

}  // namespace plait
