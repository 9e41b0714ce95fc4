#include "graph/passes.h"

#include <cmath>
#include <map>

#include <gtest/gtest.h>

#include "base/error.h"
#include "reference/check.h"
#include "reference/evaluate.h"

namespace plait {
namespace {

const char* kBlock = R"(
let T = bf16
fusion @f (%x: T[3, 8], param %w: T[5, 8], param %b: T[5], %seed: u64[]) -> (%y, %h) {
  %unused = exp(%x)
  %h = linear(%x, %w, %b)
  %d = dropout(%h, p = 0.3, seed = %seed)
  %y = dropout(%d, p = 0.5, seed = %seed)
}
)";

std::unique_ptr<Fusion> parse(const std::string& dtype) { return parse_fusion(kBlock, {.set = {{"T", dtype}}}); }

void run_all(Fusion& fusion) {
  number_random_ops(fusion);
  expand(fusion);
  split_bias(fusion);
  remove_dead_code(fusion);
  verify(fusion);
  widen_contractions(fusion, {}, {});
  verify(fusion);
  merge_equal(fusion);
  remove_dead_code(fusion);
  verify(fusion);
}

Tensor ramp(DType dtype, std::vector<int64_t> shape) {
  std::vector<double> values;
  for (int64_t i = 0; i < element_count(shape); ++i) values.push_back(std::cos(double(i)) * 2);
  return Tensor::from_doubles(dtype, shape, values);
}

TEST(GraphPasses, KeepTheMeaning) {
  for (const char* dtype : {"f32", "f64", "bf16", "f16"}) {
    auto before = parse(dtype), after = parse(dtype);
    run_all(*after);
    DType T = before->find("x")->dtype;
    std::map<std::string, Tensor> inputs = {{"x", ramp(T, {3, 8})},
                                            {"w", ramp(T, {5, 8})},
                                            {"b", ramp(T, {5})},
                                            {"seed", Tensor::from_doubles(DType::u64, {}, {7})}};
    auto want = reference::evaluate(*before, inputs), got = reference::evaluate(*after, inputs);
    for (const char* name : {"y", "h"}) {
      Tensor rounded = Tensor::from_doubles(T, want[name].shape, got[name].value);
      auto result = reference::compare(name, want[name], rounded);
      EXPECT_TRUE(result.ok) << dtype << " " << result.message;
    }
  }
}

// Attention and its logsumexp, each from scores of its own, as frameworks ask for them.
TEST(GraphPasses, EqualPartsOfCompositesAreComputedOnce) {
  const char* text = R"(
fusion @f (%q: f32[2, 5, 4], %k: f32[2, 3, 4], %v: f32[2, 3, 4]) -> (%y, %l) {
  %y = scaled_dot_product_attention(%q, %k, %v, scale = 0.5)
  %t = permute(%k, dims = [0, 2, 1])
  %s = matmul(%q, %t)
  %half = full(shape = [], value = 0.5, dtype = f32)
  %r = mul(%s, %half)
  %l = logsumexp(%r, dims = [2])
}
)";
  auto before = parse_fusion(text), after = parse_fusion(text);
  run_all(*after);
  std::map<std::string, int> count;
  for (const Op* op : after->ops()) ++count[std::string(text_name(*op))];
  EXPECT_EQ(count["matmul"], 2) << print(*after);  // scores and values
  EXPECT_EQ(count["amax"], 1) << print(*after);
  EXPECT_EQ(count["sum"], 1) << print(*after);
  const std::map<std::string, Tensor> inputs = {
      {"q", ramp(DType::f32, {2, 5, 4})}, {"k", ramp(DType::f32, {2, 3, 4})}, {"v", ramp(DType::f32, {2, 3, 4})}};
  auto want = reference::evaluate(*before, inputs), got = reference::evaluate(*after, inputs);
  for (const char* name : {"y", "l"}) EXPECT_EQ(want[name].value, got[name].value) << name;
}

