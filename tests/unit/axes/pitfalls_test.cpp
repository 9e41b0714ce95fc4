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
  EXPECT_EQ(p.text(y), R"()");
}

TEST(Pitfalls, P2FlattenedBothWays) {
  Placed p;
  TensorView* x = neg(p.in("a", {4, 6}));
  TensorView* y = add(reshape(x, {24}), reshape(transpose(x, 0, 1), {24}));
  p.outputs({y});
  EXPECT_EQ(p.text(y), R"()");
}

TEST(Pitfalls, P3DependentDims) {
  Placed p;
  TensorView* x = neg(p.in("a", {4, 6}));
  TensorView* y = add(sum(x, {1}, true), reshape(x, {1, 24}));
  p.outputs({y});
  EXPECT_EQ(p.text(y), R"()");
}

TEST(Pitfalls, P4NetShift) {
  Placed p;
  TensorView* x = neg(p.in("a", {6}));
  TensorView* y = add(x, pad(slice(x, 0, 1), {0}, {1}));
  p.outputs({y});
  EXPECT_EQ(p.text(y), R"()");
}

TEST(Pitfalls, P4RotatedHalves) {
  Placed p;
  TensorView* x = neg(p.in("a", {6}));
  TensorView* y = cat({neg(slice(x, 0, 3)), slice(x, 0, 0, 3)}, 0);
  p.outputs({y});
  EXPECT_EQ(p.text(y), R"()");
}

TEST(Pitfalls, P5EqualWholesKeepTheirFactors) {
  Placed p;
  TensorView* x = neg(p.in("a", {6, 4}));
  TensorView* y = neg(reshape(reshape(x, {24}), {4, 6}));
  p.outputs({y});
  EXPECT_EQ(p.text(y), R"()");
}

TEST(Pitfalls, P6Diamond) {
  Placed p;
  TensorView* x = p.in("a", {4, 6});
  TensorView* y = add(neg(x), sub(x, 1));
  p.outputs({y});
  EXPECT_EQ(p.text(y), R"()");
}

TEST(Pitfalls, P7SelectedElement) {
  Placed p;
  TensorView* x = neg(p.in("a", {6}));
  TensorView* y = add(x, slice(x, 0, 2, 3));
  p.outputs({y});
  EXPECT_EQ(p.text(y), R"()");
}

TEST(Pitfalls, P8PaddedUnit) {
  Placed p;
  TensorView* y = pad(neg(p.in("a", {1})), {2}, {1});
  p.outputs({y});
  EXPECT_EQ(p.text(y), R"()");
}

TEST(Pitfalls, P8SplitUnit) {
  Placed p;
  TensorView* y = neg(p.in("a", {1, 6}));
  p.outputs({y});
  split(*y, 0, 4);
  EXPECT_EQ(p.text(y), R"()");
}

TEST(Pitfalls, P9SplitOfASplit) {
  Placed p;
  TensorView* y = neg(p.in("a", {10}));
  p.outputs({y});
  split(*y, 0, 4);
  split(*y, 1, 3);
  EXPECT_EQ(p.text(y), R"()");
}

TEST(Pitfalls, P10GatheredRows) {
  Placed p;
  TensorView* x = neg(p.in("a", {6, 3}));
  TensorView* y = index_select(x, p.in("i", {4}), 0);
  TensorView* z = add(y, p.in("b", {4, 3}));
  p.outputs({z});
  EXPECT_EQ(p.text(z), R"()");
}

TEST(Pitfalls, P11SliceAndWhole) {
  Placed p;
  TensorView* x = neg(p.in("a", {6}));
  TensorView* y = neg(slice(x, 0, 1, 4));
  TensorView* z = sum(x);
  p.outputs({y, z});
  EXPECT_EQ(p.text(y), R"()");
}

