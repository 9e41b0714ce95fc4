// Sums of millions of numbers: within a few units in the last place of what is exact, on the CPU and on a GPU.
#include <gtest/gtest.h>

#include <cmath>

#include "plait.h"
#include "support/run_case.h"

namespace plait {
namespace {

constexpr int64_t kCount = 10'000'000;

// Numbers in [0, 1) with 24 bits, the same every time.
Tensor numbers(int64_t count) {
  Tensor out = Tensor::empty(DType::f32, {count});
  auto* to = static_cast<float*>(out.data());
  uint32_t state = 12345;
  for (int64_t i = 0; i < count; ++i) {
    state = state * 1664525 + 1013904223;
    to[i] = static_cast<float>(state >> 8) * 0x1p-24f;
  }
  return out;
}

double ulps(double got, long double want) {
  const double spacing = std::ldexp(1.0, std::ilogb(static_cast<double>(want)) - 23);
  return static_cast<double>(std::abs(static_cast<long double>(got) - want)) / spacing;
}

Tensors run(const std::string& body, const Tensor& x, const std::string& device = "cpu") {
  auto fusion = parse_fusion("fusion @f (%x: f32[n]) -> (%y) {\n  %y = " + body + "\n}\n");
  CompileOptions how;
  how.device = device;
  return compile(*fusion, how).run({{"x", x}});
}

TEST(LongSums, CumSumOnTheCpu) {
  const Tensor x = numbers(kCount);
  const auto* in = static_cast<const float*>(x.data());
  for (const char* body : {"cumsum(%x, dim = 0)", "cumsum(%x, dim = 0, exclusive = true)"}) {
    const Tensors out = run(body, x);
    const auto* got = static_cast<const float*>(out.at("y").data());
    const bool exclusive = std::string(body).find("exclusive") != std::string::npos;
    long double sum = 0;
    double most = 0;
    for (int64_t i = 0; i < kCount; ++i) {
      if (!exclusive) sum += in[i];
      if (sum != 0) most = std::max(most, ulps(got[i], sum));
      if (exclusive) sum += in[i];
    }
    EXPECT_LE(most, 0.51) << body;
  }
}

TEST(LongSums, SumsMeansNormsOnTheCpu) {
  const Tensor x = numbers(kCount);
  const auto* in = static_cast<const float*>(x.data());
  long double sum = 0, squares = 0;
  for (int64_t i = 0; i < kCount; ++i) {
    sum += in[i];
    squares += static_cast<long double>(in[i]) * in[i];
  }
  EXPECT_LE(ulps(run("sum(%x)", x).at("y").at(0), sum), 2);
  EXPECT_LE(ulps(run("mean(%x)", x).at("y").at(0), sum / kCount), 2);
  EXPECT_LE(ulps(run("norm(%x)", x).at("y").at(0), std::sqrt(squares)), 2);
}

// By two-sum: 100,000 numbers added in f32 one after another are off by some 50 units.
TEST(LongSums, OnASimulatedGpu) {
  constexpr const char* kDevice = "sim:sm_80";
  if (const auto why = testing::why_no_device(kDevice); !why.empty()) GTEST_SKIP() << why;
  const Tensor x = numbers(100'000);
  const auto* in = static_cast<const float*>(x.data());
  const Tensors out = run("cumsum(%x, dim = 0)", x, kDevice);
  const auto* got = static_cast<const float*>(out.at("y").data());
  long double sum = 0;
  double most = 0;
  for (int64_t i = 0; i < x.elements(); ++i) {
    sum += in[i];
    most = std::max(most, ulps(got[i], sum));
  }
  EXPECT_LE(most, 0.51);
  EXPECT_LE(ulps(run("sum(%x)", x, kDevice).at("y").at(0), sum), 2);
}

// What is no number stays what it is.
TEST(LongSums, Infinities) {
  const Tensor x = Tensor::from_doubles(DType::f32, {5}, {1, INFINITY, 2, -INFINITY, 3});
  for (const char* device : {"cpu", "sim:sm_80"}) {
    if (!testing::why_no_device(device).empty()) continue;
    const std::vector<double> y = run("cumsum(%x, dim = 0)", x, device).at("y").to_doubles();
    EXPECT_EQ(y[0], 1) << device;
    EXPECT_EQ(y[1], INFINITY) << device;
    EXPECT_EQ(y[2], INFINITY) << device;
    EXPECT_TRUE(std::isnan(y[3]) && std::isnan(y[4])) << device;
  }
}

}  // namespace
}  // namespace plait
