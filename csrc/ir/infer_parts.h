#pragma once
// What the rules of infer share. Private to csrc/ir.
#include <string>
#include <vector>

#include "ir/fusion.h"

namespace plait::rules {

// `%x: f32[b, s]`, for messages.
std::string text(const TensorView* t);
// One node, or proven equal.
bool same_extent(sym::Expr a, sym::Expr b);
bool is_unit(sym::Expr e);

// Shape of operands whose trailing dims, but for the last `drop`, align; extent 1 broadcasts. UserError: they differ.
std::vector<sym::Expr> broadcast(const Op& op, const std::vector<TensorView*>& in, size_t drop, Fusion& fusion);

// UserErrors naming the op.
void check_float(const Op& op, const TensorView* t);
void check_index(const Op& op, const TensorView* t);  // i32 or i64
void check_seed(const Op& op, const TensorView* seed);
void check_offset(const Op& op, std::optional<int64_t> offset);
void check_rank(const Op& op, const TensorView* t, size_t least, size_t most, const std::string& remedy);
void check_extents(const Op& op, std::string_view what, const std::vector<sym::Expr>& extents);
void check_same_dtype(const Op& op, const TensorView* a, const TensorView* b);
void check_same_extent(const Op& op, const TensorView* a, size_t a_dim, const TensorView* b, size_t b_dim,
                       const char* remedy);
// Dims stand in 0 .. rank-1, each once; increasing where `sorted`.
void check_dims(const Op& op, const std::vector<int64_t>& dims, size_t rank, bool sorted);
void check_dim(const Op& op, int64_t dim, size_t rank);

Inferred same_as(const TensorView* in);
Inferred typed(std::vector<sym::Expr> shape, DType dtype, const TensorView* like);
// Shape without `dims`, or with extent 1 there.
std::vector<sym::Expr> reduced(const TensorView* in, const std::vector<int64_t>& dims, bool keepdim, Fusion& fusion);
sym::Expr element_count(const std::vector<sym::Expr>& shape, Fusion& fusion);

Inferred infer(const Permute& op);
Inferred infer(const Broadcast& op);
Inferred infer(const Squeeze& op);
Inferred infer(const Unsqueeze& op, Fusion& fusion);
Inferred infer(const Reshape& op, Fusion& fusion);
Inferred infer(const Slice& op, Fusion& fusion);
Inferred infer(const Pad& op);
Inferred infer(const Cat& op, Fusion& fusion);
Inferred infer(const Flip& op);
Inferred infer(const Roll& op);
Inferred infer(const Repeat& op, Fusion& fusion);
Inferred infer(const Bitcast& op);
Inferred infer(const Gather& op);
Inferred infer(const IndexSelect& op);
Inferred infer(const Scatter& op);

Inferred infer(const Reduce& op, Fusion& fusion);
Inferred infer(const Var& op, Fusion& fusion);
Inferred infer(const CumSum& op);
Inferred infer(const CumProd& op);
Inferred infer(const LogCumSumExp& op);
std::vector<Inferred> infer(const CumMax& op);
std::vector<Inferred> infer(const CumMin& op);
std::vector<Inferred> infer(const Sort& op);
Inferred infer(const ArgSort& op);
std::vector<Inferred> infer(const TopK& op);
Inferred infer(const SliceAt& op);
Inferred infer(const SliceUpdate& op);

Inferred infer(const Einsum& op);
Inferred infer(const Dropout& op);
Inferred infer(const Set& op);
Inferred infer(const Stack& op, Fusion& fusion);
Inferred infer(const Expand& op);
Inferred infer(const Eye& op);
Inferred infer(const Tril& op);
Inferred infer(const Triu& op);
Inferred infer(const Embedding& op);
Inferred infer(const TakeAlong& op, Fusion& fusion);
Inferred infer(const OneHot& op);
Inferred infer(const Mean& op, Fusion& fusion);
Inferred infer(const Std& op, Fusion& fusion);
Inferred infer(const Any& op, Fusion& fusion);
Inferred infer(const All& op, Fusion& fusion);
Inferred infer(const LogSumExp& op, Fusion& fusion);
Inferred infer(const Norm& op, Fusion& fusion);
Inferred infer(const Softmax& op);
Inferred infer(const LogSoftmax& op);
std::vector<Inferred> infer(const LayerNorm& op, Fusion& fusion);
std::vector<Inferred> infer(const RmsNorm& op, Fusion& fusion);
std::vector<Inferred> infer(const GroupNorm& op, Fusion& fusion);
std::vector<Inferred> infer(const BatchNorm& op, Fusion& fusion);
Inferred infer(const CrossEntropy& op);
Inferred infer(const Mse& op);
Inferred infer(const SwiGlu& op);
Inferred infer(const Rope& op, Fusion& fusion);
std::vector<Inferred> infer(const Sdpa& op, Fusion& fusion);
std::vector<Inferred> infer(const Split& op, Fusion& fusion);
std::vector<Inferred> infer(const VarMean& op, Fusion& fusion);
std::vector<Inferred> infer(const MaxWithArgmax& op, Fusion& fusion);
std::vector<Inferred> infer(const MinWithArgmin& op, Fusion& fusion);

}  // namespace plait::rules
