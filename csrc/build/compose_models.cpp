// Composites of models: losses, gates, positions, attention.
#include <limits>

#include "build/composer.h"
#include "sym/quotient.h"

namespace plait::building {

namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

// The loss of every element as the op asks for it; `count` is what the mean divides by, of all elements where null.
TensorView* loss_of(Composer& c, TensorView* loss, LossReduction reduction, TensorView* count, DType dtype) {
  const std::vector<int64_t> dims = dims_from(loss, 0);
  if (reduction == LossReduction::sum) loss = c.sum(loss, dims, false);
  if (reduction == LossReduction::mean)
    loss = count ? c.pointwise(Pointwise::div, {c.sum(loss, dims, false), count}) : c.mean(loss, dims, false);
  return c.cast(loss, dtype);
}

// NaN where the target is no class.
TensorView* checked(Composer& c, TensorView* loss, TensorView* target, sym::Expr classes) {
  const double nan = std::numeric_limits<double>::quiet_NaN();
  TensorView* before = c.pointwise(Pointwise::lt, target, 0);
  TensorView* behind = c.pointwise(Pointwise::ge, {target, c.size(classes, DType::i64)});
  return c.where(behind, nan, c.where(before, nan, loss));
}

// -sum_c q_c log softmax(x)_c per token. The class of a token is picked by comparing, so that ranks that hold some of
// the classes add to a pending sum.
TensorView* token_losses(Composer& c, const CrossEntropy& op) {
  TensorView* x = c.wide(op.x);
  const auto last = int64_t(x->rank()) - 1;
  const sym::Expr classes = x->extent(size_t(last));
  TensorView* shifted = c.pointwise(Pointwise::sub, {x, c.reduce(Reduction::amax, x, {last}, true)});
  TensorView* log = c.pointwise(Pointwise::log, {c.sum(c.pointwise(Pointwise::exp, {shifted}), {last}, true)});
  TensorView* target = c.unsqueeze(op.target, {last});
  TensorView* hit = c.pointwise(Pointwise::eq, {target, c.iota({classes}, 0, target->dtype)});
  TensorView* picked = c.sum(c.where(hit, shifted, 0), {last}, true);
  TensorView* loss = c.pointwise(Pointwise::sub, {log, picked});
  if (op.smoothing > 0) {
    TensorView* all = c.sum(c.pointwise(Pointwise::sub, {log, shifted}), {last}, true);
    TensorView* share = c.pointwise(Pointwise::div, {c.constant(op.smoothing, x->dtype), c.size(classes, x->dtype)});
    loss = c.pointwise(Pointwise::add, {c.pointwise(Pointwise::mul, loss, 1 - op.smoothing),
                                        c.pointwise(Pointwise::mul, {all, share})});
  }
  return checked(c, c.squeeze(loss, {last}), op.target, classes);
}

}  // namespace

TensorView* composed(Composer& c, const CrossEntropy& op) {
  TensorView *loss = token_losses(c, op), *count = nullptr;
  if (op.ignore_index) {
    TensorView* kept = c.pointwise(Pointwise::ne, {op.target, c.constant(*op.ignore_index, DType::i64)});
    loss = c.where(kept, loss, 0);
    if (op.reduction == LossReduction::mean) count = c.cast(c.sum(kept, dims_from(kept, 0), false), loss->dtype);
  }
  return loss_of(c, loss, op.reduction, count, op.x->dtype);
}

TensorView* composed(Composer& c, const Mse& op) {
  TensorView* difference = c.pointwise(Pointwise::sub, {c.wide(op.x), c.wide(op.y)});
  TensorView* square = c.pointwise(Pointwise::square, {difference});
  return loss_of(c, square, op.reduction, nullptr, op.x->dtype);
}

TensorView* composed(Composer& c, const SwiGlu& op) {
  TensorView* gate = c.pointwise(Pointwise::silu, {c.wide(op.gate)});
  return c.cast(c.pointwise(Pointwise::mul, {gate, c.wide(op.up)}), op.gate->dtype);
}

// Both ways pair elements along a dim of extent 2, which rotation turns about with a sign.
TensorView* composed(Composer& c, const Rope& op) {
  TensorView* x = c.wide(op.x);
  std::vector<sym::Expr> pairs = x->shape();
  const int64_t dim = int64_t(pairs.size()) - (op.interleaved ? 0 : 1);
  pairs.back() = sym::floordiv(pairs.back(), 2);
  pairs.insert(pairs.begin() + dim, c.extent(2));
  auto flip = std::make_unique<Flip>();
  flip->in = c.reshape(x, pairs);
  flip->dims = {dim};
  TensorView* turned = c.emit(std::move(flip));
  std::vector<sym::Expr> signs(pairs.size() - size_t(dim), c.extent(1));
  signs[0] = c.extent(2);
  TensorView* first = c.pointwise(Pointwise::eq, c.iota(std::move(signs), 0, DType::i64), 0);
  turned = c.pointwise(Pointwise::where, {first, c.pointwise(Pointwise::neg, {turned}), turned});
  TensorView* straight = c.pointwise(Pointwise::mul, {x, c.wide(op.cos)});
  TensorView* across = c.pointwise(Pointwise::mul, {c.reshape(turned, op.x->shape()), c.wide(op.sin)});
  return c.cast(c.pointwise(Pointwise::add, {straight, across}), op.x->dtype);
}

