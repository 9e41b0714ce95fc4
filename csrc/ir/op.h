#pragma once
// Ops of the fusion IR. A node is data plus one fields() line; inputs, outputs, printing, parsing, hashing, equality
// and cloning are derived from it.
#include <string>
#include <vector>

#include "base/node.h"
#include "base/overloaded.h"
#include "ir/tensor_view.h"
#include "scalar/constant.h"
#include "scalar/pointwise.h"

namespace plait {

enum class OpKind : uint8_t {
#define PLAIT_OP(Name, text, properties) Name,
#include "ir/ops.def"
#undef PLAIT_OP
};
enum class OpProperty : uint8_t { none, creation, contraction, composite, communication, local_move };

std::string_view name(OpKind kind);
OpProperty property(OpKind kind);

struct Op {
  const OpKind kind;
  uint32_t id = 0;            // ordinal in the fusion, in order of creation
  TensorView* out = nullptr;  // the one result
  virtual ~Op() = default;
  Op(const Op&) = delete;

 protected:
  explicit Op(OpKind k) : kind(k) {}
};

template <OpKind K>
struct OpBase : Op {
  static constexpr OpKind kKind = K;
  OpBase() : Op(K) {}
};

// out = function(in...), element by element; trailing dims align, extent 1 broadcasts (NumPy). dtype: pointwise.h;
// `to` is the result dtype of cast, absent otherwise. Rounded once to a narrow result dtype.
struct PointwiseOp : OpBase<OpKind::PointwiseOp> {
  Pointwise function = Pointwise::add;
  std::vector<TensorView*> in;
  std::optional<DType> to;
  static constexpr auto fields() {
    return std::tuple{operand("in", &PointwiseOp::in), attribute("function", &PointwiseOp::function),
                      attribute("to", &PointwiseOp::to)};
  }
};

// out = value everywhere. `shape` may be empty (0-dim), the way constants enter a graph.
struct Full : OpBase<OpKind::Full> {
  std::vector<sym::Expr> shape;
  Constant value;
  static constexpr auto fields() {
    return std::tuple{attribute("shape", &Full::shape), attribute("value", &Full::value)};
  }
};

// out[i...] = uniform_f32(seed, global linear index, offset), f32. A piece of a sharded tensor holds the numbers of its
// global indices: `global` are the global extents and `start` the first index per dim (empty: the tensor is whole).
struct Uniform : OpBase<OpKind::Uniform> {
  std::vector<sym::Expr> shape;
  TensorView* seed = nullptr;
  std::optional<int64_t> offset;  // absent: the ordinal of the random op in the fusion
  std::vector<sym::Expr> global, start;
  static constexpr auto fields() {
    return std::tuple{attribute("shape", &Uniform::shape), operand("seed", &Uniform::seed),
                      attribute("offset", &Uniform::offset), attribute("global", &Uniform::global),
                      attribute("start", &Uniform::start)};
  }
};

// out[..., n] = sum_k x[..., k] * w[n, k] + b[n]. Accumulates in accumulation_type; `accumulate` keeps the result in
// that type instead of rounding to the operands' type. An empty sum is 0.
struct Linear : OpBase<OpKind::Linear> {
  TensorView *x = nullptr, *w = nullptr, *b = nullptr;  // b may be null
  bool accumulate = false;
  static constexpr auto fields() {
    return std::tuple{operand("x", &Linear::x), operand("w", &Linear::w), operand("b", &Linear::b),
                      attribute("accumulate", &Linear::accumulate)};
  }
};

// out[..., m, n] = sum_k a[..., m, k] * b[..., k, n]; leading dims broadcast. Operands have at least 2 dims.
struct Matmul : OpBase<OpKind::Matmul> {
  TensorView *a = nullptr, *b = nullptr;
  bool accumulate = false;
  static constexpr auto fields() {
    return std::tuple{operand("a", &Matmul::a), operand("b", &Matmul::b), attribute("accumulate", &Matmul::accumulate)};
  }
};

// out = x / (1 - p) where uniform(global index) >= p (compared in double), else 0. 0 <= p < 1. seed: u64[].
struct Dropout : OpBase<OpKind::Dropout> {
  TensorView* x = nullptr;
  double p = 0;
  TensorView* seed = nullptr;
  std::optional<int64_t> offset;  // absent: the ordinal of the random op in the fusion
  static constexpr auto fields() {
    return std::tuple{operand("x", &Dropout::x), attribute("p", &Dropout::p), operand("seed", &Dropout::seed),
                      attribute("offset", &Dropout::offset)};
  }
};

// out = in, laid out as out's layout says. Values are unchanged but for the rounding of a pending sum.
struct Reshard : OpBase<OpKind::Reshard> {
  TensorView* in = nullptr;
  static constexpr auto fields() { return std::tuple{operand("in", &Reshard::in)}; }
};

// After localize extents are those of this rank. A collective sees its local operand as [outer, count, inner],
// row-major; `count` mentions rank.AXIS and may differ between the members of the team, which are the ranks along one
// mesh axis.

// out = the elementwise reduction of the members' `in`, added in rank order in the accumulation type, rounded once.
struct AllReduce : OpBase<OpKind::AllReduce> {
  TensorView* in = nullptr;
  int axis = 0;
  ReduceOp reduce = ReduceOp::sum;
  static constexpr auto fields() {
    return std::tuple{operand("in", &AllReduce::in), attribute("axis", &AllReduce::axis),
                      attribute("reduce", &AllReduce::reduce)};
  }
};

// out[outer, total, inner] = the members' in[outer, count, inner], one after another along the middle.
struct AllGather : OpBase<OpKind::AllGather> {
  TensorView* in = nullptr;
  int axis = 0;
  sym::Expr outer, count, total, inner;
  static constexpr auto fields() {
    return std::tuple{operand("in", &AllGather::in),         attribute("axis", &AllGather::axis),
                      attribute("outer", &AllGather::outer), attribute("count", &AllGather::count),
                      attribute("total", &AllGather::total), attribute("inner", &AllGather::inner)};
  }
};

// out[outer, count, inner] = this member's part of the reduction of the members' in[outer, total, inner].
struct ReduceScatter : OpBase<OpKind::ReduceScatter> {
  TensorView* in = nullptr;
  int axis = 0;
  ReduceOp reduce = ReduceOp::sum;
  sym::Expr outer, count, total, inner;
  static constexpr auto fields() {
    return std::tuple{operand("in", &ReduceScatter::in),           attribute("axis", &ReduceScatter::axis),
                      attribute("reduce", &ReduceScatter::reduce), attribute("outer", &ReduceScatter::outer),
                      attribute("count", &ReduceScatter::count),   attribute("total", &ReduceScatter::total),
                      attribute("inner", &ReduceScatter::inner)};
  }
};

// out[outer, count, inner] = in[outer, start .. start+count, inner] of in[outer, total, inner]; no communication.
struct LocalSlice : OpBase<OpKind::LocalSlice> {
  TensorView* in = nullptr;
  sym::Expr outer, start, count, total, inner;
  static constexpr auto fields() {
    return std::tuple{operand("in", &LocalSlice::in),         attribute("outer", &LocalSlice::outer),
                      attribute("start", &LocalSlice::start), attribute("count", &LocalSlice::count),
                      attribute("total", &LocalSlice::total), attribute("inner", &LocalSlice::inner)};
  }
};

// Calls fn with the op as its own type. With overloaded lambdas and no catch-all, a new kind breaks the build.
template <class Fn>
decltype(auto) visit(const Op& op, Fn&& fn) {
  switch (op.kind) {
#define PLAIT_OP(Name, text, properties) \
  case OpKind::Name:                     \
    return fn(static_cast<const Name&>(op));
#include "ir/ops.def"
#undef PLAIT_OP
  }
  __builtin_unreachable();
}
template <class Fn>
decltype(auto) visit(Op& op, Fn&& fn) {
  switch (op.kind) {
#define PLAIT_OP(Name, text, properties) \
  case OpKind::Name:                     \
    return fn(static_cast<Name&>(op));
#include "ir/ops.def"
#undef PLAIT_OP
  }
  __builtin_unreachable();
}

// The op as T, or null if it is of another kind.
template <class T>
const T* as(const Op& op) {
  return op.kind == T::kKind ? static_cast<const T*>(&op) : nullptr;
}
template <class T>
T* as(Op& op) {
  return op.kind == T::kKind ? static_cast<T*>(&op) : nullptr;
}

// Operands that are there, in field order.
std::vector<TensorView*> inputs(const Op& op);
// Replaces one operand by another wherever it stands.
void replace_input(Op& op, const TensorView* from, TensorView* to);

// Name as users write it: `gelu`, `linear`.
std::string_view text_name(const Op& op);
// `linear: %h = linear(%x, %w0)`, for error messages; without a result `linear(%x, %w0)`.
std::string describe(const Op& op);

}  // namespace plait
