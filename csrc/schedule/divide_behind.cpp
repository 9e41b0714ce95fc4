#include "schedule/divide_behind.h"

#include <algorithm>

#include "schedule/reads.h"

namespace plait {

namespace {

const PointwiseOp* op_of_row(const TensorView* t) {
  return t->definition == nullptr ? nullptr : as<PointwiseOp>(*t->definition);
}
const Full* number_of(const TensorView* t) { return t->definition == nullptr ? nullptr : as<Full>(*t->definition); }

// Whether a row is what keys of the tensor are reduced to, or a number in place of that.
bool is_reduced(const TensorView* row, Reduction function, const TensorView* from) {
  if (const auto* choice = op_of_row(row); choice != nullptr && choice->function == Pointwise::where)
    row = number_of(choice->in[1]) != nullptr   ? choice->in[2]
          : number_of(choice->in[2]) != nullptr ? choice->in[1]
                                                : row;
  const auto* reduce = row->definition == nullptr ? nullptr : as<Reduce>(*row->definition);
  return reduce != nullptr && reduce->function == function && reduce->in == from && reduces_keys(*reduce);
}

// Exponentials of the distance from the maximum, over their sum: no sum of those terms is too large for the type.
bool divides_softmax(const PointwiseOp& op) {
  if (op.function != Pointwise::div || !is_reduced(op.in[1], Reduction::sum, op.in[0])) return false;
  const auto* terms = op_of_row(op.in[0]);
  if (terms == nullptr || (terms->function != Pointwise::exp && terms->function != Pointwise::exp2)) return false;
  const auto* apart = op_of_row(terms->in[0]);
  return apart != nullptr && apart->function == Pointwise::sub &&
         is_reduced(apart->in[1], Reduction::amax, apart->in[0]);
}

// The operand that a number scales, or of which some keys are dropped at random: of very many, not all. Null for other
// ops.
TensorView* scaled_operand(const PointwiseOp& op, sym::Expr keys) {
  if (op.function == Pointwise::mul)
    return number_of(op.in[1]) != nullptr ? op.in[0] : number_of(op.in[0]) != nullptr ? op.in[1] : nullptr;
  const auto* zero = op.function == Pointwise::where ? number_of(op.in[2]) : nullptr;
  const auto* keep = op_of_row(op.in[0]);
  if (zero == nullptr || zero->value.to_double() != 0 || keep == nullptr || keep->function != Pointwise::ge)
    return nullptr;
  const TensorView* drawn = keep->in[0];
  const auto* share = number_of(keep->in[1]);
  const bool drops = drawn->definition != nullptr && drawn->definition->kind == OpKind::Uniform && drawn->rank() > 0 &&
                     drawn->shape().back() == keys && share != nullptr && share->value.to_double() <= 0.95;
  return drops ? op.in[1] : nullptr;
}

void divide_behind(Fusion& graph, const Matmul& product, Op& reader, const PointwiseOp& quotient) {
  TensorView *terms = quotient.in[0], *total = quotient.in[1], *out = product.out();
  const std::vector<Op*> readers(graph.readers(out).begin(), graph.readers(out).end());
  replace_input(reader, quotient.out(), terms);
  auto behind = std::make_unique<PointwiseOp>();
  behind->function = Pointwise::div;
  behind->in = {out, total};
  Op* added = graph.add_op(std::move(behind), graph.add_tensor("_divided", out->shape(), out->dtype));
  put_ops(graph, {added}, *out->definition, true);
  for (Op* each : readers) replace_input(*each, out, added->out());
  std::vector<TensorView*> outputs = graph.outputs();
  std::ranges::replace(outputs, out, added->out());
  graph.set_outputs(std::move(outputs));
  drop_unread(graph);
}

}  // namespace

void divide_behind(Fusion& graph, const Matmul& product, bool casts) {
  Op* reader = product.out()->definition;
  TensorView* t = product.a;
  while (t->definition != nullptr && graph.readers(t).size() == 1 && !graph.is_output(t)) {
    const auto* op = as<PointwiseOp>(*t->definition);
    if (op == nullptr) return;
    if (divides_softmax(*op)) return divide_behind(graph, product, *reader, *op);
    const bool casts_float = casts && op->function == Pointwise::cast && is_float(op->in[0]->dtype);
    TensorView* next = casts_float ? op->in[0] : scaled_operand(*op, product.a->shape().back());
    if (next == nullptr) return;
    reader = t->definition;
    t = next;
  }
}

void drop_unread(Fusion& graph) {
  std::vector<Op*> read;
  for (Op* op : graph.ops()) {
    const auto is_read = [&](const TensorView* t) { return graph.is_output(t) || !graph.readers(t).empty(); };
    if (std::ranges::any_of(op->results, is_read)) read.push_back(op);
  }
  graph.set_order(std::move(read));
}

}  // namespace plait
