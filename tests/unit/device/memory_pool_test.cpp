// Memory that comes back is used again, and goes when it is old or too much.
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstring>
#include <set>
#include <thread>
#include <vector>

#include "base/memory_error.h"
#include "device/memory_pool.h"

namespace plait {
namespace {

using std::chrono::seconds;

constexpr size_t kMiB = size_t(1) << 20;

TEST(MemoryPool, BlocksThatComeBackAreUsedAgain) {
  for (const size_t bytes : {size_t(0), size_t(1), size_t(5000), 3 * kMiB, 64 * kMiB}) {
    MemoryPool pool;
    const MemoryCounts before = pool.counts();
    std::shared_ptr<Memory> first = pool.allocate(bytes);
    const void* data = first->data();
    EXPECT_EQ(first->bytes(), bytes);
    EXPECT_EQ(reinterpret_cast<uintptr_t>(data) % kBufferAlignment, 0u);
    EXPECT_EQ(pool.counts().misses, before.misses + 1) << bytes;
    EXPECT_GE(pool.counts().in_use_bytes, int64_t(bytes));
    first.reset();
    EXPECT_EQ(pool.counts().in_use_bytes, 0);
    EXPECT_GE(pool.counts().held_bytes, int64_t(bytes));
    EXPECT_EQ(pool.allocate(bytes)->data(), data);
    EXPECT_EQ(pool.counts().misses, before.misses + 1);
    EXPECT_EQ(pool.counts().hits, before.hits + 1);
  }
}

TEST(MemoryPool, BlocksInUseAreApart) {
  MemoryPool pool;
  std::vector<std::shared_ptr<Memory>> all;
  for (int i = 0; i < 8; ++i) {
    all.push_back(pool.allocate(3 * kMiB));
    std::memset(all.back()->data(), i, 3 * kMiB);
  }
  for (int i = 0; i < 8; ++i)
    for (const size_t at : {size_t(0), 3 * kMiB - 1})
      EXPECT_EQ(static_cast<const char*>(all[size_t(i)]->data())[at], i);
}

// What a block takes is at most an eighth more than was asked for.
TEST(MemoryPool, RoundsUpByLittle) {
  for (size_t bytes = 64; bytes < 8 * kMiB; bytes = bytes * 5 / 4 + 1) {
    MemoryPool pool;
    const auto block = pool.allocate(bytes);
    EXPECT_LE(pool.counts().in_use_bytes, int64_t(bytes + std::max<size_t>(bytes / 8, 64))) << bytes;
    EXPECT_EQ(pool.counts().in_use_bytes, pool.counts().held_bytes);
  }
}

TEST(MemoryPool, LargeBlocksLieOnHugePagesAndAreTouchedInParts) {
  static std::vector<std::pair<int64_t, int64_t>> parts;
  parts.clear();
  MemoryPoolOptions options;
  options.parallel = [](int64_t extent, MemoryPoolOptions::Piece piece, const void* context) {
    for (int64_t i = 0; i < extent; ++i) {
      parts.emplace_back(i, extent);
      piece(context, i, i + 1);
    }
  };
  MemoryPool pool(options);
  pool.allocate(kMiB);
  EXPECT_TRUE(parts.empty());
  const auto large = pool.allocate(9 * kMiB);
  EXPECT_EQ(reinterpret_cast<uintptr_t>(large->data()) % (2 * kMiB), 0u);
  EXPECT_EQ(parts.size(), 5u);
  EXPECT_EQ(static_cast<const char*>(large->data())[9 * kMiB - 1], 0);
  parts.clear();
  pool.allocate(kMiB);
  EXPECT_TRUE(parts.empty()) << "only new pages are touched";
}

TEST(MemoryPool, WhatIsTooMuchGoesOldestFirst) {
  static std::chrono::steady_clock::time_point now;
  now = {};
  MemoryPoolOptions options;
  options.kept_bytes = 5 * kMiB;
  options.clock = [] { return now += seconds(1); };
  MemoryPool pool(options);
  auto a = pool.allocate(2 * kMiB), b = pool.allocate(3 * kMiB), c = pool.allocate(kMiB);
  const void *at_b = b->data(), *at_c = c->data();
  a.reset(), b.reset();
  EXPECT_EQ(pool.counts().held_bytes, int64_t(6 * kMiB));
  c.reset();  // 6 MiB are free: a goes
  EXPECT_EQ(pool.counts().held_bytes, int64_t(4 * kMiB));
  EXPECT_EQ(pool.allocate(3 * kMiB)->data(), at_b);
  EXPECT_EQ(pool.allocate(kMiB)->data(), at_c);
  EXPECT_EQ(pool.counts().hits, 2);
  pool.trim();
  EXPECT_EQ(pool.counts().held_bytes, 0);
  MemoryPool none({.kept_bytes = 0});
  none.allocate(kMiB);
  EXPECT_EQ(none.counts().held_bytes, 0);
}

TEST(MemoryPool, WhatNobodyUsedForLongGoes) {
  static std::chrono::steady_clock::time_point now;
  now = std::chrono::steady_clock::time_point(seconds(1000));
  MemoryPoolOptions options;
  options.kept_time = seconds(8);
  options.clock = [] { return now; };
  MemoryPool pool(options);
  pool.allocate(kMiB);
  now += seconds(5);
  pool.allocate(2 * kMiB);
  EXPECT_EQ(pool.counts().held_bytes, int64_t(3 * kMiB));
  now += seconds(4);  // the first block is 9 seconds old
  pool.allocate(100);
  EXPECT_EQ(pool.counts().held_bytes, int64_t(2 * kMiB + 128));
}

TEST(MemoryPool, MemoryMayOutliveThePool) {
  std::shared_ptr<Memory> block, large;
  {
    MemoryPool pool;
    block = pool.allocate(5000);
    large = pool.allocate(4 * kMiB);
  }
  std::memset(block->data(), 1, 5000);
  std::memset(large->data(), 1, 4 * kMiB);
}

TEST(MemoryPool, RefusesWhatTheMachineLacks) {
  MemoryPool pool;
  EXPECT_THROW(pool.allocate(size_t(1) << 60), MemoryError);
  EXPECT_THROW(pool.allocate(SIZE_MAX), MemoryError);
  EXPECT_EQ(pool.counts(), MemoryCounts());
}

TEST(MemoryPool, ServesSeveralThreads) {
  MemoryPool pool;
  std::vector<std::thread> threads;
  std::atomic<int> wrong = 0;
  for (int t = 0; t < 4; ++t)
    threads.emplace_back([&, t] {
      for (int i = 0; i < 500; ++i) {
        const auto a = pool.allocate(size_t(100) << (i % 8)), b = pool.allocate(4096);
        std::memset(a->data(), t, a->bytes());
        std::memset(b->data(), t + 1, b->bytes());
        const auto* bytes = static_cast<const char*>(a->data());
        if (bytes[0] != t || bytes[a->bytes() - 1] != t) ++wrong;
      }
    });
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(wrong, 0);
  EXPECT_EQ(pool.counts().in_use_bytes, 0);
  EXPECT_EQ(pool.counts().hits + pool.counts().misses, 4 * 500 * 2);
}

// A fork while other threads take and give back: parent and child both go on.
TEST(MemoryPool, GoesOnInForkedProcesses) {
  MemoryPool pool;
  const auto kept = pool.allocate(4 * kMiB);
  std::memset(kept->data(), 7, kept->bytes());
  std::atomic<bool> end = false;
  std::thread busy([&] {
    while (!end) pool.allocate(5000);
  });
  for (int i = 0; i < 20; ++i) {
    const pid_t child = fork();
    if (child == 0) {
      alarm(20);  // a mutex that stays locked
      bool right = static_cast<const char*>(kept->data())[kMiB] == 7;
      for (int round = 0; round < 10; ++round) {
        const auto block = pool.allocate(5000), large = pool.allocate(4 * kMiB);
        std::memset(large->data(), 1, large->bytes());
        right = right && large->data() != kept->data() && block->data() != nullptr;
      }
      _exit(right ? 0 : 1);
    }
    int status = 0;
    ASSERT_EQ(waitpid(child, &status, 0), child);
    EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0) << status;
    EXPECT_EQ(static_cast<const char*>(kept->data())[kMiB], 7);
  }
  end = true;
  busy.join();
}

}  // namespace
}  // namespace plait
