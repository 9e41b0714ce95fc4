// Why two segments are apart: who refused, the reason, what would have to change.
#include "segment/boundaries.h"

#include <gtest/gtest.h>

#include "support/direct_evaluation.h"

namespace plait {
namespace {

// `%x` is an input of the fusion, `%y` its output.
std::string why(const std::string& inputs, const std::string& segments, const std::string& outputs = "%y") {
  const auto fusion = parse_fusion("fusion @f (" + inputs + ") -> (" + outputs + ") {\n" + segments + "}\n");
  const std::string before = print(*fusion);
  const auto found = boundaries(*fusion, test::small_target(8));
  EXPECT_EQ(print(*fusion), before);
  for (const Boundary& b : found) {
    EXPECT_FALSE(b.refused.empty());
    for (const Refused& r : b.refused) EXPECT_FALSE(r.by.empty() || r.reason.empty() || r.change.empty()) << r.reason;
  }
  return print(found);
}

TEST(Boundaries, StepsThatNoKernelComputesStandAlone) {
  EXPECT_EQ(
      why("%x: f32[4, 8], %w: f32[8, 8]", R"(
  segment @a (%x, %w) -> (%p) schedule library {
    %p = matmul(%x, %w)
  }
  segment @b (%p) -> (%y) schedule pointwise() {
    %y = exp(%p)
  }
)"),
      "@a -> @b: %p: f32[4, 8]\n"
      "  library refuses: matmul: %p = matmul(%x, %w) is a call of a library, which computes nothing else\n"
      "    to change: nothing: its neighbours read and write its tensors; --option contractions=nest generates it, "
      "alone too\n");
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

TEST(Boundaries, EverySchedulerSaysWhy) {
  const std::string text = why("%x: f32[4, 8]", R"(
  segment @a (%x) -> (%s) schedule norm() {
    %s = sum(%x, dims = [1], keepdim = true)
  }
  segment @b (%x, %s) -> (%y) schedule nest() {
    %c = sub(%x, %s)
    %y = sum(%c, dims = [0])
  }
)");
  EXPECT_NE(text.find("@a -> @b: %s: f32[4, 1]\n  pointwise refuses: "), std::string::npos) << text;
  EXPECT_NE(text.find("  norm refuses: "), std::string::npos) << text;
  EXPECT_NE(text.find("    to change: reduce the same dims on both sides"), std::string::npos) << text;
  EXPECT_NE(text.find("by hand both may be one"), std::string::npos) << text;
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
