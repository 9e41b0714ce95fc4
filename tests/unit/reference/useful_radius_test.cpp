// A radius that says nothing checks nothing: over special and ordinary operands every op has a finite one, of few
// rounding units of what its error scales with. Where nothing need be known the scale is infinite, for that element
// alone and for the reason stated there.
#include <algorithm>
#include <cmath>
#include <functional>
#include <set>

#include "helpers.h"
#include "scalar/convert.h"
#include "scalar/pointwise.h"
#include "support/useful_radius.h"

namespace plait::reference {
namespace {

constexpr double kUnits = 64;

double finite(double x) { return std::isfinite(x) ? std::abs(x) : 0; }

// What is wrong with the radius of element i, or nothing. The sign of a zero apart, a NaN is a NaN everywhere.
std::string useless(const Array& y, int64_t i, double scale) {
  const double value = y.value[size_t(i)], radius = y.radius_at(i);
  if (scale == kInfinity) return "";
  const bool useful = is_float(y.dtype) && !std::isnan(value)
                          ? test::is_useful(y.dtype, radius, std::max(finite(value), scale), kUnits)
                          : radius == 0;
  return useful ? "" : fmt::format("{:.9g}, radius {:.3g}, scale {:.3g}", value, radius, scale);
}

Values grid(DType dtype) {
  Values out = {0.0, -0.0, 1, -1, 0.5, -0.5, 2, 3, -3, 1e-3, 100, -100, 1e30, -1e30, kInfinity, -kInfinity};
  out.push_back(min_normal(dtype));
  out.push_back(-smallest_spacing(dtype));
  for (double& x : out) x = round_to(dtype, x);
  return out;
}

// What a function's own error scales with beside its result: docs/ops.md, "error".
double scale_of(Pointwise op, DType dtype, const Values& args, double result) {
  if (is_open(op, args)) return kInfinity;  // the sign of a NaN
  const PointwiseInfo& function = info(op);
  if (function.argument_error == 0) return 0;
  double largest = 0;
  for (double x : args) largest = std::max(largest, finite(x));
  switch (function.scale) {
    case ErrorScale::operand:
      return largest;
    case ErrorScale::quotient:  // the quotient's rounding times the slope of a growing exponential
      return std::max(largest, args[1] < 0 ? finite(result * (args[0] / args[1])) : 0);
    case ErrorScale::unit:
      return 1;
    case ErrorScale::span: {
      const double span = (finite(args[0]) + finite(args[1])) * std::max(1.0, finite(1 - args[2]));
      return 2 * span > max_finite(dtype) ? kInfinity : span;  // the parts may leave the type
    }
  }
  return result;
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
    if (!has_float_meaning(op) || function.type_rule == TypeRule::cast || function.type_rule == TypeRule::select)
      continue;
    for (DType dtype : {DType::f32, DType::f64, DType::bf16}) {
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
      for (int64_t i = 0, shown = 0; i < count && shown < 3; ++i) {
        Values args;
        for (const Values& x : operands) args.push_back(x[size_t(i)]);
        const std::string wrong = useless(y, i, scale_of(op, compute_type(dtype), args, y.value[size_t(i)]));
        if (wrong.empty()) continue;
        ++shown;
        ADD_FAILURE() << name(dtype) << " " << name(op) << " of " << testing::PrintToString(args) << ": " << wrong;
      }
    }
  }
}

// Rows that are special; every row is one slice of what an op runs along.
const std::vector<Values>& rows() {
  static const std::vector<Values> all = {{0, 0, 0, 0},
                                          {1, 1, 1, 1},
                                          {-3, -3, -3, -3},
                                          {1, 2, 3, 4},
                                          {-1, 0.5, 2, -4},
                                          {kInfinity, 1, 2, 3},
                                          {-kInfinity, 1, 2, 3},
                                          {kInfinity, kInfinity, kInfinity, kInfinity},
                                          {-kInfinity, -kInfinity, 0, 0},
                                          {1e-30, 0, 1e-30, 0},
                                          {1e-45, 1e-45, 0, 0},
                                          {1e18, -1e18, 1e18, 1},
                                          {100, -100, 0, 1e-3},
                                          {1e-20, 1e-20, 1, -1},
                                          {-0.0, -0.0, -0.0, -0.0},
                                          {kInfinity, 0, 0, 0}};
  return all;
}

double largest(const Values& row) {
  double out = 0;
  for (double x : row) out = std::max(out, finite(x));
  return out;
}

// An op on x, [1, 4], and where it takes another operand z, [1, 4]: both are rows.
struct RowOp {
  std::string body;  // gives %y; T stands for the dtype of the rows
  // What the error of element i scales with, beside its value, computed in a dtype.
  std::function<double(DType, const Values& x, const Values& z, size_t i)> scale;
};

RowOp by_largest(std::string body) {
  return {(body[0] == '%' ? "" : "%y = ") + body,
          [](DType, const Values& x, const Values&, size_t) { return largest(x); }};
}
// Of results that have no radius.
RowOp exact(std::string body) {
  const bool named = !body.empty() && (body[0] == '%' || body[0] == '_');  // results of an op with several
  return {(named ? "" : "%y = ") + body, [](DType, const Values&, const Values&, size_t) { return 0.0; }};
}

double mean_of(const Values& row, double power, double centre) {
  double sum = 0;
  for (double x : row) sum += std::pow(std::abs(x - centre), power) / double(row.size());
  return sum;
}
double mean_of(const Values& row) {
  double sum = 0;
  for (double x : row) sum += x / double(row.size());
  return sum;
}

// A root of powers: where these lie below the normal numbers, what they lose is the root of their spacing; where one
// leaves the type, nothing is known.
double scale_of_root(DType dtype, const Values& row, double power, double centre) {
  double lost = 0;
  for (double x : row) {
    const double term = std::pow(std::abs(x - centre), power);
    if (!std::isfinite(x) || term == 0) continue;
    if (term > max_finite(dtype) / 8 && power < 0) return kInfinity;
    if (term < min_normal(dtype)) lost = std::pow(smallest_spacing(dtype), 1 / power) / unit_roundoff(dtype);
  }
  return std::max(largest(row), lost);
}

// x, or its distance from the mean, over sqrt(moment + eps). Of constant rows without eps nothing is known, nor where
// the squares lie below the normal numbers.
double scale_of_norm(DType dtype, const Values& row, bool centred, double eps) {
  const double moment = mean_of(row, 2, centred ? mean_of(row) : 0);
  if (!std::isfinite(moment)) return 0;
  const double size = std::max(largest(row), min_normal(dtype));  // below it the spacing shrinks no more
  return moment + eps < 16 * min_normal(dtype) ? kInfinity : size / std::sqrt(moment + eps);
}

RowOp root(std::string body, double power, bool centred = false) {
  return {"%y = " + body, [=](DType dtype, const Values& x, const Values&, size_t) {
            return scale_of_root(dtype, x, power, centred ? mean_of(x) : 0);
          }};
}
RowOp norm(std::string body, bool centred, double eps) {
  return {body,
          [=](DType dtype, const Values& x, const Values&, size_t) { return scale_of_norm(dtype, x, centred, eps); }};
}

std::vector<RowOp> reductions_and_norms() {
  std::vector<RowOp> out;
  for (const char* body :
       {"sum(%x, dims = [1])", "prod(%x, dims = [1])", "mean(%x, dims = [1])", "logsumexp(%x, dims = [1])",
        "cumsum(%x, dim = 1)", "cumprod(%x, dim = 1)", "logcumsumexp(%x, dim = 1)", "softmax(%x, dim = 1)",
        "log_softmax(%x, dim = 1)", "norm(%x, p = 1, dims = [1])"})
    out.push_back(by_largest(body));
  for (const char* correction : {"", ", correction = 0"}) {
    const std::string call = fmt::format("(%x, dims = [1]{})", correction);
    out.push_back(
        {"%y = var" + call, [](DType, const Values& x, const Values&, size_t) { return largest(x) * largest(x); }});
    out.push_back(root("std" + call, 2, true));
    out.push_back(by_largest("%y, _ = var_mean" + call));
    out.push_back({"_, %y = var_mean" + call,
                   [](DType, const Values& x, const Values&, size_t) { return largest(x) * largest(x); }});
  }
  for (double p : {2.0, 3.0, 0.5, -1.0, -2.0, -3.0})
    out.push_back(root(fmt::format("norm(%x, p = {}, dims = [1])", p), p));
  for (const char* eps : {"1e-5", "0"}) {
    const double e = std::atof(eps);
    out.push_back(norm(fmt::format("%y = layer_norm(%x, eps = {})", eps), true, e));
    out.push_back(norm(fmt::format("%y = rms_norm(%x, eps = {})", eps), false, e));
    out.push_back(norm(fmt::format("%y = group_norm(%x, groups = 1, eps = {})", eps), true, e));
    out.push_back(norm(fmt::format("%c = reshape(%x, shape = [4, 1])\n%y = batch_norm(%c, eps = {})", eps), true, e));
  }
  return out;
}

// Sum of |x| |z|, and the largest |x| beside it.
double scale_of_product(const Values& x, const Values& z) {
  double sum = 0;
  for (size_t k = 0; k < x.size(); ++k) sum += finite(x[k]) * finite(z[k]);
  return sum;
}

// An infinity times what may be 0 is unknown.
double scale_of_gate(DType dtype, const Values& x, const Values& z, size_t i) {
  const double gate = evaluate(Pointwise::silu, std::span(&x[i], 1));
  const bool may_be_zero = std::abs(gate) <= 16 * unit_roundoff(dtype) * std::max(finite(x[i]), min_normal(dtype));
  return std::isinf(z[i]) && may_be_zero ? kInfinity : std::max(finite(x[i]), min_normal(dtype)) * finite(z[i]);
}

std::vector<RowOp> of_two_rows() {
  const auto product = [](DType, const Values& x, const Values& z, size_t) { return scale_of_product(x, z); };
  const auto squares = [](DType, const Values& x, const Values& z, size_t) {
    return std::pow(largest(x) + largest(z), 2);
  };
  const auto each = [](DType, const Values& x, const Values& z, size_t i) {
    return std::pow(finite(x[i]) + finite(z[i]), 2);
  };
  const auto sum = [](DType, const Values& x, const Values& z, size_t) { return largest(x) + 4 * largest(z); };
  return {
      {"%y = linear(%x, %z)", product},
      {"%b = full(shape = [1], value = 0.5, dtype = T)\n%y = linear(%x, %z, %b)",
       [](DType, const Values& x, const Values& z, size_t) { return scale_of_product(x, z) + 0.5; }},
      {"%c = permute(%z, dims = [1, 0])\n%y = matmul(%x, %c)", product},
      {"%c = permute(%x, dims = [1, 0])\n%y = matmul(%c, %z)",  // one term each
       [](DType, const Values&, const Values&, size_t) { return 0.0; }},
      {"%y = einsum(%x, %z, equation = \"ij,kj->ik\")", product},
      {"%y = mse(%x, %z, reduction = none)", each},
      {"%y = mse(%x, %z)", squares},
      {"%y = mse(%x, %z, reduction = sum)", squares},
      {"%y = swiglu(%x, %z)", scale_of_gate},
      {"%y = rope(%x, %z, %z)",
       [](DType, const Values& x, const Values& z, size_t) { return largest(x) * largest(z); }},
      {"%i = full(shape = [1, 4], value = 1, dtype = i64)\n%y = scatter(%x, %i, %z, dim = 1, update = add)", sum},
      // Statistics that are given, of one channel per element: the variance is 2.
      {"%v = full(shape = [4], value = 2, dtype = T)\n%m = reshape(%z, shape = [4])\n"
       "%y = batch_norm(%x, mean = %m, var = %v)",
       [](DType, const Values& x, const Values& z, size_t i) { return finite(x[i]) + finite(z[i]); }},
      // 4 classes.
      {"%t = iota(shape = [1], dim = 0)\n%y = cross_entropy(%x, %t)",
       [](DType, const Values& x, const Values&, size_t) { return largest(x); }},
      {"%t = full(shape = [1], value = 3, dtype = i64)\n%y = cross_entropy(%x, %t, smoothing = 0.1, reduction = sum)",
       [](DType, const Values& x, const Values&, size_t) { return 4 * largest(x); }},
      {"%t = full(shape = [1], value = 3, dtype = i64)\n%y = cross_entropy(%x, %t, ignore_index = 3, reduction = none)",
       [](DType, const Values&, const Values&, size_t) { return 0.0; }},
  };
}

// One query beside keys and values of two rows: k = (x, z), v = (z, x). Scores err by some units of their terms, and
// the weights by as much of themselves; where that is all of them nothing need be known.
RowOp attention(const std::string& attributes, double scale) {
  const std::string heads = ", dims = [0])\n";
  return {"%q = unsqueeze(%x" + heads + "%r = cat(%x, %z)\n%s = cat(%z, %x)\n%k = unsqueeze(%r" + heads +
              "%v = unsqueeze(%s" + heads + "%y = scaled_dot_product_attention(%q, %k, %v" + attributes + ")",
          [=](DType dtype, const Values& x, const Values& z, size_t) {
            const double scores = scale * std::max(scale_of_product(x, x), scale_of_product(x, z));
            if (scores * kUnits * unit_roundoff(dtype) > 1) return kInfinity;
            return (1 + 2 * scores) * std::max(largest(x), largest(z));  // a term and the sum move
          }};
}

// What moves elements or counts: without a radius on every row.
std::vector<RowOp> without_error() {
  const std::string index = "full(shape = [1, 4], value = 3, dtype = i64)\n%y = ",
                    seed = "full(shape = [], value = 7, dtype = u64)\n%y = ";
  std::vector<RowOp> out;
  for (const char* body : {"amax(%x, dims = [1])",
                           "amin(%x, dims = [1])",
                           "argmax(%x, dims = [1])",
                           "%y, _ = max_with_argmax(%x, dims = [1])",
                           "%y, _ = cummax(%x, dim = 1)",
                           "_, %y = cummax(%x, dim = 1)",
                           "%y, _ = cummin(%x, dim = 1)",
                           "%y, _ = sort(%x)",
                           "_, %y = sort(%x, descending = true)",
                           "argsort(%x)",
                           "%y, _ = topk(%x, k = 2)",
                           "_, %y = min_with_argmin(%x, dims = [1])",
                           "argmin(%x, dims = [1])",
                           "norm(%x, p = 0, dims = [1])",
                           "norm(%x, p = inf, dims = [1])",
                           "norm(%x, p = -inf, dims = [1])",
                           "any(%x)",
                           "all(%x)",
                           "permute(%x, dims = [1, 0])",
                           "broadcast(%x, shape = [3, 4], dims = [0, 1])",
                           "squeeze(%x, dims = [0])",
                           "unsqueeze(%x, dims = [0])",
                           "reshape(%x, shape = [2, 2])",
                           "slice(%x, dim = 1, start = 1, stop = 3)",
                           "pad(%x, low = [0, 1], high = [0, 1])",
                           "cat(%x, %z)",
                           "flip(%x, dims = [1])",
                           "roll(%x, shifts = [1], dims = [1])",
                           "repeat(%x, repeats = [2, 2])",
                           "bitcast(%x, to = T)",
                           "set(%x)",
                           "stack(%x, %z)",
                           "%y, _ = split(%x, sizes = [1, 3], dim = 1)",
                           "expand(%x, shape = [3, 4])",
                           "tril(%x)",
                           "triu(%x)",
                           "full(shape = [4], value = 0.1, dtype = T)",
                           "iota(shape = [4], dim = 0, dtype = T)",
                           "size(value = 3, dtype = T)",
                           "eye(rows = 2, columns = 3, dtype = T)",
                           "neg(%x)"})
    out.push_back(exact(body));
  for (const char* body :
       {"gather(%x, %i, dim = 1)", "take_along(%x, %i, dim = 1)", "embedding(%i, %x)", "index_select(%x, %i, dim = 1)",
        "scatter(%x, %i, %z, dim = 1)", "scatter(%x, %i, %z, dim = 1, update = max)",
        "scatter(%x, %i, %z, dim = 1, update = min)", "one_hot(%i, classes = 4, dtype = T)"})
    out.push_back({"%i = " + index + body, exact("").scale});
  out.push_back({"%s = " + seed + "uniform(shape = [4], seed = %s)", exact("").scale});
  out.push_back({"%s = " + seed + "normal(shape = [4], seed = %s)",
                 [](DType, const Values&, const Values&, size_t) { return 1.0; }});
  out.push_back({"%s = " + seed + "dropout(%x, p = 0.3, seed = %s)", exact("").scale});
  return out;
}

std::string inputs(DType dtype) { return fmt::format("%x: {0}[1, 4], %z: {0}[1, 4]", name(dtype)); }
std::string body(const RowOp& op, DType dtype) {
  std::string out = op.body;
  for (size_t at = 0; (at = out.find("= T", at)) != out.npos;) out.replace(at + 2, 1, name(dtype));
  return out;
}

// `pairs`: every row beside every other, else beside one.
void check(const std::vector<RowOp>& ops, bool pairs) {
  for (const RowOp& op : ops)
    for (DType dtype : {DType::f32, DType::f64, DType::bf16}) {
      const auto f = fusion(inputs(dtype), "%y", body(op, dtype));
      int shown = 0;
      for (const Values& first : rows())
        for (const Values& second : rows()) {
          if (!pairs && &second != &rows()[4]) continue;
          const Tensor x = Tensor::from_doubles(dtype, {1, 4}, first), z = Tensor::from_doubles(dtype, {1, 4}, second);
          const Values a = x.to_doubles(), b = z.to_doubles();
          const Array y = evaluate(*f, {{"x", x}, {"z", z}}).at("y");
          for (int64_t i = 0; i < y.elements(); ++i) {
            const std::string wrong = useless(y, i, op.scale(compute_type(dtype), a, b, size_t(i)));
            if (wrong.empty() || ++shown > 3) continue;
            ADD_FAILURE() << name(dtype) << " " << op.body << " of " << testing::PrintToString(a) << ", "
                          << testing::PrintToString(b) << " at " << i << ": " << wrong;
          }
        }
    }
}

// Slices at positions, without a radius either.
std::vector<RowOp> at_positions() {
  std::vector<RowOp> out;
  const std::string position = "%p = full(shape = [], value = 1, dtype = i64)\n";
  out.push_back({position + "%y = slice_at(%x, %p, dim = 1, size = 2)", exact("").scale});
  out.push_back(
      {position + "%q = slice(%z, dim = 1, stop = 2)\n%y = slice_update(%x, %q, %p, dim = 1)", exact("").scale});
  return out;
}

std::vector<RowOp> attentions() {
  return {attention("", 0.5), attention(", scale = 1", 1), attention(", causal = true", 0.5)};
}

TEST(UsefulRadius, OfReductionsAndNorms) { check(reductions_and_norms(), false); }
TEST(UsefulRadius, OfOpsOnTwoRows) { check(of_two_rows(), true); }
TEST(UsefulRadius, OfAttention) { check(attentions(), true); }
TEST(UsefulRadius, IsNoneOfWhatMovesElements) {
  check(without_error(), false);
  check(at_positions(), false);
}

// A new op, or a new reduction, needs a line above.
TEST(UsefulRadius, CoversEveryOpThatUsersWrite) {
  std::set<OpKind> found;
  std::set<Reduction> reductions;
  for (const auto& ops : {reductions_and_norms(), of_two_rows(), attentions(), without_error(), at_positions()})
    for (const RowOp& op : ops) {
      const auto f = fusion(inputs(DType::f32), "%y", body(op, DType::f32));
      for (const auto& each : f->ops()) {
        found.insert(each->kind);
        if (const auto* r = as<Reduce>(*each)) reductions.insert(r->function);
      }
    }
  const auto covered = [&](OpKind kind, OpProperty property) {
    return found.count(kind) || property == OpProperty::communication || property == OpProperty::local_move;
  };
#define PLAIT_OP(Name, text, properties) \
  EXPECT_TRUE(covered(OpKind::Name, OpProperty::properties)) << "no radius of " #text " is looked at";
#include "ir/ops.def"
#undef PLAIT_OP
#define X(name, ...) EXPECT_TRUE(reductions.count(Reduction::name)) << #name;
#include "ir/reductions.def"
#undef X
}

}  // namespace
}  // namespace plait::reference
