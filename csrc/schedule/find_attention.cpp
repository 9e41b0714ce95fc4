#include "schedule/find_attention.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/error.h"
#include "schedule/reads.h"

namespace plait {

namespace {

constexpr size_t kMostOps = 64;
constexpr int64_t kMostKeys = 1 << 20;  // positions are numbers of f32
constexpr int64_t kLeastBatch = 8;      // for a task of each matrix
constexpr int64_t kMostOfABlock = 512;  // bytes of a row there: its operands and states are on the stack too

bool may_stand_between(const Op& op) {
  return is_elementwise(op) || keeps_places(op) || op.kind == OpKind::Slice || op.kind == OpKind::Reshape ||
         op.kind == OpKind::Full || op.kind == OpKind::Iota || op.kind == OpKind::Size || reduces_keys(op);
}

sym::Expr last(const TensorView& t) { return t.shape().back(); }

class Finder {
 public:
  Finder(const Fusion& fusion, std::vector<const Matmul*> products, bool by_keys, bool moves,
         const AttentionLimits& limits)
      : fusion_(fusion), products_(std::move(products)), by_keys_(by_keys), moves_(moves), limits_(limits) {}

  // Its ops, whether or not others read of them; false where it is no attention.
  bool find() {
    for (const Matmul* product : products_) {
      const bool by_keys = by_keys_ && is_by_keys(*product);
      ops_.insert(product->out()->definition);
      if (by_keys) ops_.insert(product->a->definition);
      if (!collect(*weights_of(*product, by_keys))) return false;
    }
    if (scores_.empty()) return false;
    for (const Matmul* product : products_) ends_.insert(go_on(*product->out()));
    std::set<const Op*> scores, products;
    for (const Matmul* m : scores_) scores.insert(m->out()->definition);
    for (const Matmul* m : products_) products.insert(m->out()->definition);
    dependent_ = coming_of(std::move(scores));
    behind_ = coming_of(std::move(products));
    drop_other_reductions();
    if (!is_softmax()) return false;
    add_rows();
    drop_what_others_read();
    for (const Matmul* m : scores_) {
      if (moves_) add_moves(*m->a);
      add_moves(*m->b);
    }
    for (const Matmul* m : products_) add_moves(*m->b);
    return is_closed();
  }

  const std::set<const Op*>& ops() const { return ops_; }
  const Matmul& scores() const { return *scores_[0]; }

  // Whether a kernel has room for a group of lanes.
  bool fits(const std::function<bool(sym::Expr)>& decide) const {
    const std::vector<sym::Expr> shape = scores().out()->shape();
    const sym::Expr queries = shape[shape.size() - 2], keys = shape.back();
    const auto few = [&](const TensorView& t) { return decide(sym::le(last(t), kMostFeatures)); };
    return decide(sym::ge(by_keys_ ? keys : queries, limits_.queries)) &&
           decide(sym::ge(by_keys_ ? queries : keys, limits_.keys)) && decide(sym::le(queries, kMostKeys)) &&
           decide(sym::le(keys, kMostKeys)) &&
           std::ranges::all_of(scores_, [&](const Matmul* m) { return few(*m->a); }) &&
           std::ranges::all_of(products_, [&](const Matmul* m) { return few(*m->out()); }) && fits_others(decide);
  }

 private:
  bool fits_others(const std::function<bool(sym::Expr)>& decide) const {
    if (!by_keys_) return true;
    sym::Expr batch = fusion_.pool().constant(1);
    const std::vector<sym::Expr> shape = scores().out()->shape();
    for (size_t d = 0; d + 2 < shape.size(); ++d) batch = batch * shape[d];
    const auto bytes = static_cast<int64_t>(size_of(scores().out()->dtype));
    const auto few = [&](const TensorView& t) { return decide(sym::le(last(t), kMostOfABlock / bytes)); };
    return std::ranges::all_of(products_, [&](const Matmul* m) {
      if (is_by_keys(*m)) return true;
      return decide(sym::ge(batch, kLeastBatch)) && decide(sym::le(states_of_all(*m), kMostStates)) &&
             std::ranges::all_of(scores_, [&](const Matmul* each) { return few(*each->a); }) &&
             std::ranges::all_of(products_, [&](const Matmul* each) { return few(*each->out()); });
    });
  }

  // Behind a product, what is elementwise of it and of rows: the division, where it stands there. Returns its end.
  const TensorView* go_on(const TensorView& product) {
    const TensorView* end = &product;
    while (const Op* next = only_reader(*end)) {
      if (next->kind != OpKind::PointwiseOp || next->out()->shape() != end->shape()) break;
      std::set<const Op*> saved = ops_;
      ops_.insert(next);
      bool good = true;
      for (const TensorView* in : inputs(*next))
        if (in != end) good = good && (in->rank() == 0 || last(*in).constant() == 1) && collect(*in);
      if (!good) {
        ops_ = std::move(saved);
        break;
      }
      end = next->out();
    }
    return end;
  }

