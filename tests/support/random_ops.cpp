#include "support/random_ops.h"

#include <algorithm>
#include <cmath>

#include "base/error.h"
#include "build/ops.h"

namespace plait::testing {

namespace {

class Maker {
 public:
  explicit Maker(const RandomOpContext& c) : c_(c), f_(c.fusion) {}

  TensorView* make(OpKind kind) {
    x_ = pick(c_.pool);
    if (TensorView* t = computed(kind)) return t;
    if (TensorView* t = moved(kind)) return t;
    if (TensorView* t = looked_up(kind)) return t;
    return layer(kind);
  }

 private:
  int draw(int n) { return n <= 0 ? 0 : static_cast<int>(c_.random() % static_cast<uint64_t>(n)); }
  bool chance(int percent) { return draw(100) < percent; }
  template <class T>
  const T& pick(const std::vector<T>& v) {
    return v[static_cast<size_t>(draw(static_cast<int>(v.size())))];
  }
  int rank(const TensorView* t) const { return static_cast<int>(t->rank()); }
  int64_t dim(const TensorView* t) { return draw(rank(t)); }

  // Some dims, in order; none: all of them.
  Dims dims(const TensorView* t) {
    Dims out;
    for (int d = 0; d < rank(t); ++d)
      if (chance(50)) out.push_back(chance(80) ? d : d - rank(t));
    return out;
  }
  Dims shuffled(const TensorView* t) {
    Dims out;
    for (int d = 0; d < rank(t); ++d) out.push_back(d);
    std::shuffle(out.begin(), out.end(), c_.random);
    return out;
  }
  std::vector<Fusion::Extent> shape_of(const TensorView* t) {
    std::vector<Fusion::Extent> out;
    for (sym::Expr e : t->shape()) out.emplace_back(e);
    return out;
  }
  // A float operand; exact graphs and most others take it as it is.
  TensorView* real(TensorView* t) { return is_float(t->dtype) ? t : cast(t, DType::f32); }
  // Another tensor of the same type and shape.
  TensorView* twin(TensorView* t) {
    for (TensorView* other : c_.pool)
      if (other != t && other->dtype == t->dtype && other->shape() == t->shape()) return other;
    return neg_or_same(t);
  }
  TensorView* neg_or_same(TensorView* t) {
    return t->dtype == DType::boolean || is_unsigned(t->dtype) ? t : pointwise(Pointwise::neg, {t});
  }
  // Indices for a dim of the given extent, of a shape: mostly inside, and the same on every device.
  TensorView* index(const std::vector<Fusion::Extent>& shape, sym::Expr extent) {
    TensorView* count = f_.input(f_.unique_name("index"), shape, DType::i64);
    if (chance(15)) return count;
    TensorView* last = pointwise(Pointwise::max, {size(f_, Fusion::Extent(extent - 1)), full(f_, {}, 0, DType::i64)});
    return pointwise(Pointwise::min, {pointwise(Pointwise::abs, {count}), last});
  }
  TensorView* parameter(const std::vector<Fusion::Extent>& shape, DType dtype) {
    return f_.parameter(f_.unique_name("p"), shape, dtype);
  }

  TensorView* computed(OpKind kind) {
    switch (kind) {
      case OpKind::Iota:
        return rank(x_) == 0 ? nullptr : iota(f_, shape_of(x_), dim(x_), chance(50) ? DType::i64 : DType::f32);
      case OpKind::Size:
        return rank(x_) == 0 ? nullptr : size(f_, Fusion::Extent(x_->extent(static_cast<size_t>(dim(x_)))), DType::f32);
      case OpKind::Normal:
        return c_.exact ? nullptr : normal(c_.seed, shape_of(x_));
      case OpKind::Reduce:
        return reduced();
      case OpKind::Var:
        return c_.exact ? nullptr : var(real(x_), dims(x_), draw(2), chance(50));
      case OpKind::CumSum:
        return rank(x_) == 0 ? nullptr : cumsum(x_, dim(x_), chance(30), chance(30));
      default:
        return nullptr;
    }
  }
  TensorView* reduced() {
    switch (draw(c_.exact ? 5 : 6)) {
      case 0:
      case 1:
        return sum(x_, dims(x_), chance(50));
      case 2:
        return amax(x_, dims(x_), chance(50));
      case 3:
        return amin(x_, dims(x_), chance(50));
      case 4:  // inputs are exact: no two candidates are within their radii
        return x_->role == TensorRole::intermediate ? nullptr
               : chance(50)                         ? argmax(x_, dims(x_), chance(50))
                                                    : argmin(x_, dims(x_), chance(50));
      default:
        return prod(x_, dims(x_), chance(50));
    }
  }