TEST(GraphPasses, NoCompositeAndNoBiasIsLeft) {
  auto fusion = parse("bf16");
  run_all(*fusion);
  for (const Op* op : fusion->ops()) {
    EXPECT_NE(property(op->kind), OpProperty::composite);
    if (const auto* linear = as<Linear>(*op)) {
      EXPECT_EQ(linear->b, nullptr);
      EXPECT_TRUE(linear->accumulate);
      EXPECT_EQ(linear->out()->dtype, DType::f32);
    }
    EXPECT_NE(op->out()->name, "unused");
  }
}

TEST(GraphPasses, OfSeveralResultsOneThatIsReadAloneIsComputedAlone) {
  auto fusion = parse_fusion(R"(
fusion @f (%x: bf16[4, 8]) -> (%m, %v, %w, %k, %p, %q) {
  %m, %v = var_mean(%x, dims = [1])
  _, %w = var_mean(%x, dims = [0])
  %k, _ = max_with_argmax(%x)
  %a, %p = min_with_argmin(%x, dims = [0])
  %b, %c = max_with_argmax(%x, dims = [0])
  %q = neg(%c)
  %dead = neg(%b)
}
)");
  run_all(*fusion);
  run_all(*fusion);  // what only dead code read is known now
  std::map<std::string, std::string> made;
  for (const Op* op : fusion->ops())
    for (const TensorView* t : op->results) made[t->name] = std::string(text_name(*op));
  const std::map<std::string, std::string> wanted = {{"m", "var_mean"}, {"v", "var_mean"}, {"w", "var"}, {"k", "amax"},
                                                     {"p", "argmin"},   {"c", "argmax"},   {"q", "neg"}};
  EXPECT_EQ(made, wanted);
}

TEST(GraphPasses, AContractionSaysWhoseBiasJoinsBehindIt) {
  auto fusion = parse("f16");
  split_bias(*fusion);
  std::vector<std::string> marked;
  const auto copy = clone(*fusion);
  for (const TensorView* t : copy->tensors())
    if (!t->unbiased_of.empty()) marked.push_back(t->name + " of " + t->unbiased_of);
  EXPECT_EQ(marked, (std::vector<std::string>{"h_product of h"}));
}

TEST(GraphPasses, OffsetsAreOrdinalsOfTheWrittenGraph) {
  auto fusion = parse_fusion(R"(
fusion @f (%x: f32[4], %seed: u64[]) -> (%y) {
  %gone = dropout(%x, p = 0.5, seed = %seed)
  %given = dropout(%x, p = 0.5, seed = %seed, offset = 9)
  %y = dropout(%given, p = 0.5, seed = %seed)
}
)");
  number_random_ops(*fusion);
  expand(*fusion);
  remove_dead_code(*fusion);
  std::vector<int64_t> offsets;
  for (const Op* op : fusion->ops())
    if (const auto* u = as<Uniform>(*op)) offsets.push_back(*u->offset);
  EXPECT_EQ(offsets, (std::vector<int64_t>{9, 2}));
}

TEST(GraphPasses, PendingProductStaysNarrow) {
  auto fusion = parse_fusion(R"(
mesh @m (tp = 2)
fusion @f on @m (%x: bf16[4, 8] {1: tp}, param %w: bf16[6, 8] {1: tp}) -> (%y) {
  %p: bf16[4, 6] {} partial(tp: sum) = linear(%x, %w)
  %q: bf16[4, 6] {} = reshard(%p)
  %y = relu(%q)
}
)");
  widen_contractions(*fusion, DeviceMesh({2}), {});
  verify(*fusion);
  EXPECT_EQ(fusion->find("p")->dtype, DType::bf16);
  EXPECT_FALSE(as<Linear>(*fusion->ops()[0])->accumulate);
}