namespace {

// Query heads [..., h, s, d] beside the key heads that they share: [..., g, h / g, s, d].
std::vector<sym::Expr> grouped(const TensorView* t, sym::Expr share, sym::Expr key_heads) {
  std::vector<sym::Expr> shape = t->shape();
  shape[shape.size() - 3] = key_heads;
  shape.insert(shape.end() - 2, share);
  return shape;
}

// A mask of [..., h, s, t], or what broadcasts to it, beside grouped heads.
TensorView* grouped_mask(Composer& c, TensorView* mask, sym::Expr share, sym::Expr key_heads) {
  if (mask->rank() < 3) return mask;
  const size_t heads = mask->rank() - 3;
  if (mask->extent(heads).constant() == 1) return c.unsqueeze(mask, {int64_t(heads)});
  return c.reshape(mask, grouped(mask, share, key_heads));
}

TensorView* product(Composer& c, TensorView* a, TensorView* b) {
  auto matmul = std::make_unique<Matmul>();
  matmul->a = a;
  matmul->b = b;
  matmul->accumulate = is_narrow(a->dtype);
  return c.emit(std::move(matmul));
}

// Weights times values. Those of f16 and bf16 are of the type of the values, whose products machines have.
TensorView* weighed(Composer& c, TensorView* weights, TensorView* v) {
  if (v->dtype == DType::bf16 || v->dtype == DType::f16) return product(c, c.cast(weights, v->dtype), v);
  return product(c, weights, c.wide(v));
}

TensorView* transposed(Composer& c, TensorView* x) {
  auto permute = std::make_unique<Permute>();
  permute->in = x;
  permute->dims = dims_from(x, 0);
  std::swap(permute->dims[x->rank() - 2], permute->dims[x->rank() - 1]);
  return c.emit(std::move(permute));
}

TensorView* scaled(Composer& c, TensorView* scores, const Sdpa& op) {
  if (op.scale) return c.pointwise(Pointwise::mul, scores, *op.scale);
  TensorView* width = c.size(op.q->extent(op.q->rank() - 1), scores->dtype);
  return c.pointwise(Pointwise::div, {scores, c.pointwise(Pointwise::sqrt, {width})});
}

TensorView* masked(Composer& c, TensorView* scores, TensorView* mask, bool causal) {
  if (mask && mask->dtype == DType::boolean)
    scores = c.where(mask, scores, -kInfinity);
  else if (mask)
    scores = c.pointwise(Pointwise::add, {scores, c.wide(mask)});
  if (!causal) return scores;
  const size_t rank = scores->rank();
  TensorView* query = c.iota({scores->extent(rank - 2), c.extent(1)}, 0, DType::i64);
  TensorView* key = c.iota({scores->extent(rank - 1)}, 0, DType::i64);
  return c.where(c.pointwise(Pointwise::le, {key, query}), scores, -kInfinity);
}

}  // namespace

// The sum divides the product with v, not its left operand: both are then pending sums where keys are cut.
Results composed(Composer& c, const Sdpa& op) {
  TensorView *q = op.q, *k = op.k, *v = op.v, *mask = op.mask;
  const size_t heads = q->rank() - 3;
  const sym::Expr key_heads = k->extent(heads);
  const sym::Expr share = *sym::exact_quotient(q->extent(heads), key_heads);  // infer() has found it
  const bool shared = share.constant() != 1;
  if (shared) {
    q = c.reshape(q, grouped(q, share, key_heads));
    k = c.unsqueeze(k, {int64_t(heads) + 1});
    v = c.unsqueeze(v, {int64_t(heads) + 1});
    if (mask) mask = grouped_mask(c, mask, share, key_heads);
  }
  TensorView* scores = masked(c, scaled(c, product(c, q, transposed(c, k)), op), mask, op.causal);
  const auto last = int64_t(scores->rank()) - 1;
  const ShiftedTerms shifted = shifted_terms(c, scores, {last});
  TensorView* sum =
      c.where(shifted.empty, 1, c.sum(shifted.terms, {last}, true));  // a row that keeps nothing gives 0 / 1
  TensorView* out = c.pointwise(Pointwise::div, {weighed(c, shifted.terms, v), sum});
  out = c.cast(out, op.q->dtype);
  if (shared) out = c.reshape(out, op.results[0]->shape());
  Results results = {out};
  if (op.statistics) {
    // Of a row that keeps nothing: log 1 - inf.
    TensorView* log = c.pointwise(Pointwise::add, {c.pointwise(Pointwise::log, {sum}), shifted.most});
    results.push_back(c.reshape(log, op.results[1]->shape()));
  }
  return results;
}

}  // namespace plait::building
