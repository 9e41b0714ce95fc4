#include "schedule/attention_blocks.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "base/error.h"
#include "ir/op.h"
#include "schedule/attention_numbers.h"
#include "schedule/attention_operands.h"
#include "schedule/divide_behind.h"
#include "schedule/masked_keys.h"
#include "schedule/reads.h"

namespace plait::attention_blocks {

namespace {

constexpr int64_t kMostRegisters = 224;
constexpr double kMostOfHalf = 16;  // a factor of weights in f16, whose range is small

constexpr const char* kOldRoad = "nothing: products and softmax are kernels of their own then";

const PointwiseOp* pointwise(const TensorView* t, Pointwise function) {
  const auto* op = t->definition == nullptr ? nullptr : as<PointwiseOp>(*t->definition);
  return op != nullptr && op->function == function ? op : nullptr;
}

bool is_number(const TensorView* t, double value) {
  const auto* full = t->definition == nullptr ? nullptr : as<Full>(*t->definition);
  return full != nullptr && full->value.to_double() == value;
}

// A number's size; 0 for other tensors.
double size_of_number(const TensorView* t) {
  const auto* full = t->definition == nullptr ? nullptr : as<Full>(*t->definition);
  return full != nullptr ? std::abs(full->value.to_double()) : 0;
}

// What a tensor is made of, without going beyond `ends`.
struct Made {
  std::set<const TensorView*> tensors;
  bool reads = false;       // elements of tensors of some dims
  bool elementwise = true;  // each op that comes of an end is one of the end's elements
};

class Finder {
 public:
  Finder(const Fusion& graph, BlockAttention& out) : graph_(graph), out_(out) {}

  std::optional<Refused> run() {
    if (auto why = refuse_attention(graph_.ops(), graph_.outputs(), true)) return why;
    const auto parts = attention_parts(graph_.ops(), true);
    if (parts->by_keys || parts->scores.size() != 1 || parts->products.size() != 1)
      return no("it is not one product of scores in bf16 or f16, and one of their weights");
    out_.scores = parts->scores[0];
    out_.product = parts->products[0];
    dependent_ = coming_of(graph_.ops(), *out_.scores->out());
    given_.insert(graph_.inputs().begin(), graph_.inputs().end());
    if (auto why = find_softmax()) return why;
    if (auto why = check_paths()) return why;
    if (auto why = check_operands()) return why;
    if (const auto visible = visible_keys(graph_, *parts)) {
      out_.ahead = visible->ahead;
      out_.behind = visible->behind;
    }
    return std::nullopt;
  }

 private:
  static Refused no(const std::string& why) { return {why, kOldRoad}; }

  std::optional<Refused> find_softmax() {
    for (const Op* op : graph_.ops()) {
      const auto* reduce = as<Reduce>(*op);
      if (reduce == nullptr) continue;
      const bool is_most = reduce->function == Reduction::amax, is_sum = reduce->function == Reduction::sum;
      if (!reduces_keys(*op) || (!is_most && !is_sum)) return no("it reduces keys otherwise than a softmax does");
      const Reduce*& place = is_most ? out_.greatest : out_.total;
      if (std::exchange(place, reduce) != nullptr) return no("it reduces keys more than twice");
    }
    if (out_.greatest == nullptr || out_.total == nullptr) return no("it has no softmax over keys");
    out_.logits = out_.greatest->in;
    out_.terms = out_.total->in;
    const auto* power = pointwise(out_.terms, Pointwise::exp);
    if (power == nullptr) power = pointwise(out_.terms, Pointwise::exp2);
    const auto* apart = power != nullptr ? pointwise(power->in[0], Pointwise::sub) : nullptr;
    if (apart == nullptr || apart->in[0] != out_.logits) return no("its terms are no exponentials of a distance");
    out_.exponential = power->function;
    out_.shift = apart->in[1];
    out_.weights = out_.product->a;
    return std::nullopt;
  }

  // Of one element for each query.
  bool is_row(const TensorView& t) const {
    const std::vector<sym::Expr> scores = out_.scores->out()->shape(), shape = t.shape();
    return shape.size() == scores.size() && shape.back().constant() == 1 &&
           std::equal(shape.begin(), shape.end() - 1, scores.begin());
  }

