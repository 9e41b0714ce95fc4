#include "analysis/cost.h"

#include "ir/factors.h"

namespace plait {

namespace {

sym::Expr elements(const Fusion& fusion, const TensorView& tensor) {
  sym::Expr count = fusion.pool().constant(1);
  for (const Axis& a : tensor.domain.logical) count = count * a.extent;
  return count;
}

sym::Expr bytes(const Fusion& fusion, std::span<TensorView* const> tensors) {
  sym::Expr sum = fusion.pool().constant(0);
  for (const TensorView* t : tensors) sum = sum + elements(fusion, *t) * static_cast<int64_t>(size_of(t->dtype));
  return sum;
}

int64_t weight(CostClass cost) {
  switch (cost) {
    case CostClass::simple:
      return 1;
    case CostClass::division:
      return 4;
    case CostClass::transcendental:
      return 16;
  }
  __builtin_unreachable();
}

// Operations per element of the first result and element that is combined into it; 0 for ops that only move.
int64_t work_per_term(const Op& op) {
  switch (op.kind) {
    case OpKind::Linear:
    case OpKind::Matmul:
      return 2;
    case OpKind::Reduce:
    case OpKind::CumSum:
    case OpKind::CumProd:
      return 1;
    case OpKind::MaxWithArgmax:
    case OpKind::MinWithArgmin:
    case OpKind::CumMax:
    case OpKind::CumMin:
      return 2;
    case OpKind::LogCumSumExp:
    case OpKind::Sort:
      return 40;
    case OpKind::Var:
      return 8;
    case OpKind::VarMean:
      return 9;
    default:
      return 0;
  }
}

}  // namespace

Cost cost_of(const Fusion& fusion, std::span<Op* const> ops, std::span<TensorView* const> inputs,
             std::span<TensorView* const> outputs) {
  sym::Expr flops = fusion.pool().constant(0);
  for (const Op* op : ops) {
    const sym::Expr results = elements(fusion, *op->results[0]);
    if (const auto* p = as<PointwiseOp>(*op)) {
      flops = flops + results * weight(info(p->function).cost);
    } else if (const int64_t per_term = work_per_term(*op); per_term > 0) {
      sym::Expr terms = results * per_term;
      for (const Axis& a : reduction_axes(*op)) terms = terms * a.extent;
      flops = flops + terms;
    } else if (const auto* scatter = as<Scatter>(*op)) {
      flops = flops + elements(fusion, *scatter->src);
    }
  }
  return {bytes(fusion, inputs), bytes(fusion, outputs), flops};
}

}  // namespace plait
