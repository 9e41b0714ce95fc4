// One test for each pitfall of the axis graph: the smallest graph that falls into it, and the tree, or the refusal.
#include <gtest/gtest.h>

#include "axes/loop_tree.h"
#include "axes/transforms.h"
#include "base/error.h"
#include "build/ops.h"

namespace plait {
namespace {

struct Placed {
  Fusion f;
  TreeOptions options;

  TensorView* in(const std::string& name, const std::vector<Fusion::Extent>& shape) {
    return f.input(name, shape, i64);
  }
  void outputs(const std::vector<TensorView*>& list) {
    for (TensorView* t : list) f.output(t);
  }
  // Cut edges, then the tree.
  std::string text(TensorView* reference) {
    AxisGroup group = build_axis_graph(f.pool(), f.ops());
    verify(group);
    LoopTree tree;
    if (const auto r = place_tree(group, *reference, f.outputs(), options, tree))
      return fmt::format("%{}: {} ({})", r->tensor->name, r->reason, name(r->rule));
    return "\n" + explain_cuts(group) + tree.print();
  }
};

TEST(Pitfalls, P1TransposedSelf) {
  Placed p;
  TensorView* x = neg(p.in("a", {4, 4}));
  TensorView* y = add(x, transpose(x, 0, 1));
  p.outputs({y});
  EXPECT_EQ(p.text(y), R"(
add: %add = add(%neg, %permute): operand %permute (computed here) keeps its own axes: two axes of %neg would become one
alloc %neg: [4, 4]
alloc %permute: [4, 4]
for i2 < 4
  for i3 < 4
    %neg[i2, i3] = neg(%a[i2, i3])
    %permute[i2, i3] = permute(%neg[i2, i3])
for i0 < 4
  for i1 < 4
    %add memory[i0, i1] = add(%neg[i0, i1], %permute[i1, i0])
)");
}

TEST(Pitfalls, P2FlattenedBothWays) {
  Placed p;
  TensorView* x = neg(p.in("a", {4, 6}));
  TensorView* turned = reshape(transpose(x, 0, 1), {24});
  TensorView* y = add(reshape(x, {24}), turned);
  p.outputs({y});
  EXPECT_EQ(p.text(y), R"(
add: %add = add(%reshape_1, %reshape): operand %reshape (computed here) keeps its own axes: two axes of %neg would become one
alloc %neg: [24]
alloc %reshape: [24]
for i1 < 24
  %neg[i1] = neg(%a[floordiv(i1, 6), mod(i1, 6)])
  %permute = permute(%neg[i1])
  %reshape[i1] = reshape(%permute)
for i0 < 24
  %reshape_1 = reshape(%neg[i0])
  %add memory[i0] = add(%reshape_1, %reshape[floordiv(i0, 4) + 6*mod(i0, 4)])
)");
}

TEST(Pitfalls, P3DependentDims) {
  Placed p;
  TensorView* x = neg(p.in("a", {4, 6}));
  TensorView* flat = reshape(x, {1, 24});
  TensorView* y = add(sum(x, {1}, true), flat);
  p.outputs({y});
  EXPECT_EQ(p.text(y), R"(
add: %add = add(%sum, %reshape): operand %reshape (computed here) keeps its own axes: two axes of %add would become one
alloc %neg: [4, 6]
for i4 < 4
  for i5 < 6
    %neg[i4, i5] = neg(%a[i4, i5])
alloc %reshape: [24]
for i3 < 24
  %reshape[i3] = reshape(%neg[floordiv(i3, 6), mod(i3, 6)])
for i0 < 4
  init %sum
  for i2 < 6 reduction
    %sum <- sum(%neg[i0, i2])
  finish %sum
  for i1 < 24
    %add memory[i0, i1] = add(%sum, %reshape[i1])
)");
}

TEST(Pitfalls, P4NetShift) {
  Placed p;
  TensorView* x = neg(p.in("a", {6}));
  TensorView* y = add(x, pad(slice(x, 0, 1), {0}, {1}));
  p.outputs({y});
  EXPECT_EQ(p.text(y), R"(
add: %add = add(%neg, %pad): operand %pad (computed here) keeps its own axes: two axes of %neg would become one
alloc %neg: [6]
for i2 < 6
  %neg[i2] = neg(%a[i2])
alloc %pad: [6]
for i1 < 6
  %slice = slice(%neg[i1 + 1]) write(0 <= i1 < 5)
  %pad[i1] = pad(%slice read(0 <= i1 < 5))
for i0 < 6
  %add memory[i0] = add(%neg[i0], %pad[i0])
)");
}

TEST(Pitfalls, P4RotatedHalves) {
  Placed p;
  TensorView* x = neg(p.in("a", {6}));
  TensorView* y = cat({neg(slice(x, 0, 3)), slice(x, 0, 0, 3)}, 0);
  p.outputs({y});
  EXPECT_EQ(p.text(y), R"(
cat: %cat = cat(%neg_1, %slice_1): operand %slice_1 (computed here) keeps its own axes: two axes of %neg would become one
alloc %neg: [6]
for i2 < 6
  %neg[i2] = neg(%a[i2])
alloc %slice_1: [3]
for i1 < 3
  %slice_1[i1] = slice(%neg[i1])
for i0 < 6
  %slice = slice(%neg[i0 + 3]) write(0 <= i0 < 3)
  %neg_1 = neg(%slice) write(0 <= i0 < 3)
  %cat memory[i0] = cat(%neg_1 read(0 <= i0 < 3), %slice_1[i0 - 3] read(0 <= i0 - 3 < 3))
)");
}

TEST(Pitfalls, P5EqualWholesKeepTheirFactors) {
  Placed p;
  TensorView* x = neg(p.in("a", {6, 4}));
  TensorView* y = neg(reshape(reshape(x, {24}), {4, 6}));
  p.outputs({y});
  EXPECT_EQ(p.text(y), R"(
for i0 < 4
  for i1 < 6
    %neg = neg(%a[i0 + floordiv(2*i0 + i1, 4), mod(2*i0 + i1, 4)])
    %reshape = reshape(%neg)
    %reshape_1 = reshape(%reshape)
    %neg_1 memory[i0, i1] = neg(%reshape_1)
)");
}

TEST(Pitfalls, P6Diamond) {
  Placed p;
  TensorView* x = p.in("a", {4, 6});
  TensorView* less = sub(x, 1);
  TensorView* y = add(neg(x), less);
  p.outputs({y});
  EXPECT_EQ(p.text(y), R"(
for i0 < 4
  for i1 < 6
    %full = full()
    %sub = sub(%a[i0, i1], %full)
    %neg = neg(%a[i0, i1])
    %add memory[i0, i1] = add(%neg, %sub)
)");
}

TEST(Pitfalls, P7SelectedElement) {
  Placed p;
  TensorView* x = neg(p.in("a", {6}));
  TensorView* y = add(x, slice(x, 0, 2, 3));
  p.outputs({y});
  EXPECT_EQ(p.text(y), R"(
alloc %neg: [6]
for i1 < 6
  %neg[i1] = neg(%a[i1])
for i0 < 6
  %slice = slice(%neg[2])
  %add memory[i0] = add(%neg[i0], %slice)
)");
}

TEST(Pitfalls, P8PaddedUnit) {
  Placed p;
  TensorView* y = pad(neg(p.in("a", {1})), {2}, {1});
  p.outputs({y});
  EXPECT_EQ(p.text(y), R"(
for i0 < 4
  %neg = neg(%a[0])
  %pad memory[i0] = pad(%neg read(0 <= i0 - 2 < 1))
)");
}

TEST(Pitfalls, P8SplitUnit) {
  Placed p;
  TensorView* y = neg(p.in("a", {1, 6}));
  p.outputs({y});
  split(*y, 0, 4);
  EXPECT_EQ(p.text(y), R"(
for i0 < 6
  %neg memory[0, i0] = neg(%a[0, i0])
)");
}

TEST(Pitfalls, P9SplitOfASplit) {
  Placed p;
  TensorView* y = neg(p.in("a", {10}));
  p.outputs({y});
  split(*y, 0, 4);
  split(*y, 1, 3);
  EXPECT_EQ(p.text(y), R"(
for i0 < 3
  for i1 < 2
    for i2 < 3
      %neg memory[4*i0 + 3*i1 + i2] = neg(%a[4*i0 + 3*i1 + i2]) write(0 <= 4*i0 + 3*i1 + i2 < 10 and 0 <= 3*i1 + i2 < 4)
)");
}

TEST(Pitfalls, P10GatheredRows) {
  Placed p;
  TensorView* x = neg(p.in("a", {6, 3}));
  TensorView* y = index_select(x, p.in("i", {4}), 0);
  TensorView* z = add(y, p.in("b", {4, 3}));
  p.outputs({z});
  EXPECT_EQ(p.text(z), R"(
alloc %neg: [3, 6]
for i2 < 3
  for i3 < 6
    %neg[i2, i3] = neg(%a[i3, i2])
for i0 < 4
  for i1 < 3
    %index_select = index_select(%neg[i1, j0], %i[i0])
    %add memory[i0, i1] = add(%index_select, %b[i0, i1])
)");
}

TEST(Pitfalls, P11SliceAndWhole) {
  Placed p;
  TensorView* x = neg(p.in("a", {6}));
  TensorView* y = neg(slice(x, 0, 1, 4));
  TensorView* z = sum(x);
  p.outputs({y, z});
  EXPECT_EQ(p.text(y), R"(
alloc %neg: [6]
for i2 < 6
  %neg[i2] = neg(%a[i2])
for i1 < 3
  %slice = slice(%neg[i1 + 1])
  %neg_1 memory[i1] = neg(%slice)
init %sum
for i0 < 6 reduction
  %sum <- sum(%neg[i0])
finish %sum memory[]
)");
}

TEST(Pitfalls, P12StoredAndReadBack) {
  Placed p;
  TensorView* t = neg(p.in("a", {4}));
  TensorView* z = add(reshape(t, {4, 1}), p.in("b", {4, 3}));
  p.outputs({t, z});
  merge(*z, 0);
  split(*z, 0, 5);
  EXPECT_EQ(p.text(z), R"(
for i2 < 5
  %neg memory[i2] = neg(%a[i2]) write(0 <= i2 < 4)
for i0 < 3
  for i1 < 5
    %reshape = reshape(%neg[i0 + floordiv(2*i0 + i1, 3)]) write(0 <= 5*i0 + i1 < 12)
    %add memory[i0 + floordiv(2*i0 + i1, 3), mod(2*i0 + i1, 3)] = add(%reshape, %b[i0 + floordiv(2*i0 + i1, 3), mod(2*i0 + i1, 3)]) write(0 <= 5*i0 + i1 < 12)
)");
}

TEST(Pitfalls, P13LoopsThroughAPad) {
  Placed p;
  TensorView* a = neg(p.in("a", {6}));
  TensorView* y = neg(pad(a, {2}, {1}));
  p.outputs({y});
  split(*a, 0, 4);
  EXPECT_EQ(p.text(a), R"(
for i0 < 9
  %neg = neg(%a[i0 - 2]) write(0 <= i0 - 2 < 6)
  %pad = pad(%neg read(0 <= i0 - 2 < 6))
  %neg_1 memory[i0] = neg(%pad)
)");
}

TEST(Pitfalls, P14PromotedBufferAndGather) {
  Placed p;
  TensorView* t = neg(p.in("a", {4}));
  TensorView* b = p.in("b", {4, 3});
  TensorView* y = add(reshape(t, {4, 1}), b);
  TensorView* sums = sum(y, {1});
  TensorView* z = add(index_select(t, p.in("i", {4}), 0), sums);
  p.outputs({z});
  merge(*y, 0);
  split(*y, 0, 4);
  EXPECT_EQ(p.text(y), R"(
alloc %neg: [4]
for i2 < 4
  %neg[i2] = neg(%a[i2])
for i0 < 4
  %reshape = reshape(%neg[i0])
  init %sum
  for i1 < 3 reduction
    %add = add(%reshape, %b[i0, i1])
    %sum <- sum(%add)
  finish %sum
  %index_select = index_select(%neg[j0], %i[i0])
  %add_1 memory[i0] = add(%index_select, %sum)
)");
}

TEST(Pitfalls, P15SumInLoopsOverWhatItSums) {
  Placed p;
  TensorView* x = p.in("a", {4, 3});
  TensorView* y = add(sum(x, {1}, true), x);
  p.outputs({y});
  merge(*y, 0);
  split(*y, 0, 4);
  EXPECT_EQ(p.text(y), R"(
alloc %sum: [4]
for i2 < 4
  init %sum
  for i3 < 3 reduction
    %sum <- sum(%a[i2, i3])
  finish %sum[i2]
for i0 < 3
  for i1 < 4
    %add memory[i0 + floordiv(i0 + i1, 3), mod(i0 + i1, 3)] = add(%sum[i0 + floordiv(i0 + i1, 3)], %a[i0 + floordiv(i0 + i1, 3), mod(i0 + i1, 3)])
)");
}

TEST(Pitfalls, P16SumInMergedLoops) {
  Placed p;
  TensorView* w = neg(p.in("a", {2, 3}));
  TensorView* s = sum(w, {0, 1});
  TensorView* t = sum(reshape(p.in("b", {2}), {2, 1}), {0});
  p.outputs({s, t});
  state_reduction_axes(*s);
  merge(*s, 0);
  EXPECT_EQ(p.text(s), R"(
init %sum
for i1 < 6 reduction
  %neg = neg(%a[floordiv(i1, 3), mod(i1, 3)])
  %sum <- sum(%neg)
finish %sum memory[]
init %sum_1
for i0 < 2 reduction
  %reshape = reshape(%b[i0])
  %sum_1 <- sum(%reshape)
finish %sum_1 memory[0]
)");
}

TEST(Pitfalls, P17InitialValuesBeyondASum) {
  Placed p;
  TensorView* y = sum(p.in("a", {2, 3}), {1});
  p.outputs({y});
  state_reduction_axes(*y);
  split(*y, 1, 4);
  EXPECT_EQ(p.text(y), R"(
for i0 < 2
  init %sum
  for i1 < 4 reduction
    %sum <- sum(%a[i0, i1]) reduce(0 <= i1 < 3)
  finish %sum memory[i0]
)");
}

TEST(Pitfalls, P18SummedOutsideOfKept) {
  Placed p;
  TensorView* y = sum(p.in("a", {5, 3}), {0});
  p.outputs({y});
  state_reduction_axes(*y);
  reorder(*y, {1, 0});
  split(*y, 1, 2);
  EXPECT_EQ(p.text(y), R"(
for i1 < 2
  for i2 < 2
    init %sum write(0 <= 2*i1 + i2 < 3)
for i0 < 5 reduction
  for i1 < 2
    for i2 < 2
      %sum <- sum(%a[i0, 2*i1 + i2]) write(0 <= 2*i1 + i2 < 3)
for i1 < 2
  for i2 < 2
    finish %sum memory[2*i1 + i2] write(0 <= 2*i1 + i2 < 3)
)");
}

TEST(Pitfalls, P19TwoLoopsOfOneAxis) {
  Placed p;
  TensorView* x = neg(p.in("a", {8}));
  TensorView* y = add(x, flip(x, {0}));
  p.outputs({y});
  split(*y, 0, 4);
  EXPECT_EQ(p.text(y), R"(
alloc %neg: [2, 4]
for i2 < 2
  for i3 < 4
    %neg[i2, i3] = neg(%a[4*i2 + i3])
for i0 < 2
  for i1 < 4
    %flip = flip(%neg[-i0 + 1, -i1 + 3])
    %add memory[4*i0 + i1] = add(%neg[i0, i1], %flip)
)");
}

TEST(Pitfalls, P20ReaderBeforeTheNestBeside) {
  Placed p;
  TensorView* t = sum(p.in("a", {4}));
  TensorView* u = neg(t);
  TensorView* z = neg(p.in("b", {4}));
  p.outputs({t, z, u});
  p.options.inline_at = {{t, 1}};
  EXPECT_EQ(p.text(z), R"(
init %sum
for i1 < 4 reduction
  %sum <- sum(%a[i1])
finish %sum memory[]
%neg memory[] = neg(%sum[])
for i0 < 4
  %neg_1 memory[i0] = neg(%b[i0])
)");
}

TEST(Pitfalls, P21LocalOutsideOfItsReaders) {
  Placed p;
  TensorView* t = neg(p.in("a", {4}));
  TensorView* z = neg(p.in("b", {4}));
  TensorView* y = add(t, flip(t, {0}));
  p.outputs({z, y});
  EXPECT_EQ(p.text(y), R"(
alloc %neg: [4]
for i2 < 4
  %neg[i2] = neg(%a[i2])
for i1 < 4
  %neg_1 memory[i1] = neg(%b[i1])
for i0 < 4
  %flip = flip(%neg[-i0 + 3])
  %add memory[i0] = add(%neg[i0], %flip)
)");
}

TEST(Pitfalls, P22ConflictsOfSmallExtents) {
  Placed p;
  TensorView* x = neg(p.in("a", {2, 2}));
  TensorView* y = add(x, transpose(x, 0, 1));
  p.outputs({y});
  EXPECT_EQ(p.text(y), R"(
add: %add = add(%neg, %permute): operand %permute (computed here) keeps its own axes: two axes of %neg would become one
alloc %neg: [2, 2]
alloc %permute: [2, 2]
for i2 < 2
  for i3 < 2
    %neg[i2, i3] = neg(%a[i2, i3])
    %permute[i2, i3] = permute(%neg[i2, i3])
for i0 < 2
  for i1 < 2
    %add memory[i0, i1] = add(%neg[i0, i1], %permute[i1, i0])
)");
}

TEST(Pitfalls, P23OneLiveRelationForAFact) {
  Fusion f;
  TensorView* x = f.input("a", {4, 6}, i64);
  for (int i = 0; i < 20; ++i) x = reshape(reshape(x, {24}), {4, 6});
  f.output(x);
  const AxisGroup g = build_axis_graph(f.pool(), f.ops());
  verify(g);
  int live = 0;
  for (size_t i = 0; i < g.graph.relation_count(); ++i) live += !g.graph.relation(static_cast<int>(i)).dead;
  EXPECT_EQ(live, 1);
}

// Beyond the list: two parts of a cat reach one axis by reshapes and never are in range together.
TEST(Pitfalls, PartsThatNeverMeet) {
  Placed p;
  TensorView* x = p.in("a", {4, 4});
  TensorView* m = add(repeat(x, {1, 2}), p.in("b", {4, 8}));
  TensorView* y = cat({reshape(m, {32}), reshape(neg(x), {16})}, 0);
  p.outputs({y});
  EXPECT_EQ(p.text(y), R"(
neg: %neg = neg(%a): operand %a (in memory) keeps its own axes: two axes of %repeat would become one
for i0 < 48
  %repeat = repeat(%a[floordiv(i0, 8), mod(i0, 4)]) write(0 <= i0 < 32)
  %add = add(%repeat, %b[floordiv(i0, 8), mod(i0, 8)]) write(0 <= i0 < 32)
  %reshape = reshape(%add) write(0 <= i0 < 32)
  %neg = neg(%a[floordiv(i0, 4) - 8, mod(i0, 4)]) write(0 <= i0 - 32 < 16)
  %reshape_1 = reshape(%neg) write(0 <= i0 - 32 < 16)
  %cat memory[i0] = cat(%reshape read(0 <= i0 < 32), %reshape_1 read(0 <= i0 - 32 < 16))
)");
}

// The summed axis follows from the kept one only where both are out of range.
TEST(Pitfalls, SumFixedOutOfRange) {
  Placed p;
  TensorView* x = p.in("a", {5, 4});
  TensorView* s = sum(x, {1});
  TensorView* y = cat({reshape(gather(x, p.in("i", {3, 4}), 0), {12}), s}, 0);
  p.outputs({y, s});
  EXPECT_EQ(p.text(s), R"(
gather: %gather = gather(%a, %i): operand %a (in memory) keeps its own axes: two axes of %sum would become one
for i0 < 17
  init %sum write(0 <= i0 - 12 < 5)
  for i1 < 4 reduction
    %sum <- sum(%a[i0 - 12, i1]) write(0 <= i0 - 12 < 5)
  finish %sum memory[i0 - 12] write(0 <= i0 - 12 < 5)
  %gather = gather(%a[?, mod(i0, 4)], %i[floordiv(i0, 4), mod(i0, 4)]) write(0 <= i0 < 12)
  %reshape = reshape(%gather) write(0 <= i0 < 12)
  %cat memory[i0] = cat(%reshape read(0 <= i0 < 12), %sum[i0 - 12] read(0 <= i0 - 12 < 5))
)");
}

// Two dims of an output follow from two loops, but not every pair of their elements does.
TEST(Pitfalls, DimsThatLoopsReachTogether) {
  Placed p;
  TensorView* x = p.in("a", {4, 6});
  TensorView* s = sum(reshape(x, {6, 4}), {1}, true);
  TensorView* y = add(s, sum(x, {0}, true));
  TensorView* z = neg(x);
  p.outputs({y, z});
  p.options.inline_at = {{y, 6}};
  EXPECT_EQ(p.text(z), R"(
alloc %sum: [6]
for i5 < 6
  init %sum
  for i6 < 4 reduction
    %reshape = reshape(%a[floordiv(4*i5 + i6, 6), mod(4*i5 + i6, 6)])
    %sum <- sum(%reshape)
  finish %sum[i5]
for i2 < 6
  init %sum_1
  for i4 < 4 reduction
    %sum_1 <- sum(%a[i4, i2])
  finish %sum_1
  for i3 < 6
    %add memory[i3, i2] = add(%sum[i3], %sum_1)
for i0 < 4
  for i1 < 6
    %neg memory[i0, i1] = neg(%a[i0, i1])
)");
}

}  // namespace
}  // namespace plait
