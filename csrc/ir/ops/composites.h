#pragma once
// Ops that other ops can say; opened by the pass `expand`. In narrow dtypes they compute wide and round once.
#include <limits>
#include <string>
#include <vector>

#include "ir/ops/indexing.h"

namespace plait {

// Norms with `statistics` have two results more, the mean and the rstd = 1 / sqrt(var + eps) that they divide by
// (RmsNorm the latter alone), in compute_type.

// What becomes of the losses of all rows: their mean, their sum, or all of them; name(): its word in the text.
enum class LossReduction : uint8_t { mean, sum, none };
std::string_view name(LossReduction reduction);

// NumPy's einsum: a label for each dim, `...` for those without (trailing dims aligned); the products of elements with
// equal labels, summed over the labels that the result lacks. Extent 1 broadcasts; a label twice in one operand is its
// diagonal. Left out, `->` and what follows are NumPy's. More than two operands are multiplied from left to right, each
// step rounded; sums otherwise as Linear.
struct Einsum : OpBase<OpKind::Einsum> {
  std::vector<TensorView*> in;
  std::string equation;
  static constexpr auto fields() {
    return std::tuple{operand("in", &Einsum::in), required("equation", &Einsum::equation)};
  }
};

// out = x / (1 - p) where uniform(global index) >= p (compared in double), else 0. 0 <= p < 1. seed: u64[].
struct Dropout : OpBase<OpKind::Dropout> {
  TensorView* x = nullptr;
  double p = std::numeric_limits<double>::quiet_NaN();
  TensorView* seed = nullptr;
  std::optional<int64_t> offset;  // absent: the ordinal of the random op in the fusion
  static constexpr auto fields() {
    return std::tuple{operand("x", &Dropout::x), required("p", &Dropout::p), named_operand("seed", &Dropout::seed),
                      attribute("offset", &Dropout::offset)};
  }
};

// A copy.
struct Set : OpBase<OpKind::Set> {
  TensorView* in = nullptr;
  static constexpr auto fields() { return std::tuple{operand("in", &Set::in)}; }
};

// The operands, all of one shape, along a new dim.
struct Stack : OpBase<OpKind::Stack> {
  std::vector<TensorView*> in;
  int64_t dim = 0;
  static constexpr auto fields() { return std::tuple{operand("in", &Stack::in), attribute("dim", &Stack::dim)}; }
};

// in cut along dim into parts of those sizes, whose sum is its extent: a result for each.
struct Split : OpBase<OpKind::Split> {
  TensorView* in = nullptr;
  std::vector<sym::Expr> sizes;
  int64_t dim = 0;
  static constexpr auto fields() {
    return std::tuple{operand("in", &Split::in), required("sizes", &Split::sizes), attribute("dim", &Split::dim)};
  }
  std::vector<std::string> result_names() const { return std::vector<std::string>(sizes.size(), "split"); }
};

// in broadcast to `shape`, trailing dims aligned.
struct Expand : OpBase<OpKind::Expand> {
  TensorView* in = nullptr;
  std::vector<sym::Expr> shape;
  static constexpr auto fields() { return std::tuple{operand("in", &Expand::in), required("shape", &Expand::shape)}; }
};

// 1 where row equals column, else 0.
struct Eye : OpBase<OpKind::Eye> {
  sym::Expr rows;
  sym::Expr columns;
  DType dtype = DType::f32;
  static constexpr auto fields() {
    return std::tuple{required("rows", &Eye::rows), attribute("columns", &Eye::columns),
                      attribute("dtype", &Eye::dtype)};
  }
};

// in where column <= row + diagonal in its last two dims, else 0.
struct Tril : OpBase<OpKind::Tril> {
  TensorView* in = nullptr;
  int64_t diagonal = 0;
  static constexpr auto fields() {
    return std::tuple{operand("in", &Tril::in), attribute("diagonal", &Tril::diagonal)};
  }
};

// in where column >= row + diagonal in its last two dims, else 0.
struct Triu : OpBase<OpKind::Triu> {
  TensorView* in = nullptr;
  int64_t diagonal = 0;
  static constexpr auto fields() {
    return std::tuple{operand("in", &Triu::in), attribute("diagonal", &Triu::diagonal)};
  }
};

// table[index[i...], :] of a table [n, h].
struct Embedding : OpBase<OpKind::Embedding> {
  TensorView* index = nullptr;
  TensorView* table = nullptr;
  Bounds bounds = Bounds::check;
  std::optional<int64_t> ordinal;
  static constexpr auto fields() {
    return std::tuple{operand("index", &Embedding::index), operand("table", &Embedding::table),
                      attribute("bounds", &Embedding::bounds), made("ordinal", &Embedding::ordinal)};
  }
};

// Gather of operands whose dims other than `dim` broadcast (numpy.take_along_axis).
struct TakeAlong : OpBase<OpKind::TakeAlong> {
  TensorView* in = nullptr;
  TensorView* index = nullptr;
  int64_t dim = 0;
  Bounds bounds = Bounds::check;
  std::optional<int64_t> ordinal;
  static constexpr auto fields() {
    return std::tuple{operand("in", &TakeAlong::in), operand("index", &TakeAlong::index),
                      required("dim", &TakeAlong::dim), attribute("bounds", &TakeAlong::bounds),
                      made("ordinal", &TakeAlong::ordinal)};
  }
};

// 1 where the class equals the index, along a new last dim of `classes`, else 0.
struct OneHot : OpBase<OpKind::OneHot> {
  TensorView* index = nullptr;
  sym::Expr classes;
  DType dtype = DType::i64;
  static constexpr auto fields() {
    return std::tuple{operand("index", &OneHot::index), required("classes", &OneHot::classes),
                      attribute("dtype", &OneHot::dtype)};
  }
};

// out[.., i, ..] = in[.., at + i, ..] along dim for i < size: a slice at a position that a tensor holds. at is an i32
// or i64 of no dims; `bounds` as of lookups, never clamped: an offence names at + i.
struct SliceAt : OpBase<OpKind::SliceAt> {
  TensorView* in = nullptr;
  TensorView* at = nullptr;
  int64_t dim = 0;
  sym::Expr size;
  Bounds bounds = Bounds::check;
  std::optional<int64_t> ordinal;
  static constexpr auto fields() {
    return std::tuple{operand("in", &SliceAt::in),           operand("at", &SliceAt::at),
                      required("dim", &SliceAt::dim),        required("size", &SliceAt::size),
                      attribute("bounds", &SliceAt::bounds), made("ordinal", &SliceAt::ordinal)};
  }
};

// out = in, but out[.., start + at + i, ..] = update[.., i, ..] along dim. at is an i32 or i64 of no dims, 0 where
// there is none. update is as long as in in all other dims. `bounds` as of scatters, never clamped: an offence names
// the place.
struct SliceUpdate : OpBase<OpKind::SliceUpdate> {
  TensorView* in = nullptr;
  TensorView* update = nullptr;
  TensorView* at = nullptr;
  int64_t dim = 0;
  sym::Expr start;
  Bounds bounds = Bounds::check;
  std::optional<int64_t> ordinal;
  static constexpr auto fields() {
    return std::tuple{operand("in", &SliceUpdate::in),          operand("update", &SliceUpdate::update),
                      optional_operand("at", &SliceUpdate::at), required("dim", &SliceUpdate::dim),
                      attribute("start", &SliceUpdate::start),  attribute("bounds", &SliceUpdate::bounds),
                      made("ordinal", &SliceUpdate::ordinal)};
  }
};

// Sum over `dims` (all where none are given) divided by the count (NaN of none), in accumulation_type, rounded once. Of
// floats.
struct Mean : OpBase<OpKind::Mean> {
  TensorView* in = nullptr;
  std::vector<int64_t> dims;
  bool keepdim = false;
  static constexpr auto fields() {
    return std::tuple{operand("in", &Mean::in), attribute("dims", &Mean::dims), attribute("keepdim", &Mean::keepdim)};
  }
};

// Square root of Var.
struct Std : OpBase<OpKind::Std> {
  TensorView* in = nullptr;
  std::vector<int64_t> dims;
  int64_t correction = 1;
  bool keepdim = false;
  static constexpr auto fields() {
    return std::tuple{operand("in", &Std::in), attribute("dims", &Std::dims), attribute("correction", &Std::correction),
                      attribute("keepdim", &Std::keepdim)};
  }
};

// Whether an element over `dims` (all where none are given) is not 0; false of none.
struct Any : OpBase<OpKind::Any> {
  TensorView* in = nullptr;
  std::vector<int64_t> dims;
  bool keepdim = false;
  static constexpr auto fields() {
    return std::tuple{operand("in", &Any::in), attribute("dims", &Any::dims), attribute("keepdim", &Any::keepdim)};
  }
};

// Whether every element over `dims` (all where none are given) is not 0; true of none.
struct All : OpBase<OpKind::All> {
  TensorView* in = nullptr;
  std::vector<int64_t> dims;
  bool keepdim = false;
  static constexpr auto fields() {
    return std::tuple{operand("in", &All::in), attribute("dims", &All::dims), attribute("keepdim", &All::keepdim)};
  }
};

// log sum exp(x) over `dims`, by way of the maximum, which it is where that is infinite; -inf of none.
struct LogSumExp : OpBase<OpKind::LogSumExp> {
  TensorView* in = nullptr;
  std::vector<int64_t> dims;
  bool keepdim = false;
  static constexpr auto fields() {
    return std::tuple{operand("in", &LogSumExp::in), attribute("dims", &LogSumExp::dims),
                      attribute("keepdim", &LogSumExp::keepdim)};
  }
};

// (sum |x|^p)^(1/p) over `dims` (all where none are given), 0 of none, inf where p < 0; p = inf and -inf: the extremum
// of |x|; p = 0: the count of elements that are not 0, NaN too. The powers may overflow, or be less than any number.
struct Norm : OpBase<OpKind::Norm> {
  TensorView* in = nullptr;
  double p = 2;
  std::vector<int64_t> dims;
  bool keepdim = false;
  static constexpr auto fields() {
    return std::tuple{operand("in", &Norm::in), attribute("p", &Norm::p), attribute("dims", &Norm::dims),
                      attribute("keepdim", &Norm::keepdim)};
  }
};

// exp(x - max) / sum exp(x - max) along dim. NaN where the maximum is infinite.
struct Softmax : OpBase<OpKind::Softmax> {
  TensorView* in = nullptr;
  int64_t dim = 0;
  static constexpr auto fields() { return std::tuple{operand("in", &Softmax::in), required("dim", &Softmax::dim)}; }
};

// x - max - log sum exp(x - max) along dim. NaN where the maximum is infinite.
struct LogSoftmax : OpBase<OpKind::LogSoftmax> {
  TensorView* in = nullptr;
  int64_t dim = 0;
  static constexpr auto fields() {
    return std::tuple{operand("in", &LogSoftmax::in), required("dim", &LogSoftmax::dim)};
  }
};

// (x - mean) / sqrt(var + eps) * w + b over the last dims, as many as `dims` says; w and b have the shape of those.
// Statistics keep those dims with extent 1.
struct LayerNorm : OpBase<OpKind::LayerNorm> {
  TensorView* x = nullptr;
  TensorView* w = nullptr;  // may be null
  TensorView* b = nullptr;  // may be null
  int64_t dims = 1;
  double eps = 1e-5;
  bool statistics = false;
  static constexpr auto fields() {
    return std::tuple{operand("x", &LayerNorm::x),          optional_operand("w", &LayerNorm::w),
                      optional_operand("b", &LayerNorm::b), attribute("dims", &LayerNorm::dims),
                      attribute("eps", &LayerNorm::eps),    attribute("statistics", &LayerNorm::statistics)};
  }
  std::vector<std::string> result_names() const {
    if (!statistics) return {"layer_norm"};
    return {"layer_norm", "layer_norm_mean", "layer_norm_rstd"};
  }
};

// x / sqrt(mean(x^2) + eps) * w over the last dims.
struct RmsNorm : OpBase<OpKind::RmsNorm> {
  TensorView* x = nullptr;
  TensorView* w = nullptr;  // may be null
  int64_t dims = 1;
  double eps = 1e-6;
  bool statistics = false;
  static constexpr auto fields() {
    return std::tuple{operand("x", &RmsNorm::x), optional_operand("w", &RmsNorm::w), attribute("dims", &RmsNorm::dims),
                      attribute("eps", &RmsNorm::eps), attribute("statistics", &RmsNorm::statistics)};
  }
  std::vector<std::string> result_names() const {
    if (!statistics) return {"rms_norm"};
    return {"rms_norm", "rms_norm_rstd"};
  }
};

// x[n, c, ...] normalised over each of `groups` groups of channels and all later dims; w and b: [c].
// Statistics: [n, groups].
struct GroupNorm : OpBase<OpKind::GroupNorm> {
  TensorView* x = nullptr;
  TensorView* w = nullptr;  // may be null
  TensorView* b = nullptr;  // may be null
  int64_t groups = 1;
  double eps = 1e-5;
  bool statistics = false;
  static constexpr auto fields() {
    return std::tuple{operand("x", &GroupNorm::x),          optional_operand("w", &GroupNorm::w),
                      optional_operand("b", &GroupNorm::b), required("groups", &GroupNorm::groups),
                      attribute("eps", &GroupNorm::eps),    attribute("statistics", &GroupNorm::statistics)};
  }
  std::vector<std::string> result_names() const {
    if (!statistics) return {"group_norm"};
    return {"group_norm", "group_norm_mean", "group_norm_rstd"};
  }
};

// x[n, c, ...] normalised over all dims but c. With mean and var ([c]) given they are used (inference), else those of
// x, var without correction (training). w, b and statistics: [c].
struct BatchNorm : OpBase<OpKind::BatchNorm> {
  TensorView* x = nullptr;
  TensorView* w = nullptr;     // may be null
  TensorView* b = nullptr;     // may be null
  TensorView* mean = nullptr;  // may be null
  TensorView* var = nullptr;   // may be null
  double eps = 1e-5;
  bool statistics = false;
  static constexpr auto fields() {
    return std::tuple{operand("x", &BatchNorm::x),
                      optional_operand("w", &BatchNorm::w),
                      optional_operand("b", &BatchNorm::b),
                      named_operand("mean", &BatchNorm::mean),
                      named_operand("var", &BatchNorm::var),
                      attribute("eps", &BatchNorm::eps),
                      attribute("statistics", &BatchNorm::statistics)};
  }
  std::vector<std::string> result_names() const {
    if (!statistics) return {"batch_norm"};
    return {"batch_norm", "batch_norm_mean", "batch_norm_rstd"};
  }
};

// Loss of logits x[..., classes] against target classes [...] (i32 or i64). Per token -sum_c q_c log softmax(x)_c with
// q = (1 - smoothing) onehot(target) + smoothing / classes, 0 where target equals ignore_index, else NaN where it is no
// class; mean divides by the number of tokens that are not ignored (0 / 0 = NaN of none).
struct CrossEntropy : OpBase<OpKind::CrossEntropy> {
  TensorView* x = nullptr;
  TensorView* target = nullptr;
  std::optional<int64_t> ignore_index;
  double smoothing = 0;
  LossReduction reduction = LossReduction::mean;
  static constexpr auto fields() {
    return std::tuple{operand("x", &CrossEntropy::x), operand("target", &CrossEntropy::target),
                      attribute("ignore_index", &CrossEntropy::ignore_index),
                      attribute("smoothing", &CrossEntropy::smoothing),
                      attribute("reduction", &CrossEntropy::reduction)};
  }
};

// (x - y)^2, its mean (NaN of none) or sum (0 of none) over all elements.
struct Mse : OpBase<OpKind::Mse> {
  TensorView* x = nullptr;
  TensorView* y = nullptr;
  LossReduction reduction = LossReduction::mean;
  static constexpr auto fields() {
    return std::tuple{operand("x", &Mse::x), operand("y", &Mse::y), attribute("reduction", &Mse::reduction)};
  }
};

// silu(gate) * up.
struct SwiGlu : OpBase<OpKind::SwiGlu> {
  TensorView* gate = nullptr;
  TensorView* up = nullptr;
  static constexpr auto fields() { return std::tuple{operand("gate", &SwiGlu::gate), operand("up", &SwiGlu::up)}; }
};

// Rotary embedding of x[..., s, d], d even, by tables cos and sin that broadcast to it: x * cos + rotate(x) * sin.
// rotate gives (-second half, first half); interleaved: pairs (-x[2i+1], x[2i]).
struct Rope : OpBase<OpKind::Rope> {
  TensorView* x = nullptr;
  TensorView* cos = nullptr;
  TensorView* sin = nullptr;
  bool interleaved = false;
  static constexpr auto fields() {
    return std::tuple{operand("x", &Rope::x), operand("cos", &Rope::cos), operand("sin", &Rope::sin),
                      attribute("interleaved", &Rope::interleaved)};
  }
};

// softmax(scale q k^T + mask) v of q[..., h, s, d], k[..., g, t, d], v[..., g, t, e]; h is a multiple of g (query heads
// share key heads in order). mask broadcasts to [..., h, s, t]: bool keeps where true, float is added. causal: key
// position <= query position (top left). scale: 1 / sqrt(d) where absent. A row of scores -inf, or no keys, gives 0.
// Scores are of compute_type; the exponentials that weigh f16 or bf16 are of that type, their sum is not.
// `statistics`: a second result, log sum exp of each row of scores, [..., h, s], in compute_type; -inf of such a row.
struct Sdpa : OpBase<OpKind::Sdpa> {
  TensorView* q = nullptr;
  TensorView* k = nullptr;
  TensorView* v = nullptr;
  TensorView* mask = nullptr;  // may be null
  bool causal = false;
  std::optional<double> scale;
  bool statistics = false;
  static constexpr auto fields() {
    return std::tuple{operand("q", &Sdpa::q),
                      operand("k", &Sdpa::k),
                      operand("v", &Sdpa::v),
                      named_operand("mask", &Sdpa::mask),
                      attribute("causal", &Sdpa::causal),
                      attribute("scale", &Sdpa::scale),
                      attribute("statistics", &Sdpa::statistics)};
  }
  std::vector<std::string> result_names() const {
    if (!statistics) return {"scaled_dot_product_attention"};
    return {"scaled_dot_product_attention", "logsumexp"};
  }
};

}  // namespace plait
