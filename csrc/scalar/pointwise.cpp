#include "scalar/pointwise.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <string>
#include <utility>

#include "base/error.h"
#include "scalar/convert.h"

namespace plait {
namespace {

enum class Range { whole, real };

constexpr std::array<PointwiseInfo, kPointwiseCount> kInfo{{
#define X(name, arity, type_rule, cost_class, error_ulp, continuity, argument_error, scale, form, range, ...) \
  {#name,                                                                                                     \
   arity,                                                                                                     \
   TypeRule::type_rule,                                                                                       \
   CostClass::cost_class,                                                                                     \
   error_ulp,                                                                                                 \
   argument_error,                                                                                            \
   ErrorScale::scale,                                                                                         \
   Continuity::continuity,                                                                                    \
   FunctionForm::form,                                                                                        \
   Range::range == Range::whole,                                                                              \
   Continuity::continuity == Continuity::discontinuous ||                                                     \
       Continuity::continuity == Continuity::discontinuous_in_condition},
#include "scalar/pointwise.def"
#undef X
}};

std::string list(std::span<const DType> dtypes) {
  std::string text;
  for (DType d : dtypes) text += fmt::format("{}{}", text.empty() ? "" : ", ", name(d));
  return text.empty() ? "none" : text;
}

// The common type of the operands that meet in the op, after all checks of its type rule.
DType checked_promotion(Pointwise op, std::span<const DType> operands) {
  const PointwiseInfo& op_info = info(op);
  const TypeRule rule = op_info.type_rule;
  const auto refuse = [&](std::string why, std::string remedy) -> UserError {
    return UserError(fmt::format("{} {}; found operands: {}", op_info.name, why, list(operands)),
                     std::string(op_info.name), std::move(remedy));
  };
  if (operands.size() != size_t(op_info.arity))
    throw refuse(
        fmt::format("takes {} operand{}, got {}", op_info.arity, op_info.arity == 1 ? "" : "s", operands.size()),
        "pass exactly that many operands");
  if (rule == TypeRule::logical) return DType::boolean;
  if (rule == TypeRule::select && operands[0] != DType::boolean)
    throw refuse("needs a bool condition", "compare first, e.g. ne(%c, 0)");
  const size_t first = rule == TypeRule::select ? 1 : 0;
  DType result = operands[first];
  for (DType d : operands.subspan(first + 1)) {
    const auto both = try_promote(result, d);
    if (!both) throw refuse("has operands without a common type", "cast them to one type first");
    result = *both;
  }
  const bool is_bool = result == DType::boolean;
  if (rule == TypeRule::same && is_bool)
    throw refuse("is not defined on bool", "cast to an integer or float type first");
  if (rule == TypeRule::float_only && !is_float(result))
    throw refuse("is defined on floats only", "cast to a float type first");
  if (rule == TypeRule::bits && is_float(result))
    throw refuse("is defined on integers and bool only", "cast to an integer type first");
  if (rule == TypeRule::shift && (is_float(result) || is_bool))
    throw refuse("is defined on integers only", "cast to an integer type first");
  return rule == TypeRule::to_float && !is_float(result) ? DType::f32 : result;
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

bool is_discontinuous(Pointwise op, int operand, DType from, DType to) {
  if (!is_float(from)) return false;
  switch (info(op).continuity) {
    case Continuity::continuous:
      return false;
    case Continuity::discontinuous:
      return true;
    case Continuity::discontinuous_in_condition:
      return operand == 0;
    case Continuity::discontinuous_to_integer:
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
  const TypeRule rule = info(op).type_rule;
  return rule == TypeRule::compare || rule == TypeRule::test ? DType::boolean : promoted;
}

bool has_float_meaning(Pointwise op) {
  return info(op).type_rule != TypeRule::bits && info(op).type_rule != TypeRule::shift;
}

bool has_integer_meaning(Pointwise op) {
  return info(op).type_rule != TypeRule::to_float && info(op).type_rule != TypeRule::float_only;
}

bool is_open(Pointwise op, std::span<const double> args) {
  return (op == Pointwise::signbit && std::isnan(args[0])) || (op == Pointwise::copysign && std::isnan(args[1]));
}

namespace {

double scale_of(ErrorScale scale, DType compute, std::span<const double> args, double result) {
  switch (scale) {
    case ErrorScale::operand:
      return std::abs(args[0]);
    case ErrorScale::unit:
      return 1;
    case ErrorScale::span:
      return (std::abs(args[0]) + std::abs(args[1])) * std::max(1.0, std::abs(1 - args[2]));
    case ErrorScale::quotient: {
      const double x = std::abs(args[0]), y = std::abs(args[1]);
      if (y == 0) return 0;  // x itself, or NaN
      // |x| exp(x / y) is below |x| and |y| where x / y < 0.
      return y * min_normal(compute) + (args[1] > 0 ? std::min(x, y) : x + std::abs(result * (args[0] / args[1])));
    }
  }
  return 0;
}

}  // namespace

double own_error(Pointwise op, DType compute, std::span<const double> args, double result) {
  const PointwiseInfo& op_info = info(op);
  compute = compute_type(compute);
  if (!is_float(compute) || !std::isfinite(result) || (op_info.error_ulp == 0 && op_info.argument_error == 0)) return 0;
  double error = op_info.error_ulp * ulp(compute, result), most = std::abs(result);
  if (op_info.argument_error != 0) {
    const double scale = scale_of(op_info.scale, compute, args, result);
    error += op_info.argument_error * unit_roundoff(compute) * scale;
    if (op_info.scale == ErrorScale::span) most = std::max(most, 2 * scale);  // (y - x) (1 - z)
    const bool grows = op_info.scale == ErrorScale::quotient && args[0] < 0 && args[1] < 0;
    if (grows) most = std::max(most, std::exp(args[0] / args[1]));  // beside a small y
  }
  const bool may_overflow = !(most + error <= max_finite(compute));
  return may_overflow ? std::numeric_limits<double>::infinity() : error;
}

}  // namespace plait
