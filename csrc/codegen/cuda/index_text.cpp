#include "codegen/cuda/index_text.h"

#include <algorithm>
#include <limits>
#include <utility>

#include "base/error.h"

namespace plait::codegen::cuda {
namespace {

using sym::Expr;
using sym::Kind;

// Precedence of C++, from loose to tight.
enum Level { kConditional, kAnd, kEquality, kRelation, kSum, kProduct, kUnary };

// Small constants are `int`: what they multiply is wider, or an `int` lane below 2^10.
bool is_small(int64_t value) { return value > -(1 << 20) && value < (1 << 20); }

std::string number(int64_t value, bool narrow = false) {
  if (narrow && !is_small(value)) return fmt::format("{}u", static_cast<uint32_t>(value));
  if (value == std::numeric_limits<int64_t>::min()) return "(-9223372036854775807ll - 1)";
  return fmt::format("{}{}", value, is_small(value) ? "" : "ll");
}

bool is_nonnegative(Expr e) { return sym::bounds(e).lo >= 0; }
bool is_positive(Expr e) { return sym::bounds(e).lo >= 1; }

}  // namespace

const IndexText::Named* IndexText::find(Expr expr) const {
  for (auto scope = scopes_.rbegin(); scope != scopes_.rend(); ++scope)
    if (auto at = scope->find(expr.id()); at != scope->end()) return &at->second;
  return nullptr;
}

std::string IndexText::text(Expr expr, bool tight) const { return at_level(expr, tight ? kUnary : kConditional); }

std::string IndexText::whole(Expr expr) const { return whole_at(expr, kConditional); }

std::string IndexText::wide(Expr expr) const { return as_wide(expr, kConditional); }

std::string IndexText::above(const char* left, Expr expr) const {
  return fmt::format("{} < {}", left, whole_at(expr, kSum));
}

std::string IndexText::whole_at(Expr expr, int level) const {
  if (ranges_ == nullptr || is_narrow(expr)) return at_level(expr, level);
  return is_signed(expr) ? as_signed(expr) : as_wide(expr, level);
}

std::string IndexText::as_signed(Expr expr) const {
  if (const auto value = expr.constant(); value && is_small(*value)) return number(*value);
  return "int(" + at_level(expr, kConditional) + ")";
}

std::string IndexText::as_wide(Expr expr, int level) const {
  const bool before = std::exchange(wide_, true);
  std::string out = at_level(expr, level);
  wide_ = before;
  return out;
}

std::string IndexText::from_wide(Expr expr) const { return fmt::format("unsigned({})", as_wide(expr, kConditional)); }

std::string IndexText::name_text(const Named& named, int& level) const {
  level = kUnary;
  subtracted_ |= named.subtracted || (named.expr.is_symbol() && !is_nonnegative(named.expr));
  if (ranges_ == nullptr || named.wide == wide_) return named.name;
  return wide_ ? fmt::format("static_cast<long long>({})", named.name) : fmt::format("unsigned({})", named.name);
}

std::string IndexText::at_level(Expr expr, int level) const {
  int own = kUnary;
  const Named* const named = find(expr);
  // Names of sums and products hold these modulo 2^32.
  const bool exact = named != nullptr && (!wide_ || named->wide || expr.is_symbol() || is_narrow(expr));
  if (exact) return name_text(*named, own);
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
  if (wide_) return "";
  for (auto scope = scopes_.rbegin(); scope != scopes_.rend(); ++scope) {
    for (const auto& [id, named] : *scope) {
      if (named.expr.kind() != Kind::add) continue;
      const Expr rest = expr - named.expr;
      if (terms(rest) + 1 < terms(expr)) {
        const std::string text = at_level(rest, kSum);
        subtracted_ |= named.subtracted || starts_negative(text);
        return starts_negative(text) ? named.name + " - " + at_level(-rest, kProduct) : named.name + " + " + text;
      }
      const Expr other = expr + named.expr;
      if (terms(other) + 1 >= terms(expr)) continue;
      subtracted_ = true;
      return at_level(other, kSum) + " - " + named.name;
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
  for (Expr term : expr.operands()) {
    if (!is_negative(term)) continue;
    subtracted_ = true;
    const Expr size = -term;
    // Without parentheses the sign would be that of the dividend.
    const bool divides = size.kind() == Kind::floordiv || size.kind() == Kind::mod;
    text += (text.empty() ? "-" : " - ") + at_level(size, text.empty() && divides ? kUnary : kProduct);
  }
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
  if (is_modular()) {
    if (!is_narrow(a) || !ranges_->within(b, 1, kMostUnsigned)) return from_wide(expr);
  } else if (!is_nonnegative(a) || !is_positive(b)) {
    return call(quotient ? "floor_div" : "floor_mod", "floor_div", expr);
  }
  const Named* const known = quotient || wide_ ? nullptr : find(sym::floordiv(a, b));
  if (known != nullptr) {
    int own = kUnary;
    level = kSum;
    subtracted_ |= a.kind() == Kind::add && a.operands().back().is_constant();  // which leaves less than is subtracted
    return fmt::format("{} - {} * {}", at_level(a, kProduct), name_text(*known, own), at_level(b, kUnary));
  }
  if (!is_modular() && quotient && !b.is_constant() && is_short(a) && is_short(b)) {
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

std::string IndexText::extreme(Expr expr) const {
  const auto operands = expr.operands();
  const bool narrow = is_modular();
  if (narrow && !std::all_of(operands.begin(), operands.end(), [&](Expr e) { return is_signed(e); }))
    return from_wide(expr);
  helpers_.need(narrow ? "least32" : "least");
  const std::string name = fmt::format("{}{}", expr.kind() == Kind::min ? "least" : "most", narrow ? "32" : "");
  const auto written = [&](Expr e) { return narrow ? as_signed(e) : at_level(e, kConditional); };
  std::string text = written(operands[0]);
  for (Expr operand : operands.subspan(1)) text = fmt::format("{}({}, {})", name, text, written(operand));
  return text;
}

std::string IndexText::compare(Expr a, Expr b, const char* sign, int own, int& level) const {
  level = own;
  if (!is_modular() || (is_narrow(a) && is_narrow(b))) return at_level(a, own + 1) + sign + at_level(b, own + 1);
  if (is_signed(a) && is_signed(b)) return as_signed(a) + sign + as_signed(b);
  return as_wide(a, own + 1) + sign + as_wide(b, own + 1);
}

std::string IndexText::negation(Expr operand, int& level) const {
  const auto binary = [&](const char* sign, int own) {
    return compare(operand.operands()[0], operand.operands()[1], sign, own, level);
  };
  if (operand.kind() == Kind::lt) return binary(" >= ", kRelation);
  if (operand.kind() == Kind::le) return binary(" > ", kRelation);
  if (operand.kind() == Kind::eq) return binary(" != ", kEquality);
  return "!" + at_level(operand, kUnary);
}

std::string IndexText::write(Expr expr, int& level) const {
  const auto operands = expr.operands();
  const bool of_parts = expr.kind() == Kind::add || expr.kind() == Kind::mul;  // whose own may be negative
  subtracted_ |= !of_parts && !is_nonnegative(expr);
  switch (expr.kind()) {
    case Kind::constant:
      return number(expr.value(), is_modular());
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
    case Kind::max:
      return extreme(expr);
    case Kind::chunk:
    case Kind::chunk_start:
      if (is_modular()) return from_wide(expr);
      return call(expr.kind() == Kind::chunk ? "chunk" : "chunk_start", "chunk", expr);
    case Kind::lt:
      return compare(operands[0], operands[1], " < ", kRelation, level);
    case Kind::le:
      return compare(operands[0], operands[1], " <= ", kRelation, level);
    case Kind::eq:
      return compare(operands[0], operands[1], " == ", kEquality, level);
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
