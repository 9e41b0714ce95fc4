// Losses, einsum and steps of optimizers of ONNX.
#include <algorithm>

#include "import/onnx/importer.h"

namespace plait::onnx {
namespace {

// Minus the weighted log probability of each target; log_prob[n, c, d...], target[n, d...].
TensorView* nll(Call& c, TensorView* log_prob) {
  TensorView *target = c.in(1), *ignored = nullptr, *weight = nullptr;
  if (c.has_attribute("ignore_index")) {
    ignored = eq(target, c.integer("ignore_index", 0));
    target = where(ignored, 0, target);
  }
  TensorView* loss = neg(squeeze(gather(log_prob, unsqueeze(target, {1}), 1), {1}));
  if (c.has(2)) weight = index_select(c.in(2), target, 0);
  if (ignored) weight = weight ? where(ignored, 0, weight) : cast(logical_not(ignored), loss->dtype);
  if (weight) loss = mul(loss, weight);
  const std::string reduction = c.text("reduction", "mean");
  if (reduction == "none") return loss;
  if (reduction == "sum") return sum(loss);
  return weight ? div(sum(loss), sum(weight)) : mean(loss);
}

void negative_log_likelihood(Call& c) { c.give(nll(c, c.in())); }

void softmax_cross_entropy(Call& c) {
  TensorView* log_prob = log_softmax(c.in(), 1);
  c.give(nll(c, log_prob));
  c.give(log_prob, 1);
}

void einsum_op(Call& c) { c.give(einsum(c.text("equation", ""), c.all())); }

}  // namespace

std::vector<OpRow> loss_rows() {
  const char* attributes = "ignore_index reduction=none|mean|sum";
  return {
      {"Einsum", einsum_op, "equation"},
      {"NegativeLogLikelihoodLoss", negative_log_likelihood, attributes},
      {"SoftmaxCrossEntropyLoss", softmax_cross_entropy, attributes},
  };
}

}  // namespace plait::onnx
