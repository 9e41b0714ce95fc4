#include "support/random_ops.h"

#include <algorithm>
#include <cmath>

#include "base/error.h"
#include "build/ops.h"

namespace plait::testing {

namespace {

// Functions that end or leave the numbers at some operand: an inexact one there leaves the result open.
bool has_poles(Pointwise f) {
  switch (f) {
    case Pointwise::div:
    case Pointwise::reciprocal:
    case Pointwise::rsqrt:
    case Pointwise::sqrt:
    case Pointwise::pow:
    case Pointwise::log:
    case Pointwise::log2:
    case Pointwise::log10:
    case Pointwise::log1p:
    case Pointwise::xlogy:
    case Pointwise::xlog1py:
    case Pointwise::tan:
    case Pointwise::asin:
    case Pointwise::acos:
    case Pointwise::acosh:
    case Pointwise::atanh:
    case Pointwise::erfinv:
    case Pointwise::lgamma:
    case Pointwise::digamma:
      return true;
    default:
      return false;
  }
}

// Functions that numbers below 0 have no value of: of few elements all are NaN often, and nothing is compared.
bool wants_positive(Pointwise f) {
  switch (f) {
    case Pointwise::sqrt:
    case Pointwise::rsqrt:
    case Pointwise::log:
    case Pointwise::log2:
    case Pointwise::log10:
    case Pointwise::log1p:
    case Pointwise::acosh:
      return true;
    default:
      return false;
  }
}

class Maker {
 public:
  explicit Maker(const RandomOpContext& c) : c_(c), f_(c.fusion) {}

  TensorView* make(const OpWord& word) {
    const OpKind kind = word.kind;
    x_ = c_.operand ? c_.operand : pick(c_.pool);
    if (kind == OpKind::PointwiseOp) return function(static_cast<Pointwise>(word.which));
    if (kind == OpKind::Reduce) return reduced(static_cast<Reduction>(word.which));
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
    if (f_.tensor_count() % 3 == 0) return count;  // which the drawn inputs know
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
      case OpKind::Einsum:
        return x_->dtype == DType::boolean || rank(x_) > 8 ? nullptr : contracted();
      case OpKind::Normal:
        return c_.exact ? nullptr : normal(c_.seed, shape_of(x_));
      case OpKind::Var:
        return c_.exact ? nullptr : var(real(x_), dims(x_), draw(2), chance(50));
      case OpKind::CumSum:
        return rank(x_) == 0 ? nullptr : cumsum(x_, dim(x_), chance(30), chance(30));
      case OpKind::CumProd:
        return rank(x_) == 0 || c_.exact ? nullptr : cumprod(x_, dim(x_), chance(30), chance(30));
      case OpKind::LogCumSumExp:
        return rank(x_) == 0 || c_.exact ? nullptr : logcumsumexp(real(x_), dim(x_));
      case OpKind::CumMax:
        return rank(x_) == 0 ? nullptr : one_of(cummax(x_, dim(x_)));
      case OpKind::CumMin:
        return rank(x_) == 0 ? nullptr : one_of(cummin(x_, dim(x_)));
      case OpKind::Sort:
        return rank(x_) == 0 ? nullptr : one_of(sort(x_, dim(x_), chance(50)));
      case OpKind::ArgSort:
        return rank(x_) == 0 ? nullptr : argsort(x_, dim(x_), chance(50));
      case OpKind::TopK: {
        if (rank(x_) == 0) return nullptr;
        const int64_t d = dim(x_), most = sym::bounds(x_->extent(static_cast<size_t>(d))).lo;
        return one_of(topk(x_, most > 0 ? 1 + draw(static_cast<int>(std::min<int64_t>(most, 6))) : 1, d, chance(50)));
      }
      default:
        return nullptr;
    }
  }
  // x with its dims in any order, times a parameter of some of them and one dim more, summed over some.
  TensorView* contracted() {
    std::string labels, other = "z", out;
    std::vector<Fusion::Extent> shape = {Fusion::Extent(1 + draw(5))};
    for (int d = 0; d < rank(x_); ++d) {
      const char label = char('a' + d);
      labels += label;
      if (chance(50)) other.insert(0, 1, label), shape.insert(shape.begin(), Fusion::Extent(x_->extent(size_t(d))));
      if (chance(60)) out += label;
    }
    if (chance(80)) out += 'z';
    std::shuffle(out.begin(), out.end(), c_.random);
    const std::string equation = fmt::format("{},{}->{}", labels, other, out);
    return einsum(equation, {x_, parameter(shape, x_->dtype)});
  }
  // The values, the indices, or values of which those of a low index are turned.
  TensorView* one_of(const ValuesAndIndices& both) {
    if (chance(40)) return chance(50) ? both.values : both.indices;
    if (both.values->dtype == DType::boolean) return both.values;
    TensorView* low = pointwise(Pointwise::lt, {both.indices, full(f_, {}, 2, DType::i64)});
    return pointwise(Pointwise::where, {low, neg_or_same(both.values), both.values});
  }
  TensorView* reduced(Reduction reduction) {
    const Dims over = dims(x_);
    const bool keepdim = chance(50);
    switch (reduction) {
      case Reduction::sum:
        return sum(x_, over, keepdim);
      case Reduction::prod:
        return c_.exact ? nullptr : prod(x_, over, keepdim);
      case Reduction::amax:
        return amax(x_, over, keepdim);
      case Reduction::amin:
        return amin(x_, over, keepdim);
      case Reduction::argmax:  // no two candidates are within their radii
        return argmax(sure(x_), over, keepdim);
      case Reduction::argmin:
        return argmin(sure(x_), over, keepdim);
    }
    return nullptr;
  }

