// Phases of one block run by the last block of the launch before them: the same values, for any sizes; what cannot be
// one launch stays two.
#include "kir/last_blocks.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "base/error.h"
#include "kir/interpret.h"
#include "kir/merge_phases.h"
#include "kir/parse.h"

namespace plait::kir {
namespace {

// Sums of `threads` neighbours each, and then of all of them by the last `behind` threads.
std::string sums(int threads, int behind, const std::string& last_grid = "1") {
  const int q = 4;  // elements of a thread
  return fmt::format(R"(
kernel @sums(%x: f32[n] read, %y: f32[1] write, %parts: f32[{0}*max(ceildiv(n, {3}), 1)] workspace; n) target cuda {{
  phase {{
    for b in 0..ceildiv(n, {3}) on block_x {{
      for t in 0..{0} on thread_x {{
        %0: f32 = variable 0
        for i in 0..{2} {{
          if {3}*b + {0}*i + t < n {{
            %1: f32 = load %x[{3}*b + {0}*i + t] lanewise
            %2: f32 = add(%0, %1)
            assign %0 = %2
          }}
        }}
        store %parts[{0}*b + t] = %0 lanewise
      }}
    }}
  }}
  phase {{
    for g in 0..{4} on block_x {{
      for s in 0..{1} on thread_x {{
        if s + g < 1 {{
          %3: f32 = variable 0
          for p in 0..{0}*ceildiv(n, {3}) {{
            %4: f32 = load %parts[p] splat
            %5: f32 = add(%3, %4)
            assign %3 = %5
          }}
          store %y[0] = %3 lanewise
        }}
      }}
    }}
  }}
}}
)",
                     threads, behind, q, q * threads, last_grid);
}

// Complaints of the checker are failures.
float run(const Kernel& kernel, int64_t n) {
  std::vector<float> x(static_cast<size_t>(n)), y{-1};
  for (size_t i = 0; i < x.size(); ++i) x[i] = static_cast<float>(i % 7);
  AccessChecker checker(kernel);
  interpret(kernel, {n}, {x.data(), y.data()}, checker);
  checker.finish(buffer_extents(kernel, {n}));
  EXPECT_EQ(checker.problems(), std::vector<std::string>{}) << print(kernel);
  return y[0];
}

TEST(LastBlocks, OneLaunchOfTheSameValues) {
  const Kernel two = parse(sums(32, 32));
  Kernel one = parse(sums(32, 32));
  run_last_blocks(one);
  verify(one);
  ASSERT_EQ(one.phases.size(), 1u) << print(one);
  EXPECT_EQ(passed_buffers(one), 4u);
  EXPECT_EQ(one.buffers.back().space, Space::counter);
  for (int64_t n : {1, 127, 128, 129, 1000}) EXPECT_EQ(run(one, n), run(two, n)) << n;
  EXPECT_EQ(run(one, 0), 0) << "without elements a block still runs what follows";
  const Kernel again = parse(print(one));
  EXPECT_EQ(print(again), print(one));
}

TEST(LastBlocks, OthersStayTwo) {
  for (const std::string& text : {sums(32, 64), sums(32, 32, "2"), sums(32, 32, "n")}) {
    Kernel kernel = parse(text);
    run_last_blocks(kernel);
    EXPECT_EQ(kernel.phases.size(), 2u) << print(kernel);
    EXPECT_EQ(kernel.buffers.size(), 3u);
  }
}

// Columns: the blocks of 32 of them, of which the last adds up the parts. `stride`: from part to part.
std::string columns(const std::string& stride, const std::string& last_grid = "ceildiv(m, 32)") {
  return fmt::format(R"(
kernel @columns(%x: f32[n*m] read, %y: f32[m] write, %parts: f32[ceildiv(n, 8)*(32*ceildiv(m, 32) + 32)] workspace; n, m)
    given n: 1 in 1..1000, m: 1 in 1..1000 target cuda {{
  phase {{
    for p in 0..ceildiv(n, 8) on block_x {{
      for g in 0..ceildiv(m, 32) on block_y {{
        for t in 0..32 on thread_x {{
          if 32*g + t < m {{
            %0: f32 = variable 0
            for i in 0..min(n - 8*p, 8) {{
              %1: f32 = load %x[(8*p + i)*m + 32*g + t] lanewise
              %2: f32 = add(%0, %1)
              assign %0 = %2
            }}
            store %parts[p*{0} + 32*g + t] = %0 lanewise
          }}
        }}
      }}
    }}
  }}
  phase {{
    for h in 0..{1} on block_x {{
      for t in 0..32 on thread_x {{
        if 32*h + t < m {{
          %3: f32 = variable 0
          for q in 0..ceildiv(n, 8) {{
            %4: f32 = load %parts[q*{0} + 32*h + t] lanewise
            %5: f32 = add(%3, %4)
            assign %3 = %5
          }}
          store %y[32*h + t] = %3 lanewise
        }}
      }}
    }}
  }}
}}
)",
                     stride, last_grid);
}

