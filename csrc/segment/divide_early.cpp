#include "segment/divide_early.h"

#include "ir/make_op.h"

namespace plait {

namespace {

const PointwiseOp* pointwise_of(const TensorView* t, Pointwise function) {
  const auto* op = t->definition == nullptr ? nullptr : as<PointwiseOp>(*t->definition);
  return op != nullptr && op->function == function ? op : nullptr;
}

bool is_one(const TensorView* t) {
  const auto* full = t->definition == nullptr ? nullptr : as<Full>(*t->definition);
  return full != nullptr && full->value.to_double() == 1;
}

// Whether each element is the sum of a row of the terms, or 1.
bool sums_rows(const TensorView* sum, const TensorView* terms) {
  if (const auto* where = pointwise_of(sum, Pointwise::where); where != nullptr && is_one(where->in[1]))
    sum = where->in[2];
  const auto* reduce = sum->definition == nullptr ? nullptr : as<Reduce>(*sum->definition);
  return reduce != nullptr && reduce->function == Reduction::sum && reduce->in == terms && reduce->keepdim &&
         reduce->dims == std::vector<int64_t>{static_cast<int64_t>(terms->rank()) - 1};
}

// The product that the division reads, if the division may go in front of it.
const Matmul* product_of(const Fusion& fusion, const PointwiseOp& div) {
  const TensorView* product = div.in[0];
  const auto* matmul = product->definition == nullptr ? nullptr : as<Matmul>(*product->definition);
  if (matmul == nullptr || fusion.is_output(product) || fusion.readers(product).size() != 1) return nullptr;
  const bool softmax = pointwise_of(matmul->a, Pointwise::exp) != nullptr && sums_rows(div.in[1], matmul->a);
  return softmax && fusion.readers(matmul->a).size() == 2 && !fusion.is_output(matmul->a) ? matmul : nullptr;
}

}  // namespace

void divide_early(Fusion& fusion, const std::function<bool(const Op&)>& stays) {
  std::vector<Op*> order;
  for (Op* op : fusion.ops()) {
    const auto* div = as<PointwiseOp>(*op);
    const bool divides = div != nullptr && div->function == Pointwise::div && !(stays && stays(*op));
    const Matmul* product = divides ? product_of(fusion, *div) : nullptr;
    if (product == nullptr || product->out()->dtype != op->out()->dtype) {
      order.push_back(op);
      continue;
    }
    Op* matmul = product->out()->definition;
    auto quotient = std::make_unique<PointwiseOp>();
    quotient->function = Pointwise::div;
    quotient->in = {product->a, div->in[1]};
    const Inferred type = infer(*quotient, fusion);
    TensorView* terms = fusion.add_tensor(product->a->name + "_divided", type.shape, type.dtype);
    // The product moves behind the sum, and gives what the division gave.
    std::erase(order, matmul);
    order.push_back(fusion.add_op(std::move(quotient), terms));
    replace_input(*matmul, product->a, terms);
    TensorView* out = op->out();
    out->definition = nullptr;
    matmul->results[0]->definition = nullptr;
    fusion.define(*matmul, 0, out);
    order.push_back(matmul);
  }
  fusion.set_order(std::move(order));
}

}  // namespace plait
