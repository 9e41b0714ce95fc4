// Derived functions become core ones, in place, for every dtype; nothing else changes.
#include "kir/expand_functions.h"

#include <gtest/gtest.h>

#include "support/kernel_builder.h"
#include "support/pointwise_values.h"

namespace plait::kir {
namespace {

using test::KernelBuilder;

// y[i] = op(x0[i], ...) over a loop, under a condition.
Kernel kernel_of(Pointwise op, DType dtype) {
  KernelBuilder b("one");
  const sym::Expr n = b.integer("n");
  std::vector<uint32_t> in;
  for (int k = 0; k < info(op).arity; ++k) {
    const DType type = op == Pointwise::where && k == 0 ? DType::boolean : dtype;
    in.push_back(b.reads("x" + std::to_string(k), type, n));
  }
  const uint32_t out = b.writes("y", test::result_in(op, dtype), n);
  const sym::Expr i = b.loop("i", n, LoopKind::cpu_thread);
  b.branch(sym::lt(i + 1, n));
  std::vector<Value> values;
  for (uint32_t buffer : in) values.push_back(b.load(buffer, i, 1, Access::contiguous));
  b.store(out, i, b.compute(op, values), Access::contiguous);
  b.end();
  b.end();
  return std::move(b.kernel);
}

void expect_core(const Block& block) {
  for (const auto& stmt : block) {
    if (const For* loop = as<For>(*stmt)) expect_core(loop->body);
    if (const If* branch = as<If>(*stmt)) expect_core(branch->body);
    if (const Compute* compute = as<Compute>(*stmt)) {
      EXPECT_TRUE(is_core(compute->function, compute->in[0].dtype)) << name(compute->function);
    }
  }
}

TEST(KirExpandFunctions, EveryFunctionOfEveryDtypeBecomesCore) {
  for (DType dtype : {DType::boolean, DType::i32, DType::i64, DType::u32, DType::u64, DType::f32, DType::f64})
    for (int i = 0; i < kPointwiseCount; ++i) {
      const auto op = Pointwise(i);
      if (!test::computes_in(op, dtype)) continue;
      Kernel kernel = kernel_of(op, dtype);
      const std::string before = print(kernel);
      expand_functions(kernel);
      verify(kernel);
      expect_core(kernel.phases[0].body);
      EXPECT_EQ(print(kernel) == before, is_core(op, dtype)) << name(op) << " of " << name(dtype);
      const std::string once = print(kernel);
      expand_functions(kernel);
      EXPECT_EQ(print(kernel), once) << name(op);
    }
}

// The result keeps its name; what is new follows the names that are there.
TEST(KirExpandFunctions, Text) {
  Kernel kernel = kernel_of(Pointwise::reciprocal, DType::f32);
  expand_functions(kernel);
  const std::string text = print(kernel);
  EXPECT_NE(text.find("%2: f32 = literal 1\n      %1: f32 = div(%2, %0)"), text.npos) << text;
}

TEST(KirExpandFunctions, Forms) {
  EXPECT_TRUE(is_core(Pointwise::fma, DType::f32));
  EXPECT_FALSE(is_core(Pointwise::fma, DType::i64));
  EXPECT_FALSE(is_core(Pointwise::floor_divide, DType::f64));
  EXPECT_TRUE(is_core(Pointwise::floor_divide, DType::u32));
  EXPECT_FALSE(is_core(Pointwise::square, DType::f32));
  EXPECT_TRUE(is_core(Pointwise::where, DType::boolean));
}

}  // namespace
}  // namespace plait::kir
