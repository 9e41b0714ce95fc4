#include "shard/localize.h"

#include <algorithm>
#include <map>
#include <set>

#include "base/error.h"
#include "ir/factors.h"
#include "ir/make_op.h"
#include "ir/op_fields.h"
#include "ir/text_limits.h"
#include "shard/check_pieces.h"
#include "shard/gather_ranges.h"
#include "shard/merge_parts.h"
#include "shard/rank_pieces.h"
#include "shard/reshard_plan.h"

namespace plait {

namespace {

class Localizer {
 public:
  Localizer(const Fusion& sharded, const DeviceMesh& mesh, const LocalizeOptions& options)
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

  std::unique_ptr<Fusion> run() {
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

 private:
  static std::vector<sym::Expr> sizes_in(sym::Pool& pool, const DeviceMesh& mesh) {
    std::vector<sym::Expr> out;
    for (int64_t size : mesh.sizes()) out.push_back(pool.constant(size));
    return out;
  }

  // ---- Layouts without the axes of size 1.
  Layout effective(const Layout& layout) const {
    Layout out = layout;
    for (auto& dim : out.dims)
      std::erase_if(dim.pieces, [&](const Piece& p) { return !p.is_local() && mesh_.size(p.mesh_axis) == 1; });
    std::erase_if(out.partial, [&](const auto& p) { return mesh_.size(p.first) == 1; });
    out.normalize();
    return out;
  }
  Layout effective(const TensorView& t) const { return effective(held_layout(t)); }

  sym::Expr import(sym::Expr e) const { return sym::substitute(out_->pool(), e, mesh_symbols_); }

  sym::Expr local_dim(const TensorView& t, const Layout& layout, size_t d) const {
    return local_extent(import(t.extent(d)), layout.dims[d], out_->mesh(), pieces_.sizes());
  }

  std::vector<sym::Expr> local_shape(const TensorView& t) const {
    Layout layout = effective(t);
    std::vector<sym::Expr> out;
    for (size_t d = 0; d < t.rank(); ++d) out.push_back(local_dim(t, layout, d));
    return out;
  }

  // ---- Steps that vanish. `face` is the tensor whose name and layout the common local tensor shows.
  void find_aliases() {
    for (const Op* op : from_.ops()) {
      const auto* reshard = as<Reshard>(*op);
      if (!reshard || effective(*reshard->in) != effective(*op->out())) continue;
      const TensorView* r = root(reshard->in);
      if (from_.is_output(op->out())) {
        if (!r->definition || from_.is_output(r) || faces_.count(r)) continue;  // stays a copy
        faces_[r] = op->out();
      }
      roots_[op->out()] = r;
    }
  }

  const TensorView* root(const TensorView* t) const {
    auto it = roots_.find(t);
    return it == roots_.end() ? t : it->second;
  }

  TensorView* operand(const TensorView* t) const { return local_.at(root(t)); }

  void keep(const TensorView& from, TensorView& to) const {
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

  // ---- Ops.
  void visit_op(const Op& op) {
    if (const auto* reshard = as<Reshard>(op)) {
      if (!roots_.count(op.out())) visit_reshard(*reshard);
      return;
    }
    PLAIT_CHECK(property(op.kind) != OpProperty::composite || is_sharded_whole(op.kind), "{} is not expanded",
                describe(op));
    std::unique_ptr<Op> local = copied_op(op);
    if (const auto dim = parted_dim(op)) return add_merged(op, *local, *dim);
    if (const auto dims = moved_dims(op, [&](const TensorView& t, size_t d) { return is_cut(t, d); }); !dims.empty())
      return add_moved(op, std::move(local), dims);
    add(std::move(local), op.results);
  }

  // The op of this rank.
  std::unique_ptr<Op> copied_op(const Op& op) const {
    std::unique_ptr<Op> local = blank_op(op.kind);
    copy_fields(op, *local, [&](const auto& value) { return copied(value); });
    visit(op, [&]<class Node>(const Node& node) { complete(static_cast<Node&>(*local), node); });
    return local;
  }

  // ---- Ops that are merged from what ranks make of their pieces.
  std::optional<size_t> parted_dim(const Op& op) const {
    for (const Factor& f : factors(op)) {
      if (f.kind != FactorKind::merge || f.operand_dim[0] < 0) continue;
      const auto dim = static_cast<size_t>(f.operand_dim[0]);
      if (!effective(*inputs(op)[0]).dims[dim].pieces.empty()) return dim;
    }
    return std::nullopt;
  }

  void add_merged(const Op& op, const Op& local, size_t dim) {
    const TensorView& in = *inputs(op)[0];
    const Piece piece = effective(in).dims[dim].pieces.at(0);
    PartedDim parted;
    parted.dim = static_cast<int64_t>(dim);
    parted.extent = import(in.extent(dim));
    parted.members = pieces_.size(piece);
    parted.chunk = sym::chunk(parted.extent, parted.members, out_->pool().constant(0), piece.granule);
    parted.rank = pieces_.rank(piece);
    parted.gather = [&](TensorView* t, const char* what) {
      return gather_members(t, op.results[0]->name + what, piece.mesh_axis);
    };
    std::vector<std::unique_ptr<Op>> last = merge_parts(local, parted, free_prefix(op.results[0]->name));
    for (size_t r = 0; r < last.size(); ++r) add(std::move(last[r]), *op.results[r]);
  }

  // With which no name of the whole graph begins.
  std::string free_prefix(const std::string& name) const {
    const auto is_taken = [&](const std::string& prefix) {
      return std::ranges::any_of(from_.tensors(),
                                 [&](const TensorView* t) { return t->name.starts_with(prefix + "_"); });
    };
    std::string out = name + "_part";
    for (int k = 1; is_taken(out); ++k) out = fmt::format("{}_part{}", name, k);
    return out;
  }

  // A field of an op, for the ranks.
  template <class T>
  T copied(const T& value) const {
    if constexpr (std::is_same_v<T, TensorView*>) {
      return value ? operand(value) : nullptr;
    } else if constexpr (std::is_same_v<T, std::vector<TensorView*>>) {
      T out;
      for (const TensorView* t : value) out.push_back(operand(t));
      return out;
    } else if constexpr (std::is_same_v<T, sym::Expr>) {
      return import(value);
    } else if constexpr (std::is_same_v<T, std::vector<sym::Expr>>) {
      T out;
      for (sym::Expr e : value) out.push_back(import(e));
      return out;
    } else {
      return value;
    }
  }

  void complete(Op&, const Op&) const {}
  void complete(Full& local, const Full& op) const { local.shape = local_shape(*op.out()); }
  void complete(Uniform& local, const Uniform& op) const { number(local, op); }
  void complete(Normal& local, const Normal& op) const { number(local, op); }
  void complete(Iota& local, const Iota& op) const {
    local.shape = local_shape(*op.out());
    local.start = import(op.start) + first_index(*op.out(), effective(*op.out()), static_cast<size_t>(op.dim));
  }
  void complete(Broadcast& local, const Broadcast& op) const { local.shape = local_shape(*op.out()); }
  void complete(Reshape& local, const Reshape& op) const { local.shape = local_shape(*op.out()); }

  // Of a dim that is cut in several parts, the same parts of what this rank has.
  void complete(Slice& local, const Slice& op) const {
    const auto dim = static_cast<size_t>(op.dim);
    DimLayout held = effective(*op.in).dims[dim];
    if (held.pieces.empty() || !held.pieces.front().is_local()) return;
    const int64_t parts = held.pieces.front().local;
    held.pieces.erase(held.pieces.begin());
    const sym::Expr part = sym::floordiv(import(op.in->extent(dim)), parts);
    take_parts(local, op, parts, local_extent(part, held, out_->mesh(), pieces_.sizes()));
  }

  void complete(Gather& local, const Gather& op) const { place(local, op); }
  void complete(IndexSelect& local, const IndexSelect& op) const { place(local, op); }
  void complete(Scatter& local, const Scatter& op) const { place(local, op); }

  // Where an index stands is said of the whole one. Of a piece that is no range it is said of the piece. It counts the
  // places of the whole dim.
  template <class Lookup>
  void place(Lookup& local, const Lookup& op) const {
    const auto dim = static_cast<size_t>(op.dim);
    if (const Layout held = effective(*op.in); !held.dims[dim].pieces.empty())
      local.range = {first_index(*op.in, held, dim), import(op.in->extent(dim))};
    const TensorView& index = *op.index;
    const Layout layout = effective(index);
    const auto is_local = [](const Piece& p) { return p.is_local(); };
    bool whole = true;
    for (const DimLayout& dim : layout.dims) {
      whole = whole && dim.pieces.empty();
      if (std::any_of(dim.pieces.begin(), dim.pieces.end(), is_local)) return;
    }
    for (size_t d = 0; !whole && d < index.rank(); ++d) {
      local.global.push_back(import(index.extent(d)));
      local.start.push_back(first_index(index, layout, d));
    }
  }

  sym::Expr first_index(const TensorView& t, const Layout& layout, size_t d) const {
    return pieces_.first_index(import(t.extent(d)), layout.dims[d].pieces);
  }

  // Random numbers are those of the global indices.
  template <class Random>
  void number(Random& local, const Random& op) const {
    const Layout layout = effective(*op.out());
    local.shape = local_shape(*op.out());
    if (layout.is_replicated()) return;
    for (size_t d = 0; d < op.out()->rank(); ++d) {
      local.global.push_back(import(op.out()->extent(d)));
      local.start.push_back(first_index(*op.out(), layout, d));
    }
  }

  void add(std::unique_ptr<Op> op, const TensorView& from) { add(std::move(op), std::vector{&from}); }

  template <class Results>
  void add(std::unique_ptr<Op> op, const Results& results) {
    std::vector<TensorView*> locals;
    for (const TensorView* from : results) {
      auto face = faces_.find(from);
      const TensorView& shown = face == faces_.end() ? *from : *face->second;
      TensorView* local = out_->add_tensor(shown.name, local_shape(*from), from->dtype);
      PLAIT_CHECK(local->name == shown.name, "%{} exists already", shown.name);
      keep(shown, *local);
      locals.push_back(local_[from] = local);
    }
    const Op* raw = out_->add_op(std::move(op), locals);
    const std::vector<Inferred> inferred = infer_results(*raw, *out_);
    for (size_t r = 0; r < locals.size(); ++r)
      PLAIT_CHECK(inferred[r].dtype == locals[r]->dtype && inferred[r].shape == locals[r]->shape(),
                  "local extents of {} do not fit", describe(*raw));
  }

  // ---- Reshards.
  struct Middle {
    sym::Expr outer, start, count, total, inner;
  };

  RankPieces::Cut cut(const TensorView& t, int dim, const std::vector<Piece>& pieces) const {
    return pieces_.cut(import(t.extent(static_cast<size_t>(dim))), pieces);
  }

  // Product of the local extents of dims first .. last.
  sym::Expr local_elements(const TensorView& t, const Layout& layout, int first, int last) const {
    sym::Expr out = out_->pool().constant(1);
    for (int d = first; d < last; ++d) out = out * local_dim(t, layout, static_cast<size_t>(d));
    return out;
  }

  // The tensor around the last piece of a dim's list.
  Middle middle(const TensorView& t, const Layout& layout, const ReshardStep& step) const {
    const RankPieces::Cut c = cut(t, step.dim, step.pieces);
    const sym::Expr outer = local_elements(t, layout, 0, step.dim) * c.outer;
    return {outer, c.start, c.count, c.total, local_elements(t, layout, step.dim + 1, static_cast<int>(t.rank()))};
  }

  std::unique_ptr<AllToAll> exchange(const TensorView& t, const Layout& layout, const ReshardStep& step) const {
    const RankPieces::Cut gathered = cut(t, step.from_dim, step.from_pieces), scattered = cut(t, step.dim, step.pieces);
    auto op = std::make_unique<AllToAll>();
    op->axis = step.axis;
    op->count = gathered.count, op->total = gathered.total;
    op->scattered = scattered.count, op->scattered_total = scattered.total;
    op->scattered_first = step.dim < step.from_dim;
    const int first = std::min(step.dim, step.from_dim), second = std::max(step.dim, step.from_dim);
    op->outer = local_elements(t, layout, 0, first) * (op->scattered_first ? scattered : gathered).outer;
    op->middle = local_elements(t, layout, first + 1, second) * (op->scattered_first ? gathered : scattered).outer;
    op->inner = local_elements(t, layout, second + 1, static_cast<int>(t.rank()));
    return op;
  }

  template <class Node>
  static void set_middle(Node& node, const Middle& m) {
    node.outer = m.outer;
    node.count = m.count;
    node.total = m.total;
    node.inner = m.inner;
    if constexpr (std::is_same_v<Node, LocalSlice>) node.start = m.start;
  }

  void visit_reshard(const Reshard& op) {
    Layout from = effective(*op.in);
    if (from == effective(*op.out())) return add_copy(op);
    auto step = single_step(from, effective(*op.out()));
    PLAIT_CHECK(step, "{} is not one step", describe(op));
    TensorView* in = operand(op.in);
    switch (step->kind) {
      case ReshardKind::all_reduce: {
        if (gathers(*step, in))
          return reduce_members(gather_members(in, op.out()->name, step->axis), step->reduce, *op.out());
        auto local = std::make_unique<AllReduce>();
        local->in = in, local->axis = step->axis, local->reduce = step->reduce;
        return add(std::move(local), *op.out());
      }
      case ReshardKind::all_gather: {
        auto local = std::make_unique<AllGather>();
        local->in = in, local->axis = step->axis;
        set_middle(*local, middle(*op.out(), from, *step));
        return add(std::move(local), *op.out());
      }
      case ReshardKind::reduce_scatter: {
        if (gathers(*step, in)) return reduce_members(own_parts(op, from, *step), step->reduce, *op.out());
        auto local = std::make_unique<ReduceScatter>();
        local->in = in, local->axis = step->axis, local->reduce = step->reduce;
        set_middle(*local, middle(*op.out(), from, *step));
        return add(std::move(local), *op.out());
      }
      case ReshardKind::all_to_all: {
        auto local = exchange(*op.out(), from, *step);
        local->in = in;
        return add(std::move(local), *op.out());
      }
      case ReshardKind::gather_range: {
        const RankPieces::Cut to = cut(*op.out(), step->dim, step->pieces);
        return add(range_op(*op.in, in, static_cast<size_t>(step->dim), {to.start, to.count}), *op.out());
      }
      case ReshardKind::slice: {
        auto local = std::make_unique<LocalSlice>();
        local->in = in;
        set_middle(*local, middle(*op.out(), from, *step));
        return add(std::move(local), *op.out());
      }
    }
  }

  // ---- Moves along dims of which ranks hold pieces.
  DimRange own_range(const TensorView& t, size_t dim) const {
    const Layout layout = effective(t);
    return {first_index(t, layout, dim), local_dim(t, layout, dim)};
  }
  bool is_cut(const TensorView& t, size_t dim) const { return !effective(t).dims[dim].pieces.empty(); }

  // Dim by dim: each operand becomes the range that this rank's piece of the result needs.
  void add_moved(const Op& op, std::unique_ptr<Op> local, const std::vector<size_t>& dims) {
    std::vector<TensorView*> now = inputs(*local);
    for (size_t d : dims) {
      const DimRange out = own_range(*op.out(), d);
      std::vector<sym::Expr> extents;
      for (const TensorView* t : inputs(op)) extents.push_back(import(t->extent(d)));
      const auto ranges = needed_ranges(*local, d, extents, out);
      if (as<Slice>(op)) return add_slice(op, d, ranges[0][0]);
      for (size_t i = 0; i < now.size(); ++i) {
        std::vector<TensorView*> parts;
        for (const DimRange& range : ranges[i])
          parts.push_back(ranged(*inputs(op)[i], now[i], d, range, op.out()->name));
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

  // Where what the ranges add up to is not seen to be the piece: the op of whole operands, and the piece of its result.
  void add_moved_whole(const Op& op, const std::vector<size_t>& dims) {
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

  // A range of an operand along a dim, of which this rank has `local`: all of it or a piece.
  TensorView* ranged(const TensorView& t, TensorView* local, size_t dim, const DimRange& range,
                     const std::string& name) {
    std::vector<sym::Expr> shape = local->shape();
    shape[dim] = range.count;
    const bool fresh = local == operand(&t) || !is_cut(t, dim);
    const TensorView* whole =
        fresh ? whole_along(t, dim, [&](const TensorView& of) { return effective(of); }) : nullptr;
    if (!whole) return between(range_op(t, local, dim, range), name + "_range", shape);
    auto op = std::make_unique<LocalSlice>();
    op->in = whole == &t ? local : operand(whole);
    set_middle(*op, around(*op->in, dim, range));
    return between(std::move(op), name + "_range", shape);
  }

  // [outer, all, inner] of a tensor of this rank around a dim.
  Middle around(const TensorView& local, size_t dim, const DimRange& range) const {
    Middle m{out_->pool().constant(1), range.start, range.count, local.extent(dim), out_->pool().constant(1)};
    for (size_t d = 0; d < dim; ++d) m.outer = m.outer * local.extent(d);
    for (size_t d = dim + 1; d < local.rank(); ++d) m.inner = m.inner * local.extent(d);
    return m;
  }

  std::unique_ptr<GatherRange> range_op(const TensorView& t, TensorView* local, size_t dim,
                                        const DimRange& range) const {
    const std::vector<Piece> pieces = effective(t).dims[dim].pieces;
    const RankPieces::Cut held = cut(t, static_cast<int>(dim), pieces);
    Middle m = around(*local, dim, {held.start, held.count});
    m.outer = m.outer * held.outer, m.total = held.total;
    auto op = std::make_unique<GatherRange>();
    op->in = local, op->axis = pieces.back().mesh_axis;
    set_middle(*op, m);
    op->start = range.start, op->taken = range.count;
    return op;
  }

  // Of slices that lie near each other one exchange gives what all take.
  void add_slice(const Op& op, size_t dim, const DimRange& range) {
    const TensorView& t = *inputs(op)[0];
    const auto group = near_.find(&op);
    if (group == near_.end() || !is_cut(*op.out(), dim)) return add(range_op(t, operand(&t), dim, range), op.results);
    auto& [all, begin] = halos_[group->second];
    if (!all) {
      sym::Expr end;
      for (const auto& [other, number] : near_) {
        if (number != group->second) continue;
        const DimRange out = own_range(*other->out(), dim);
        const sym::Expr start = sym::min(import(as<Slice>(*other)->start) + out.start, import(t.extent(dim)));
        begin = begin ? sym::min(begin, start) : start;
        end = end ? sym::max(end, start + out.count) : start + out.count;
      }
      all = ranged(t, operand(&t), dim, {begin, end - begin}, t.name);
    }
    auto local = std::make_unique<Slice>();
    local->in = all, local->dim = static_cast<int64_t>(dim);
    local->start = range.start - begin, local->stop = local->start + range.count;
    add(std::move(local), op.results);
  }

  // ---- Reductions that the communicator does not do.
  bool gathers(const ReshardStep& step, const TensorView* in) const {
    if (step.reduce == ReduceOp::logsumexp) return true;
    return options_.reduces && !options_.reduces(step.reduce, in->dtype);
  }

  // Of no tensor here or in the whole graph.
  std::string free_name(const std::string& hint) const {
    std::string out = hint;
    for (int k = 1; from_.find(out) || out_->find(out); ++k) out = fmt::format("{}_{}", hint, k);
    return out;
  }

  // A tensor between two ops.
  template <class Node>
  TensorView* between(std::unique_ptr<Node> op, const std::string& hint, const std::vector<sym::Expr>& shape,
                      std::optional<DType> type = {}) {
    TensorView* out = out_->add_tensor(free_name(hint), shape, type.value_or(inputs(*op)[0]->dtype));
    out->layout = Layout::replicated(shape.size());
    out_->add_op(std::move(op), out);
    return out;
  }

  // [members, in...]: the operands of all members.
  TensorView* gather_members(TensorView* in, const std::string& name, int axis) {
    const sym::Expr one = out_->pool().constant(1), members = pieces_.sizes()[static_cast<size_t>(axis)];
    std::vector<sym::Expr> shape = {members};
    sym::Expr elements = one;
    for (sym::Expr e : in->shape()) {
      shape.push_back(e);
      elements = elements * e;
    }
    auto op = std::make_unique<AllGather>();
    op->in = in, op->axis = axis;
    set_middle(*op, {one, {}, one, members, elements});
    return between(std::move(op), name + "_members", shape);
  }

  // [members, out...]: this rank's part of the operands of all members.
  TensorView* own_parts(const Reshard& reshard, const Layout& from, const ReshardStep& step) {
    TensorView* all = gather_members(operand(reshard.in), reshard.out()->name, step.axis);
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

  void reduce_members(TensorView* members, ReduceOp reduce, const TensorView& result) {
    auto op = reduction_of_first(members, reduce);
    const Inferred type = infer(*op, *out_);
    if (type.dtype == result.dtype) return add(std::move(op), result);
    TensorView* wide = between(std::move(op), result.name + "_wide", type.shape, type.dtype);
    auto narrow = std::make_unique<PointwiseOp>();
    narrow->function = Pointwise::cast, narrow->in = {wide}, narrow->to = result.dtype;
    add(std::move(narrow), result);
  }

  // Two names for one tensor, both visible to users: the second is a copy.
  void add_copy(const Reshard& op) {
    auto local = std::make_unique<LocalSlice>();
    sym::Expr one = out_->pool().constant(1), elements = one;
    for (sym::Expr e : local_shape(*op.out())) elements = elements * e;
    local->in = operand(op.in);
    set_middle(*local, {one, out_->pool().constant(0), elements, elements, one});
    add(std::move(local), *op.out());
  }

  const Fusion& from_;
  const DeviceMesh& mesh_;
  const LocalizeOptions& options_;
  std::unique_ptr<Fusion> out_;
  RankPieces pieces_;
  std::map<std::string, sym::Expr> mesh_symbols_;
  std::map<const TensorView*, const TensorView*> roots_, faces_;
  std::map<const TensorView*, TensorView*> local_;  // by root
  const std::map<const Op*, size_t> near_ = near_slices(from_);
  std::map<size_t, std::pair<TensorView*, sym::Expr>>
      halos_;  // by group of near slices: what all take, where it begins
};

}  // namespace

std::unique_ptr<Fusion> localize(const Fusion& sharded, const DeviceMesh& mesh, const LocalizeOptions& options) {
  check_known_pieces(sharded, mesh);
  return Localizer(sharded, mesh, options).run();
}

}  // namespace plait