  TensorView* moved(OpKind kind) {
    switch (kind) {
      case OpKind::Permute:
        return permute(x_, shuffled(x_));
      case OpKind::Broadcast:
        return spread();
      case OpKind::Expand:
        return expanded();
      case OpKind::Squeeze:
        return squeeze(x_);
      case OpKind::Unsqueeze:
        return unsqueeze(x_, {draw(rank(x_) + 1)});
      case OpKind::Reshape:
        return reshaped();
      case OpKind::Slice:
        return sliced();
      case OpKind::Pad:
        return padded();
      case OpKind::Cat:
        return rank(x_) == 0 ? nullptr : cat({x_, twin(x_), x_}, dim(x_));
      case OpKind::Stack:
        return stack({x_, twin(x_)}, draw(rank(x_) + 1));
      case OpKind::Flip:
        return flip(x_, dims(x_));
      case OpKind::Roll:
        return rank(x_) == 0 ? nullptr : roll(x_, {draw(7) - 3}, {dim(x_)});
      case OpKind::Repeat:
        return repeated();
      case OpKind::Bitcast:
        return c_.exact || x_->dtype != DType::f32 || x_->role == TensorRole::intermediate
                   ? nullptr
                   : bitcast(bitcast(x_, DType::u32), DType::f32);
      case OpKind::Set:
        return set(x_);
      case OpKind::Tril:
        return rank(x_) < 2 ? nullptr : tril(x_, draw(5) - 2);
      case OpKind::Triu:
        return rank(x_) < 2 ? nullptr : triu(x_, draw(5) - 2);
      case OpKind::Eye:
        return rank(x_) == 0 ? nullptr : eye(f_, Fusion::Extent(x_->extent(0)), {}, DType::f32);
      default:
        return nullptr;
    }
  }
  TensorView* spread() {
    std::vector<Fusion::Extent> shape = shape_of(x_);
    const int at = draw(rank(x_) + 1);
    shape.insert(shape.begin() + at, Fusion::Extent(draw(4)));
    Dims to;
    for (int d = 0; d < rank(x_); ++d) to.push_back(d < at ? d : d + 1);
    return broadcast(x_, shape, to);
  }
  TensorView* expanded() {
    std::vector<Fusion::Extent> shape = shape_of(x_);
    shape.insert(shape.begin(), Fusion::Extent(1 + draw(3)));
    return expand(x_, shape);
  }
  TensorView* reshaped() {
    std::vector<Fusion::Extent> shape = shape_of(x_);
    if (chance(40)) return reshape(x_, {-1});
    for (size_t d = 0; d < shape.size(); ++d) {
      const auto extent = x_->extent(d).constant();
      if (!extent || *extent == 0 || *extent % 2 != 0) continue;
      shape[d] = *extent / 2;
      shape.insert(shape.begin() + static_cast<std::ptrdiff_t>(d) + 1, Fusion::Extent(2));
      return reshape(x_, shape);
    }
    if (shape.size() < 2) return reshape(x_, {-1});
    shape.pop_back();
    shape.back() = -1;
    return reshape(x_, shape);
  }
  TensorView* sliced() {
    if (rank(x_) == 0) return nullptr;
    return slice(x_, dim(x_), Fusion::Extent(draw(4) - 1 < 0 ? -1 : draw(3)),
                 chance(50) ? std::optional<Fusion::Extent>(Fusion::Extent(chance(50) ? -1 : 5)) : std::nullopt,
                 1 + draw(3));
  }
  TensorView* padded() {
    std::vector<Fusion::Extent> low, high;
    for (int d = 0; d < rank(x_); ++d) low.emplace_back(draw(3)), high.emplace_back(draw(3));
    return pad(x_, low, high, x_->dtype == DType::boolean ? draw(2) : draw(4));
  }
  TensorView* repeated() {
    Dims repeats(static_cast<size_t>(rank(x_)) + (chance(30) ? 1 : 0), 1);
    if (!repeats.empty()) repeats[static_cast<size_t>(draw(static_cast<int>(repeats.size())))] = draw(4);
    return repeat(x_, repeats);
  }

  TensorView* looked_up(OpKind kind) {
    if (rank(x_) == 0) return nullptr;
    const int64_t d = dim(x_);
    const sym::Expr extent = x_->extent(static_cast<size_t>(d));
    std::vector<Fusion::Extent> shape = shape_of(x_);
    switch (kind) {
      case OpKind::Gather:
        shape[static_cast<size_t>(d)] = 1 + draw(5);
        return gather(x_, index(shape, extent), d);
      case OpKind::TakeAlong: {
        std::vector<Fusion::Extent> ones(shape.size(), Fusion::Extent(1));
        ones[static_cast<size_t>(d)] = 1 + draw(5);
        return take_along(x_, index(ones, extent), d);
      }
      case OpKind::IndexSelect:
        return index_select(
            x_, index(chance(50) ? std::vector<Fusion::Extent>{5} : std::vector<Fusion::Extent>{2, 3}, extent), d);
      case OpKind::Embedding: {
        TensorView* table = parameter({11, 6}, DType::f32);
        return embedding(index(shape, table->extent(0)), table);
      }
      case OpKind::ScatterAdd: {
        if (x_->dtype == DType::boolean) return nullptr;
        shape[static_cast<size_t>(d)] = 1 + draw(5);
        return scatter_add(x_, index(shape, extent), f_.input(f_.unique_name("src"), shape, x_->dtype), d);
      }
      case OpKind::OneHot:
        return one_hot(index(shape, f_.pool().constant(5)), 5, DType::f32);
      default:
        return nullptr;
    }
  }

