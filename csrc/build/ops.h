#pragma once
// How users make graphs in C++, continued: every op that is not pointwise. As build/build.h: a function adds an op to
// the fusion of its operands and returns its result; UserError for what the op refuses. Dims may be counted from the
// end with negative numbers. Meaning of every op: the headers of csrc/ir/ops and docs/ops.md.
#include "build/build.h"

namespace plait {

// Dims by number; negative ones count from the end.
using Dims = std::vector<int64_t>;

// Reductions over `dims`, all where none are given. sum and prod of integers and bool are i64.
TensorView* sum(TensorView* x, Dims dims = {}, bool keepdim = false);
TensorView* prod(TensorView* x, Dims dims = {}, bool keepdim = false);
TensorView* amax(TensorView* x, Dims dims = {}, bool keepdim = false);
TensorView* amin(TensorView* x, Dims dims = {}, bool keepdim = false);
TensorView* any(TensorView* x, Dims dims = {}, bool keepdim = false);
TensorView* all(TensorView* x, Dims dims = {}, bool keepdim = false);
TensorView* argmax(TensorView* x, Dims dims = {}, bool keepdim = false);
TensorView* argmin(TensorView* x, Dims dims = {}, bool keepdim = false);
TensorView* mean(TensorView* x, Dims dims = {}, bool keepdim = false);
TensorView* var(TensorView* x, Dims dims = {}, int64_t correction = 1, bool keepdim = false);
TensorView* stddev(TensorView* x, Dims dims = {}, int64_t correction = 1, bool keepdim = false);  // std in the text
struct MeanAndVar {
  TensorView *mean, *var;
};
MeanAndVar var_mean(TensorView* x, Dims dims = {}, int64_t correction = 1, bool keepdim = false);
struct Extremum {
  TensorView *value, *position;
};
Extremum max_with_argmax(TensorView* x, Dims dims = {}, bool keepdim = false);
Extremum min_with_argmin(TensorView* x, Dims dims = {}, bool keepdim = false);
TensorView* logsumexp(TensorView* x, Dims dims = {}, bool keepdim = false);
TensorView* norm(TensorView* x, double p = 2, Dims dims = {}, bool keepdim = false);
TensorView* cumsum(TensorView* x, int64_t dim, bool exclusive = false, bool reverse = false);
TensorView* cumprod(TensorView* x, int64_t dim, bool exclusive = false, bool reverse = false);
TensorView* logcumsumexp(TensorView* x, int64_t dim);
// Elements and their indices along dim.
struct ValuesAndIndices {
  TensorView *values, *indices;
};
ValuesAndIndices cummax(TensorView* x, int64_t dim);
ValuesAndIndices cummin(TensorView* x, int64_t dim);
ValuesAndIndices sort(TensorView* x, int64_t dim = -1, bool descending = false);
TensorView* argsort(TensorView* x, int64_t dim = -1, bool descending = false);
ValuesAndIndices topk(TensorView* x, const Fusion::Extent& k, int64_t dim = -1, bool largest = true);

// Views and moves.
TensorView* set(TensorView* x);  // a copy
TensorView* permute(TensorView* x, Dims dims);
TensorView* transpose(TensorView* x, int64_t a, int64_t b);  // permute that swaps two dims
TensorView* broadcast(TensorView* x, const std::vector<Fusion::Extent>& shape, Dims dims);
TensorView* expand(TensorView* x, const std::vector<Fusion::Extent>& shape);  // -1: as long as x
TensorView* squeeze(TensorView* x, Dims dims = {});
TensorView* unsqueeze(TensorView* x, Dims dims);
TensorView* reshape(TensorView* x, const std::vector<Fusion::Extent>& shape);  // one may be -1
TensorView* slice(TensorView* x, int64_t dim, std::optional<Fusion::Extent> start = {},
                  std::optional<Fusion::Extent> stop = {}, int64_t step = 1);
TensorView* pad(TensorView* x, const std::vector<Fusion::Extent>& low, const std::vector<Fusion::Extent>& high,
                double value = 0);
TensorView* cat(const std::vector<TensorView*>& in, int64_t dim);
TensorView* stack(const std::vector<TensorView*>& in, int64_t dim);
std::vector<TensorView*> split(TensorView* x, const std::vector<Fusion::Extent>& sizes, int64_t dim = 0);
TensorView* flip(TensorView* x, Dims dims);
TensorView* roll(TensorView* x, Dims shifts, Dims dims);
TensorView* repeat(TensorView* x, Dims repeats);
TensorView* bitcast(TensorView* x, DType to);
TensorView* tril(TensorView* x, int64_t diagonal = 0);
TensorView* triu(TensorView* x, int64_t diagonal = 0);

// Tensors from nothing.
TensorView* iota(Fusion& fusion, const std::vector<Fusion::Extent>& shape, int64_t dim, DType dtype = DType::i64);
TensorView* size(Fusion& fusion, const Fusion::Extent& value, DType dtype = DType::i64);
TensorView* eye(Fusion& fusion, const Fusion::Extent& rows, std::optional<Fusion::Extent> columns = {},
                DType dtype = DType::f32);
TensorView* normal(TensorView* seed, const std::vector<Fusion::Extent>& shape, std::optional<int64_t> offset = {});

// Indices are i32 or i64.
TensorView* gather(TensorView* x, TensorView* index, int64_t dim, Bounds bounds = Bounds::check);
TensorView* take_along(TensorView* x, TensorView* index, int64_t dim, Bounds bounds = Bounds::check);
TensorView* index_select(TensorView* x, TensorView* index, int64_t dim, Bounds bounds = Bounds::check);
TensorView* embedding(TensorView* index, TensorView* table, Bounds bounds = Bounds::check);
TensorView* scatter(TensorView* x, TensorView* index, TensorView* src, int64_t dim,
                    ScatterUpdate update = ScatterUpdate::set, Bounds bounds = Bounds::check);
TensorView* slice_at(TensorView* x, TensorView* at, int64_t dim, const Fusion::Extent& size,
                     Bounds bounds = Bounds::check);
TensorView* slice_update(TensorView* x, TensorView* update, int64_t dim, const Fusion::Extent& start,
                         Bounds bounds = Bounds::check);
TensorView* slice_update(TensorView* x, TensorView* update, TensorView* at, int64_t dim, Bounds bounds = Bounds::check);
TensorView* one_hot(TensorView* index, const Fusion::Extent& classes, DType dtype = DType::i64);

// Layers. Null weights are left out.
TensorView* softmax(TensorView* x, int64_t dim);
TensorView* log_softmax(TensorView* x, int64_t dim);
TensorView* layer_norm(TensorView* x, TensorView* w = nullptr, TensorView* b = nullptr, int64_t dims = 1,
                       double eps = 1e-5);
TensorView* rms_norm(TensorView* x, TensorView* w = nullptr, int64_t dims = 1, double eps = 1e-6);
TensorView* group_norm(TensorView* x, int64_t groups, TensorView* w = nullptr, TensorView* b = nullptr,
                       double eps = 1e-5);
struct BatchNormInputs {
  TensorView *w = nullptr, *b = nullptr, *mean = nullptr, *var = nullptr;
};
TensorView* batch_norm(TensorView* x, BatchNormInputs in = {}, double eps = 1e-5);
// The same with the statistics that were used, in compute_type; rms_norm has no mean (null).
struct NormAndStatistics {
  TensorView *y, *mean, *rstd;
};
NormAndStatistics layer_norm_statistics(TensorView* x, TensorView* w = nullptr, TensorView* b = nullptr,
                                        int64_t dims = 1, double eps = 1e-5);
NormAndStatistics rms_norm_statistics(TensorView* x, TensorView* w = nullptr, int64_t dims = 1, double eps = 1e-6);
NormAndStatistics group_norm_statistics(TensorView* x, int64_t groups, TensorView* w = nullptr, TensorView* b = nullptr,
                                        double eps = 1e-5);
NormAndStatistics batch_norm_statistics(TensorView* x, BatchNormInputs in = {}, double eps = 1e-5);
struct CrossEntropyOptions {
  std::optional<int64_t> ignore_index = {};
  double smoothing = 0;
  LossReduction reduction = LossReduction::mean;
};
TensorView* cross_entropy(TensorView* x, TensorView* target, CrossEntropyOptions options = {});
TensorView* mse(TensorView* x, TensorView* y, LossReduction reduction = LossReduction::mean);
TensorView* swiglu(TensorView* gate, TensorView* up);
TensorView* rope(TensorView* x, TensorView* cos, TensorView* sin, bool interleaved = false);
struct AttentionOptions {
  TensorView* mask = nullptr;
  bool causal = false;
  std::optional<double> scale = {};
};
TensorView* scaled_dot_product_attention(TensorView* q, TensorView* k, TensorView* v, AttentionOptions options = {});
// The same with log sum exp of each row of scores.
struct AttentionAndStatistics {
  TensorView *out, *logsumexp;
};
AttentionAndStatistics scaled_dot_product_attention_statistics(TensorView* q, TensorView* k, TensorView* v,
                                                               AttentionOptions options = {});

}  // namespace plait