  Made made_of(const TensorView& t, const std::set<const TensorView*>& ends) const {
    Made out;
    std::vector<const TensorView*> left = {&t};
    while (!left.empty()) {
      const TensorView* next = left.back();
      left.pop_back();
      if (ends.contains(next) || !out.tensors.insert(next).second) continue;
      if (given_.contains(next) || next->definition == nullptr) {
        out.reads |= next->rank() > 0;
        continue;
      }
      const Op& op = *next->definition;
      const bool fits = op.kind == OpKind::PointwiseOp && (next->shape() == t.shape() || is_row(*next));
      if (dependent_.contains(next) && !fits) out.elementwise = false;
      for (const TensorView* in : inputs(op)) left.push_back(in);
    }
    return out;
  }

  // Everything comes of the scores by way of what the kernel holds.
  std::optional<Refused> check_paths() {
    const auto wide = [](const TensorView* t) { return t->dtype == DType::f32; };
    for (const TensorView* t : {out_.logits, out_.shift, out_.terms})
      if (!wide(t)) return no("its logits are not in f32");
    if (!wide(out_.greatest->out()) || !wide(out_.total->out())) return no("its rows are not in f32");
    const auto apart = [&](const Made& made, std::initializer_list<const TensorView*> other) {
      return std::ranges::none_of(other, [&](const TensorView* t) { return made.tensors.contains(t); });
    };
    const TensorView *scores = out_.scores->out(), *most = out_.greatest->out(), *total = out_.total->out();
    const Made logits = made_of(*out_.logits, {scores});
    if (!logits.elementwise) return no("its logits are not elementwise of the scores");
    if (row_in_shift(*out_.shift) != most)
      return no("its exponentials are not apart from the greatest logit itself, or from 0 where that is -inf");
    const Made weights = made_of(*out_.weights, {out_.terms});
    if (!weights.elementwise || !apart(weights, {scores, out_.logits, most, total, out_.shift}))
      return no("its weights are not elementwise of the exponentials alone");
    if (out_.weights == out_.terms || !dependent_.contains(out_.weights)) return no("its weights are no exponentials");
    out_.reads_logits = logits.reads;
    out_.reads_weights = weights.reads;
    if (auto why = check_weights()) return why;
    return check_outputs();
  }

  // Weights are scaled with what is summed of them where the greatest logit grows: they are linear in the terms,
  // rounded once, at last, and of terms apart from a smaller logit no weight is too large for its type.
  std::optional<Refused> check_weights() const {
    const std::set<const TensorView*> made = coming_of(graph_.ops(), *out_.terms);
    const auto* rounds = pointwise(out_.weights, Pointwise::cast);
    const bool half = out_.weights->dtype == DType::f16;
    if (rounds == nullptr || (!half && out_.weights->dtype != DType::bf16))
      return no("its weights are rounded other than once, to bf16 or f16");
    std::vector<const PointwiseOp*> way;  // from the last op on
    for (const TensorView* t = rounds->in[0]; t != out_.terms; t = linear_operand(*way.back(), made)) {
      const auto* op = t->definition == nullptr ? nullptr : as<PointwiseOp>(*t->definition);
      if (op == nullptr || linear_operand(*op, made) == nullptr || t->dtype != DType::f32)
        return no(fmt::format("its weights are not linear in the exponentials: %{}", t->name));
      way.push_back(op);
    }
    double factor = 1;
    for (size_t i = way.size(); i-- > 0;) {
      if (way[i]->function == Pointwise::where) continue;
      const double size = size_of_number(way[i]->in[way[i]->in[0] == linear_operand(*way[i], made) ? 1 : 0]);
      if (size == 0 && (half || way[i]->function == Pointwise::mul))
        return no("its weights are scaled by other than numbers");
      if (size != 0) factor *= way[i]->function == Pointwise::mul ? size : 1 / size;
      const double most = half ? kMostOfHalf : kMostFactor;
      if (!(factor <= most && factor >= 1 / most)) return no("its weights are scaled too much for their type");
    }
    const auto chooses = [&](const PointwiseOp* op) {
      return op->function == Pointwise::where && !drops_some(*op->in[0], out_.weights->shape().back());
    };
    if (std::ranges::any_of(way, chooses) && !divides_by_total())
      return no("it leaves weights out, and does not divide by the sum of all");
    return std::nullopt;
  }