  TensorView* layer(OpKind kind) {
    if (kind == OpKind::Any) return any(x_, dims(x_), chance(50));
    if (kind == OpKind::All) return all(x_, dims(x_), chance(50));
    if (c_.exact) return nullptr;
    TensorView* x = real(x_);
    if (rank(x) == 0) return nullptr;
    const sym::Expr last = x->shape().back();
    switch (kind) {
      case OpKind::Mean:
        return mean(x, dims(x), chance(50));
      case OpKind::Std:
        return stddev(x, dims(x), 0, chance(50));
      case OpKind::LogSumExp:
        return logsumexp(x, dims(x), chance(50));
      case OpKind::Norm:
        return norm(x, pick(std::vector<double>{1, 2, 3, HUGE_VAL}), dims(x), chance(50));
      case OpKind::Softmax:
        return softmax(x, dim(x));
      case OpKind::LogSoftmax:
        return log_softmax(x, dim(x));
      case OpKind::LayerNorm:
        return layer_norm(x, parameter({last}, x->dtype), parameter({last}, x->dtype));
      case OpKind::RmsNorm:
        return rms_norm(x, parameter({last}, x->dtype));
      case OpKind::GroupNorm:
        return rank(x) < 2 ? nullptr : group_norm(x, 1, parameter({Fusion::Extent(x->extent(1))}, x->dtype));
      case OpKind::BatchNorm:
        return rank(x) < 2 ? nullptr : batch_norm(x, {.w = parameter({Fusion::Extent(x->extent(1))}, x->dtype)});
      case OpKind::CrossEntropy:
        return loss(x, last);
      case OpKind::Mse:
        return mse(x, twin(x),
                   pick(std::vector<LossReduction>{LossReduction::mean, LossReduction::sum, LossReduction::none}));
      case OpKind::SwiGlu:
        return swiglu(x, twin(x));
      case OpKind::Rope: {
        TensorView* cos = f_.input(f_.unique_name("cos"), {last}, x->dtype);
        return rope(x, cos, cos, chance(50));
      }
      case OpKind::Sdpa:
        return attention(x);
      default:
        return nullptr;
    }
  }
  TensorView* loss(TensorView* x, sym::Expr classes) {
    std::vector<Fusion::Extent> shape = shape_of(x);
    shape.pop_back();
    CrossEntropyOptions how{.smoothing = chance(50) ? 0.1 : 0.0,
                            .reduction = pick(std::vector<LossReduction>{LossReduction::mean, LossReduction::none})};
    if (chance(30)) how.ignore_index = 0;
    return cross_entropy(x, index(shape, classes), how);
  }
  TensorView* attention(TensorView* x) {
    if (rank(x) < 3) return nullptr;
    TensorView* mask = nullptr;
    if (chance(30)) {
      TensorView* m = f_.input(f_.unique_name("mask"),
                               {Fusion::Extent(x->extent(x->rank() - 2)), Fusion::Extent(x->extent(x->rank() - 2))},
                               DType::boolean);
      mask = m;
    }
    return scaled_dot_product_attention(x, twin(x), x, {.mask = mask, .causal = chance(50)});
  }

  const RandomOpContext& c_;
  Fusion& f_;
  TensorView* x_ = nullptr;
};

}  // namespace

const std::vector<OpKind>& random_op_kinds() {
  static const std::vector<OpKind> kinds = [] {
    std::vector<OpKind> out;
    const auto add = [&](OpKind kind) {
      const OpProperty p = property(kind);
      if (p == OpProperty::communication || p == OpProperty::local_move || p == OpProperty::contraction) return;
      if (kind == OpKind::PointwiseOp || kind == OpKind::Full || kind == OpKind::Uniform || kind == OpKind::Dropout)
        return;
      out.push_back(kind);
    };
#define PLAIT_OP(Name, text, properties) add(OpKind::Name);
#include "ir/ops.def"
#undef PLAIT_OP
    return out;
  }();
  return kinds;
}

TensorView* add_random_op(const RandomOpContext& context, OpKind kind) {
  try {
    TensorView* out = Maker(context).make(kind);
    return out && out->rank() <= 5 ? out : nullptr;
  } catch (const UserError&) {
    return nullptr;
  }
}

}  // namespace plait::testing
