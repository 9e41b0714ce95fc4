#pragma once
// What the text of a kernel says of its symbols: integers in the head, facts behind `given`.
#include <map>
#include <string>
#include <vector>

#include "base/error.h"
#include "kir/facts.h"
#include "sym/text_reader.h"

namespace plait::kir {

// Runs fn; a UserError without a position gets that of `at`.
template <class Fn>
auto at_place(TextReader& in, size_t at, Fn&& fn) -> decltype(fn()) {
  try {
    return fn();
  } catch (const UserError& e) {
    in.fail_at(at, e.message(), e.remedy());
  }
}

// The most lanes of a type in the text: what stands behind the x of `f32x8`.
int lanes_in(std::string_view text);

// Reads them twice, since what is stated of a symbol may speak of others: the `first` time facts are collected, and
// stated to the pool at the end of the head.
class SymbolReader {
 public:
  explicit SymbolReader(TextReader& in) : in_(in) {}

  std::string name();                              // `n`, `rank.tp`
  sym::Expr integer(sym::Pool& pool, bool first);  // an argument; null the first time
  void fact(bool first);                           // `n: 16 in 16..4096`, `i: 1 in 0.. below n`, `n = 4`
  void skip_expression();                          // to what ends it
  void state(sym::Pool& pool);
  bool knows(std::string_view symbol) const { return facts_.contains(std::string(symbol)); }

 private:
  // At offset `at`; `below`, where there is one, is an expression at that offset.
  struct Row {
    sym::SymbolInfo info = {};
    size_t below = 0, at = 0;
  };

  TextReader& in_;
  std::vector<std::string> order_;
  std::map<std::string, Row> facts_;
};

}  // namespace plait::kir
