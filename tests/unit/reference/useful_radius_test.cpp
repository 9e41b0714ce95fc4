// A radius that says nothing checks nothing: over special and ordinary operands every op has a finite one, of few
// rounding units, wherever its value is a number. What is exempt is listed with the reason.
#include <algorithm>
#include <cmath>

#include "helpers.h"
#include "scalar/convert.h"
#include "scalar/pointwise.h"

namespace plait::reference {
namespace {

constexpr double kUnits = 1000;

Values grid(DType dtype) {
  Values out = {0.0, -0.0, 1, -1, 0.5, -0.5, 2, 3, -3, 1e-3, 100, -100, 1e30, -1e30, kInf, -kInf};
  out.push_back(min_normal(dtype));
  out.push_back(-smallest_spacing(dtype));
  for (double& x : out) x = round_to(dtype, x);
  return out;
}

// The radius in units of the value or of the scale, whichever is larger.
double units(DType dtype, const Array& y, int64_t i, double scale) {
  if (y.radius_at(i) == 0) return 0;
  const double size = std::isfinite(y.value[size_t(i)]) ? std::abs(y.value[size_t(i)]) : 0;
  return y.radius_at(i) / ulp(dtype, std::max(size, scale));
}

bool is_exempt(Pointwise op) {
  return op == Pointwise::floor_divide ||  // its quotient may cross an integer
         op == Pointwise::lerp;            // the bound is one of (|x| + |y|) |z|, whatever they cancel
}

std::string call(Pointwise op) {
  if (op == Pointwise::gelu_erf) return "gelu(";
  if (op == Pointwise::gelu_tanh) return "gelu(";
  return std::string(name(op)) + "(";
}

TEST(UsefulRadius, OfPointwiseFunctions) {
  for (int f = 0; f < kPointwiseCount; ++f) {
    const auto op = static_cast<Pointwise>(f);
    const PointwiseInfo& function = info(op);
    if (!has_float_meaning(op) || function.type_rule == TypeRule::cast || function.type_rule == TypeRule::select ||
        is_exempt(op))
      continue;
    for (DType dtype : {DType::f32, DType::f64}) {
      const Values one = grid(dtype);
      int64_t count = 1;
      for (int a = 0; a < function.arity; ++a) count *= int64_t(one.size());
      Given given;
      std::string inputs, arguments;
      std::vector<Values> operands;
      for (int a = 0, step = 1; a < function.arity; ++a, step *= int(one.size())) {
        Values& x = operands.emplace_back();
        for (int64_t i = 0; i < count; ++i) x.push_back(one[size_t(i / step) % one.size()]);
        const std::string name(1, char('a' + a));
        given[name] = Tensor::from_doubles(dtype, {count}, x);
        inputs += fmt::format("{}%{}: {}[{}]", a ? ", " : "", name, plait::name(dtype), count);
        arguments += fmt::format("{}%{}", a ? ", " : "", name);
      }
      if (op == Pointwise::gelu_tanh) arguments += ", approx = tanh";
      const Array y = run(inputs, "%y = " + call(op) + arguments + ")", given);
      std::string worst;
      double most = kUnits;
      for (int64_t i = 0; i < count; ++i) {
        if (std::isnan(y.value[size_t(i)])) continue;
        double scale = 0;
        if (function.argument_error != 0)
          for (const Values& x : operands)
            if (std::isfinite(x[size_t(i)])) scale = std::max(scale, std::abs(x[size_t(i)]));
        const double found = is_float(y.dtype) ? units(dtype, y, i, scale) : y.radius_at(i) * 1e9;
        if (!(found > most)) continue;
        most = found;
        worst = fmt::format("{}(", name(op));
        for (const Values& x : operands) worst += fmt::format(" {:.9g}", x[size_t(i)]);
        worst += fmt::format(" ) = {:.9g}, radius {:.3g}", y.value[size_t(i)], y.radius_at(i));
      }
      EXPECT_TRUE(worst.empty()) << name(dtype) << " " << worst << ", " << most << " units";
    }
  }
}

// Rows that are special; every row is one slice of what an op runs along.
const std::vector<Values>& rows() {
  static const std::vector<Values> all = {
      {0, 0, 0, 0},         {1, 1, 1, 1},          {-3, -3, -3, -3},         {1, 2, 3, 4},
      {-1, 0.5, 2, -4},     {kInf, 1, 2, 3},       {-kInf, 1, 2, 3},         {kInf, kInf, kInf, kInf},
      {-kInf, -kInf, 0, 0}, {1e-30, 0, 1e-30, 0},  {1e-45, 1e-45, 0, 0},     {1e18, -1e18, 1e18, 1},
      {100, -100, 0, 1e-3}, {1e-20, 1e-20, 1, -1}, {-0.0, -0.0, -0.0, -0.0}, {kInf, 0, 0, 0}};
  return all;
}

double largest(const Values& row) {
  double out = 0;
  for (double x : row)
    if (std::isfinite(x)) out = std::max(out, std::abs(x));
  return out;
}

bool is_exempt(const std::string& call, const Values& row) {
  const bool tiny = largest(row) > 0 && largest(row) < 1e-15, constant = row == Values(row.size(), row[0]);
  if (tiny && (call.find("norm(") != call.npos || call.starts_with("std"))) return true;  // squares and cubes underflow
  return constant && call.starts_with("layer_norm");  // the mean's error is divided by sqrt(eps)
}

TEST(UsefulRadius, OfOpsOnRows) {
  const std::vector<std::string> calls = {"sum(%x, dims = [1])",
                                          "prod(%x, dims = [1])",
                                          "amax(%x, dims = [1])",
                                          "amin(%x, dims = [1])",
                                          "mean(%x, dims = [1])",
                                          "var(%x, dims = [1])",
                                          "var(%x, dims = [1], correction = 0)",
                                          "std(%x, dims = [1])",
                                          "std(%x, dims = [1], correction = 0)",
                                          "logsumexp(%x, dims = [1])",
                                          "cumsum(%x, dim = 1)",
                                          "softmax(%x, dim = 1)",
                                          "log_softmax(%x, dim = 1)",
                                          "norm(%x, dims = [1])",
                                          "norm(%x, p = 0, dims = [1])",
                                          "norm(%x, p = 1, dims = [1])",
                                          "norm(%x, p = 3, dims = [1])",
                                          "norm(%x, p = 0.5, dims = [1])",
                                          "norm(%x, p = -1, dims = [1])",
                                          "norm(%x, p = -2, dims = [1])",
                                          "norm(%x, p = -3, dims = [1])",
                                          "norm(%x, p = inf, dims = [1])",
                                          "norm(%x, p = -inf, dims = [1])",
                                          "layer_norm(%x)",
                                          "rms_norm(%x)",
                                          "layer_norm(%x, eps = 0)",
                                          "rms_norm(%x, eps = 0)"};
  for (const std::string& call : calls)
    for (DType dtype : {DType::f32, DType::f64, DType::bf16})
      for (const Values& row : rows()) {
        const Array y = run(fmt::format("%x: {}[1, 4]", name(dtype)), "%y = " + call,
                            {{"x", Tensor::from_doubles(dtype, {1, 4}, row)}});
        if (is_exempt(call, row)) continue;
        // A sum's error is one of its terms.
        const double most = largest(row), scale = call.starts_with("var") ? most * most : most;
        for (int64_t i = 0; i < y.elements(); ++i) {
          if (std::isnan(y.value[size_t(i)])) continue;
          EXPECT_LE(units(dtype, y, i, scale), kUnits)
              << name(dtype) << " " << call << " of [" << row[0] << ", " << row[1] << ", " << row[2] << ", " << row[3]
              << "] = " << y.value[size_t(i)] << ", radius " << y.radius_at(i);
        }
      }
}

}  // namespace
}  // namespace plait::reference
