#include "run/memory_plan.h"

#include <gtest/gtest.h>

#include <random>

#include "unit/program/build.h"

namespace plait {
namespace {

// Alive from one step to another of a list in total order.
Lifetime lifetime(int64_t first, int64_t last) { return {first, last, {first, 0}, {last + 1, 0}}; }

int64_t round_up(int64_t bytes) { return (bytes + 63) / 64 * 64; }

void expect_sound(const MemoryPlan& plan, const std::vector<Lifetime>& lives, const std::vector<int64_t>& bytes) {
  int64_t end = 0;
  for (size_t i = 0; i < bytes.size(); ++i) {
    ASSERT_EQ(plan.offsets[i] % 64, 0);
    ASSERT_GE(plan.offsets[i], 0);
    if (bytes[i] == 0 || lives[i].last < lives[i].first) continue;
    end = std::max(end, plan.offsets[i] + round_up(bytes[i]));
    for (size_t j = 0; j < i; ++j) {
      if (bytes[j] == 0 || !lives[i].overlaps(lives[j])) continue;
      const bool apart = plan.offsets[i] + bytes[i] <= plan.offsets[j] || plan.offsets[j] + bytes[j] <= plan.offsets[i];
      ASSERT_TRUE(apart) << "buffers " << i << " and " << j;
    }
  }
  ASSERT_EQ(plan.arena_bytes, end);
  ASSERT_GE(plan.arena_bytes, plan.live_bytes);
}

TEST(MemoryPlan, NeverOverlapsLiveBuffers) {
  std::mt19937 random(7);
  double arena = 0, alive = 0;
  for (int round = 0; round < 500; ++round) {
    const int count = 1 + int(random() % 40), steps = 1 + int(random() % 30);
    std::vector<Lifetime> lives;
    std::vector<int64_t> bytes;
    for (int i = 0; i < count; ++i) {
      const int64_t first = random() % steps, last = first + int64_t(random() % 6) - 1;
      lives.push_back(lifetime(first, last));
      bytes.push_back(random() % 5 == 0 ? 0 : int64_t(random() % 1000));
    }
    const MemoryPlan plan = plan_memory(lives, bytes);
    expect_sound(plan, lives, bytes);
    const MemoryPlan again = plan_memory(lives, bytes);
    ASSERT_EQ(again.offsets, plan.offsets);
    int64_t most = 0;
    for (int s = 0; s < steps + 6; ++s) {
      int64_t sum = 0;
      for (int i = 0; i < count; ++i)
        if (lives[i].first <= s && s <= lives[i].last) sum += round_up(bytes[i]);
      most = std::max(most, sum);
    }
    ASSERT_EQ(plan.live_bytes, most);
    arena += double(plan.arena_bytes);
    alive += double(plan.live_bytes);
  }
  EXPECT_LT(arena, 1.02 * alive) << "the plan wastes memory";
}

TEST(MemoryPlan, ReusesWhatIsDead) {
  const std::vector<Lifetime> lives = {lifetime(0, 1), lifetime(1, 2), lifetime(2, 3), lifetime(3, 4)};
  const MemoryPlan plan = plan_memory(lives, std::vector<int64_t>{100, 100, 100, 100});
  EXPECT_EQ(plan.offsets, (std::vector<int64_t>{0, 128, 0, 128}));
  EXPECT_EQ(plan.arena_bytes, 256);
  EXPECT_EQ(plan.live_bytes, 256);
}

TEST(MemoryPlan, TheCheckFindsWhatItMust) {
  const std::vector<Lifetime> lives = {lifetime(0, 1), lifetime(1, 2), lifetime(2, 3), Lifetime()};
  const std::vector<int64_t> bytes = {100, 100, 64, 100};
  using Pair = std::pair<int64_t, int64_t>;
  EXPECT_EQ(shared_while_alive(plan_memory(lives, bytes), lives, bytes), (Pair{-1, -1}));
  EXPECT_EQ(shared_while_alive({{0, 64, 0, 0}, 256, 256}, lives, bytes), (Pair{0, 1}));
  EXPECT_EQ(shared_while_alive({{0, 128, 192, 0}, 256, 256}, lives, bytes), (Pair{1, 2}));
  EXPECT_EQ(shared_while_alive({{0, 128, 0, 0}, 200, 256}, lives, bytes), (Pair{1, 1})) << "past the arena";
}

TEST(MemoryPlan, NothingTakesNoPlace) {
  const std::vector<Lifetime> lives = {lifetime(0, 5), Lifetime(), lifetime(0, 0)};
  const MemoryPlan plan = plan_memory(lives, std::vector<int64_t>{0, 100, 1});
  EXPECT_EQ(plan.arena_bytes, 64);
  EXPECT_EQ(plan_memory({}, {}).arena_bytes, 0);
}

TEST(Lifetimes, FromFirstWriteToLastReadOfTemporaries) {
  test::Builder b;
  const ValueId x = b.input("x", {"4"});
  const ValueId unused = b.alloc("unused", {"4"});
  const ValueId h = b.alloc("h", {"4"});
  const ValueId y = b.output("y", {"4"});
  b.combine({x}, h, "4", 0);          // step 3
  b.combine({h, h}, unused, "4", 0);  // step 4
  b.combine({x, h}, y, "4", 0);       // step 5
  const auto lives = lifetimes(b.program);
  EXPECT_LT(lives[x.index].last, lives[x.index].first);
  EXPECT_LT(lives[y.index].last, lives[y.index].first);
  EXPECT_EQ(lives[h.index], (Lifetime{3, 5, {0, 0}, {3, 0}}));
  EXPECT_EQ(lives[unused.index], (Lifetime{4, 4, {1, 0}, {2, 0}}));
}

}  // namespace
}  // namespace plait