  // A tensor whose values are exact: of a computed one, an input like it.
  TensorView* sure(TensorView* t) {
    if (t->role != TensorRole::intermediate || !is_float(t->dtype)) return t;
    return f_.input(f_.unique_name("e"), shape_of(t), t->dtype);
  }
  // The same in f32; of another dtype, an input of its shape.
  TensorView* single(TensorView* t) {
    return t->dtype == DType::f32 ? sure(t) : f_.input(f_.unique_name("e"), shape_of(t), DType::f32);
  }
  // Integers or bool; of floats, an input of their shape.
  TensorView* whole(TensorView* t, bool with_bool) {
    if (is_integer(t->dtype) || (with_bool && t->dtype == DType::boolean)) return t;
    std::vector<DType> types = {DType::i64, DType::i32, DType::u8, DType::i16, DType::u32};
    if (with_bool) types.push_back(DType::boolean);
    return f_.input(f_.unique_name("bits"), shape_of(t), pick(types));
  }
  // What may stand beside x_: itself, one of its shape, a number, or any tensor.
  TensorView* beside(DType dtype) {
    if (chance(20)) return x_;
    if (chance(40)) return twin(x_);
    if (chance(50)) {
      const int64_t least = is_float(dtype) || (is_integer(dtype) && !is_unsigned(dtype)) ? -2 : 0;
      return full(f_, {}, least + draw(dtype == DType::boolean ? 2 : 5), dtype);
    }
    return pick(c_.pool);
  }
  TensorView* condition() {
    if (chance(40)) return f_.input(f_.unique_name("c"), shape_of(x_), DType::boolean);
    TensorView* t = sure(x_);
    return pointwise(pick(std::vector<Pointwise>{Pointwise::lt, Pointwise::ne, Pointwise::ge}),
                     {t, full(f_, {}, 0, t->dtype)});
  }
  TensorView* casted() {
    DType to = pick(std::vector<DType>{DType::f32, DType::bf16, DType::f64, DType::f16, DType::i32, DType::i64,
                                       DType::boolean, DType::i8, DType::u8, DType::f8e4m3});
    if (c_.exact && is_f8(to)) to = DType::f32;
    return cast(is_discontinuous(Pointwise::cast, 0, x_->dtype, to) ? sure(x_) : x_, to);
  }
  // Operands at a discontinuity, or whose zero has a sign that matters, are exact.
  TensorView* function(Pointwise f) {
    if (f == Pointwise::cast) return casted();
    const PointwiseInfo& row = info(f);
    const bool bits = row.type_rule == TypeRule::bits || row.type_rule == TypeRule::shift;
    std::vector<TensorView*> in;
    for (int i = 0; i < row.arity; ++i) {
      TensorView* t = i == 0 ? x_ : beside(in.back()->dtype == DType::boolean ? x_->dtype : in.back()->dtype);
      if (f == Pointwise::where && i == 0) t = condition();
      if (bits) t = whole(t, row.type_rule == TypeRule::bits);
      if (row.type_rule == TypeRule::float_only) t = real(t);
      if (f != Pointwise::where && row.discontinuous) t = sure(t);
      if (!c_.operand && has_poles(f) && chance(80)) t = sure(t);
      if (!c_.operand && wants_positive(f) && chance(70)) t = pointwise(Pointwise::abs, {t});
      if (f == Pointwise::celu && i == 1) t = full(f_, {}, 1 + draw(3), in.back()->dtype);  // x / 0 else
      in.push_back(t);
    }
    return pointwise(f, in);
  }

