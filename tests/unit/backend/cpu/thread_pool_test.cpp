#include "backend/cpu/thread_pool.h"
#include "base/sanitizers.h"

#include <dlfcn.h>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <memory>
#include <set>
#include <vector>

namespace plait {
namespace {

// Whether the caller is in a parallel region of OpenMP's.
bool in_parallel() {
  static const auto ask = reinterpret_cast<int (*)()>(dlsym(dlopen("libgomp.so.1", RTLD_LAZY), "omp_in_parallel"));
  return ask() != 0;
}

struct Counts {
  mutable std::vector<std::atomic<int>> visits;
  mutable std::mutex mutex;
  mutable std::set<std::thread::id> threads;
  mutable std::atomic<int> on_openmp = 0;  // pieces that a team of OpenMP's took
  bool asks_openmp = false;
  int microseconds = 0;
  explicit Counts(int64_t n) : visits(size_t(n)) {}

  static void run(const void* context, int64_t begin, int64_t end) {
    const auto* counts = static_cast<const Counts*>(context);
    for (int64_t i = begin; i < end; ++i) ++counts->visits[size_t(i)];
    if (counts->asks_openmp) counts->on_openmp += in_parallel();
    if (counts->microseconds == 0) return;
    std::this_thread::sleep_for(std::chrono::microseconds(counts->microseconds));
    const std::lock_guard lock(counts->mutex);
    counts->threads.insert(std::this_thread::get_id());
  }
  bool each_once() const {
    for (const auto& visit : visits) {
      if (visit != 1) return false;
    }
    return true;
  }
};

// On workers of its own, and on OpenMP's, which once loaded stays: each test is a process in ctest.
class ThreadPools : public ::testing::TestWithParam<bool> {
 protected:
  void SetUp() override {
    if (GetParam() && dlopen("libgomp.so.1", RTLD_LAZY) == nullptr) GTEST_SKIP() << "no GNU OpenMP";
  }
};

INSTANTIATE_TEST_SUITE_P(On, ThreadPools, ::testing::Bool(),
                         [](const auto& test) { return test.param ? "openmp" : "workers"; });

TEST_P(ThreadPools, CoversEveryIterationOnce) {
  for (int threads : {1, 2, 3, 8}) {
    ThreadPool pool(threads);
    EXPECT_EQ(pool.threads(), threads);
    for (int64_t extent : {1, 2, 7, 8, 9, 63, 64, 65, 1000}) {
      for (int microseconds : {0, 30}) {
        Counts counts(extent);
        counts.microseconds = microseconds;
        pool.run(extent, &Counts::run, &counts);
        EXPECT_TRUE(counts.each_once()) << extent << " iterations, " << threads << " threads";
      }
    }
  }
}

TEST_P(ThreadPools, RunsNothingForAnEmptyExtent) {
  ThreadPool pool(2);
  Counts counts(1);
  pool.run(0, &Counts::run, &counts);
  pool.run(-3, &Counts::run, &counts);
  EXPECT_EQ(counts.visits[0], 0);
}

TEST_P(ThreadPools, SharesLongRunsAndKeepsShortOnes) {
  ThreadPool pool(2);
  Counts slow(16);
  slow.microseconds = 2000;
  slow.asks_openmp = GetParam();
  pool.run(16, &Counts::run, &slow);
  EXPECT_EQ(slow.threads.size(), 2u);
#if !PLAIT_TSAN
  EXPECT_EQ(slow.on_openmp > 0, GetParam());
#endif
  ThreadPool one(1);
  Counts alone(16);
  alone.microseconds = 100;
  one.run(16, &Counts::run, &alone);
  EXPECT_EQ(alone.threads, std::set{std::this_thread::get_id()});
}

// Two iterations that wait for each other end only where the first one is shared too.
TEST_P(ThreadPools, SharesFromTheStartWhatWasLongBefore) {
  ThreadPool pool(2);
  if (GetParam()) pool.join_openmp();
  struct Both {
    std::atomic<int> begun{0};
    std::atomic<bool> met{false};
  };
  ThreadPool::Pace pace = 1.0;
  bool met = false;
  for (int tries = 0; tries < 20 && !met; ++tries) {  // a team of OpenMP may have one thread
    Both both;
    pool.run(
        2,
        [](const void* context, int64_t begin, int64_t end) {
          auto& b = *const_cast<Both*>(static_cast<const Both*>(context));
          b.begun += int(end - begin);
          const auto until = std::chrono::steady_clock::now() + std::chrono::milliseconds(500);
          while (b.begun < 2 && std::chrono::steady_clock::now() < until) std::this_thread::yield();
          if (end - begin == 1 && b.begun == 2) b.met = true;
        },
        &both, 0, &pace);
    met = both.met;
    pace = 1.0;
  }
  EXPECT_TRUE(met);
  // A run tells the pace; one that is shared corrects what was told too high.
  const auto nothing = [](const void*, int64_t, int64_t) {};
  pool.run(64, nothing, nullptr, 0, &pace);
  EXPECT_LT(pace, 0.5);
  pace = 0;
  pool.run(64, nothing, nullptr, 0, &pace);
  EXPECT_GT(pace, 0);
  EXPECT_LT(pace, 0.5);
}

// A pace that was told too high shares one short run, not all that follow, on any number of threads.
TEST(ThreadPoolPace, ShortRunsForgetIt) {
  const auto nothing = [](const void*, int64_t, int64_t) {};
  int lent = 0;
  ThreadPool pool(16, [&](int64_t, void (*task)(void*), void* context) {
    ++lent;
    task(context);
  });
  for (const double told : {1.0, 1e9}) {
    ThreadPool::Pace pace = told;
    lent = 0;
    pool.run(64, nothing, nullptr, 0, &pace);
    EXPECT_EQ(lent, 1);
    for (int tries = 0; tries < 50 && pace != 0; ++tries) pool.run(64, nothing, nullptr, 0, &pace);
    EXPECT_EQ(pace, 0);
    bool alone = false;
    for (int tries = 0; tries < 50 && !alone; ++tries) {
      lent = 0;
      pool.run(64, nothing, nullptr, 0, &pace);
      alone = lent == 0;
    }
    EXPECT_TRUE(alone);
  }
}

TEST_P(ThreadPools, TakesNoMoreThreadsThanAsked) {
  ThreadPool pool(4);
  for (int most : {1, 2, 3}) {
    Counts counts(64);
    counts.microseconds = 500;
    pool.run(64, &Counts::run, &counts, most);
    EXPECT_TRUE(counts.each_once());
    EXPECT_LE(int(counts.threads.size()), most);
  }
}

TEST_P(ThreadPools, ServesSeveralCallersAtOnce) {
  ThreadPool pool(3);
  std::atomic<int> wrong = 0;
  std::vector<std::thread> callers;
  for (int caller = 0; caller < 4; ++caller) {
    callers.emplace_back([&] {
      for (int round = 0; round < 50; ++round) {
        Counts counts(100);
        counts.microseconds = round % 2 * 10;
        pool.run(100, &Counts::run, &counts);
        wrong += !counts.each_once();
      }
    });
  }
  for (std::thread& caller : callers) caller.join();
  EXPECT_EQ(wrong, 0);
}

// Runs of 64 iterations of 0.1 ms. Other threads than the caller's stall at their first piece of the first run.
struct Stalling {
  std::thread::id caller = std::this_thread::get_id();
  mutable std::mutex mutex;
  mutable std::set<std::thread::id> helpers;
  bool stall = true;

