// Every op that combines, moves, looks up or makes elements: lowered, interpreted with all accesses checked, and
// compared with its meaning.
#include <gtest/gtest.h>

#include <algorithm>
#include <set>

#include "base/error.h"
#include "support/op_words.h"
#include "unit/lower/lowered_case.h"

namespace plait {
namespace {

using test::LoweredCase;
using test::small_target;

// A new op needs a case. Those without: functions, `full` and contractions have tests of their own (pointwise_test,
// rules_test); a bitcast reads the operand's memory in its own type, which values without bits do not show
// (tests/numerics/ops_test.cpp).
TEST(LowerOps, CasesHoldEveryOpButFive) {
  const std::set<OpKind> others = {OpKind::PointwiseOp, OpKind::Full, OpKind::Linear, OpKind::Matmul, OpKind::Bitcast};
  std::set<testing::OpWord> seen;
  for (const test::OpCase& c : test::op_cases())
    for (const testing::OpWord& word : testing::words_of(*parse_fusion(c.text))) seen.insert(word);
  for (const testing::OpWord& word : testing::op_words()) {
    if (others.count(word.kind) || property(word.kind) == OpProperty::composite) continue;
    EXPECT_TRUE(seen.count(word)) << testing::text(word);
  }
}

TEST(LowerOps, BoundariesOfEveryCase) {
  for (const test::OpCase& c : test::op_cases())
    for (int lanes : {1, 4}) {
      const LoweredCase lowered(c, "f32", small_target(lanes));
      for (int64_t a : {0, 1, 3})
        for (int64_t b : {0, 1, 4})
          for (int64_t n : {0, 1, 2, 4, 5, 9}) lowered.check({{"a", a}, {"b", b}, {"c", n}, {"d", n % 3}});
    }
}

// Sums with lanes and with parts of every level, whole and cut; the long ones of few rows: they are interpreted.
TEST(LowerOps, LongSums) {
  for (const test::OpCase& c : test::op_cases()) {
    const auto fusion = parse_fusion(c.text);
    const auto sums = [](const Op* op) {
      return op->kind == OpKind::Reduce || op->kind == OpKind::Var || op->kind == OpKind::VarMean;
    };
    if (std::none_of(fusion->ops().begin(), fusion->ops().end(), sums)) continue;
    for (const auto& [lanes, gpu] : {std::pair{1, false}, {4, false}, {1, true}}) {
      const LoweredCase lowered(c, "f32", small_target(lanes, gpu));
      for (int64_t n : {33, 127, 128, 129}) lowered.check({{"a", 2}, {"b", 3}, {"c", n}, {"d", 2}});
      if (lanes == 4) lowered.check({{"a", 1}, {"b", 2}, {"c", 4099}, {"d", 1}});
    }
  }
}

TEST(LowerOps, ThreadsOfAGpu) {
  for (const test::OpCase& c : test::op_cases()) {
    const LoweredCase lowered(c, "f32", small_target(1, true));
    for (int64_t n : {0, 1, 5}) lowered.check({{"a", 3}, {"b", 2}, {"c", n}, {"d", 3}});
  }
}

// Counters, sizes and random numbers are made where they are read.
TEST(LowerOps, CreationFuses) {
  const test::OpCase c{"fused", R"(let a = 2, b = 3, c = 5, T = f32
fusion @fused (%x: T[a, b, c], %seed: u64[]) -> (%y, %z) {
  %count = iota(shape = [a, b, c], dim = 1, dtype = f32)
  %row = iota(shape = [c], dim = 0, dtype = f32)
  %n = normal(shape = [a, b, c], seed = %seed, offset = 1)
  %k = size(value = b * c - a, dtype = f32)
  %p = add(%x, %count)
  %q = mul(%p, %n)
  %y = add(%q, %k)
  %z = sub(%y, %row)
}
)"};
  auto fusion = parse_fusion(c.text);
  segment(*fusion, {});
  EXPECT_EQ(fusion->segments.size(), 1u) << print(*fusion);
  for (int lanes : {1, 4}) {
    const LoweredCase lowered(c, "f32", small_target(lanes));
    for (int64_t n : {0, 1, 3, 4, 9}) lowered.check({{"a", 3}, {"b", 2}, {"c", n}});
  }
  LoweredCase(c, "f32", small_target(1, true)).check({{"a", 3}, {"b", 2}, {"c", 7}});
}

TEST(LowerOps, OtherTypes) {
  for (const test::OpCase& c : test::op_cases())
    for (const char* dtype : {"bf16", "f64", "i64", "bool"})
      if (c.takes(*parse_dtype(dtype)))
        LoweredCase(c, dtype, small_target(4)).check({{"a", 3}, {"b", 2}, {"c", 5}, {"d", 3}});
}

}  // namespace
}  // namespace plait
