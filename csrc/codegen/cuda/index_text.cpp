#include "codegen/cuda/index_text.h"

#include <limits>

#include "base/error.h"

namespace plait::codegen::cuda {
namespace {

using sym::Expr;
using sym::Kind;

// Precedence of C++, from loose to tight.
enum Level { kConditional, kAnd, kEquality, kRelation, kSum, kProduct, kUnary };

// Small constants are `int`: what they multiply is `long long`, or an `int` lane below 2^10.
std::string number(int64_t value) {
  if (value == std::numeric_limits<int64_t>::min()) return "(-9223372036854775807ll - 1)";
  return fmt::format("{}{}", value, value > -(1 << 20) && value < (1 << 20) ? "" : "ll");
}

bool is_nonnegative(Expr e) { return sym::bounds(e).lo >= 0; }
bool is_positive(Expr e) { return sym::bounds(e).lo >= 1; }

}  // namespace

std::string IndexText::find(Expr expr) const {
  for (auto scope = scopes_.rbegin(); scope != scopes_.rend(); ++scope)
    if (auto at = scope->find(expr.id()); at != scope->end()) return at->second.name;
  return "";
}

std::string IndexText::text(Expr expr, bool tight) const { return at_level(expr, tight ? kUnary : kConditional); }

std::string IndexText::at_level(Expr expr, int level) const {
  if (std::string name = find(expr); !name.empty()) return name;
  int own = kUnary;
  std::string text = write(expr, own);
  return own < level ? "(" + text + ")" : text;
}

bool IndexText::is_short(Expr expr) const {
  if (short_.contains(expr.id())) return true;
  const sym::Bounds range = sym::bounds(expr);
  return range.lo >= 0 && range.hi <= std::numeric_limits<uint32_t>::max();
}

bool IndexText::in_scope(Expr expr) const {
  if (expr.is_symbol()) return has_name(expr);
  for (Expr operand : expr.operands())
    if (!in_scope(operand)) return false;
  return true;
}

namespace {

size_t terms(Expr expr) { return expr.kind() == Kind::add ? expr.operands().size() : expr.constant() == 0 ? 0 : 1; }

bool starts_negative(const std::string& text) { return text[0] == '-'; }

}  // namespace

// A named sum that makes this one shorter, and what remains: "k0 + 7", "n0 - k0". Empty where there is none.
std::string IndexText::sum_with_name(Expr expr) const {
  for (auto scope = scopes_.rbegin(); scope != scopes_.rend(); ++scope) {
    for (const auto& [id, named] : *scope) {
      if (named.expr.kind() != Kind::add) continue;
      const Expr rest = expr - named.expr;
      if (terms(rest) + 1 < terms(expr)) {
        const std::string text = at_level(rest, kSum);
        return starts_negative(text) ? named.name + " - " + at_level(-rest, kProduct) : named.name + " + " + text;
      }
      const Expr other = expr + named.expr;
      if (terms(other) + 1 < terms(expr)) return at_level(other, kSum) + " - " + named.name;
    }
  }
  return "";
}

// Terms in the order of the expression, those with a negative constant or coefficient subtracted behind the others.
std::string IndexText::sum(Expr expr) const {
  const auto is_negative = [&](Expr term) {
    if (has_name(term)) return false;
    const Expr number = term.kind() == Kind::mul ? term.operands()[0] : term;
    return number.is_constant() && number.value() < 0 && number.value() > std::numeric_limits<int64_t>::min();
  };
  std::string text;
  for (Expr term : expr.operands())
    if (!is_negative(term)) text += (text.empty() ? "" : " + ") + at_level(term, kProduct);
  for (Expr term : expr.operands())
    if (is_negative(term)) text += (text.empty() ? "-" : " - ") + at_level(-term, kProduct);
  return text;
}

std::string IndexText::joined(Expr expr, std::string_view separator, int level) const {
  std::string text;
  for (Expr operand : expr.operands()) {
    if (!text.empty()) text += separator;
    text += at_level(operand, level);
  }
  return text;
}

std::string IndexText::divide(Expr expr, int& level) const {
  const Expr a = expr.operands()[0], b = expr.operands()[1];
  const bool quotient = expr.kind() == Kind::floordiv;
  if (!is_nonnegative(a) || !is_positive(b)) return call(quotient ? "floor_div" : "floor_mod", "floor_div", expr);
  if (!quotient) {
    if (const std::string known = find(sym::floordiv(a, b)); !known.empty()) {
      level = kSum;
      return fmt::format("{} - {} * {}", at_level(a, kProduct), known, at_level(b, kUnary));
    }
  }
  if (quotient && !b.is_constant() && is_short(a) && is_short(b)) {
    helpers_.need("quotient");
    return fmt::format("quotient({}, {})", at_level(a, kConditional), at_level(b, kConditional));
  }
  level = kProduct;
  return at_level(a, kUnary) + (quotient ? " / " : " % ") + at_level(b, kUnary);
}

std::string IndexText::call(std::string_view function, std::string_view helper, Expr expr) const {
  helpers_.need(helper);
  return fmt::format("{}({})", function, joined(expr, ", ", kConditional));
}

std::string IndexText::negation(Expr operand, int& level) const {
  const auto binary = [&](const char* sign, int own) {
    level = own;
    return at_level(operand.operands()[0], own + 1) + sign + at_level(operand.operands()[1], own + 1);
  };
  if (operand.kind() == Kind::lt) return binary(" >= ", kRelation);
  if (operand.kind() == Kind::le) return binary(" > ", kRelation);
  if (operand.kind() == Kind::eq) return binary(" != ", kEquality);
  return "!" + at_level(operand, kUnary);
}

std::string IndexText::write(Expr expr, int& level) const {
  const auto operands = expr.operands();
  switch (expr.kind()) {
    case Kind::constant:
      return number(expr.value());
    case Kind::symbol:
      PLAIT_CHECK(false, "symbol {} has no name in the kernel's text", expr.symbol_name());
      break;
    case Kind::add: {
      level = kSum;
      const std::string shorter = sum_with_name(expr);
      return shorter.empty() ? sum(expr) : shorter;
    }
    case Kind::mul:
      level = kProduct;
      return joined(expr, " * ", kUnary);
    case Kind::floordiv:
    case Kind::mod:
      return divide(expr, level);
    case Kind::min:
    case Kind::max: {
      helpers_.need("least");
      const char* name = expr.kind() == Kind::min ? "least" : "most";
      std::string text = at_level(operands[0], kConditional);
      for (Expr operand : operands.subspan(1))
        text = fmt::format("{}({}, {})", name, text, at_level(operand, kConditional));
      return text;
    }
    case Kind::chunk:
      return call("chunk", "chunk", expr);
    case Kind::chunk_start:
      return call("chunk_start", "chunk", expr);
    case Kind::lt:
      level = kRelation;
      return joined(expr, " < ", kSum);
    case Kind::le:
      level = kRelation;
      return joined(expr, " <= ", kSum);
    case Kind::eq:
      level = kEquality;
      return joined(expr, " == ", kRelation);
    case Kind::logical_and:
      level = kAnd;
      return joined(expr, " && ", kEquality);
    case Kind::logical_not:
      return negation(operands[0], level);
    case Kind::select:
      level = kConditional;
      return fmt::format("{} ? {} : {}", at_level(operands[0], kAnd), at_level(operands[1], kAnd),
                         at_level(operands[2], kAnd));
  }
  return "";
}

}  // namespace plait::codegen::cuda
