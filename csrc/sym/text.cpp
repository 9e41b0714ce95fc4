// Text form of expressions. Grammar, loosest first:
//   or := and {"or" and};  and := not {"and" not};  not := "not" not | comparison
//   comparison := sum [("<" | "<=" | ">" | ">=" | "==" | "!=") sum];  sum := ["-"] product {("+" | "-") product}
//   product := atom {"*" atom};  atom := number | name | function "(" or {"," or} ")" | "(" or ")" | "-" atom
#include <array>

#include "base/error.h"
#include "sym/node.h"

namespace plait::sym {
namespace {

enum Level : int { kOr, kAnd, kNot, kComparison, kSum, kProduct, kAtom };

void write(Expr e, int level, std::string& out);

void write_list(Expr e, const char* separator, int level, std::string& out) {
  bool first = true;
  for (Expr o : e.operands()) {
    if (!first) out += separator;
    first = false;
    write(o, level, out);
  }
}

void write_product(Expr e, std::string& out) {
  std::span<const Expr> o = e.operands();
  if (o[0].is_constant() && o[0].value() == -1) {
    out += '-';
    o = o.subspan(1);
  }
  bool first = true;
  for (Expr f : o) {
    if (!first) out += '*';
    first = false;
    write(f, kAtom, out);
  }
}

void write_sum(Expr e, std::string& out) {
  bool first = true;
  for (Expr t : e.operands()) {
    std::string text;
    write(t, kProduct, text);
    if (first) {
      out += text;
    } else if (text[0] == '-') {
      out += " - " + text.substr(1);
    } else {
      out += " + " + text;
    }
    first = false;
  }
}

int level_of(Expr e) {
  switch (e.kind()) {
    case Kind::add:
      return kSum;
    case Kind::mul:
      return kProduct;
    case Kind::lt:
    case Kind::le:
    case Kind::eq:
      return kComparison;
    case Kind::logical_and:
      return kAnd;
    case Kind::logical_not:
      if (e.operands()[0].kind() == Kind::eq) return kComparison;
      return e.operands()[0].kind() == Kind::logical_and ? kOr : kNot;
    default:
      return kAtom;
  }
}

void write_binary(Expr e, const char* sign, std::string& out) {
  write(e.operands()[0], kSum, out);
  out += sign;
  write(e.operands()[1], kSum, out);
}

void write_not(Expr e, std::string& out) {
  const Expr inner = e.operands()[0];
  if (inner.kind() == Kind::eq) return write_binary(inner, " != ", out);
  if (inner.kind() != Kind::logical_and) {
    out += "not ";
    return write(inner, kNot, out);
  }
  bool first = true;
  for (Expr o : inner.operands()) {
    if (!first) out += " or ";
    first = false;
    write(logical_not(o), kAnd, out);
  }
}

void write_call(Expr e, std::string& out) {
  out += kind_name(e.kind());
  out += '(';
  const bool piece = e.kind() == Kind::chunk || e.kind() == Kind::chunk_start;
  const size_t count = piece && e.operands()[3].value() == 1 ? 3 : e.operands().size();
  for (size_t i = 0; i < count; ++i) {
    if (i) out += ", ";
    write(e.operands()[i], kOr, out);
  }
  out += ')';
}

void write_plain(Expr e, std::string& out) {
  switch (e.kind()) {
    case Kind::constant:
      out += std::to_string(e.value());
      return;
    case Kind::symbol:
      out += e.symbol_name();
      return;
    case Kind::add:
      return write_sum(e, out);
    case Kind::mul:
      return write_product(e, out);
    case Kind::lt:
      return write_binary(e, " < ", out);
    case Kind::le:
      return write_binary(e, " <= ", out);
    case Kind::eq:
      return write_binary(e, " == ", out);
    case Kind::logical_and:
      return write_list(e, " and ", kNot, out);
    case Kind::logical_not:
      return write_not(e, out);
    case Kind::floordiv:
    case Kind::mod:
    case Kind::min:
    case Kind::max:
    case Kind::chunk:
    case Kind::chunk_start:
    case Kind::select:
      return write_call(e, out);
  }
}

void write(Expr e, int level, std::string& out) {
  const bool parentheses = level_of(e) < level;
  if (parentheses) out += '(';
  write_plain(e, out);
  if (parentheses) out += ')';
}

class Parser {
 public:
  Parser(Pool& pool, std::string_view text, const ParseOptions& options)
      : pool_(pool), text_(text), options_(options) {}

