#include "kir/interpret.h"

#include <gtest/gtest.h>

#include <cmath>

#include "kir/parse.h"

namespace plait::kir {
namespace {

struct Outcome {
  std::vector<float> y;
  std::vector<std::string> problems;
};

// Runs a kernel of f32 arguments, the last of which is written.
Outcome run(const std::string& text, const std::vector<int64_t>& integers,
            std::vector<std::vector<float>> inputs = {}) {
  const Kernel kernel = parse(text);
  verify(kernel);
  const std::vector<int64_t> extents = buffer_extents(kernel, integers);
  Outcome out;
  std::vector<void*> arguments;
  for (auto& input : inputs) arguments.push_back(input.data());
  out.y.assign(size_t(extents[inputs.size()]), -1);
  arguments.push_back(out.y.data());
  AccessChecker checker(kernel);
  interpret(kernel, integers, arguments, checker);
  checker.finish(extents);
  out.problems = checker.problems();
  return out;
}

using Problems = std::vector<std::string>;

TEST(KirInterpret, ValuesPhasesAndReductions) {
  const std::string text =
      "kernel @rows(%x: f32[m*n] read, %y: f32[1] write, %p: f32[m] workspace; m, n) target cpu {\n"
      "  phase {\n"
      "    for i in 0..m on cpu_thread {\n"
      "      %0: f32x4 = start sum\n"
      "      for j in 0..ceildiv(n, 4) {\n"
      "        %1: f32x4 = load %x[i*n + 4*j + lane] contiguous active min(n - 4*j, 4)\n"
      "        accumulate sum(%0) with %1 active n - 4*j\n"
      "      }\n"
      "      %2: f32 = fold sum(%0)\n"
      "      store %p[i] = %2 lanewise\n"
      "    }\n"
      "  }\n"
      "  phase {\n"
      "    %3: f32, %4: i64 = start first_greatest\n"
      "    for i in 0..m {\n"
      "      %5: f32 = load %p[i] splat\n"
      "      %6: i64 = coordinate i\n"
      "      accumulate first_greatest(%3, %4) with %5, %6\n"
      "    }\n"
      "    %7: f32 = convert(%4)\n"
      "    store %y[0] = %7 lanewise\n"
      "  }\n"
      "}\n";
  std::vector<float> x(21);
  for (size_t i = 0; i < 21; ++i) x[i] = i == 9 ? 100 : float(i);
  const Outcome out = run(text, {3, 7}, {x});
  EXPECT_EQ(out.y, std::vector<float>{1});
  EXPECT_EQ(out.problems, Problems{});
}

TEST(KirInterpret, LanesLoopsAndLocalBuffersRunAsTheyStand) {
  const std::string text =
      "kernel @row(%y: f32[8*n] write; n) target cpu {\n"
      "  for i in 0..n on cpu_thread {\n"
      "    alloc %row: bf16[8] stack\n"
      "    for l in 0..8 on lanes {\n"
      "      %0: i64 = coordinate 8*i + l\n"
      "      %1: f32 = convert(%0)\n"
      "      store %row[7 - l] = %1 lanewise\n"
      "    }\n"
      "    for j in 0..8 unroll {\n"
      "      %2: f32 = load %row[j] lanewise\n"
      "      store %y[8*i + j] = %2 lanewise\n"
      "    }\n"
      "  }\n"
      "}\n";
  const Outcome out = run(text, {40});
  EXPECT_EQ(out.problems, Problems{});
  EXPECT_EQ(out.y[0], 7);
  EXPECT_EQ(out.y[312], 320);  // 319 in bf16
}

std::string written(const std::string& statements) {
  return "kernel @k(%y: f32[n] write; n) target cpu {\n%0: f32 = literal 1\n" + statements + "}\n";
}

TEST(KirInterpret, ReportsAccessesOutsideOfABuffer) {
  const Outcome out = run(written("for i in 0..n + 1 {\nstore %y[i] = %0 lanewise\n}\n"), {2});
  EXPECT_EQ(out.problems, Problems{"%y[2] lies outside of 2 elements: store %y[i] = %0 lanewise"});
  EXPECT_EQ(out.y, (std::vector<float>{1, 1}));
}

TEST(KirInterpret, ReportsElementsStoredTwiceOrNever) {
  const Outcome out = run(written("for i in 0..n {\nstore %y[0] = %0 lanewise\n}\n"), {2});
  EXPECT_EQ(out.problems, (Problems{"%y[0] is stored twice: store %y[0] = %0 lanewise", "%y[1] is never stored"}));
}

TEST(KirInterpret, ReportsReadsOfWhatNothingWrote) {
  const std::string row = "alloc %row: f32[4] stack\nstore %row[n] = %0 lanewise\n%1: f32 = load %row[1] splat\n";
  const std::string use = "for i in 0..n {\nstore %y[i] = %1 lanewise\n}\n";
  EXPECT_EQ(run(written(row + use), {1}).problems, Problems{});
  EXPECT_EQ(run(written(row + use), {2}).problems,
            Problems{"%row[1] is read before it is written: %1: f32 = load %row[1] splat"});
  // A buffer that comes to life again has lost what it held.
  const std::string twice =
      "for i in 0..n {\nalloc %row: f32[4] stack\nif i == 0 {\nstore %row[0] = %0 lanewise\n}\n"
      "%1: f32 = load %row[0] splat\nstore %y[i] = %1 lanewise\n}\n";
  EXPECT_EQ(run(written(twice), {1}).problems, Problems{});
  EXPECT_EQ(run(written(twice), {2}).problems.size(), 1u);
}

TEST(KirInterpret, ReportsTasksThatMeet) {
  const auto text = [](const std::string& index, const std::string& between) {
    return "kernel @k(%y: f32[n] write, %w: f32[n] workspace; n) target cpu {\nphase {\n"
           "for i in 0..n on cpu_thread {\n%0: f32 = literal 1\nstore %w[i] = %0 lanewise\n" +
           between + "%1: f32 = load %w[" + index + "] splat\nstore %y[i] = %1 lanewise\n}\n}\n}\n";
  };
  EXPECT_EQ(run(text("i", ""), {3}).problems, Problems{});
  EXPECT_EQ(run(text("max(0, i - 1)", ""), {3}).problems.at(0),
            "%w[0] is written by another task of the phase: %1: f32 = load %w[max(0, i - 1)] splat");
  EXPECT_EQ(run(text("n - 1 - i", "}\n}\nphase {\nfor i in 0..n on cpu_thread {\n"), {3}).problems, Problems{});
}

// Claims are proven from facts, which a caller may break.
TEST(KirInterpret, ReportsWrongClaims) {
  const std::string text =
      "kernel @k(%x: f32[4*n] read, %y: f32[4] write; n) given n: 4 in 4.. target cpu {\n"
      "  %0: f32x4 = load %x[n + lane] aligned active n\n"
      "  store %y[lane] = %0 aligned\n"
      "}\n";
  EXPECT_EQ(run(text, {8}, {std::vector<float>(32)}).problems, Problems{});
  EXPECT_EQ(run(text, {6}, {std::vector<float>(24)}).problems,
            Problems{"element 6 is not aligned: %0: f32x4 = load %x[lane + n] aligned active n"});
}

// Atomics of other tasks do not meet, other accesses of the phase do; those of other phases may.
TEST(KirInterpret, AtomicsOfSeveralTasks) {
  const auto run_with = [](const std::string& extra) {
    const Kernel kernel = parse(
        "kernel @k(%x: i32[8] read, %y: i32[2] update; n) target cuda {\n"
        "  phase {\n"
        "    for b in 0..2 on block_x {\n"
        "      for t in 0..1 on thread_x {\n"
        "        %0: i32 = literal 10\n"
        "        store %y[b] = %0 lanewise\n"
        "      }\n"
        "    }\n"
        "  }\n"
        "  phase {\n"
        "    for c in 0..4 on block_x {\n"
        "      for u in 0..2 on thread_x {\n"
        "        %1: i32 = load %x[2*c + u] lanewise\n"
        "        atomic_add %y[0] = %1\n"
        "        atomic_max %y[1] = %1\n" +
        extra +
        "      }\n"
        "    }\n"
        "  }\n"
        "}\n");
    if (extra.empty()) verify(kernel);
    std::vector<int32_t> x = {1, 2, 3, 40, 5, -6, 7, 8}, y = {0, 0};
    AccessChecker checker(kernel);
    interpret(kernel, {0}, {x.data(), y.data()}, checker);
    checker.finish(buffer_extents(kernel, {0}));
    return std::pair(y, checker.problems());
  };
  EXPECT_EQ(run_with("").first, (std::vector<int32_t>{70, 40}));
  EXPECT_EQ(run_with("").second, Problems{});
  const Problems problems = run_with("        store %y[1] = %1 lanewise\n").second;
  ASSERT_FALSE(problems.empty());
  EXPECT_EQ(problems[0].substr(0, 46), "%y[1] is written by another task of the phase:");
}

TEST(KirInterpret, AtomicsAndRandomNumbers) {
  const Kernel kernel = parse(
      "kernel @k(%s: u64[1] read, %w: u64[2] update, %y: f32[4] write) target cpu {\n"
      "  for i in 0..1 on cpu_thread {\n"
      "    %0: u64 = load %s[0] splat\n"
      "    atomic_min %w[1] = %0\n"
      "    %1: f32x4 = random(seed = %0, index = lane, offset = 3)\n"
      "    store %y[lane] = %1 contiguous\n"
      "  }\n"
      "}\n");
  verify(kernel);
  uint64_t seed = 5, words[2] = {7, 9};
  float y[4] = {};
  AccessChecker checker(kernel);
  interpret(kernel, {}, {&seed, words, y}, checker);
  checker.finish(buffer_extents(kernel, {}));
  EXPECT_EQ(checker.problems(), Problems{});
  EXPECT_EQ(words[0], 7u);
  EXPECT_EQ(words[1], 5u);
  for (float v : y) EXPECT_TRUE(v > 0 && v < 1);
}

}  // namespace
}  // namespace plait::kir
