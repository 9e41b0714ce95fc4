// Values computed once with NumPy 2.4 in float64 (narrow types rounded after every step) and stored here.
#include <cmath>

#include "helpers.h"

namespace plait::reference {
namespace {

const Values kX{1.69, -0.47, 0.03, 0.41, -0.79, 0.0};
const Values kW{-0.0, -1.75, 1.02, 0.6, -0.63, -0.17, 0.51, -0.26, -0.24, -1.45, 0.55, 0.12};
const Values kB{0.27, -1.53, 1.65, 0.15};
const Values kV{-0.39, 2.03, -0.05, -1.45, -0.41, -2.29, 1.05, -0.42};

Given layers(DType dtype) {
  return {{"x", Tensor::from_doubles(dtype, {2, 3}, kX)},
          {"w", Tensor::from_doubles(dtype, {4, 3}, kW)},
          {"b", Tensor::from_doubles(dtype, {4}, kB)},
          {"v", Tensor::from_doubles(dtype, {2, 4}, kV)}};
}

void expect_near(const Array& array, const Values& want) {
  ASSERT_EQ(array.value.size(), want.size());
  for (size_t i = 0; i < want.size(); ++i) EXPECT_NEAR(array.value[i], want[i], 4e-15) << i;
}

TEST(Stored, LayersInF64) {
  const auto r = evaluate(*fusion("%x: f64[2, 3], %w: f64[4, 3], %b: f64[4], %v: f64[2, 4]", "%h, %g, %e, %s, %y",
                                  "%h = linear(%x, %w, %b)\n%g = gelu(%h, approx = tanh)\n%e = gelu(%h)\n"
                                  "%s = silu(%h)\n%y = linear(%g, %v)"),
                          layers(DType::f64));
  expect_near(r.at("h"), {1.1231, -0.2250000000000001, 2.6269, -2.5554, 1.6525, -0.7863, 2.0645, -0.8789999999999999});
  expect_near(r.at("g"), {0.97612030645168, -0.09247348257730165, 2.6160514356251547, -0.013095965274372267,
                          1.5710106757062772, -0.16979934510292471, 2.0244267482799465, -0.16685697184563017});
  expect_near(r.at("e"), {0.9763136230711851, -0.09247266835453587, 2.615582441037559, -0.01355203146886568,
                          1.5711700104331112, -0.16971961248908815, 2.0242728728329116, -0.16674686073031889});
  expect_near(r.at("s"), {0.8474500217504134, -0.09989687462746055, 2.4497756996142077, -0.18415373859972944,
                          1.3868253381211886, -0.2460833437643733, 1.8320467636295052, -0.2578854557201409});
  expect_near(r.at("y"), {-0.6802215112814955, 2.563909262278481, -0.8166655623222189, 1.9404541371152326});
}

TEST(Stored, LayersInBf16RoundEveryTensor) {
  const auto r = evaluate(*fusion("%x: bf16[2, 3], %w: bf16[4, 3], %b: bf16[4], %v: bf16[2, 4]", "%h, %g, %y",
                                  "%h = linear(%x, %w, %b)\n%g = tanh(%h)\n%y = linear(%g, %v)"),
                          layers(DType::bf16));
  expect_values(r.at("h"), {1.125, -0.2255859375, 2.625, -2.5625, 1.6484375, -0.7890625, 2.0625, -0.87890625});
  expect_values(r.at("g"),
                {0.80859375, -0.2216796875, 0.98828125, -0.98828125, 0.9296875, -0.65625, 0.96875, -0.70703125});
  expect_values(r.at("y"), {0.62109375, 1.625, -0.71875, 2.4375});
}

TEST(Stored, F16) {
  const Given given{{"a", Tensor::from_doubles(
                              DType::f16, {6},
                              {-0.74267578125, 1.072265625, -1.6513671875, 0.53564453125, -2.064453125, -0.662109375})},
                    {"c", Tensor::from_doubles(DType::f16, {6},
                                               {-1.2041015625, 1.4619140625, 1.7666015625, -0.329345703125,
                                                0.8408203125, -0.179931640625})}};
  const std::string in = "%a: f16[6], %c: f16[6]";
  expect_values(run(in, "%y = mul(%a, %c)", given),
                {0.89404296875, 1.5673828125, -2.91796875, -0.1763916015625, -1.7353515625, 0.119140625});
  expect_values(run(in, "%y = exp(%a)", given),
                {0.475830078125, 2.921875, 0.1917724609375, 1.708984375, 0.1268310546875, 0.515625});
}

TEST(Stored, Integers) {
  Tensor i = Tensor::empty(DType::i64, {3});
  const int64_t values[] = {3, -5, (int64_t{1} << 40) + 1};
  std::copy(values, values + 3, static_cast<int64_t*>(i.data()));
  const auto r = evaluate(
      *fusion(
          "%i: i64[3]", "%y, %f",
          "%s = full(shape = [], value = 7, dtype = i64)\n%t = mul(%i, %i)\n%y = sub(%t, %s)\n%f = cast(%y, to = f32)"),
      {{"i", i}});
  EXPECT_EQ(r.at("y").integers, (std::vector<int64_t>{2, 18, 2199023255546}));  // the square wraps modulo 2^64
  expect_values(r.at("f"), {2, 18, 2199023255552.0});
}

}  // namespace
}  // namespace plait::reference
