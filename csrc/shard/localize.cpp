#include "shard/localize.h"

#include <algorithm>
#include <map>
#include <set>

#include "ir/factors.h"
#include "ir/op_fields.h"
#include "ir/text_limits.h"
#include "shard/check_pieces.h"
#include "shard/localizer.h"
#include "shard/merge_parts.h"
#include "shard/single_axes.h"

namespace plait {

Localizer::Localizer(const Fusion& sharded, const DeviceMesh& mesh, const LocalizeOptions& options)
    : from_(sharded),
      mesh_(mesh),
      options_(options),
      out_(std::make_unique<Fusion>(mesh_of_sizes(sharded.mesh(), mesh), sharded.name())),
      pieces_(out_->mesh(), out_->pool(), sizes_in(out_->pool(), mesh)) {
  sym::Pool& pool = out_->pool();
  for (size_t i = 0; i < mesh.sizes().size(); ++i) {
    const int64_t size = mesh.sizes()[i];
    if (size > 1) pool.symbol(rank_symbol(out_->mesh(), static_cast<int>(i)), {.lo = 0, .hi = size - 1});
    const std::string& symbol = sharded.mesh().axes()[i].symbol;
    if (!symbol.empty()) mesh_symbols_.emplace(symbol, pool.constant(size));
  }
  for (const auto& let : sharded.size_lets)
    if (!mesh_symbols_.count(let.name)) out_->let(let.name, let.value);
  out_->dtype_lets = sharded.dtype_lets;
}

std::unique_ptr<Fusion> Localizer::run() {
  find_aliases();
  for (const TensorView* t : from_.inputs()) {
    std::vector<Fusion::Extent> shape;
    for (sym::Expr e : local_shape(*t)) shape.emplace_back(e);
    TensorView* local = t->role == TensorRole::parameter ? out_->parameter(t->name, shape, t->dtype)
                                                         : out_->input(t->name, shape, t->dtype);
    keep(*t, *local);
    local_[t] = local;
  }
  for (const Op* op : from_.ops()) visit_op(*op);
  for (const TensorView* t : from_.outputs()) out_->output(t->name, local_.at(root(t)));
  out_->aliases = from_.aliases;
  for (const Op* op : out_->ops())
    for (const TensorView* t : op->results)
      check_text_limits(*op, {t->shape(), t->dtype, ""}, fmt::format("%{}, on a rank", t->name));
  return std::move(out_);
}

std::vector<sym::Expr> Localizer::sizes_in(sym::Pool& pool, const DeviceMesh& mesh) {
  std::vector<sym::Expr> out;
  for (int64_t size : mesh.sizes()) out.push_back(pool.constant(size));
  return out;
}

Layout Localizer::effective(const Layout& layout) const {
  return without_axes(layout, [&](int axis) { return mesh_.size(axis) == 1; });
}

std::vector<sym::Expr> Localizer::local_shape(const TensorView& t) const {
  Layout layout = effective(t);
  std::vector<sym::Expr> out;
  for (size_t d = 0; d < t.rank(); ++d) out.push_back(local_dim(t, layout, d));
  return out;
}

void Localizer::find_aliases() {
  for (const Op* op : from_.ops()) {
    const auto* reshard = as<Reshard>(*op);
    if (!reshard || !same_cuts(*op->out(), effective(*reshard->in), effective(*op->out()))) continue;
    const TensorView* r = root(reshard->in);
    if (from_.is_output(op->out())) {
      if (!r->definition || from_.is_output(r) || faces_.count(r)) continue;  // stays a copy
      faces_[r] = op->out();
    }
    roots_[op->out()] = r;
  }
}

bool Localizer::same_cuts(const TensorView& t, const Layout& a, const Layout& b) const {
  if (a.partial != b.partial) return false;
  for (size_t d = 0; d < a.dims.size(); ++d) {
    if (a.dims[d] == b.dims[d]) continue;
    for (const Layout* layout : {&a, &b})
      if (std::ranges::any_of(layout->dims[d].pieces, &Piece::is_local)) return false;
    if (first_index(t, a, d) != first_index(t, b, d) || local_dim(t, a, d) != local_dim(t, b, d)) return false;
  }
  return true;
}

const TensorView* Localizer::root(const TensorView* t) const {
  auto it = roots_.find(t);
  return it == roots_.end() ? t : it->second;
}

void Localizer::keep(const TensorView& from, TensorView& to) const {
  bool shown = !from.definition || from_.is_output(&from);
  to.dtype_alias = from.dtype_alias;
  to.layout = shown ? held_layout(from) : effective(from);
  to.layout_source = from.layout_source;
  to.reason = from.reason;
  for (Transform t : from.domain.transforms) {
    if (t.factor) t.factor = import(t.factor);
    to.domain.transforms.push_back(std::move(t));
  }
}

void Localizer::visit_op(const Op& op) {
  if (const auto* reshard = as<Reshard>(op)) {
    if (!roots_.count(op.out())) visit_reshard(*reshard);
    return;
  }
  PLAIT_CHECK(property(op.kind) != OpProperty::composite || is_sharded_whole(op.kind), "{} is not expanded",
              describe(op));
  std::unique_ptr<Op> local = copied_op(op);
  if (starts_from_parts(op)) return add_scatter(*as<Scatter>(op), std::move(local));
  if (const auto dims = parted_dims(op); !dims.empty()) return add_merged(op, *local, dims);
  if (const auto dims = moved_dims(op, [&](const TensorView& t, size_t d) { return is_cut(t, d); }); !dims.empty())
    return add_moved(op, std::move(local), dims);
  add(std::move(local), op.results);
}

std::unique_ptr<Op> Localizer::copied_op(const Op& op) const {
  std::unique_ptr<Op> local = blank_op(op.kind);
  copy_fields(op, *local, [&](const auto& value) { return copied(value); });
  visit(op, [&]<class Node>(const Node& node) { complete(static_cast<Node&>(*local), node); });
  return local;
}

std::vector<size_t> Localizer::parted_dims(const Op& op) const {
  std::vector<size_t> out;
  for (const Factor& f : factors(op)) {
    if (f.kind != FactorKind::merge || f.operand_dim[0] < 0) continue;
    const auto dim = static_cast<size_t>(f.operand_dim[0]);
    if (!effective(*inputs(op)[0]).dims[dim].pieces.empty()) out.push_back(dim);
  }
  return out;
}

void Localizer::add_merged(const Op& op, const Op& local, const std::vector<size_t>& dims) {
  const TensorView& in = *inputs(op)[0];
  PartedDims parted;
  const TensorView* places = op.results.size() == 2 ? op.results[1] : nullptr;
  parted.reads_places = !places || from_.is_output(places) || !from_.readers(places).empty();
  Team team;
  for (size_t dim : dims) {
    const std::vector<Piece> pieces = effective(in).dims[dim].pieces;
    PartedDim& added = parted.dims.emplace_back();
    added.dim = static_cast<int64_t>(dim);
    added.extent = import(in.extent(dim));
    added.members = out_->pool().constant(1), added.rank = out_->pool().constant(0);
    for (const Piece& piece : pieces) {
      team.axes.push_back(piece.mesh_axis);
      added.cuts.push_back({pieces_.size(piece), piece.granule});
      added.members = added.members * pieces_.size(piece);
      added.rank = added.rank * pieces_.size(piece) + pieces_.rank(piece);
    }
    added.start = pieces_.first_index(added.extent, pieces);
  }
  parted.gather = [&](TensorView* t, const char* what) { return gather_members(t, op.results[0]->name + what, team); };
  parted.join = [&](TensorView* t, size_t dim, sym::Expr total, const char* what) {
    auto all = std::make_unique<AllGather>();
    all->in = t, all->team = team;
    set_middle(*all, around(*t, dim, {{}, t->extent(dim)}));
    all->total = total;
    std::vector<sym::Expr> shape = t->shape();
    shape[dim] = total;
    return between(std::move(all), op.results[0]->name + what, shape);
  };
  std::vector<std::unique_ptr<Op>> last = merge_parts(local, parted, free_prefix(op.results[0]->name));
  for (size_t r = 0; r < last.size(); ++r) add(std::move(last[r]), *op.results[r]);
}

std::string Localizer::free_prefix(const std::string& name) const {
  const auto is_taken = [&](const std::string& prefix) {
    return std::ranges::any_of(from_.tensors(), [&](const TensorView* t) { return t->name.starts_with(prefix + "_"); });
  };
  std::string out = name + "_part";
  for (int k = 1; is_taken(out); ++k) out = fmt::format("{}_part{}", name, k);
  return out;
}

void Localizer::complete(Iota& local, const Iota& op) const {
  local.shape = local_shape(*op.out());
  local.start = import(op.start) + first_index(*op.out(), effective(*op.out()), static_cast<size_t>(op.dim));
}

void Localizer::complete(Slice& local, const Slice& op) const {
  const auto dim = static_cast<size_t>(op.dim);
  DimLayout held = effective(*op.in).dims[dim];
  if (held.pieces.empty() || !held.pieces.front().is_local()) return;
  const int64_t parts = held.pieces.front().local;
  if (!sliced_parts(op, parts)) return;  // it takes ranges of one (add_slice_of_part)
  held.pieces.erase(held.pieces.begin());
  const sym::Expr part = sym::floordiv(import(op.in->extent(dim)), parts);
  take_parts(local, op, parts, local_extent(part, held, out_->mesh(), pieces_.sizes()));
}

sym::Expr Localizer::local_elements(const TensorView& t, const Layout& layout, int first, int last) const {
  sym::Expr out = out_->pool().constant(1);
  for (int d = first; d < last; ++d) out = out * local_dim(t, layout, static_cast<size_t>(d));
  return out;
}

Localizer::Middle Localizer::middle(const TensorView& t, const Layout& layout, const ReshardStep& step) const {
  const RankPieces::Cut c = cut(t, step.dim, step.pieces, step.team.axes.size());
  const sym::Expr outer = local_elements(t, layout, 0, step.dim) * c.outer;
  return {outer, c.start, c.count, c.total, local_elements(t, layout, step.dim + 1, static_cast<int>(t.rank()))};
}

std::unique_ptr<AllToAll> Localizer::exchange(const TensorView& t, const Layout& layout,
                                              const ReshardStep& step) const {
  const RankPieces::Cut gathered = cut(t, step.from_dim, step.from_pieces, step.team.axes.size());
  const RankPieces::Cut scattered = cut(t, step.dim, step.pieces, step.team.axes.size());
  auto op = std::make_unique<AllToAll>();
  op->team = step.team;
  op->count = gathered.count, op->total = gathered.total;
  op->scattered = scattered.count, op->scattered_total = scattered.total;
  op->scattered_first = step.dim < step.from_dim;
  const int first = std::min(step.dim, step.from_dim), second = std::max(step.dim, step.from_dim);
  op->outer = local_elements(t, layout, 0, first) * (op->scattered_first ? scattered : gathered).outer;
  op->middle = local_elements(t, layout, first + 1, second) * (op->scattered_first ? gathered : scattered).outer;
  op->inner = local_elements(t, layout, second + 1, static_cast<int>(t.rank()));
  return op;
}

std::unique_ptr<GatherBlock> Localizer::block(const TensorView& t, const Layout& layout,
                                              const ReshardStep& step) const {
  auto op = std::make_unique<GatherBlock>();
  op->team = step.team;
  const auto add_dim = [&](const BlockDim& of) {
    const auto behind = [&](const std::vector<Piece>& last) {
      std::vector<Piece> all = of.kept;
      all.insert(all.end(), last.begin(), last.end());
      return cut(t, of.dim, all, last.size());
    };
    const RankPieces::Cut held = behind(of.held), wanted = behind(of.taken);
    op->totals.push_back(held.total);
    op->held.insert(op->held.end(), {held.start, held.count});
    op->wanted.insert(op->wanted.end(), {wanted.start, wanted.count});
    return held.outer;
  };
  const BlockDim &first = step.block[0], &second = step.block[1];
  op->outer = local_elements(t, layout, 0, first.dim) * add_dim(first);
  op->middle = local_elements(t, layout, first.dim + 1, second.dim) * add_dim(second);
  op->inner = local_elements(t, layout, second.dim + 1, static_cast<int>(t.rank()));
  return op;
}

void Localizer::add_slices(const Reshard& op, Layout from, const Layout& to) {
  const TensorView& t = *op.out();
  TensorView* part = operand(op.in);
  std::unique_ptr<LocalSlice> slice;
  for (size_t d = 0; d < t.rank(); ++d) {
    Layout next = from;
    next.dims[d] = to.dims[d];
    const auto step = single_step(from, next);
    if (!step) continue;
    PLAIT_CHECK(step->kind == ReshardKind::slice, "{} is not one step", describe(op));
    if (slice) {
      std::vector<sym::Expr> shape;
      for (size_t e = 0; e < t.rank(); ++e) shape.push_back(local_dim(t, from, e));
      part = between(std::move(slice), t.name + "_part", shape);
    }
    slice = std::make_unique<LocalSlice>();
    slice->in = part;
    set_middle(*slice, middle(t, from, *step));
    from = next;
  }
  PLAIT_CHECK(slice && from == to, "{} is not one step", describe(op));
  add(std::move(slice), t);
}

void Localizer::visit_reshard(const Reshard& op) {
  Layout from = effective(*op.in);
  if (same_cuts(*op.out(), from, effective(*op.out()))) return add_copy(op);
  // Axes of one rank leave less of a step.
  const bool less = std::ranges::count(mesh_.sizes(), 1) > 0;
  const auto step = less ? single_step(from, effective(*op.out())) : planned_step(op);
  if (!step) return add_slices(op, from, effective(*op.out()));
  TensorView* in = operand(op.in);
  switch (step->kind) {
    case ReshardKind::all_reduce: {
      if (gathers(*step, in))
        return reduce_members(gather_members(in, op.out()->name, step->team), step->reduce, *op.out());
      auto local = std::make_unique<AllReduce>();
      local->in = in, local->team = step->team, local->reduce = step->reduce;
      return add(std::move(local), *op.out());
    }
    case ReshardKind::all_gather: {
      auto local = std::make_unique<AllGather>();
      local->in = in, local->team = step->team;
      set_middle(*local, middle(*op.out(), from, *step));
      return add(std::move(local), *op.out());
    }
    case ReshardKind::reduce_scatter: {
      if (gathers(*step, in)) return reduce_members(own_parts(op, from, *step), step->reduce, *op.out());
      auto local = std::make_unique<ReduceScatter>();
      local->in = in, local->team = step->team, local->reduce = step->reduce;
      set_middle(*local, middle(*op.out(), from, *step));
      return add(std::move(local), *op.out());
    }
    case ReshardKind::all_to_all: {
      auto local = exchange(*op.out(), from, *step);
      local->in = in;
      return add(std::move(local), *op.out());
    }
    case ReshardKind::gather_range: {
      const size_t kept = step->from_pieces.size() - step->team.axes.size();
      const RankPieces::Cut to = cut(*op.out(), step->dim, step->pieces, step->pieces.size() - kept);
      return add(range_op(*op.in, in, static_cast<size_t>(step->dim), step->team, {to.start, to.count}), *op.out());
    }
    case ReshardKind::gather_block: {
      auto local = block(*op.out(), from, *step);
      local->in = in;
      return add(std::move(local), *op.out());
    }
    case ReshardKind::slice: {
      auto local = std::make_unique<LocalSlice>();
      local->in = in;
      set_middle(*local, middle(*op.out(), from, *step));
      return add(std::move(local), *op.out());
    }
  }
}

bool Localizer::gathers(const ReshardStep& step, const TensorView* in) const {
  if (step.reduce == ReduceOp::logsumexp) return true;
  return options_.reduces && !options_.reduces(step.reduce, in->dtype);
}

std::string Localizer::free_name(const std::string& hint) const {
  std::string out = hint;
  for (int k = 1; from_.find(out) || out_->find(out); ++k) out = fmt::format("{}_{}", hint, k);
  return out;
}

TensorView* Localizer::gather_members(TensorView* in, const std::string& name, const Team& team) {
  const sym::Expr one = out_->pool().constant(1), members = out_->pool().constant(mesh_.members(team));
  std::vector<sym::Expr> shape = {members};
  sym::Expr elements = one;
  for (sym::Expr e : in->shape()) {
    shape.push_back(e);
    elements = elements * e;
  }
  auto op = std::make_unique<AllGather>();
  op->in = in, op->team = team;
  set_middle(*op, {one, {}, one, members, elements});
  return between(std::move(op), name + "_members", shape);
}

TensorView* Localizer::own_parts(const Reshard& reshard, const Layout& from, const ReshardStep& step) {
  TensorView* all = gather_members(operand(reshard.in), reshard.out()->name, step.team);
  const sym::Expr members = all->extent(0);
  std::vector<sym::Expr> shape = local_shape(*reshard.out());
  shape.insert(shape.begin(), members);
  Middle m = middle(*reshard.out(), from, step);
  m.outer = m.outer * members;
  auto op = std::make_unique<LocalSlice>();
  op->in = all;
  set_middle(*op, m);
  return between(std::move(op), reshard.out()->name + "_parts", shape);
}

void Localizer::reduce_members(TensorView* members, ReduceOp reduce, const TensorView& result) {
  auto op = reduction_of_first(members, reduce);
  const Inferred type = infer(*op, *out_);
  if (type.dtype == result.dtype) return add(std::move(op), result);
  TensorView* wide = between(std::move(op), result.name + "_wide", type.shape, type.dtype);
  auto narrow = std::make_unique<PointwiseOp>();
  narrow->function = Pointwise::cast, narrow->in = {wide}, narrow->to = result.dtype;
  add(std::move(narrow), result);
}

void Localizer::add_copy(const Reshard& op) {
  auto local = std::make_unique<LocalSlice>();
  sym::Expr one = out_->pool().constant(1), elements = one;
  for (sym::Expr e : local_shape(*op.out())) elements = elements * e;
  local->in = operand(op.in);
  set_middle(*local, {one, out_->pool().constant(0), elements, elements, one});
  add(std::move(local), *op.out());
}

std::unique_ptr<Fusion> localize(const Fusion& sharded, const DeviceMesh& mesh, const LocalizeOptions& options) {
  check_known_pieces(sharded, mesh);
  return Localizer(sharded, mesh, options).run();
}

}  // namespace plait
