#include "segment/wide_scores.h"

#include <algorithm>

#include "schedule/find_attention.h"
#include "schedule/reads.h"

namespace plait {

namespace {

constexpr size_t kMostBetween = 64;

bool is_narrow_product(const Matmul& m) {
  return m.accumulate && m.out()->dtype == DType::f32 && m.a->dtype == m.b->dtype &&
         (m.a->dtype == DType::bf16 || m.a->dtype == DType::f16) && m.a->rank() == m.out()->rank() &&
         m.b->rank() == m.out()->rank();
}

Matmul* narrow_product(Op& op) {
  auto* m = as<Matmul>(op);
  return m != nullptr && is_narrow_product(*m) ? m : nullptr;
}

}  // namespace

const Matmul* product_of_rounded(const Op& op) {
  const auto* m = as<Matmul>(op);
  if (m == nullptr || !is_narrow_product(*m) || m->a->definition == nullptr) return nullptr;
  const auto* cast = as<PointwiseOp>(*m->a->definition);
  return cast != nullptr && cast->function == Pointwise::cast && cast->in[0]->dtype == DType::f32 ? m : nullptr;
}

WideScores::WideScores(Fusion& fusion, const Matmul& product) : fusion_(fusion), count_(fusion.tensor_count()) {
  std::vector<const TensorView*> left = {product.a};
  std::set<const Op*> seen;
  std::vector<Matmul*> found;
  if (is_narrow_product(product)) found.push_back(as<Matmul>(*product.out()->definition));
  while (!left.empty()) {
    Op* op = left.back()->definition;
    left.pop_back();
    if (op == nullptr || !seen.insert(op).second) continue;
    if (seen.size() > kMostBetween) return;
    if (Matmul* scores = narrow_product(*op)) found.push_back(scores);
    if (op->kind != OpKind::PointwiseOp && !reduces_keys(*op)) continue;
    for (const TensorView* in : inputs(*op)) left.push_back(in);
  }
  if (found.size() > 1) {  // in order: what two share stands in front of the first
    const std::set<const Op*> all(found.begin(), found.end());
    found.clear();
    for (Op* op : fusion.ops())
      if (all.contains(op)) found.push_back(as<Matmul>(*op));
  }
  for (Matmul* scores : found) widen(*scores);
}

void WideScores::widen(Matmul& product) {
  changed_.push_back({&product, product.a, product.b});
  added_.clear();
  TensorView *a = wide(product.a), *b = wide(product.b);
  fusion_.edit_operands(product, [&] {
    product.a = a;
    product.b = b;
    product.accumulate = false;
  });
  put_ops(fusion_, added_, product, false);
}

// The cast stands in front of what only moves elements, where the operand lies.
TensorView* WideScores::wide(TensorView* t) {
  if (const auto known = wide_.find(t); known != wide_.end()) return known->second;
  Op* move = t->definition;
  TensorView* out = nullptr;
  if (is_move(move)) {
    TensorView* from = inputs(*move)[0];
    TensorView* in = wide(from);
    Op* copy = duplicate(fusion_, *move);
    copy->out()->dtype = in->dtype;
    copy->out()->dtype_alias = in->dtype_alias;
    replace_input(*copy, from, in);
    out = copy->out();
    added_.push_back(copy);
  } else {
    auto cast = std::make_unique<PointwiseOp>();
    cast->function = Pointwise::cast;
    cast->in = {t};
    cast->to = DType::f32;
    out = fusion_.add_tensor(t->name + "_wide", t->shape(), DType::f32);
    out->layout = t->layout;
    out->layout_source = LayoutSource::inferred;
    added_.push_back(fusion_.add_op(std::move(cast), out));
  }
  return wide_[t] = out;
}

bool WideScores::is_move(const Op* op) { return op != nullptr && (keeps_places(*op) || op->kind == OpKind::Reshape); }

void WideScores::keep() {
  std::set<const Op*> moves;
  for (const Changed& each : changed_)
    for (const TensorView* t : {each.a, each.b})
      for (; is_move(t->definition); t = inputs(*t->definition)[0]) moves.insert(t->definition);
  drop_unread(fusion_, moves);
}

void WideScores::take_back() {
  for (const Changed& each : changed_)
    fusion_.edit_operands(*each.product, [&] {
      each.product->a = each.a;
      each.product->b = each.b;
      each.product->accumulate = true;
    });
  fusion_.take_back(count_);
}

}  // namespace plait
