#include "axes/build_graph.h"

#include <gtest/gtest.h>

#include "axes/project.h"
#include "axes/transforms.h"
#include "base/error.h"
#include "build/build.h"

namespace plait {
namespace {

AxisGroup group_of(const Fusion& f) { return build_axis_graph(f.pool(), f.ops()); }

TEST(BuildGraph, PointwiseAlignsTrailingDimsAndUnitsJoinNothing) {
  Fusion f;
  TensorView *x = f.input("x", {"b", 1, "h"}, f32), *y = f.input("y", {5, "h"}, f32);
  TensorView* z = add(x, y);
  const AxisGroup g = group_of(f);
  verify(g);
  EXPECT_EQ(domain_classes(g, *x), (std::vector<int>{domain_classes(g, *z)[0], domain_classes(g, *z)[2]}));
  EXPECT_EQ(domain_classes(g, *y), (std::vector<int>{domain_classes(g, *z)[1], domain_classes(g, *z)[2]}));
  EXPECT_EQ(explain_cuts(g), "");
}

TEST(BuildGraph, ProductsPairTheirFactors) {
  Fusion f;
  TensorView *x = f.input("x", {"b", "k"}, f32), *w = f.input("w", {"n", "k"}, f32);
  TensorView* y = linear(x, w);
  const AxisGroup g = group_of(f);
  EXPECT_EQ(g.axes.at(y).reduction.size(), 1u);
  EXPECT_EQ(g.graph.find(g.axes.at(x).logical[1]), g.graph.find(g.axes.at(w).logical[1]));
  EXPECT_EQ(domain_classes(g, *y)[1], domain_classes(g, *w)[0]);
}

TEST(BuildGraph, ResultsOfAnOpShareTheirAxes) {
  Fusion f;
  TensorView* x = f.input("x", {"b", "k", "c"}, f32);
  const auto [mean, var] = var_mean(x, {1});
  const AxisGroup g = group_of(f);
  verify(g);
  EXPECT_EQ(domain_classes(g, *mean), domain_classes(g, *var));
  EXPECT_EQ(domain_classes(g, *mean), (std::vector<int>{domain_classes(g, *x)[0], domain_classes(g, *x)[2]}));
  ASSERT_EQ(g.axes.at(mean).reduction.size(), 1u);
  EXPECT_EQ(g.graph.find(g.axes.at(mean).reduction[0]), domain_classes(g, *x)[1]);
}

TEST(BuildGraph, EdgeThatUnitesTwoAxesOfATensorIsCut) {
  Fusion f;
  TensorView* x = f.input("x", {4, 4}, f32);
  TensorView* soft = matmul(x, x);
  const AxisGroup g = group_of(f);
  verify(g);
  EXPECT_FALSE(g.edges_of(*soft->definition)[0].cut);
  EXPECT_TRUE(g.edges_of(*soft->definition)[1].cut);
  EXPECT_NE(explain_cuts(g).find("operand %x (in memory) keeps its own axes: two axes of"), std::string::npos)
      << explain_cuts(g);
  Fusion h;
  TensorView* t = neg(h.input("x", {4, 4}, f32));
  linear(t, t);
  const AxisGroup hard = group_of(h);
  EXPECT_NE(explain_cuts(hard).find("(computed here)"), std::string::npos) << explain_cuts(hard);
  verify(hard);
}

TEST(BuildGraph, UnprovenExtentsAreCut) {
  Fusion f;
  TensorView *x = f.input("x", {"n"}, f32), *y = f.input("y", {"n"}, f32);
  TensorView* z = add(x, y);
  BuildGraphOptions options;
  int calls = 0;
  options.extent = [&](sym::Expr) { return f.pool().symbol("s" + std::to_string(calls++)); };
  const AxisGroup g = build_axis_graph(f.pool(), f.ops(), options);
  EXPECT_TRUE(g.edges_of(*z->definition)[0].cut);
  EXPECT_NE(explain_cuts(g).find("is not proven to be"), std::string::npos);
}

TEST(BuildGraph, OutputsAlignByPositionWhereTheyCan) {
  Fusion f;
  TensorView *a = neg(f.input("x", {4, "n"}, f32)), *b = neg(f.input("y", {4, 1, "n"}, f32)),
             *c = neg(f.input("z", {"n", 4}, f32));
  AxisGroup g = group_of(f);
  EXPECT_EQ(align(g, std::vector{a, b}), nullptr);
  EXPECT_EQ(domain_classes(g, *a), domain_classes(g, *b));
  EXPECT_EQ(align(g, std::vector{a, c}), c);
  verify(g);
}

TEST(Projection, LoopsOfAReferenceOnATensorThatLacksAnAxis) {
  Fusion f;
  TensorView *x = f.input("x", {12}, f32), *y = f.input("y", {5, 12}, f32);
  TensorView* a = neg(x);
  TensorView* b = add(a, y);
  merge(*b, 0);
  split(*b, 0, 8);
  AxisGroup g = group_of(f);
  const auto loops = loop_classes(g, *b);
  ASSERT_EQ(loops.size(), 2u);
  Projection p(g, *b, *a);
  const auto outer = p.project(loops[0].cls), inner = p.project(loops[1].cls);
  ASSERT_TRUE(outer && inner);  // the same split of the axis that is there
  EXPECT_EQ(g.graph.extent(*outer).value(), 2);
  EXPECT_EQ(g.graph.extent(*inner).value(), 8);
  EXPECT_FALSE(p.project(g.axes.at(b).logical[0]).has_value());
  EXPECT_EQ(p.project(g.axes.at(b).logical[1]), domain_classes(g, *a)[0]);
}

TEST(Transforms, RefusedByName) {
  Fusion f;
  TensorView* y = f.output("y", neg(f.input("x", {4, 6}, f32)));
  const auto message = [&](const std::function<void()>& fn) {
    try {
      fn();
    } catch (const UserError& error) {
      return std::string(error.what());
    }
    return std::string();
  };
  EXPECT_NE(message([&] { split(*y, 2, 4); }).find("%y"), std::string::npos);
  EXPECT_NE(message([&] { split(*y, 0, 0); }).find("factor"), std::string::npos);
  EXPECT_NE(message([&] { merge(*y, 1); }).find("%y"), std::string::npos);
  EXPECT_NE(message([&] { reorder(*y, {0, 0}); }).find("every position once"), std::string::npos);
  EXPECT_NE(message([&] { parallelize(*y, -1, ParallelType::unroll); }).find("no such loop"), std::string::npos);
  EXPECT_TRUE(y->domain.transforms.empty()) << "a refused transform leaves the domain";
  reorder(*y, {1, 0});
  merge(*y, 0);
  split(*y, 0, 5);
  EXPECT_EQ(loop_axes(y->domain).size(), 2u);
}

}  // namespace
}  // namespace plait
