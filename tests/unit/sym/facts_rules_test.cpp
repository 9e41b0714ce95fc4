// The rules about facts, bounds, divisors and proofs (S23 to S38, docs/math.md), over all small values of their
// variables.
#include <numeric>

#include "base/error.h"
#include "sym/facts.h"
#include "unit/sym/claims.h"

namespace plait::sym::testing {
namespace {

const Variable kX{"x", "-9", "9", "1", false};
const Variable kN{"n", "1", "5"};
const Variable kJ{"j", "0", "n - 1"};

struct Interval {
  int64_t lo, hi;
};
std::vector<Interval> intervals(int64_t lo, int64_t hi) {
  std::vector<Interval> out;
  for (int64_t a = lo; a <= hi; ++a)
    for (int64_t b = a; b <= hi; ++b) out.push_back({a, b});
  return out;
}

// For all intervals of two symbols: the bounds of the expression enclose its values, and are attained where `tight`.
void check_bounds(const char* text, int64_t from_x, int64_t from_y, int64_t to, bool tight) {
  const Tree tree = tree_of(text);
  for (const Interval& a : intervals(from_x, to))
    for (const Interval& b : intervals(from_y, to)) {
      Pool pool;
      pool.symbol("x", {.lo = a.lo, .hi = a.hi});
      pool.symbol("y", {.lo = b.lo, .hi = b.hi});
      const Expr e = build(pool, tree);
      const Bounds found = bounds(e);
      int64_t least = INT64_MAX, most = INT64_MIN;
      for (int64_t x = a.lo; x <= a.hi; ++x)
        for (int64_t y = b.lo; y <= b.hi; ++y) {
          const std::optional<int64_t> v = naive(tree, {{"x", x}, {"y", y}});
          if (!v) continue;
          least = std::min(least, *v);
          most = std::max(most, *v);
          ASSERT_EQ(evaluate(e, {{"x", x}, {"y", y}}), *v) << text;
        }
      if (least > most) continue;
      ASSERT_TRUE(found.lo <= least && most <= found.hi) << text << " " << found.lo << ".." << found.hi;
      if (!tight) continue;
      ASSERT_TRUE(found.lo == least && most == found.hi) << text << " " << found.lo << ".." << found.hi;
    }
}

TEST(SymTheorem, S23SumsAndProducts) {
  check_bounds("x*y", -4, -4, 4, true);
  check_bounds("3*x - 2*y + 1", -3, -3, 3, true);
  check_bounds("x*x - y", -4, -2, 4, false);
}

TEST(SymTheorem, S24Quotients) {
  check_bounds("floordiv(x, y)", -6, -1, 6, true);
  check_bounds("floordiv(x - 2*y, y + 3)", -4, -2, 4, false);
}

TEST(SymTheorem, S25Remainders) {
  check_bounds("mod(x, y)", -6, -1, 6, false);
  for (int64_t lo = 0; lo <= 8; ++lo)
    for (int64_t hi = lo; hi <= 8; ++hi)
      for (int64_t d = 1; d <= 9; ++d) {
        Pool pool;
        const Bounds b = bounds(mod(pool.symbol("x", {.lo = lo, .hi = hi}), d));
        EXPECT_LE(b.hi, std::min(hi, d - 1));
        EXPECT_GE(b.lo, 0);
      }
}

TEST(SymTheorem, S26ChoicesAndConditions) {
  check_bounds("min(x, y)", -4, -4, 4, true);
  check_bounds("max(x, y)", -4, -4, 4, true);
  check_bounds("select(x*x == 4, y, 2*x)", -3, -3, 3, false);
  check_bounds("x*x < y", -3, -3, 3, false);
  check_bounds("x == y and not x*y == 1", -3, -3, 3, false);
}

TEST(SymTheorem, S27Pieces) {
  for (int64_t granule = 1; granule <= 3; ++granule)
    for (int64_t most = 0; most <= 12; ++most)
      for (int64_t least = 1; least <= 4; ++least) {
        Pool pool;
        const Expr n = pool.symbol("n", {.lo = 0, .hi = most}), p = pool.symbol("p", {.lo = least, .hi = 5});
        const Expr r = pool.symbol("r", {.lo = 0, .below = p});
        const Bounds size = bounds(chunk(n, p, r, granule)), start = bounds(chunk_start(n, p, r, granule));
        const Tree size_tree = tree_of("chunk(n, p, r, g)", {{"g", granule}});
        const Tree start_tree = tree_of("chunk_start(n, p, r, g)", {{"g", granule}});
        int64_t largest = 0;
        Environment env;
        for (env["n"] = 0; env["n"] <= most; ++env["n"])
          for (env["p"] = least; env["p"] <= 5; ++env["p"])
            for (env["r"] = 0; env["r"] < env["p"]; ++env["r"]) {
              const int64_t v = *naive(size_tree, env), at = *naive(start_tree, env);
              largest = std::max(largest, v);
              ASSERT_TRUE(size.lo <= v && v <= size.hi);
              ASSERT_TRUE(start.lo <= at && at <= start.hi);
            }
        EXPECT_EQ(size.hi, largest);
      }
}

TEST(SymTheorem, S28CommonDivisors) {
  for (int64_t a = 1; a <= 8; ++a)
    for (int64_t b = 1; b <= 8; ++b) {
      Pool pool;
      const Expr x = pool.symbol("x", {.multiple_of = a}), y = pool.symbol("y", {.multiple_of = b});
      const Expr positive = pool.symbol("d", {.lo = 1, .multiple_of = b});
      const int64_t g = std::gcd(a, b);
      EXPECT_EQ(divisor(x + y), g);
      EXPECT_EQ(divisor(max(x, y)), g);
      EXPECT_EQ(divisor(select(pool.symbol("c"), x, y)), g);
      EXPECT_EQ(divisor(mod(x, positive)), g);
      EXPECT_EQ(divisor(chunk(x, pool.symbol("p"), pool.symbol("r"), b)), g);
      for (const char* text : {"x + y", "x - 3*y", "min(x, y)", "select(z, x, y)", "mod(x, y)", "chunk(x, 3, z, 2)"}) {
        const Tree tree = tree_of(text);
        Environment env;
        for (env["x"] = -3 * a; env["x"] <= 3 * a; env["x"] += a)
          for (env["y"] = -3 * b; env["y"] <= 3 * b; env["y"] += b)
            for (env["z"] = 0; env["z"] < 3; ++env["z"]) check_at(build(pool, tree), tree, env);
      }
    }
}

TEST(SymTheorem, S29ProductsAndExactQuotients) {
  for (int64_t a = 1; a <= 6; ++a)
    for (int64_t b = 1; b <= 6; ++b) {
      Pool pool;
      const Expr x = pool.symbol("x", {.multiple_of = a}), y = pool.symbol("y", {.multiple_of = b});
      EXPECT_EQ(divisor(x * y * 3), 3 * a * b);
      EXPECT_EQ(divisor(floordiv(x, b)), a % b == 0 ? a / b : 1);
      for (const char* text : {"x*y", "floordiv(x, 2)", "floordiv(x, 3)*y", "floordiv(2*x*y, 4)"}) {
        const Tree tree = tree_of(text);
        Environment env;
        for (env["x"] = -4 * a; env["x"] <= 4 * a; env["x"] += a)
          for (env["y"] = -4 * b; env["y"] <= 4 * b; env["y"] += b) check_at(build(pool, tree), tree, env);
      }
    }
}

TEST(SymTheorem, S30BoundsMoveToMultiples) {
  for (const Interval& r : intervals(-9, 9))
    for (int64_t m = 1; m <= 6; ++m) {
      std::vector<int64_t> values;
      for (int64_t v = r.lo; v <= r.hi; ++v)
        if (v % m == 0) values.push_back(v);
      Pool pool;
      if (values.empty()) {
        EXPECT_THROW(pool.symbol("x", {.lo = r.lo, .hi = r.hi, .multiple_of = m}), UserError);
        continue;
      }
      const Bounds b = bounds(pool.symbol("x", {.lo = r.lo, .hi = r.hi, .multiple_of = m}));
      EXPECT_TRUE(b.lo == values.front() && b.hi == values.back());
    }
}

TEST(SymTheorem, S31BelowLowersTheUpperBound) {
  for (int64_t hi = 0; hi <= 9; ++hi)
    for (int64_t below = 1; below <= 9; ++below)
      for (int64_t m = 1; m <= 3; ++m) {
        Pool pool;
        const Expr n = pool.symbol("n", {.lo = 1, .hi = below});
        const Expr i = pool.symbol("i", {.lo = 0, .hi = hi, .multiple_of = m, .below = 2 * n - 1});
        int64_t most = 0;
        for (int64_t v = 0; v <= hi && v < 2 * below - 1; v += m) most = v;
        EXPECT_EQ(bounds(i).hi, most);
        EXPECT_TRUE(proven(lt(i, 2 * n - 1)));
      }
}

// Facts of one number, stated in two steps and in either order, allow what both allow.
TEST(SymTheorem, S32FactsAreIntersected) {
  std::vector<SymbolInfo> all;
  for (int64_t lo = -3; lo <= 3; lo += 2)
    for (int64_t hi = lo; hi <= 5; hi += 2)
      for (int64_t m = 1; m <= 4; ++m) all.push_back({lo, hi, m, {}});
  const auto allows = [](const SymbolInfo& f, int64_t v) { return v >= *f.lo && v <= *f.hi && v % f.multiple_of == 0; };
  for (const SymbolInfo& a : all)
    for (const SymbolInfo& b : all) {
      std::vector<int64_t> both, found;
      for (int64_t v = -6; v <= 6; ++v)
        if (allows(a, v) && allows(b, v)) both.push_back(v);
      try {
        Pool pool;
        pool.symbol("x", a);
        const Expr x = pool.symbol("x", b);
        Facts first, second;
        first.state("x", a).state("x", b);
        second.state("x", b).state("x", a);
        EXPECT_EQ(print(first), print(second));
        for (int64_t v = -6; v <= 6; ++v) {
          try {
            check_facts(pool, {{"x", v}});
            found.push_back(v);
            EXPECT_TRUE(bounds(x).lo <= v && v <= bounds(x).hi && v % divisor(x) == 0);
            EXPECT_NO_THROW(first.check({{"x", v}}));
          } catch (const UserError&) {
            EXPECT_THROW(first.check({{"x", v}}), UserError);
          }
        }
      } catch (const UserError&) {
        EXPECT_TRUE(both.empty());
      }
      ASSERT_EQ(found, both);
    }
}

void proof(const char* condition, std::vector<Variable> numbers, std::vector<Variable> symbols,
           const char* only = "1") {
  check_proof({condition, "1", std::move(numbers), std::move(symbols), only, false});
}

TEST(SymTheorem, S33AtomsAreReplacedByBounds) {
  proof("k*j + c <= k*n + c", {{"k", "0", "3"}, {"c", "-2", "2"}}, {kN, kJ});
  proof("j*j <= n*n - n", {}, {kN, kJ});
  proof("x - k*j >= x - k*n + k", {{"k", "0", "3"}}, {kN, kJ, kX});
  proof("n*j + i <= n*n - 1 + 5", {}, {kN, kJ, {"i", "0", "5"}});
}

TEST(SymTheorem, S34BoundsOfAtoms) {
  proof("mod(x, n) < n", {}, {kN, kX});
  proof("mod(x, n) <= x", {}, {kN, {"x", "0", "12"}});
  proof("min(x, y) <= x + c", {{"c", "0", "3"}}, {kX, {"y", "-4", "4", "1", false}});
  proof("max(x, y) + c >= x", {{"c", "0", "3"}}, {kX, {"y", "-4", "4", "1", false}});
  proof("chunk(x, n, j, g) + chunk_start(x, n, j, g) <= x", {{"g", "1", "3"}}, {kN, kJ, {"x", "0", "12"}});
  proof("chunk_start(x, n, j, g) <= x", {{"g", "1", "3"}}, {kN, kJ, {"x", "0", "12"}});
  proof("chunk_start(x, n, j, g) + i < x", {{"g", "1", "3"}},
        {kN, kJ, {"x", "0", "9"}, {"i", "0", "chunk(x, n, j, g) - 1"}});
}

TEST(SymTheorem, S35QuotientsTimesTheirDivisor) {
  proof("d*floordiv(x, d) <= x", {{"d", "1", "5"}}, {kX});
  proof("d*floordiv(x, d) > x - d", {{"d", "1", "5"}}, {kX});
  proof("n*floordiv(x, n) <= x", {}, {kN, kX});
  proof("x <= n*ceildiv(x, n)", {}, {kN, kX});
  proof("floordiv(k, m) < n", {}, {kN, {"m", "1", "4"}, {"k", "0", "n*m - 1"}});
}

TEST(SymTheorem, S36ChoicesAreTheirBranches) {
  proof("min(x, y) + max(x, y) <= x + y + c", {{"c", "8", "8"}}, {{"x", "-4", "4"}, {"y", "-4", "4"}});
  proof("select(x < 3, j, n - 1) < n", {}, {kN, kJ, kX});
  proof("min(j, n - j) <= n", {}, {kN, kJ});
}

TEST(SymTheorem, S37Conditions) {
  // Each condition with its negation, over symbols for which it is always true, never true, or open.
  for (const char* text : {"x < y", "x <= y", "x == y", "x < y and x == 1", "x < y or x == 1",
                           "select(x == 1, x < y, y > 2)", "not (x == y and x < 2)"}) {
    const Tree tree = tree_of(text), opposite = tree_of("not (" + std::string(text) + ")");
    for (const Interval& a : intervals(-1, 3))
      for (const Interval& b : intervals(-1, 3)) {
        Pool pool;
        pool.symbol("x", {.lo = a.lo, .hi = a.hi});
        pool.symbol("y", {.lo = b.lo, .hi = b.hi});
        const Truth truth = prove(build(pool, tree)), other = prove(build(pool, opposite));
        EXPECT_TRUE((truth == Truth::yes) == (other == Truth::no) && (truth == Truth::no) == (other == Truth::yes));
        if (truth == Truth::unknown) continue;
        for (int64_t x = a.lo; x <= a.hi; ++x)
          for (int64_t y = b.lo; y <= b.hi; ++y)
            ASSERT_EQ(*naive(tree, {{"x", x}, {"y", y}}) != 0, truth == Truth::yes) << text;
      }
  }
}

TEST(SymTheorem, S38OneSetOfFactsImpliesAnother) {
  std::vector<Facts> sets;
  for (int64_t lo : {-2, 0, 1, 4})
    for (int64_t hi : {4, 5, 8})
      for (int64_t m : {1, 2, 4})
        for (const char* below : {"", "n", "2*n"}) {
          Pool pool;
          pool.symbol("n", {.lo = 1, .hi = 5});
          Facts f;
          f.state("x", {lo, hi, m, *below ? parse(pool, below) : Expr()});
          if (*below == '2') f.state("n", {.lo = 1, .hi = 5});
          sets.push_back(std::move(f));
        }
  const auto satisfies = [](const Facts& f, const Environment& env) {
    try {
      f.check(env);
      return true;
    } catch (const UserError&) {
      return false;
    }
  };
  std::vector<std::vector<bool>> table;
  for (const Facts& f : sets) {
    table.emplace_back();
    for (int64_t x = -3; x <= 9; ++x)
      for (int64_t n = 0; n <= 6; ++n) table.back().push_back(satisfies(f, {{"x", x}, {"n", n}}));
  }
  int implied = 0;
  for (size_t a = 0; a < sets.size(); ++a) {
    EXPECT_TRUE(sets[a].implies(sets[a])) << print(sets[a]);
    for (size_t b = 0; b < sets.size(); ++b) {
      if (!sets[a].implies(sets[b])) continue;
      ++implied;
      for (size_t i = 0; i < table[a].size(); ++i)
        ASSERT_TRUE(!table[a][i] || table[b][i]) << print(sets[a]) << " | " << print(sets[b]);
    }
  }
  EXPECT_GT(implied, static_cast<int>(sets.size()) * 4);
}

}  // namespace
}  // namespace plait::sym::testing
