#pragma once
// Symbolic integers as CUDA C++ expressions over `long long`; in a kernel of narrow indices over `unsigned`, where sums
// and products are right modulo 2^32, and what needs more than that (comparisons, quotients, minima) is written so that
// it is right: of operands that fit, as `int`, or over `long long`.
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "codegen/cuda/helpers.h"
#include "kir/index_ranges.h"
#include "sym/expr.h"

namespace plait::codegen::cuda {

// Name of the variable that counts the lanes of a vector.
inline constexpr const char* kLaneVariable = "j";

// Names of symbols and of expressions that have been given a name, by scope.
class IndexText {
 public:
  // `ranges`: of a kernel with narrow indices; null for others.
  explicit IndexText(Helpers& helpers, const kir::IndexRanges* ranges = nullptr)
      : helpers_(helpers), ranges_(ranges), scopes_(1) {}

  // The expression as text; parts that have a name are written by it. Division prints as / and % where bounds prove the
  // operands, as a floor helper otherwise. `tight`: fit to be an operand of any operator.
  std::string text(sym::Expr expr, bool tight = false) const;
  // The same for what takes the value as a whole: a conversion to `long long` keeps it.
  std::string whole(sym::Expr expr) const;
  // Over `long long`.
  std::string wide(sym::Expr expr) const;
  // What `write` gives, and whether in that, or in what is named in it, terms are, or may be, subtracted over
  // `unsigned`.
  template <class Fn>
  std::pair<std::string, bool> noting(Fn&& write) const {
    const bool before = std::exchange(subtracted_, false);
    std::string text = write();
    const bool own = subtracted_;
    subtracted_ |= before;
    return {std::move(text), own};
  }
  // `left < expr`, of a small number or the lane.
  std::string above(const char* left, sym::Expr expr) const;
  // Whether variables of the expression's value may be `unsigned`.
  bool is_narrow(sym::Expr expr) const { return ranges_ != nullptr && ranges_->within(expr, 0, kMostUnsigned); }
  // Whether its value, as `int`, is right.
  bool is_signed(sym::Expr expr) const {
    return ranges_ != nullptr && ranges_->within(expr, -kMostSigned - 1, kMostSigned);
  }
  const char* type() const { return ranges_ != nullptr ? "unsigned" : "long long"; }

  void open_scope() { scopes_.emplace_back(); }
  void close_scope() { scopes_.pop_back(); }
  // Names an expression (a symbol, too) until the scope closes; of narrow indices, `wide` names are `long long`.
  // `subtracted`: as noting() says of its text.
  void set_name(sym::Expr expr, std::string name, bool wide = false, bool subtracted = false) {
    scopes_.back()[expr.id()] = {expr, std::move(name), wide, subtracted};
  }
  // States that an expression lies in 0 .. 2^32 - 1, whatever its bounds say.
  void set_short(sym::Expr expr) { short_.insert(expr.id()); }
  bool has_name(sym::Expr expr) const { return find(expr) != nullptr; }
  // Whether all symbols of the expression have names.
  bool in_scope(sym::Expr expr) const;

 private:
  static constexpr int64_t kMostUnsigned = (int64_t{1} << 32) - 1, kMostSigned = (int64_t{1} << 31) - 1;
  struct Named {
    sym::Expr expr;
    std::string name;
    bool wide = false, subtracted = false;
  };

  // Whether what is written is right modulo 2^32.
  bool is_modular() const { return ranges_ != nullptr && !wide_; }
  const Named* find(sym::Expr expr) const;
  bool is_short(sym::Expr expr) const;
  std::string at_level(sym::Expr expr, int level) const;
  std::string name_text(const Named& named, int& level) const;
  std::string write(sym::Expr expr, int& level) const;
  std::string sum(sym::Expr expr) const;
  std::string sum_with_name(sym::Expr expr) const;
  std::string divide(sym::Expr expr, int& level) const;
  std::string extreme(sym::Expr expr) const;
  std::string compare(sym::Expr a, sym::Expr b, const char* sign, int own, int& level) const;
  std::string negation(sym::Expr operand, int& level) const;
  std::string call(std::string_view function, std::string_view helper, sym::Expr expr) const;
  std::string joined(sym::Expr expr, std::string_view separator, int level) const;
  // Over `int`, of what fits; over `long long`.
  std::string as_signed(sym::Expr expr) const;
  std::string as_wide(sym::Expr expr, int level) const;
  std::string from_wide(sym::Expr expr) const;  // over `unsigned`, of what was computed over `long long`
  std::string whole_at(sym::Expr expr, int level) const;

  Helpers& helpers_;
  const kir::IndexRanges* ranges_;
  mutable bool subtracted_ = false;  // in what is being written
  mutable bool wide_ = false;        // of narrow indices: what is written is over `long long`
  std::vector<std::map<uint64_t, Named>> scopes_;
  std::set<uint64_t> short_;
};

}  // namespace plait::codegen::cuda
