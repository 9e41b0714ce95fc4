// Random expressions: simplification keeps values; bounds, divisors and proofs hold; forms are stable.
#include <gtest/gtest.h>

#include "base/error.h"
#include "support/sanitized.h"
#include "sym/facts.h"
#include "unit/sym/random_expr.h"

namespace plait::sym::testing {
namespace {

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

void agree_with_naive_evaluation(uint64_t seed, int rounds) {
  Random random(seed);
  Counts counts;
  std::shared_ptr<Pool> pool;
  for (int round = 0; round < rounds; ++round) {
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
      if (::testing::Test::HasFatalFailure()) FAIL() << "round " << round;
    }
    ASSERT_TRUE(again(e) == e) << "round " << round << ": " << print(e) << "\n  again: " << print(again(e));
    ASSERT_TRUE(parse(*pool, print(e)) == e)
        << "round " << round << ": " << print(e) << "\n  parsed: " << print(parse(*pool, print(e)));
  }
  EXPECT_GT(counts.values, rounds);
  EXPECT_GT(counts.proofs, rounds / 20);
  std::printf("%d expressions: values %d, proofs %d, finite bounds %d\n", rounds, counts.values, counts.proofs,
              counts.finite);
}

TEST(SymRandom, AgreesWithNaiveEvaluation) { agree_with_naive_evaluation(20240517, plait::testing::drawn_here(25000)); }
TEST(SymRandom, AgreesWithNaiveEvaluationLongRun) {
  agree_with_naive_evaluation(1, 250000);
  agree_with_naive_evaluation(fresh_seed(), 250000);
}

// Facts of a, b, c, d drawn anew each time: bounds, a multiple, an upper bound by symbols before.
struct DrawnFacts {
  std::vector<std::string> names{"a", "b", "c", "d"};
  std::vector<SymbolInfo> infos;
  std::vector<Tree> below;  // a constant where there is none
};

Tree rename_leaves(Tree t, const std::vector<std::string>& names, size_t count) {
  if (t.op == 's' && count == 0) t = Tree{'c', static_cast<int64_t>(t.name[0] % 7), "", {}};
  if (t.op == 's') t.name = names[static_cast<size_t>(t.name[0]) % count];
  for (Tree& k : t.kids) k = rename_leaves(std::move(k), names, count);
  return t;
}

DrawnFacts draw_facts(Random& random, Pool& pool) {
  DrawnFacts out;
  for (size_t i = 0; i < out.names.size(); ++i) {
    SymbolInfo info;
    if (random() % 2) info.lo = draw(random, -6, 3);
    if (random() % 2) info.hi = draw(random, 4, 9);
    if (random() % 3 == 0) info.multiple_of = draw(random, 1, 4);
    out.below.emplace_back();
    if (i > 0 && random() % 2) {
      out.below.back() = rename_leaves(draw_tree(random, 1), out.names, i);
      info.below = build(pool, out.below.back());
    }
    pool.symbol(out.names[i], info);
    out.infos.push_back(info);
  }
  return out;
}

// Nothing where no value fits.
std::optional<Environment> draw_fitting(Random& random, const DrawnFacts& facts) {
  Environment env;
  for (size_t i = 0; i < facts.names.size(); ++i) {
    const SymbolInfo& f = facts.infos[i];
    std::optional<int64_t> below;
    if (f.below && !(below = naive(facts.below[i], env))) return {};
    std::vector<int64_t> fit;
    for (int64_t v = f.lo.value_or(-9); v <= f.hi.value_or(9); ++v)
      if (v % f.multiple_of == 0 && (!below || v < *below)) fit.push_back(v);
    if (fit.empty()) return {};
    env[facts.names[i]] = fit[random() % fit.size()];
  }
  return env;
}

void facts_are_sound(uint64_t seed, int rounds) {
  Random random(seed);
  Counts counts;
  for (int round = 0; round < rounds; ++round) {
    Pool pool;
    const DrawnFacts facts = draw_facts(random, pool);
    const Facts stated = Facts::of(pool);
    ASSERT_EQ(parse_facts(print(stated)), stated) << print(stated);
    for (int expression = 0; expression < 4; ++expression) {
      Tree tree = rename_leaves(draw_tree(random, static_cast<int>(draw(random, 1, 4))), facts.names, 4);
      if (expression == 3) {
        const Tree other = rename_leaves(draw_tree(random, 2), facts.names, 4);
        tree = Tree{"<l=!"[random() % 4], 0, "", {std::move(tree), other}};
      }
      const Expr e = build(pool, tree);
      for (int i = 0; i < 6; ++i) {
        const std::optional<Environment> env = draw_fitting(random, facts);
        const std::optional<int64_t> expected = env ? naive(tree, *env) : std::nullopt;
        if (!expected) continue;
        check_value(e, *expected, *env, counts);
        ASSERT_NO_THROW(stated.check(*env)) << print(stated);
        if (::testing::Test::HasFatalFailure()) FAIL() << "round " << round << ", facts " << print(stated);
      }
    }
  }
  EXPECT_GT(counts.values, rounds * 4);
  std::printf("%d sets of facts: values %d, proofs %d, finite bounds %d\n", rounds, counts.values, counts.proofs,
              counts.finite);
}

TEST(SymRandom, FactsAreSound) { facts_are_sound(5, 4000); }
TEST(SymRandom, FactsAreSoundLongRun) {
  facts_are_sound(6, 50000);
  facts_are_sound(fresh_seed(), 50000);
}

// Conditions that hold often enough to be provable: index against extent.
TEST(SymRandom, ProofsAreSound) {
  Random random(7);
  int known = 0;
  for (int round = 0; round < 6000; ++round) {
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
  EXPECT_GT(known, 600);
}

// Text depends on structure only: another order of creation gives the same text; importing gives it as well.
TEST(SymRandom, TextIsIndependentOfHistory) {
  Random random(3);
  Pool crowded;
  declare(crowded);
  for (int i = 0; i < 2000; ++i) build(crowded, draw_tree(random, 3));
  for (int round = 0; round < 5000; ++round) {
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
  for (int round = 0; round < 5000; ++round) {
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
