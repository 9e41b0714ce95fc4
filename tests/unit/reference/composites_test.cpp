// Composites are evaluated as what they are opened into: values by hand, offsets, names, bounds, exact mode.
#include <cmath>
#include <random>

#include "helpers.h"
#include "reference/draw_inputs.h"
#include "reference/evaluator.h"
#include "scalar/convert.h"
#include "scalar/philox.h"

namespace plait::reference {
namespace {

void expect_close(const Array& array, const Values& want, double by = 1e-6) {
  ASSERT_EQ(array.value.size(), want.size());
  for (size_t i = 0; i < want.size(); ++i) {
    if (want[i] != want[i]) {
      EXPECT_NE(array.value[i], array.value[i]) << "element " << i;
    } else {
      EXPECT_NEAR(array.value[i], want[i], by) << "element " << i;
    }
  }
}

TEST(Composites, ByHand) {
  const Given x{{"x", f32({2, 2}, {1, 3, -2, 2})}};
  const std::string in = "%x: f32[2, 2]";
  const double e2 = std::exp(-2), e4 = std::exp(-4);
  expect_close(run(in, "%y = softmax(%x, dim = 1)", x), {e2 / (1 + e2), 1 / (1 + e2), e4 / (1 + e4), 1 / (1 + e4)});
  expect_close(run(in, "%y = mean(%x, dims = [0])", x), {-0.5, 2.5});
  expect_close(run(in, "%y = std(%x, dims = [1])", x), {std::sqrt(2), std::sqrt(8)});
  expect_close(run(in, "%y = norm(%x, p = inf)", x), {3});
  expect_close(run(in, "%y = norm(%x)", x), {std::sqrt(18)});
  expect_close(run(in, "%y = logsumexp(%x, dims = [1])", x), {3 + std::log1p(e2), 2 + std::log1p(e4)});
  expect_close(run(in, "%y = layer_norm(%x, eps = 0)", x), {-1, 1, -1, 1});
  expect_close(run(in, "%y = tril(%x)", x), {1, 0, -2, 2});
  expect_values(run("", "%y = eye(rows = 2, columns = 3)", {}), {1, 0, 0, 0, 1, 0});
  expect_values(
      run("%i: i64[3]", "%y = one_hot(%i, classes = 2)", {{"i", Tensor::from_doubles(DType::i64, {3}, {1, 0, 2})}}),
      {0, 1, 1, 0, 0, 0});
}

TEST(Composites, EmptyAndSpecialValues) {
  expect_values(run("%x: f32[2, 0]", "%y = any(%x, dims = [1])", {{"x", f32({2, 0}, {})}}), {0, 0});
  expect_values(run("%x: f32[2, 0]", "%y = all(%x, dims = [1])", {{"x", f32({2, 0}, {})}}), {1, 1});
  expect_values(run("%x: f32[0]", "%y = logsumexp(%x)", {{"x", f32({0}, {})}}), {-kInfinity});
  expect_values(run("%x: f32[0]", "%y = mean(%x)", {{"x", f32({0}, {})}}), {kNaN});
  EXPECT_EQ(run("%x: f32[2, 0]", "%y = softmax(%x, dim = 1)", {{"x", f32({2, 0}, {})}}).elements(), 0);
  expect_values(run("%x: f32[2]", "%y = softmax(%x, dim = 0)", {{"x", f32({2}, {kNaN, 1})}}), {kNaN, kNaN});
}

TEST(Composites, NamesAndTensorsInBetween) {
  const auto graph = fusion("%x: f32[4]", "%y", "%a = softmax(%x, dim = 0)\n%y = add(%a, %x)");
  const Given given{{"x", f32({4}, {1, 2, 3, 4})}};
  const auto some = evaluate(*graph, given, {.keep = {"a"}});
  EXPECT_EQ(some.size(), 2u);
  EXPECT_TRUE(some.contains("a"));
  EXPECT_EQ(evaluate(*graph, given, {.all = true}).size(), 3u);  // none that only the opened graph has
}

TEST(Composites, RandomOffsetsAreThoseOfTheWrittenFusion) {
  const Tensor seed = Tensor::from_doubles(DType::u64, {}, {11});
  const auto results = evaluate(*fusion("%x: f32[400], %s: u64[]", "%a, %u, %b",
                                        "%a = dropout(%x, p = 0.5, seed = %s)\n%u = uniform(shape = [400], seed = %s)\n"
                                        "%b = dropout(%x, p = 0.25, seed = %s)"),
                                {{"x", f32({400}, Values(400, 3))}, {"s", seed}});
  for (int i = 0; i < 400; ++i) {
    EXPECT_EQ(results.at("a").value[i], uniform_f32(11, uint64_t(i), 0) >= 0.5 ? 6 : 0);
    EXPECT_EQ(results.at("u").value[i], double(uniform_f32(11, uint64_t(i), 1)));
    EXPECT_NEAR(results.at("b").value[i], uniform_f32(11, uint64_t(i), 2) >= 0.25 ? 4 : 0, 1e-6);
  }
}

// A backend in f32 that adds in order.
TEST(Composites, RadiusHoldsInF32) {
  std::mt19937 random(3);
  std::normal_distribution<double> normal;
  for (const int64_t n : {1, 5, 64, 1000}) {
    Values values(n);
    for (double& v : values) v = double(float(3 * normal(random)));
    const std::string in = "%x: f32[" + std::to_string(n) + "]";
    const Given given{{"x", f32({n}, values)}};
    const Array soft = run(in, "%y = softmax(%x, dim = 0)", given);
    const Array layer = run(in, "%y = layer_norm(%x)", given);
    float most = -INFINITY, sum = 0, mean = 0, squares = 0;
    for (double v : values) most = std::max(most, float(v)), mean += float(v);
    mean /= float(n);
    for (double v : values) sum += std::exp(float(v) - most), squares += (float(v) - mean) * (float(v) - mean);
    const float root = std::sqrt(squares / float(n) + 1e-5f);
    for (int64_t i = 0; i < n; ++i) {
      EXPECT_LE(std::abs(double(std::exp(float(values[i]) - most) / sum) - soft.value[i]), soft.radius[i]) << n;
      EXPECT_LE(std::abs(double((float(values[i]) - mean) / root) - layer.value[i]), layer.radius[i]) << n;
      EXPECT_LT(soft.radius[i], 2e-7 * double(n + 60) * soft.value[i]);
    }
  }
}

TEST(Composites, ExactMode) {
  const auto why = [](const std::string& body) {
    std::string reason;
    supports_exact(*fusion("%x: f32[4, 3], %z: f32[4, 3], %s: u64[]", "%y", body), &reason);
    return reason;
  };
  for (const char* body :
       {"%y = stack(%x, %z, dim = 0)", "%y = tril(%x)", "%y = any(%x)", "%y = mse(%x, %z, reduction = sum)",
        "%y = norm(%x, p = inf)", "%y = dropout(%x, p = 0.75, seed = %s)", "%y = set(%x)"})
    EXPECT_EQ(why(body), "") << body;
  EXPECT_EQ(why("%y = softmax(%x, dim = 0)"), "softmax: %y = softmax(%x) leaves the integers");
  EXPECT_EQ(why("%a = mul(%x, %x)\n%b = mean(%a)\n%y = add(%b, %x)"), "mean: %b = mean(%a) leaves the integers");
  auto f = fusion("%x: f32[4, 3], %i: i64[5], %c: i64[6]", "%y, %z",
                  "%y = embedding(%i, %x)\n%z = one_hot(%c, classes = 3, dtype = f32)");
  const auto drawn = draw_inputs(*f, {.seed = 1, .exact = true});
  for (double v : drawn.at("i").to_doubles()) EXPECT_TRUE(v >= 0 && v < 4);
  for (double v : drawn.at("c").to_doubles()) EXPECT_TRUE(v >= 0 && v < 3);
}

}  // namespace
}  // namespace plait::reference
