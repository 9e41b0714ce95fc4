// Facts as a value. Merging is the pool's (S30, S32), so that a set and a pool that took it know the same.
#include "sym/facts.h"

#include <charconv>

#include "base/error.h"
#include "sym/node.h"

namespace plait::sym {
namespace {

SymbolInfo numbers(const Facts::Row& row) { return {row.lo, row.hi, row.multiple_of, {}}; }

// The lower one of two bounds, in a pool without facts: one text whatever is known elsewhere.
std::string lower_text(const std::string& a, const std::string& b) {
  if (a.empty() || b.empty()) return a + b;
  Pool pool;
  return print(min(parse(pool, a), parse(pool, b)));
}

class Reader {
 public:
  explicit Reader(std::string_view text) : text_(text), rest_(text) {}

  Facts read() {
    Facts facts;
    skip();
    while (!rest_.empty()) {
      row(facts);
      if (rest_.empty()) break;
      if (!take(",")) fail("',' or the end");
      if (rest_.empty()) fail("a symbol");
    }
    return facts;
  }

 private:
  void row(Facts& facts) {
    const std::string name(word());
    if (name.empty()) fail("a symbol");
    if (take("=")) {
      facts.pin(name, number());
      return;
    }
    if (!take(":")) fail("':' or '='");
    SymbolInfo info;
    info.multiple_of = number();
    if (word() != "in") fail("`in`");
    if (!starts("..")) info.lo = number();
    if (!take("..")) fail("'..'");
    if (starts("-") || digit()) info.hi = number();
    Pool pool;
    const std::string_view before = rest_;
    if (word() == "below") {
      info.below = parse_prefix(pool, rest_, {.where = "facts"});
      skip();
    } else {
      rest_ = before;
    }
    facts.state(name, info);
  }

  [[noreturn]] void fail(const char* expected) {
    throw UserError(fmt::format("expected {}, found {}", expected,
                                rest_.empty() ? "the end" : fmt::format("'{}'", rest_.substr(0, 1))),
                    fmt::format("facts, column {} of '{}'", text_.size() - rest_.size() + 1, text_.substr(0, 200)),
                    "write facts such as n: 16 in 16..4096, i: 1 in 0.. below n");
  }

  void skip() {
    while (!rest_.empty() && (rest_[0] == ' ' || rest_[0] == '\t' || rest_[0] == '\n')) rest_.remove_prefix(1);
  }
  bool starts(std::string_view sign) const { return rest_.substr(0, sign.size()) == sign; }
  bool digit() const { return !rest_.empty() && rest_[0] >= '0' && rest_[0] <= '9'; }
  bool take(std::string_view sign) {
    if (!starts(sign)) return false;
    rest_.remove_prefix(sign.size());
    skip();
    return true;
  }
  std::string_view word() {
    size_t size = 0;
    const auto part = [](char c) {
      return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' || c == '.';
    };
    while (size < rest_.size() && part(rest_[size])) ++size;
    const std::string_view out = rest_.substr(0, size);
    rest_.remove_prefix(size);
    skip();
    return out;
  }
  int64_t number() {
    int64_t value = 0;
    const auto [end, error] = std::from_chars(rest_.data(), rest_.data() + rest_.size(), value);
    if (error != std::errc()) fail("a number of 64 bits");
    rest_.remove_prefix(static_cast<size_t>(end - rest_.data()));
    skip();
    return value;
  }

  const std::string_view text_;
  std::string_view rest_;
};

}  // namespace

Facts& Facts::add(std::string_view name, const Row& row) {
  Row known, out;
  const auto old = rows_.find(name);
  if (old != rows_.end()) known = old->second;
  check_symbol(name, numbers(row));
  SymbolInfo info = numbers(known);
  refine(info, numbers(row));
  check_consistent(name, info);
  const Bounds range = stated_range(info);
  if (range.lo != INT64_MIN) out.lo = range.lo;
  if (range.hi != INT64_MAX) out.hi = range.hi;
  out.multiple_of = range.lo == range.hi ? 1 : info.multiple_of;
  out.below = lower_text(known.below, row.below);
  if (out == Row()) return *this;
  rows_.insert_or_assign(std::string(name), std::move(out));
  return *this;
}

Facts& Facts::state(std::string_view name, const SymbolInfo& info) {
  return add(name, {info.lo, info.hi, info.multiple_of, info.below ? print(info.below) : std::string()});
}

Facts& Facts::pin(std::string_view name, int64_t value) { return add(name, {value, value, 1, {}}); }

Facts& Facts::merge(const Facts& other) {
  for (const auto& [name, row] : other.rows_) add(name, row);
  return *this;
}

Facts Facts::of(const Pool& pool) {
  Facts facts;
  for (const auto& [name, node] : pool.impl().symbols) facts.state(name, node->symbol->info);
  return facts;
}

void Facts::apply(Pool& pool) const {
  // Numbers first: bounds are read with all of them.
  for (const auto& [name, row] : rows_) pool.symbol(name, numbers(row));
  for (const auto& [name, row] : rows_)
    if (!row.below.empty()) pool.symbol(name, {.below = parse(pool, row.below)});
}

// S38.
bool Facts::implies(const Facts& other) const {
  Pool pool;
  apply(pool);
  for (const auto& [name, row] : other.rows_) {
    const Expr symbol = pool.symbol(name);
    const Bounds range = bounds(symbol);
    if ((row.lo && range.lo < *row.lo) || (row.hi && range.hi > *row.hi)) return false;
    const bool one = range.lo == range.hi && range.lo % row.multiple_of == 0;
    if (!one && divisor_of(symbol.node()) % row.multiple_of != 0) return false;
    if (!row.below.empty() && !proven(lt(symbol, parse(pool, row.below)))) return false;
  }
  return true;
}

void Facts::check(const Environment& environment) const {
  Pool pool;
  apply(pool);
  check_facts(pool, environment);
}

std::string print(const Facts& facts) {
  std::string out;
  for (const auto& [name, row] : facts.rows()) {
    if (!out.empty()) out += ", ";
    if (row.lo && row.lo == row.hi) {
      out += fmt::format("{} = {}", name, *row.lo);
      if (!row.below.empty()) out += fmt::format(", {}: 1 in ..", name);
    } else {
      out += fmt::format("{}: {} in {}..{}", name, row.multiple_of, row.lo ? std::to_string(*row.lo) : "",
                         row.hi ? std::to_string(*row.hi) : "");
    }
    if (!row.below.empty()) out += " below " + row.below;
  }
  return out;
}

Facts parse_facts(std::string_view text) { return Reader(text).read(); }

}  // namespace plait::sym