TEST(GraphPasses, PendingProductTravelsWideOnRequest) {
  auto fusion = parse_fusion(R"(
mesh @m (dp = 2, tp = 2)
fusion @f on @m (%x: bf16[4, 8] {1: [dp, tp]}, param %w: bf16[6, 8] {1: [dp, tp]}) -> (%y) {
  %p: bf16[4, 6] {} partial(dp: sum, tp: sum) = linear(%x, %w)
  %q: bf16[4, 6] {} partial(tp: sum) = reshard(%p)
  %r: bf16[4, 6] {} = reshard(%q)
  %y = relu(%r)
}
)");
  Options options;
  options.reduce_dtype = "f32";
  widen_contractions(*fusion, DeviceMesh({2, 2}), options);
  verify(*fusion);
  EXPECT_EQ(fusion->find("r")->dtype, DType::bf16);
  EXPECT_EQ(text_name(*fusion->find("r")->definition), "cast");
  int wide = 0;
  for (const Op* op : fusion->ops()) wide += op->kind == OpKind::Reshard && op->out()->dtype == DType::f32;
  EXPECT_EQ(wide, 2);
}

TEST(GraphPasses, PendingOverAxesOfSizeOneRoundsOnce) {
  auto fusion = parse_fusion(R"(
mesh @m (tp = 1)
fusion @f on @m (%x: bf16[4, 8] {1: tp}, param %w: bf16[6, 8] {1: tp}, param %b: bf16[6]) -> (%y) {
  %p: bf16[4, 6] {} partial(tp: sum) = linear(%x, %w)
  %r: bf16[4, 6] {} = reshard(%p)
  %c: f32[4, 6] = cast(%r, to = f32)
  %s = add(%c, %b)
  %y = cast(%s, to = bf16)
}
)");
  widen_contractions(*fusion, DeviceMesh({1}), {});
  verify(*fusion);
  int casts = 0;
  for (const Op* op : fusion->ops()) casts += text_name(*op) == "cast";
  EXPECT_EQ(casts, 1) << print(*fusion);
}

TEST(GraphPasses, DropoutThresholdComparesExactly) {
  auto fusion = parse_fusion(R"(
fusion @f (%x: f32[4], %seed: u64[]) -> (%y) {
  %y = dropout(%x, p = 0.1, seed = %seed)
}
)");
  number_random_ops(*fusion);
  expand(*fusion);
  for (const Op* op : fusion->ops())
    if (const auto* full = as<Full>(*op); full && full->out()->name == "y_full") {
      double t = full->value.to_double();
      EXPECT_GE(t, 0.1);
      EXPECT_LT(t - 0x1p-24, 0.1);
    }
}

// A composite's result stays the same tensor: name, dtype alias, layout and its source.
TEST(GraphPasses, ExpandKeepsWhatIsSaidOfResults) {
  auto fusion = parse_fusion(R"(
let T = bf16
mesh @m (tp = 2)
fusion @f on @m (%x: T[4, 8], %t: i64[4]) -> (%y, %loss) {
  %s: T[4, 8] {0: tp} = softmax(%x, dim = 1)
  %n: T[4, 8] {} = layer_norm(%s)
  %y: T[4, 8] {1: tp} = set(%n)
  %loss = cross_entropy(%y, %t)
}
)");
  std::map<std::string, std::pair<const TensorView*, std::string>> before;
  for (const Op* op : fusion->ops()) before[op->out()->name] = {op->out(), type_text(*op->out())};
  const Layout s = fusion->find("s")->layout, n = fusion->find("n")->layout, y = fusion->find("y")->layout;
  expand(*fusion);
  verify(*fusion);
  for (const auto& [name, was] : before) {
    const TensorView* t = fusion->find(name);
    EXPECT_EQ(t, was.first);
    EXPECT_EQ(type_text(*t), was.second);
    EXPECT_EQ(t->definition->out(), t);
    EXPECT_NE(property(t->definition->kind), OpProperty::composite);
  }
  EXPECT_EQ(fusion->find("s")->layout, s);
  EXPECT_EQ(fusion->find("n")->layout, n);
  EXPECT_EQ(fusion->find("y")->layout, y);
  EXPECT_EQ(fusion->find("y")->layout_source, LayoutSource::annotated);
  EXPECT_EQ(fusion->find("loss")->layout_source, LayoutSource::open);
  EXPECT_EQ(print(*parse_fusion(print(*fusion))), print(*fusion));
}

}  // namespace
}  // namespace plait
