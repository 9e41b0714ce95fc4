#pragma once
// Ops that combine elements along dims.
#include <string>
#include <vector>

#include "ir/op_base.h"

namespace plait {

// Reductions by name: enumerators of Reduction, rows of reductions.def.
enum class Reduction : uint8_t {
#define X(name, ...) name,
#include "ir/reductions.def"
#undef X
};
std::string_view name(Reduction function);
std::optional<Reduction> parse_reduction(std::string_view text);
bool finds_index(Reduction function);  // argmax, argmin

// out = the reduction of `in` over `dims` (all where none are given), which keepdim leaves with extent 1. sum and prod
// accumulate in accumulation_type and round once; of integers and bool they are i64. amax and amin propagate NaN; bool
// is ordered false < true; of zeros of both signs they give either. argmax and argmin give the row-major position among
// the reduced dims, i64: of the first NaN where there is one, else of the first extremum, where -0 equals 0. Nothing to
// reduce: sum 0, prod 1, amax the least and amin the greatest number (infinities for floats), argmax and argmin 0.
struct Reduce : OpBase<OpKind::Reduce> {
  TensorView* in = nullptr;
  Reduction function = Reduction::sum;
  std::vector<int64_t> dims;
  bool keepdim = false;
  static constexpr auto fields() {
    return std::tuple{operand("in", &Reduce::in), made("function", &Reduce::function), attribute("dims", &Reduce::dims),
                      attribute("keepdim", &Reduce::keepdim)};
  }
};

// out = sum (x - mean)^2 / (n - correction) over `dims`, one pass in accumulation_type (Welford), rounded once. Fewer
// than correction + 1 elements: NaN, as 0 / 0, or an infinity. A NaN or an infinity among them: NaN.
struct Var : OpBase<OpKind::Var> {
  TensorView* in = nullptr;
  std::vector<int64_t> dims;
  int64_t correction = 1;
  bool keepdim = false;
  static constexpr auto fields() {
    return std::tuple{operand("in", &Var::in), attribute("dims", &Var::dims), attribute("correction", &Var::correction),
                      attribute("keepdim", &Var::keepdim)};
  }
};

// mean and var over `dims` (all where none are given): the mean is the sum in accumulation_type over the number of
// elements, the variance as Var; each rounded once.
struct VarMean : OpBase<OpKind::VarMean> {
  TensorView* in = nullptr;
  std::vector<int64_t> dims;
  int64_t correction = 1;
  bool keepdim = false;
  static constexpr auto fields() {
    return std::tuple{operand("in", &VarMean::in), attribute("dims", &VarMean::dims),
                      attribute("correction", &VarMean::correction), attribute("keepdim", &VarMean::keepdim)};
  }
  std::vector<std::string> result_names() const { return {"mean", "var"}; }
};

// amax over `dims` (all where none are given), and its row-major position among them: argmax.
struct MaxWithArgmax : OpBase<OpKind::MaxWithArgmax> {
  TensorView* in = nullptr;
  std::vector<int64_t> dims;
  bool keepdim = false;
  static constexpr auto fields() {
    return std::tuple{operand("in", &MaxWithArgmax::in), attribute("dims", &MaxWithArgmax::dims),
                      attribute("keepdim", &MaxWithArgmax::keepdim)};
  }
  std::vector<std::string> result_names() const { return {"amax", "argmax"}; }
};

// amin over `dims` (all where none are given), and its row-major position among them: argmin.
struct MinWithArgmin : OpBase<OpKind::MinWithArgmin> {
  TensorView* in = nullptr;
  std::vector<int64_t> dims;
  bool keepdim = false;
  static constexpr auto fields() {
    return std::tuple{operand("in", &MinWithArgmin::in), attribute("dims", &MinWithArgmin::dims),
                      attribute("keepdim", &MinWithArgmin::keepdim)};
  }
  std::vector<std::string> result_names() const { return {"amin", "argmin"}; }
};

// out[.., i, ..] = in[.., 0, ..] + ... + in[.., i, ..] along dim, added in accumulation_type, of floats on CPUs in f64,
// each rounded once; of integers and bool i64. exclusive: without in[.., i, ..]. reverse: from the end.
struct CumSum : OpBase<OpKind::CumSum> {
  TensorView* in = nullptr;
  int64_t dim = 0;
  bool exclusive = false;
  bool reverse = false;
  static constexpr auto fields() {
    return std::tuple{operand("in", &CumSum::in), required("dim", &CumSum::dim),
                      attribute("exclusive", &CumSum::exclusive), attribute("reverse", &CumSum::reverse)};
  }
};

// out[.., i, ..] = in[.., 0, ..] * ... * in[.., i, ..] along dim, otherwise as CumSum: exclusive, reverse, i64 of
// integers and bool. The empty product is 1.
struct CumProd : OpBase<OpKind::CumProd> {
  TensorView* in = nullptr;
  int64_t dim = 0;
  bool exclusive = false;
  bool reverse = false;
  static constexpr auto fields() {
    return std::tuple{operand("in", &CumProd::in), required("dim", &CumProd::dim),
                      attribute("exclusive", &CumProd::exclusive), attribute("reverse", &CumProd::reverse)};
  }
};

// out[.., i, ..] = log(exp(in[.., 0, ..]) + ... + exp(in[.., i, ..])) along dim, of floats, without overflow: carried
// in f64, each rounded once. Of -inf alone it is -inf; an infinity gives inf, a NaN NaN, from there on.
struct LogCumSumExp : OpBase<OpKind::LogCumSumExp> {
  TensorView* in = nullptr;
  int64_t dim = 0;
  static constexpr auto fields() {
    return std::tuple{operand("in", &LogCumSumExp::in), required("dim", &LogCumSumExp::dim)};
  }
};

// The greatest of in[.., 0, ..] to in[.., i, ..] along dim, and its index along dim, i64: of equals, -0 and 0 among
// them, and of several NaN the last; a NaN is greater than every number. bool is ordered false < true.
struct CumMax : OpBase<OpKind::CumMax> {
  TensorView* in = nullptr;
  int64_t dim = 0;
  static constexpr auto fields() { return std::tuple{operand("in", &CumMax::in), required("dim", &CumMax::dim)}; }
  std::vector<std::string> result_names() const { return {"values", "indices"}; }
};

// The least of in[.., 0, ..] to in[.., i, ..] along dim, and its index along dim, i64: of equals, -0 and 0 among them,
// and of several NaN the last; a NaN is less than every number. bool is ordered false < true.
struct CumMin : OpBase<OpKind::CumMin> {
  TensorView* in = nullptr;
  int64_t dim = 0;
  static constexpr auto fields() { return std::tuple{operand("in", &CumMin::in), required("dim", &CumMin::dim)}; }
  std::vector<std::string> result_names() const { return {"values", "indices"}; }
};

// Ops that carry a state along one dim and give what it is at every place.
constexpr bool is_scan(OpKind kind) {
  return kind == OpKind::CumSum || kind == OpKind::CumProd || kind == OpKind::LogCumSumExp || kind == OpKind::CumMax ||
         kind == OpKind::CumMin;
}

}  // namespace plait
