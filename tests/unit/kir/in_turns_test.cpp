// Two phases of a GPU as one launch whose blocks wait for those in front of them: the same values, for any sizes; what
// reads of other blocks stays two.
#include "kir/in_turns.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "base/error.h"
#include "kir/interpret.h"
#include "kir/parse.h"

namespace plait::kir {
namespace {

struct Sums {
  std::string condition = "32*i + u < q";  // around what is read of other blocks
  std::string place = "(32*i + u)*m + s";  // which element that is
  std::string extent = "ceildiv(q, 32)";   // of the loop over these
  std::string grid = "ceildiv(n, 8)";      // of the later phase
  std::string behind = "store %y[s*n + 8*q + k] = %8 lanewise";
};

// Running sums of m rows: of 8 elements a block, whose 32 threads read what lies in front.
std::string sums(const Sums& how = {}) {
  return fmt::format(R"(
kernel @sums(%x: f32[m*n] read, %y: f32[m*n] write, %parts: f32[m*ceildiv(n, 8)] workspace; m, n) target cuda {{
  phase {{
    for p in 0..ceildiv(n, 8) on block_x {{
      for r in 0..m on block_y {{
        for t in 0..32 on thread_x {{
          %0: f32 = variable 0
          for j in 0..min(n - 8*p, 8) {{
            %1: f32 = load %x[r*n + 8*p + j] lanewise
            %2: f32 = add(%0, %1)
            assign %0 = %2
          }}
          if t == 0 {{
            store %parts[p*m + r] = %0 lanewise
          }}
        }}
      }}
    }}
  }}
  phase {{
    for q in 0..{3} on block_x {{
      for s in 0..m on block_y {{
        for u in 0..32 on thread_x {{
          alloc %front: f32[32] shared
          %3: f32 = variable 0
          for i in 0..{2} {{
            if {0} {{
              %4: f32 = load %parts[{1}] lanewise
              %5: f32 = add(%3, %4)
              assign %3 = %5
            }}
          }}
          store %front[u] = %3 lanewise
          sync block
          if u == 0 {{
            %6: f32 = variable 0
            for w in 0..32 {{
              %9: f32 = load %front[w] lanewise
              %10: f32 = add(%6, %9)
              assign %6 = %10
            }}
            for k in 0..min(n - 8*q, 8) {{
              %7: f32 = load %x[s*n + 8*q + k] lanewise
              %8: f32 = add(%6, %7)
              assign %6 = %8
              {4}
            }}
          }}
        }}
      }}
    }}
  }}
}}
)",
                     how.condition, how.place, how.extent, how.grid, how.behind);
}

// Complaints of the checker are failures.
std::vector<float> run(const Kernel& kernel, int64_t m, int64_t n) {
  std::vector<float> x(static_cast<size_t>(m * n)), y(static_cast<size_t>(m * n), -1);
  for (size_t i = 0; i < x.size(); ++i) x[i] = static_cast<float>(i % 7);
  AccessChecker checker(kernel);
  interpret(kernel, {m, n}, {x.data(), y.data()}, checker);
  checker.finish(buffer_extents(kernel, {m, n}));
  EXPECT_EQ(checker.problems(), std::vector<std::string>{}) << print(kernel);
  return y;
}

Kernel as_one(const std::string& text) {
  Kernel out = parse(text);
  run_in_turns(out);
  verify(out);
  return out;
}

TEST(InTurns, OneLaunchOfTheSameValues) {
  const Kernel two = parse(sums()), one = as_one(sums());
  ASSERT_EQ(one.phases.size(), 1u) << print(one);
  EXPECT_EQ(passed_buffers(one), 4u);
  for (int64_t m : {1, 3, 0})
    for (int64_t n : {1, 8, 9, 300, 0}) EXPECT_EQ(run(one, m, n), run(two, m, n)) << m << ", " << n;
  EXPECT_EQ(print(parse(print(one))), print(one));
}

// The reader counts those in front by a loop's extent alone.
TEST(InTurns, WhatALoopSays) {
  for (const Sums& how : {Sums{.condition = "u == 0", .place = "i*m + s", .extent = "q"},
                          Sums{.condition = "u < 32", .extent = "floordiv(q - u + 31, 32)"}}) {
    const Kernel one = as_one(sums(how));
    ASSERT_EQ(one.phases.size(), 1u) << print(one);
    EXPECT_EQ(run(one, 2, 100), run(parse(sums()), 2, 100));
  }
}

TEST(InTurns, OthersStayTwo) {
  for (const Sums& how :
       {Sums{.condition = "32*i + u <= q"}, Sums{.condition = "32*i + u < q + 1"}, Sums{.condition = "32*i + u < 5"},
        Sums{.condition = "u == 0", .place = "i*m + s", .extent = "q + 1"},
        Sums{.condition = "u == 0", .place = "i*m + s", .extent = "ceildiv(n, 8)"},
        Sums{.condition = "32*i + u < q", .place = "(32*i + u)*m"}, Sums{.place = "(32*i + u + 1)*m + s"},
        Sums{.place = "q*m + s"}, Sums{.condition = "u < 32", .extent = "floordiv(q - u + 32, 32)"},
        Sums{.grid = "ceildiv(n, 4)"},
        Sums{.behind = "store %parts[q*m + s] = %8 lanewise\n store %y[s*n + 8*q + k] = %8 lanewise"}}) {
    Kernel kernel = parse(sums(how));
    run_in_turns(kernel);
    EXPECT_EQ(kernel.phases.size(), 2u) << print(kernel);
    EXPECT_EQ(kernel.buffers.size(), 4u);
  }
}

// What the first phase reads and the second one writes may be read too late.
TEST(InTurns, NotWhereBlocksBehindReadWhatIsWritten) {
  std::string text = sums();
  text.replace(text.find("%x: f32[m*n] read"), 17, "%x: f32[m*n] update");
  text.replace(text.find("store %y[s*n"), 12, "store %x[s*n");
  text.replace(text.find("%y: f32[m*n] write, "), 20, "");
  Kernel kernel = parse(text);
  run_in_turns(kernel);
  EXPECT_EQ(kernel.phases.size(), 2u) << print(kernel);
}

void expect_refused(std::string text, const std::string& from, const std::string& to, const std::string& reason) {
  const size_t at = text.find(from);
  ASSERT_NE(at, text.npos) << from << "\n" << text;
  text.replace(at, from.size(), to);
  try {
    verify(parse(text));
    FAIL() << text;
  } catch (const Error& error) {
    EXPECT_NE(error.message().find(reason), std::string::npos) << error.message();
  }
}

const char* const kWaits = R"(
kernel @waits(%y: f32[n] write, %turns: u32[n + 2] counter; n) target cuda {
  for b in 0..n on block_x {
    for t in 0..32 on thread_x {
      await %turns from 0
      if t == 0 {
        %0: f32 = literal 1
        store %y[b] = %0 lanewise
      }
    }
  }
}
)";

