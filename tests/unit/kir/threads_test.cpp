// Threads that cooperate: kernels keep their values through all passes, and what differs between threads is refused.
#include <gtest/gtest.h>

#include <cstring>

#include "base/error.h"
#include "kir/interpret.h"
#include "kir/parse.h"
#include "kir/passes/passes.h"
#include "support/sanitized.h"
#include "support/thread_kernels.h"

namespace plait::kir {
namespace {

// Bytes of the written buffers, of inputs that the seed draws; complaints of the checker are failures.
std::vector<std::vector<unsigned char>> run(const Kernel& kernel, const std::vector<int64_t>& integers, uint64_t seed) {
  std::vector<std::vector<unsigned char>> memory = testing::thread_kernel_memory(kernel, integers, seed);
  std::vector<void*> arguments;
  for (auto& bytes : memory) arguments.push_back(bytes.data());
  AccessChecker checker(kernel);
  interpret(kernel, integers, arguments, checker);
  checker.finish(buffer_extents(kernel, integers));
  EXPECT_EQ(checker.problems(), std::vector<std::string>{}) << print(kernel);
  return memory;
}

TEST(KirThreads, ValuesStayThroughAllPasses) {
  int number = 0;
  for (const testing::ThreadKernel& each : testing::thread_kernels())
    for (const auto& integers : each.sizes) {
      if (number++ % testing::kStride != 0) continue;
      Kernel kernel = parse(each.text);
      verify(kernel);
      const auto want = run(kernel, integers, 1);
      std::string last = print(kernel);
      run_passes(kernel, {}, [&](std::string_view pass, Kernel& now) {
        const std::string text = print(now);
        if (text == last) return;
        EXPECT_EQ(run(now, integers, 1), want) << each.name << " behind " << pass << "\n" << text;
        last = text;
      });
    }
}

// Products of matrices in shared memory are `mma`, wherever their rows lie; panels that are read a whole vector at a
// time are.
TEST(KirThreads, ProductsBecomeMma) {
  int products = 0;
  for (const testing::ThreadKernel& each : testing::thread_kernels()) {
    if (!each.name.starts_with("matrices")) continue;
    ++products;
    Kernel kernel = parse(each.text);
    run_passes(kernel);
    const std::string text = print(kernel);
    EXPECT_NE(text.find("mma %s[0] with"), std::string::npos) << each.name << "\n" << text;
    EXPECT_EQ(text.find("fma("), std::string::npos) << each.name;
    EXPECT_EQ(text.find("transposed") != std::string::npos, each.text.find("k + (") != std::string::npos) << text;
  }
  EXPECT_EQ(products, 16);
}

std::string refusal(const std::string& body, const std::string& shared = "") {
  try {
    const Kernel kernel = parse(
        "kernel @k(%x: f32[64*m] read, %y: f32[64*m] write; m) target cuda {\n for b in 0..m on block_x {\n"
        "  for t in 0..64 on thread_x {\n   %0: f32 = load %x[64*b + t] lanewise\n" +
        shared + body + "   store %y[64*b + t] = %0 lanewise\n  }\n }\n}\n");
    verify(kernel);
    return "accepted";
  } catch (const Error& e) {
    return e.what();
  }
}

TEST(KirThreads, WhatDiffersBetweenThreadsIsRefused) {
  const std::string apart = "not all threads of the block come here";
  EXPECT_EQ(refusal("sync block\n sync warp\n %1: f32 = shuffle(%0, by = 16)\n"), "accepted");
  EXPECT_EQ(refusal("if b < 3 {\n sync block\n }\n for i in 0..m {\n sync block\n }\n"), "accepted");
  EXPECT_NE(refusal("if t < 32 {\n sync block\n }\n").find(apart), std::string::npos);
  EXPECT_NE(refusal("if t < 32 {\n %1: f32 = shuffle(%0, by = 1)\n }\n").find(apart), std::string::npos);
  EXPECT_NE(refusal("for i in 0..t {\n sync warp\n }\n").find(apart), std::string::npos);
  EXPECT_NE(refusal("for i in 0..t {\n if i < 2 {\n sync block\n }\n }\n").find(apart), std::string::npos);
  EXPECT_NE(refusal("%1: i64 = coordinate m\n bind q = %1\n if q < 2 {\n sync block\n }\n").find(apart),
            std::string::npos);
  const std::string state = "%1: f32 = start sum\n accumulate sum(%1) with %0\n";
  EXPECT_EQ(refusal(state + "%2: f32 = fold sum(%1) over 64\n"), "accepted");
  EXPECT_EQ(refusal(state + "%2: f32 = fold sum(%1) over 16 by 4\n"), "accepted");
  EXPECT_NE(refusal(state + "%2: f32 = fold sum(%1) over 128\n").find("in a block of 64"), std::string::npos);
  EXPECT_NE(refusal(state + "%2: f32 = fold sum(%1) over 32 by 4\n").find("in a block of 64"), std::string::npos);
  EXPECT_NE(refusal(state + "if t < 3 {\n %2: f32 = fold sum(%1) over 64\n }\n").find(apart), std::string::npos);
  EXPECT_NE(refusal(state + "%2: f32 = fold sum(%1) over 48\n").find("a fold over 48 threads by 1"), std::string::npos);
  EXPECT_NE(refusal("%1: f32 = shuffle(%0, by = 3)\n").find("a shuffle by 3 lanes"), std::string::npos);
  const auto prefix = [&](const char* threads) {
    return fmt::format("%2: f32, %3: f32 = prefix sum(%1) over {}\n", threads);
  };
  EXPECT_EQ(refusal(state + prefix("64")), "accepted");
  EXPECT_EQ(refusal(state + prefix("2")), "accepted");
  EXPECT_NE(refusal(state + prefix("128")).find("in a block of 64"), std::string::npos);
  EXPECT_NE(refusal(state + prefix("48")).find("a prefix over 48 threads"), std::string::npos);
  EXPECT_NE(refusal(state + "if t < 3 {\n" + prefix("64") + "}\n").find(apart), std::string::npos);
  EXPECT_NE(refusal(state + "%2: f32 = prefix sum(%1) over 64\n").find("as many values before as of all"),
            std::string::npos);
}

TEST(KirThreads, SharedMemoryNeedsSyncs) {
  const std::string none = "no sync between accesses to s", alloc = "alloc %s: f32[64] shared\n";
  const std::string store = "store %s[t] = %0 lanewise\n", load = "%1: f32 = load %s[63 - t] lanewise\n";
  EXPECT_EQ(refusal(store + "sync block\n" + load, alloc), "accepted");
  EXPECT_EQ(refusal(store + "%1: f32 = load %s[t] lanewise\n", alloc), "accepted") << "each its own";
  EXPECT_NE(refusal(store + load, alloc).find(none), std::string::npos);
  EXPECT_NE(refusal(store + "sync warp\n" + load, alloc).find(none), std::string::npos);
  // The next iteration writes what this one reads.
  EXPECT_NE(refusal("for i in 0..m {\n" + store + "sync block\n" + load + "}\n", alloc).find(none), std::string::npos);
  EXPECT_EQ(refusal("for i in 0..m {\n" + store + "sync block\n" + load + "sync block\n}\n", alloc), "accepted");
  // One thread's store is for the others; a sync that may be skipped is none; a buffer that comes again is the same.
  EXPECT_NE(refusal("if t == 0 {\n store %s[0] = %0 lanewise\n }\n %1: f32 = load %s[0] lanewise\n", alloc).find(none),
            std::string::npos);
  EXPECT_NE(refusal(store + "if m > 5 {\n sync block\n }\n" + load, alloc).find(none), std::string::npos);
  EXPECT_NE(refusal(store + "for i in 0..m {\n sync block\n }\n" + load, alloc).find(none), std::string::npos);
  EXPECT_NE(refusal("for i in 0..m {\n" + alloc + store + "sync block\n" + load + "}\n").find(none), std::string::npos);
}

// What the kernel with a cluster of 4 blocks of 64 threads around the body is refused for.
std::string refusal_of_cluster(const std::string& body, const std::string& blocks = "4") {
  try {
    verify(
        parse("kernel @k(%x: f32[256*m] read, %y: f32[256*m] write; m) target cuda {\n for b in 0..m on block_x {\n"
              "  for c in 0.." +
              blocks +
              " on cluster {\n   for t in 0..64 on thread_x {\n    alloc %s: f32[64] shared\n"
              "    %0: f32 = load %x[256*b + 64*c + t] lanewise\n    store %s[t] = %0 lanewise\n" +
              body + "    store %y[256*b + 64*c + t] = %0 lanewise\n   }\n  }\n }\n}\n"));
    return "accepted";
  } catch (const Error& e) {
    return e.what();
  }
}

// Blocks of a cluster see what others stored behind a sync of the cluster, and go on behind another one.
TEST(KirThreads, BlocksOfAClusterWaitForEachOther) {
  const std::string sync = "sync cluster\n", load = "%1: f32 = load_of_block %s[t] block = mod(c + 1, 4)\n";
  EXPECT_EQ(refusal_of_cluster(sync + load + sync), "accepted");
  EXPECT_EQ(refusal_of_cluster(sync + load + sync + "store %s[t] = %1 lanewise\n"), "accepted");
  const std::string before = "no sync of the cluster between a store and this";
  EXPECT_NE(refusal_of_cluster(load + sync).find(before), std::string::npos);
  EXPECT_NE(refusal_of_cluster("sync block\n" + load + sync).find(before), std::string::npos) << "of the block alone";
  EXPECT_NE(refusal_of_cluster("if m > 5 {\n" + sync + "}\n" + load + sync).find(before), std::string::npos);
  EXPECT_NE(refusal_of_cluster(sync + "store %s[t] = %0 lanewise\n sync block\n" + load + sync).find(before),
            std::string::npos);
  EXPECT_NE(refusal_of_cluster(sync + load).find("a block ends while others may load"), std::string::npos);
  EXPECT_NE(refusal_of_cluster(sync + load + "sync block\n").find("a block ends while others may load"),
            std::string::npos);
  EXPECT_NE(refusal_of_cluster(sync + load + "sync block\n store %s[t] = %0 lanewise\n" + sync)
                .find("other blocks may still load s"),
            std::string::npos);
  EXPECT_NE(refusal_of_cluster("if t < 3 {\n" + sync + "}\n").find("not all threads of the block come here"),
            std::string::npos);
  EXPECT_NE(refusal_of_cluster(sync, "16").find("a cluster of 16 blocks: 1 to 8"), std::string::npos);
  EXPECT_NE(refusal_of_cluster(sync, "m").find("a cluster of m blocks"), std::string::npos);
  EXPECT_NE(refusal("sync cluster\n").find("no cluster is around"), std::string::npos);
  EXPECT_NE(refusal("sync block\n %1: f32 = load_of_block %s[t] block = 0\n", "alloc %s: f32[64] shared\n")
                .find("nothing is stored to s before"),
            std::string::npos);
}

// What a copy brings is there behind a wait for its group; others see it behind a sync.
TEST(KirThreads, CopiesAreWaitedFor) {
  const std::string alloc = "alloc %s: f32[128] shared\n", way = "a copy to s is under way";
  const std::string copy = "copy_async %s[t] lanewise = %x[64*b + t] lanewise of 1\n";
  const std::string other = "copy_async %s[t + 64] lanewise = %x[64*b + t] lanewise of 1\n";
  const std::string load = "%1: f32 = load %s[63 - t] lanewise\n", own = "%1: f32 = load %s[t] lanewise\n";
  const std::string none = "no sync between accesses to s";
  const auto has = [&](const std::string& body, const std::string& what) {
    const std::string text = refusal(body, alloc);
    return what == "accepted" ? text == what : text.find(what) != std::string::npos;
  };
  EXPECT_TRUE(has(copy + "commit\n wait 0\n sync block\n" + load, "accepted"));
  EXPECT_TRUE(has(copy + "commit\n wait 0\n" + own, "accepted"));
  EXPECT_TRUE(has(copy + "commit\n wait 0\n" + load, none));
  EXPECT_TRUE(has(copy + "commit\n sync block\n" + load, way));
  EXPECT_TRUE(has(copy + "wait 0\n sync block\n" + load, way)) << "it is of no group yet";
  EXPECT_TRUE(has(copy + own, way));
  EXPECT_TRUE(has(copy + "store %s[t] = %0 lanewise\n", way));
  EXPECT_TRUE(has(copy + "commit\n" + copy, way));
  // The last group is left.
  const std::string two = copy + "commit\n" + other + "commit\n";
  EXPECT_TRUE(has(two + "wait 1\n sync block\n" + load, "accepted"));
  EXPECT_TRUE(has(two + "wait 2\n sync block\n" + load, way));
  EXPECT_TRUE(has(two + "wait 1\n sync block\n %1: f32 = load %s[127 - t] lanewise\n", way));
  // A wait that may be skipped is none, nor is a commit.
  EXPECT_TRUE(has(copy + "commit\n if m > 5 {\n wait 0\n }\n sync block\n" + load, way));
  EXPECT_TRUE(has(copy + "if m > 5 {\n commit\n }\n wait 0\n sync block\n" + load, way));
  EXPECT_TRUE(has(copy + "commit\n if m > 5 {\n commit\n }\n wait 1\n sync block\n" + load, way));
  // The next iteration copies over what this one reads.
  const std::string step = copy + "commit\n wait 0\n sync block\n" + load;
  EXPECT_TRUE(has("for i in 0..m {\n" + step + "}\n", none));
  EXPECT_TRUE(has("for i in 0..m {\n" + step + "sync block\n}\n", "accepted"));
}

TEST(KirThreads, SharedMemoryOfSerialLoops) {
  const std::string none = "no sync between accesses to s", alloc = "alloc %s: f32[1024] shared\n";
  const auto stored = [&](const std::string& index) {
    return refusal("for i in 0..4 {\n store %s[" + index + "] = %0 lanewise\n }\n", alloc);
  };
  EXPECT_EQ(stored("64*i + t"), "accepted");
  EXPECT_EQ(stored("4*t + i"), "accepted");
  EXPECT_EQ(stored("65*i + t"), "accepted");
  EXPECT_NE(stored("i + t").find(none), std::string::npos) << "iterations of neighbours meet";
  EXPECT_NE(stored("3*t + i").find(none), std::string::npos);
  EXPECT_NE(stored("63*i + t").find(none), std::string::npos);
  // Two loops, and one of their iterations apart, as passes leave them.
  const auto both = [&](const std::string& one, const std::string& other) {
    return refusal("for i in 0..4 {\n store %s[" + one + "] = %0 lanewise\n }\nfor j in 0..4 {\n store %s[" + other +
                       "] = %0 lanewise\n }\n store %s[t + 128] = %0 lanewise\n",
                   alloc);
  };
  EXPECT_EQ(both("64*i + t", "64*j + t"), "accepted");
  EXPECT_EQ(both("64*i + t", "64*j + t + 256"), "accepted");
  EXPECT_NE(both("64*i + t", "64*j + t + 1").find(none), std::string::npos);
  EXPECT_NE(both("64*i + t", "65*j + t").find(none), std::string::npos);
  EXPECT_NE(both("64*i + 63 - t", "64*j + t").find(none), std::string::npos);
}

TEST(KirThreads, PassesKeepLoadsOnTheirSideOfASync) {
  Kernel kernel = parse(
      "kernel @k(%y: f32[64] write) target cuda {\n for t in 0..64 on thread_x {\n  alloc %s: f32[1] shared\n"
      "  if t == 0 {\n   %0: f32 = literal 1\n   store %s[0] = %0 lanewise\n  }\n  sync block\n"
      "  %1: f32 = load %s[0] lanewise\n  sync block\n  if t == 0 {\n   %2: f32 = literal 2\n   store %s[0] = %2 "
      "lanewise\n  }\n"
      "  sync block\n  %3: f32 = load %s[0] lanewise\n  %4: f32 = add(%1, %3)\n  store %y[t] = %4 lanewise\n }\n}\n");
  run_passes(kernel);
  std::vector<float> y(64);
  AccessChecker checker(kernel);
  interpret(kernel, {}, {y.data()}, checker);
  EXPECT_EQ(y, std::vector<float>(64, 3)) << print(kernel);
}

}  // namespace
}  // namespace plait::kir
