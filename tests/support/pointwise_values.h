#pragma once
// Operands for tests of pointwise functions, and what their results may be.
#include <algorithm>
#include <cmath>
#include <random>
#include <vector>

#include "scalar/convert.h"
#include "scalar/pointwise.h"

namespace plait::test {

// Whether the op takes operands that are all of this dtype (a bool condition apart) and computes in its wide type.
inline bool computes_in(Pointwise op, DType dtype) {
  const TypeRule rule = info(op).type_rule;
  if (rule == TypeRule::cast) return false;
  if (is_float(dtype)) return has_float_meaning(op) && rule != TypeRule::logical;
  if (!has_integer_meaning(op)) return false;
  if (dtype == DType::boolean) return rule != TypeRule::same && rule != TypeRule::shift;
  return rule != TypeRule::logical;
}

// Its result dtype then.
inline DType result_in(Pointwise op, DType dtype) {
  std::vector<DType> operands(static_cast<size_t>(info(op).arity), dtype);
  if (op == Pointwise::where) operands[0] = DType::boolean;
  return result_type(op, operands);
}

// Ordinary, tiny, huge and special numbers, as stored in the dtype.
inline std::vector<double> samples(DType dtype, int64_t n, uint64_t seed) {
  std::mt19937_64 random(seed);
  std::normal_distribution<double> normal;
  const std::vector<double> special = {0.0,    -0.0,  1,         -1,     0.5,   2,    1e-30,    -1e-38,       1e30,
                                       -87.5,  88.6,  -95,       -103,   12,    -12,  INFINITY, -INFINITY,    NAN,
                                       3e38,   1e-45, 6.1e-5,    65504,  65520, 1e18, 1e19,     4294967295.0, -3,
                                       0.9999, -0.75, 1.4616321, 1.5708, -2.5,  20.5, 63,       1e5};
  std::vector<double> out;
  for (int64_t i = 0; i < n; ++i) {
    double x = normal(random);
    if (random() % 4 == 0) x = special[random() % special.size()];
    if (random() % 4 == 0) x *= std::exp2(double(random() % 8));
    if (is_integer(dtype)) x = std::isfinite(x) ? std::floor(x * 8) : double(random() % 100);
    out.push_back(round_to(dtype, x));
  }
  return out;
}

inline bool same(double a, double b) { return (std::isnan(a) && std::isnan(b)) || a == b; }

// Whether `got` is the op's result to within its own error and one rounding to the stored dtype.
inline bool within(Pointwise op, DType dtype, const std::vector<double>& args, double got) {
  if (is_open(op, args)) return true;
  const double exact = evaluate(op, args);
  if (std::isnan(exact)) return std::isnan(got);
  double bound = own_error(op, compute_type(dtype), args, exact);
  if (std::isinf(bound)) return true;
  const double largest = is_f8(dtype) ? max_finite(dtype) : INFINITY;
  if (is_narrow(dtype)) bound += 0.5 * ulp(dtype, std::min(std::abs(exact) + bound, largest));
  return same(got, round_to(dtype, exact)) || std::abs(got - exact) <= bound;
}

// Third operands are -b, but b where -b may be no number of the dtype.
inline bool negates_third(DType dtype) {
  return computes_in(Pointwise::neg, dtype) && (is_float(dtype) || !is_always_rounded(dtype));
}

// Operands of an op out of a, b and a condition: c, a, b for where; a, b and the third for other ops of three.
inline std::vector<double> operands(Pointwise op, double a, double b, bool c) {
  if (op == Pointwise::where) return {double(c), a, b};
  const std::vector<double> all = {a, b, -b};
  return {all.begin(), all.begin() + info(op).arity};
}
inline std::vector<int64_t> operands(Pointwise op, DType dtype, int64_t a, int64_t b, bool c) {
  if (op == Pointwise::where) return {int64_t(c), a, b};
  std::vector<int64_t> all = {a, b};
  if (info(op).arity == 3)
    all.push_back(negates_third(dtype) ? evaluate_int(Pointwise::neg, std::vector<int64_t>{b}, dtype) : b);
  return {all.begin(), all.begin() + info(op).arity};
}

}  // namespace plait::test
