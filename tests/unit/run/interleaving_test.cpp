#include "run/interleaving.h"

#include <gtest/gtest.h>

#include <set>

#include "base/error.h"

namespace plait {
namespace {

constexpr LaneAction L{LaneAction::Kind::local, 0};
LaneAction M(int32_t meeting) { return {LaneAction::Kind::meet, meeting}; }
LaneAction R(int32_t event) { return {LaneAction::Kind::record, event}; }
LaneAction W(int32_t event) { return {LaneAction::Kind::wait, event}; }

struct Log {
  std::string text;
  bool run(Interleaving& ranks, uint64_t seed) {
    text.clear();
    return ranks.run(
        seed, [&](int64_t rank, size_t action) { text += fmt::format("{}.{} ", rank, action); },
        [&](int32_t meeting, int64_t, size_t) { text += fmt::format("m{} ", meeting); });
  }
};

std::string named(int64_t lane) { return fmt::format("lane {}", lane); }
std::string words(int64_t rank, size_t action) { return fmt::format("<{}.{}>", rank, action); }

TEST(Interleaving, SeedZeroTakesTurns) {
  Interleaving ranks({{L, M(0), L}, {L, L, M(0), L}, {L}}, {{0, 1}});
  Log log;
  EXPECT_TRUE(log.run(ranks, 0));
  EXPECT_EQ(log.text, "0.0 1.0 2.0 1.1 m0 0.2 1.3 ");
  EXPECT_TRUE(log.run(ranks, 0));
  EXPECT_EQ(log.text, "0.0 1.0 2.0 1.1 m0 0.2 1.3 ") << "starts afresh";
}

TEST(Interleaving, SeedsDifferAndRepeat) {
  Interleaving ranks({{L, L, L, M(0), L}, {L, L, M(0), L}, {L, M(1)}, {L, M(1), L}}, {{0, 1}, {2, 3}});
  std::set<std::string> orders;
  for (uint64_t seed = 0; seed < 50; ++seed) {
    Log a, b;
    ASSERT_TRUE(a.run(ranks, seed));
    ASSERT_TRUE(b.run(ranks, seed));
    ASSERT_EQ(a.text, b.text);
    orders.insert(a.text);
  }
  EXPECT_GT(orders.size(), 30u);
}

TEST(Interleaving, ReportsWhoWaitsForWhom) {
  Interleaving crossed({{L, M(0), M(1)}, {L, M(1), M(0)}}, {{0, 1}, {0, 1}});
  Interleaving gone({{L, M(0)}, {L, L}, {M(0)}}, {{0, 1, 2}});
  for (uint64_t seed = 0; seed < 20; ++seed) {
    Log log;
    ASSERT_FALSE(log.run(crossed, seed));
    EXPECT_EQ(crossed.report(named, words), "lane 0 waits at <0.1> for lane 1\n      lane 1 waits at <1.1> for lane 0");
    ASSERT_FALSE(log.run(gone, seed));
    EXPECT_EQ(gone.report(named, words),
              "lane 0 waits at <0.1> for lane 1\n      lane 1 has finished\n      lane 2 waits at <2.0> for lane 1");
  }
}

TEST(Interleaving, WaitsForEvents) {
  // Lane 1 goes on once lane 0 has recorded, whoever comes first.
  Interleaving lanes({{L, R(0), L, W(1), L}, {W(0), L, R(1), L}}, {});
  std::set<std::string> orders;
  for (uint64_t seed = 0; seed < 50; ++seed) {
    Log log;
    ASSERT_TRUE(log.run(lanes, seed));
    auto at = [&](const char* what) { return log.text.find(what); };
    ASSERT_LT(at("0.0"), at("1.1")) << log.text;
    ASSERT_LT(at("1.1"), at("0.4")) << log.text;
    orders.insert(log.text);
  }
  EXPECT_GT(orders.size(), 3u);
  Interleaving stuck({{W(0), L}, {L, W(1), R(0)}, {}}, {});
  Log log;
  ASSERT_FALSE(log.run(stuck, 0));
  EXPECT_EQ(stuck.report(named, words), "lane 0 waits at <0.0> for lane 1\n      lane 1 waits at <1.1> for nobody");
}

TEST(Interleaving, NoRanksAndNoActions) {
  Log log;
  Interleaving none({}, {}), idle({{}, {}}, {});
  for (uint64_t seed : {0, 5}) {
    EXPECT_TRUE(log.run(none, seed));
    EXPECT_TRUE(log.run(idle, seed));
    EXPECT_EQ(log.text, "");
  }
}

TEST(Interleaving, GoesOnAfterAnError) {
  Interleaving ranks({{L, M(0)}, {L, M(0)}}, {{0, 1}});
  for (int stop = 0; stop < 3; ++stop) {
    int left = stop;
    auto step = [&](auto...) {
      if (left-- == 0) throw CommError("x", "", "");
    };
    EXPECT_THROW(ranks.run(0, step, step), CommError);
  }
  Log log;
  EXPECT_TRUE(log.run(ranks, 0));
  EXPECT_EQ(log.text, "0.0 1.0 m0 ");
}

}  // namespace
}  // namespace plait