TEST(LastBlocks, OfBlocksThatCountAlike) {
  Kernel kernel = parse(columns("32*ceildiv(m, 32)"));
  run_last_blocks(kernel);
  verify(kernel);
  ASSERT_EQ(kernel.phases.size(), 1u) << print(kernel);
  for (const auto& [n, m] : std::vector<std::pair<int64_t, int64_t>>{{1, 1}, {8, 32}, {9, 33}, {50, 100}}) {
    std::vector<float> x(static_cast<size_t>(n * m)), y(static_cast<size_t>(m), -1);
    for (size_t i = 0; i < x.size(); ++i) x[i] = static_cast<float>(i % 11);
    AccessChecker checker(kernel);
    interpret(kernel, {n, m}, {x.data(), y.data()}, checker);
    checker.finish(buffer_extents(kernel, {n, m}));
    EXPECT_EQ(checker.problems(), std::vector<std::string>{}) << print(kernel);
    for (int64_t j = 0; j < m; ++j) {
      float sum = 0;
      for (int64_t i = 0; i < n; ++i) sum += static_cast<float>((i * m + j) % 11);
      EXPECT_EQ(y[static_cast<size_t>(j)], sum);
    }
  }
}

// Blocks that read what those of another number wrote; what is not proven to lie apart; loops that count otherwise.
TEST(LastBlocks, OfOtherBlocksStayTwo) {
  const std::string own = columns("32*ceildiv(m, 32)"), reads = "%parts[q*32*ceildiv(m, 32) + 32*h + t]";
  ASSERT_NE(own.find(reads), own.npos);
  const auto reading = [&](const std::string& place) {
    std::string text = own;
    return text.replace(own.find(reads), reads.size(), "%parts[q*32*ceildiv(m, 32) + " + place + "]");
  };
  std::string wide = own;  // the threads of a block reach into the next one's columns
  for (size_t at; (at = wide.find("0..32 on")) != wide.npos;) wide.replace(at, 8, "0..64 on");
  std::string behind = own;  // what the later phase writes, other blocks still read
  behind.replace(behind.find("store %y[32*h + t]"), 18, "store %parts[32*(ceildiv(m, 32) - 1 - h) + t]");
  for (const std::string& text :
       {columns("m"), columns("(32*ceildiv(m, 32) + 32)"), columns("32*ceildiv(m, 32)", "ceildiv(m + 32, 32) - 1 + n"),
        reading("32*(ceildiv(m, 32) - 1 - h) + t"), reading("t"), reading("32*h + t + 32"), wide, behind}) {
    Kernel kernel = parse(text);
    run_last_blocks(kernel);
    EXPECT_EQ(kernel.phases.size(), 2u) << print(kernel);
  }
}

// What blocks of other numbers wrote is no earlier for the last of some: the interpreter says so.
TEST(LastBlocks, ReadsOfOtherBlocksAreReported) {
  Kernel kernel = parse(columns("32*ceildiv(m, 32)"));
  run_last_blocks(kernel);
  std::string text = print(kernel);
  const size_t body = text.find("last_block"), load = text.find("load %parts[", body) + 12, end = text.find(']', load);
  text.replace(load, end - load,
               text.substr(load, end - load) + " - 32*floordiv(" + text.substr(load, end - load) + ", 32) + 0");
  kernel = parse(text);
  std::vector<float> x(9 * 70, 1.0f), y(70);
  AccessChecker checker(kernel);
  interpret(kernel, {9, 70}, {x.data(), y.data()}, checker);
  ASSERT_FALSE(checker.problems().empty()) << text;
  EXPECT_NE(checker.problems()[0].find("is written by another task of the phase"), std::string::npos);
}

// In one branch of a launch of several.
TEST(LastBlocks, BesideOthers) {
  std::string text = print([] {
    Kernel kernel = parse(sums(32, 32));
    run_last_blocks(kernel);
    return kernel;
  }());
  const std::string other =
      "phase {\n for u in 0..3 on block_x {\n for v in 0..32 on thread_x {\n "
      "%70: f32 = literal 2\n store %z[32*u + v] = %70 lanewise\n }\n }\n }\n";
  text.replace(text.find("{\n") + 2, 0, "phase {\n");
  text.replace(text.rfind("}\n"), 2, "}\n" + other + "}\n");
  text.replace(text.find("%parts: "), 0, "%z: f32[96] write, ");
  Kernel kernel = parse(text);
  kernel.phases[1].beside = true;
  merge_phases(kernel);
  verify(kernel);
  ASSERT_EQ(kernel.phases.size(), 1u);
  std::vector<float> x(1000, 1.0f), y(1), z(96);
  AccessChecker checker(kernel);
  interpret(kernel, {1000}, {x.data(), y.data(), z.data()}, checker);
  EXPECT_EQ(checker.problems(), std::vector<std::string>{}) << print(kernel);
  EXPECT_EQ(y[0], 1000);
  EXPECT_EQ(z[95], 2);
}

