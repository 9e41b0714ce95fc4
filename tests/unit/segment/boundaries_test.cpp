// Why two segments are apart: who refused, the reason, what would have to change.
#include "segment/boundaries.h"

#include <gtest/gtest.h>

#include "support/direct_evaluation.h"

namespace plait {
namespace {

// `%x` is an input of the fusion, `%y` its output.
std::string why(const std::string& inputs, const std::string& segments, const std::string& outputs = "%y",
                const Target& target = test::small_target(8)) {
  const auto fusion = parse_fusion("fusion @f (" + inputs + ") -> (" + outputs + ") {\n" + segments + "}\n");
  const std::string before = print(*fusion);
  const auto found = boundaries(*fusion, target);
  EXPECT_EQ(print(*fusion), before);
  for (const Boundary& b : found) {
    EXPECT_FALSE(b.refusers.empty());
    for (const auto& [by, refused] : b.refusers)
      EXPECT_FALSE(by.empty() || refused.reason.empty() || refused.change.empty()) << refused.reason;
  }
  return print(found);
}

TEST(Boundaries, StepsThatNoKernelComputesStandAlone) {
  EXPECT_EQ(why("%x: f32[4, 8], %w: f32[8, 8]", R"(
  segment @a (%x, %w) -> (%p) schedule library {
    %p = matmul(%x, %w)
  }
  segment @b (%p) -> (%y) schedule pointwise() {
    %y = exp(%p)
  }
)"),
            "@a -> @b: %p: f32[4, 8]\n"
            "  library refuses: matmul: %p = matmul(%x, %w) is a call of a library, which computes nothing else\n"
            "    to change: nothing: tiles in its place have no neighbours either: it is small\n");
  EXPECT_EQ(why("%x: f32[64, 64], %w: f32[64, 64]", R"(
  segment @a (%x, %w) -> (%p) schedule library {
    %p = matmul(%x, %w)
  }
  segment @b (%p) -> (%y) schedule pointwise() {
    %y = exp(%p)
  }
)"),
            "@a -> @b: %p: f32[64, 64]\n"
            "  library refuses: matmul: %p = matmul(%x, %w) is a call of a library, which computes nothing else\n"
            "    to change: write both as one `segment` with `schedule contraction()`: its tiles have both, though the "
            "library may be faster\n");
  const std::string alias = why("%x: f32[4, 8]", R"(
  segment @a (%x) -> (%p) schedule alias {
    %p = reshape(%x, shape = [32])
  }
  segment @b (%p) -> (%y) schedule pointwise() {
    %y = exp(%p)
  }
)");
  EXPECT_NE(alias.find("alias refuses"), std::string::npos) << alias;
}

TEST(Boundaries, TheSchedulerOfTheirKindSaysWhy) {
  const std::string text = why("%x: f32[4, 8, 3]", R"(
  segment @a (%x) -> (%s) schedule norm() {
    %s = sum(%x, dims = [1], keepdim = true)
  }
  segment @b (%x, %s) -> (%y) schedule nest() {
    %c = sub(%x, %s)
    %y = sum(%c, dims = [0])
  }
)");
  EXPECT_NE(text.find("@a -> @b: %s: f32[4, 1, 3]\n  norm refuses: "), std::string::npos) << text;
  for (const char* other : {"pointwise", "scatter", "attention", "contraction", "nest"})
    EXPECT_EQ(text.find(std::string(other) + " refuses"), std::string::npos) << text;
  EXPECT_NE(text.find("    to change: reduce the same dims on both sides"), std::string::npos) << text;
  EXPECT_NE(text.find("by hand both are one"), std::string::npos) << text;
}

TEST(Boundaries, WhatMayMergeStoppedAtCost) {
  const std::string text = why("%x: f32[4, 8]", R"(
  segment @a (%x) -> (%p) schedule pointwise() {
    %p = exp(%x)
  }
  segment @b (%p) -> (%y) schedule pointwise() {
    %y = neg(%p)
  }
)");
  EXPECT_NE(text.find("  cost refuses: pointwise takes both"), std::string::npos) << text;
  EXPECT_NE(text.find("to change: write both as one `segment` with `schedule pointwise()`"), std::string::npos) << text;
}

TEST(Boundaries, OneThatNeitherSideConcernsIsLeftOut) {
  EXPECT_EQ(
      why("%x: f32[4, 8]", R"(
  segment @a (%x) -> (%p, %q) schedule pointwise() {
    %p = exp(%x)
    %q = neg(%p)
  }
  segment @b (%q) -> (%y) schedule pointwise() {
    %y = slice(%q, dim = 1, start = 0, stop = 3)
  }
)",
          "%p, %y"),
      "@a -> @b: %q: f32[4, 8]\n"
      "  pointwise refuses: outputs %p: f32[4, 8] and %y: f32[4, 3] have different domains\n"
      "    to change: give the outputs one shape: broadcast the smaller one, or do not output it; by hand both are "
      "one: segment @a (...) -> (...) schedule manual\n");
  const std::string sorts = why("%x: f32[4, 8]", R"(
  segment @a (%x) -> (%p, %i) schedule nest() {
    %p, %i = sort(%x, dim = 1)
  }
  segment @b (%p) -> (%y, %j) schedule nest() {
    %y, %j = sort(%p, dim = 0)
  }
)",
                                "%i, %y, %j");
  EXPECT_EQ(sorts,
            "@a -> @b: %p: f32[4, 8]\n  nest refuses: 2 ops, and a nest computes a single one\n"
            "    to change: nothing: what no schedule has beside others is a kernel of its own\n");
}

