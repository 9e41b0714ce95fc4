#pragma once
// Theorems as text, checked over all small values of their variables by an evaluator that shares no code with csrc/sym.
#include <gtest/gtest.h>

#include <functional>

#include "unit/sym/random_expr.h"

namespace plait::sym::testing {

// Reads the grammar of sym/text.cpp into a tree. Names of `numbers` become constants.
class TreeReader {
 public:
  TreeReader(std::string_view text, const Environment& numbers) : text_(text), numbers_(numbers) {}
  Tree read() {
    const Tree t = either();
    if (!text_.empty()) ADD_FAILURE() << "unread: " << text_;
    return t;
  }

 private:
  static Tree node(char op, std::vector<Tree> kids) { return Tree{op, 0, "", std::move(kids)}; }
  void skip() {
    while (!text_.empty() && text_[0] == ' ') text_.remove_prefix(1);
  }
  bool take(std::string_view sign) {
    if (text_.substr(0, sign.size()) != sign) return false;
    text_.remove_prefix(sign.size());
    skip();
    return true;
  }
  Tree either() {
    Tree t = both();
    while (take("or ")) t = node('|', {t, both()});
    return t;
  }
  Tree both() {
    Tree t = opposite();
    while (take("and ")) t = node('&', {t, opposite()});
    return t;
  }
  Tree opposite() { return take("not ") ? node('~', {opposite()}) : comparison(); }
  Tree comparison() {
    const Tree a = sum();
    if (take("<=")) return node('l', {a, sum()});
    if (take(">=")) return node('l', {sum(), a});
    if (take("==")) return node('=', {a, sum()});
    if (take("!=")) return node('!', {a, sum()});
    if (take("<")) return node('<', {a, sum()});
    if (take(">")) return node('<', {sum(), a});
    return a;
  }
  Tree sum() {
    Tree t = product();
    while (true) {
      if (take("+")) {
        t = node('+', {t, product()});
      } else if (take("-")) {
        t = node('-', {t, product()});
      } else {
        return t;
      }
    }
  }
  Tree product() {
    Tree t = atom();
    while (take("*")) t = node('*', {t, atom()});
    return t;
  }
  Tree atom() {
    if (take("-")) return node('-', {Tree{}, atom()});
    if (take("(")) {
      Tree t = either();
      EXPECT_TRUE(take(")")) << text_;
      return t;
    }
    size_t size = 0;
    while (size < text_.size() && (std::isalnum(static_cast<unsigned char>(text_[size])) || text_[size] == '_')) ++size;
    const std::string name(text_.substr(0, size));
    text_.remove_prefix(size);
    skip();
    if (name.empty()) {
      ADD_FAILURE() << "a name is missing before '" << text_ << "'";
      text_ = {};
      return Tree{};
    }
    if (std::isdigit(static_cast<unsigned char>(name[0]))) return Tree{'c', std::stoll(name), "", {}};
    if (take("(")) return call(name);
    const auto number = numbers_.find(name);
    return number == numbers_.end() ? Tree{'s', 0, name, {}} : Tree{'c', number->second, "", {}};
  }
  Tree call(const std::string& name) {
    std::vector<Tree> a{either()};
    while (take(",")) a.push_back(either());
    EXPECT_TRUE(take(")")) << text_;
    const Tree one{'c', 1, "", {}};
    if (name == "floordiv") return node('/', a);
    if (name == "mod") return node('%', a);
    if (name == "ceildiv") return node('/', {node('-', {node('+', a), one}), a[1]});
    if (name == "select") return node('?', a);
    if (name == "chunk" || name == "chunk_start") {
      const int64_t granule = a.size() == 4 ? a[3].value : 1;
      a.resize(3);
      return Tree{name == "chunk" ? 'C' : 'S', granule, "", a};
    }
    EXPECT_TRUE(name == "min" || name == "max") << name;
    Tree t = a[0];
    for (size_t i = 1; i < a.size(); ++i) t = node(name == "min" ? 'm' : 'M', {t, a[i]});
    return t;
  }

