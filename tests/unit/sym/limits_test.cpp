// The ends of 64 bits: extents past 2^31 work; what does not fit is refused, never wrapped.
#include <gtest/gtest.h>

#include "base/error.h"
#include "support/refusal.h"
#include "unit/sym/random_expr.h"

namespace plait::sym::testing {
namespace {

using plait::testing::refusal;

using Wide = __int128;
constexpr int64_t kBig = int64_t{1} << 62;

TEST(SymLimits, ExtentsPast31Bits) {
  Pool pool;
  const Expr rows = pool.symbol("rows", {.lo = 1}), columns = pool.symbol("columns", {.lo = 1});
  const Expr i = pool.symbol("i", {.lo = 0, .below = rows}), j = pool.symbol("j", {.lo = 0, .below = columns});
  const Expr index = i * columns + j;
  EXPECT_TRUE(proven(lt(index, rows * columns)));
  EXPECT_TRUE(floordiv(index, columns) == i && mod(index, columns) == j);
  for (int64_t n :
       {(int64_t{1} << 31) - 1, int64_t{1} << 31, (int64_t{1} << 31) + 1, int64_t{1} << 32, int64_t{3000000000}}) {
    const int64_t m = (int64_t{1} << 31) - 1;
    const Environment env{{"rows", n}, {"columns", m}, {"i", n - 1}, {"j", m - 1}};
    EXPECT_EQ(evaluate(index, env), n * m - 1);
    EXPECT_EQ(evaluate(chunk(rows, pool.constant(4), pool.constant(3)), env), n - 3 * ((n + 3) / 4));
    EXPECT_EQ(evaluate(ceildiv(rows * columns, 128), env), (n * m + 127) / 128);
    Pool fixed;
    EXPECT_EQ((fixed.constant(n) * m - 1).value(), n * m - 1);
    EXPECT_EQ(bounds(fixed.symbol("k", {.lo = 0, .hi = n}) * m).hi, n * m);
  }
}

TEST(SymLimits, ProductsPast63BitsAreRefused) {
  Pool pool;
  const Expr a = pool.symbol("a"), b = pool.symbol("b");
  const int64_t root = 3037000499;  // the largest whose square fits
  EXPECT_EQ(evaluate(a * a, {{"a", root}}), root * root);
  EXPECT_EQ(evaluate(a * b, {{"a", int64_t{1} << 31}, {"b", (int64_t{1} << 32) - 1}}),
            INT64_MAX - ((int64_t{1} << 31) - 1));
  EXPECT_EQ(evaluate(a * b, {{"a", -(int64_t{1} << 31)}, {"b", int64_t{1} << 32}}), INT64_MIN);
  for (const auto& [x, y] : {std::pair<int64_t, int64_t>{root + 1, root + 1},
                             {int64_t{1} << 31, int64_t{1} << 32},
                             {INT64_MIN, -1},
                             {INT64_MAX, INT64_MAX},
                             {INT64_MIN, INT64_MIN},
                             {kBig, -3}}) {
    const std::string at_run_time = refusal([&] { evaluate(a * b, {{"a", x}, {"b", y}}); });
    EXPECT_NE(at_run_time.find("past 64 bits"), std::string::npos) << at_run_time;
    EXPECT_NE(at_run_time.find("a*b"), std::string::npos) << at_run_time;
    EXPECT_NE(at_run_time.find("below 2^63"), std::string::npos) << at_run_time;
    const std::string of_constants = refusal([&] { pool.constant(x) * y; });
    EXPECT_NE(of_constants.find("past 64 bits"), std::string::npos) << of_constants;
  }
  // What lies between may be larger than the result.
  EXPECT_EQ(evaluate(floordiv(a * b, b), {{"a", kBig}, {"b", 8}}), kBig);
  EXPECT_EQ(evaluate(a * a * a * b, {{"a", INT64_MAX}, {"b", 0}}), 0);
  EXPECT_NE(refusal([&] { evaluate(a * a * a * a - a * a * a * a * b, {{"a", kBig}, {"b", 1}}); }).find("64 bits"),
            std::string::npos);
}

TEST(SymLimits, WhatFitsIsNotRefused) {
  Pool pool;
  const Expr last = pool.constant(INT64_MAX), x = pool.symbol("x", {.lo = 6, .hi = 10});
  EXPECT_EQ(ceildiv(last, 2).value(), kBig);
  EXPECT_EQ(ceildiv(last, INT64_MAX).value(), 1);
  EXPECT_EQ(ceildiv(last - 1, INT64_MAX).value(), 1);
  EXPECT_EQ(evaluate(ceildiv(x + (INT64_MAX - 10), 4), {{"x", 9}}), kBig / 2);
  EXPECT_EQ(evaluate(mod(5 - x, INT64_MAX), {{"x", 7}}), INT64_MAX - 2);
  const Expr z = x * (int64_t{1} << 40) + 1, b = pool.symbol("b", {.lo = 1});
  const int64_t k = int64_t{1} << 30;
  const Expr split = floordiv(z, b) * b * k + mod(z, b) * k;  // k*z has a coefficient of 2^70
  EXPECT_TRUE(parse(pool, print(split)) == split) << print(split);
  const Expr digits = mod(floordiv(z, b), k) * b + mod(z, b);
  EXPECT_EQ(print(digits), "1073741824*mod(1024*x, b) + 1");
  const Expr wide = mod(floordiv(z, b), kBig) * b * 4 + mod(z, b) * 4;  // its divisor has a coefficient of 2^62
  EXPECT_EQ(evaluate(wide, {{"x", 6}, {"b", 7}}), 4 * (6 * (int64_t{1} << 40) + 1));
  const Expr past = mod(floordiv(z, b * 4), kBig) * b * 4 + mod(z, b * 4);  // that of 2^64
  EXPECT_EQ(evaluate(past, {{"x", 6}, {"b", 7}}), 6 * (int64_t{1} << 40) + 1);
  EXPECT_TRUE(chunk(x, x * kBig, x, 4).kind() == Kind::chunk);
  EXPECT_EQ(chunk(last, last, last - 1, kBig + 1).value(), 0);
  EXPECT_EQ(chunk_start(last, last, last - 1, kBig + 1).value(), INT64_MAX);
}

// A bound of INT64_MAX is a number on the lower side and unknown on the upper one.
TEST(SymLimits, BoundsAtTheEnds) {
  Pool pool;
  const Expr down = pool.symbol("down", {.lo = -1, .hi = -1}), x = pool.symbol("x"), y = pool.symbol("y");
  const Expr e = down * INT64_MAX + INT64_MAX;
  EXPECT_LE(bounds(e).lo, 0);
  EXPECT_GE(bounds(e).hi, 0);
  EXPECT_EQ(prove(lt(e, 0)), Truth::no);
  const Expr high = max(x, INT64_MAX);
  EXPECT_EQ(bounds(high).lo, INT64_MAX);
  EXPECT_GE(bounds(INT64_MAX - high).hi, 0);
  EXPECT_EQ(evaluate(INT64_MAX - high, {{"x", 3}}), 0);
  const std::string past = refusal([&] { evaluate(max(x * y, INT64_MAX), {{"x", kBig}, {"y", 4}}); });
  EXPECT_NE(past.find("64 bits"), std::string::npos) << past;
  EXPECT_EQ(evaluate(max(x * y, INT64_MAX) - x * y, {{"x", kBig}, {"y", 4}}), 0);
  EXPECT_EQ(evaluate(min(x * y, INT64_MIN) - x * y, {{"x", kBig}, {"y", -4}}), 0);
}

// A value, or nothing where the expression has none or passes 2^60 times what it may.
std::optional<Wide> wide_value(const Tree& t, const Environment& env) {
  if (t.op == 'c') return t.value;
  if (t.op == 's') return env.find(t.name)->second;
  if (t.op == '?') {
    const auto c = wide_value(t.kids[0], env);
    if (!c) return {};
    return wide_value(t.kids[*c != 0 ? 1 : 2], env);
  }
  std::vector<Wide> v;
  for (const Tree& k : t.kids) {
    const auto x = wide_value(k, env);
    if (!x || *x > INT64_MAX || *x < INT64_MIN) return {};
    v.push_back(*x);
  }
  const auto down = [](Wide a, Wide b) { return a >= 0 ? a / b : -((b - 1 - a) / b); };
  switch (t.op) {
    case '+':
      return v[0] + v[1];
    case '-':
      return v[0] - v[1];
    case '*':
      return v[0] * v[1];
    case '/':
      return v[1] < 1 ? std::optional<Wide>() : down(v[0], v[1]);
    case '%':
      return v[1] < 1 ? std::optional<Wide>() : v[0] - v[1] * down(v[0], v[1]);
    case 'm':
      return std::min(v[0], v[1]);
    case 'M':
      return std::max(v[0], v[1]);
    case '<':
      return v[0] < v[1];
    case 'l':
      return v[0] <= v[1];
    case '=':
      return v[0] == v[1];
    case '!':
      return v[0] != v[1];
    case '&':
      return v[0] != 0 && v[1] != 0;
    case '|':
      return v[0] != 0 || v[1] != 0;
    case '~':
      return v[0] == 0;
    default:
      break;
  }
  const Wide n = v[0], parts = v[1], rank = v[2], g = t.value;
  if (n < 0 || parts < 1 || rank < 0 || rank >= parts) return {};
  const Wide granules = n / g + (n % g != 0), each = (granules / parts + (granules % parts != 0)) * g;
  const Wide start = std::min(n, rank * each);
  return t.op == 'S' ? start : std::min(each, n - start);
}

const std::vector<int64_t> kExtremes{INT64_MIN,  INT64_MIN + 1,
                                     -kBig - 1,  -kBig,
                                     -3,         -1,
                                     0,          1,
                                     2,          3,
                                     4,          int64_t{1} << 31,
                                     3037000499, int64_t{1} << 32,
                                     kBig - 1,   kBig,
                                     kBig + 1,   INT64_MAX - 1,
                                     INT64_MAX};

Tree draw_extreme(Random& random, int depth) {
  if (depth == 0 || random() % 8 == 0) {
    Tree t;
    if (random() % 2) {
      t.value = kExtremes[random() % kExtremes.size()];
    } else {
      t = symbol_tree(random() % 3 == 0 ? "a" : random() % 2 ? "b" : "x");
    }
    return t;
  }
  static const std::string kOps = "+++---***////%%%mMCS<l=!&|~??";
  Tree t;
  t.op = kOps[random() % kOps.size()];
  if (t.op == 'C' || t.op == 'S') t.value = random() % 2 ? 1 : kBig;
  const size_t count = t.op == '~' ? 1 : t.op == '?' || t.value != 0 ? 3 : 2;
  for (size_t i = 0; i < count; ++i) t.kids.push_back(draw_extreme(random, depth - 1));
  return t;
}

// Never a wrong value: what is built and has a value within 64 bits evaluates to it or is refused; what has none within
// 64 bits is refused; bounds, divisors and proofs hold.
void never_wraps(uint64_t seed, int rounds) {
  Random random(seed);
  int built = 0, values = 0, kept = 0, past = 0;
  for (int round = 0; round < rounds; ++round) {
    Pool pool;
    int64_t lo = kExtremes[random() % kExtremes.size()], hi = kExtremes[random() % kExtremes.size()];
    if (lo > hi) std::swap(lo, hi);
    pool.symbol("a", {.lo = lo});
    pool.symbol("b", {.lo = lo, .hi = hi});
    pool.symbol("x");
    const Tree tree = draw_extreme(random, static_cast<int>(draw(random, 1, 3)));
    Expr e;
    try {
      e = build(pool, tree);
    } catch (const UserError&) {
      continue;
    }
    ++built;
    for (int i = 0; i < 6; ++i) {
      Environment env{{"a", lo}, {"b", random() % 2 ? lo : hi}, {"x", kExtremes[random() % kExtremes.size()]}};
      const int64_t other = kExtremes[random() % kExtremes.size()];
      if (other >= lo) env["a"] = other;
      if (other >= lo && other <= hi) env["b"] = other;
      const std::optional<Wide> v = wide_value(tree, env);
      if (!v) continue;
      const bool fits = *v >= INT64_MIN && *v <= INT64_MAX;
      ++(fits ? values : past);
      const Bounds b = bounds(e);
      ASSERT_TRUE((b.lo == INT64_MIN || b.lo <= *v) && (b.hi == INT64_MAX || *v <= b.hi))
          << "round " << round << " " << print(e);
      const int64_t d = divisor(e);
      ASSERT_TRUE(d == 0 ? *v == 0 : *v % d == 0) << "round " << round << " " << print(e);
      const Truth truth = prove(e);
      ASSERT_TRUE(truth == Truth::unknown || (truth == Truth::yes) == (*v != 0))
          << "round " << round << " " << print(e);
      try {
        const int64_t found = evaluate(e, env);
        ASSERT_TRUE(fits && found == static_cast<int64_t>(*v)) << "round " << round << " " << print(e);
        ++kept;
      } catch (const UserError&) {}
    }
  }
  EXPECT_GT(built, rounds / 4);
  EXPECT_GT(past, rounds / 50);
  EXPECT_GT(kept, values * 99 / 100);
  std::printf("%d built of %d: %d values, %d of them evaluated, %d past 64 bits\n", built, rounds, values, kept, past);
}

TEST(SymLimits, NeverWraps) { never_wraps(17, 30000); }
TEST(SymLimits, NeverWrapsLongRun) {
  never_wraps(18, 500000);
  never_wraps(fresh_seed(), 500000);
}

}  // namespace
}  // namespace plait::sym::testing
