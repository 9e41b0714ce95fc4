#pragma once
// Ops that read or write where an integer tensor says: index is i32 or i64.
#include "ir/op_base.h"

namespace plait {

// out[i...] = in[.., index[i...], ..] along dim, of the shape of index, whose other extents are at most those of in. An
// index outside of [0, extent) gives NaN, and 0 of integers and bool.
struct Gather : OpBase<OpKind::Gather> {
  TensorView* in = nullptr;
  TensorView* index = nullptr;
  int64_t dim = 0;
  static constexpr auto fields() {
    return std::tuple{operand("in", &Gather::in), operand("index", &Gather::index), required("dim", &Gather::dim)};
  }
};

// out[.., i..., ..] = in[.., index[i...], ..]: dim is replaced by the dims of index, of any rank. Indices outside as
// Gather.
struct IndexSelect : OpBase<OpKind::IndexSelect> {
  TensorView* in = nullptr;
  TensorView* index = nullptr;
  int64_t dim = 0;
  static constexpr auto fields() {
    return std::tuple{operand("in", &IndexSelect::in), operand("index", &IndexSelect::index),
                      required("dim", &IndexSelect::dim)};
  }
};

// out = in, then out[.., index[i...], ..] += src[i...] along dim, in row-major order of i, in accumulation_type,
// rounded once. index and src have one shape, whose other extents are at most those of in; an index outside adds
// nothing.
struct ScatterAdd : OpBase<OpKind::ScatterAdd> {
  TensorView* in = nullptr;
  TensorView* index = nullptr;
  TensorView* src = nullptr;
  int64_t dim = 0;
  static constexpr auto fields() {
    return std::tuple{operand("in", &ScatterAdd::in), operand("index", &ScatterAdd::index),
                      operand("src", &ScatterAdd::src), required("dim", &ScatterAdd::dim)};
  }
};

}  // namespace plait
