#pragma once
// Symbolic integers as CUDA C++ expressions over `long long`.
#include <map>
#include <set>
#include <string>
#include <vector>

#include "codegen/cuda/helpers.h"
#include "sym/expr.h"

namespace plait::codegen::cuda {

// Name of the variable that counts the lanes of a vector.
inline constexpr const char* kLaneVariable = "j";

// Names of symbols and of expressions that have been given a name, by scope.
class IndexText {
 public:
  explicit IndexText(Helpers& helpers) : helpers_(helpers), scopes_(1) {}

  // The expression as text; parts that have a name are written by it. Division prints as / and % where bounds prove the
  // operands, as a floor helper otherwise. `tight`: fit to be an operand of any operator.
  std::string text(sym::Expr expr, bool tight = false) const;

  void open_scope() { scopes_.emplace_back(); }
  void close_scope() { scopes_.pop_back(); }
  // Names an expression (a symbol, too) until the scope closes.
  void set_name(sym::Expr expr, std::string name) { scopes_.back()[expr.id()] = {expr, std::move(name)}; }
  // States that an expression lies in 0 .. 2^32 - 1, whatever its bounds say.
  void set_short(sym::Expr expr) { short_.insert(expr.id()); }
  bool has_name(sym::Expr expr) const { return !find(expr).empty(); }
  // Whether all symbols of the expression have names.
  bool in_scope(sym::Expr expr) const;

 private:
  std::string find(sym::Expr expr) const;
  bool is_short(sym::Expr expr) const;
  std::string at_level(sym::Expr expr, int level) const;
  std::string write(sym::Expr expr, int& level) const;
  std::string sum(sym::Expr expr) const;
  std::string sum_with_name(sym::Expr expr) const;
  std::string divide(sym::Expr expr, int& level) const;
  std::string negation(sym::Expr operand, int& level) const;
  std::string call(std::string_view function, std::string_view helper, sym::Expr expr) const;
  std::string joined(sym::Expr expr, std::string_view separator, int level) const;

  Helpers& helpers_;
  struct Named {
    sym::Expr expr;
    std::string name;
  };
  std::vector<std::map<uint64_t, Named>> scopes_;
  std::set<uint64_t> short_;
};

}  // namespace plait::codegen::cuda
