#include "ir/factors.h"

#include <algorithm>

#include "base/error.h"

namespace plait {

namespace {

// One factor per result dim; operands join where trailing dims align and are as long.
std::vector<Factor> aligned(const Op& op, const std::vector<TensorView*>& in) {
  std::vector<Factor> out;
  int rank = static_cast<int>(op.out->rank());
  for (int d = 0; d < rank; ++d) {
    Factor f;
    f.extent = op.out->extent(d);
    f.result_dim = d;
    for (const TensorView* t : in) {
      int at = d - (rank - static_cast<int>(t->rank()));
      f.operand_dim.push_back(at >= 0 && t->extent(at) == f.extent ? at : -1);
    }
    out.push_back(std::move(f));
  }
  return out;
}

// The operand after the tensor operands, if any, is a 0-dim seed: it has no dims.
std::vector<Factor> unary(const Op& op) { return aligned(op, inputs(op)); }

std::vector<Factor> product(const Op& op, const TensorView* a, const TensorView* b, bool linear) {
  int ra = static_cast<int>(a->rank()), rb = static_cast<int>(b->rank()), rank = static_cast<int>(op.out->rank());
  bool bias = inputs(op).size() > 2;
  std::vector<Factor> out;
  auto add = [&](int result, int in_a, int in_b, int in_bias, sym::Expr extent) {
    Factor f;
    f.extent = extent;
    f.result_dim = result;
    f.operand_dim = {in_a, in_b};
    if (bias) f.operand_dim.push_back(in_bias);
    f.kind = result < 0 ? FactorKind::reduce : FactorKind::pass;
    out.push_back(std::move(f));
  };
  int leading = linear ? rank - 1 : rank - 2;
  for (int d = 0; d < leading; ++d) {
    int at_a = linear ? d : d - (rank - ra), at_b = linear ? -1 : d - (rank - rb);
    sym::Expr e = op.out->extent(d);
    if (at_a >= 0 && a->extent(at_a) != e) at_a = -1;
    if (at_b >= 0 && b->extent(at_b) != e) at_b = -1;
    add(d, at_a, at_b, -1, e);
  }
  if (!linear) add(rank - 2, ra - 2, -1, -1, op.out->extent(rank - 2));
  add(rank - 1, -1, linear ? 0 : rb - 1, 0, op.out->extent(rank - 1));
  add(-1, ra - 1, linear ? 1 : rb - 2, -1, a->extent(ra - 1));
  return out;
}

std::vector<Factor> whole(const Op& op) {
  auto out = unary(op);
  for (auto& f : out) f.kind = FactorKind::whole;
  return out;
}

}  // namespace

std::vector<Factor> factors(const Op& op) {
  return visit(op, overloaded{
                       [&](const PointwiseOp& o) { return aligned(o, o.in); },
                       [&](const Full& o) { return aligned(o, {}); },
                       [&](const Uniform& o) { return unary(o); },
                       [&](const Linear& o) { return product(o, o.x, o.w, true); },
                       [&](const Matmul& o) { return product(o, o.a, o.b, false); },
                       [&](const Dropout& o) { return unary(o); },
                       [&](const Reshard& o) { return unary(o); },
                       [&](const AllReduce& o) { return whole(o); },
                       [&](const AllGather& o) { return whole(o); },
                       [&](const ReduceScatter& o) { return whole(o); },
                       [&](const LocalSlice& o) { return whole(o); },
                   });
}

std::vector<Axis> reduction_axes(const Op& op) {
  std::vector<Axis> out;
  if (property(op.kind) != OpProperty::contraction) return out;
  for (const Factor& f : factors(op))
    if (f.result_dim < 0) out.push_back({f.extent, AxisKind::reduction, ParallelType::serial});
  return out;
}

bool passes_partial(const Op& op, const std::vector<bool>& partial, ReduceOp reduce) {
  PLAIT_CHECK(partial.size() == inputs(op).size(), "{} operands of {} are pending or not", partial.size(),
              describe(op));
  const auto* p = as<PointwiseOp>(op);
  if (!p || reduce != ReduceOp::sum || !is_float(op.out->dtype)) return false;
  bool all = std::all_of(partial.begin(), partial.end(), [](bool b) { return b; });
  bool equal_types = std::all_of(p->in.begin(), p->in.end(), [&](auto* t) { return t->dtype == op.out->dtype; });
  switch (p->function) {
    case Pointwise::neg:
    case Pointwise::add:
    case Pointwise::sub:
      return all && equal_types;
    default:
      return false;
  }
}

}  // namespace plait
