// Random expressions: simplification keeps values; bounds, divisors and proofs hold; forms are stable.
#include <gtest/gtest.h>

#include <cstdlib>

#include "base/error.h"
#include "unit/sym/random_expr.h"

namespace plait::sym::testing {
namespace {

int random_count() { return std::getenv("PLAIT_TEST_LONG") ? 250000 : 20000; }  // NOLINT

// Every node of the expression built again from its operands.
Expr again(Expr e) {
  std::span<const Expr> o = e.operands();
  switch (e.kind()) {
    case Kind::constant:
    case Kind::symbol:
      return e;
    case Kind::add: {
      Expr s = again(o[o.size() - 1]);
      for (size_t i = o.size() - 1; i-- > 0;) s = again(o[i]) + s;
      return s;
    }
    case Kind::mul: {
      Expr s = again(o[o.size() - 1]);
      for (size_t i = o.size() - 1; i-- > 0;) s = again(o[i]) * s;
      return s;
    }
    case Kind::min:
    case Kind::max:
    case Kind::logical_and: {
      Expr s = again(o[0]);
      for (Expr f : o.subspan(1))
        s = e.kind() == Kind::min   ? min(s, again(f))
            : e.kind() == Kind::max ? max(s, again(f))
                                    : logical_and(s, again(f));
      return s;
    }
    case Kind::floordiv:
      return floordiv(again(o[0]), again(o[1]));
    case Kind::mod:
      return mod(again(o[0]), again(o[1]));
    case Kind::chunk:
      return chunk(again(o[0]), again(o[1]), again(o[2]), o[3].value());
    case Kind::chunk_start:
      return chunk_start(again(o[0]), again(o[1]), again(o[2]), o[3].value());
    case Kind::lt:
      return lt(again(o[0]), again(o[1]));
    case Kind::le:
      return le(again(o[0]), again(o[1]));
    case Kind::eq:
      return eq(again(o[0]), again(o[1]));
    case Kind::logical_not:
      return logical_not(again(o[0]));
    case Kind::select:
      return select(again(o[0]), again(o[1]), again(o[2]));
  }
  return {};
}

struct Counts {
  int values = 0, proofs = 0, finite = 0, smaller = 0;
};

void check_value(Expr e, int64_t expected, const Environment& env, Counts& counts) {
  ASSERT_EQ(evaluate(e, env), expected) << print(e);
  const Bounds b = bounds(e);
  ASSERT_LE(b.lo, expected) << print(e);
  ASSERT_GE(b.hi, expected) << print(e);
  counts.finite += b.lo != INT64_MIN && b.hi != INT64_MAX;
  const int64_t d = divisor(e);
  ASSERT_TRUE(d == 0 ? expected == 0 : expected % d == 0) << print(e) << " by " << d;
  const Truth truth = prove(e);
  if (truth != Truth::unknown) {
    ASSERT_EQ(truth == Truth::yes, expected != 0) << print(e);
    ++counts.proofs;
  }
  ++counts.values;
}

TEST(SymRandom, AgreesWithNaiveEvaluation) {
  Random random(20240517);
  Counts counts;
  std::shared_ptr<Pool> pool;
  for (int round = 0; round < random_count(); ++round) {
    if (round % 500 == 0) {
      pool = std::make_shared<Pool>();
      declare(*pool);
    }
    const Tree tree = draw_tree(random, static_cast<int>(draw(random, 1, 5)));
    const Expr e = build(*pool, tree);
    for (int i = 0; i < 4; ++i) {
      const Environment env = draw_values(random);
      const std::optional<int64_t> expected = naive(tree, env);
      if (!expected) continue;
      check_value(e, *expected, env, counts);
      if (HasFatalFailure()) FAIL() << "round " << round;
    }
    ASSERT_TRUE(again(e) == e) << "round " << round << ": " << print(e) << "\n  again: " << print(again(e));
    ASSERT_TRUE(parse(*pool, print(e)) == e)
        << "round " << round << ": " << print(e) << "\n  parsed: " << print(parse(*pool, print(e)));
  }
  EXPECT_GT(counts.values, random_count());
  EXPECT_GT(counts.proofs, random_count() / 20);
  std::printf("values %d, proofs %d, finite bounds %d\n", counts.values, counts.proofs, counts.finite);
}

// Conditions that hold often enough to be provable: index against extent.
TEST(SymRandom, ProofsAreSound) {
  Random random(7);
  int known = 0;
  for (int round = 0; round < random_count() / 4; ++round) {
    Pool pool;
    declare(pool);
    const Tree a = draw_tree(random, 2), b = draw_tree(random, 2);
    const Tree condition{"<l=!"[random() % 4], 0, "", {a, b}};
    const Expr e = build(pool, condition);
    const Truth truth = prove(e);
    if (truth == Truth::unknown) continue;
    ++known;
    for (int i = 0; i < 12; ++i) {
      const Environment env = draw_values(random);
      const std::optional<int64_t> v = naive(condition, env);
      if (!v) continue;
      ASSERT_EQ(*v != 0, truth == Truth::yes) << print(build(pool, a)) << " ? " << print(build(pool, b));
    }
  }
  EXPECT_GT(known, random_count() / 40);
}

// Text depends on structure only: another order of creation gives the same text; importing gives it as well.
TEST(SymRandom, TextIsIndependentOfHistory) {
  Random random(3);
  Pool crowded;
  declare(crowded);
  for (int i = 0; i < 2000; ++i) build(crowded, draw_tree(random, 3));
  for (int round = 0; round < random_count() / 10; ++round) {
    Pool fresh, empty;
    declare(fresh);
    const Tree tree = draw_tree(random, 4);
    const Expr e = build(fresh, tree);
    ASSERT_EQ(print(build(crowded, tree)), print(e));
    declare(empty);
    ASSERT_EQ(print(import(empty, e)), print(e));
  }
}

TEST(SymRandom, SubstitutionKeepsValues) {
  Random random(11);
  for (int round = 0; round < random_count() / 10; ++round) {
    Pool pool;
    declare(pool);
    const Tree tree = draw_tree(random, 4), x = draw_tree(random, 1), y = draw_tree(random, 1);
    const Expr e = substitute(build(pool, tree), {{"x", build(pool, x)}, {"y", build(pool, y)}});
    for (int i = 0; i < 4; ++i) {
      Environment env = draw_values(random), inner = env;
      auto vx = naive(x, env), vy = naive(y, env);
      if (!vx || !vy) continue;
      inner["x"] = *vx;
      inner["y"] = *vy;
      const std::optional<int64_t> v = naive(tree, inner);
      if (!v) continue;
      ASSERT_EQ(evaluate(e, env), *v) << print(e);
    }
  }
}

}  // namespace
}  // namespace plait::sym::testing
