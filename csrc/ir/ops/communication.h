#pragma once
// Ops that move data between ranks; made by the compiler.
#include "ir/op_base.h"

namespace plait {

// out = in, laid out as out's layout says. Values are unchanged but for the rounding of a pending sum.
struct Reshard : OpBase<OpKind::Reshard> {
  TensorView* in = nullptr;
  static constexpr auto fields() { return std::tuple{operand("in", &Reshard::in)}; }
};

// After localize extents are those of this rank. A collective sees its local operand as [outer, count, inner],
// row-major; `count` mentions rank.AXIS and may differ between the members of the team, which are the ranks along one
// mesh axis.

// out = the elementwise reduction of the members' `in`, added in rank order in the accumulation type, rounded once.
struct AllReduce : OpBase<OpKind::AllReduce> {
  TensorView* in = nullptr;
  int axis = 0;
  ReduceOp reduce = ReduceOp::sum;
  static constexpr auto fields() {
    return std::tuple{operand("in", &AllReduce::in), required("axis", &AllReduce::axis),
                      attribute("reduce", &AllReduce::reduce)};
  }
};

// out[outer, total, inner] = the members' in[outer, count, inner], one after another along the middle.
struct AllGather : OpBase<OpKind::AllGather> {
  TensorView* in = nullptr;
  int axis = 0;
  sym::Expr outer, count, total, inner;
  static constexpr auto fields() {
    return std::tuple{operand("in", &AllGather::in),         required("axis", &AllGather::axis),
                      attribute("outer", &AllGather::outer), attribute("count", &AllGather::count),
                      attribute("total", &AllGather::total), attribute("inner", &AllGather::inner)};
  }
};

// out[outer, count, inner] = this member's part of the reduction of the members' in[outer, total, inner].
struct ReduceScatter : OpBase<OpKind::ReduceScatter> {
  TensorView* in = nullptr;
  int axis = 0;
  ReduceOp reduce = ReduceOp::sum;
  sym::Expr outer, count, total, inner;
  static constexpr auto fields() {
    return std::tuple{operand("in", &ReduceScatter::in),           required("axis", &ReduceScatter::axis),
                      attribute("reduce", &ReduceScatter::reduce), attribute("outer", &ReduceScatter::outer),
                      attribute("count", &ReduceScatter::count),   attribute("total", &ReduceScatter::total),
                      attribute("inner", &ReduceScatter::inner)};
  }
};

// out[outer, count, inner] = in[outer, start .. start+count, inner] of in[outer, total, inner]; no communication.
struct LocalSlice : OpBase<OpKind::LocalSlice> {
  TensorView* in = nullptr;
  sym::Expr outer, start, count, total, inner;
  static constexpr auto fields() {
    return std::tuple{operand("in", &LocalSlice::in),         attribute("outer", &LocalSlice::outer),
                      attribute("start", &LocalSlice::start), attribute("count", &LocalSlice::count),
                      attribute("total", &LocalSlice::total), attribute("inner", &LocalSlice::inner)};
  }
};

}  // namespace plait
