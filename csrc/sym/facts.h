#pragma once
// Facts about symbols as a value: what a class of inputs is known by, independent of any pool.
#include "sym/expr.h"

namespace plait::sym {

// A set of facts, all of which hold. Canonical: bounds lie at multiples, a symbol of one value has no multiple, a
// symbol without facts has no row; so equal sets of numbers compare equal and print the same. Not thread-safe while
// changed.
class Facts {
 public:
  // What is known of one symbol.
  struct Row {
    std::optional<int64_t> lo, hi;  // inclusive
    int64_t multiple_of = 1;
    std::string below;  // exclusive upper bound as text; empty where there is none
    bool operator==(const Row&) const = default;
  };
  using Rows = std::map<std::string, Row, std::less<>>;  // by symbol

  // Adds facts about a symbol. UserError, naming it, where no value satisfies all of its numbers, or as Pool::symbol.
  Facts& state(std::string_view name, const SymbolInfo& info);
  Facts& pin(std::string_view name, int64_t value);  // exactly that value
  Facts& merge(const Facts& other);                  // adds all of them
  const Rows& rows() const { return rows_; }

  // The facts of all symbols of the pool; symbols without facts are left out.
  static Facts of(const Pool& pool);
  // States them in a pool; symbols that it lacks are created.
  void apply(Pool& pool) const;

  // Whether every environment that satisfies these facts is proven to satisfy the others. Sound, not complete.
  bool implies(const Facts& other) const;
  // UserError naming the symbol if a value contradicts a fact; as sym::check_facts.
  void check(const Environment& environment) const;

  bool operator==(const Facts&) const = default;

 private:
  Facts& add(std::string_view name, const Row& row);
  Rows rows_;
};

// One text per set, rows by name: "i: 1 in 0.. below n, n: 16 in 16..2147483647, t = 4": a multiple in lo..hi, where a
// missing bound is unknown, or one value.
std::string print(const Facts& facts);
// Reads what `print` writes, in any order; several rows of one symbol are merged. Bad text is a UserError with column.
Facts parse_facts(std::string_view text);

}  // namespace plait::sym
