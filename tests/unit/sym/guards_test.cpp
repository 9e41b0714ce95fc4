#include "sym/guards.h"

#include <gtest/gtest.h>

#include "base/error.h"

namespace plait::sym {
namespace {

std::string text(const std::vector<Answer>& answers) {
  std::string out;
  for (const Answer& answer : answers) out += (out.empty() ? "" : ", ") + print(answer);
  return out;
}

TEST(Guards, NoteWhatFactsDoNotProve) {
  Pool pool;
  const Expr n = pool.symbol("n", {.lo = 1, .hi = 100}), m = pool.symbol("m", {.lo = 0});
  Guards guards({{"n", 64}, {"m", 40}}, {});
  EXPECT_TRUE(guards.decide(le(n, 100), "a"));
  EXPECT_FALSE(guards.decide(gt(n, 100), "a"));
  EXPECT_EQ(text(guards.answers()), "");
  EXPECT_TRUE(guards.decide(le(n * m, 2560), "a"));
  EXPECT_FALSE(guards.decide(lt(n * m, 2560), "b"));
  EXPECT_TRUE(guards.decide(le(n * m, 2560), "c")) << "the same question, which is noted once";
  EXPECT_TRUE(guards.decide(eq(mod(n, 16), 0), "d"));
  ASSERT_EQ(guards.answers().size(), 3u) << text(guards.answers());
  EXPECT_EQ(guards.answers()[0].guard.asked_by(), "a");
  EXPECT_TRUE(guards.answers()[0].yes);
  EXPECT_FALSE(guards.answers()[1].yes);
}

TEST(Guards, WithoutSizesOnlyWhatIsProven) {
  Pool pool;
  const Expr n = pool.symbol("n", {.lo = 1, .hi = 100});
  Guards guards;
  EXPECT_TRUE(guards.decide(le(n, 100), "a"));
  EXPECT_FALSE(guards.decide(le(n, 99), "a"));
  EXPECT_TRUE(guards.answers().empty());
}

// One answer for all ranks, whichever asks.
TEST(Guards, HoldOnEveryRank) {
  Pool pool;
  const Expr n = pool.symbol("n", {.lo = 1}), rank = pool.symbol("rank.tp", {.lo = 0, .hi = 2});
  const Expr piece = chunk(n, pool.constant(3), rank);
  const RankPositions ranks = {{"rank.tp", 3}};
  Guards uneven({{"n", 10}}, ranks), even({{"n", 9}}, ranks);
  EXPECT_FALSE(uneven.decide(ge(piece, 3), "a"));  // 4, 4, 2
  EXPECT_TRUE(even.decide(ge(piece, 3), "a"));
  EXPECT_TRUE(uneven.decide(le(piece, 4), "a"));
}

// A size past what integers hold is no reason to end: it is an answer.
TEST(Guards, OverflowIsNo) {
  Pool pool;
  const Expr n = pool.symbol("n", {.lo = 1}), m = pool.symbol("m", {.lo = 1});
  Guards guards({{"n", int64_t{1} << 40}, {"m", int64_t{1} << 40}}, {});
  EXPECT_FALSE(guards.decide(le(n * m, 100), "a"));
}

TEST(GuardTree, SameSizesFindTheSameKeyInAnyOrder) {
  Pool pool;
  const Expr n = pool.symbol("n", {.lo = 1});
  // What comes next depends on the answer before.
  const auto compile = [&](int64_t size) {
    Guards guards({{"n", size}}, {});
    if (guards.decide(le(n, 10), "small"))
      guards.decide(eq(mod(n, 2), 0), "even");
    else
      guards.decide(le(n, 1000), "medium");
    return guards.answers();
  };
  std::map<int64_t, std::string> keys;
  for (const bool backwards : {false, true}) {
    GuardTree tree;
    for (int64_t i = 1; i <= 40; ++i) {
      const int64_t size = 70 * (backwards ? 41 - i : i) - 69;
      const Environment sizes = {{"n", size}};
      const std::string made = tree.add("base", compile(size));
      EXPECT_EQ(tree.key("base", sizes, {}), made);
      const auto [it, fresh] = keys.try_emplace(size, made);
      EXPECT_EQ(it->second, made) << size << (fresh ? " at first" : " again");
      EXPECT_EQ(tree.key("other", sizes, {}), "other");
    }
  }
  EXPECT_EQ(keys.at(1), "base, n < 11, not (mod(n, 2) == 0)");
  EXPECT_EQ(keys.at(71), "base, not (n < 11), n < 1001");
  std::set<std::string> different;
  for (const auto& [size, key] : keys) different.insert(key);
  EXPECT_EQ(different.size(), 3u);
}

TEST(GuardTree, ACompilationThatAsksDifferentlyIsAFault) {
  Pool pool;
  const Expr n = pool.symbol("n", {.lo = 1});
  const auto asks = [&](int64_t limit) {
    Guards guards({{"n", 5}}, {});
    guards.decide(le(n, limit), "a");
    return guards.answers();
  };
  GuardTree tree;
  tree.add("base", asks(10));
  EXPECT_THROW(tree.add("base", asks(11)), InternalError);
}

Environment representative_of(const std::string& facts, const Environment& defaults,
                              const std::vector<Answer>& answers) {
  return representative(parse_facts(facts), defaults, answers, {});
}

TEST(Representative, DefaultsThatSatisfyAll) {
  Pool pool;
  const Expr n = pool.symbol("n", {.lo = 1}), m = pool.symbol("m", {.lo = 1});
  Guards guards({{"m", 7}, {"n", 48}}, {});
  guards.decide(eq(mod(n, 16), 0), "a");
  guards.decide(le(n * m, 1000), "b");
  EXPECT_EQ(representative_of("m: 1 in 1.., n: 1 in 1..", {{"m", 5}, {"n", 160}}, guards.answers()),
            (Environment{{"m", 5}, {"n", 160}}));
  EXPECT_EQ(representative_of("m: 1 in 1.., n: 1 in 1..", {}, {}), (Environment{{"m", 512}, {"n", 512}}));
}

TEST(Representative, DefaultsMoveIntoTheFacts) {
  EXPECT_EQ(representative_of("m: 1 in 10..20, n: 16 in 16..2147483632, o = 3, p: 1 in 5000000000..",
                              {{"m", 5}, {"n", 17}, {"o", 8}, {"p", 1}}, {}),
            (Environment{{"m", 10}, {"n", 32}, {"o", 3}, {"p", 5000000000}}));
  EXPECT_EQ(representative_of("m: 1 in 10..20", {{"m", INT64_MAX}}, {}), (Environment{{"m", 20}}));
}

// Every set of answers that some sizes give has a representative that gives the same.
TEST(Representative, SatisfiesTheAnswersOfAnySizes) {
  Pool pool;
  const Expr n = pool.symbol("n", {.lo = 1}), m = pool.symbol("m", {.lo = 1});
  for (const int64_t a : {1, 8, 16, 17, 4096, 100000, 1048576})
    for (const int64_t b : {1, 5, 16, 40, 999999}) {
      Guards guards({{"m", b}, {"n", a}}, {});
      for (const int64_t d : {16, 8}) guards.decide(eq(mod(n, d), 0), "rows");
      guards.decide(eq(mod(m, 16), 0), "rows");
      guards.decide(le(n, 32768), "short");
      guards.decide(le(n * m, 65536), "small");
      const Environment sizes = representative_of("m: 1 in 1.., n: 1 in 1..", {{"m", 3}, {"n", 100}}, guards.answers());
      for (const Answer& answer : guards.answers())
        EXPECT_EQ(answer.guard.holds(sizes, {}), answer.yes) << print(answer) << " of n = " << a << ", m = " << b;
    }
}

TEST(Representative, OfWhatNothingSatisfiesIsNoError) {
  Pool pool;
  const Expr n = pool.symbol("n", {.lo = 1});
  const std::vector<Answer> answers = {{Guard(gt(n, 100), "a"), true}, {Guard(gt(n, 50), "b"), false}};
  EXPECT_EQ(representative_of("n: 1 in 1..", {{"n", 7}}, answers), (Environment{{"n", 7}}));
}

}  // namespace
}  // namespace plait::sym
