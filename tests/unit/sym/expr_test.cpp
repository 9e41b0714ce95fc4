// Pools, symbols, facts, evaluation, overflow, text errors, import, pieces, speed.
#include <gtest/gtest.h>

#include <array>
#include <numeric>

#include "base/error.h"
#include "support/allocation_counter.h"
#include "support/refusal.h"
#include "sym/expr.h"

namespace plait::sym {
namespace {

using plait::testing::refusal;

constexpr int64_t kBig = int64_t{1} << 62;

bool contains(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

TEST(Sym, EqualityIsPointerEquality) {
  Pool pool;
  const Expr s = pool.symbol("s");
  EXPECT_TRUE(s * 4 + 3 == 3 + 4 * s);
  EXPECT_FALSE(s * 4 == s * 5);
  EXPECT_TRUE(pool.symbol("s") == s);
  EXPECT_FALSE(Expr());
  EXPECT_EQ((s + 1).operands().size(), 2u);
  EXPECT_EQ((s + 1).kind(), Kind::add);
  EXPECT_EQ(pool.constant(7).value(), 7);
  EXPECT_FALSE(s.constant());
  EXPECT_THROW(s.value(), InternalError);
  Pool other;
  EXPECT_THROW(s + other.symbol("s"), InternalError);
}

TEST(Sym, FactsAreIntersected) {
  Pool pool;
  const Expr n = pool.symbol("n", {.lo = 1, .hi = 100, .multiple_of = 4});
  EXPECT_EQ(bounds(n).lo, 4);
  pool.symbol("n", {.lo = 0, .hi = 50, .multiple_of = 6});
  EXPECT_EQ(bounds(n).lo, 12);
  EXPECT_EQ(bounds(n).hi, 48);
  EXPECT_EQ(divisor(n * 5), 60);
  EXPECT_EQ(bounds(n * 2).hi, 96);
  const Expr i = pool.symbol("i", {.lo = 0});
  const Expr before = lt(i, n);
  EXPECT_EQ(prove(before), Truth::unknown);
  pool.symbol("i", {.below = n});
  EXPECT_EQ(prove(before), Truth::yes);
  EXPECT_EQ(bounds(i).hi, 47);
  pool.symbol("i", {.below = pool.symbol("q")});
  EXPECT_TRUE(proven(lt(i, pool.symbol("q"))) && proven(lt(i, n)));
  EXPECT_TRUE(contains(refusal([&] { pool.symbol("n", {.lo = 200}); }), "n"));
  EXPECT_EQ(bounds(pool.symbol("free")).lo, INT64_MIN);
}

TEST(Sym, BadSymbols) {
  Pool pool;
  for (const char* name : {"", "1x", "a b", "a..b", ".a", "a.", "%a", "min", "and", "chunk_start"})
    EXPECT_THROW(pool.symbol(name), UserError) << name;
  EXPECT_NO_THROW(pool.symbol("rank.tp"));
  EXPECT_NO_THROW(pool.symbol("x.0"));
  EXPECT_THROW(pool.symbol("z", {.multiple_of = 0}), UserError);
  EXPECT_THROW(pool.symbol("z", {.lo = 3, .hi = 2}), UserError);
}

TEST(Sym, EvaluationRefuses) {
  Pool pool;
  const Expr a = pool.symbol("a"), b = pool.symbol("b");
  EXPECT_TRUE(contains(refusal([&] { evaluate(a + b, {{"a", 1}}); }), "'b'"));
  EXPECT_TRUE(contains(refusal([&] { evaluate(floordiv(a, b), {{"a", 1}, {"b", 0}}); }), "division by 0"));
  EXPECT_TRUE(contains(refusal([&] { evaluate(mod(a, b), {{"a", 1}, {"b", -3}}); }), "division by -3"));
  EXPECT_TRUE(contains(refusal([&] { evaluate(a * b, {{"a", kBig}, {"b", 2}}); }), "overflow"));
  EXPECT_TRUE(contains(refusal([&] { evaluate(a * a * a * a, {{"a", kBig}}); }), "overflow"));
  EXPECT_TRUE(contains(refusal([&] { evaluate(chunk(a, b, b), {{"a", 4}, {"b", 2}}); }), "no piece 2"));
  EXPECT_EQ(evaluate(a * b, {{"a", int64_t{1} << 31}, {"b", int64_t{1} << 31}}), kBig);
  EXPECT_EQ(evaluate(select(eq(b, 0), a, floordiv(a, b)), {{"a", 9}, {"b", 0}}), 9);
  EXPECT_EQ(evaluate(floordiv(a, 4), {{"a", -1}}), -1);
  EXPECT_EQ(evaluate(mod(a, 4), {{"a", -1}}), 3);
}

TEST(Sym, ConstantsPast64BitsAreRefused) {
  Pool pool;
  const Expr a = pool.symbol("a"), big = pool.constant(kBig), lowest = pool.constant(INT64_MIN);
  EXPECT_THROW(big * 2, UserError);
  EXPECT_THROW(big + big, UserError);
  EXPECT_THROW(-lowest, UserError);
  EXPECT_THROW(a * kBig * 2, UserError);
  EXPECT_THROW((a * kBig + a * (kBig - 1)) + a * 2, UserError);
  EXPECT_EQ((big - 1 + big).value(), INT64_MAX);
  EXPECT_EQ(floordiv(lowest, 2).value(), -kBig);
  EXPECT_EQ(mod(lowest, 3).value(), 1);
  EXPECT_TRUE(proven(lt(lowest, pool.constant(INT64_MAX))));
  EXPECT_TRUE(proven(le(lowest, lowest)));
  EXPECT_TRUE(proven(ne(lowest, pool.constant(INT64_MAX))));
  for (int64_t v : {INT64_MIN, INT64_MIN + 1, INT64_MAX - 1, INT64_MAX}) {
    for (Expr e : {lt(a, v), le(a, v), eq(a, v), gt(a, v), ge(a, v), min(a, v), max(a, v), mod(a, INT64_MAX)}) {
      EXPECT_TRUE(parse(pool, print(e)) == e) << print(e);
      for (int64_t x : {INT64_MIN, int64_t{-1}, int64_t{0}, INT64_MAX - 1, INT64_MAX})
        EXPECT_NO_THROW(evaluate(e, {{"a", x}})) << print(e);
    }
    EXPECT_EQ(evaluate(le(a, v), {{"a", v}}), 1);
    EXPECT_EQ(evaluate(lt(a, v), {{"a", v}}), 0);
    EXPECT_EQ(evaluate(ge(a, v), {{"a", v}}), 1);
    EXPECT_EQ(evaluate(gt(a, v), {{"a", v}}), 0);
  }
}

TEST(Sym, PiecesCoverTheWhole) {
  Pool pool;
  const Expr n = pool.symbol("n", {.lo = 0}), t = pool.symbol("t", {.lo = 1});
  const Expr r = pool.symbol("r", {.lo = 0, .below = t});
  auto sizes = [&](int64_t size, int64_t parts, int64_t granule) {
    std::vector<int64_t> out;
    for (int64_t rank = 0; rank < parts; ++rank) {
      const Environment env{{"n", size}, {"t", parts}, {"r", rank}};
      out.push_back(evaluate(chunk(n, t, r, granule), env));
      const int64_t start = evaluate(chunk_start(n, t, r, granule), env);
      EXPECT_EQ(start, std::accumulate(out.begin(), out.end() - 1, int64_t{0}));
      EXPECT_EQ(chunk(pool.constant(size), pool.constant(parts), pool.constant(rank), granule).value(), out.back());
    }
    return out;
  };
  EXPECT_EQ(sizes(5, 4, 1), (std::vector<int64_t>{2, 2, 1, 0}));
  EXPECT_EQ(sizes(32, 3, 1), (std::vector<int64_t>{11, 11, 10}));
  EXPECT_EQ(sizes(12 * 64, 5, 64), (std::vector<int64_t>{192, 192, 192, 192, 0}));
  EXPECT_EQ(sizes(0, 2, 1), (std::vector<int64_t>{0, 0}));
  for (int64_t size = 0; size <= 40; ++size)
    for (int64_t parts = 1; parts <= 9; ++parts)
      for (int64_t granule : {1, 2, 3, 64}) {
        const std::vector<int64_t> all = sizes(size, parts, granule);
        EXPECT_EQ(std::accumulate(all.begin(), all.end(), int64_t{0}), size);
      }
  EXPECT_TRUE(proven(le(chunk(n, t, r), n)));
  EXPECT_TRUE(proven(le(chunk_start(n, t, r) + chunk(n, t, r), n)));
  EXPECT_TRUE(proven(ge(chunk(n, t, r), 0)));
  EXPECT_EQ(bounds(chunk(pool.constant(32), pool.constant(3), r)).hi, 11);
  const Expr local = pool.symbol("local", {.lo = 0, .below = chunk(n, t, r)});
  EXPECT_TRUE(proven(lt(chunk_start(n, t, r) + local, n)));
}

TEST(Sym, Divisors) {
  Pool pool;
  const Expr n = pool.symbol("n", {.multiple_of = 16}), x = pool.symbol("x");
  EXPECT_EQ(divisor(pool.constant(0)), 0);
  EXPECT_EQ(divisor(pool.constant(-12)), 12);
  EXPECT_EQ(divisor(n * 3 + 24), 24);
  EXPECT_EQ(divisor(n * x), 16);
  EXPECT_EQ(divisor(floordiv(n, 4)), 4);
  EXPECT_EQ(divisor(mod(n, 24)), 8);
  EXPECT_EQ(divisor(min(n, 40)), 8);
  EXPECT_EQ(divisor(pool.constant(kBig)), int64_t{1} << 20);
  EXPECT_LE(divisor(pool.constant(INT64_MIN)), int64_t{1} << 20);
}

TEST(Sym, TextErrors) {
  Pool pool;
  auto bad = [&](const char* text) { return refusal([&] { parse(pool, text, {.where = "file.plait"}); }); };
  EXPECT_TRUE(contains(bad("4*"), "column 3"));
  EXPECT_TRUE(contains(bad("4*"), "file.plait"));
  EXPECT_TRUE(contains(bad("a b"), "column 3"));
  EXPECT_TRUE(contains(bad("floordiv(a)"), "takes 2 operands, found 1"));
  EXPECT_TRUE(contains(bad("floordiv a"), "'(' after floordiv"));
  EXPECT_TRUE(contains(bad("(a"), "')'"));
  EXPECT_TRUE(contains(bad("9223372036854775808"), "past 64 bits"));
  EXPECT_TRUE(contains(bad("3x"), "malformed number"));
  EXPECT_TRUE(contains(bad("chunk(a, b, c, d)"), "granule"));
  for (const char* text : {"", " ", "*", "a +", "a < b < c", "and", "a and", "not", "min(a)", "a..b", "a.", "%a", "a,",
                           ")", "select(a, b)", "a = b", "1 2", "min()", "\xff"})
    EXPECT_THROW(parse(pool, text), UserError) << text;
  EXPECT_THROW(parse(pool, "unknown", {.create_symbols = false}), UserError);
  EXPECT_THROW(parse(pool, std::string(100000, '(')), UserError);
  EXPECT_EQ(parse(pool, std::string(100000, '-') + "1").value(), 1);
  EXPECT_EQ(parse(pool, "-9223372036854775808").value(), INT64_MIN);
  std::string_view rest = "4*a + 2, b]";
  EXPECT_EQ(print(parse_prefix(pool, rest)), "4*a + 2");
  EXPECT_EQ(rest, ", b]");
}

TEST(Sym, ImportTakesFactsAlong) {
  Pool a, b;
  const Expr n = a.symbol("n", {.lo = 1, .hi = 64, .multiple_of = 8});
  const Expr i = a.symbol("i", {.lo = 0, .below = n});
  const Expr e = import(b, floordiv(i, 2) + n);
  EXPECT_EQ(print(e), print(floordiv(i, 2) + n));
  EXPECT_TRUE(&e.pool() == &b);
  EXPECT_TRUE(proven(lt(b.find_symbol("i"), b.find_symbol("n"))));
  EXPECT_EQ(divisor(b.find_symbol("n")), 8);
  EXPECT_EQ(substitute(b, i * n, {{"i", a.constant(2)}, {"n", a.constant(3)}}).value(), 6);
  const Expr swapped = substitute(i + n * 2, {{"i", n}, {"n", i}});
  EXPECT_EQ(print(swapped), "2*i + n");
  a.symbol("n", {.below = i + 100});  // a circle of bounds
  Pool c;
  EXPECT_EQ(print(import(c, n)), "n");
  EXPECT_EQ(symbols(floordiv(i, 2) + n * i), (std::set<std::string>{"i", "n"}));
}

TEST(Sym, ValuesAreCheckedAgainstFacts) {
  Pool pool;
  const Expr n = pool.symbol("n", {.lo = 1, .hi = 64, .multiple_of = 8});
  pool.symbol("i", {.below = n});
  EXPECT_NO_THROW(check_facts(pool, {{"n", 16}, {"i", 15}, {"other", 1}}));
  EXPECT_NO_THROW(check_facts(pool, {{"i", 1000}}));
  for (const Environment& env :
       {Environment{{"n", 12}}, Environment{{"n", 0}}, Environment{{"n", 72}}, Environment{{"n", 16}, {"i", 16}}})
    EXPECT_THROW(check_facts(pool, env), UserError);
}

struct Nest {
  const char* what;
  std::function<Expr(Expr, Expr, Expr, int)> wrap;  // x, y, what was made before, its ordinal
};

TEST(Sym, NestedNodesTakeWorkByTheirNumber) {
  const std::vector<Nest> nests{
      {"quotients", [](Expr, Expr y, Expr e, int i) { return floordiv(e + y, 5 + i % 3); }},
      {"remainders", [](Expr, Expr y, Expr e, int i) { return mod(e * 3 + y, 1000 + i); }},
      {"extrema",
       [](Expr x, Expr y, Expr e, int i) { return i % 2 ? min(e, x * (i + 2) + y) : max(e, y * i - 3 * x); }},
      {"selects", [](Expr x, Expr y, Expr e, int i) { return select(lt(x, y + i), e, y * i + 1); }},
      {"conditions",
       [](Expr x, Expr y, Expr e, int i) { return select(eq(x, i), e, i % 2 ? logical_not(e) : lt(x, y + i)); }},
      {"mixed",
       [](Expr x, Expr y, Expr e, int i) {
         switch (i % 5) {
           case 0:
             return floordiv(e * 3 + y, 5 + i % 3);
           case 1:
             return min(e, y * i + x);
           case 2:
             return mod(e + i, 1000 + i) + y;
           case 3:
             return select(lt(e, x), e, x * 2 + e);
           default:
             return max(e, x - i);
         }
       }},
  };
  for (const Nest& nest : nests) {
    // Allocations of building, and of importing, evaluating, bounding and proving.
    const auto work = [&](int count) -> std::array<int64_t, 2> {
      const int64_t begin = plait::test::allocations();
      Pool pool;
      const Expr x = pool.symbol("x"), y = pool.symbol("y", {.lo = 0, .hi = 100});
      Expr e = nest.what == std::string("conditions") ? lt(x, y) : x;
      for (int i = 0; i < count; ++i) e = nest.wrap(x, y, e, i);
      EXPECT_GT(pool.size(), size_t(count)) << nest.what;
      EXPECT_LT(pool.size(), size_t(12 * count)) << nest.what;
      const int64_t built = plait::test::allocations();
      Pool other;
      const Expr copy = import(other, e);
      EXPECT_EQ(evaluate(copy, {{"x", 7}, {"y", 9}}), evaluate(e, {{"x", 7}, {"y", 9}}));
      bounds(copy), divisor(copy), prove(copy), symbols(copy);
      return {built - begin, plait::test::allocations() - built};
    };
    const std::array<int64_t, 2> once = work(5000), twice = work(10000);
    std::printf("10000 nested %s: %lld allocations, used %lld\n", nest.what, static_cast<long long>(twice[0]),
                static_cast<long long>(twice[1]));
    for (int i = 0; i < 2; ++i) EXPECT_LE(twice[i], 2.2 * double(once[i])) << nest.what;
  }
}

// Shared parts are visited once, however often they are met.
TEST(Sym, SharedPartsAreVisitedOnce) {
  Pool pool;
  const Expr x = pool.symbol("x"), y = pool.symbol("y");
  Expr e = lt(x, y);
  for (int i = 0; i < 200; ++i) e = select(eq(x, i), e, logical_not(e));
  EXPECT_TRUE(logical_not(logical_not(e)) == e);
  EXPECT_EQ(prove(e), Truth::unknown);
  EXPECT_EQ(evaluate(e, {{"x", 500}, {"y", 501}}), 1);
  Expr both = logical_and(e, ne(x, 3));
  for (int i = 0; i < 200; ++i) both = logical_or(logical_and(both, eq(y, i)), logical_not(both));
  EXPECT_EQ(prove(both), Truth::unknown);
  EXPECT_EQ(bounds(both).hi, 1);
}

// Text of many operands costs no more than their number squared, and memory no more than their number.
TEST(Sym, LongOperandLists) {
  Pool pool;
  std::string product = "x", least = "x0", sum = "x0", all = "x0 < 1", power = "(x + y)";
  for (int i = 1; i < 2000; ++i) {
    product += "*x";
    power += "*(x + y)";
    least += ", x" + std::to_string(i);
    sum += " + x" + std::to_string(i);
    all += " and x" + std::to_string(i) + " < 1";
  }
  for (const std::string& text : {product, power, "min(" + least + ")", sum, all}) {
    const Expr e = parse(pool, text);
    EXPECT_TRUE(parse(pool, print(e)) == e);
  }
  EXPECT_LT(pool.size(), 20000u);
  EXPECT_EQ(evaluate(parse(pool, product), {{"x", -1}}), 1);
}

}  // namespace
}  // namespace plait::sym
