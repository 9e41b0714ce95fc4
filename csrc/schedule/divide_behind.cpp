#include "schedule/divide_behind.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "schedule/reads.h"

namespace plait {

namespace {

const PointwiseOp* op_of_row(const TensorView* t) {
  return t->definition == nullptr ? nullptr : as<PointwiseOp>(*t->definition);
}
const Full* number_of(const TensorView* t) { return t->definition == nullptr ? nullptr : as<Full>(*t->definition); }

bool reduces(const TensorView* row, Reduction function, const TensorView* from) {
  const auto* reduce = row->definition == nullptr ? nullptr : as<Reduce>(*row->definition);
  return reduce != nullptr && reduce->function == function && reduce->in == from && reduces_keys(*reduce);
}

// Whether a row is the sum of the terms, or a number in place of that.
bool is_total(const TensorView* row, const TensorView* terms) {
  if (const auto* choice = op_of_row(row); choice != nullptr && choice->function == Pointwise::where)
    row = number_of(choice->in[1]) != nullptr   ? choice->in[2]
          : number_of(choice->in[2]) != nullptr ? choice->in[1]
                                                : row;
  return reduces(row, Reduction::sum, terms);
}

// Exponentials of the distance from the maximum, over their sum: the largest of those terms is 1, and a sum of values
// that it weighs is at most as many times larger than the quotient as there are keys.
bool divides_softmax(const PointwiseOp& op) {
  if (op.function != Pointwise::div || !is_total(op.in[1], op.in[0])) return false;
  const auto* terms = op_of_row(op.in[0]);
  if (terms == nullptr || (terms->function != Pointwise::exp && terms->function != Pointwise::exp2)) return false;
  const auto* apart = op_of_row(terms->in[0]);
  if (apart == nullptr || apart->function != Pointwise::sub) return false;
  const TensorView* most = row_in_shift(*apart->in[1]);
  return reduces(most, Reduction::amax, apart->in[0]);
}

bool is_moderate(const TensorView* t) {
  const Full* number = number_of(t);
  const double size = number != nullptr ? std::abs(number->value.to_double()) : 0;
  return size >= 1 / kMostFactor && size <= kMostFactor;
}

// The operand that a number scales, or of which some keys are dropped at random: of very many, not all. Null for other
// ops.
TensorView* scaled_operand(const PointwiseOp& op, sym::Expr keys) {
  if (op.function == Pointwise::mul)
    return is_moderate(op.in[1]) ? op.in[0] : is_moderate(op.in[0]) ? op.in[1] : nullptr;
  const auto* zero = op.function == Pointwise::where ? number_of(op.in[2]) : nullptr;
  const bool drops = zero != nullptr && zero->value.to_double() == 0 && drops_some(*op.in[0], keys);
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

const TensorView* row_in_shift(const TensorView& shift) {
  const auto* choice = op_of_row(&shift);
  if (choice == nullptr || choice->function != Pointwise::where) return &shift;
  const auto* is_none = op_of_row(choice->in[0]);
  if (is_none == nullptr || is_none->function != Pointwise::eq || is_none->in[0] != choice->in[2]) return &shift;
  const Full *least = number_of(is_none->in[1]), *zero = number_of(choice->in[1]);
  const bool guards = least != nullptr && least->value.to_double() == -std::numeric_limits<double>::infinity() &&
                      zero != nullptr && zero->value.to_double() == 0;
  return guards ? choice->in[2] : &shift;
}

bool drops_some(const TensorView& condition, sym::Expr keys) {
  const auto* keep = op_of_row(&condition);
  if (keep == nullptr || keep->function != Pointwise::ge) return false;
  const TensorView* drawn = keep->in[0];
  const auto* share = number_of(keep->in[1]);
  return drawn->definition != nullptr && drawn->definition->kind == OpKind::Uniform && drawn->rank() > 0 &&
         drawn->shape().back() == keys && share != nullptr && share->value.to_double() <= 0.95;
}

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