  // Rows that keys are reduced to; or the exponentials of a gradient, of scores and of what comes of the values.
  bool is_softmax() const {
    const auto is = [&](const auto& what) {
      return std::any_of(ops_.begin(), ops_.end(), [&](const Op* op) { return dependent_.contains(op) && what(*op); });
    };
    if (is([](const Op& op) { return reduces_keys(op); })) return true;
    const auto grows = [](const Op& op) {
      const auto* p = as<PointwiseOp>(op);
      return p != nullptr && (p->function == Pointwise::exp || p->function == Pointwise::exp2);
    };
    return (scores_.size() == 2 || by_keys_) && is(grows);
  }

  const Op* only_reader(const TensorView& t) const {
    const auto readers = fusion_.readers(&t);
    return readers.size() == 1 && !fusion_.is_output(&t) ? readers[0] : nullptr;
  }

  // What the tensor is made of, up to inputs, the scores, and ops that no such kernel has.
  bool collect(const TensorView& t) {
    std::vector<const TensorView*> stack = {&t};
    while (!stack.empty()) {
      const Op* op = stack.back()->definition;
      stack.pop_back();
      if (op == nullptr || ops_.contains(op)) continue;
      if (ops_.size() >= kMostOps) return false;
      if (const Matmul* matmul = limits_.narrow ? product_of_narrow(*op) : product_of_matrices(*op)) {
        if (scores_.size() == 2) return false;
        scores_.push_back(matmul);
        ops_.insert(op);
        continue;
      }
      if (!may_stand_between(*op)) continue;  // an input, unless it comes of the scores
      ops_.insert(op);
      for (const TensorView* in : inputs(*op)) stack.push_back(in);
    }
    return true;
  }

  // Those that come of others, with these.
  std::set<const Op*> coming_of(std::set<const Op*> out) const {
    const auto depends = [&](const Op* op) {
      const auto& in = inputs(*op);
      return std::any_of(in.begin(), in.end(),
                         [&](const TensorView* t) { return t->definition != nullptr && out.contains(t->definition); });
    };
    for (size_t before = 0; before != out.size();) {
      before = out.size();
      for (const Op* op : ops_)
        if (depends(op)) out.insert(op);
    }
    return out;
  }

  // Of rows of scores, with a result for each query.
  bool is_row(const TensorView& t) const {
    const Op* op = t.definition;
    if (op == nullptr || !dependent_.contains(op) || behind_.contains(op)) return false;
    if (op->kind == OpKind::Reshape) return t.rank() < scores().out()->rank();
    return t.rank() == scores().out()->rank() && last(t).constant() == 1;
  }

  // What is made of rows alone: ops element by element, and at last without the dim of keys.
  void add_rows() {
    std::vector<const TensorView*> left;
    for (const Op* op : dependent_)
      if (is_row(*op->out())) left.push_back(op->out());
    while (!left.empty()) {
      const TensorView* t = left.back();
      left.pop_back();
      if (t->definition->kind == OpKind::Reshape) continue;
      for (const Op* op : fusion_.readers(t)) {
        if (ops_.contains(op) || ops_.size() >= kMostOps || !may_join_rows(*op, *t)) continue;
        ops_.insert(op);
        dependent_.insert(op);
        left.push_back(op->out());
      }
    }
  }

  bool may_join_rows(const Op& op, const TensorView& row) const {
    if (op.kind == OpKind::Reshape)
      return op.out()->rank() < row.rank() && last(*op.out()) == row.shape()[row.rank() - 2];
    const auto& in = inputs(op);
    return op.kind == OpKind::PointwiseOp && op.out()->shape() == row.shape() &&
           std::all_of(in.begin(), in.end(), [&](const TensorView* t) {
             return is_row(*t) || (t->definition != nullptr && t->definition->kind == OpKind::Full);
           });
  }

  // Reductions of what is no score are inputs, and what nobody reads then is none of the ops.
  void drop_other_reductions() {
    std::erase_if(ops_, [&](const Op* op) { return op->kind == OpKind::Reduce && !dependent_.contains(op); });
    const auto is_unread = [&](const Op* op) {
      return !dependent_.contains(op) && std::ranges::none_of(op->results, [&](const TensorView* t) {
        return std::ranges::any_of(fusion_.readers(t), [&](const Op* r) { return ops_.contains(r); });
      });
    };
    while (std::erase_if(ops_, is_unread) > 0) {}
  }

  // What does not come of the scores and has readers elsewhere is an input.
  void drop_what_others_read() {
    const auto goes = [&](const Op* op) { return !dependent_.contains(op) && !is_inside(*op); };
    while (std::erase_if(ops_, goes) > 0) {}
  }

