#pragma once
// Elementwise ops, ops that make tensors from nothing, products.
#include "ir/op_base.h"

namespace plait {

// out = function(in...), element by element; trailing dims align, extent 1 broadcasts (NumPy). dtype: pointwise.h;
// `to` is the result dtype of cast, absent otherwise. Rounded once to a narrow result dtype.
struct PointwiseOp : OpBase<OpKind::PointwiseOp> {
  Pointwise function = Pointwise::add;
  std::vector<TensorView*> in;
  std::optional<DType> to;
  static constexpr auto fields() {
    return std::tuple{operand("in", &PointwiseOp::in), made("function", &PointwiseOp::function),
                      attribute("to", &PointwiseOp::to)};
  }
};

// out = value everywhere. `shape` may be empty (0-dim), the way constants enter a graph.
struct Full : OpBase<OpKind::Full> {
  std::vector<sym::Expr> shape;
  Constant value;
  static constexpr auto fields() {
    return std::tuple{required("shape", &Full::shape), required("value", &Full::value)};
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
    return std::tuple{required("shape", &Uniform::shape), named_operand("seed", &Uniform::seed),
                      attribute("offset", &Uniform::offset), made("global", &Uniform::global),
                      made("start", &Uniform::start)};
  }
};

// out[i...] = normal(seed, global linear index, offset), f32 by Box-Muller (scalar/philox.h). Otherwise as Uniform.
struct Normal : OpBase<OpKind::Normal> {
  std::vector<sym::Expr> shape;
  TensorView* seed = nullptr;
  std::optional<int64_t> offset;  // absent: the ordinal of the random op in the fusion
  std::vector<sym::Expr> global;
  std::vector<sym::Expr> start;
  static constexpr auto fields() {
    return std::tuple{required("shape", &Normal::shape), named_operand("seed", &Normal::seed),
                      attribute("offset", &Normal::offset), made("global", &Normal::global),
                      made("start", &Normal::start)};
  }
};

// out[i...] = i[dim], in dtype: integers modulo 2^bits, floats rounded. A piece adds `start`, its first index.
struct Iota : OpBase<OpKind::Iota> {
  std::vector<sym::Expr> shape;
  int64_t dim = 0;
  DType dtype = DType::i64;
  sym::Expr start;
  static constexpr auto fields() {
    return std::tuple{required("shape", &Iota::shape), required("dim", &Iota::dim), attribute("dtype", &Iota::dtype),
                      made("start", &Iota::start)};
  }
};

// out = value, 0-dim: an expression over sizes as a tensor. bool and unsigned dtypes are refused.
struct Size : OpBase<OpKind::Size> {
  sym::Expr value;
  DType dtype = DType::i64;
  static constexpr auto fields() {
    return std::tuple{required("value", &Size::value), attribute("dtype", &Size::dtype)};
  }
};

// out[..., n] = sum_k x[..., k] * w[n, k] + b[n]. Accumulates in accumulation_type, of integers modulo 2^bits of their
// type. An empty sum is 0. With `accumulate` the result keeps the type of the sum instead of being rounded to the
// operands' type.
struct Linear : OpBase<OpKind::Linear> {
  TensorView *x = nullptr, *w = nullptr, *b = nullptr;  // b may be null
  bool accumulate = false;
  static constexpr auto fields() {
    return std::tuple{operand("x", &Linear::x), operand("w", &Linear::w), optional_operand("b", &Linear::b),
                      made("accumulate", &Linear::accumulate)};
  }
};

// out[..., m, n] = sum_k a[..., m, k] * b[..., k, n]; leading dims broadcast. At least 2 dims. Otherwise as Linear.
struct Matmul : OpBase<OpKind::Matmul> {
  TensorView *a = nullptr, *b = nullptr;
  bool accumulate = false;
  static constexpr auto fields() {
    return std::tuple{operand("a", &Matmul::a), operand("b", &Matmul::b), made("accumulate", &Matmul::accumulate)};
  }
};

}  // namespace plait
