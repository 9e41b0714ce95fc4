// Each numbered rule of simplify.cpp: the form it promises, and its values over all small assignments.
#include <gtest/gtest.h>

#include "sym/quotient.h"
#include "unit/sym/random_expr.h"

namespace plait::sym::testing {
namespace {

class SymRules : public ::testing::Test {
 protected:
  SymRules() { declare(pool); }
  Expr s(const char* name) { return pool.symbol(name); }
  Expr c(int64_t v) { return pool.constant(v); }
  // The text, parsed, prints as expected.
  void form(const char* text, const char* expected) { EXPECT_EQ(print(parse(pool, text)), expected) << text; }
  // All values of the symbols in the tree, exhaustively, against the independent evaluator.
  void everywhere(const Tree& tree) {
    const Expr e = build(pool, tree);
    int seen = 0;
    for (int64_t n = 1; n <= 6; ++n)
      for (int64_t m = 4; m <= 12; m += 4)
        for (int64_t i = 0; i <= 5; ++i)
          for (int64_t j = 0; j < n; ++j)
            for (int64_t k = 0; k < n * m; k += 5)
              for (int64_t x = -17; x <= 17; x += 2) {
                const Environment env{{"n", n}, {"m", m},         {"i", i}, {"j", j}, {"k", k},
                                      {"x", x}, {"y", x / 2 + i}, {"p", n}, {"r", j}};
                const std::optional<int64_t> v = naive(tree, env);
                if (!v) continue;
                ++seen;
                ASSERT_EQ(evaluate(e, env), *v) << print(e);
              }
    EXPECT_GT(seen, 0);
  }
  Pool pool;
};

Tree sy(const char* n) { return symbol_tree(n); }
Tree co(int64_t v) { return Tree{'c', v, "", {}}; }
Tree op(char o, Tree a, Tree b) { return Tree{o, 0, "", {std::move(a), std::move(b)}}; }
Tree piece(char o, Tree n, Tree parts, Tree rank, int64_t g) {
  return Tree{o, g, "", {std::move(n), std::move(parts), std::move(rank)}};
}

TEST_F(SymRules, S1SumsAreSorted) {
  form("3 + x + x*2 - 1", "3*x + 2");
  form("x - x", "0");
  form("y + x", "x + y");
  form("-x + 2", "-x + 2");
  form("4*s + 3", "4*s + 3");
  EXPECT_TRUE(s("x") + s("y") == s("y") + s("x"));
  everywhere(op('-', op('+', sy("x"), op('*', co(3), sy("i"))), op('+', sy("i"), co(-4))));
}

TEST_F(SymRules, S2ProductsExpand) {
  form("(x + 1)*(x - 1)", "x*x - 1");
  form("(x + y)*n - n*y", "n*x");
  everywhere(op('*', op('+', sy("x"), co(2)), op('-', sy("i"), sy("x"))));
  // Past the limit the product of sums stays, and is the same node however it is reached.
  Expr big = c(1);
  for (int i = 0; i < 12; ++i)
    big = big * (s(("a" + std::to_string(i)).c_str()) + s(("b" + std::to_string(i)).c_str()));
  EXPECT_LT(bounds(big).lo, 0);
  EXPECT_TRUE(parse(pool, print(big)) == big);
  EXPECT_TRUE(big - big == c(0));
  EXPECT_TRUE(parse(pool, print(big * 3)) == big * 3);
}

TEST_F(SymRules, S3SplitsAreMergedBack) {
  form("8*floordiv(x, 8) + mod(x, 8)", "x");
  form("n*floordiv(x, n) + mod(x, n)", "x");
  form("y*(3*8*floordiv(x, 8) + 3*mod(x, 8)) + 1", "3*x*y + 1");
  form("n*m*floordiv(x, n*m) + mod(x, n*m)", "x");
  form("8*floordiv(x + 13, 8) + mod(x + 13, 8)", "x + 13");
  everywhere(op('+', op('*', co(8), op('/', sy("x"), co(8))), op('%', sy("x"), co(8))));
}

TEST_F(SymRules, S3AndS4NeedMatchingCoefficients) {
  form("5*floordiv(x, 8) + mod(x, 8)", "5*floordiv(x, 8) + mod(x, 8)");
  form("3*mod(floordiv(x, 8), 4) + mod(x, 8)", "mod(x, 8) + 3*mod(floordiv(x, 8), 4)");
  for (int64_t a : {1, 2, 4, 8, 16})
    for (int64_t b : {1, 2, 3})
      everywhere(op('+', op('*', co(a), op('/', sy("x"), co(4))), op('*', co(b), op('%', sy("x"), co(4)))));
}

TEST_F(SymRules, S4NestedSplitsAreMergedBack) {
  form("8*mod(floordiv(x, 8), 4) + mod(x, 8)", "mod(x, 32)");
  form("32*floordiv(x, 32) + 8*mod(floordiv(x, 8), 4) + mod(x, 8)", "x");
  form("8*floordiv(mod(x, 32), 8) + mod(mod(x, 32), 8)", "mod(x, 32)");
  everywhere(op('+', op('*', co(3), op('%', op('/', sy("x"), co(3)), co(2))), op('%', sy("x"), co(3))));
}

TEST_F(SymRules, S5ExactDivisionsLeaveNoTrace) {
  form("4*floordiv(m, 4)", "m");
  form("8*floordiv(m, 8)", "8*floordiv(m, 8)");
  form("m - floordiv(m, 4)", "3*floordiv(m, 4)");
  form("m - 2*floordiv(m, 4)", "floordiv(m, 2)");
  form("floordiv(m, 2) - m", "-floordiv(m, 2)");
  form("floordiv(m, 2) + floordiv(m, 4)", "3*floordiv(m, 4)");
  form("floordiv(m, 2) - 2*floordiv(m, 4)", "0");
  form("x*m - x*floordiv(m, 4) + y*floordiv(m, 2)", "3*x*floordiv(m, 4) + y*floordiv(m, 2)");
  form("5*floordiv(3*m, 4) - 2*m", "m + 3*floordiv(m, 4)");
  form("floordiv(m*x, 4) - m*x", "-3*floordiv(m*x, 4)");
  form("8*x*floordiv(m, 4)", "2*m*x");
  form("7*floordiv(m, 4)", "m + 3*floordiv(m, 4)");
  form("-7*x*floordiv(m, 4)", "-m*x - 3*x*floordiv(m, 4)");
  form("3*floordiv(m, 4) + 2*floordiv(m, 4) + 2*floordiv(m, 4)", "m + 3*floordiv(m, 4)");
  everywhere(op('*', co(7), op('/', op('+', sy("m"), sy("i")), co(4))));
  everywhere(op('*', co(4), op('/', op('+', sy("m"), sy("i")), co(4))));
  everywhere(op('-', sy("m"), op('/', sy("m"), co(4))));
  everywhere(op('-', op('/', sy("m"), co(2)), op('*', co(3), op('/', sy("m"), co(4)))));
}

TEST_F(SymRules, S6WholeBlocksLeave) {
  form("floordiv(8*x + i + 16, 8)", "x + 2");
  form("mod(8*x + y + 17, 8)", "mod(y + 1, 8)");
  form("floordiv(n*x + y, n)", "x + floordiv(y, n)");
  form("mod(x*n*m + y, n*m)", "mod(y, m*n)");
  form("floordiv((n + 1)*x + j, n + 1)", "x");
  form("floordiv(-9*x, 8)", "-x + floordiv(-x, 8)");
  // Merging splits of the rest leaves a whole block.
  form("floordiv(7*floordiv(-m + 1, 3) + mod(-m + 1, 3) + 3, 4)", "-floordiv(m, 4) + floordiv(-m + 1, 3) + 1");
  form("mod(8*floordiv(-m + 1, 3) + mod(-m + 1, 3) + 8, 5)", "mod(-m + 4, 5)");
  everywhere(op('/', op('+', op('*', sy("n"), sy("x")), sy("y")), sy("n")));
  everywhere(op('%', op('+', op('*', op('+', sy("n"), co(1)), sy("x")), sy("y")), op('+', sy("n"), co(1))));
}

TEST_F(SymRules, S7MultiplesByFactsLeave) {
  form("mod(m + y, 4)", "mod(y, 4)");
  form("floordiv(m + y, 4)", "floordiv(m, 4) + floordiv(y, 4)");
  form("mod(m, 4)", "0");
  everywhere(op('/', op('-', sy("x"), sy("m")), co(4)));
  everywhere(op('%', op('-', sy("x"), sy("m")), co(2)));
}

TEST_F(SymRules, S8RemaindersInRangeFold) {
  form("floordiv(i, 6)", "0");
  form("mod(i, 6)", "i");
  form("floordiv(i, 5)", "floordiv(i, 5)");
  form("floordiv(j, n)", "0");
  form("mod(j, n)", "j");
  form("floordiv(k, n*m)", "0");
  form("floordiv(i + 8, 16)", "0");
  form("mod(i - 8, 16)", "i + 8");
  form("floordiv(j + n*i, n)", "i");
  everywhere(op('%', op('+', sy("j"), op('*', sy("n"), sy("x"))), sy("n")));
}

TEST_F(SymRules, S9CommonDivisors) {
  form("floordiv(4*x, 8)", "floordiv(x, 2)");
  form("mod(4*x + 3, 8)", "4*mod(x, 2) + 3");
  form("floordiv(8*x + i, 16)", "floordiv(x, 2)");
  form("floordiv(x*n + j, n*m)", "floordiv(x, m)");
  form("mod(x*n + j, n*m)", "n*mod(x, m) + j");
  everywhere(op('%', op('+', op('*', co(6), sy("x")), sy("i")), co(12)));
  everywhere(op('/', op('+', op('*', sy("n"), sy("x")), sy("j")), op('*', sy("n"), sy("m"))));
}

TEST_F(SymRules, S10NestedQuotients) {
  form("floordiv(floordiv(x, 3), 5)", "floordiv(x, 15)");
  form("floordiv(floordiv(x, n), m)", "floordiv(x, m*n)");
  form("ceildiv(ceildiv(x, 4), 2)", "floordiv(x + 7, 8)");
  everywhere(op('/', op('+', op('/', sy("x"), co(3)), co(2)), co(2)));
  everywhere(op('/', op('/', sy("x"), sy("n")), sy("m")));
}

TEST_F(SymRules, S11NestedRemainders) {
  form("mod(mod(x, 24), 8)", "mod(x, 8)");
  form("mod(2*mod(x, 4) + y, 8)", "mod(2*x + y, 8)");
  form("mod(mod(x, n*m), n)", "mod(x, n)");
  form("mod(mod(x, 4), 8)", "mod(x, 4)");
  everywhere(op('%', op('+', op('%', sy("x"), co(8)), sy("y")), co(4)));
  everywhere(op('%', op('%', sy("x"), op('*', sy("n"), sy("m"))), sy("n")));
}

TEST_F(SymRules, S12DigitsHaveOneForm) {
  form("floordiv(mod(x, 32), 8)", "mod(floordiv(x, 8), 4)");
  form("floordiv(mod(x, n*m), n)", "mod(floordiv(x, n), m)");
  everywhere(op('/', op('%', sy("x"), co(12)), co(4)));
}

TEST_F(SymRules, S13Extrema) {
  form("min(x, min(y, x))", "min(x, y)");
  form("min(x, x + 1)", "x");
  form("max(j, n, 0)", "n");
  form("min(i, 5)", "i");
  form("max(x + 3, x, y)", "max(y, x + 3)");
  std::string some = "s0", all = "s0";
  for (int k = 1; k < 100; ++k) {
    some = fmt::format("min({}, s{})", some, k);
    all += fmt::format(", s{}", k);
  }
  EXPECT_EQ(parse(pool, some), parse(pool, fmt::format("min({})", all)));  // however long
  everywhere(op('m', op('M', sy("x"), sy("i")), op('m', sy("y"), sy("j"))));
}

TEST_F(SymRules, S14Select) {
  form("select(i < 6, x, y)", "x");
  form("select(x < y, n, n)", "n");
  form("select(x != y, n, m)", "select(x == y, m, n)");
  form("select(x < y, 1, 0)", "x < y");
  form("select(x < y, 0, 1)", "y <= x");
  everywhere(Tree{'?', 0, "", {op('!', sy("x"), sy("i")), sy("y"), sy("n")}});
}

TEST_F(SymRules, S15ComparisonsAreDifferences) {
  form("i < x", "i < x");
  form("2*x + 1 < 2*y", "x < y");
  form("x + 3 > y + 3", "y < x");
  form("x <= 4", "x < 5");
  form("x >= 0", "0 <= x");
  form("4*x <= 7", "x < 2");
  form("x - y < 0", "x < y");
  everywhere(op('<', op('*', co(3), sy("x")), op('+', co(4), op('*', co(3), sy("i")))));
  everywhere(op('l', op('*', co(-3), sy("x")), op('-', co(4), op('*', co(6), sy("i")))));
}

TEST_F(SymRules, S16ProvenConditions) {
  form("j < n", "1");
  form("j + x < n + x", "1");
  form("n <= j", "0");
  form("8*floordiv(n, 8) <= n", "1");
  form("n <= 8*ceildiv(n, 8)", "1");
  form("k < n*m", "1");
  form("floordiv(k, m) < n", "1");
  form("mod(x, n) < n", "1");
  form("x*n + j < x*n + n", "1");
  form("min(x, n) <= n", "1");
  form("j == n", "0");
  form("chunk_start(n, p, r) + chunk(n, p, r) <= n", "1");
  form("j + 1 < n", "j + 1 < n");
}

TEST_F(SymRules, S17EqualitiesByDivisor) {
  form("2*x == 2*y + 1", "0");
  form("m == 6", "0");
  form("2*x == 4", "x == 2");
  form("x == y", "x == y");
  form("y == x", "x == y");
  form("3 == x", "x == 3");
  everywhere(op('=', op('*', co(2), sy("x")), op('+', op('*', co(4), sy("i")), co(-6))));
}

TEST_F(SymRules, S18S19Logic) {
  form("x < y and x < y", "x < y");
  form("x < y and y <= x", "0");
  form("x < y or y <= x", "1");
  form("not (x < y)", "y <= x");
  form("not (x == y)", "x != y");
  form("not not (x == y)", "x == y");
  form("x < y or x == 3", "x < y or x == 3");
  form("x < 2 and j < n", "x < 2");
  form("x and y", "x != 0 and y != 0");
  everywhere(op('|', op('<', sy("x"), sy("y")), op('&', op('=', sy("x"), sy("i")), op('!', sy("j"), co(1)))));
}

TEST_F(SymRules, S20S21Pieces) {
  form("chunk(x, 1, r)", "x");
  form("chunk_start(x, 1, r)", "0");
  form("chunk(3072, 4, r)", "768");
  form("chunk_start(3072, 4, r)", "768*r");
  form("chunk(3072, t, rank.tp)", "chunk(3072, t, rank.tp)");
  form("chunk(m, 4, r)", "floordiv(m, 4)");
  form("chunk(6*p, p, r)", "6");
  form("chunk(12, 4, r, 4)", "chunk(12, 4, r, 4)");
  form("chunk(64, 4, r, 16)", "16");
  form("chunk(5, 4, 2)", "1");
  form("chunk(5, 4, 3)", "0");
  form("chunk_start(5, p, 0)", "0");
  form("chunk(0, p, r)", "0");
  everywhere(piece('C', sy("k"), sy("p"), sy("r"), 3));
  everywhere(piece('S', sy("k"), sy("p"), sy("r"), 3));
  everywhere(piece('C', sy("m"), co(4), sy("i"), 1));
}

TEST_F(SymRules, S22MeetingBounds) {
  form("mod(8*x, 2)", "0");
  form("min(i, -1)", "-1");
  form("chunk(1, 4, 0)", "1");
  form("max(i - 5, 0)", "0");
}

TEST_F(SymRules, UnprovenDivisorsAreLeftAlone) {
  form("floordiv(x, y)", "floordiv(x, y)");
  form("mod(y*x, y)", "mod(x*y, y)");
  form("floordiv(4, 0)", "floordiv(4, 0)");
  everywhere(op('/', sy("n"), sy("x")));
  everywhere(op('%', op('*', sy("n"), sy("x")), sy("x")));
}

TEST_F(SymRules, ExactQuotients) {
  const auto quotient = [&](const char* a, const char* b) {
    const auto q = exact_quotient(parse(pool, a), parse(pool, b));
    if (q) {
      EXPECT_EQ(*q * parse(pool, b), parse(pool, a)) << a << " / " << b;
    }
    return q ? print(*q) : "none";
  };
  EXPECT_EQ(quotient("n*m", "n"), "m");
  EXPECT_EQ(quotient("6*n*n*m", "2*n"), "3*m*n");
  EXPECT_EQ(quotient("n*m + 4*n", "n"), "m + 4");
  EXPECT_EQ(quotient("3*n + 3*m", "n + m"), "3");
  EXPECT_EQ(quotient("x*n + x*m + 2*x", "n + m + 2"), "x");
  EXPECT_EQ(quotient("n", "n"), "1");
  EXPECT_EQ(quotient("12", "3"), "4");
  EXPECT_EQ(quotient("0", "n"), "0");
  for (const auto& [a, b] : {std::pair{"12", "5"},
                             {"n", "m"},
                             {"3*n", "2"},
                             {"n", "2*n"},
                             {"n*m + 4", "n"},
                             {"n", "0"},
                             {"n + m", "n + 2*m"},
                             {"4611686018427387904*n", "n + 4*m"}})
    EXPECT_EQ(quotient(a, b), "none") << a << " / " << b;
}

}  // namespace
}  // namespace plait::sym::testing
