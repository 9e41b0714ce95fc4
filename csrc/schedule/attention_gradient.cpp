// The gradient of attention on GPUs: what a segment has to be, and what its kernel needs.
#include <algorithm>

#include "ir/op.h"
#include "schedule/attention_numbers.h"
#include "schedule/attention_operands.h"
#include "schedule/masked_keys.h"

namespace plait::attention_blocks {

namespace {

constexpr int64_t kMostOfGradient = 180;  // two scores are computed of side by side

Refused no_gradient(const std::string& why) {
  return {why, "nothing: products and what is between them are kernels of their own then"};
}

class GradientFinder {
 public:
  GradientFinder(const Fusion& graph, BlockGradient& out) : graph_(graph), out_(out) {}

  std::optional<Refused> run() {
    if (auto why = refuse_attention(graph_.ops(), graph_.outputs(), true)) return why;
    const auto parts = attention_parts(graph_.ops(), true);
    out_.by_keys = parts->by_keys;
    out_.scores = parts->scores;
    out_.products = parts->products;
    if (!parts->others.empty()) return no_gradient("it weighs by keys and by queries, which are two kernels");
    if (out_.scores.size() > 2 || out_.products.size() > out_.scores.size())
      return no_gradient("it has more products than scores, or more than two of either");
    given_.insert(graph_.inputs().begin(), graph_.inputs().end());
    for (const Matmul* m : out_.scores) out_.dependent.merge(coming_of(graph_.ops(), *m->out()));
    for (const Matmul* m : out_.products) out_.weights.push_back(weights_of(*m, out_.by_keys));
    if (auto why = check_types()) return why;
    if (auto why = check_weights()) return why;
    if (auto why = check_outputs()) return why;
    find_panels();
    if (const auto visible = visible_keys(graph_, *parts)) {
      out_.ahead = visible->ahead;
      out_.behind = visible->behind;
    }
    return std::nullopt;
  }

 private:
  std::optional<Refused> check_types() {
    const Matmul &first = *out_.scores[0], &last = *out_.scores.back();
    const std::vector<sym::Expr> shape = first.out()->shape();
    const int rank = static_cast<int>(shape.size());
    out_.features = first.a->shape().back();
    out_.values = out_.scores.size() == 2 ? last.a->shape().back() : out_.products[0]->out()->shape().back();
    for (const sym::Expr n : {out_.features, out_.values})
      if (sym::divisor(n) % kAccess != 0)
        return no_gradient(fmt::format("its heads have {} elements, no multiple of {}", sym::print(n), kAccess));
    const auto is_dense = [&](const TensorView& t, int from_end) { return lies_dense(t, rank - from_end, given_); };
    for (const Matmul* m : out_.scores)
      if (m->a->dtype != first.a->dtype || !is_dense(*m->a, 1) || !is_dense(*m->b, 2))
        return no_gradient("its scores are of other types, or elements of a head do not lie side by side in memory");
    for (const Matmul* m : out_.products) {
      const std::vector<sym::Expr> own = m->out()->shape();
      if (!std::equal(own.begin(), own.end() - 2, shape.begin()) ||
          own[own.size() - 2] != shape[shape.size() - (out_.by_keys ? 1 : 2)])
        return no_gradient("its products have other batches");
      if (own.back() != out_.features && own.back() != out_.values)
        return no_gradient("its products have other elements than its scores have terms");
      if (m->b->dtype != first.a->dtype || !is_dense(*m->b, 1))
        return no_gradient("its products are of other types, or elements of a head do not lie side by side in memory");
    }
    return std::nullopt;
  }

  bool is_row(const TensorView& t) const {
    const std::vector<sym::Expr> scores = out_.scores[0]->out()->shape(), own = t.shape();
    return own.size() >= 2 && own.back().constant() == 1 && own[own.size() - 2] == scores[scores.size() - 2];
  }

  // Weights are elementwise of scores; of what else they are made, rows are read once for each query.
  std::optional<Refused> check_weights() {
    const std::vector<sym::Expr> shape = out_.scores[0]->out()->shape();
    std::set<const TensorView*> scores;
    for (const Matmul* m : out_.scores) scores.insert(m->out());
    const std::set<const TensorView*> in_place = in_place_of(out_.weights, scores);
    std::vector<const TensorView*> left(out_.weights.begin(), out_.weights.end());
    std::set<const TensorView*> seen;
    while (!left.empty()) {
      const TensorView* t = left.back();
      left.pop_back();
      if (scores.contains(t) || !seen.insert(t).second) continue;
      if (out_.dependent.contains(t) && (t->definition->kind != OpKind::PointwiseOp || t->shape() != shape))
        return no_gradient(fmt::format("%{} is not elementwise of its scores", t->name));
      if (!out_.dependent.contains(t) && in_place.contains(t) && t->dtype == DType::f32 && is_row(*t) && reads(*t)) {
        out_.rows.push_back(t);
        continue;
      }
      if (given_.contains(t) || t->definition == nullptr) {
        out_.reads |= t->rank() > 0;
        continue;
      }
      for (const TensorView* in : inputs(*t->definition)) left.push_back(in);
    }
    for (const TensorView* t : out_.weights)
      if (!out_.dependent.contains(t)) return no_gradient(fmt::format("%{} does not come of its scores", t->name));
    return std::nullopt;
  }

