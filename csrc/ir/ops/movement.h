#pragma once
// Ops that move elements and compute nothing.
#include "ir/op_base.h"

namespace plait {

// out[i...] = in with dims reordered: dim d of out is dim dims[d] of in.
struct Permute : OpBase<OpKind::Permute> {
  TensorView* in = nullptr;
  std::vector<int64_t> dims;
  static constexpr auto fields() { return std::tuple{operand("in", &Permute::in), attribute("dims", &Permute::dims)}; }
};

// out of `shape`: dim d of in is dim dims[d] of out (increasing) and as long, or 1 and repeated.
struct Broadcast : OpBase<OpKind::Broadcast> {
  TensorView* in = nullptr;
  std::vector<sym::Expr> shape;
  std::vector<int64_t> dims;
  static constexpr auto fields() {
    return std::tuple{operand("in", &Broadcast::in), required("shape", &Broadcast::shape),
                      attribute("dims", &Broadcast::dims)};
  }
};

// in without `dims` (all of extent 1 where none are given), which have extent 1.
struct Squeeze : OpBase<OpKind::Squeeze> {
  TensorView* in = nullptr;
  std::vector<int64_t> dims;
  static constexpr auto fields() { return std::tuple{operand("in", &Squeeze::in), attribute("dims", &Squeeze::dims)}; }
};

// in with dims of extent 1 put at places `dims` of the result.
struct Unsqueeze : OpBase<OpKind::Unsqueeze> {
  TensorView* in = nullptr;
  std::vector<int64_t> dims;
  static constexpr auto fields() {
    return std::tuple{operand("in", &Unsqueeze::in), required("dims", &Unsqueeze::dims)};
  }
};

// in in row-major order as another shape of as many elements. Users may write one extent as -1.
struct Reshape : OpBase<OpKind::Reshape> {
  TensorView* in = nullptr;
  std::vector<sym::Expr> shape;
  static constexpr auto fields() { return std::tuple{operand("in", &Reshape::in), required("shape", &Reshape::shape)}; }
};

// out[.., i, ..] = in[.., start + i*step, ..] for start + i*step < stop. step >= 1; 0 <= start and 0 <= stop <= extent
// in the node, which is empty where start >= stop; users may count from the end with negative numbers and leave the
// ends out, and a stop that lies outside is clamped.
struct Slice : OpBase<OpKind::Slice> {
  TensorView* in = nullptr;
  int64_t dim = 0;
  sym::Expr start;
  sym::Expr stop;
  int64_t step = 1;
  static constexpr auto fields() {
    return std::tuple{operand("in", &Slice::in), required("dim", &Slice::dim), attribute("start", &Slice::start),
                      attribute("stop", &Slice::stop), attribute("step", &Slice::step)};
  }
};

// in with low[d] and high[d] elements of `value` before and after dim d; value is rounded to the dtype.
struct Pad : OpBase<OpKind::Pad> {
  TensorView* in = nullptr;
  std::vector<sym::Expr> low;
  std::vector<sym::Expr> high;
  double value = 0;
  static constexpr auto fields() {
    return std::tuple{operand("in", &Pad::in), attribute("low", &Pad::low), attribute("high", &Pad::high),
                      attribute("value", &Pad::value)};
  }
};

// The operands one after another along dim; all other extents are equal.
struct Cat : OpBase<OpKind::Cat> {
  std::vector<TensorView*> in;
  int64_t dim = 0;
  static constexpr auto fields() { return std::tuple{operand("in", &Cat::in), attribute("dim", &Cat::dim)}; }
};

// out[.., i, ..] = in[.., extent - 1 - i, ..] in each of `dims`.
struct Flip : OpBase<OpKind::Flip> {
  TensorView* in = nullptr;
  std::vector<int64_t> dims;
  static constexpr auto fields() { return std::tuple{operand("in", &Flip::in), required("dims", &Flip::dims)}; }
};

// out[.., (i + shifts[k]) mod extent, ..] = in[.., i, ..] in dim dims[k].
struct Roll : OpBase<OpKind::Roll> {
  TensorView* in = nullptr;
  std::vector<int64_t> shifts;
  std::vector<int64_t> dims;
  static constexpr auto fields() {
    return std::tuple{operand("in", &Roll::in), required("shifts", &Roll::shifts), attribute("dims", &Roll::dims)};
  }
};

// in repeated repeats[d] times along dim d of the result; missing leading dims have extent 1 (torch.Tensor.repeat).
struct Repeat : OpBase<OpKind::Repeat> {
  TensorView* in = nullptr;
  std::vector<int64_t> repeats;
  static constexpr auto fields() {
    return std::tuple{operand("in", &Repeat::in), required("repeats", &Repeat::repeats)};
  }
};

// The bits of in as another dtype of the same size.
struct Bitcast : OpBase<OpKind::Bitcast> {
  TensorView* in = nullptr;
  DType to = DType::f32;
  static constexpr auto fields() { return std::tuple{operand("in", &Bitcast::in), required("to", &Bitcast::to)}; }
};

}  // namespace plait