// Four rows of eight threads, then one of all 32.
TEST(LastBlocks, ThreadsByTheirNumber) {
  std::string text = sums(32, 32);
  const size_t from = text.find("for t in 0..32 on thread_x {"), end = text.find("phase {", from);
  std::string first = text.substr(from, end - from);
  first.replace(0, 28, "for a in 0..4 on thread_y {\n for c in 0..8 on thread_x {");
  for (size_t at; (at = first.find(" + t")) != first.npos;) first.replace(at, 4, " + 8*a + c");
  first.insert(first.find("store"), "");
  first.insert(first.rfind("}"), "}\n");
  text.replace(from, end - from, first);
  Kernel kernel = parse(text);
  run_last_blocks(kernel);
  verify(kernel);
  ASSERT_EQ(kernel.phases.size(), 1u) << print(kernel);
  EXPECT_EQ(run(kernel, 1000), run(parse(sums(32, 32)), 1000));
}

// Three in a row: the second and the third are of one block.
TEST(LastBlocks, FollowEachOther) {
  std::string text = sums(32, 32);
  const std::string third = R"(
  phase {
    for s in 0..32 on thread_x {
      if s < 1 {
        %6: f32 = load %parts[0] splat
        %7: f32 = neg(%6)
        store %z[0] = %7 lanewise
      }
    }
  }
}
)";
  text.replace(text.rfind("}\n"), 2, third);
  text.replace(text.find("%parts: "), 0, "%z: f32[1] write, ");
  Kernel kernel = parse(text);
  run_last_blocks(kernel);
  verify(kernel);
  EXPECT_EQ(kernel.phases.size(), 1u) << print(kernel);
  EXPECT_EQ(std::ranges::count(kernel.buffers, Space::counter, &Buffer::space), 2);
  std::vector<float> x(300, 1.0f), y(1), z(1);
  AccessChecker checker(kernel);
  interpret(kernel, {300}, {x.data(), y.data(), z.data()}, checker);
  EXPECT_EQ(checker.problems(), std::vector<std::string>{});
  EXPECT_EQ(y[0], 300);
  EXPECT_EQ(z[0], -4);
}

// The variable of the loop over threads.
std::string thread_of(const std::string& text) {
  const size_t end = text.find(" in 0..32 on thread_x"), begin = text.rfind(' ', end - 1) + 1;
  return text.substr(begin, end - begin);
}

TEST(LastBlocks, WhatTheVerifierRefuses) {
  Kernel one = parse(sums(32, 32));
  run_last_blocks(one);
  const std::string text = print(one);
  const auto refused = [&](const std::string& from, const std::string& to, const std::string& reason) {
    std::string changed = text;
    const size_t at = changed.find(from);
    ASSERT_NE(at, changed.npos) << from << "\n" << text;
    changed.replace(at, from.size(), to);
    try {
      verify(parse(changed));
      FAIL() << changed;
    } catch (const Error& error) {
      EXPECT_NE(error.message().find(reason), std::string::npos) << error.message();
    }
  };
  refused("%arrived: u32[1] counter", "%arrived: f32[1] counter", "is not u32");
  refused("last_block %arrived", "last_block %parts", "is no counter");
  const std::string t = thread_of(text);
  refused(" of max(1, floordiv(n + 127, 128))", " of " + t, "number of blocks");
  refused("last_block %arrived[0]", "last_block %arrived[" + t + "]", "threads of a block come to different counters");
  refused("target cuda", "target cpu", "on a CPU");
}

// Threads of which some do not come to the statement.
TEST(LastBlocks, AllThreadsComeThere) {
  Kernel one = parse(sums(32, 32));
  run_last_blocks(one);
  std::string text = print(one);
  const size_t at = text.find("last_block ");
  text.insert(at, "if " + thread_of(text) + " < 5 {\n");
  text.insert(text.rfind("}\n") - 1, "}\n");
  try {
    verify(parse(text));
    FAIL() << text;
  } catch (const Error& error) {
    EXPECT_NE(error.message().find("not all threads of the block come here"), std::string::npos) << error.message();
  }
}

}  // namespace
}  // namespace plait::kir
