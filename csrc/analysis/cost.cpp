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

}  // namespace

Cost cost_of(const Fusion& fusion, std::span<Op* const> ops, std::span<TensorView* const> inputs,
             std::span<TensorView* const> outputs) {
  sym::Expr flops = fusion.pool().constant(0);
  for (const Op* op : ops) {
    const sym::Expr results = elements(fusion, *op->out);
    if (const auto* p = as<PointwiseOp>(*op)) {
      flops = flops + results * weight(info(p->function).cost);
    } else if (property(op->kind) == OpProperty::contraction) {
      sym::Expr terms = results * 2;
      for (const Axis& a : reduction_axes(*op)) terms = terms * a.extent;
      flops = flops + terms;
    }
  }
  return {bytes(fusion, inputs), bytes(fusion, outputs), flops};
}

}  // namespace plait
