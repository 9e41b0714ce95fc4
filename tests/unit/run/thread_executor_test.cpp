// Ranks that are driven by a thread each, or one rank of several by the thread that calls.
#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <set>
#include <thread>

#include "comm/threads/threads.h"
#include "unit/program/samples.h"

namespace plait {
namespace {

using test::Builder;
using test::Failing;
using test::tensor;
using test::text_of;
using test::Tour;

struct ThreadRunner {
  test::TestDevice device;
  std::shared_ptr<ThreadCommunicators> comms = std::make_shared<ThreadCommunicators>();
  BoundProgram bound;
  ThreadRunner(std::shared_ptr<const Program> program, const sym::Environment& sizes, ExecutorOptions options = {})
      : bound(std::move(program), sizes, device, comms, threads(std::move(options))) {}
  static ExecutorOptions threads(ExecutorOptions options) {
    options.drive = RankDrive::threads;
    return options;
  }
};

void expect_tour(const std::vector<RankTensors>& outputs, int64_t n) {
  for (const RankTensors& rank : outputs)
    for (int64_t i = 0; i < n; ++i) ASSERT_EQ(rank[1].at(i), 3 * double(i + 1));
}

TEST(ThreadExecutor, RunsAgainAndAgain) {
  for (int64_t ranks : {1, 2, 3, 5}) {
    ThreadRunner runner(Tour(ranks).done(), {{"n", 7}}, {.poison = true});
    for (int run = 0; run < 20; ++run) expect_tour(runner.bound.run(Tour::inputs(7, ranks), {}), 7);
    const int64_t bytes = 20 * (ranks - 1) * 7 * 4 * (1 + 1 + 2);
    EXPECT_EQ(runner.comms->traffic(), (CommTraffic{bytes, bytes}));
  }
}

TEST(ThreadExecutor, ThreadsLiveAsLongAsTheProgramAndShareTheCores) {
  Builder b = Builder::tp(3);
  const ValueId x = b.input("x", {"1"}), y = b.output("y", {"1"});
  std::mutex mutex;
  std::set<std::thread::id> ids;
  std::set<int> shares;
  b.launch("k", {x}, {y}, {}, [&](const LaunchArguments& args) {
    const std::lock_guard lock(mutex);
    ids.insert(std::this_thread::get_id());
    shares.insert(args.threads);
  });
  ThreadRunner runner(b.done(), {});
  const std::vector<RankTensors> inputs(3, RankTensors{tensor({1}, {1})});
  for (int run = 0; run < 5; ++run) runner.bound.run(inputs, {});
  EXPECT_EQ(ids.size(), 3u);
  EXPECT_EQ(ids.count(std::this_thread::get_id()), 0u);
  EXPECT_EQ(shares, (std::set<int>{std::max(1, int(std::thread::hardware_concurrency()) / 3)}));
  runner.bound.run(inputs, {.threads = 7});
  EXPECT_EQ(shares.count(7), 1u);
}

TEST(ThreadExecutor, OneErrorEndsAllRanks) {
  for (int run = 0; run < 20; ++run) {
    ThreadRunner runner(Failing([] { throw UserError("broken", "deep", "mend it"); }).done(), {});
    EXPECT_EQ(text_of([&] { runner.bound.run(Failing::inputs(-1), {}); }),
              "broken\n  at: rank 1, step 2 (launch @bad(%x) -> (%h) on compute); deep\n  help: mend it");
    EXPECT_NE(text_of([&] { runner.bound.run(Failing::inputs(1), {}); }).find("rank 1, step 2 (launch @bad"),
              std::string::npos)
        << "the communicators have ended";
  }
}

TEST(ThreadExecutor, KeepsTheTypeOfAnError) {
  ThreadRunner missing(Failing([] { throw MissingError("gone", "", ""); }).done(), {});
  EXPECT_THROW(missing.bound.run(Failing::inputs(-1), {}), MissingError);
  ThreadRunner foreign(Failing([] { throw std::runtime_error("odd"); }).done(), {});
  EXPECT_THROW(foreign.bound.run(Failing::inputs(-1), {}), CommError);
}

// Two processes of one rank each, as far as the program can tell: two bound programs on two threads.
TEST(ThreadExecutor, OneHeldRankIsDrivenByItsCaller) {
  auto program = Tour(2).done();
  auto comms = std::make_shared<ThreadCommunicators>();
  const auto inputs = Tour::inputs(9, 2);
  std::vector<std::vector<RankTensors>> outputs(2);
  auto process = [&](int64_t rank) {
    test::TestDevice device;
    BoundProgram bound(program, {{"n", 9}}, device, comms, {.ranks = {rank}, .poison = true});
    EXPECT_EQ(bound.ranks(), 2);
    EXPECT_EQ(std::vector<int64_t>(bound.held().begin(), bound.held().end()), std::vector<int64_t>{rank});
    for (int run = 0; run < 5; ++run)
      outputs[size_t(rank)] = bound.run(std::vector<RankTensors>{inputs[size_t(rank)]}, {.seed = uint64_t(run)});
  };
  std::thread other(process, 1);
  process(0);
  other.join();
  for (const auto& rank : outputs) expect_tour(rank, 9);
  EXPECT_EQ(outputs[1][0][0].to_doubles(), (std::vector<double>{36, 42, 48, 54}));
}

TEST(ThreadExecutor, RefusesRanksThatAreNotThere) {
  test::TestDevice device;
  auto bind = [&](std::vector<int64_t> ranks, RankDrive drive) {
    return text_of([&] {
      BoundProgram bound(Tour(3).done(), {{"n", 9}}, device, std::make_shared<ThreadCommunicators>(),
                         {.drive = drive, .ranks = std::move(ranks)});
    });
  };
  EXPECT_NE(bind({3}, RankDrive::stepped).find("there is no rank 3"), std::string::npos);
  EXPECT_NE(bind({-1}, RankDrive::threads).find("there is no rank -1"), std::string::npos);
  EXPECT_NE(bind({1, 0}, RankDrive::threads).find("rank 0 stands behind rank 1"), std::string::npos);
  EXPECT_NE(bind({0, 1}, RankDrive::stepped).find("2 of 3 ranks are stepped"), std::string::npos);
  EXPECT_EQ(bind({0, 1}, RankDrive::threads), "no error");
}

// An observer is called for one rank at a time.
TEST(ThreadExecutor, ObserversAndTimes) {
  std::multiset<std::pair<int64_t, size_t>> seen;
  ExecutorOptions options;
  options.timing = true;
  options.observer = [&](int64_t rank, size_t step) { seen.insert({rank, step}); };
  ThreadRunner runner(Failing([] {}).done(), {}, options);
  for (int run = 0; run < 10; ++run) runner.bound.run(Failing::inputs(2), {});
  EXPECT_EQ(seen.size(), 60u);
  for (int64_t rank = 0; rank < 3; ++rank)
    for (size_t step : {2, 5}) {
      EXPECT_EQ(seen.count({rank, step}), 10u);
      EXPECT_EQ(runner.bound.step_times(rank)[step].count, 10);
    }
}

}  // namespace
}  // namespace plait
