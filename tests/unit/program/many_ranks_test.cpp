// Binding a program of many ranks: what numbers depend on is evaluated once for each position, and ranks that have the
// same share a plan.
#include <gtest/gtest.h>

#include "base/error.h"
#include "unit/program/build.h"

namespace plait {
namespace {

using test::Builder;

// h = x, cut over dp and tp; all of it gathered over tp, then summed over dp, and a rank's columns of it.
Builder gathered(int64_t dp, int64_t tp, const std::string& count = "chunk(chunk(n, d, rank.dp), t, rank.tp)") {
  Builder b({{"dp", 0, "d"}, {"tp", 0, "t"}}, {dp, tp});
  const ValueId x = b.input("x", {count, "4"});
  const ValueId h = b.alloc("h", {count, "4"});
  b.combine({x}, h, count + " * 4", 1);
  const ValueId all = b.alloc("all", {"chunk(n, d, rank.dp)", "4"});
  b.pieces(Collective::all_gather, h, all, {"1", count, "chunk(n, d, rank.dp)", "4"}, 1);
  const ValueId whole = b.alloc("whole", {"n", "4"});
  b.pieces(Collective::all_gather, all, whole, {"1", "chunk(n, d, rank.dp)", "n", "4"}, 0);
  const ValueId y = b.output("y", {"n", "4"});
  b.all_reduce(whole, y, CommReduce::max, 1);
  return b;
}

TEST(RankValues, AreThoseOfEachRank) {
  const Builder b = gathered(3, 4);
  RankValues values(b.program, {{"n", 11}});
  const sym::Expr nested = b.program.values[0].shape[0], outer = b.program.values[2].shape[0];
  for (int64_t rank = 0; rank < 12; ++rank) {
    const sym::Environment all = {{"n", 11}, {"d", 3}, {"t", 4}, {"rank.dp", rank / 4}, {"rank.tp", rank % 4}};
    for (sym::Expr expr : {nested, outer, b.program.values[0].shape[1]})
      EXPECT_EQ(values.value(expr, rank), sym::evaluate(expr, all));
  }
  EXPECT_EQ(values.value({}, 5), 1);
  EXPECT_EQ(values.axes({nested}).axes, (std::vector<int>{0, 1}));
  EXPECT_EQ(values.axes({outer, {}}).axes, std::vector<int>{0});
  EXPECT_EQ(values.evaluated(), 12u + 3u);
  EXPECT_EQ(values.classes({outer}), (std::vector<std::vector<int64_t>>{{0, 1, 2, 3, 4, 5, 6, 7}, {8, 9, 10, 11}}));
  EXPECT_EQ(values.classes({}).size(), 1u);
  EXPECT_THROW(RankValues(b.program, {}).value(outer, 0), UserError);
}

TEST(ManyRanks, BindWithFewEvaluations) {
  constexpr int64_t kRanks = 100000;
  const Builder b = gathered(1000, 100);
  RankValues values(b.program, {{"n", 250001}});
  const std::string text = print_memory(b.program, values);
  EXPECT_TRUE(text.starts_with("ranks 0 to 82, 100 to 182, ")) << text.substr(0, 200);
  EXPECT_LE(values.evaluated(), size_t(3 * kRanks));
  const int64_t held[] = {4711, 99999};
  const std::vector<RankBinding> bound = bind_ranks(b.program, values, held);
  ASSERT_EQ(bound.size(), 2u);
  EXPECT_EQ(bound[0].rank, 4711);
  EXPECT_EQ(bound[0].steps.size(), b.program.steps.size());
  EXPECT_LE(values.evaluated(), size_t(3 * kRanks)) << "nothing is evaluated twice";
}

TEST(ManyRanks, TeamsAreCheckedOfAllRanks) {
  constexpr const char* kOff = "chunk(chunk(n, d, rank.dp), t, rank.tp) + select(rank.dp == 7 and rank.tp == 3, 1, 0)";
  const Builder wrong = gathered(9, 5, kOff);
  RankValues values(wrong.program, {{"n", 500}});
  const int64_t held[] = {0};
  EXPECT_THROW(bind_ranks(wrong.program, values, held), InternalError) << "of a team that is not held";
  EXPECT_THROW(print_memory(wrong.program, values), InternalError);
}

TEST(ManyRanks, PlansAreToldOnceForAllThatHaveThem) {
  const Builder b = gathered(2, 3);
  RankValues values(b.program, {{"n", 7}});
  const std::string text = print_memory(b.program, values);
  for (const char* ranks : {"ranks 0 to 1: arena", "rank 2: arena", "ranks 3 to 5: arena"})
    EXPECT_NE(text.find(ranks), std::string::npos) << text;
}

}  // namespace
}  // namespace plait
