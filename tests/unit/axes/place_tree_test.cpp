#include <gtest/gtest.h>

#include "axes/loop_tree.h"
#include "axes/transforms.h"
#include "base/error.h"
#include "build/ops.h"

namespace plait {
namespace {

std::string tree_text(Fusion& f, TensorView* reference, const TreeOptions& options = {}) {
  AxisGroup group = build_axis_graph(f.pool(), f.ops());
  LoopTree tree;
  if (const auto r = place_tree(group, *reference, f.outputs(), options, tree))
    return fmt::format("%{}: {} ({})", r->tensor->name, r->reason, name(r->rule));
  return "\n" + tree.print();
}

// Rows over threads, columns in lanes.
void rows(TensorView* t) {
  split(*t, 1, 8);
  parallelize(*t, 0, ParallelType::cpu_thread);
  parallelize(*t, 2, ParallelType::vectorize);
}

TEST(PlaceTree, SoftmaxKeepsARowAndWritesItWhereItIsSummed) {
  Fusion f;
  TensorView* x = f.input("x", {"r", "c"}, f32);
  TensorView* e = exp(sub(x, amax(x, {1}, true)));
  TensorView* y = f.output("y", div(e, sum(e, {1}, true)));
  rows(y);
  EXPECT_EQ(tree_text(f, y), R"(
for i0 < r cpu_thread
  init %amax
  for i5 < floordiv(c + 7, 8) reduction
    for i6 < 8 vectorize reduction
      %amax <- amax(%x[i0, 8*i5 + i6]) reduce(0 <= 8*i5 + i6 < c)
  finish %amax
  alloc %exp: [floordiv(c + 7, 8), 8]
  init %sum
  for i3 < floordiv(c + 7, 8) reduction
    for i4 < 8 vectorize reduction
      %sub = sub(%x[i0, 8*i3 + i4], %amax) write(0 <= 8*i3 + i4 < c)
      %exp[i3, i4] = exp(%sub) write(0 <= 8*i3 + i4 < c)
      %sum <- sum(%exp[i3, i4]) reduce(0 <= 8*i3 + i4 < c)
  finish %sum
  for i1 < floordiv(c + 7, 8)
    for i2 < 8 vectorize
      %y memory[i0, 8*i1 + i2] = div(%exp[i1, i2], %sum) write(0 <= 8*i1 + i2 < c)
)");
}

TEST(PlaceTree, LayerNorm) {
  Fusion f;
  TensorView* x = f.input("x", {"r", 100}, f32);
  TensorView* w = f.input("w", {100}, f32);
  const auto [mean, var] = var_mean(x, {1}, 0, true);
  TensorView* y = f.output("y", mul(mul(sub(x, mean), rsqrt(add(var, 1e-5))), w));
  rows(y);
  EXPECT_EQ(tree_text(f, y), R"(
for i0 < r cpu_thread
  init %mean, %var
  for i3 < 13 reduction
    for i4 < 8 vectorize reduction
      %mean, %var <- var_mean(%x[i0, 8*i3 + i4]) reduce(0 <= 8*i3 + i4 < 100)
  finish %mean, %var
  %full = full()
  %add = add(%var, %full)
  %rsqrt = rsqrt(%add)
  for i1 < 13
    for i2 < 8 vectorize
      %sub = sub(%x[i0, 8*i1 + i2], %mean) write(0 <= 8*i1 + i2 < 100)
      %mul = mul(%sub, %rsqrt) write(0 <= 8*i1 + i2 < 100)
      %y memory[i0, 8*i1 + i2] = mul(%mul, %w[8*i1 + i2]) write(0 <= 8*i1 + i2 < 100)
)");
}

TEST(PlaceTree, ReductionsOfOneReadShareLoops) {
  Fusion f;
  TensorView* x = f.input("x", {"r", "c"}, f32);
  TensorView* y = f.output("y", exp(x));
  f.output("s", sum(y, {1}));
  f.output("m", amax(x, {1}));
  rows(y);
  EXPECT_EQ(tree_text(f, y), R"(
for i0 < r cpu_thread
  init %m
  init %s
  for i1 < floordiv(c + 7, 8) reduction
    for i2 < 8 vectorize reduction
      %y memory[i0, 8*i1 + i2] = exp(%x[i0, 8*i1 + i2]) write(0 <= 8*i1 + i2 < c)
      %s <- sum(%y[i0, 8*i1 + i2]) reduce(0 <= 8*i1 + i2 < c)
      %m <- amax(%x[i0, 8*i1 + i2]) reduce(0 <= 8*i1 + i2 < c)
  finish %s memory[i0]
  finish %m memory[i0]
)");
}

TEST(PlaceTree, SumOfColumnsKeepsAStateForEach) {
  Fusion f;
  TensorView* x = f.input("x", {"r", 64}, f32);
  TensorView* y = f.output("y", sum(x, {0}));
  state_reduction_axes(*y);
  split(*y, 0, 16);
  reorder(*y, {0, 2, 1});
  parallelize(*y, 0, ParallelType::cpu_thread);
  parallelize(*y, 2, ParallelType::vectorize);
  EXPECT_EQ(tree_text(f, y), R"(
for i0 < 4 cpu_thread
  for i2 < 16 vectorize
    init %y
  for i1 < r reduction
    for i2 < 16 vectorize
      %y <- sum(%x[i1, 16*i0 + i2])
  for i2 < 16 vectorize
    finish %y memory[16*i0 + i2]
)");
}

TEST(PlaceTree, WhatNoLoopAroundDrivesIsComputedOnce) {
  Fusion f;
  TensorView* x = f.input("x", {"r", "c"}, f32);
  TensorView* w = f.input("w", {"k"}, f32);
  TensorView* y = f.output("y", mul(x, sum(w)));
  rows(y);
  EXPECT_EQ(tree_text(f, y), R"(
init %sum
for i3 < k reduction
  %sum <- sum(%w[i3])
finish %sum
for i0 < r cpu_thread
  for i1 < floordiv(c + 7, 8)
    for i2 < 8 vectorize
      %y memory[i0, 8*i1 + i2] = mul(%x[i0, 8*i1 + i2], %sum) write(0 <= 8*i1 + i2 < c)
)");
}

TEST(PlaceTree, HeadsThroughAReshape) {
  Fusion f;
  TensorView* x = f.input("x", {"b", "s", "4*h"}, f32);
  TensorView* y = f.output("y", neg(permute(reshape(neg(x), {"b", "s", 4, "h"}), {0, 2, 1, 3})));
  EXPECT_EQ(tree_text(f, y), R"(
for i0 < b
  for i1 < 4
    for i2 < s
      for i3 < h
        %neg = neg(%x[i0, i2, h*i1 + i3])
        %reshape = reshape(%neg)
        %permute = permute(%reshape)
        %y memory[i0, i1, i2, i3] = neg(%permute)
)");
}

TEST(PlaceTree, UnprovenSplitsCostAPredicate) {
  Fusion f;
  TensorView* y = f.output("y", neg(f.input("x", {"n"}, f32)));
  split(*y, 0, 4);
  EXPECT_EQ(tree_text(f, y), R"(
for i0 < floordiv(n + 3, 4)
  for i1 < 4
    %y memory[4*i0 + i1] = neg(%x[4*i0 + i1]) write(0 <= 4*i0 + i1 < n)
)");
  Fusion g;
  g.given(sym::parse_facts("n: 4 in 4..4096"));
  TensorView* z = g.output("y", neg(g.input("x", {"n"}, f32)));
  split(*z, 0, 4);
  EXPECT_EQ(tree_text(g, z), R"(
for i0 < floordiv(n, 4)
  for i1 < 4
    %y memory[4*i0 + i1] = neg(%x[4*i0 + i1])
)");
}

TEST(PlaceTree, AskedPositions) {
  Fusion f;
  TensorView* x = f.input("x", {6, 4}, f32);
  TensorView* e = neg(x);
  TensorView* y = f.output("y", neg(e));
  EXPECT_EQ(tree_text(f, y, {.inline_at = {{e, 0}}}), R"(
alloc %neg: [6, 4]
for i2 < 6
  for i3 < 4
    %neg[i2, i3] = neg(%x[i2, i3])
for i0 < 6
  for i1 < 4
    %y memory[i0, i1] = neg(%neg[i0, i1])
)");
  EXPECT_EQ(tree_text(f, y, {.inline_at = {{e, 1}}}), R"(
for i4 < 6
  alloc %neg: [4]
  for i6 < 4
    %neg[i6] = neg(%x[i4, i6])
  for i5 < 4
    %y memory[i4, i5] = neg(%neg[i5])
)");
}

TEST(PlaceTree, ScansCarryAStateThroughLoopsInTheirOrder) {
  Fusion f;
  TensorView* x = f.input("x", {"r", "c"}, f32);
  TensorView* y = f.output("y", exp(cumsum(neg(x), 1)));
  rows(y);
  EXPECT_EQ(tree_text(f, y), R"(
for i0 < r cpu_thread
  init %cumsum
  for i1 < floordiv(c + 7, 8)
    alloc %cumsum: [8]
    for i3 < 8
      %neg = neg(%x[i0, 8*i1 + i3]) write(0 <= 8*i1 + i3 < c)
      %cumsum[i3] = cumsum(%neg) write(0 <= 8*i1 + i3 < c)
    for i2 < 8 vectorize
      %y memory[i0, 8*i1 + i2] = exp(%cumsum[i2]) write(0 <= 8*i1 + i2 < c)
)");
}

TEST(PlaceTree, ScansFromTheEndTurnTheirLoops) {
  Fusion f;
  TensorView* x = f.input("x", {"r", "c"}, f32);
  TensorView* y = f.output("y", exp(cumsum(x, 1, false, true)));
  rows(y);
  EXPECT_EQ(tree_text(f, y), R"(
for i0 < r cpu_thread
  init %cumsum
  for i1 < floordiv(c + 7, 8) backward
    alloc %cumsum: [8]
    for i3 < 8 backward
      %cumsum[i3] = cumsum(%x[i0, 8*i1 + i3]) write(0 <= 8*i1 + i3 < c)
    for i2 < 8 vectorize
      %y memory[i0, 8*i1 + i2] = exp(%cumsum[i2]) write(0 <= 8*i1 + i2 < c)
)");
}

// A loop that runs one way for one scan is none for another: that one gets loops and a buffer of its own.
TEST(PlaceTree, ScansOfBothDirectionsShareNoLoop) {
  Fusion f;
  TensorView* x = f.input("x", {"c"}, f32);
  TensorView* forward = cumsum(x, 0);
  TensorView* y = f.output("y", add(cumsum(x, 0, false, true), forward));
  EXPECT_EQ(tree_text(f, y), R"(
alloc %cumsum: [c]
init %cumsum
for i1 < c
  %cumsum[i1] = cumsum(%x[i1])
init %cumsum_1
for i0 < c backward
  %cumsum_1 = cumsum(%x[i0])
  %y memory[i0] = add(%cumsum_1, %cumsum[i0])
)");
}

TEST(PlaceTree, LoopsOutOfTheScansOrderCarryNone) {
  Fusion f;
  TensorView* x = f.input("x", {"c"}, f32);
  TensorView* y = f.output("y", exp(cumsum(x, 0)));
  split(*y, 0, 8);
  reorder(*y, {1, 0});
  EXPECT_EQ(tree_text(f, y), R"(
alloc %cumsum: [c]
init %cumsum
for i2 < c
  %cumsum[i2] = cumsum(%x[i2])
for i0 < 8
  for i1 < floordiv(c + 7, 8)
    %y memory[i0 + 8*i1] = exp(%cumsum[i0 + 8*i1]) write(0 <= i0 + 8*i1 < c)
)");
}

TEST(PlaceTree, WhatHasNoLoopsIsRefused) {
  Fusion f;
  TensorView* y = f.output("y", topk(f.input("x", {4}, f32), 2).values);
  EXPECT_EQ(tree_text(f, y), "%y: composites are opened before (V2)");
}

TEST(PlaceTree, AnEmptyLoopComputesNothingThatItDoesNotDrive) {
  Fusion f;
  TensorView* y = f.output("y", neg(f.input("x", {"n"}, f32)));
  TensorView* z = f.output("z", neg(f.input("w", {1}, f32)));
  EXPECT_EQ(tree_text(f, y, {.inline_at = {{z, 1}}}), R"(
for i0 < n
  %y memory[i0] = neg(%x[i0])
%z memory[0] = neg(%w[0])
)");
}

// Walks are shared by all ops at a place: four times the ops cost about four times the visits.
uint64_t visits(int ops) {
  Fusion f;
  TensorView* x = f.input("x", {"r", "c"}, f32);
  while (static_cast<int>(f.ops().size()) < ops) {
    TensorView* e = exp(sub(x, amax(x, {1}, true)));
    x = mul(add(x, 1), div(e, sum(e, {1}, true)));
  }
  TensorView* y = f.output("y", x);
  rows(y);
  AxisGroup group = build_axis_graph(f.pool(), f.ops());
  LoopTree tree;
  EXPECT_FALSE(place_tree(group, *y, f.outputs(), {}, tree));
  return group.graph.visits();
}

TEST(PlaceTree, CostIsLinear) {
  const uint64_t small = visits(500), large = visits(2000);
  EXPECT_LT(large, 5 * small);
}

}  // namespace
}  // namespace plait
