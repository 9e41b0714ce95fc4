#include "kir/parse_symbols.h"

#include <algorithm>

namespace plait::kir {

namespace {

constexpr int kMostLanes = 64;

}  // namespace

int lanes_in(std::string_view text) {
  int most = 1;
  for (size_t at = text.find('x'); at != std::string_view::npos; at = text.find('x', at + 1)) {
    const size_t space = at == 0 ? std::string_view::npos : text.rfind(' ', at);
    if (space == std::string_view::npos || space == 0 || text[space - 1] != ':') continue;
    if (!parse_dtype(text.substr(space + 1, at - space - 1))) continue;
    int lanes = 0;
    for (size_t i = at + 1; i < text.size() && text[i] >= '0' && text[i] <= '9' && lanes <= kMostLanes; ++i)
      lanes = 10 * lanes + (text[i] - '0');
    most = std::max(most, std::min(lanes, kMostLanes));
  }
  return most;
}

std::string SymbolReader::name() {
  std::string out = in_.word("a symbol");
  while (in_.peek() == '.' && in_.accept(".")) out += "." + in_.word("a part of a symbol");
  return out;
}

sym::Expr SymbolReader::integer(sym::Pool& pool, bool first) {
  const size_t at = in_.here();
  const std::string symbol = name();
  if (!first) return pool.symbol(symbol);
  order_.push_back(symbol);
  facts_.emplace(symbol, Row{implied_of_integer(), 0, at});
  return {};
}

void SymbolReader::fact(bool first) {
  Row row;
  row.at = in_.here();
  const std::string symbol = name();
  if (in_.accept("=")) {
    row.info.lo = row.info.hi = in_.integer("a value");
  } else {
    in_.expect(":", "or `=` after the symbol");
    row.info.multiple_of = in_.integer("what it is a multiple of", 1, INT64_MAX);
    in_.expect("in", "before the range");
    if (!in_.accept("..")) {
      row.info.lo = in_.integer("a lower bound or `..`");
      in_.expect("..", "after the lower bound");
    }
    const char next = in_.peek();
    if (next == '-' || (next >= '0' && next <= '9')) row.info.hi = in_.integer("an upper bound");
    if (in_.accept("below")) {
      row.below = in_.here();
      skip_expression();
    }
  }
  if (!first) return;
  if (std::find(order_.begin(), order_.end(), symbol) == order_.end()) order_.push_back(symbol);
  facts_[symbol] = row;
}

void SymbolReader::skip_expression() {
  sym::Pool none;
  in_.expression(none, "an expression");
}

// Numbers of all symbols first, then the bounds that speak of others.
void SymbolReader::state(sym::Pool& pool) {
  const size_t behind = in_.offset();
  for (const std::string& symbol : order_) {
    const Row& row = facts_.at(symbol);
    at_place(in_, row.at, [&] { return pool.symbol(symbol, row.info); });
  }
  for (const std::string& symbol : order_) {
    const Row& row = facts_.at(symbol);
    if (row.below == 0) continue;
    in_.rewind(row.below);
    const sym::Expr below = in_.known_expression(pool, "a bound");
    at_place(in_, row.at, [&] { return pool.symbol(symbol, {.below = below}); });
  }
  in_.rewind(behind);
}

}  // namespace plait::kir