  // Of a product with a number, a quotient, or a choice between the operand and 0 by what is not made of terms.
  static const TensorView* linear_operand(const PointwiseOp& op, const std::set<const TensorView*>& made) {
    const auto is = [&](size_t i) { return made.contains(op.in[i]); };
    switch (op.function) {
      case Pointwise::mul:
        return is(0) != is(1) ? op.in[is(0) ? 0 : 1] : nullptr;
      case Pointwise::div:
        return is(0) && !is(1) ? op.in[0] : nullptr;
      case Pointwise::where:
        return !is(0) && is(1) && is_number(op.in[2], 0) ? op.in[1] : nullptr;
      default:
        return nullptr;
    }
  }

  // Whether what is NaN of a row's terms is NaN in its result, whichever weights are left out.
  bool divides_by_total() const {
    const TensorView* product = out_.product->out();
    const auto readers = graph_.readers(product);
    if (graph_.is_output(product) || readers.size() != 1) return false;
    const auto* quotient = as<PointwiseOp>(*readers[0]);
    if (quotient == nullptr || quotient->function != Pointwise::div || quotient->in[0] != product) return false;
    const TensorView* by = quotient->in[1];
    const auto* choice = pointwise(by, Pointwise::where);
    const auto* is_none = choice != nullptr ? pointwise(choice->in[0], Pointwise::eq) : nullptr;
    if (is_none != nullptr && out_.shift != out_.greatest->out() && is_none->in[0] == out_.greatest->out() &&
        is_number(is_none->in[1], -std::numeric_limits<double>::infinity()))
      by = choice->in[2];
    return by == out_.total->out();
  }

  std::optional<Refused> check_outputs() const {
    const TensorView* product = out_.product->out();
    const std::set<const TensorView*> behind = coming_of(graph_.ops(), *product);
    const std::set<const TensorView*> ends = {product, out_.greatest->out(), out_.total->out()};
    for (const TensorView* t : graph_.outputs()) {
      const bool reshaped = t->definition != nullptr && t->definition->kind == OpKind::Reshape && !behind.contains(t);
      const TensorView& from = reshaped ? *inputs(*t->definition)[0] : *t;
      const Made made = made_of(from, ends);
      const bool held =
          std::ranges::none_of(std::initializer_list<const TensorView*>{out_.scores->out(), out_.logits, out_.terms},
                               [&](const TensorView* each) { return made.tensors.contains(each); });
      const bool fits = behind.contains(&from) ? from.shape() == product->shape() : is_row(from);
      if (!dependent_.contains(&from) || !held || !made.elementwise || !fits)
        return no(fmt::format("%{} is not elementwise of its product or rows", t->name));
    }
    return std::nullopt;
  }

  std::optional<Refused> check_operands() {
    const std::vector<sym::Expr> scores = out_.scores->out()->shape(), values = out_.product->out()->shape();
    if (!std::equal(scores.begin(), scores.end() - 1, values.begin())) return no("its products have other batches");
    out_.features = out_.scores->a->shape().back();
    out_.values = values.back();
    for (const sym::Expr n : {out_.features, out_.values})
      if (sym::divisor(n) % kAccess != 0)
        return no(fmt::format("its heads have {} elements, no multiple of {}", sym::print(n), kAccess));
    if (out_.scores->a->dtype != out_.product->b->dtype) return no("its values are of another type than its keys");
    const int rank = static_cast<int>(scores.size());
    if (!lies_dense(*out_.scores->a, rank - 1, given_) || !lies_dense(*out_.scores->b, rank - 2, given_) ||
        !lies_dense(*out_.product->b, rank - 1, given_))
      return no("elements of a head do not lie side by side in memory");
    return std::nullopt;
  }

