#pragma once
// Ops that put elements in order: stable, and a NaN is greater than every number, equal to another one; -0 equals 0.
#include <string>
#include <vector>

#include "ir/op_base.h"

namespace plait {

// The elements in order along dim, the least first or, descending, the greatest, and their indices along dim, i64;
// equals in the order of their indices. `count`: one extent, that many of them from the first on (empty: all).
struct Sort : OpBase<OpKind::Sort> {
  TensorView* in = nullptr;
  int64_t dim = -1;
  bool descending = false;
  std::vector<sym::Expr> count;
  static constexpr auto fields() {
    return std::tuple{operand("in", &Sort::in), attribute("dim", &Sort::dim),
                      attribute("descending", &Sort::descending), made("count", &Sort::count)};
  }
  std::vector<std::string> result_names() const { return {"values", "indices"}; }
};

// The indices of sort.
struct ArgSort : OpBase<OpKind::ArgSort> {
  TensorView* in = nullptr;
  int64_t dim = -1;
  bool descending = false;
  static constexpr auto fields() {
    return std::tuple{operand("in", &ArgSort::in), attribute("dim", &ArgSort::dim),
                      attribute("descending", &ArgSort::descending)};
  }
};

// The k greatest elements along dim, or the k least, in order, and their indices along dim, i64: of equals those of
// lower index, and these first. Of a dim of fewer elements than k these are all elements: min(k, extent) of them.
struct TopK : OpBase<OpKind::TopK> {
  TensorView* in = nullptr;
  sym::Expr k;
  int64_t dim = -1;
  bool largest = true;
  static constexpr auto fields() {
    return std::tuple{operand("in", &TopK::in), required("k", &TopK::k), attribute("dim", &TopK::dim),
                      attribute("largest", &TopK::largest)};
  }
  std::vector<std::string> result_names() const { return {"values", "indices"}; }
};

}  // namespace plait