TEST(InTurns, WhatTheVerifierRefuses) {
  verify(parse(kWaits));
  const std::string await = "await %turns from 0\n";
  expect_refused(kWaits, "u32[n + 2]", "u32[n + 1]", "words for");
  expect_refused(kWaits, "from 0", "from t", "threads of a block wait for different blocks");
  expect_refused(kWaits, "block_x", "block_y", "not those of block_x alone");
  expect_refused(kWaits, await, "if b < 5 {\n" + await + "}\n", "not every block of the launch comes here");
  expect_refused(kWaits, await, "if t < 5 {\n" + await + "}\n", "not every block of the launch comes here");
  expect_refused(kWaits, await, await + await, "counts for two statements");
  expect_refused(kWaits, await, "await %y from 0\n", "is no counter");
  expect_refused(kWaits, await, "await %turns from c\n", "c");
}

// A block that reads of others what it has not waited for.
TEST(InTurns, TheInterpreterFindsWhoDidNotWait) {
  std::string text = print(as_one(sums()));
  const size_t at = text.find("await %turns from "), end = text.find('\n', at);
  for (const std::string& other : {std::string("await %turns from i_none"), std::string()}) {
    std::string changed = text;
    const size_t on = text.find(" on block_x"), loop = text.rfind("for ", on);
    const std::string number = text.substr(loop + 4, text.find(" in ", loop) - loop - 4);
    changed.replace(at, end - at, other.empty() ? "sync block" : "await %turns from " + number);
    const Kernel kernel = parse(changed);
    std::vector<float> x(300, 1), y(300);
    AccessChecker checker(kernel);
    interpret(kernel, {1, 300}, {x.data(), y.data()}, checker);
    EXPECT_FALSE(checker.problems().empty()) << changed;
  }
}

}  // namespace
}  // namespace plait::kir
