#pragma once
// The pass that localize.h speaks of: what it knows, and its parts. Ops and reshards are in localize.cpp, moves along
// dims of which ranks hold pieces in localize_moves.cpp.
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "base/error.h"
#include "ir/make_op.h"
#include "shard/gather_ranges.h"
#include "shard/localize.h"
#include "shard/rank_pieces.h"
#include "shard/reshard_plan.h"

namespace plait {

class Localizer {
 public:
  Localizer(const Fusion& sharded, const DeviceMesh& mesh, const LocalizeOptions& options);

  std::unique_ptr<Fusion> run();

 private:
  static std::vector<sym::Expr> sizes_in(sym::Pool& pool, const DeviceMesh& mesh);

  // ---- Layouts without the axes of size 1.
  Layout effective(const Layout& layout) const;
  Layout effective(const TensorView& t) const { return effective(held_layout(t)); }

  sym::Expr import(sym::Expr e) const { return sym::substitute(out_->pool(), e, mesh_symbols_); }

  sym::Expr local_dim(const TensorView& t, const Layout& layout, size_t d) const {
    return local_extent(import(t.extent(d)), layout.dims[d], out_->mesh(), pieces_.sizes());
  }

  std::vector<sym::Expr> local_shape(const TensorView& t) const;

  // ---- Steps that vanish. `face` is the tensor whose name and layout the common local tensor shows.
  void find_aliases();
  // Whether ranks hold the same elements in both: the same lists, or lists that cut at the same places.
  bool same_cuts(const TensorView& t, const Layout& a, const Layout& b) const;

  const TensorView* root(const TensorView* t) const;

  TensorView* operand(const TensorView* t) const { return local_.at(root(t)); }

  void keep(const TensorView& from, TensorView& to) const;

  // ---- Ops.
  void visit_op(const Op& op);

  // The op of this rank.
  std::unique_ptr<Op> copied_op(const Op& op) const;

  // ---- Scatters whose updates ranks have pieces of.
  bool starts_from_parts(const Op& op) const;
  void add_scatter(const Scatter& op, std::unique_ptr<Op> local);
  // The operand, with what changes nothing around a piece of it; its axes are not shared then.
  TensorView* padded(const Scatter& op, TensorView* in, const Constant& none, std::set<int>& shared);
  // The operand on the first rank of the axes, and what changes nothing on others.
  TensorView* of_first(const Scatter& op, TensorView* in, const Constant& none, const std::set<int>& axes);

  // ---- Ops that are merged from what ranks make of their pieces.
  std::vector<size_t> parted_dims(const Op& op) const;

  void add_merged(const Op& op, const Op& local, const std::vector<size_t>& dims);

  // With which no name of the whole graph begins.
  std::string free_prefix(const std::string& name) const;

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
  void complete(Iota& local, const Iota& op) const;
  void complete(Broadcast& local, const Broadcast& op) const { local.shape = local_shape(*op.out()); }
  void complete(Reshape& local, const Reshape& op) const { local.shape = local_shape(*op.out()); }

  // Of a dim that is cut in several parts, the same parts of what this rank has.
  void complete(Slice& local, const Slice& op) const;

  void complete(Gather& local, const Gather& op) const { place(local, op); }
  void complete(IndexSelect& local, const IndexSelect& op) const { place(local, op); }
  void complete(Scatter& local, const Scatter& op) const { place(local, op); }

