#include "support/random_graph.h"

#include <algorithm>
#include <random>

#include "base/error.h"
#include "ir/fusion.h"
#include "support/random_ops.h"

namespace plait::testing {

namespace {

class Generator {
 public:
  Generator(uint64_t seed, Turns turns) : random_(seed * 0x9E3779B97F4A7C15u + 1), turns_(turns) {}

  RandomCase run() {
    RandomCase out;
    out.exact = draw(2) == 0;
    exact_ = out.exact;
    for (const OpWord& w : op_words())
      if (!exact_ || keeps_integers(w)) words_.push_back(w);
    out.ranks = make_mesh();
    make_inputs();
    int ops = 5 + draw(8);
    int turns = 0;
    for (int i = 0; i < ops * 4 && made_ < ops; ++i) {
      if (turns < kTurns && chance(30)) add_in_turn(turns++);
      add_random_op();
    }
    while (turns < kTurns) add_in_turn(turns++);
    choose_outputs();
    annotate();
    cut_updates();
    out.text = print(*fusion_);
    return out;
  }

 private:
  int draw(int n) { return static_cast<int>(random_() % static_cast<uint64_t>(n)); }
  bool chance(int percent) { return draw(100) < percent; }
  template <class T>
  const T& pick(const std::vector<T>& v) {
    return v[draw(static_cast<int>(v.size()))];
  }

  int64_t make_mesh() {
    const std::vector<std::vector<int64_t>> shapes = {{2},    {3},    {4},    {2, 2}, {2, 2}, {3}, {4}, {2, 1},
                                                      {1, 3}, {2, 3}, {3, 2}, {2, 4}, {5},    {8}, {1}, {2, 2, 2}};
    const auto& shape = pick(shapes);
    std::vector<MeshAxis> axes;
    int64_t ranks = 1;
    const char* names[] = {"dp", "tp", "cp"};
    for (size_t i = 0; i < shape.size(); ++i) {
      axes.push_back({names[shape.size() == 1 ? 1 : i], shape[i], ""});
      ranks *= shape[i];
    }
    fusion_ = std::make_unique<Fusion>(Mesh("m", axes), "random");
    return ranks;
  }

  // A size: a symbol with a default, or a number.
  Fusion::Extent size() {
    const std::vector<int64_t> values = {1, 2, 3, 4, 5, 6, 7, 8, 9, 12, 16, 17, 24};
    if (chance(40)) return pick(values);
    static const char* names[] = {"a", "b", "c", "d"};
    int which = draw(4);
    if (!fusion_->size_let(names[which])) fusion_->let(names[which], pick(values));
    return std::string(names[which]);
  }

  DType dtype() {
    const std::vector<DType> types = {DType::f32, DType::f32, DType::f64, DType::bf16, DType::bf16, DType::f16};
    return pick(types);
  }

  void make_inputs() {
    dtype_ = dtype();
    for (int i = 0; i < 4; ++i) sizes_.push_back(size());
    int count = 2 + draw(3);
    for (int i = 0; i < count; ++i) {
      std::vector<Fusion::Extent> shape;
      int rank = 1 + draw(3);
      for (int d = 0; d < rank; ++d) shape.push_back(pick(sizes_));
      std::string name = "x" + std::to_string(i);
      pool_.push_back(chance(40) ? fusion_->parameter(name, shape, dtype_) : fusion_->input(name, shape, dtype_));
    }
    if (chance(20)) pool_.push_back(fusion_->input("i", {pick(sizes_)}, DType::i64));
    seed_ = fusion_->input("seed", {}, DType::u64);
  }

  template <class T>
  TensorView* emit(std::unique_ptr<T> op) {
    try {
      Inferred type = infer(*op, *fusion_);
      if (type.shape.size() > 4) return nullptr;
      TensorView* out = fusion_->add_tensor("t" + std::to_string(made_), type.shape, type.dtype);
      fusion_->add_op(std::move(op), out);
      pool_.push_back(out);
      ++made_;
      return out;
    } catch (const UserError&) {
      return nullptr;
    }
  }

  TensorView* operand() {  // later tensors more often, so that graphs are deep
    size_t n = pool_.size();
    size_t back = std::min<size_t>(n - 1, static_cast<size_t>(draw(static_cast<int>(n)) * draw(100) / 100));
    return pool_[n - 1 - back];
  }

  void add_random_op() {
    if (chance(50)) return add_word(pick(words_));
    switch (draw(10)) {
      case 0:
      case 1:
      case 2:
        return add_linear();
      case 3:
        return add_matmul();
      case 4:
        return add_dropout();
      case 5:
        return add_creation();
      case 6:
        return add_select();
      default:
        return add_pointwise();
    }
  }

