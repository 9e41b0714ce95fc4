#include "scalar/pointwise.h"

#include <array>
#include <cmath>
#include <limits>
#include <numbers>
#include <string>
#include <utility>

#include "base/error.h"
#include "scalar/convert.h"

namespace plait {
namespace {

constexpr std::array<PointwiseInfo, kPointwiseCount> kInfo{{
#define X(name, arity, type_rule, cost_class, error_ulp, continuity, argument_error) \
  {#name,                                                                            \
   arity,                                                                            \
   TypeRule::type_rule,                                                              \
   CostClass::cost_class,                                                            \
   error_ulp,                                                                        \
   argument_error,                                                                   \
   Continuity::continuity,                                                           \
   Continuity::continuity == Continuity::jumps || Continuity::continuity == Continuity::jumps_in_condition},
#include "scalar/pointwise.def"
#undef X
}};

double sigmoid(double x) {
  if (x >= 0) return 1 / (1 + std::exp(-x));
  const double e = std::exp(x);
  return e / (1 + e);  // a NaN comes here and stays
}

double gelu_tanh(double x) {
  const double u = std::sqrt(2 / std::numbers::pi) * (x + 0.044715 * (x * x * x));
  return x / (1 + std::exp(-2 * u));
}

// x Phi(x), with erfc: 1 + erf(x / sqrt(2)) would cancel for negative x.
double gelu_erf(double x) { return x * (0.5 * std::erfc(-x / std::numbers::sqrt2)); }

double max_of(double a, double b) {
  if (std::isnan(a) || std::isnan(b)) return a + b;
  if (a == b) return std::signbit(a) ? b : a;
  return a > b ? a : b;
}

double min_of(double a, double b) {
  if (std::isnan(a) || std::isnan(b)) return a + b;
  if (a == b) return std::signbit(a) ? a : b;
  return a < b ? a : b;
}

std::string list(std::span<const DType> dtypes) {
  std::string text;
  for (DType d : dtypes) text += fmt::format("{}{}", text.empty() ? "" : ", ", name(d));
  return text.empty() ? "none" : text;
}

// The common type of the operands that meet in the op, after all checks of its type rule.
DType checked_promotion(Pointwise op, std::span<const DType> operands) {
  const PointwiseInfo& op_info = info(op);
  const auto refuse = [&](std::string why, std::string remedy) -> UserError {
    return UserError(fmt::format("{} {}; found operands: {}", op_info.name, why, list(operands)),
                     std::string(op_info.name), std::move(remedy));
  };
  if (operands.size() != size_t(op_info.arity))
    throw refuse(
        fmt::format("takes {} operand{}, got {}", op_info.arity, op_info.arity == 1 ? "" : "s", operands.size()),
        "pass exactly that many operands");
  if (op_info.type_rule == TypeRule::select && operands[0] != DType::boolean)
    throw refuse("needs a bool condition", "compare first, e.g. ne(%c, 0)");
  const size_t first = op_info.type_rule == TypeRule::select ? 1 : 0;
  DType result = operands[first];
  for (DType d : operands.subspan(first + 1)) {
    const auto both = try_promote(result, d);
    if (!both) throw refuse("has operands without a common type", "cast them to one type first");
    result = *both;
  }
  if (op_info.type_rule == TypeRule::same && result == DType::boolean)
    throw refuse("is not defined on bool", "cast to an integer or float type first");
  if (op_info.type_rule == TypeRule::float_only && !is_float(result))
    throw refuse("is defined on floats only", "cast to a float type first");
  return result;
}

}  // namespace

const PointwiseInfo& info(Pointwise op) {
  PLAIT_CHECK(size_t(op) < kInfo.size(), "pointwise op {}", int(op));
  return kInfo[size_t(op)];
}

std::optional<Pointwise> parse_pointwise(std::string_view text) {
  for (size_t i = 0; i < kInfo.size(); ++i)
    if (kInfo[i].name == text) return Pointwise(i);
  return std::nullopt;
}

bool jumps(Pointwise op, int operand, DType from, DType to) {
  if (!is_float(from)) return false;
  switch (info(op).continuity) {
    case Continuity::continuous:
      return false;
    case Continuity::jumps:
      return true;
    case Continuity::jumps_in_condition:
      return operand == 0;
    case Continuity::jumps_to_integer:
      return !is_float(to) || is_f8(to);
  }
  return false;
}

DType computation_type(Pointwise op, std::span<const DType> operands) {
  const DType promoted = checked_promotion(op, operands);
  return info(op).type_rule == TypeRule::cast ? promoted : compute_type(promoted);
}

DType result_type(Pointwise op, std::span<const DType> operands) {
  PLAIT_CHECK(info(op).type_rule != TypeRule::cast, "the result type of a cast is the op's own");
  const DType promoted = checked_promotion(op, operands);
  return info(op).type_rule == TypeRule::compare ? DType::boolean : promoted;
}

double evaluate(Pointwise op, std::span<const double> args) {
  PLAIT_CHECK(args.size() == size_t(info(op).arity), "{} of {} arguments", info(op).name, args.size());
  const double x = args[0], y = args.size() > 1 ? args[1] : 0;
  switch (op) {
    case Pointwise::add:
      return x + y;
    case Pointwise::sub:
      return x - y;
    case Pointwise::mul:
      return x * y;
    case Pointwise::div:
      return x / y;
    case Pointwise::neg:
      return -x;
    case Pointwise::abs:
      return std::abs(x);
    case Pointwise::max:
      return max_of(x, y);
    case Pointwise::min:
      return min_of(x, y);
    case Pointwise::exp:
      return std::exp(x);
    case Pointwise::log:
      return std::log(x);
    case Pointwise::tanh:
      return std::tanh(x);
    case Pointwise::sqrt:
      return std::sqrt(x);
    case Pointwise::relu:
      return x > 0 || std::isnan(x) ? x : 0;
    case Pointwise::gelu_erf:
      return gelu_erf(x);
    case Pointwise::gelu_tanh:
      return gelu_tanh(x);
    case Pointwise::silu:
      return x * sigmoid(x);
    case Pointwise::sigmoid:
      return sigmoid(x);
    case Pointwise::eq:
      return x == y;
    case Pointwise::ne:
      return x != y;
    case Pointwise::lt:
      return x < y;
    case Pointwise::le:
      return x <= y;
    case Pointwise::gt:
      return x > y;
    case Pointwise::ge:
      return x >= y;
    case Pointwise::where:
      return x != 0 ? y : args[2];
    case Pointwise::cast:
      return x;
  }
  PLAIT_CHECK(false, "pointwise op {}", int(op));
}

int64_t evaluate_int(Pointwise op, std::span<const int64_t> args, DType operand) {
  PLAIT_CHECK(args.size() == size_t(info(op).arity), "{} of {} arguments", info(op).name, args.size());
  PLAIT_CHECK(!is_float(operand), "evaluate_int of {} on {}", info(op).name, name(operand));
  const int64_t x = args[0], y = args.size() > 1 ? args[1] : 0;
  const uint64_t ux = uint64_t(x), uy = uint64_t(y);
  const auto wrap = [&](uint64_t value) { return wrap_to(operand, int64_t(value)); };
  const bool less = operand == DType::u64 ? ux < uy : x < y;
  switch (op) {
    case Pointwise::add:
      return wrap(ux + uy);
    case Pointwise::sub:
      return wrap(ux - uy);
    case Pointwise::mul:
      return wrap(ux * uy);
    case Pointwise::neg:
      return wrap(0 - ux);
    case Pointwise::abs:
      return is_unsigned(operand) || x >= 0 ? x : wrap(0 - ux);
    case Pointwise::max:
      return less ? y : x;
    case Pointwise::min:
      return less ? x : y;
    case Pointwise::relu:
      return is_unsigned(operand) || x > 0 ? x : 0;
    case Pointwise::eq:
      return x == y;
    case Pointwise::ne:
      return x != y;
    case Pointwise::lt:
      return less;
    case Pointwise::le:
      return less || x == y;
    case Pointwise::gt:
      return !less && x != y;
    case Pointwise::ge:
      return !less;
    case Pointwise::where:
      return x != 0 ? y : args[2];
    case Pointwise::cast:
      return x;
    case Pointwise::div:
    case Pointwise::exp:
    case Pointwise::log:
    case Pointwise::tanh:
    case Pointwise::sqrt:
    case Pointwise::gelu_erf:
    case Pointwise::gelu_tanh:
    case Pointwise::silu:
    case Pointwise::sigmoid:
      break;
  }
  PLAIT_CHECK(false, "{} has no meaning on integers", info(op).name);
}

double own_error(Pointwise op, DType compute, std::span<const double> args, double result) {
  const PointwiseInfo& op_info = info(op);
  compute = compute_type(compute);
  if (!is_float(compute) || !std::isfinite(result) || (op_info.error_ulp == 0 && op_info.argument_error == 0)) return 0;
  double error = op_info.error_ulp * ulp(compute, result);
  if (op_info.argument_error != 0) error += op_info.argument_error * unit_roundoff(compute) * std::abs(args[0]);
  const bool may_overflow = std::abs(result) + error > max_finite(compute);
  return may_overflow ? std::numeric_limits<double>::infinity() : error;
}

}  // namespace plait
