#include "axes/axis_graph.h"

#include <gtest/gtest.h>

#include "axes/coordinate_test.h"
#include "axes/walk.h"

namespace plait {
namespace {

struct Graph {
  sym::Pool pool;
  AxisGraph g{pool};
  int axis(int64_t n) { return g.axis(pool.constant(n)); }
  int axis(const char* name, sym::SymbolInfo facts = {}) { return g.axis(pool.symbol(name, facts)); }
  std::pair<int, int> split(int w, int64_t f) { return g.split(w, pool.constant(f)); }
};

TEST(AxisGraph, MergeAndExactSplitAreOneRelation) {
  Graph t;
  const int a = t.axis(6), b = t.axis(4);
  const int w = t.g.merge(a, b);
  EXPECT_EQ(t.g.extent(w).value(), 24);
  EXPECT_EQ(t.split(w, 4), std::pair(a, b));
  EXPECT_EQ(t.g.merge(a, b), w);
  const auto [o, i] = t.split(w, 8);
  EXPECT_NE(o, a);
  EXPECT_EQ(t.g.merge(o, i), w);
  EXPECT_EQ(t.g.relation_count(), 2u);
  t.g.verify();
}

TEST(AxisGraph, SplitsThatDoNotDivideAreCovers) {
  Graph t;
  const int n = t.axis(9);
  const auto [o, i] = t.split(n, 4);
  EXPECT_EQ(t.g.extent(o).value(), 3);
  EXPECT_EQ(t.g.relation(0).kind, RelationKind::cover);
  EXPECT_EQ(t.split(n, 4), std::pair(o, i));
  EXPECT_NE(t.g.find(t.g.merge(o, i)), t.g.find(n)) << "12 values are not 9";
}

TEST(AxisGraph, SymbolicSplitsAreFoldsOnlyByProof) {
  Graph t;
  sym::SymbolInfo eights;
  eights.multiple_of = 8;
  const int n = t.axis("n", eights), m = t.axis("m");
  t.split(n, 4);
  t.split(m, 4);
  EXPECT_EQ(t.g.relation(0).kind, RelationKind::fold);
  EXPECT_EQ(t.g.relation(1).kind, RelationKind::cover);
  const auto [o, i] = t.split(n, 4);
  EXPECT_EQ(t.g.merge(o, i), t.g.find(n));
}

TEST(AxisGraph, CongruenceUnitesFactorsOfEqualWholes) {
  Graph t;
  const int a = t.axis(6), b = t.axis(4), c = t.axis(6), d = t.axis(4), e = t.axis(4), f = t.axis(6);
  const int x = t.g.merge(a, b), y = t.g.merge(c, d), z = t.g.merge(e, f);
  t.g.unite(x, y);
  EXPECT_EQ(t.g.find(a), t.g.find(c));
  EXPECT_EQ(t.g.find(b), t.g.find(d));
  t.g.unite(x, z);  // equal extents in another order keep four factors
  EXPECT_NE(t.g.find(a), t.g.find(f));
  t.g.verify();
}

TEST(AxisGraph, CongruenceUnitesWholesOfEqualFactors) {
  Graph t;
  const int a = t.axis(6), b = t.axis(4), c = t.axis(6), d = t.axis(4), n = t.axis(10), m = t.axis(10);
  const int x = t.g.merge(a, b), y = t.g.merge(c, d);
  const auto [no, ni] = t.split(n, 4);
  const auto [mo, mi] = t.split(m, 4);
  t.g.unite(a, c);
  EXPECT_NE(t.g.find(x), t.g.find(y));
  t.g.unite(b, d);
  EXPECT_EQ(t.g.find(x), t.g.find(y));
  t.g.unite(no, mo);
  t.g.unite(ni, mi);
  EXPECT_EQ(t.g.find(n), t.g.find(m)) << "covers too";
  t.g.verify();
}

TEST(AxisGraph, UnitsVanishInMerges) {
  Graph t;
  const int a = t.axis(6), one = t.axis(1);
  EXPECT_EQ(t.g.merge(a, one), a);
  EXPECT_EQ(t.g.merge(one, a), a);
  const auto [o, i] = t.split(a, 6);
  EXPECT_TRUE(t.g.unit(o));
  EXPECT_EQ(i, t.g.find(a));
}

TEST(AxisGraph, RollbackRestoresEverything) {
  Graph t;
  const int a = t.axis(6), b = t.axis(4), c = t.axis(6), d = t.axis(4);
  const int x = t.g.merge(a, b), y = t.g.merge(c, d);
  const size_t mark = t.g.mark();
  t.g.unite(x, y);
  t.split(x, 8);
  t.g.merge(a, d);
  t.g.rollback(mark);
  EXPECT_NE(t.g.find(a), t.g.find(c));
  EXPECT_NE(t.g.find(x), t.g.find(y));
  EXPECT_EQ(t.g.relation_count(), 2u);
  EXPECT_EQ(t.g.axis_count(), 6u);
  EXPECT_EQ(t.g.merge(a, b), x);
  EXPECT_EQ(t.split(y, 4), std::pair(c, d));
  t.g.verify();
}

// A size below the factor has one outer iteration, which says nothing.
TEST(CoordinateTest, LargeSizesShowWhatSmallOnesHide) {
  Graph t;
  const int n = t.axis("n");
  const auto [outer, inner] = t.split(n, 64);
  EXPECT_TRUE(coordinates_conflict(t.g, {{n, outer}}));
  EXPECT_TRUE(coordinates_conflict(t.g, {{n, inner}}));
  EXPECT_FALSE(coordinates_conflict(t.g, {{outer, inner}}));
}

// Five dims whose product at large sizes passes 64 bits.
TEST(CoordinateTest, SizesThatPass64BitsAreLeftOut) {
  Graph t;
  const int d = t.axis("d", {.lo = 8, .multiple_of = 8});
  std::vector<int> dims = {d};
  int whole = d;
  for (int i = 0; i < 4; ++i) {
    dims.push_back(t.g.axis(t.g.extent(d)));
    whole = t.g.merge(whole, dims.back());
  }
  const auto [outer, inner] = t.split(whole, 4);
  EXPECT_FALSE(coordinates_conflict(t.g, std::vector{outer, inner}));
  EXPECT_FALSE(coordinates_conflict(t.g, dims));
  EXPECT_TRUE(coordinates_conflict(t.g, std::vector{outer, inner, dims[2]}));
}

TEST(CoordinateTest, FindsDependentAxes) {
  Graph t;
  const int a = t.axis(6), b = t.axis(4);
  const int ab = t.g.merge(a, b), ba = t.g.merge(b, a);
  EXPECT_TRUE(coordinates_conflict(t.g, std::vector{a, b, a}));
  EXPECT_FALSE(coordinates_conflict(t.g, std::vector{a, b}));
  EXPECT_TRUE(coordinates_conflict(t.g, std::vector{ab, a})) << "the factor of another axis of the domain";
  t.g.unite(ab, ba);  // flatten(x) + flatten(x^T)
  EXPECT_TRUE(coordinates_conflict(t.g, std::vector{a, b}));
  const int one = t.axis(1);
  EXPECT_FALSE(coordinates_conflict(t.g, std::vector{one, one}));
}

TEST(CoordinateTest, SymbolsTakeValuesWithinTheirFacts) {
  Graph t;
  sym::SymbolInfo facts;
  facts.lo = 2;
  facts.multiple_of = 4;
  const int n = t.axis("n", facts), m = t.axis("m", facts);
  const int nm = t.g.merge(n, m);
  EXPECT_FALSE(coordinates_conflict(t.g, std::vector{n, m}));
  EXPECT_TRUE(coordinates_conflict(t.g, std::vector{nm, m}));
}

TEST(Walk, CheapestDerivationAndWhatItRestsOn) {
  Graph t;
  const int n = t.axis(10);
  const auto [o, i] = t.split(n, 4);
  const sym::Expr x = t.pool.symbol("x"), y = t.pool.symbol("y");
  Walk up(t.g);
  up.seed(o, x);
  up.seed(i, y);
  up.run();
  EXPECT_EQ(sym::print(up.value(n)), "4*x + y");
  EXPECT_EQ(up.lossy(n), std::set<int>{n});
  EXPECT_EQ(up.seeds(n), (std::set<int>{o, i}));
  Walk total(t.g);
  total.seed(o, x);
  total.seed(i, y);
  total.run(true);
  EXPECT_FALSE(total.knows(n)) << "4*x + y may be 10 or 11";
  Walk down(t.g);
  down.seed(n, x);
  down.run(true);
  EXPECT_EQ(sym::print(down.value(o)), "floordiv(x, 4)");
  EXPECT_EQ(sym::print(down.value(i)), "mod(x, 4)");
  EXPECT_TRUE(down.lossy(i).empty());
  const int one = t.axis(1);
  EXPECT_TRUE(down.knows(one));
  EXPECT_EQ(down.value(one).value(), 0);
}

// Every lossy class counts, not only the axis itself: split 10 by 4, then 4 by 3.
TEST(Walk, LossyStepsOnTheWay) {
  Graph t;
  const int n = t.axis(10);
  const auto [o, i] = t.split(n, 4);
  const auto [a, b] = t.split(i, 3);
  Walk walk(t.g);
  for (int c : {o, a, b}) walk.seed(c);
  walk.run();
  EXPECT_EQ(walk.lossy(n), (std::set<int>{n, i}));
}

}  // namespace
}  // namespace plait