  Expr any() {
    if (++depth_ > kMaxDepth) fail("less nesting");
    std::vector<Expr> all{conjunction()};
    while (word("or")) all.push_back(conjunction());
    --depth_;
    if (all.size() == 1) return all[0];
    for (Expr& e : all) e = logical_not(e);
    return logical_not(and_of(pool_, all));
  }

  size_t position() const { return at_; }
  void end() {
    skip();
    if (at_ != text_.size()) fail("an operator or the end");
  }

 private:
  static constexpr int kMaxDepth = 400;

  [[noreturn]] void fail(std::string_view expected) {
    skip();
    const std::string found = at_ < text_.size() ? fmt::format("'{}'", text_.substr(at_, 1)) : std::string("the end");
    fail_at(fmt::format("expected {}, found {}", expected, found), at_);
  }
  [[noreturn]] void fail_at(const std::string& what, size_t at) {
    const std::string column = fmt::format("column {} of '{}'", at + 1, text_.substr(0, 200));
    throw UserError(what, options_.where.empty() ? column : options_.where + ", " + column,
                    "write a size expression such as floordiv(4*n + 3, 8)");
  }

  void skip() {
    constexpr std::string_view kBlanks = " \t\n\r";
    while (at_ < text_.size() && kBlanks.find(text_[at_]) != kBlanks.npos) ++at_;
  }
  bool take(std::string_view sign) {
    skip();
    if (text_.substr(at_, sign.size()) != sign) return false;
    at_ += sign.size();
    return true;
  }
  static bool name_char(char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' || c == '.';
  }
  // The name or number at the cursor; empty where there is none. `..` ends it: 0..v is a range.
  std::string_view peek_name() {
    skip();
    size_t end = at_;
    while (end < text_.size() && name_char(text_[end]) && text_.substr(end, 2) != "..") ++end;
    return text_.substr(at_, end - at_);
  }
  bool word(std::string_view w) {
    if (peek_name() != w) return false;
    at_ += w.size();
    return true;
  }

  Expr conjunction() {
    std::vector<Expr> all{negation()};
    while (word("and")) all.push_back(negation());
    return all.size() == 1 ? all[0] : and_of(pool_, all);
  }

  Expr negation() {
    bool negative = false, any_not = false;
    while (word("not")) negative = !negative, any_not = true;
    const Expr e = comparison();
    if (!any_not) return e;
    return negative ? logical_not(e) : logical_not(logical_not(e));
  }

  Expr comparison() {
    const Expr a = sum();
    if (take("<=")) return le(a, sum());
    if (take(">=")) return ge(a, sum());
    if (take("==")) return eq(a, sum());
    if (take("!=")) return ne(a, sum());
    if (take("<")) return lt(a, sum());
    if (take(">")) return gt(a, sum());
    return a;
  }

  Expr sum() {
    std::vector<Expr> all{product(take("-"))};
    while (true) {
      if (take("+")) {
        all.push_back(product(false));
      } else if (take("-")) {
        all.push_back(product(true));
      } else {
        return all.size() == 1 ? all[0] : sum_of(pool_, all);
      }
    }
  }

  Expr product(bool negative) {
    std::vector<Expr> all{atom(negative)};
    while (take("*")) all.push_back(atom(false));
    return all.size() == 1 ? all[0] : product_of(pool_, all);
  }