TEST(Pitfalls, P12StoredAndReadBack) {
  Placed p;
  TensorView* t = neg(p.in("a", {4}));
  TensorView* z = add(reshape(t, {4, 1}), p.in("b", {4, 3}));
  p.outputs({t, z});
  merge(*z, 0);
  split(*z, 0, 5);
  EXPECT_EQ(p.text(z), R"()");
}

TEST(Pitfalls, P13LoopsThroughAPad) {
  Placed p;
  TensorView* a = neg(p.in("a", {6}));
  TensorView* y = neg(pad(a, {2}, {1}));
  p.outputs({y});
  split(*a, 0, 4);
  EXPECT_EQ(p.text(a), R"()");
}

TEST(Pitfalls, P14PromotedBufferAndGather) {
  Placed p;
  TensorView* t = neg(p.in("a", {4}));
  TensorView* y = add(reshape(t, {4, 1}), p.in("b", {4, 3}));
  TensorView* z = add(index_select(t, p.in("i", {4}), 0), sum(y, {1}));
  p.outputs({z});
  merge(*y, 0);
  split(*y, 0, 4);
  EXPECT_EQ(p.text(y), R"()");
}

TEST(Pitfalls, P15SumInLoopsOverWhatItSums) {
  Placed p;
  TensorView* x = p.in("a", {4, 3});
  TensorView* y = add(sum(x, {1}, true), x);
  p.outputs({y});
  merge(*y, 0);
  split(*y, 0, 4);
  EXPECT_EQ(p.text(y), R"()");
}

TEST(Pitfalls, P16SumInMergedLoops) {
  Placed p;
  TensorView* w = neg(p.in("a", {2, 3}));
  TensorView* s = sum(w, {0, 1});
  TensorView* t = sum(reshape(p.in("b", {2}), {2, 1}), {0});
  p.outputs({s, t});
  state_reduction_axes(*s);
  merge(*s, 0);
  EXPECT_EQ(p.text(s), R"()");
}

TEST(Pitfalls, P17InitialValuesBeyondASum) {
  Placed p;
  TensorView* y = sum(p.in("a", {2, 3}), {1});
  p.outputs({y});
  state_reduction_axes(*y);
  split(*y, 1, 4);
  EXPECT_EQ(p.text(y), R"()");
}

TEST(Pitfalls, P18SummedOutsideOfKept) {
  Placed p;
  TensorView* y = sum(p.in("a", {5, 3}), {0});
  p.outputs({y});
  state_reduction_axes(*y);
  reorder(*y, {1, 0});
  split(*y, 1, 2);
  EXPECT_EQ(p.text(y), R"()");
}

TEST(Pitfalls, P19TwoLoopsOfOneAxis) {
  Placed p;
  TensorView* x = neg(p.in("a", {8}));
  TensorView* y = add(x, flip(x, {0}));
  p.outputs({y});
  split(*y, 0, 4);
  EXPECT_EQ(p.text(y), R"()");
}

TEST(Pitfalls, P20ReaderBeforeTheNestBeside) {
  Placed p;
  TensorView* t = sum(p.in("a", {4}));
  TensorView* u = neg(t);
  TensorView* z = neg(p.in("b", {4}));
  p.outputs({t, z, u});
  p.options.inline_at = {{t, 1}};
  EXPECT_EQ(p.text(z), R"()");
}

TEST(Pitfalls, P21LocalOutsideOfItsReaders) {
  Placed p;
  TensorView* t = neg(p.in("a", {4}));
  TensorView* z = neg(p.in("b", {4}));
  TensorView* y = add(t, flip(t, {0}));
  p.outputs({z, y});
  EXPECT_EQ(p.text(y), R"()");
}

TEST(Pitfalls, P22ConflictsOfSmallExtents) {
  Placed p;
  TensorView* x = neg(p.in("a", {2, 2}));
  TensorView* y = add(x, transpose(x, 0, 1));
  p.outputs({y});
  EXPECT_EQ(p.text(y), R"()");
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

}  // namespace
}  // namespace plait
