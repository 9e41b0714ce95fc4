// Rows that several tasks share: trees of phases, and kernels whose every access is judged, before and after passes.
#include "lower/tree/split_phases.h"

#include <gtest/gtest.h>

#include "kir/accesses.h"
#include "kir/interpret.h"
#include "lower/tree/lower_tree.h"
#include "schedule/scheduler.h"
#include "support/direct_evaluation.h"
#include "support/norm_cases.h"
#include "support/sanitized.h"

namespace plait {
namespace {

struct Lowered {
  std::unique_ptr<Fusion> fusion;
  LoweredKernel kernel;
  std::string tree;
};

Lowered lowered(const std::string& text, const std::string& dtype, const sym::Environment& env, bool passes) {
  ParseOptions parse;
  parse.set = {{"T", dtype}, {"W", dtype == "f64" ? "f64" : "f32"}};
  Lowered out;
  out.fusion = parse_fusion(text, parse);
  Segment& s = out.fusion->segments.at(0);
  sym::Guards guards(env, {{}});
  s.schedule = choose_schedule({*out.fusion, s, &guards}, test::small_target(4), s.schedule);
  const auto group = scheduled_group({*out.fusion, s});
  out.kernel = passes ? lower_tree(*group, out.fusion->pool(), {}, &out.tree)
                      : emit_tree(*group, out.fusion->pool(), {}, &out.tree);
  kir::verify(out.kernel.kernel);
  return out;
}

std::vector<int64_t> integers_of(const LoweredKernel& k, const sym::Environment& env) {
  std::vector<int64_t> out;
  for (sym::Expr e : k.arguments) out.push_back(sym::evaluate(e, env));
  return out;
}

// Runs the kernel on ones; complaints about its accesses.
std::vector<std::string> problems_of(const Lowered& l, const sym::Environment& env) {
  const kir::Kernel& kernel = l.kernel.kernel;
  const std::vector<int64_t> integers = integers_of(l.kernel, env), extents = kir::buffer_extents(kernel, integers);
  std::vector<Tensor> memory;
  std::vector<void*> arguments;
  for (size_t b = 0; b < kernel.buffers.size(); ++b) {
    if (kernel.buffers[b].space != kir::Space::argument) continue;
    memory.push_back(Tensor::from_doubles(kernel.buffers[b].dtype, {extents[b]},
                                          std::vector<double>(static_cast<size_t>(extents[b]), 1.0)));
    arguments.push_back(memory.back().data());
  }
  kir::AccessChecker checker(kernel);
  kir::interpret(kernel, integers, arguments, checker);
  checker.finish(extents);
  return checker.problems();
}

size_t count(const std::string& in, const std::string& what) {
  size_t n = 0;
  for (size_t at = in.find(what); at != std::string::npos; at = in.find(what, at + 1)) ++n;
  return n;
}

constexpr const char* kSplits[] = {"vector = 4, parts = 2, split = 8", "vector = 1, parts = 1, split = 1",
                                   "vector = 2, parts = 1, split = 6"};

TEST(SplitPhases, KernelsTouchWhatTheyMayTouch) {
  int number = 0;
  for (const char* numbers : kSplits)
    for (const test::NormCase& c : test::norm_cases(numbers))
      for (const bool passes : {false, true}) {
        const Lowered l = lowered(c.text, "f32", {{"a", 3}, {"b", 5}, {"n", 33}}, passes);
        for (const int64_t n : {0, 1, 2, 7, 8, 9, 33})
          for (const int64_t b : {0, 1, 5, 17}) {
            if (number++ % testing::kStride != 0) continue;
            const sym::Environment env = {{"a", 3}, {"b", b}, {"n", n}};
            EXPECT_EQ(problems_of(l, env), std::vector<std::string>{})
                << c.name << ", " << numbers << ", b = " << b << ", n = " << n << "\n"
                << l.tree << kir::print(l.kernel.kernel);
            if (::testing::Test::HasFailure()) return;
          }
      }
}

// What is not proven of the workspaces.
TEST(SplitPhases, IndicesOfWorkspacesAreProven) {
  for (const test::NormCase& c : test::norm_cases(kSplits[0])) {
    const Lowered l = lowered(c.text, "f32", {{"a", 3}, {"b", 5}, {"n", 33}}, true);
    for (const std::string& access : kir::unproven_accesses(l.kernel.kernel))
      for (const kir::Buffer& b : l.kernel.kernel.buffers) {
        if (b.space != kir::Space::workspace) continue;
        EXPECT_EQ(access.find("%" + b.name + "["), std::string::npos) << c.name << ": " << access;
      }
  }
}

// Every case has phases: as many as passes wait for one another, and those of what is kept.
TEST(SplitPhases, AllCasesAreSplit) {
  for (const test::NormCase& c : test::norm_cases("vector = 4, parts = 2, split = 8")) {
    const Lowered l = lowered(c.text, "f32", {{"a", 3}, {"b", 5}, {"n", 33}}, false);
    EXPECT_GE(l.kernel.kernel.phases.size(), 2u) << c.name << "\n" << l.tree;
  }
}

// The sum of exponentials takes the maximum of its part, as rows merge them; other second passes wait for the row.
TEST(SplitPhases, SoftmaxHasThreePhases) {
  const std::string text = test::norm_cases("vector = 4, parts = 2, split = 8")[0].text;
  const Lowered l = lowered(text, "f32", {{"a", 3}, {"b", 2}, {"n", 1000}}, false);
  EXPECT_EQ(l.kernel.kernel.phases.size(), 3u);
  EXPECT_EQ(count(l.tree, "phase {"), 3u);
  EXPECT_EQ(count(l.tree, "cpu_thread"), 3u);
  EXPECT_EQ(count(l.tree, "part %m\n"), 1u) << l.tree;
  EXPECT_EQ(count(l.tree, "save "), 2u);
  EXPECT_EQ(count(l.tree, "merge "), 2u);
  EXPECT_EQ(count(l.tree, "from %m\n"), 1u) << l.tree;
  EXPECT_EQ(count(l.tree, "kept[i0]"), 2u) << l.tree;
}

TEST(SplitPhases, SquaresOfDistancesWaitForTheMean) {
  const std::string text =
      "let r = 3, n = 100\nfusion @f (%x: f32[r, n]) -> (%y) {\n"
      "  segment @s1 (%x) -> (%y) schedule norm(vector = 4, parts = 1, split = 8) {\n"
      "    %m = sum(%x, dims = [1], keepdim = true)\n    %d = sub(%x, %m)\n    %q = mul(%d, %d)\n"
      "    %s = sum(%q, dims = [1], keepdim = true)\n    %y = mul(%d, %s)\n  }\n}\n";
  const Lowered l = lowered(text, "f32", {{"r", 3}, {"n", 100}}, false);
  EXPECT_EQ(count(l.tree, "phase {"), 5u) << l.tree;
  EXPECT_EQ(count(l.tree, "part "), 0u) << l.tree;
}

// A sum of floats is carried in f64 across parts; f64 itself and extrema as they are.
TEST(SplitPhases, StatesKeepTheirTypes) {
  const auto workspaces = [](const std::string& dtype, size_t number) {
    const std::string text = test::norm_cases("vector = 4, parts = 2, split = 16")[number].text;
    const Lowered l = lowered(text, dtype, {{"a", 3}, {"b", 2}, {"n", 1000}}, false);
    std::string out;
    for (const kir::Buffer& b : l.kernel.kernel.buffers)
      if (b.space == kir::Space::workspace) out += fmt::format("{}: {} ", b.name, name(b.dtype));
    return out;
  };
  EXPECT_EQ(workspaces("bf16", 0), "m_parts: f32 m: f32 s_parts: f64 s: f32 ");
  EXPECT_EQ(workspaces("i8", 6), "m_parts: i32 m_parts_: i64 s_parts: i32 s_parts_: i64 ");
  EXPECT_EQ(workspaces("f32", 5), "v_parts: f64 v_parts_: f64 v_parts__: f64 ");
}

// Ops of kept dims that wait for no reduction stand in each phase that reads them.
TEST(SplitPhases, WhatWaitsForNothingIsComputedWhereItIsRead) {
  const std::string text =
      "let r = 3, n = 100\nfusion @f (%x: f32[r, n], %w: f32[r, 1]) -> (%y) {\n"
      "  segment @s1 (%x, %w) -> (%y) schedule norm(vector = 4, parts = 1, split = 8) {\n"
      "    %e: f32[r, 1] = exp(%w)\n    %a = mul(%x, %e)\n    %s: f32[r, 1] = sum(%a, dims = [1], keepdim = true)\n"
      "    %b = mul(%s, %e)\n    %c = mul(%x, %e)\n    %y = add(%c, %b)\n  }\n}\n";
  const Lowered l = lowered(text, "f32", {{"r", 3}, {"n", 100}}, false);
  EXPECT_EQ(l.kernel.kernel.phases.size(), 3u);
  EXPECT_EQ(count(l.tree, "%e = exp"), 3u) << l.tree;
  EXPECT_EQ(count(l.tree, "kept["), 1u) << l.tree;
  EXPECT_EQ(problems_of(l, {{"r", 3}, {"n", 100}}), std::vector<std::string>{});
}

TEST(SplitPhases, ATreeOfOnePartStaysOnePhase) {
  LoopTree tree;
  EXPECT_EQ(lowering::split_phases(tree, 0).value_or(""), "there is one part");
}

}  // namespace
}  // namespace plait
