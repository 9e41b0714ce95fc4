#pragma once
// Plan of a reshard: from one layout of a tensor to another in steps, each one change along the axes of a team.
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "ir/op.h"
#include "ir/tensor_view.h"
#include "mesh/collective.h"
#include "mesh/collective_cost.h"
#include "mesh/mesh.h"

namespace plait {

// Steps (ir/ops/communication.h). all_reduce: partial to whole. reduce_scatter: partial to pieces, where the team's
// axes become the innermost mesh pieces of the dim, in their order. all_gather: pieces to whole, of the innermost mesh
// pieces of the dim. all_to_all: the innermost mesh pieces of one dim become those of another. gather_range: they
// become other pieces of it, of axes of the team or others. gather_block: those of two dims become others of these, at
// once. slice: whole to pieces, local.

// Nothing: a slice.
std::optional<Collective> collective_of(ReshardKind kind);
std::string name(ReshardKind kind);  // `all-reduce`, `slice`

// A dim of a gather_block: pieces that stay, and those behind them that a rank holds and takes.
struct BlockDim {
  int dim = -1;
  std::vector<Piece> kept, held, taken;
};

// One step. `pieces` is the dim's list, up to and with the pieces that the step makes or takes away; of an all_to_all
// `dim` gets the pieces, `from_dim` with `from_pieces` has them before; of a gather_range they are one dim.
struct ReshardStep {
  ReshardKind kind = ReshardKind::slice;
  Team team;
  int dim = -1;               // -1: all_reduce
  std::vector<Piece> pieces;  // empty: all_reduce
  int from_dim = -1;          // -1: neither of these
  std::vector<Piece> from_pieces;
  ReduceOp reduce = ReduceOp::sum;  // all_reduce, reduce_scatter
  std::vector<BlockDim> block;      // gather_block: two dims, ascending, and nothing of the above but the team
  Layout to;                        // layout after the step
  bool moves_data() const { return collective_of(kind).has_value(); }
};

// The layout that a tensor's memory has: storage of a parameter that has one of its own, else the compute layout.
const Layout& held_layout(const TensorView& tensor);

// What the cost of a plan follows from: the same on every rank.
struct ReshardSizes {
  std::vector<int64_t> members;                 // by mesh axis
  std::vector<std::optional<int64_t>> extents;  // by dim; nothing: not known
  int64_t element_bytes = 1;
  std::vector<LinkCost> links = {};  // by mesh axis; empty: each as where nothing is said
};
// Mesh axes and extents at the defaults of symbols; an axis without one counts as 4 ranks.
ReshardSizes reshard_sizes(const TensorView& tensor);
// Of them, the members of one axis of the tensor's mesh, or of a list of pieces, none of them local.
int64_t members_of(const TensorView& tensor, int axis);
int64_t members_of(const TensorView& tensor, const std::vector<Piece>& pieces);

// The axes of pieces, none of them local, in their order.
Team team_of(const std::vector<Piece>& pieces);

struct ReshardPlan {
  std::vector<ReshardStep> steps;
  double cost = 0;  // collective_cost of its steps
};

// The cheapest steps from one normalized layout to another; none where they are equal. An axis, or several at once,
// moves to its place in `to`; where that is cheaper it is reduced or moved to a dim that it divides in between, unless
// there are too many ways. Of plans that cost the same the one with fewer steps is taken. Requires can_reshard.
ReshardPlan plan_reshard(const Layout& from, const Layout& to, const ReshardSizes& sizes);

// What the plan costs, or the one step that is enough, which may cost more than several; or, where many layouts stand
// in between, what a plan costs that was found among the first ones. Requires can_reshard.
double reshard_cost(const Layout& from, const Layout& to, const ReshardSizes& sizes);

// False where `to` keeps an axis pending that `from` does not: a whole value never becomes pending.
bool can_reshard(const Layout& from, const Layout& to);

// Of the layouts in which a tensor is there the one that reaches `to` for least, and that cost; of equals the last one,
// which has come furthest. Nothing: none reaches it.
template <class CostOf>
auto nearest_version(const std::vector<const Layout*>& versions, const Layout& to, CostOf&& cost_of) {
  std::optional<std::pair<size_t, decltype(cost_of(to))>> out;
  for (size_t i = 0; i < versions.size(); ++i) {
    if (!can_reshard(*versions[i], to)) continue;
    auto cost = cost_of(*versions[i]);
    if (!out || cost <= out->second) out.emplace(i, std::move(cost));
  }
  return out;
}

// The step that a reshard carries, with its pieces; nothing where it carries none, or its layouts differ otherwise.
std::optional<ReshardStep> planned_step(const Reshard& reshard);

// The step between two layouts, or nothing where they differ by none or by more than one.
std::optional<ReshardStep> single_step(const Layout& from, const Layout& to);

}  // namespace plait