  // Elements of an input of some dims.
  bool reads(const TensorView& t) const {
    if (given_.contains(&t) || t.definition == nullptr) return t.rank() > 0;
    const auto& in = inputs(*t.definition);
    return std::any_of(in.begin(), in.end(), [&](const TensorView* each) { return reads(*each); });
  }

  std::optional<Refused> check_outputs() const {
    std::set<const TensorView*> behind_all;
    for (const Matmul* m : out_.products) {
      const std::set<const TensorView*> behind = coming_of(graph_.ops(), *m->out());
      for (const TensorView* t : behind) {
        if (t != m->out() && (t->definition->kind != OpKind::PointwiseOp || t->shape() != m->out()->shape()))
          return no_gradient(fmt::format("%{} is not elementwise of a product", t->name));
        if (!behind_all.insert(t).second) return no_gradient(fmt::format("%{} is made of two products", t->name));
      }
    }
    for (const TensorView* t : graph_.outputs())
      if (!behind_all.contains(t)) return no_gradient(fmt::format("%{} does not come of a product", t->name));
    for (const TensorView* t : behind_all)
      if (const Op* op = t->definition; product_of_narrow(*op) == nullptr)
        for (const TensorView* in : inputs(*op))
          if (out_.dependent.contains(in) && !behind_all.contains(in))
            return no_gradient(fmt::format("%{} is made of scores behind a product", t->name));
    return std::nullopt;
  }

  void find_panels() {
    for (const Matmul* m : out_.scores)
      out_.score_panels.push_back(panel_of(*m, out_.by_keys ? Side::left : Side::right));
    for (const Matmul* m : out_.products) out_.product_panels.push_back(panel_of(*m, Side::values));
  }
  static const TensorView* operand(const BlockGradient::Panel& p) { return p.side == Side::left ? p.of->a : p.of->b; }
  size_t panel_of(const Matmul& m, Side side) {
    const BlockGradient::Panel own{&m, side};
    for (size_t i = 0; i < out_.panels.size(); ++i) {
      const bool turned = (out_.panels[i].side == Side::right) != (side == Side::right);
      if (are_same_elements(operand(out_.panels[i]), operand(own), turned)) return i;
    }
    out_.panels.push_back(own);
    return out_.panels.size() - 1;
  }

  const Fusion& graph_;
  BlockGradient& out_;
  std::set<const TensorView*> given_;
};

}  // namespace

bool is_gradient(const Fusion& graph) {
  return std::ranges::none_of(graph.ops(), [](const Op* op) { return op->kind == OpKind::Reduce; });
}

std::optional<Refused> plan(const Fusion& graph, BlockGradient& out) {
  out = {};
  return GradientFinder(graph, out).run();
}

int64_t most_elements(const BlockGradient& a, const schedules::Attention& n, const Matmul& m, Side side) {
  const sym::Expr elements = side == Side::values ? m.b->shape().back() : m.a->shape().back();
  return elements == a.features ? *n.features : *n.values;
}

namespace {

// Of a thread: scores, weights and sums; rows of both scores.
int64_t registers_for(const BlockGradient& a, const schedules::Attention& n, int64_t keys, bool rows) {
  int64_t out = 0;
  for (const Matmul* m : a.scores) out += keys / 2 + (rows ? most_elements(a, n, *m, Side::left) / 4 : kHalf / 2);
  for (const Matmul* m : a.products) out += keys / 4 + most_elements(a, n, *m, Side::values) / 2;
  return *n.queries / kMatrix * out;
}

}  // namespace

bool shares_rows(const BlockGradient& a, const schedules::Attention& n) {
  return registers_for(a, n, 2 * kMatrix, true) > kMostOfGradient;
}

Needs needs_of(const BlockGradient& a, const schedules::Attention& n) {
  const bool shared = shares_rows(a, n);
  Needs out{.registers = registers_for(a, n, *n.keys, !shared),
            .most_registers = kMostOfGradient,
            .heads = {{a.features, *n.features}, {a.values, *n.values}}};
  for (const auto& panel : a.panels) out.rows.push_back(panel_row(most_elements(a, n, *panel.of, panel.side)));
  if (shared)
    for (const Matmul* m : a.scores) out.own_rows.push_back(panel_row(most_elements(a, n, *m, Side::left)));
  return out;
}

}  // namespace plait::attention_blocks