  // The op whose turn it is. Where nothing in the graph fits, it gets an input of its own.
  void add_in_turn(int turn) {
    const uint64_t cases = exact_ ? turns_.exact : turns_.other;
    const OpWord& word = words_[(cases * kTurns + static_cast<uint64_t>(turn)) % words_.size()];
    const int before = made_;
    for (int attempt = 0; attempt < 3 * kAttempts && made_ == before; ++attempt) {
      if (attempt == kAttempts || attempt == 2 * kAttempts) {
        const std::vector<Fusion::Extent> shape = {pick(sizes_), pick(sizes_), 2 * (1 + draw(4))};
        pool_.push_back(
            fusion_->input("x" + std::to_string(pool_.size()), shape, attempt == kAttempts ? dtype_ : DType::f32));
      }
      add_word(word);
    }
  }
  void add_word(const OpWord& word) {
    switch (word.kind) {
      case OpKind::Linear:
        return add_linear();
      case OpKind::Matmul:
        return add_matmul();
      case OpKind::Dropout:
        return add_dropout();
      case OpKind::Full:
        return add_full();
      case OpKind::Uniform:
        return add_uniform();
      default:
        return add_any_op(word);
    }
  }

  // Any op but the ones below; what it needs beside its result stays in the graph where something reads it.
  void add_any_op(const OpWord& word) {
    const RandomOpContext context{random_, *fusion_, pool_, seed_, exact_};
    TensorView* out = testing::add_random_op(context, word);
    if (out == nullptr) return;
    pool_.push_back(out);
    ++made_;
  }

  void add_pointwise() {
    std::vector<Pointwise> functions = {Pointwise::add, Pointwise::sub, Pointwise::neg, Pointwise::relu, Pointwise::max,
                                        Pointwise::min, Pointwise::abs, Pointwise::add, Pointwise::mul};
    if (!exact_)
      for (Pointwise f : {Pointwise::gelu_tanh, Pointwise::gelu_erf, Pointwise::tanh, Pointwise::sigmoid,
                          Pointwise::silu, Pointwise::exp})
        functions.push_back(f);
    auto op = std::make_unique<PointwiseOp>();
    op->function = pick(functions);
    for (int i = 0; i < info(op->function).arity; ++i) op->in.push_back(operand());
    if (chance(10)) {
      op->function = Pointwise::cast;
      op->in.resize(1);
      op->to = chance(50) ? DType::f32 : dtype_;
    }
    emit(std::move(op));
  }

  // The weight of a product: a parameter that fits.
  TensorView* weight(std::vector<Fusion::Extent> shape, DType type) {
    TensorView* w = chance(80) ? fusion_->parameter("w" + std::to_string(weights_++), shape, type)
                               : fusion_->input("w" + std::to_string(weights_++), shape, type);
    return w;
  }

  void add_linear() {
    TensorView* x = operand();
    if (x->dtype == DType::boolean || x->rank() < 1) return;
    Fusion::Extent n = pick(sizes_);
    auto op = std::make_unique<Linear>();
    op->x = x;
    op->w = weight({n, x->shape().back()}, x->dtype);
    if (chance(60)) op->b = weight({op->w->extent(0)}, x->dtype);
    emit(std::move(op));
  }

  void add_matmul() {
    TensorView* a = operand();
    if (a->dtype == DType::boolean || a->rank() < 2) return;
    auto op = std::make_unique<Matmul>();
    op->a = a;
    std::vector<Fusion::Extent> shape = {a->shape().back(), pick(sizes_)};
    if (a->rank() == 3 && chance(50)) shape.insert(shape.begin(), a->extent(0));
    op->b = weight(shape, a->dtype);
    emit(std::move(op));
  }

  void add_dropout() {
    auto op = std::make_unique<Dropout>();
    op->x = operand();
    op->seed = seed_;
    op->p = exact_ ? 0.5 : pick(std::vector<double>{0.1, 0.5, 0.0, 0.3});
    emit(std::move(op));
  }

  void add_creation() { exact_ || chance(50) ? add_full() : add_uniform(); }
  void add_full() {
    TensorView* like = operand();
    auto op = std::make_unique<Full>();
    op->shape = chance(50) ? like->shape() : std::vector<sym::Expr>{};
    op->value = Constant::from_double(is_float(like->dtype) ? like->dtype : DType::f32, draw(5) - 2);
    emit(std::move(op));
  }
  void add_uniform() {
    if (exact_) return;
    auto op = std::make_unique<Uniform>();
    op->shape = operand()->shape();
    op->seed = seed_;
    emit(std::move(op));
  }

