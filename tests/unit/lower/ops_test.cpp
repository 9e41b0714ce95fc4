// Every op that combines, moves, looks up or makes elements: lowered, interpreted with all accesses checked, and
// compared with its meaning.
#include <gtest/gtest.h>

#include <algorithm>
#include <set>

#include "base/error.h"
#include "lower/lower.h"
#include "segment/segment.h"
#include "support/direct_evaluation.h"
#include "support/op_cases.h"
#include "support/op_words.h"
#include "support/sanitized.h"

namespace plait {
namespace {

using test::Values;

// Small integers; indices fall on both sides of every extent.
Values draw_inputs(const Fusion& fusion, const sym::Environment& env) {
  Values values;
  int64_t k = 1;
  for (const TensorView* t : fusion.inputs()) {
    auto& v = values[t];
    for (int64_t i = 0; i < test::elements(*t, env); ++i) {
      const int64_t drawn = (k += 7) % 13 - 6;
      v.push_back(static_cast<double>(t->dtype == DType::boolean ? drawn & 1 : t->dtype == DType::u64 ? 42 : drawn));
    }
  }
  return values;
}

void check(const test::OpCase& c, const sym::Environment& env, int lanes, bool cuda, const std::string& dtype) {
  ParseOptions parse;
  parse.set["T"] = dtype;
  auto fusion = parse_fusion(c.text, parse);
  SegmentOptions options;
  options.target = test::small_target(lanes, cuda);
  segment(*fusion, options);
  verify(*fusion);
  Values values = draw_inputs(*fusion, env);
  try {
    test::run_segments(*fusion, env, values, {.strict = dtype == "bf16", .cuda = cuda});
  } catch (const std::exception& error) {
    FAIL() << c.name << " of " << dtype << ", " << lanes << " lanes: " << error.what() << "\n" << print(*fusion);
  }
}

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
  int case_number = 0;
  for (const test::OpCase& c : test::op_cases())
    for (int lanes : {1, 4})
      for (int64_t a : {0, 1, 3})
        for (int64_t b : {0, 1, 4})
          for (int64_t n : {0, 1, 2, 4, 5, 9})
            if (case_number++ % testing::kStride == 0)
              check(c, {{"a", a}, {"b", b}, {"c", n}, {"d", n % 3}}, lanes, false, "f32");
}

// Sums with lanes and with parts of every level, whole and cut.
TEST(LowerOps, LongSums) {
  for (const test::OpCase& c : test::op_cases()) {
    const auto fusion = parse_fusion(c.text);
    const auto sums = [](const Op* op) {
      return op->kind == OpKind::Reduce || op->kind == OpKind::Var || op->kind == OpKind::VarMean;
    };
    if (std::none_of(fusion->ops().begin(), fusion->ops().end(), sums)) continue;
    for (int lanes : {1, 4})
      for (int64_t n : {33, 127, 128}) check(c, {{"a", 2}, {"b", 3}, {"c", n}, {"d", 2}}, lanes, false, "f32");
    for (int64_t n : {33, 129}) check(c, {{"a", 2}, {"b", 3}, {"c", n}, {"d", 2}}, 1, true, "f32");
    for (const auto& [lanes, gpu] : {std::pair{4, false}, {1, true}})  // of few rows: they are interpreted
      check(c, {{"a", 1}, {"b", 2}, {"c", 4099}, {"d", 1}}, lanes, gpu, "f32");
  }
}

TEST(LowerOps, ThreadsOfAGpu) {
  for (const test::OpCase& c : test::op_cases())
    for (int64_t n : {0, 1, 5}) check(c, {{"a", 3}, {"b", 2}, {"c", n}, {"d", 3}}, 1, true, "f32");
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
  for (int lanes : {1, 4})
    for (int64_t n : {0, 1, 3, 4, 9}) check(c, {{"a", 3}, {"b", 2}, {"c", n}}, lanes, false, "f32");
  check(c, {{"a", 3}, {"b", 2}, {"c", 7}}, 1, true, "f32");
}

TEST(LowerOps, OtherTypes) {
  for (const test::OpCase& c : test::op_cases())
    for (const char* dtype : {"bf16", "f64", "i64", "bool"})
      if (c.takes(*parse_dtype(dtype))) check(c, {{"a", 3}, {"b", 2}, {"c", 5}, {"d", 3}}, 4, false, dtype);
}

}  // namespace
}  // namespace plait