constexpr const char* kScatters = R"(
  segment @a (%t, %i) -> (%u) schedule pointwise() {
    %e = exp(%t)
    %u = gather(%e, %i, dim = 0)
  }
  segment @b (%x, %i, %u) -> (%y) schedule scatter() {
    %y = scatter(%x, %i, %u, dim = 0, update = add)
  }
)";

TEST(Boundaries, AScatterNextToALookup) {
  const std::string text = why("%x: f32[90], %t: f32[70], %i: i64[50]", kScatters);
  EXPECT_EQ(text.find("norm refuses"), std::string::npos) << text;
  EXPECT_NE(text.find("  scatter refuses: gather: %u = gather(%e, %i) looks up %e, which the kernel would compute\n"
                      "    to change: look up what is in memory, and compute behind the lookup\n"),
            std::string::npos)
      << text;
}

TEST(Boundaries, ScattersOfOtherIndices) {
  const std::string text = why("%x: f32[90], %i: i64[50], %k: i64[50], %u: f32[50]", R"(
  segment @a (%x, %i, %u) -> (%p) schedule scatter() {
    %p = scatter(%x, %i, %u, dim = 0, update = add)
  }
  segment @b (%x, %k, %u, %p) -> (%y) schedule scatter() {
    %q = scatter(%x, %k, %u, dim = 0, update = add)
    %y = mul(%p, %q)
  }
)");
  EXPECT_NE(text.find("have no index in common\n    to change: let both scatter by one index"), std::string::npos)
      << text;
}

TEST(Boundaries, TilesSayWhatMayStandBesideThem) {
  const std::string text = why("%x: f32[64, 64], %w: f32[64, 64]", R"(
  segment @a (%x, %w) -> (%p) schedule contraction() {
    %p = matmul(%x, %w)
  }
  segment @b (%p) -> (%y) schedule norm() {
    %y = sum(%p, dims = [1])
  }
)");
  EXPECT_NE(
      text.find("  contraction refuses: sum: %y = sum(%p) stands beside the contraction\n    to change: leave only "
                "elementwise ops of the contraction's shape behind it, with moves in front"),
      std::string::npos)
      << text;
  EXPECT_EQ(text.find("attention"), std::string::npos) << text;
}

// Scores, a softmax and the product with values, and what stands behind.
constexpr const char* kAttention = R"(
  segment @a (%q, %k, %v) -> (%p) schedule attention() {
    %s = matmul(%q, %k)
    %m = amax(%s, dims = [2], keepdim = true)
    %d = sub(%s, %m)
    %e = exp(%d)
    %t = sum(%e, dims = [2], keepdim = true)
    %w = div(%e, %t)
    %p = matmul(%w, %v)
  }
  segment @b (%p) -> (%y) schedule norm() {
    %y = sum(%p, dims = [1])
  }
)";

TEST(Boundaries, AttentionSaysWhatMayStandBehindIt) {
  const std::string inputs = "%q: f32[8, 64, 16], %k: f32[8, 16, 256], %v: f32[8, 256, 16]";
  const std::string text = why(inputs, kAttention);
  EXPECT_NE(
      text.find("  attention refuses: sum: %y = sum(%p) is neither elementwise nor a reduction over keys\n"
                "    to change: leave only elementwise ops, moves without pads and cats, and reductions over keys"),
      std::string::npos)
      << text;
  const std::string on_gpu = why(inputs, kAttention, "%y", test::small_target(8, true));
  EXPECT_NE(on_gpu.find("  attention refuses: it has no scores and products of their weights in bf16 or f16"),
            std::string::npos)
      << on_gpu;
  EXPECT_NE(on_gpu.find("    to change: let a product of bf16 or f16 in f32"), std::string::npos) << on_gpu;
}

TEST(Boundaries, ASegmentBetweenKeepsTwoApart) {
  const std::string text = why("%x: f32[4, 8], %w: f32[8, 8]", R"(
  segment @a (%x) -> (%p) schedule pointwise() {
    %p = exp(%x)
  }
  segment @m (%p, %w) -> (%q) schedule library {
    %q = matmul(%p, %w)
  }
  segment @b (%p, %q) -> (%y) schedule pointwise() {
    %y = add(%p, %q)
  }
)");
  EXPECT_NE(text.find("@a -> @b: %p: f32[4, 8]\n  order refuses: @m reads what @a makes, and @b needs it"),
            std::string::npos)
      << text;
}

}  // namespace
}  // namespace plait