  const Fusion& graph_;
  BlockAttention& out_;
  std::set<const TensorView*> given_, dependent_;  // inputs; what comes of the scores
};

ScheduledGroup made(const Problem& problem) {
  ScheduledGroup out = make_group(problem.fusion, problem.segment);
  for (Op* op : std::vector<Op*>(out.graph->ops().begin(), out.graph->ops().end()))
    if (const auto* product = product_of_narrow(*op)) divide_behind(*out.graph, *product, true);
  return out;
}

sym::Expr extent_from_end(const Matmul& scores, size_t from_end) {
  const std::vector<sym::Expr> shape = scores.out()->shape();
  return shape[shape.size() - from_end];
}

// Numbers of a segment, or why there are none.
struct Chosen {
  std::optional<Refused> refused;  // the segment
  std::optional<std::string> why;  // its numbers
  schedules::Attention numbers;
};

Chosen choose_numbers(const Problem& problem, const Target& target, schedules::Attention given) {
  const ScheduledGroup group = made(problem);
  Chosen out;
  const auto finish = [&](const auto& a, const Matmul& scores, bool by_keys) {
    if (!given.features) given.features = most_of(problem, a.features);
    if (!given.values) given.values = most_of(problem, a.values);
    const auto needs = [&](const schedules::Attention& n) { return needs_of(a, n); };
    out.numbers = complete(problem, extent_from_end(scores, by_keys ? 1 : 2), given, needs);
    out.why = refuse_numbers(problem, target, out.numbers, needs(out.numbers));
  };
  if (is_gradient(*group.graph)) {
    BlockGradient gradient;
    out.refused = plan(*group.graph, gradient);
    if (!out.refused) finish(gradient, *gradient.scores[0], gradient.by_keys);
    return out;
  }
  BlockAttention attention;
  out.refused = plan(*group.graph, attention);
  if (out.refused) return out;
  finish(attention, *attention.scores, false);
  const sym::Expr keys = sym::import(problem.fusion.pool(), extent_from_end(*attention.scores, 1));
  if (!out.why && !problem.decide(sym::ge(keys, 1)))
    out.why = "there may be no key, and rows are divided by sums of terms";
  return out;
}

}  // namespace

// Queries, sums of values, scores, weights.
Needs needs_of(const BlockAttention& a, const schedules::Attention& n) {
  return {.registers = *n.queries / kMatrix * (*n.features / 4 + *n.values / 2 + *n.keys / 2 + *n.keys / 4),
          .most_registers = kMostRegisters,
          .rows = {panel_row(*n.features), panel_row(*n.values)},
          .heads = {{a.features, *n.features}, {a.values, *n.values}}};
}

std::optional<Refused> plan(const Fusion& graph, BlockAttention& out) {
  out = {};
  return Finder(graph, out).run();
}

ScheduledGroup schedule(const Problem& problem, const schedules::Attention& numbers) {
  ScheduledGroup out = made(problem);
  out.schedule = numbers;
  out.stages = *numbers.stages;
  const auto limit = [&](const auto& a, std::span<const Matmul* const> scores, std::span<const Matmul* const> products,
                         bool by_keys) {
    if (!a.ahead && !a.behind) return;
    out.keys = KeyLimit{*numbers.block, 1, a.ahead, a.behind, by_keys, {}};
    for (const Matmul* m : scores) out.keys->ops[m->out()->definition] = Limited::result;
    for (const Matmul* m : products) out.keys->ops[m->out()->definition] = Limited::sum;
  };
  BlockGradient gradient;
  BlockAttention attention;
  if (is_gradient(*out.graph)) {
    if (!plan(*out.graph, gradient)) limit(gradient, gradient.scores, gradient.products, gradient.by_keys);
  } else if (!plan(*out.graph, attention)) {
    limit(attention, {&attention.scores, 1}, {&attention.product, 1}, false);
  }
  return out;
}

std::optional<Refused> refuse(const Problem& problem) {
  const ScheduledGroup group = made(problem);
  BlockGradient gradient;
  BlockAttention attention;
  return is_gradient(*group.graph) ? plan(*group.graph, gradient) : plan(*group.graph, attention);
}

std::optional<Refused> refuse(const Problem& problem, const Target& target) {
  const Chosen chosen = choose_numbers(problem, target, {});
  if (chosen.refused) return chosen.refused;
  return chosen.why ? std::optional(Refused{*chosen.why, kOldRoad}) : std::nullopt;
}

schedules::Attention choose(const Problem& problem, const Target& target, const schedules::Attention& given) {
  const Chosen chosen = choose_numbers(problem, target, given);
  if (chosen.refused) throw UserError(chosen.refused->reason, problem.where(), "leave the schedule out");
  if (chosen.why) throw UserError(*chosen.why, problem.where(), "give others, or leave the schedule out");
  return chosen.numbers;
}

}  // namespace plait::attention_blocks
