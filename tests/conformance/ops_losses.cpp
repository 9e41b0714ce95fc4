// Losses, einsum and steps of optimizers of ONNX.
#include <algorithm>
#include <map>
#include <set>

#include "base/error.h"
#include "conformance/importer.h"

namespace plait::conformance {
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

// The equation by letters; the dims of an ellipsis are the letters A, B, ... from the last.
struct Equation {
  std::vector<std::string> operands;
  std::string result, all;  // `all`: the result's letters, then those that are summed
};

std::string with_ellipsis(std::string term, int64_t dims) {
  const size_t at = term.find("...");
  if (at == term.npos) return term;
  std::string letters;
  for (int64_t d = dims; d-- > 0;) letters += static_cast<char>('A' + d);
  return term.replace(at, 3, letters);
}

Equation read_equation(std::string text, const std::vector<TensorView*>& operands) {
  std::erase(text, ' ');
  const size_t arrow = text.find("->");
  std::string left = text.substr(0, arrow) + ",";
  Equation out;
  int64_t most = 0;
  for (size_t comma; (comma = left.find(',')) != left.npos; left.erase(0, comma + 1)) {
    const std::string term = left.substr(0, comma);
    const int64_t dims = static_cast<int64_t>(operands.at(out.operands.size())->rank()) -
                         std::ranges::count_if(term, [](char a) { return a != '.'; });
    most = std::max(most, dims);
    out.operands.push_back(with_ellipsis(term, dims));
  }
  std::map<char, int> counts;
  for (const std::string& term : out.operands)
    for (char a : term) ++counts[a];
  if (arrow != text.npos) {
    out.result = with_ellipsis(text.substr(arrow + 2), most);
  } else {  // letters that occur once, in order, behind those of the ellipsis
    out.result = with_ellipsis("...", most);
    for (auto [letter, count] : counts)
      if (count == 1 && letter >= 'a') out.result += letter;
  }
  out.all = out.result;
  for (auto [letter, count] : counts)
    if (out.all.find(letter) == out.all.npos) out.all += letter;
  return out;
}

// The operand with dims in the order of `all`: 1 where it has none, the diagonal where it has a letter twice.
TensorView* aligned(TensorView* x, std::string term, const std::string& all) {
  for (size_t i = 0; i < term.size(); ++i) {
    const size_t again = term.find(term[i], i + 1);
    if (again == term.npos) continue;
    const auto a = static_cast<int64_t>(i), b = static_cast<int64_t>(again);
    const auto shape = extents(shape_of(x));
    TensorView* on = eq(iota(*x->fusion, shape, a), iota(*x->fusion, shape, b));
    x = sum(where(on, x, 0), {b});
    term.erase(again, 1);
    --i;
  }
  Dims order, missing;
  for (size_t i = 0; i < all.size(); ++i) {
    const size_t at = term.find(all[i]);
    if (at == term.npos)
      missing.push_back(static_cast<int64_t>(i));
    else
      order.push_back(static_cast<int64_t>(at));
  }
  x = permute(x, order);
  return missing.empty() ? x : unsqueeze(x, missing);
}

void einsum(Call& c) {
  const std::vector<TensorView*> operands = c.all();
  const Equation e = read_equation(c.text("equation", ""), operands);
  TensorView* out = nullptr;
  for (size_t i = 0; i < operands.size(); ++i) {
    TensorView* each = aligned(operands[i], e.operands[i], e.all);
    out = out ? mul(out, each) : each;
  }
  const Dims summed = iota_dims(static_cast<int64_t>(e.result.size()), static_cast<int64_t>(e.all.size()));
  c.give(summed.empty() ? out : sum(out, summed));
}

}  // namespace

std::vector<OpRow> loss_rows() {
  const char* attributes = "ignore_index reduction=none|mean|sum";
  return {
      {"Einsum", einsum, "equation"},
      {"NegativeLogLikelihoodLoss", negative_log_likelihood, attributes},
      {"SoftmaxCrossEntropyLoss", softmax_cross_entropy, attributes},
  };
}

}  // namespace plait::conformance
