// Several threads run one bound program: at once where runs share nothing that they write, else one after another.
#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <thread>

#include "base/error.h"
#include "unit/program/samples.h"

namespace plait {
namespace {

using test::Builder;
using test::Runner;
using test::tensor;
using test::Tour;

constexpr int kThreads = 3;

// y = 2 (x + 1), by a temporary between whose write and read `meet` is called.
std::shared_ptr<const Program> through_memory(std::function<void()> meet) {
  Builder b;
  const ValueId x = b.input("x", {"n"}), h = b.alloc("h", {"n"}), y = b.output("y", {"n"});
  b.combine({x}, h, "n", 1);
  b.launch("twice", {h}, {y}, {"n"}, [meet = std::move(meet)](const LaunchArguments& args) {
     meet();
     for (int64_t i = 0; i < args.integers[0]; ++i)
       static_cast<float*>(args.buffers[1])[i] = 2 * static_cast<const float*>(args.buffers[0])[i];
   }).threads = b.expr("n");
  return b.done();
}

// Runs on threads of their own; how many results were not those of their inputs.
int wrong_results(BoundProgram& bound, int64_t n) {
  std::atomic<int> wrong = 0;
  std::vector<std::thread> threads;
  for (int t = 0; t < kThreads; ++t)
    threads.emplace_back([&, t] {
      const RankTensors inputs{tensor({n}, std::vector<double>(size_t(n), t))};
      for (int i = 0; i < 20; ++i) {
        const auto outputs = bound.run(std::vector<RankTensors>{inputs});
        if (outputs[0][0].to_doubles() != std::vector<double>(size_t(n), 2.0 * (t + 1))) ++wrong;
      }
    });
  for (std::thread& thread : threads) thread.join();
  return wrong;
}

TEST(ConcurrentRuns, HaveMemoryOfTheirOwn) {
  std::atomic<int> inside = 0;
  std::atomic<bool> met = false;
  Runner runner(through_memory([&] {  // the first round waits until all threads have written their temporary
                  ++inside;
                  const auto limit = std::chrono::steady_clock::now() + std::chrono::seconds(30);
                  while (!met && inside < kThreads && std::chrono::steady_clock::now() < limit)
                    std::this_thread::yield();
                  met = met || inside >= kThreads;
                }),
                {{"n", 1000}});
  EXPECT_TRUE(runner.bound.concurrent());
  EXPECT_EQ(wrong_results(runner.bound, 1000), 0);
  EXPECT_TRUE(met) << "no two runs went on at once";
  EXPECT_EQ(runner.bound.most_at_once(), size_t(kThreads));
}

// A program that is watched runs for one thread at a time.
TEST(ConcurrentRuns, WaitForEachOtherWhereTheyAreWatched) {
  std::atomic<int> inside = 0, most = 0;
  Runner runner(through_memory([&] {
                  const int now = ++inside;
                  if (now > most) most = now;
                  std::this_thread::yield();
                  --inside;
                }),
                {{"n", 64}}, {.timing = true});
  EXPECT_FALSE(runner.bound.concurrent());
  EXPECT_EQ(wrong_results(runner.bound, 64), 0);
  EXPECT_EQ(most, 1);
  EXPECT_EQ(runner.bound.most_at_once(), 1u);
  EXPECT_EQ(runner.bound.step_times(0)[3].count, kThreads * 20);
}

// So does one with collectives, whose ranks meet in the communicator.
TEST(ConcurrentRuns, WaitForEachOtherWhereRanksMeet) {
  const int64_t n = 37, ranks = 2;
  Runner runner(Tour(ranks).done(), {{"n", n}});
  EXPECT_FALSE(runner.bound.concurrent());
  const auto inputs = Tour::inputs(n, ranks);
  const auto expected = runner.bound.run(inputs);
  std::atomic<int> wrong = 0;
  std::vector<std::thread> threads;
  for (int t = 0; t < kThreads; ++t)
    threads.emplace_back([&] {
      for (int i = 0; i < 20; ++i)
        if (runner.bound.run(inputs)[1][1].to_doubles() != expected[1][1].to_doubles()) ++wrong;
    });
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(wrong, 0);
}

// A run that fails gives back what it used.
TEST(ConcurrentRuns, GoOnAfterARunThatFailed) {
  std::atomic<bool> fails = true;
  Runner runner(through_memory([&] {
                  if (fails) throw UserError("planted", "", "");
                }),
                {{"n", 8}});
  EXPECT_THROW(runner.bound.run(std::vector<RankTensors>{{tensor({8}, std::vector<double>(8, 1))}}), UserError);
  fails = false;
  EXPECT_EQ(wrong_results(runner.bound, 8), 0);
}

}  // namespace
}  // namespace plait
