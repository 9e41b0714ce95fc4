#include "build/build.h"

#include <gtest/gtest.h>

#include <fstream>
#include <sstream>

#include "base/error.h"
#include "build/ops.h"
#include "reference/evaluate.h"
#include "support/refusal.h"

namespace plait {
namespace {

using testing::refusal;

#define EXPECT_REFUSED(statement, part) \
  EXPECT_NE(refusal([&] { statement; }).find(part), std::string::npos) << refusal([&] { statement; })

TEST(Build, TpMlpIsTheExample) {
  Fusion f(Mesh("m", {{"tp", 0, "t"}}), "tp_mlp");
  Mesh m = f.mesh();
  f.let("sb", 64);
  f.let("h", 128);
  f.let("h4", 512);
  TensorView* x = f.input("x", {"sb", "h"}, f32);
  TensorView* w0 = f.parameter("w0", {"h4", "h"}, f32);
  TensorView* b0 = f.parameter("b0", {"h4"}, f32);
  TensorView* w1 = f.parameter("w1", {"h", "h4"}, f32);
  TensorView* b1 = f.parameter("b1", {"h"}, f32);
  TensorView* seed = f.input("seed", {}, u64);
  w0->shard(0, m["tp"]);
  b0->shard(0, m["tp"]);
  w1->shard(-1, m["tp"]);
  TensorView* linear1 = linear(x, w0, b0);
  TensorView* g = gelu(linear1, Gelu::tanh);
  TensorView* linear2 = linear(g, w1, b1);
  TensorView* y = dropout(linear2, 0.1, seed);
  f.output("linear1", linear1);
  f.output("gelu", g);
  f.output("linear2", linear2);
  f.output("dropout", y);
  verify(f);

  std::stringstream text;
  text << std::ifstream(PLAIT_SOURCE_DIR "/docs/examples/tp_mlp.plait").rdbuf();
  auto example = parse_fusion(text.str());
  example->dtype_lets.clear();
  for (TensorView* t : example->tensors()) t->dtype_alias.clear();
  EXPECT_EQ(print(f), print(*example));
  EXPECT_TRUE(equal(f, *example));
}

TEST(Build, EveryPointwiseOpIsAFunction) {
  Fusion f;
  TensorView* x = f.input("x", {"n"}, f32);
  TensorView* y = f.input("y", {"n"}, f32);
  TensorView* i = f.input("i", {"n"}, i64);
  TensorView* c = f.input("c", {1}, boolean);
  std::vector<TensorView*> all;
#define PLAIT_TEST_1(name) all.push_back(name(x));
#define PLAIT_TEST_2(name) all.push_back(name(x, y));
#define PLAIT_TEST_3(name) all.push_back(name(x, y, 2));
#define PLAIT_TEST_same(name, arity) PLAIT_TEST_##arity(name)
#define PLAIT_TEST_to_float(name, arity) PLAIT_TEST_##arity(name)
#define PLAIT_TEST_float_only(name, arity) PLAIT_TEST_##arity(name)
#define PLAIT_TEST_test(name, arity) PLAIT_TEST_##arity(name)
#define PLAIT_TEST_logical(name, arity) PLAIT_TEST_##arity(name)
#define PLAIT_TEST_BITS_1(name) all.push_back(name(i));
#define PLAIT_TEST_BITS_2(name) all.push_back(name(i, 3));
#define PLAIT_TEST_bits(name, arity) PLAIT_TEST_BITS_##arity(name)
#define PLAIT_TEST_shift(name, arity) PLAIT_TEST_BITS_##arity(name)
#define PLAIT_TEST_compare(name, arity) PLAIT_TEST_##arity(name)
#define PLAIT_TEST_select(name, arity) all.push_back(name(c, x, y));
#define PLAIT_TEST_cast(name, arity) all.push_back(name(x, DType::bf16));
#define X(name, arity, type_rule, ...) PLAIT_TEST_##type_rule(name, arity)
#include "scalar/pointwise.def"
#undef X
  ASSERT_EQ(all.size(), size_t(kPointwiseCount));
  for (int k = 0; k < kPointwiseCount; ++k) {
    const auto* op = as<PointwiseOp>(*all[k]->definition);
    ASSERT_TRUE(op);
    EXPECT_EQ(op->function, static_cast<Pointwise>(k));
    EXPECT_EQ(all[k]->shape(), x->shape());
    f.output(all[k]);
  }
  verify(f);
  EXPECT_EQ(as<PointwiseOp>(*gelu(x)->definition)->function, Pointwise::gelu_erf);
}

TEST(Build, NumbersAmongThreeOperands) {
  Fusion f;
  TensorView* x = f.input("x", {4}, f32);
  TensorView* y = f.input("y", {4}, f32);
  TensorView* i = f.input("i", {4}, i64);
  const auto operands = [](TensorView* t) {
    std::string text;
    for (const TensorView* each : as<PointwiseOp>(*t->definition)->in) {
      const Full* constant = each->definition ? as<Full>(*each->definition) : nullptr;
      text += constant ? " " + constant->value.text() : " %" + each->name;
    }
    return text;
  };
  EXPECT_EQ(operands(clamp(x, 0, 6.5)), " %x 0 6.5");
  EXPECT_EQ(operands(clamp(i, -1, 6)), " %i -1 6");
  EXPECT_EQ(operands(fma(2, x, y)), " 2 %x %y");
  EXPECT_EQ(operands(lerp(x, y, 0.25)), " %x %y 0.25");
  EXPECT_EQ(operands(hardtanh(x)), " %x -1 1");
  EXPECT_EQ(operands(elu(x)), " %x 1");
  EXPECT_EQ(operands(hardshrink(x)), " %x 0.5");
  EXPECT_EQ(operands(leaky_relu(x)), " %x 0.01");
  EXPECT_REFUSED(clamp(i, 0, 0.5), "0.5 is no i64 constant");
  EXPECT_REFUSED(fma(1, 2, 3), "fma of numbers only");
  EXPECT_REFUSED(fma(x, nullptr, 3), "operand 1 of fma is null");
}

TEST(Build, NumbersBecomeConstantsOfTheTensorsDtype) {
  Fusion f;
  TensorView* x = f.input("x", {4}, bf16);
  TensorView* i = f.input("i", {4}, i64);
  TensorView* u = f.input("u", {4}, u64);
  TensorView* c = f.input("c", {4}, boolean);
  auto constant = [](TensorView* t, size_t operand) {
    const auto* op = as<PointwiseOp>(*t->definition);
    return print(*op->in[operand]->definition, *t->fusion);
  };
  EXPECT_EQ(constant(mul(x, 0.5), 1), "%full: bf16[] = full(shape = [], value = 0.5, dtype = bf16)");
  EXPECT_EQ(constant(sub(1, x), 0), "%full_1: bf16[] = full(shape = [], value = 1, dtype = bf16)");
  EXPECT_EQ(constant(mul(x, 0), 1), "%full_2: bf16[] = full(shape = [], value = 0, dtype = bf16)");
  EXPECT_EQ(constant(add(i, -3), 1), "%full_3: i64[] = full(shape = [], value = -3, dtype = i64)");
  EXPECT_EQ(constant(add(i, 2.0), 1), "%full_4: i64[] = full(shape = [], value = 2, dtype = i64)");
  EXPECT_EQ(constant(add(u, UINT64_MAX), 1),
            "%full_5: u64[] = full(shape = [], value = 18446744073709551615, dtype = u64)");
  EXPECT_EQ(constant(where(c, x, -1.0), 2), "%full_6: bf16[] = full(shape = [], value = -1, dtype = bf16)");
  EXPECT_EQ(constant(where(c, 2.0f, x), 1), "%full_7: bf16[] = full(shape = [], value = 2, dtype = bf16)");
  EXPECT_EQ(constant(eq(c, true), 1), "%full_8: bool[] = full(shape = [], value = true, dtype = bool)");
  EXPECT_EQ(mul(x, 0.5)->dtype, bf16);
  EXPECT_REFUSED(add(i, 0.5), "0.5 is no i64 constant");
  EXPECT_REFUSED(add(i, 1e300), "is no i64 constant");
  EXPECT_REFUSED(add(u, -1), "-1 is no u64 constant");
  EXPECT_REFUSED(eq(c, 2), "2 is no bool constant");
  EXPECT_REFUSED(mul(cast(x, f16), 70000), "70000 is no f16 constant");
  EXPECT_REFUSED(mul(x, 1e39), "beside %x: bf16[4]");
}

TEST(Build, OtherOps) {
  Fusion f;
  TensorView* a = f.input("a", {"b", 1, "m", "k"}, f16);
  TensorView* b = f.input("b_", {3, "k", "n"}, f16);
  TensorView* seed = f.input("seed", {}, u64);
  EXPECT_EQ(type_text(*matmul(a, b)), "f16[b, 3, m, n]");
  EXPECT_EQ(type_text(*uniform(seed, {"4*b", 2}, 7)), "f32[4*b, 2]");
  EXPECT_EQ(type_text(*full(f, {"b"}, 0.0, f32)), "f32[b]");
  EXPECT_EQ(type_text(*cast(a, f64)), "f64[b, 1, m, k]");
  EXPECT_REFUSED(dropout(a, 1.0, seed), "0 <= p < 1");
  EXPECT_REFUSED(dropout(a, 0.5, seed, -1), "offset -1 is negative");
  EXPECT_REFUSED(dropout(a, 0.5, a), "a seed is u64[]");
  EXPECT_REFUSED(uniform(seed, {-1}), "uniform dim 0");
  EXPECT_REFUSED(full(f, {"b + "}, 0.0, f32), "full dim 0");
}

// One op with two results: var, by Welford, and mean.
TEST(Build, VarMeanIsVarAndMean) {
  Fusion f;
  TensorView* x = f.input("x", {2, 4}, f32);
  const auto [mean, var] = var_mean(x, {1});
  const auto [all_mean, all_var] = var_mean(x, {}, 0, true);
  EXPECT_EQ(type_text(*all_var) + type_text(*all_mean), "f32[1, 1]f32[1, 1]");
  EXPECT_TRUE(as<VarMean>(*var->definition) && var->definition == mean->definition);
  f.output("var", var), f.output("mean", mean), f.output("all_var", all_var), f.output("all_mean", all_mean);
  const Tensor values = Tensor::from_doubles(f32, {2, 4}, {1, 2, 3, 6, 1e6 + 1, 1e6 + 2, 1e6 + 3, 1e6 + 6});
  const auto got = reference::evaluate(f, {{"x", values}});
  EXPECT_EQ(got.at("mean").value, (std::vector<double>{3, 1e6 + 3}));
  for (double each : got.at("var").value) EXPECT_DOUBLE_EQ(each, 14.0 / 3);
  EXPECT_EQ(got.at("all_mean").value, std::vector<double>{500003});
  EXPECT_DOUBLE_EQ(got.at("all_var").value.at(0), 0.25e12 + 3.5);
}

TEST(Build, BadOperandsAreRefused) {
  Fusion f({}, "one"), g({}, "two");
  TensorView* x = f.input("x", {4}, f32);
  TensorView* y = g.input("y", {4}, f32);
  TensorView* none = nullptr;
  EXPECT_REFUSED(add(x, none), "operand 1 of add is null");
  EXPECT_REFUSED(exp(none), "operand 0 of exp is null");
  EXPECT_REFUSED(mul(none, 2), "operand 0 of mul is null");
  EXPECT_REFUSED(where(none, x, x), "operand 0 of where is null");
  EXPECT_REFUSED(linear(x, none), "operand 1 of linear is null");
  EXPECT_REFUSED(add(x, y), "%x of @one and %y of @two");
  EXPECT_REFUSED(f.output("y", none), "output %y is null");
  EXPECT_REFUSED(f.output("y", y), "%y of @two");
  EXPECT_EQ(f.ops().size(), 0u);
}

TEST(Build, NamesOfOpsYieldToNamesOfUsers) {
  Fusion f;
  TensorView* x = f.input("x", {4}, f32);
  TensorView* first = exp(x);
  TensorView* second = exp(first);
  EXPECT_EQ(first->name, "exp");
  EXPECT_EQ(second->name, "exp_1");
  f.output("exp", second);
  EXPECT_EQ(second->name, "exp");
  EXPECT_EQ(f.find("exp"), second);
  EXPECT_EQ(f.find(first->name), first);
  TensorView* third = neg(second);
  TensorView* in = f.input("neg", {4}, f32);
  EXPECT_EQ(f.find("neg"), in);
  EXPECT_EQ(f.find(third->name), third);
  EXPECT_REFUSED(f.output("x", third), "%x is defined twice");
  EXPECT_REFUSED(f.output("other", x), "%x cannot be output as %other");
  EXPECT_REFUSED(f.output("exp", second), "%exp is an output twice");
  EXPECT_REFUSED(f.output("e-1", third), "`e-1` is no name");
  verify(f);
  EXPECT_EQ(print(*parse_fusion(print(f))), print(f));
}

}  // namespace
}  // namespace plait
