#include "shard/pays.h"

#include <algorithm>

#include "mesh/collective_cost.h"
#include "shard/assign.h"
#include "shard/merge_parts.h"
#include "shard/reshard_plan.h"

namespace plait {

bool pays_to_merge(const Op& op, const std::vector<Piece>& pieces) {
  const TensorView& in = *inputs(op)[0];
  const int64_t members = members_of(in, pieces);
  const auto all = global_bytes(in);
  if (!all) return true;
  const auto parts = at_defaults(*in.fusion, exchanged_bytes(op));
  return !parts || *parts <= *all / members;
}

namespace {

bool pays_to_scatter(const Scatter& op, const std::vector<Piece>& pieces, const Layout& wanted) {
  const auto is_left = [&](const Piece& p) { return p.is_local() || wanted.partial.contains(p.mesh_axis); };
  if (std::ranges::all_of(pieces, is_left)) return true;
  int64_t members = 1;
  Team team;
  bool parted = false;  // who reads it takes pieces
  for (const Piece& p : pieces) {
    if (p.is_local()) continue;
    members *= members_of(*op.out(), p.mesh_axis);
    team.axes.push_back(p.mesh_axis);
    parted = parted || wanted.dim_of(p.mesh_axis) >= 0;
  }
  const auto results = global_bytes(*op.out());
  const LinkCost link = link_cost(op.out()->fusion->mesh(), team.axes);
  double cost = 0;
  for (const TensorView* t : {op.index, op.src}) {
    const auto bytes = global_bytes(*t);
    if (!bytes || !results) return true;
    if (t->layout.dims[static_cast<size_t>(op.dim)].pieces == pieces)
      cost += collective_cost(Collective::all_gather, members, static_cast<double>(*bytes), link);
  }
  const Collective done = parted ? Collective::reduce_scatter : Collective::all_reduce;
  return collective_cost(done, members, static_cast<double>(*results), link) <= cost;
}

}  // namespace

bool can_hold(const Op& op, const Factor& factor, const std::vector<Piece>& pieces, const std::vector<Layout>& wanted) {
  const int dim = indexed_dim(op);
  const bool indexed = dim >= 0 && factor.operand_dim[0] == dim;
  const bool counts = op.kind == OpKind::Uniform || op.kind == OpKind::Normal || op.kind == OpKind::Iota || indexed;
  if (counts && std::any_of(pieces.begin(), pieces.end(), [](const Piece& p) { return p.is_local(); })) return false;
  if (factor.kind == FactorKind::merge) return pays_to_merge(op, pieces);
  if (factor.kind == FactorKind::reduce && op.kind == OpKind::Scatter)
    return pays_to_scatter(*as<Scatter>(op), pieces, wanted[0]);
  if (!indexed || factor.kind != FactorKind::reduce) return true;
  const auto all = global_bytes(*inputs(op)[0]), results = global_bytes(*op.out());
  return !all || !results || info(Collective::all_reduce).gathers * *results <= *all;
}

bool joins_wider(const Op& op, const std::vector<bool>& pending, ReduceOp reduce, int axis) {
  if (reduce != ReduceOp::sum || !widens_pending(op, pending)) return false;
  const TensorView &sum = *inputs(op)[0], &wide = *op.out();
  const Fusion& fusion = *sum.fusion;
  const std::vector<Op*>& readers = fusion.readers(&wide);
  if (fusion.readers(&sum).size() != 1 || readers.size() != 1 || fusion.is_output(&sum) || fusion.is_output(&wide))
    return false;
  const auto* reader = as<PointwiseOp>(*readers[0]);
  if (!reader || (reader->function != Pointwise::add && reader->function != Pointwise::sub)) return false;
  const TensorView* other = reader->in[reader->in[0] == &wide ? 1 : 0];
  const auto its = other->layout.partial.find(axis);
  if (its == other->layout.partial.end() || its->second != ReduceOp::sum || other->dtype != wide.dtype ||
      other->shape() != wide.shape())
    return false;
  const auto place = [&](const Op* of) { return std::ranges::find(fusion.ops(), of); };
  return !other->definition || place(other->definition) < place(&op);
}

}  // namespace plait