  // Where an index stands is said of the whole one. Of a piece that is no range it is said of the piece. It counts the
  // places of the whole dim.
  template <class Lookup>
  void place(Lookup& local, const Lookup& op) const {
    const auto dim = static_cast<size_t>(op.dim);
    const bool scatters = std::is_same_v<Lookup, Scatter>;  // into all that its result has
    if (const Layout held = effective(scatters ? *op.out() : *op.in); !held.dims[dim].pieces.empty())
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

  RankPieces::Cut cut(const TensorView& t, int dim, const std::vector<Piece>& pieces, size_t last) const {
    return pieces_.cut(import(t.extent(static_cast<size_t>(dim))), pieces, last);
  }

  // Product of the local extents of dims first .. last.
  sym::Expr local_elements(const TensorView& t, const Layout& layout, int first, int last) const;

  // The tensor around the last pieces of a dim's list.
  Middle middle(const TensorView& t, const Layout& layout, const ReshardStep& step) const;

  std::unique_ptr<AllToAll> exchange(const TensorView& t, const Layout& layout, const ReshardStep& step) const;
  std::unique_ptr<GatherBlock> block(const TensorView& t, const Layout& layout, const ReshardStep& step) const;

  // Where axes of one rank leave nothing but slices of a gather_block.
  void add_slices(const Reshard& op, Layout from, const Layout& to);

  template <class Node>
  static void set_middle(Node& node, const Middle& m) {
    node.outer = m.outer;
    node.count = m.count;
    node.total = m.total;
    node.inner = m.inner;
    if constexpr (std::is_same_v<Node, LocalSlice>) node.start = m.start;
  }

  void visit_reshard(const Reshard& op);

  // ---- Moves along dims of which ranks hold pieces.
  DimRange own_range(const TensorView& t, size_t dim) const;
  bool is_cut(const TensorView& t, size_t dim) const { return !effective(t).dims[dim].pieces.empty(); }

  // Dim by dim: each operand becomes the range that this rank's piece of the result needs.
  void add_moved(const Op& op, std::unique_ptr<Op> local, const std::vector<size_t>& dims);

  // Where what the ranges add up to is not seen to be the piece: the op of whole operands, and the piece of its result.
  void add_moved_whole(const Op& op, const std::vector<size_t>& dims);

  // A range of an operand along a dim, of which this rank has `local`: all of it or a piece.
  TensorView* ranged(const TensorView& t, TensorView* local, size_t dim, const DimRange& range,
                     const std::string& name);

  // An exchange, or a slice of what is whole, or where each rank is seen to have its range of that.
  std::unique_ptr<Op> range_of(const TensorView& t, TensorView* local, size_t dim, const DimRange& range) const;

  // [outer, all, inner] of a tensor of this rank around a dim.
  Middle around(const TensorView& local, size_t dim, const DimRange& range) const;

  // By the team of the dim's innermost pieces.
  std::unique_ptr<GatherRange> range_op(const TensorView& t, TensorView* local, size_t dim, const Team& team,
                                        const DimRange& range) const;

  // Of a slice within one of the parts that the operand's pieces are cut from.
  void add_slice_of_part(const Op& op, size_t dim, int64_t parts, int64_t part);

  // What its slice of an operand needs for a range of the result.
  void add_slice(const Op& op, size_t dim, const DimRange& range);

  // Of slices that lie near each other one exchange gives what all take: that, and where it begins.
  const std::pair<TensorView*, sym::Expr>& halo(const TensorView& t, size_t dim, size_t group);

  // A range of a padded tensor, of which ranks do not hold their pieces.
  TensorView* padded(const Pad& op, size_t dim, const DimRange& range);

  // ---- Reductions that the communicator does not do.
  bool gathers(const ReshardStep& step, const TensorView* in) const;

  // Of no tensor here or in the whole graph.
  std::string free_name(const std::string& hint) const;

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
  TensorView* gather_members(TensorView* in, const std::string& name, const Team& team);

  // [members, out...]: this rank's part of the operands of all members.
  TensorView* own_parts(const Reshard& reshard, const Layout& from, const ReshardStep& step);

  void reduce_members(TensorView* members, ReduceOp reduce, const TensorView& result);

  // Two names for one tensor, both visible to users: the second is a copy.
  void add_copy(const Reshard& op);

  const Fusion& from_;
  const DeviceMesh& mesh_;
  const LocalizeOptions& options_;
  std::unique_ptr<Fusion> out_;
  RankPieces pieces_;
  std::map<std::string, sym::Expr> mesh_symbols_;
  std::map<const TensorView*, const TensorView*> roots_, faces_;
  std::map<const TensorView*, TensorView*> local_;  // by root
  const std::map<const Op*, size_t> near_ = near_slices(from_);
  std::map<size_t, std::pair<TensorView*, sym::Expr>> halos_;  // by group of near slices
};

}  // namespace plait
