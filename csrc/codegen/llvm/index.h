#pragma once
// Symbolic integers as i64 instructions.
#include <unordered_map>
#include <vector>

#include "codegen/llvm/text.h"
#include "sym/expr.h"

namespace plait::codegen::llvm {

// Emits each expression once per scope: a value made in an enclosing scope is used again. All arithmetic is `nsw`
// (symbolic integers do not wrap). Division rounds down; a divisor that is not proven positive is taken as at least 1,
// because the branch of a select that is not taken is computed too.
class IndexWriter {
 public:
  explicit IndexWriter(Function& f) : f_(f) { enter(); }

  void enter() { scopes_.emplace_back(); }
  void leave() { scopes_.pop_back(); }
  // In the current scope, the expression is this value.
  void bind(sym::Expr expr, Ir value) { scopes_.back().values.insert_or_assign(expr.node(), std::move(value)); }

  Ir value(sym::Expr expr);      // i64
  Ir condition(sym::Expr expr);  // i1

 private:
  struct Scope {
    std::unordered_map<const sym::Node*, Ir> values, conditions;
  };

  Ir compute(sym::Expr expr);
  Ir compute_condition(sym::Expr expr);
  Ir fold(std::string_view op, sym::Expr expr);
  Ir fold_intrinsic(std::string_view name, sym::Expr expr);
  Ir divisor(sym::Expr expr);
  Ir floordiv(sym::Expr expr);
  Ir mod(sym::Expr expr);
  Ir ceildiv(const Ir& a, const Ir& b);
  Ir chunk(sym::Expr expr);

  Function& f_;
  std::vector<Scope> scopes_;
};

}  // namespace plait::codegen::llvm