  Expr atom(bool negative) {
    while (take("-")) negative = !negative;
    const std::string_view name = peek_name();
    if (!name.empty() && name[0] >= '0' && name[0] <= '9') return number(name, negative);
    Expr e;
    if (!name.empty()) {
      e = named(name);
    } else if (take("(")) {
      e = any();
      if (!take(")")) fail("')'");
    } else {
      fail("a number, a name or '('");
    }
    return negative ? -e : e;
  }

  Expr number(std::string_view digits, bool negative) {
    Wide v = 0;
    for (char c : digits) {
      if (c < '0' || c > '9') fail_at(fmt::format("malformed number '{}'", digits.substr(0, 40)), at_);
      v = v * 10 + (c - '0');
      if (v > Wide(INT64_MAX) + (negative ? 1 : 0))
        fail_at(fmt::format("number {}{} is past 64 bits", digits.substr(0, 40), digits.size() > 40 ? "..." : ""), at_);
    }
    at_ += digits.size();
    return pool_.constant(static_cast<int64_t>(negative ? -v : v));
  }

  Expr named(std::string_view name) {
    const size_t start = at_;
    if (!is_word(name)) {
      Expr e = pool_.find_symbol(name);
      if (!e && !options_.create_symbols) fail_at(fmt::format("unknown symbol '{}'", name), start);
      if (!e) {
        try {
          e = pool_.symbol(name);
        } catch (const UserError& error) {
          fail_at(fmt::format("{}: '{}'", error.message(), name), start);
        }
      }
      at_ += name.size();
      return e;
    }
    if (name == "and" || name == "or" || name == "not") fail("a number, a name or '('");
    at_ += name.size();
    if (!take("(")) fail(fmt::format("'(' after {}", name));
    std::vector<Expr> a{any()};
    while (take(",")) a.push_back(any());
    if (!take(")")) fail("',' or ')'");
    return call(name, a, start);
  }

  Expr call(std::string_view name, const std::vector<Expr>& a, size_t start) {
    auto need = [&](size_t lo, size_t hi) {
      if (a.size() < lo || a.size() > hi)
        fail_at(fmt::format("{} takes {} operands, found {}", name, hi == SIZE_MAX ? "2 or more" : std::to_string(lo),
                            a.size()),
                start);
    };
    if (name == "min" || name == "max") {
      need(2, SIZE_MAX);
      return extremum_of(name == "min" ? Kind::min : Kind::max, a);
    }
    if (name == "chunk" || name == "chunk_start") {
      need(3, 4);
      if (a.size() == 4 && !a[3].is_constant()) fail_at("the granule of a chunk must be a number", start);
      const int64_t granule = a.size() == 4 ? a[3].value() : 1;
      return name == "chunk" ? chunk(a[0], a[1], a[2], granule) : chunk_start(a[0], a[1], a[2], granule);
    }
    if (name == "select") {
      need(3, 3);
      return select(a[0], a[1], a[2]);
    }
    need(2, 2);
    return name == "mod" ? mod(a[0], a[1]) : name == "ceildiv" ? ceildiv(a[0], a[1]) : floordiv(a[0], a[1]);
  }

  Pool& pool_;
  const std::string_view text_;
  const ParseOptions& options_;
  size_t at_ = 0;
  int depth_ = 0;
};

}  // namespace

std::string print(Expr expr) {
  if (!expr) return "null";
  std::string out;
  write(expr, kOr, out);
  return out;
}

Expr parse(Pool& pool, std::string_view text, const ParseOptions& options) {
  Parser parser(pool, text, options);
  const Expr e = parser.any();
  parser.end();
  return e;
}

Expr parse_prefix(Pool& pool, std::string_view& text, const ParseOptions& options) {
  Parser parser(pool, text, options);
  const Expr e = parser.any();
  text.remove_prefix(parser.position());
  return e;
}

}  // namespace plait::sym
