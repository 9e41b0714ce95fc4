#pragma once
// Ops that read or write where an integer tensor says: index is i32 or i64.
#include "ir/op_base.h"

namespace plait {

// What becomes of an index outside of its extent, negative ones included. check: the run ends with a UserError that
// names op, tensor, position, index and extent, of the offences of a run the smallest (op, position); outputs are then
// undefined. assume: no error. Either way it reads and writes nothing; of lookups the result is NaN, and 0 of integers
// and bool. Only elements whose results are stored count.
enum class Bounds : uint8_t { check, assume };
std::string_view name(Bounds bounds);

// out[i...] = in[.., index[i...], ..] along dim, of the shape of index, whose other extents are at most those of in.
// Of lookups and scatters `ordinal` is the place among those of the fusion. A piece of a sharded index has the global
// extents in `global` and its first index per dim in `start` (empty: the index is whole). Where in is a piece of a
// sharded dim, `range` holds its first place and how many the whole dim has: an index that lies in another piece reads
// 0 and writes nothing.
struct Gather : OpBase<OpKind::Gather> {
  TensorView* in = nullptr;
  TensorView* index = nullptr;
  int64_t dim = 0;
  Bounds bounds = Bounds::check;
  std::optional<int64_t> ordinal;
  std::vector<sym::Expr> global, start, range;
  static constexpr auto fields() {
    return std::tuple{operand("in", &Gather::in),        operand("index", &Gather::index),
                      required("dim", &Gather::dim),     attribute("bounds", &Gather::bounds),
                      made("ordinal", &Gather::ordinal), made("global", &Gather::global),
                      made("start", &Gather::start),     made("range", &Gather::range)};
  }
};

// out[.., i..., ..] = in[.., index[i...], ..]: dim is replaced by the dims of index, of any rank.
struct IndexSelect : OpBase<OpKind::IndexSelect> {
  TensorView* in = nullptr;
  TensorView* index = nullptr;
  int64_t dim = 0;
  Bounds bounds = Bounds::check;
  std::optional<int64_t> ordinal;
  std::vector<sym::Expr> global, start, range;
  static constexpr auto fields() {
    return std::tuple{operand("in", &IndexSelect::in),        operand("index", &IndexSelect::index),
                      required("dim", &IndexSelect::dim),     attribute("bounds", &IndexSelect::bounds),
                      made("ordinal", &IndexSelect::ordinal), made("global", &IndexSelect::global),
                      made("start", &IndexSelect::start),     made("range", &IndexSelect::range)};
  }
};

// What a scatter makes of the element that is there and the next one of src: src, or their sum, extremum, product.
enum class ScatterUpdate : uint8_t { set, add, max, min, mul };
std::string_view name(ScatterUpdate update);
bool rounds(ScatterUpdate update);  // its results need not be numbers that it was given: add, mul

// out = in, then out[.., index[i...], ..] = src[i...] along dim, in row-major order of i, so that the last one stays.
// update = add, max, min, mul: what is there and src[i...] are combined in that order; sums and products of floats in
// accumulation_type, rounded once, those of integers modulo 2^bits; max and min propagate NaN and order bool
// false < true, which has no sums and products. index and src have one shape, whose other extents are at most those of
// in.
struct Scatter : OpBase<OpKind::Scatter> {
  TensorView* in = nullptr;
  TensorView* index = nullptr;
  TensorView* src = nullptr;
  int64_t dim = 0;
  ScatterUpdate update = ScatterUpdate::set;
  Bounds bounds = Bounds::check;
  std::optional<int64_t> ordinal;
  std::vector<sym::Expr> global, start, range;
  static constexpr auto fields() {
    return std::tuple{operand("in", &Scatter::in),           operand("index", &Scatter::index),
                      operand("src", &Scatter::src),         required("dim", &Scatter::dim),
                      attribute("update", &Scatter::update), attribute("bounds", &Scatter::bounds),
                      made("ordinal", &Scatter::ordinal),    made("global", &Scatter::global),
                      made("start", &Scatter::start),        made("range", &Scatter::range)};
  }
};

}  // namespace plait