  // One part of x, whatever its extent along a dim.
  TensorView* part(TensorView* x) {
    if (rank(x) == 0) return nullptr;
    const int64_t d = dim(x), at = d < 0 ? d + int64_t(rank(x)) : d;
    const sym::Expr extent = x->extent(size_t(at)), half = sym::floordiv(extent, 2);
    const auto parts = split(x, {half, extent - half}, d);
    return parts[chance(50)];
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
      case OpKind::Split:
        return part(x_);
      case OpKind::Stack:
        return stack({x_, twin(x_)}, draw(rank(x_) + 1));
      case OpKind::Flip:
        return flip(x_, dims(x_));
      case OpKind::Roll:
        return rank(x_) == 0 ? nullptr : roll(x_, {draw(7) - 3}, {dim(x_)});
      case OpKind::Repeat:
        return repeated();
      case OpKind::Bitcast:
        return c_.exact ? nullptr : bitcast(bitcast(single(x_), DType::u32), DType::f32);
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
  // Some of them are chains of slices, steps and pads along one dim.
  TensorView* sliced() {
    if (rank(x_) == 0) return nullptr;
    const int64_t d = dim(x_);
    TensorView* t = sliced(x_, d);
    for (int more = chance(40) ? 1 + draw(5) : 0; more > 0; --more) t = chance(25) ? padded(t) : sliced(t, d);
    return t;
  }
  TensorView* sliced(TensorView* t, int64_t d) {
    return slice(t, d, Fusion::Extent(draw(4) - 1 < 0 ? -1 : draw(3)),
                 chance(50) ? std::optional<Fusion::Extent>(Fusion::Extent(chance(50) ? -1 : 5)) : std::nullopt,
                 1 + draw(3));
  }
  TensorView* padded() { return padded(x_); }
  TensorView* padded(TensorView* t) {
    std::vector<Fusion::Extent> low, high;
    for (int d = 0; d < rank(t); ++d) low.emplace_back(draw(3)), high.emplace_back(draw(3));
    return pad(t, low, high, t->dtype == DType::boolean ? draw(2) : draw(4));
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
    // Nothing lies within an extent of 0.
    const Bounds bounds = sym::proven(sym::ge(extent, 1)) ? Bounds::check : Bounds::assume;
    switch (kind) {
      case OpKind::Gather:
        shape[static_cast<size_t>(d)] = 1 + draw(5);
        return gather(x_, index(shape, extent), d, bounds);
      case OpKind::TakeAlong: {
        std::vector<Fusion::Extent> ones(shape.size(), Fusion::Extent(1));
        ones[static_cast<size_t>(d)] = 1 + draw(5);
        return take_along(x_, index(ones, extent), d, bounds);
      }
      case OpKind::IndexSelect:
        return index_select(
            x_, index(chance(50) ? std::vector<Fusion::Extent>{5} : std::vector<Fusion::Extent>{2, 3}, extent), d,
            bounds);
      case OpKind::Embedding: {
        TensorView* table = parameter({11, 6}, DType::f32);
        return embedding(index(shape, table->extent(0)), table);
      }
      case OpKind::Scatter: {
        using enum ScatterUpdate;
        const bool is_bool = x_->dtype == DType::boolean;
        const ScatterUpdate update = pick(is_bool ? std::vector{set, max, min} : std::vector{set, add, max, min, mul});
        shape[static_cast<size_t>(d)] = 1 + draw(5);
        return scatter(x_, index(shape, extent), f_.input(f_.unique_name("src"), shape, x_->dtype), d, update, bounds);
      }
      case OpKind::SliceAt:
        return slice_at(x_, index({}, extent), d, draw(3), Bounds::assume);
      case OpKind::SliceUpdate: {
        shape[static_cast<size_t>(d)] = draw(4);
        TensorView* update = f_.input(f_.unique_name("update"), shape, x_->dtype);
        if (chance(70)) return slice_update(x_, update, index({}, extent), d, Bounds::assume);
        return slice_update(x_, update, d, draw(3), Bounds::assume);
      }
      case OpKind::OneHot:
        return one_hot(index(shape, f_.pool().constant(5)), 5, DType::f32);
      default:
        return nullptr;
    }
  }

  // The extremum, read together with its place, which is never negative.
  TensorView* with_place(const Extremum& found) {
    if (chance(50)) return found.value;
    TensorView* there = pointwise(Pointwise::ge, {found.position, full(f_, {}, 0, DType::i64)});
    return pointwise(Pointwise::where, {there, found.value, pointwise(Pointwise::neg, {found.value})});
  }

  TensorView* layer(OpKind kind) {
    // What was computed inexactly may be 0 or not.
    const bool sure = c_.exact || x_->role != TensorRole::intermediate || !is_float(x_->dtype);
    if (kind == OpKind::Any) return sure ? any(x_, dims(x_), chance(50)) : nullptr;
    if (kind == OpKind::All) return sure ? all(x_, dims(x_), chance(50)) : nullptr;
    if (c_.exact) return nullptr;
    TensorView* x = real(x_);
    if (rank(x) == 0) return nullptr;
    const sym::Expr last = x->shape().back();
    switch (kind) {
      case OpKind::Mean:
        return mean(x, dims(x), chance(50));
      case OpKind::Std:
        return stddev(x, dims(x), 0, chance(50));
      case OpKind::VarMean: {
        const MeanAndVar both = var_mean(x, dims(x), 0, chance(50));
        return chance(40) ? add(both.mean, both.var) : chance(50) ? both.mean : both.var;
      }
      case OpKind::MaxWithArgmax:
        return with_place(max_with_argmax(x, dims(x), chance(50)));
      case OpKind::MinWithArgmin:
        return with_place(min_with_argmin(x, dims(x), chance(50)));
      case OpKind::LogSumExp:
        return logsumexp(x, dims(x), chance(50));
      case OpKind::Norm:
        return norm(x, pick(std::vector<double>{1, 2, 3, HUGE_VAL, -HUGE_VAL}), dims(x), chance(50));
      case OpKind::Softmax:
        return softmax(x, dim(x));
      case OpKind::LogSoftmax:
        return log_softmax(x, dim(x));
      case OpKind::LayerNorm:
        return chance(50) ? layer_norm(x, parameter({last}, x->dtype), parameter({last}, x->dtype))
                          : layer_norm_statistics(x, parameter({last}, x->dtype)).y;
      case OpKind::RmsNorm:
        return chance(50) ? rms_norm(x, parameter({last}, x->dtype)) : rms_norm_statistics(x).rstd;
      case OpKind::GroupNorm:
        return rank(x) < 2 ? nullptr : group_norm(x, groups(x->extent(1)), of_channels(x));
      case OpKind::BatchNorm:
        return rank(x) < 2 ? nullptr : batch_norm(x, statistics(x));
      case OpKind::CrossEntropy:
        return loss(x, last);
      case OpKind::Mse:
        return mse(x, twin(x), reduction());
      case OpKind::SwiGlu:
        return swiglu(x, twin(x));
      case OpKind::Rope: {
        if (last.constant().value_or(1) % 2 != 0) return nullptr;
        TensorView* cos = f_.input(f_.unique_name("cos"), {last}, x->dtype);
        return rope(x, cos, cos, chance(50));
      }
      case OpKind::Sdpa:
        return attention(x);
      default:
        return nullptr;
    }
  }
  LossReduction reduction() {
    return pick(std::vector<LossReduction>{LossReduction::mean, LossReduction::sum, LossReduction::none});
  }
  TensorView* of_channels(TensorView* x) { return parameter({Fusion::Extent(x->extent(1))}, x->dtype); }
  int64_t groups(sym::Expr channels) { return channels.constant().value_or(1) % 2 == 0 && chance(50) ? 2 : 1; }
  // Half of them with means and variances given, as in inference.
  BatchNormInputs statistics(TensorView* x) {
    BatchNormInputs in{.w = of_channels(x)};
    if (chance(50)) return in;
    in.mean = of_channels(x);
    in.var = pointwise(Pointwise::abs, {of_channels(x)});
    return in;
  }
  TensorView* loss(TensorView* x, sym::Expr classes) {
    std::vector<Fusion::Extent> shape = shape_of(x);
    shape.pop_back();
    CrossEntropyOptions how{.smoothing = chance(50) ? 0.1 : 0.0, .reduction = reduction()};
    if (chance(30)) how.ignore_index = 0;
    return cross_entropy(x, index(shape, classes), how);
  }
  // Keys are x or its first head, which all heads of x then share.
  TensorView* attention(TensorView* x) {
    if (rank(x) < 3) return nullptr;
    TensorView* keys = chance(50) ? x : slice(x, rank(x) - 3, 0, 1);
    AttentionOptions how{.causal = chance(50)};
    if (chance(50)) {
      const Fusion::Extent length(x->extent(x->rank() - 2));
      how.mask = f_.input(f_.unique_name("mask"), {length, length}, chance(50) ? DType::boolean : x->dtype);
    }
    if (chance(30)) how.scale = pick(std::vector<double>{0.25, 1, 2});
    return scaled_dot_product_attention(x, neg_or_same(keys), keys, how);
  }

  const RandomOpContext& c_;
  Fusion& f_;
  TensorView* x_ = nullptr;
};

}  // namespace

TensorView* add_random_op(const RandomOpContext& context, const OpWord& word) {
  try {
    TensorView* out = Maker(context).make(word);
    return out && out->rank() <= 5 ? out : nullptr;
  } catch (const UserError&) {
    return nullptr;
  }
}

}  // namespace plait::testing
