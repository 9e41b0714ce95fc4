#pragma once
// Kernels of one pointwise function, and what its results may be.
#include <cmath>
#include <limits>
#include <span>
#include <vector>

#include "kir/expand_functions.h"
#include "scalar/convert.h"
#include "support/kernel_run.h"

namespace plait::test {

// y = function(x0, ...) for operands of these dtypes, each brought to the one in which the function computes.
inline kir::Kernel compute_kernel(Pointwise function, const std::vector<DType>& dtypes, int lanes,
                                  Style style = Style::active) {
  const DType type = computation_type(function, dtypes);
  const auto body = [&](KernelBuilder& b, std::vector<kir::Value> v) {
    const size_t first = info(function).type_rule == TypeRule::select ? 1 : 0;
    for (size_t i = first; i < v.size(); ++i)
      if (v[i].dtype != type) v[i] = b.convert(v[i], type, lanes);
    return b.compute(function, v);
  };
  kir::Kernel kernel = pointwise_kernel(dtypes, result_type(function, dtypes), lanes, style, body);
  kir::expand_functions(kernel);
  return kernel;
}

// The error in units of the bound, computed in `dtype`, of the exact result `expected`; infinite where it is plainly
// wrong.
inline double error_over_bound(Pointwise function, DType dtype, std::span<const double> in, double got,
                               long double expected) {
  constexpr double kInf = std::numeric_limits<double>::infinity();
  if (is_open(function, in)) return 0;
  if (std::isnan(expected) || std::isnan(got)) return std::isnan(expected) && std::isnan(got) ? 0 : kInf;
  const TypeRule rule = info(function).type_rule;
  if (rule == TypeRule::compare || rule == TypeRule::test) return got == double(expected) ? 0 : kInf;
  if ((dtype == DType::f32 ? double(float(expected)) : round_to(dtype, double(expected))) == got) return 0;
  const double bound = own_error(function, dtype, in, double(expected));
  const bool near_end = info(function).scale == ErrorScale::span || std::fabs(got) >= 0.999999 * max_finite(dtype);
  if (std::isinf(bound)) return near_end ? 0 : kInf;
  return std::isinf(got) || bound == 0 ? kInf : double(std::fabs(got - expected) / bound);
}
inline double error_over_bound(Pointwise function, DType dtype, std::span<const double> in, double got) {
  return error_over_bound(function, dtype, in, got, static_cast<long double>(evaluate(function, in)));
}

// Whether `got` is what rounding to the narrow dtype makes of a value within the bound in f32.
inline bool is_narrow_result(Pointwise function, DType narrow, std::span<const double> in, double got) {
  const double expected = evaluate(function, in), error = own_error(function, DType::f32, in, expected);
  if (std::isnan(expected) || std::isnan(got)) return std::isnan(expected) && std::isnan(got);
  return round_to(narrow, expected - error) <= got && got <= round_to(narrow, expected + error);
}

}  // namespace plait::test
