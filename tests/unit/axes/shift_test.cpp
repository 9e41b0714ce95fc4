// Shifts between classes, and the recipes of ops that make them.
#include <gtest/gtest.h>

#include "axes/coordinate_test.h"
#include "axes/own_recipe.h"
#include "axes/walk.h"
#include "base/error.h"

namespace plait {
namespace {

struct ShiftGraph {
  sym::Pool pool;
  AxisGraph g{pool};
  int axis(int64_t n) { return g.axis(pool.constant(n)); }
  int axis(const char* name) { return g.axis(pool.symbol(name, {0, {}, 1, {}})); }
  void shift(int whole, int outer, int64_t low) { g.shift(whole, outer, pool.constant(low)); }
};

TEST(Shift, EqualShiftsOfOneClassAreOne) {
  ShiftGraph t;
  const int w = t.axis(6), a = t.axis(4), b = t.axis(4), c = t.axis(4), d = t.axis(5);
  t.shift(w, a, -1);
  t.shift(w, b, -1);
  t.shift(w, c, -2);
  t.shift(w, d, -1);
  EXPECT_EQ(t.g.find(a), t.g.find(b));
  EXPECT_NE(t.g.find(a), t.g.find(c)) << "another place";
  EXPECT_NE(t.g.find(a), t.g.find(d)) << "another extent";
  EXPECT_TRUE(t.g.relation(1).dead);
  t.g.verify();
}

TEST(Shift, CongruenceGoesBothWays) {
  ShiftGraph t;
  const int w = t.axis(6), v = t.axis(6), a = t.axis(4), b = t.axis(4);
  t.shift(w, a, -1);
  t.shift(v, b, -1);
  const size_t mark = t.g.mark();
  t.g.unite(a, b);
  EXPECT_EQ(t.g.find(w), t.g.find(v));
  t.g.verify();
  t.g.rollback(mark);
  EXPECT_NE(t.g.find(w), t.g.find(v));
  EXPECT_NE(t.g.find(a), t.g.find(b));
  EXPECT_FALSE(t.g.relation(1).dead);
  t.g.unite(w, v);
  EXPECT_EQ(t.g.find(a), t.g.find(b));
  t.g.verify();
}

TEST(Shift, ByNothingOverAllIsNoShift) {
  ShiftGraph t;
  const int w = t.axis(6), a = t.axis(6), b = t.axis(4);
  t.shift(w, a, 0);
  t.shift(w, b, 0);
  EXPECT_EQ(t.g.find(w), t.g.find(a));
  EXPECT_NE(t.g.find(w), t.g.find(b));
}

TEST(Shift, UnitsHaveNone) {
  ShiftGraph t;
  EXPECT_THROW(t.shift(t.axis(1), t.axis(3), 1), InternalError);
}

TEST(Shift, WhatExtentsProve) {
  ShiftGraph t;
  const int n = t.axis("n"), longer = t.g.axis(t.g.extent(n) + 3), m = t.axis("m");
  t.shift(n, longer, 2);  // a pad: every element has a place, not every place has an element
  t.shift(n, m, -1);
  const Relation &pad = t.g.relation(0), &open = t.g.relation(1);
  EXPECT_TRUE(total(pad, Direction::down));
  EXPECT_FALSE(covers(pad, Direction::down));
  EXPECT_TRUE(covers(pad, Direction::up));
  EXPECT_FALSE(total(pad, Direction::up));
  for (const Direction d : {Direction::up, Direction::down}) {
    EXPECT_FALSE(covers(open, d));
    EXPECT_FALSE(total(open, d));
  }
}

TEST(Shift, WalksGoAlong) {
  ShiftGraph t;
  const int w = t.axis(6), o = t.axis(9);
  t.shift(w, o, 2);
  const sym::Expr i = t.pool.symbol("i", {0, 8, 1, {}});
  Walk walk(t.g);
  walk.seed(o, i);
  walk.run();
  EXPECT_EQ(sym::print(walk.value(w)), "i - 2");
  EXPECT_EQ(walk.lossy(w), std::set<int>{w});
  Walk strict(t.g);
  strict.seed(o, i);
  strict.run(true);
  EXPECT_FALSE(strict.knows(w));
}

// Never in range together, and still a contradiction.
TEST(Shift, ConflictsOutsideOfTheRange) {
  ShiftGraph t;
  const int w = t.axis(6), low = t.axis(3), high = t.axis(3);
  t.shift(w, low, 0);
  t.shift(w, high, -3);
  EXPECT_FALSE(coordinates_conflict(t.g, {{w}}));
  t.g.unite(low, high);
  EXPECT_TRUE(coordinates_conflict(t.g, {{w}}));
}

std::string groups(std::vector<int64_t> in, std::vector<int64_t> out) {
  sym::Pool pool;
  std::vector<sym::Expr> a, b;
  for (int64_t n : in) a.push_back(pool.constant(n));
  for (int64_t n : out) b.push_back(pool.constant(n));
  std::string text;
  for (const DimGroup& g : reshape_groups(a, b))
    text += fmt::format("{}-{} {}-{}{} ", g.in, g.in_end, g.out, g.out_end, g.proven ? "" : " open");
  return text;
}

TEST(OwnRecipe, GroupsOfAReshape) {
  EXPECT_EQ(groups({6, 4}, {24}), "0-2 0-1 ");
  EXPECT_EQ(groups({2, 6, 5}, {12, 5}), "0-2 0-1 2-3 1-2 ");
  EXPECT_EQ(groups({4, 6, 1}, {6, 4}), "0-2 0-2 2-3 2-2 open ");
  EXPECT_EQ(groups({}, {1, 1}), "0-0 0-2 open ");
  EXPECT_EQ(groups({0, 4}, {4, 0}), "0-1 0-2 1-2 2-2 open ");
}

TEST(OwnRecipe, SymbolicGroupsNeedEqualProducts) {
  sym::Pool pool;
  const sym::Expr n = pool.symbol("n"), h = pool.symbol("h"), s = pool.symbol("s");
  EXPECT_EQ(reshape_groups({n, h * 4}, {n, pool.constant(4), h}).size(), 2u);
  const auto open = reshape_groups({n, s}, {n, h});
  EXPECT_EQ(open.size(), 2u);
  EXPECT_FALSE(open[1].proven);
}

}  // namespace
}  // namespace plait