  static void run(const void* context, int64_t begin, int64_t end) {
    const auto* self = static_cast<const Stalling*>(context);
    bool first = false;
    if (std::this_thread::get_id() != self->caller) {
      const std::lock_guard lock(self->mutex);
      first = self->helpers.insert(std::this_thread::get_id()).second;
    }
    std::this_thread::sleep_for(std::chrono::microseconds(first && self->stall ? 500'000 : 100 * (end - begin)));
  }
};

TEST(ThreadPool, ServesForkedProcesses) {
#if PLAIT_TSAN
  GTEST_SKIP() << "the sanitizer allows no threads in forked processes";
#endif
  if (dlopen("libgomp.so.1", RTLD_LAZY) == nullptr) GTEST_SKIP() << "no GNU OpenMP";
  ThreadPool pool(2);
  Counts before(16);
  before.microseconds = 2000;
  pool.run(16, &Counts::run, &before);
  EXPECT_TRUE(before.each_once());
  const pid_t child = fork();
  ASSERT_GE(child, 0);
  if (child == 0) {
    alarm(20);  // a team that is not there would be waited for without end
    Counts counts(16);
    counts.microseconds = 2000;
    pool.run(16, &Counts::run, &counts);
    _exit(counts.each_once() ? 0 : 1);
  }
  int status = 0;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  EXPECT_TRUE(WIFEXITED(status)) << "signal " << WTERMSIG(status);
  EXPECT_EQ(WEXITSTATUS(status), 0);
}

// Workers of its own, whom the child lacks: neither the next run nor the end of the pool waits for them.
TEST(ThreadPool, AForkedProcessStartsWorkersAndEndsThem) {
#if PLAIT_TSAN
  GTEST_SKIP() << "the sanitizer allows no threads in forked processes";
#endif
  auto pool = std::make_unique<ThreadPool>(3);
  const auto serves = [](ThreadPool& pool) {
    Counts counts(48);
    counts.microseconds = 2000;
    pool.run(48, &Counts::run, &counts);
    return counts.each_once() && counts.threads.size() > 1;
  };
  EXPECT_TRUE(serves(*pool));
  const pid_t child = fork();
  ASSERT_GE(child, 0);
  if (child == 0) {
    alarm(60);  // threads that are not there would be waited for without end
    const bool first = serves(*pool), second = serves(*pool);
    const pid_t grandchild = fork();
    if (grandchild == 0) _exit(serves(*pool) ? 0 : 1);
    int status = 1;
    waitpid(grandchild, &status, 0);
    pool.reset();
    _exit(first && second && status == 0 ? 0 : 1);
  }
  int status = 0;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  EXPECT_TRUE(WIFEXITED(status)) << "signal " << WTERMSIG(status);
  EXPECT_EQ(WEXITSTATUS(status), 0);
  EXPECT_TRUE(serves(*pool));
}

TEST(ThreadPool, LeavesAnOpenMpTeamThatStalls) {
  if (dlopen("libgomp.so.1", RTLD_LAZY) == nullptr) GTEST_SKIP() << "no GNU OpenMP";
  ThreadPool pool(2);
  bool same = false;
  for (int attempt = 0; attempt < 5; ++attempt) {
    Stalling first, second;
    second.stall = false;
    pool.run(64, &Stalling::run, &first);
    pool.run(64, &Stalling::run, &second);
    if (first.helpers.empty() || second.helpers.empty()) continue;  // the caller was done before they came
    // Without OpenMP there is one worker, which serves both.
#if PLAIT_TSAN
    EXPECT_EQ(first.helpers, second.helpers);
#else
    same = first.helpers == second.helpers;  // a machine that stood still for longer than OpenMP is left alone
    if (same) continue;
#endif
    return;
  }
  ASSERT_FALSE(same);
  GTEST_SKIP() << "this machine gives a second thread no time";
}

}  // namespace
}  // namespace plait