  bool is_inside(const Op& op) const {
    return std::all_of(op.results.begin(), op.results.end(), [&](const TensorView* t) {
      const auto readers = fusion_.readers(t);
      return !fusion_.is_output(t) &&
             std::all_of(readers.begin(), readers.end(), [&](const Op* r) { return ops_.contains(r); });
    });
  }

  // Permutes and broadcasts of an operand are read where it lies; so are slices and reshapes, if asked.
  void add_moves(const TensorView& operand) {
    const Op* op = operand.definition;
    if (op == nullptr || dependent_.contains(op) || ops_.contains(op)) return;
    const bool moves = op->kind == OpKind::Slice || op->kind == OpKind::Reshape;
    if (!keeps_places(*op) && !(moves_ && moves)) return;
    ops_.insert(op);
    if (!is_inside(*op)) {
      ops_.erase(op);
      return;
    }
    add_moves(*inputs(*op)[0]);
  }

  // One result of each product, and rows; nothing else outside comes of the scores.
  bool is_closed() const {
    return std::all_of(ops_.begin(), ops_.end(),
                       [&](const Op* op) { return ends_.contains(op->out()) || is_inside(*op) || is_row(*op->out()); });
  }

  const Fusion& fusion_;
  const std::vector<const Matmul*> products_;
  const bool by_keys_, moves_;
  const AttentionLimits limits_;
  std::vector<const Matmul*> scores_;
  std::set<const TensorView*> ends_;
  std::set<const Op*> ops_;
  std::set<const Op*> dependent_, behind_;  // what comes of the scores, and of the products
};

}  // namespace

const Matmul* product_of_matrices(const Op& op) {
  const auto* matmul = as<Matmul>(op);
  const bool fits = matmul != nullptr && matmul->out()->rank() >= 2 && matmul->a->rank() == matmul->out()->rank() &&
                    matmul->b->rank() == matmul->out()->rank() && is_float(matmul->out()->dtype) &&
                    !is_narrow(matmul->out()->dtype) && matmul->a->dtype == matmul->out()->dtype &&
                    matmul->b->dtype == matmul->out()->dtype;
  return fits ? matmul : nullptr;
}

const Matmul* product_of_narrow(const Op& op) {
  const auto* m = as<Matmul>(op);
  const bool fits = m != nullptr && m->out()->rank() >= 2 && m->a->rank() == m->out()->rank() &&
                    m->b->rank() == m->out()->rank() && m->out()->dtype == DType::f32 &&
                    (m->a->dtype == DType::bf16 || m->a->dtype == DType::f16) && m->b->dtype == m->a->dtype;
  return fits ? m : nullptr;
}

bool is_transpose(const Op& op) {
  const auto* permute = as<Permute>(op);
  if (permute == nullptr || permute->dims.size() < 2) return false;
  const auto rank = static_cast<int64_t>(permute->dims.size());
  for (int64_t d = 0; d < rank; ++d)
    if (permute->dims[static_cast<size_t>(d)] != (d < rank - 2 ? d : 2 * rank - 3 - d)) return false;
  return true;
}

bool reduces_keys(const Op& op) {
  const auto* reduce = as<Reduce>(op);
  return reduce != nullptr && reduce->keepdim && !finds_index(reduce->function) && reduce->in->rank() >= 2 &&
         reduce->dims == std::vector<int64_t>{static_cast<int64_t>(reduce->in->rank()) - 1};
}

std::optional<AttentionParts> attention_parts(std::span<Op* const> ops, bool narrow) {
  AttentionParts out;
  std::set<const TensorView*> weights;  // scores and what comes of them
  std::vector<bool> by_keys;
  for (const Op* op : ops) {
    const auto& in = inputs(*op);
    const bool weighs = std::ranges::any_of(in, [&](const TensorView* t) { return weights.contains(t); });
    if (property(op->kind) != OpProperty::contraction) {
      if (weighs) weights.insert(op->results.begin(), op->results.end());
      continue;
    }
    const Matmul* matmul = narrow ? product_of_narrow(*op) : product_of_matrices(*op);
    if (matmul == nullptr || (weighs && !weights.contains(matmul->a))) return std::nullopt;
    (weighs ? out.products : out.scores).push_back(matmul);
    if (weighs) by_keys.push_back(is_by_keys(*matmul));
    if (!weighs) weights.insert(op->out());
  }
  if (out.scores.empty() || out.products.empty()) return std::nullopt;
  out.by_keys = std::ranges::find(by_keys, true) != by_keys.end();
  if (!out.by_keys) return out;
  const auto is_other = [](const Matmul* m) { return !is_by_keys(*m); };
  std::ranges::copy_if(out.products, std::back_inserter(out.others), is_other);
  std::erase_if(out.products, is_other);
  return out;
}

bool is_by_keys(const Matmul& product) {
  return product.a->definition != nullptr && is_transpose(*product.a->definition);
}

sym::Expr states_of_all(const Matmul& product) {
  const std::vector<sym::Expr> shape = product.out()->shape();
  return sym::ceildiv(shape[shape.size() - 2], kWeighed) * kWeighed * sym::ceildiv(shape.back(), kQueries) * kQueries;
}

TensorView* weights_of(const Matmul& product, bool by_keys) {
  if (!by_keys) return product.a;
  const auto* permute = as<Permute>(*product.a->definition);
  PLAIT_CHECK(permute != nullptr, "{} sums over queries without a transpose", describe(product));
  return permute->in;
}

std::set<const TensorView*> coming_of(std::span<Op* const> ops, const TensorView& first) {
  std::set<const TensorView*> out = {&first};
  for (const Op* op : ops) {
    const auto& in = inputs(*op);
    if (std::any_of(in.begin(), in.end(), [&](const TensorView* t) { return out.contains(t); }))
      out.insert(op->results.begin(), op->results.end());
  }
  return out;
}

std::optional<Refused> refuse_attention(std::span<Op* const> ops, std::span<TensorView* const> outputs, bool narrow) {
  const std::optional<AttentionParts> parts = attention_parts(ops, narrow);
  if (!parts && narrow)
    return Refused{"it has no scores and products of their weights in bf16 or f16",
                   "let a product of bf16 or f16 in f32 have what comes of another one's result as its left operand"};
  if (!parts)
    return Refused{"it has no scores and products of their weights in f32 or f64",
                   "let a product in f32 or f64 have what comes of another one's result as its left operand"};
  for (const auto* list : {&parts->products, &parts->others})
    for (const Matmul* product : *list) {
      const std::set<const TensorView*> behind = coming_of(ops, *product->out());
      if (std::ranges::count_if(outputs, [&](const TensorView* t) { return behind.contains(t); }) != 1)
        return Refused{"a product has not one result", "output one tensor of what comes of each product"};
    }
  const std::vector<sym::Expr> batch = parts->scores[0]->out()->shape();
  if (!parts->others.empty() &&
      std::all_of(batch.begin(), batch.end() - 2, [](sym::Expr e) { return e.constant() == 1; }))
    return Refused{"it weighs by keys and by queries, and has one matrix alone",
                   "nothing: each matrix of a batch is a task, and of one alone both products are kernels"};
  if (parts->others.size() > 1)
    return Refused{"it weighs by queries more than once beside keys",
                   "leave one product that sums over keys beside those over queries"};
  const TensorView& scores = *parts->scores[0]->out();
  if (!std::ranges::all_of(parts->scores, [&](const Matmul* m) { return m->out()->shape() == scores.shape(); }))
    return Refused{"its scores have not the same shape", "give all scores one shape"};
  const size_t rank = scores.rank();
  const auto has_rank = [&](const auto* matmul) { return matmul->out()->rank() == rank && matmul->a != matmul->b; };
  const auto reduces = [&](const Op* op) { return reduces_keys(*op) && inputs(*op)[0]->rank() == rank; };
  if (!std::ranges::all_of(parts->scores, has_rank) || !std::ranges::all_of(parts->products, has_rank) ||
      !std::ranges::all_of(parts->others, has_rank) || (!parts->others.empty() && rank < 3))
    return Refused{"its products have not the same dims",
                   "give all products dims like [batch, query, key], and each two operands that differ"};
  for (const Op* op : ops) {
    if (property(op->kind) == OpProperty::contraction) continue;
    if (!may_stand_between(*op))
      return Refused{
          fmt::format("{} is neither elementwise nor a reduction over keys", describe(*op)),
          "leave only elementwise ops, moves without pads and cats, and reductions over keys beside the products"};
    if (op->kind == OpKind::Reduce && parts->by_keys)
      return Refused{fmt::format("{} reduces beside products that sum over queries", describe(*op)),
                     "reduce in a step in front, as the logsumexp of the forward pass"};
    if (op->kind == OpKind::Reduce && !reduces(op))
      return Refused{fmt::format("{} reduces other dims than keys", describe(*op)),
                     "reduce the last dim of the scores alone, with keepdim = true"};
  }
  return std::nullopt;
}

std::set<const Op*> attention_of(const Fusion& fusion, const std::vector<const Matmul*>& products, bool by_keys,
                                 bool moves, const AttentionLimits& limits,
                                 const std::function<bool(sym::Expr)>& decide) {
  Finder finder(fusion, products, by_keys, moves, limits);
  return finder.find() && finder.fits(decide) ? finder.ops() : std::set<const Op*>();
}

}  // namespace plait