  std::string_view text_;
  const Environment& numbers_;
};

inline Tree tree_of(std::string_view text, const Environment& numbers = {}) { return TreeReader(text, numbers).read(); }

// A variable and all of its values. Bounds and `multiple` are texts over the variables before it. A symbol's bounds are
// stated as facts: numbers where they have a value without symbols, else `below` hi + 1; an empty bound is not stated,
// and `values` lo..hi are taken.
struct Variable {
  const char* name;
  const char* lo;
  const char* hi;
  const char* multiple = "1";
  bool stated = true;
};

inline int64_t number(const char* text, const Environment& env) {
  const std::optional<int64_t> v = naive(tree_of(text, env), {});
  EXPECT_TRUE(v) << text;
  return v.value_or(0);
}

// Calls back for every assignment of the variables.
inline void for_all(std::span<const Variable> variables, Environment& env, const std::function<void()>& body) {
  if (variables.empty()) return body();
  const Variable& v = variables[0];
  const int64_t hi = number(v.hi, env), step = number(v.multiple, env);
  for (int64_t x = number(v.lo, env); x <= hi; ++x) {
    if (x % step != 0) continue;
    env[v.name] = x;
    for_all(variables.subspan(1), env, body);
  }
  env.erase(v.name);
}

inline bool has_symbols(const Tree& t) {
  return t.op == 's' || std::any_of(t.kids.begin(), t.kids.end(), [](const Tree& k) { return has_symbols(k); });
}

inline void state_facts(Pool& pool, std::span<const Variable> symbols, const Environment& numbers) {
  for (const Variable& v : symbols) {
    if (!v.stated) continue;
    SymbolInfo info;
    info.lo = number(v.lo, numbers);
    info.multiple_of = number(v.multiple, numbers);
    const Tree hi = tree_of(v.hi, numbers);
    if (has_symbols(hi)) {
      info.below = build(pool, hi) + 1;
    } else {
      info.hi = naive(hi, {});
    }
    pool.symbol(v.name, info);
  }
}

// What every expression promises at one assignment.
inline void check_at(Expr e, const Tree& written, const Environment& env) {
  const std::optional<int64_t> v = naive(written, env);
  if (!v) return;
  ASSERT_EQ(evaluate(e, env), *v) << print(e);
  const Bounds b = bounds(e);
  ASSERT_TRUE(b.lo <= *v && *v <= b.hi) << print(e) << " in " << b.lo << ".." << b.hi << " is " << *v;
  const int64_t d = divisor(e);
  ASSERT_TRUE(d == 0 ? *v == 0 : *v % d == 0) << print(e) << " by " << d << " is " << *v;
}

// `written` equals `result` for all numbers (constants of the text) that satisfy `only`, and all values of the symbols;
// both are built and checked. With `one_node` they are one node too.
struct Claim {
  const char* written;
  const char* result;
  std::vector<Variable> numbers;
  std::vector<Variable> symbols;
  const char* only = "1";
  bool one_node = true;
};

inline void check_claim(const Claim& claim) {
  int64_t seen = 0;
  Environment numbers;
  for_all(claim.numbers, numbers, [&] {
    if (::testing::Test::HasFatalFailure() || number(claim.only, numbers) == 0) return;
    Pool pool;
    state_facts(pool, claim.symbols, numbers);
    const Tree left = tree_of(claim.written, numbers), right = tree_of(claim.result, numbers);
    const Expr a = build(pool, left), b = build(pool, right);
    std::string values;
    for (const auto& [name, value] : numbers) values += name + "=" + std::to_string(value) + " ";
    if (claim.one_node) {
      EXPECT_TRUE(a == b) << claim.written << ": " << print(a) << ", not " << print(b) << ", " << values;
    }
    const Truth truth = prove(a);
    Environment env = numbers;
    for_all(claim.symbols, env, [&] {
      if (::testing::Test::HasFatalFailure()) return;
      const std::optional<int64_t> v = naive(left, env);
      if (!v) return;
      ++seen;
      ASSERT_EQ(naive(right, env), v) << claim.written << " is not " << claim.result << " " << values;
      check_at(a, left, env);
      check_at(b, right, env);
      ASSERT_TRUE(truth == Truth::unknown || (truth == Truth::yes) == (*v != 0)) << print(a);
    });
  });
  EXPECT_GT(seen, 0) << claim.written;
}

// A condition that is proven for all numbers, and true for all values.
inline void check_proof(const Claim& claim) {
  check_claim(claim);
  Environment numbers;
  for_all(claim.numbers, numbers, [&] {
    if (number(claim.only, numbers) == 0) return;
    Pool pool;
    state_facts(pool, claim.symbols, numbers);
    const Expr condition = build(pool, tree_of(claim.written, numbers));
    EXPECT_TRUE(proven(condition)) << print(condition);
  });
}

}  // namespace plait::sym::testing
