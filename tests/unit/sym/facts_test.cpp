// Facts as a value: canonical form, text, merging, pools.
#include "sym/facts.h"

#include <gtest/gtest.h>

#include "base/error.h"
#include "support/refusal.h"

namespace plait::sym {
namespace {

using plait::testing::refusal;

TEST(Facts, AreCanonical) {
  Facts a, b;
  a.state("n", {.lo = 1, .hi = 100, .multiple_of = 8}).pin("t", 4).state("free", {});
  b.state("t", {.lo = 4, .hi = 4}).state("n", {.lo = 8}).state("n", {.hi = 103, .multiple_of = 4});
  EXPECT_FALSE(a == b);
  b.state("n", {.multiple_of = 8});
  EXPECT_EQ(print(a), "n: 8 in 8..96, t = 4");
  EXPECT_EQ(print(b), "n: 8 in 8..96, t = 4");
  EXPECT_TRUE(a == b);
  EXPECT_TRUE(Facts().rows().empty());
  EXPECT_EQ(print(Facts()), "");
  Facts one;
  one.state("n", {.lo = 9, .hi = 15, .multiple_of = 4});
  EXPECT_EQ(print(one), "n = 12");
  EXPECT_EQ(one.rows().at("n").multiple_of, 1);
}

TEST(Facts, TextIsReadBack) {
  for (const char* text : {"n = 5", "n: 16 in 16..2147483632", "i: 1 in 0.. below n", "a: 1 in ..-3, b = -4",
                           "x: 3 in ..", "i: 1 in 0.. below min(n*t, m), rank.tp: 1 in 0..3",
                           "k: 1 in 0..7 below m + 2*n - 1", "n = 5, n: 1 in .. below m"}) {
    const Facts facts = parse_facts(text);
    EXPECT_EQ(print(facts), text);
    EXPECT_TRUE(parse_facts(print(facts)) == facts);
  }
  EXPECT_EQ(print(parse_facts(" b = 1 ,a:2 in 1 .. 5\n")), "a: 2 in 2..4, b = 1");
  EXPECT_EQ(print(parse_facts("i: 1 in 0.. below n, i: 2 in .. below m")), "i: 2 in 0.. below min(m, n)");
  EXPECT_EQ(print(parse_facts("")), "");
}

TEST(Facts, BadTextIsRefused) {
  for (const char* text : {"n",
                           "n:",
                           "n =",
                           "n = x",
                           "n: 1",
                           "n: 1 in",
                           "n: 1 in 3",
                           "n: 1 in 3.",
                           "n = 1,",
                           ", n = 1",
                           "n = 1 2",
                           "= 3",
                           "n: 0 in ..",
                           "n: -2 in ..",
                           "n: 1 in 5..3",
                           "n: 4 in 5..7",
                           "n: 1 in .. below",
                           "n: 1 in .. below (",
                           "min = 3",
                           "1n = 3",
                           "n = 9223372036854775808",
                           "n: 1 in 3..4 above 3",
                           "n = 3, n = 4",
                           "n.: 1 in ..",
                           "n: 1 in 0..\xff"})
    EXPECT_THROW(parse_facts(text), UserError) << text;
  EXPECT_NE(refusal([] { parse_facts("n = 1, m"); }).find("column 9"), std::string::npos);
  EXPECT_NE(refusal([] { parse_facts("n: 4 in 5..7"); }).find("'n'"), std::string::npos);
  EXPECT_NE(refusal([] { parse_facts("n: 4 in 5..7"); }).find("no multiple of 4 in 5..7"), std::string::npos);
}

TEST(Facts, GoThroughPools) {
  const Facts facts = parse_facts("i: 1 in 0.. below n*m, m = 3, n: 4 in 4..64");
  Pool pool;
  facts.apply(pool);
  EXPECT_TRUE(Facts::of(pool) == facts) << print(Facts::of(pool));
  EXPECT_TRUE(proven(lt(pool.find_symbol("i"), pool.find_symbol("n") * pool.find_symbol("m"))));
  EXPECT_EQ(bounds(pool.find_symbol("i")).hi, 191);
  EXPECT_EQ(divisor(pool.find_symbol("n")), 4);
  // A pool that knows more keeps it.
  pool.symbol("n", {.hi = 32});
  facts.apply(pool);
  EXPECT_EQ(bounds(pool.find_symbol("n")).hi, 32);
  EXPECT_TRUE(Facts::of(pool).implies(facts));
  EXPECT_FALSE(facts.implies(Facts::of(pool)));
  Pool other;
  other.symbol("n", {.hi = 3});
  EXPECT_THROW(facts.apply(other), UserError);
}

TEST(Facts, AreCheckedAgainstValues) {
  const Facts facts = parse_facts("i: 1 in 0.. below n, n: 4 in 4..64");
  EXPECT_NO_THROW(facts.check({{"n", 8}, {"i", 7}, {"other", -1}}));
  for (const Environment& env : {Environment{{"n", 8}, {"i", 8}}, {{"n", 6}}, {{"n", 68}}, {{"i", -1}}})
    EXPECT_THROW(facts.check(env), UserError);
  EXPECT_NE(refusal([&] { facts.check({{"n", 6}}); }).find("'n'"), std::string::npos);
}

TEST(Facts, MergingRefusesContradictions) {
  Facts a = parse_facts("n: 4 in 4..64, t = 2");
  a.merge(parse_facts("n: 6 in 1..40"));
  EXPECT_EQ(print(a), "n: 12 in 12..36, t = 2");
  EXPECT_NE(refusal([&] { a.merge(parse_facts("t = 3")); }).find("'t'"), std::string::npos);
  // Two multiples that meet past 64 bits leave 0 only.
  const int64_t p = (int64_t{1} << 61) - 1, q = (int64_t{1} << 31) - 1;
  Facts both;
  both.state("z", {.multiple_of = p}).state("z", {.multiple_of = q});
  EXPECT_EQ(print(both), "z = 0");
  EXPECT_THROW(both.state("z", {.lo = 1}), UserError);
  Facts first;
  first.state("z", {.lo = 1, .multiple_of = p});
  EXPECT_THROW(first.state("z", {.multiple_of = q}), UserError);
}

TEST(Facts, ImplyWeakerOnes) {
  const Facts exact = parse_facts("n = 48"), wide = parse_facts("n: 16 in 2..2147483647");
  EXPECT_TRUE(exact.implies(wide));
  EXPECT_FALSE(wide.implies(exact));
  EXPECT_TRUE(wide.implies(parse_facts("n: 8 in 16..")));
  EXPECT_FALSE(wide.implies(parse_facts("n: 3 in ..")));
  EXPECT_FALSE(wide.implies(parse_facts("m: 1 in 0..")));
  EXPECT_TRUE(parse_facts("i: 1 in 0.. below n, n: 1 in 0..9").implies(parse_facts("i: 1 in 0..8 below n + 1")));
  EXPECT_TRUE(wide.implies(Facts()));
}

}  // namespace
}  // namespace plait::sym
