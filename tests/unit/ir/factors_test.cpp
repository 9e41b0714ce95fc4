#include "ir/factors.h"

#include <gtest/gtest.h>

#include "base/error.h"
#include "ir/fusion.h"

namespace plait {
namespace {

// "pass b: 0 -1 -> 0" per factor: kind, extent, dim of every operand, dim of the result.
std::vector<std::string> text_of(const Op& op) {
  std::vector<std::string> out;
  for (const Factor& f : factors(op)) {
    const char* kinds[] = {"pass", "reduce", "whole", "permute"};
    std::string text = fmt::format("{} {}:", kinds[static_cast<size_t>(f.kind)], sym::print(f.extent));
    for (int d : f.operand_dim) text += fmt::format(" {}", d);
    out.push_back(text + fmt::format(" -> {}", f.result_dim));
  }
  return out;
}

using Lines = std::vector<std::string>;

TEST(Factors, EveryOp) {
  auto fusion = parse_fusion(R"(
mesh @m (tp = 3)
fusion @f on @m (%x: f32[a, b, c], %row: f32[c], %col: f32[b, 1], %s: f32[], %u: f32[1, 1, c], %w: f32[n, c], %bias: f32[n],
          %p: f32[5, m, k], %q: f32[d, 1, k, n], %v: f32[c], %seed: u64[], %g: f32[4, 12]) -> (%add) {
  %add = add(%x, %row)
  %mul = mul(%x, %col)
  %sub = sub(%x, %s)
  %max = max(%u, %x)
  %unit = add(%u, %u)
  %exp = exp(%x)
  %full = full(shape = [a, 3], value = 1, dtype = f32)
  %rnd = uniform(shape = [a, 3], seed = %seed)
  %lin = linear(%x, %w)
  %linb = linear(%x, %w, %bias)
  %lin1 = linear(%v, %w)
  %mat = matmul(%p, %q)
  %drop = dropout(%x, p = 0.5, seed = %seed)
  %re = reshard(%x)
  %ar = all_reduce(%x, axis = tp)
  %ag: f32[4, 36] = all_gather(%g, axis = tp, outer = 4, count = 12, total = 36, inner = 1)
  %rs: f32[4, 4] = reduce_scatter(%g, axis = tp, outer = 4, count = 4, total = 12, inner = 1)
  %ls: f32[4, 4] = local_slice(%g, outer = 4, start = 4, count = 4, total = 12, inner = 1)
}
)");
  auto lines = [&](const char* name) { return text_of(*fusion->find(name)->definition); };
  EXPECT_EQ(lines("add"), (Lines{"pass a: 0 -1 -> 0", "pass b: 1 -1 -> 1", "pass c: 2 0 -> 2"}));
  EXPECT_EQ(lines("mul"), (Lines{"pass a: 0 -1 -> 0", "pass b: 1 0 -> 1", "pass c: 2 -1 -> 2"}));
  EXPECT_EQ(lines("sub"), (Lines{"pass a: 0 -1 -> 0", "pass b: 1 -1 -> 1", "pass c: 2 -1 -> 2"}));
  EXPECT_EQ(lines("max"), (Lines{"pass a: -1 0 -> 0", "pass b: -1 1 -> 1", "pass c: 2 2 -> 2"}));
  EXPECT_EQ(lines("unit"), (Lines{"pass 1: 0 0 -> 0", "pass 1: 1 1 -> 1", "pass c: 2 2 -> 2"}));
  EXPECT_EQ(lines("exp"), (Lines{"pass a: 0 -> 0", "pass b: 1 -> 1", "pass c: 2 -> 2"}));
  EXPECT_EQ(lines("full"), (Lines{"pass a: -> 0", "pass 3: -> 1"}));
  EXPECT_EQ(lines("rnd"), (Lines{"pass a: -1 -> 0", "pass 3: -1 -> 1"}));
  EXPECT_EQ(lines("lin"),
            (Lines{"pass a: 0 -1 -> 0", "pass b: 1 -1 -> 1", "pass n: -1 0 -> 2", "reduce c: 2 1 -> -1"}));
  EXPECT_EQ(lines("linb"),
            (Lines{"pass a: 0 -1 -1 -> 0", "pass b: 1 -1 -1 -> 1", "pass n: -1 0 0 -> 2", "reduce c: 2 1 -1 -> -1"}));
  EXPECT_EQ(lines("lin1"), (Lines{"pass n: -1 0 -> 0", "reduce c: 0 1 -> -1"}));
  EXPECT_EQ(lines("mat"), (Lines{"pass d: -1 0 -> 0", "pass 5: 0 -1 -> 1", "pass m: 1 -1 -> 2", "pass n: -1 3 -> 3",
                                 "reduce k: 2 2 -> -1"}));
  EXPECT_EQ(lines("drop"), (Lines{"pass a: 0 -1 -> 0", "pass b: 1 -1 -> 1", "pass c: 2 -1 -> 2"}));
  EXPECT_EQ(lines("re"), (Lines{"pass a: 0 -> 0", "pass b: 1 -> 1", "pass c: 2 -> 2"}));
  EXPECT_EQ(lines("ar"), (Lines{"whole a: 0 -> 0", "whole b: 1 -> 1", "whole c: 2 -> 2"}));
  for (const char* name : {"ag", "rs", "ls"})
    for (const auto& line : lines(name)) EXPECT_EQ(line.rfind("whole ", 0), 0u) << line;
  for (const Op* op : fusion->ops()) {
    const bool sums = property(op->kind) == OpProperty::contraction;
    EXPECT_EQ(reduction_axes(*op).size(), sums ? 1u : 0u) << describe(*op);
    for (const Factor& f : factors(*op)) {
      const auto in = inputs(*op);
      ASSERT_EQ(f.operand_dim.size(), in.size());
      for (size_t i = 0; i < in.size(); ++i) {
        if (f.operand_dim[i] < 0) continue;
        EXPECT_EQ(in[i]->extent(f.operand_dim[i]), f.extent) << describe(*op);
      }
    }
  }
}

TEST(Factors, PendingSumsPassLinearOpsOfOneFloatType) {
  auto fusion = parse_fusion(R"(
fusion @f (%x: f32[4], %y: f32[4], %h: bf16[4], %i: i64[4]) -> (%add) {
  %add = add(%x, %y)
  %sub = sub(%x, %y)
  %neg = neg(%x)
  %mul = mul(%x, %y)
  %mixed = add(%x, %h)
  %ints = add(%i, %i)
  %relu = relu(%x)
  %cast = cast(%h, to = f32)
}
)");
  auto passes = [&](const char* name, std::vector<bool> pending, ReduceOp reduce = ReduceOp::sum) {
    return passes_partial(*fusion->find(name)->definition, pending, reduce);
  };
  EXPECT_TRUE(passes("add", {true, true}));
  EXPECT_TRUE(passes("sub", {true, true}));
  EXPECT_TRUE(passes("neg", {true}));
  EXPECT_FALSE(passes("add", {true, false}));
  EXPECT_FALSE(passes("sub", {false, true}));
  EXPECT_FALSE(passes("add", {true, true}, ReduceOp::max));
  EXPECT_FALSE(passes("neg", {true}, ReduceOp::min));
  EXPECT_FALSE(passes("mul", {true, true}));
  EXPECT_FALSE(passes("mixed", {true, true}));
  EXPECT_FALSE(passes("ints", {true, true}));
  EXPECT_FALSE(passes("relu", {true}));
  EXPECT_FALSE(passes("cast", {true}));
  EXPECT_THROW(passes("add", {true}), InternalError);
}

}  // namespace
}  // namespace plait
