// The rules of choices within sums, quotients and each other (S39 to S45): their theorems over all small values, and
// that what chains of slices, pads and steps make of extents stays short.
#include <gtest/gtest.h>

#include "unit/sym/claims.h"

namespace plait::sym::testing {
namespace {

const Variable kX{"x", "-7", "7", "1", false};
const Variable kY{"y", "-4", "4", "1", false};
const Variable kM{"m", "0", "9"};
const Variable kN{"n", "1", "5"};
Variable from(const char* name, const char* lo, const char* hi) { return {name, lo, hi}; }
void claim(const char* written, const char* result, std::vector<Variable> numbers, std::vector<Variable> symbols,
           const char* only = "1") {
  check_claim({written, result, std::move(numbers), std::move(symbols), only});
}

TEST(SymTheorem, S39NestedChoices) {
  claim("max(k*max(x, y) + c, n)", "max(k*x + c, k*y + c, n)", {from("k", "1", "3"), from("c", "-2", "2")},
        {kX, kY, kN});
  claim("max(x - k*min(y, n), 0)", "max(x - k*y, x - k*n, 0)", {from("k", "1", "2")}, {kX, kY, kN});
  claim("min(k*min(x, y) + c, n)", "min(k*x + c, k*y + c, n)", {from("k", "1", "3"), from("c", "-2", "2")},
        {kX, kY, kN});
  claim("max(max(m - a, 0) - b, 0)", "max(m - a - b, 0)", {from("a", "0", "3"), from("b", "0", "3")}, {kM});
}

TEST(SymTheorem, S40TermsThatCancel) {
  claim("m - min(m, c)", "max(0, m - c)", {from("c", "0", "4")}, {kM});
  claim("k*x - k*min(x, y)", "k*max(0, x - y)", {from("k", "1", "3")}, {kX, kY});
  claim("max(0, m - c) - m", "-min(m, c)", {from("c", "0", "4")}, {kM});
  claim("m - max(m - c, 0)", "min(m, c)", {from("c", "0", "4")}, {kM});
}

TEST(SymTheorem, S41SignsOfChoices) {
  claim("max(-k*x, c)", "-min(k*x, -c)", {from("k", "1", "3"), from("c", "-3", "3")}, {kX});
  claim("min(-x, -y)", "-max(x, y)", {}, {kX, kY});
  claim("min(c - x, -2*y)", "-max(x - c, 2*y)", {from("c", "-2", "2")}, {kX, kY});
}

TEST(SymTheorem, S42QuotientsOfChoices) {
  claim("floordiv(k*max(x, c) + y, d)", "max(floordiv(k*x + y, d), floordiv(k*c + y, d))",
        {from("k", "1", "3"), from("c", "-2", "2"), from("d", "2", "4")}, {kX, kY});
  claim("floordiv(y - k*min(x, c), d)", "max(floordiv(y - k*x, d), floordiv(y - k*c, d))",
        {from("k", "1", "3"), from("c", "-2", "2"), from("d", "2", "4")}, {kX, kY});
  claim("floordiv(max(m - 1, 0) + 1, 2)", "floordiv(m, 2)", {}, {kM});
  claim("floordiv(2 - min(0, m - 1), 3)", "max(0, floordiv(-m, 3) + 1)", {}, {kM});
}

TEST(SymTheorem, S43Clamps) {
  claim("min(k, max(c, x))", "max(c, min(k, x))", {from("k", "-3", "3"), from("c", "-3", "3")}, {kX}, "c < k");
  claim("min(k, max(c, x))", "k", {from("k", "-3", "3"), from("c", "-3", "3")}, {kX}, "c >= k");
}

TEST(SymTheorem, S44ConstantsBelowDivisors) {
  const Variable m{"m", "-24", "24", "4"};
  claim("floordiv(m + r, 4*e)", "floordiv(m, 4*e)", {from("r", "0", "3"), from("e", "1", "4")}, {m});
  claim("mod(m + r, 4*e)", "mod(m, 4*e) + r", {from("r", "0", "3"), from("e", "1", "4")}, {m});
  claim("floordiv(m + c, 8)", "floordiv(m + 4*floordiv(c, 4), 8)", {from("c", "-9", "9")}, {m});
}

TEST(SymTheorem, S45PartsOfAWhole) {
  claim("k*min(x, y) + k*max(c - x, c - y)", "k*c", {from("k", "-2", "2"), from("c", "-3", "3")}, {kX, kY});
  claim("k*min(x + c, y + c) - k*min(x, y)", "k*c", {from("k", "-2", "2"), from("c", "-3", "3")}, {kX, kY});
  claim("min(m, n) + max(0, m - n)", "m", {}, {kM, kN});
  claim("min(m, x) + max(0, m - x) - n", "m - n", {}, {kM, kX, kN});
}

// What ops make of an extent, as the rules of slices and pads build it.
struct Chain {
  Pool pool;
  Expr n = pool.symbol("n", {.lo = 0});
  Expr e = n;

  void slice(int64_t start, std::optional<int64_t> stop, int64_t step) {
    Expr last = stop ? pool.constant(*stop) : e;
    if (stop && *stop < 0) last = max(e + *stop, 0);
    if (!proven(le(last, e))) last = min(last, e);
    e = ceildiv(max(last - start, pool.constant(0)), step);
  }
};

// Nodes that a chain of ops leaves in the pool, and the longest text of an extent on the way.
template <class Op>
std::pair<size_t, size_t> cost(size_t count, Op op) {
  Chain chain;
  size_t longest = 0;
  for (size_t i = 0; i < count; ++i) {
    op(chain);
    longest = std::max(longest, print(chain.e).size());
  }
  return {chain.pool.size(), longest};
}

TEST(SymChains, StayShortAndLinear) {
  using Step = void (*)(Chain&);
  const Step steps[] = {
      [](Chain& c) { c.slice(1, -1, 1); },
      [](Chain& c) { c.slice(0, {}, 1), c.e = c.e + 2, c.slice(1, -1, 1); },
      [](Chain& c) { c.slice(1, {}, 1), c.e = c.e + 1; },
      [](Chain& c) { c.slice(3, -2, 1), c.e = c.e + 4; },
      [](Chain& c) { c.slice(0, 1000, 1), c.slice(1, {}, 1); },
      [](Chain& c) { c.e = c.e * 2, c.slice(0, {}, 2); },
      [](Chain& c) { c.e = c.e * 2, c.slice(1, -1, 2); },
  };
  for (size_t k = 0; k < std::size(steps); ++k) {
    const auto [some, shorter] = cost(50, steps[k]);
    const auto [all, longest] = cost(200, steps[k]);
    EXPECT_LE(all, 5 * some + 100) << "chain " << k;
    EXPECT_LE(longest, 120) << "chain " << k;
  }
  // Steps divide until nothing is left.
  Chain chain;
  for (int i = 0; i < 60; ++i) chain.slice(1, -1, 2);
  EXPECT_LE(print(chain.e).size(), 400) << print(chain.e);
}

}  // namespace
}  // namespace plait::sym::testing
