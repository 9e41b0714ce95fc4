#pragma once
// Ops that move data between ranks; made by the compiler.
#include <optional>

#include "ir/op_base.h"
#include "mesh/collective.h"
#include "mesh/mesh.h"

namespace plait {

// A step of a plan that changes a layout: a collective of a team, or a slice of what a rank has.
enum class ReshardKind : uint8_t {
#define X(name, ...) name,
#include "mesh/collectives.def"
#undef X
  slice,
};

// out = in, laid out as out's layout says. Values are unchanged but for the rounding of a pending sum. `step` and
// `team` are those that the planner took; a reshard without is still to be planned.
struct Reshard : OpBase<OpKind::Reshard> {
  TensorView* in = nullptr;
  std::optional<ReshardKind> step;
  Team team;
  static constexpr auto fields() {
    return std::tuple{operand("in", &Reshard::in), made("step", &Reshard::step), made("team", &Reshard::team)};
  }
};

// After localize extents are those of this rank. A collective sees its local operand as [outer, count, inner],
// row-major; `count` mentions rank.AXIS and may differ between the members of the team.

// out = the elementwise reduction of the members' `in`, added in rank order in the accumulation type, rounded once.
struct AllReduce : OpBase<OpKind::AllReduce> {
  static constexpr Collective kCollective = Collective::all_reduce;
  TensorView* in = nullptr;
  Team team;
  ReduceOp reduce = ReduceOp::sum;
  static constexpr auto fields() {
    return std::tuple{operand("in", &AllReduce::in), required("team", &AllReduce::team),
                      attribute("reduce", &AllReduce::reduce)};
  }
};

// out[outer, total, inner] = the members' in[outer, count, inner], one after another along the middle.
struct AllGather : OpBase<OpKind::AllGather> {
  static constexpr Collective kCollective = Collective::all_gather;
  TensorView* in = nullptr;
  Team team;
  sym::Expr outer, count, total, inner;
  static constexpr auto fields() {
    return std::tuple{operand("in", &AllGather::in),        required("team", &AllGather::team),
                      required("outer", &AllGather::outer), required("count", &AllGather::count),
                      required("total", &AllGather::total), required("inner", &AllGather::inner)};
  }
};

// out[outer, count, inner] = this member's part of the reduction of the members' in[outer, total, inner].
struct ReduceScatter : OpBase<OpKind::ReduceScatter> {
  static constexpr Collective kCollective = Collective::reduce_scatter;
  TensorView* in = nullptr;
  Team team;
  ReduceOp reduce = ReduceOp::sum;
  sym::Expr outer, count, total, inner;
  static constexpr auto fields() {
    return std::tuple{operand("in", &ReduceScatter::in),           required("team", &ReduceScatter::team),
                      attribute("reduce", &ReduceScatter::reduce), required("outer", &ReduceScatter::outer),
                      required("count", &ReduceScatter::count),    required("total", &ReduceScatter::total),
                      required("inner", &ReduceScatter::inner)};
  }
};

// Pieces along one dim become pieces along another: out is this member's part of [outer, total, middle,
// scattered_total, inner], of which in is [outer, count, middle, scattered_total, inner] and out [outer, total, middle,
// scattered, inner]; with `scattered_first` the two dims stand in the other order. `scattered` may differ between the
// members, too.
struct AllToAll : OpBase<OpKind::AllToAll> {
  static constexpr Collective kCollective = Collective::all_to_all;
  TensorView* in = nullptr;
  Team team;
  sym::Expr outer, count, total, middle, scattered, scattered_total, inner;
  bool scattered_first = false;
  static constexpr auto fields() {
    return std::tuple{operand("in", &AllToAll::in),
                      required("team", &AllToAll::team),
                      required("outer", &AllToAll::outer),
                      required("count", &AllToAll::count),
                      required("total", &AllToAll::total),
                      required("middle", &AllToAll::middle),
                      required("scattered", &AllToAll::scattered),
                      required("scattered_total", &AllToAll::scattered_total),
                      required("inner", &AllToAll::inner),
                      attribute("scattered_first", &AllToAll::scattered_first)};
  }
};

// out[outer, taken, inner] = elements start .. start+taken of [outer, total, inner], of which the members hold
// in[outer, count, inner] one after another. `start` and `taken` may differ between the members, too.
struct GatherRange : OpBase<OpKind::GatherRange> {
  static constexpr Collective kCollective = Collective::gather_range;
  TensorView* in = nullptr;
  Team team;
  sym::Expr outer, count, total, inner, start, taken;
  static constexpr auto fields() {
    return std::tuple{operand("in", &GatherRange::in),        required("team", &GatherRange::team),
                      required("outer", &GatherRange::outer), required("count", &GatherRange::count),
                      required("total", &GatherRange::total), required("inner", &GatherRange::inner),
                      required("start", &GatherRange::start), required("taken", &GatherRange::taken)};
  }
};

// out is a block of [outer, totals[0], middle, totals[1], inner], of which each member holds another one. `held` and
// `wanted`: where a member's block starts in the first dim, how much of it that is, and the same of the second dim.
struct GatherBlock : OpBase<OpKind::GatherBlock> {
  static constexpr Collective kCollective = Collective::gather_block;
  TensorView* in = nullptr;
  Team team;
  sym::Expr outer, middle, inner;
  std::vector<sym::Expr> totals, held, wanted;
  static constexpr auto fields() {
    return std::tuple{operand("in", &GatherBlock::in),        required("team", &GatherBlock::team),
                      required("outer", &GatherBlock::outer), required("middle", &GatherBlock::middle),
                      required("inner", &GatherBlock::inner), required("totals", &GatherBlock::totals),
                      required("held", &GatherBlock::held),   required("wanted", &GatherBlock::wanted)};
  }
};

// out[outer, count, inner] = in[outer, start .. start+count, inner] of in[outer, total, inner]; no communication.
struct LocalSlice : OpBase<OpKind::LocalSlice> {
  TensorView* in = nullptr;
  sym::Expr outer, start, count, total, inner;
  static constexpr auto fields() {
    return std::tuple{operand("in", &LocalSlice::in),        required("outer", &LocalSlice::outer),
                      required("start", &LocalSlice::start), required("count", &LocalSlice::count),
                      required("total", &LocalSlice::total), required("inner", &LocalSlice::inner)};
  }
};

}  // namespace plait
