#include "codegen/llvm/index.h"

#include <bit>

#include "base/error.h"

namespace plait::codegen::llvm {
namespace {

constexpr Type kI64{Scalar::i64, 1}, kI1{Scalar::i1, 1};

Ir literal(int64_t value) { return integer(kI64, value); }

bool is_power_of_two(std::optional<int64_t> value) {
  return value && *value > 0 && std::has_single_bit(uint64_t(*value));
}

}  // namespace

Ir IndexWriter::value(sym::Expr expr) {
  if (expr.is_constant()) return literal(expr.value());
  for (auto scope = scopes_.rbegin(); scope != scopes_.rend(); ++scope) {
    if (const auto found = scope->values.find(expr.node()); found != scope->values.end()) return found->second;
  }
  Ir result = compute(expr);
  bind(expr, result);
  return result;
}

Ir IndexWriter::condition(sym::Expr expr) {
  if (expr.is_constant()) return integer(kI1, expr.value() != 0);
  for (auto scope = scopes_.rbegin(); scope != scopes_.rend(); ++scope) {
    if (const auto found = scope->conditions.find(expr.node()); found != scope->conditions.end()) return found->second;
  }
  Ir result = compute_condition(expr);
  scopes_.back().conditions.insert_or_assign(expr.node(), result);
  return result;
}

Ir IndexWriter::compute(sym::Expr expr) {
  const auto operands = expr.operands();
  switch (expr.kind()) {
    case sym::Kind::constant:
      return literal(expr.value());
    case sym::Kind::symbol:
      break;  // bound by the writer
    case sym::Kind::add:
      return fold("add nsw", expr);
    case sym::Kind::mul:
      return fold("mul nsw", expr);
    case sym::Kind::floordiv:
      return floordiv(expr);
    case sym::Kind::mod:
      return mod(expr);
    case sym::Kind::min:
      return fold_intrinsic("llvm.smin", expr);
    case sym::Kind::max:
      return fold_intrinsic("llvm.smax", expr);
    case sym::Kind::chunk:
    case sym::Kind::chunk_start:
      return chunk(expr);
    case sym::Kind::lt:
    case sym::Kind::le:
    case sym::Kind::eq:
    case sym::Kind::logical_and:
    case sym::Kind::logical_not:
      return f_.cast("zext", condition(expr), kI64);
    case sym::Kind::select:
      return f_.select(condition(operands[0]), value(operands[1]), value(operands[2]));
  }
  PLAIT_CHECK(false, "symbol {} has no value here", sym::print(expr));
  __builtin_unreachable();
}

Ir IndexWriter::compute_condition(sym::Expr expr) {
  const auto operands = expr.operands();
  switch (expr.kind()) {
    case sym::Kind::lt:
      return f_.compare("icmp slt", value(operands[0]), value(operands[1]));
    case sym::Kind::le:
      return f_.compare("icmp sle", value(operands[0]), value(operands[1]));
    case sym::Kind::eq:
      return f_.compare("icmp eq", value(operands[0]), value(operands[1]));
    case sym::Kind::logical_and: {
      Ir result = condition(operands[0]);
      for (size_t i = 1; i < operands.size(); ++i) result = f_.binary("and", result, condition(operands[i]));
      return result;
    }
    case sym::Kind::logical_not:
      return f_.binary("xor", condition(operands[0]), integer(kI1, 1));
    default:  // an integer read as a condition
      return f_.compare("icmp ne", value(expr), literal(0));
  }
}

Ir IndexWriter::fold(std::string_view op, sym::Expr expr) {
  const auto operands = expr.operands();
  Ir result = value(operands[0]);
  for (size_t i = 1; i < operands.size(); ++i) result = f_.binary(op, result, value(operands[i]));
  return result;
}

Ir IndexWriter::fold_intrinsic(std::string_view name, sym::Expr expr) {
  const auto operands = expr.operands();
  Ir result = value(operands[0]);
  for (size_t i = 1; i < operands.size(); ++i) result = f_.intrinsic(name, {result, value(operands[i])});
  return result;
}

Ir IndexWriter::divisor(sym::Expr expr) {
  if (sym::bounds(expr).lo >= 1) return value(expr);
  return f_.intrinsic("llvm.smax", {value(expr), literal(1)});
}

Ir IndexWriter::floordiv(sym::Expr expr) {
  const sym::Expr a = expr.operands()[0], b = expr.operands()[1];
  if (is_power_of_two(b.constant())) {
    return f_.binary("ashr", value(a), literal(std::countr_zero(uint64_t(b.value()))));
  }
  const Ir dividend = value(a), by = divisor(b);
  if (sym::bounds(a).lo >= 0) return f_.binary("udiv", dividend, by);
  const Ir quotient = f_.binary("sdiv", dividend, by), rest = f_.binary("srem", dividend, by);
  const Ir negative = f_.compare("icmp slt", rest, literal(0));
  return f_.binary("add nsw", quotient, f_.cast("sext", negative, kI64));
}

Ir IndexWriter::mod(sym::Expr expr) {
  const sym::Expr a = expr.operands()[0], b = expr.operands()[1];
  if (is_power_of_two(b.constant())) return f_.binary("and", value(a), literal(b.value() - 1));
  const Ir dividend = value(a), by = divisor(b);
  if (sym::bounds(a).lo >= 0) return f_.binary("urem", dividend, by);
  const Ir rest = f_.binary("srem", dividend, by);
  const Ir negative = f_.compare("icmp slt", rest, literal(0));
  return f_.select(negative, f_.binary("add nsw", rest, by), rest);
}

// Of a >= 0 and b >= 1; only a's own branch of a select may break that, where any result will do.
Ir IndexWriter::ceildiv(const Ir& a, const Ir& b) {
  const Ir sum = f_.binary("add", f_.binary("add", a, b), literal(-1));
  return f_.binary("udiv", sum, b);
}

Ir IndexWriter::chunk(sym::Expr expr) {
  const auto operands = expr.operands();
  const Ir n = value(operands[0]), parts = divisor(operands[1]), rank = value(operands[2]);
  const Ir granule = value(operands[3]);
  const Ir pieces = operands[3].value() == 1 ? n : ceildiv(n, granule);
  const Ir size = f_.binary("mul nsw", ceildiv(pieces, parts), granule);
  const Ir start = f_.intrinsic("llvm.smin", {n, f_.binary("mul nsw", rank, size)});
  if (expr.kind() == sym::Kind::chunk_start) return start;
  return f_.intrinsic("llvm.smin", {size, f_.binary("sub nsw", n, start)});
}

}  // namespace plait::codegen::llvm