  void add_select() {
    auto compare = std::make_unique<PointwiseOp>();
    compare->function = pick(std::vector<Pointwise>{Pointwise::lt, Pointwise::ge, Pointwise::eq, Pointwise::gt});
    TensorView* a = pool_[draw(std::min<int>(3, static_cast<int>(pool_.size())))];
    compare->in = {a, a};
    if (a->role == TensorRole::intermediate) return;  // inputs are exact: no discontinuity is straddled
    auto zero = std::make_unique<Full>();
    zero->value = Constant::from_double(a->dtype, 0);
    TensorView* limit = emit(std::move(zero));
    if (!limit) return;
    compare->in[1] = limit;
    TensorView* condition = emit(std::move(compare));
    if (!condition) return;
    auto op = std::make_unique<PointwiseOp>();
    op->function = Pointwise::where;
    op->in = {condition, operand(), operand()};
    emit(std::move(op));
  }

  void choose_outputs() {
    for (Op* op : fusion_->ops()) {
      const auto unread = [&](const TensorView* t) { return fusion_->readers(t).empty(); };
      const bool last = std::all_of(op->results.begin(), op->results.end(), unread);
      for (TensorView* t : op->results)
        if ((last && t == op->results[0]) || chance(20)) fusion_->output(t->name, t);
    }
    if (fusion_->outputs().empty()) fusion_->output(pool_[0]->name, pool_[0]);
  }

  void annotate() {
    std::vector<TensorView*> tensors = fusion_->tensors();
    for (TensorView* t : tensors) {
      if (t->rank() == 0 || !chance(45)) continue;
      t->layout = random_layout(*t);
      t->layout_source = LayoutSource::annotated;
      if (!t->definition) leave_pending(*t);
      if (!t->definition && chance(t->role == TensorRole::parameter ? 15 : 5)) t->stored = random_layout(*t);
    }
  }

  // Some inputs come in parts of a sum, over axes that do not cut them.
  void leave_pending(TensorView& t) {
    if (t.dtype != DType::f32 && t.dtype != DType::f64) return;
    for (int axis = 0; axis < static_cast<int>(fusion_->mesh().axes().size()); ++axis)
      if (!t.layout.uses(axis) && chance(10)) t.layout.partial[axis] = ReduceOp::sum;
  }

  // Index and updates of a scatter are often cut alike: what each rank makes of its own is pending then.
  void cut_updates() {
    for (const Op* op : fusion_->ops()) {
      const auto* scatter = as<Scatter>(*op);
      if (scatter == nullptr || !chance(60)) continue;
      Layout layout = Layout::replicated(scatter->index->rank());
      layout.dims[scatter->dim].pieces = {{draw(static_cast<int>(fusion_->mesh().axes().size())), 1, 0}};
      for (TensorView* t : {scatter->index, scatter->src}) {
        if (t->role == TensorRole::intermediate) continue;
        t->layout = layout;
        t->layout_source = LayoutSource::annotated;
      }
    }
  }

  Layout random_layout(const TensorView& t) {
    Layout layout = Layout::replicated(t.rank());
    int axes = static_cast<int>(fusion_->mesh().axes().size());
    std::vector<int> order(axes);
    for (int a = 0; a < axes; ++a) order[a] = a;
    std::shuffle(order.begin(), order.end(), random_);
    for (int axis : order) {
      if (chance(25)) continue;
      auto& pieces = layout.dims[draw(static_cast<int>(t.rank()))].pieces;
      pieces.push_back({axis, chance(20) ? 1 + draw(4) : 1, 0});  // often the same cuts in other words
    }
    for (size_t d = 0; d < t.rank(); ++d) {  // [local 3, axis] or [local 2, axis] where it divides
      auto& pieces = layout.dims[d].pieces;
      auto extent = t.extent(d).constant();
      if (pieces.empty() || !extent || *extent == 0 || (*extent % 2 != 0 && *extent % 3 != 0) || !chance(15)) continue;
      pieces.insert(pieces.begin(), Piece{-1, 1, *extent % 3 == 0 ? 3 : 2});
    }
    return layout;
  }

  static constexpr int kTurns = 6, kAttempts = 8;

  std::mt19937_64 random_;
  Turns turns_;
  std::unique_ptr<Fusion> fusion_;
  std::vector<OpWord> words_;  // what this graph may say
  std::vector<Fusion::Extent> sizes_;
  std::vector<TensorView*> pool_;
  TensorView* seed_ = nullptr;
  DType dtype_ = DType::f32;
  bool exact_ = false;
  int made_ = 0, weights_ = 0;
};

}  // namespace

RandomCase make_random_case(uint64_t seed, Turns turns) { return Generator(seed, turns).run(); }
RandomCase make_random_case(uint64_t seed) { return make_random_case(seed, {seed, seed}); }

}  // namespace plait::testing
