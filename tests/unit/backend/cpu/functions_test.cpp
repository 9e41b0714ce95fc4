// Pointwise functions as compiled: within the bounds of scalar/pointwise.h, special values right, equal for all lane
// counts.
#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <limits>
#include <random>

#include "support/function_check.h"

namespace plait {
namespace {

constexpr double kInf = std::numeric_limits<double>::infinity();

kir::Kernel unary(Pointwise function, DType dtype, int lanes) { return test::compute_kernel(function, {dtype}, lanes); }

// Those with a meaning on floats.
std::vector<Pointwise> unary_functions() {
  std::vector<Pointwise> functions;
  for (int i = 0; i < kPointwiseCount; ++i) {
    const auto function = Pointwise(i);
    const bool on_floats = has_float_meaning(function) && info(function).type_rule != TypeRule::logical;
    if (info(function).arity == 1 && function != Pointwise::cast && on_floats) functions.push_back(function);
  }
  return functions;
}

Tensor results(Pointwise function, const Tensor& x) {
  return Tensor::empty(result_type(function, std::span(&x.dtype, 1)), x.shape);
}

struct Worst {
  double ratio = 0, at = 0, ulps = 0;
};

Worst worst_of(Pointwise function, DType dtype, const Tensor& x, const Tensor& y) {
  Worst worst;
  const std::vector<double> ins = x.to_doubles(), gots = y.to_doubles();
  for (size_t i = 0; i < ins.size(); ++i) {
    const double in = ins[i], got = gots[i], ratio = test::error_over_bound(function, dtype, std::span(&in, 1), got);
    if (ratio > worst.ratio) worst.ratio = ratio, worst.at = in;
    const double expected = evaluate(function, std::span(&in, 1));
    if (std::isfinite(expected) && std::isfinite(got)) {
      worst.ulps = std::max(worst.ulps, std::fabs(got - expected) / ulp(dtype, expected));
    }
  }
  return worst;
}

// Every `stride`th f32 bit pattern from `first`, `count` of them.
Tensor patterns(uint64_t first, uint64_t stride, int64_t count) {
  Tensor x = Tensor::empty(DType::f32, {count});
  for (int64_t i = 0; i < count; ++i) static_cast<uint32_t*>(x.data())[i] = uint32_t(first + uint64_t(i) * stride);
  return x;
}

void sweep_f32(uint64_t stride) {
  constexpr int64_t kBlock = 1 << 16;
  for (Pointwise function : unary_functions()) {
    const Tensor y = results(function, Tensor::empty(DType::f32, {kBlock}));
    const kir::Kernel kernel = unary(function, DType::f32, test::lane_counts().back());
    const auto executable = test::shared_cpu().compile(test::text_of(kernel), nullptr);
    Worst worst;
    for (uint64_t first = 0; first < uint64_t(1) << 32; first += stride * kBlock) {
      const Tensor x = patterns(first, stride, kBlock);
      test::launch(*executable, kernel, {x, y}, {kBlock});
      const Worst block = worst_of(function, DType::f32, x, y);
      if (block.ratio > worst.ratio) worst.ratio = block.ratio, worst.at = block.at;
      worst.ulps = std::max(worst.ulps, block.ulps);
    }
    EXPECT_LE(worst.ratio, 1) << name(function) << " at " << worst.at;
    testing::Test::RecordProperty(std::string(name(function)) + "_ulps", std::to_string(worst.ulps));
    if (std::getenv("PLAIT_TEST_VERBOSE"))
      printf("%-10s %.3f ulp, %.3f of the bound\n", name(function).data(), worst.ulps, worst.ratio);
  }
}

TEST(CpuFunctions, SampledOverAllF32) { sweep_f32(32771); }
TEST(CpuFunctions, LongRunSampledOverAllF32) { sweep_f32(211); }

TEST(CpuFunctions, AroundTheSeamsOfThePolynomials) {
  std::vector<double> points;
  for (double seam : {0.0,     0.55, 0.925,  0.707106781, 1.0,   1.414213562, 4.0,      8.8,     9.1,  16.0,  87.3365,
                      88.7228, 89.0, 103.28, 103.97,      104.0, 0x1p-126,    0x1p-149, 0x1p-23, 1e20, 3.4e38}) {
    float up = float(seam), down = float(seam);
    for (int step = 0; step < 300; ++step) {
      for (float v : {up, down, -up, -down}) points.push_back(v);
      up = std::nextafter(up, INFINITY);
      down = std::nextafter(down, -INFINITY);
    }
  }
  const Tensor x = Tensor::from_doubles(DType::f32, {int64_t(points.size())}, points);
  for (Pointwise function : unary_functions()) {
    const Tensor y = results(function, x);
    test::run(unary(function, DType::f32, 8), {x, y}, {x.elements()});
    const Worst worst = worst_of(function, DType::f32, x, y);
    EXPECT_LE(worst.ratio, 1) << name(function) << " at " << worst.at;
  }
}

TEST(CpuFunctions, F64) {
  std::mt19937_64 random(7);
  std::vector<double> points{0,          -0.0,  kInf,   -kInf, std::nan(""), 1,      -1,     0x1p-1074,
                             -0x1p-1074, 1e308, -1e308, 709.7, 709.8,        -745.1, -745.2, 1e-320};
  for (int i = 0; i < 4000; ++i) {
    points.push_back(std::bit_cast<double>(random()));
    points.push_back(double(int64_t(random())) * 0x1p-60);
    points.push_back(double(int64_t(random())) * 0x1p-54);
  }
  const Tensor x = Tensor::from_doubles(DType::f64, {int64_t(points.size())}, points);
  for (Pointwise function : unary_functions()) {
    const Tensor y = results(function, x);
    test::run(unary(function, DType::f64, 4), {x, y}, {x.elements()});
    const Worst worst = worst_of(function, DType::f64, x, y);
    EXPECT_LE(worst.ratio, 1) << name(function) << " at " << worst.at;
  }
}

TEST(CpuFunctions, SpecialValuesAreExact) {
  struct Case {
    Pointwise function;
    double in, out;
  };
  const double nan = std::nan("");
  const Case cases[] = {
      {Pointwise::exp, -kInf, 0},        {Pointwise::exp, kInf, kInf},       {Pointwise::exp, 0, 1},
      {Pointwise::exp, -0.0, 1},         {Pointwise::exp, -800, 0},          {Pointwise::exp, 800, kInf},
      {Pointwise::log, 0, -kInf},        {Pointwise::log, -0.0, -kInf},      {Pointwise::log, kInf, kInf},
      {Pointwise::log, -1, nan},         {Pointwise::log, -kInf, nan},       {Pointwise::log, 1, 0},
      {Pointwise::tanh, kInf, 1},        {Pointwise::tanh, -kInf, -1},       {Pointwise::tanh, -0.0, -0.0},
      {Pointwise::tanh, 0, 0},           {Pointwise::sqrt, -1, nan},         {Pointwise::sqrt, -0.0, -0.0},
      {Pointwise::sqrt, kInf, kInf},     {Pointwise::relu, -0.0, 0},         {Pointwise::relu, nan, nan},
      {Pointwise::relu, -kInf, 0},       {Pointwise::relu, kInf, kInf},      {Pointwise::sigmoid, -kInf, 0},
      {Pointwise::sigmoid, kInf, 1},     {Pointwise::sigmoid, 0, 0.5},       {Pointwise::silu, kInf, kInf},
      {Pointwise::silu, -kInf, nan},     {Pointwise::silu, -0.0, -0.0},      {Pointwise::gelu_tanh, kInf, kInf},
      {Pointwise::gelu_tanh, 0, 0},      {Pointwise::gelu_tanh, -kInf, nan}, {Pointwise::gelu_tanh, -0.0, -0.0},
      {Pointwise::gelu_erf, kInf, kInf}, {Pointwise::gelu_erf, -kInf, nan},  {Pointwise::gelu_erf, -0.0, -0.0},
      {Pointwise::neg, 0, -0.0},         {Pointwise::abs, -kInf, kInf},      {Pointwise::abs, -0.0, 0},
  };
  for (DType dtype : {DType::f32, DType::f64}) {
    for (const Case& c : cases) {
      const Tensor x = Tensor::from_doubles(dtype, {5}, std::vector<double>(5, c.in)), y = Tensor::empty(dtype, {5});
      test::run(unary(c.function, dtype, 4), {x, y}, {5});
      for (int64_t i = 0; i < 5; ++i) {
        const double got = y.at(i);
        const bool same =
            std::isnan(c.out) ? std::isnan(got) : got == c.out && std::signbit(got) == std::signbit(c.out);
        EXPECT_TRUE(same) << name(c.function) << "(" << c.in << ") = " << got << " in " << name(dtype) << ", lane "
                          << i;
      }
    }
    const std::vector<double> specials{nan, kInf, -kInf, 0, -0.0, 1, -1, 0.5, -2};
    const Tensor x = Tensor::from_doubles(dtype, {9}, specials);
    for (Pointwise function : unary_functions()) {
      const Tensor y = results(function, x);
      test::run(unary(function, dtype, 4), {x, y}, {9});
      const Worst worst = worst_of(function, dtype, x, y);
      EXPECT_LE(worst.ratio, 1) << name(function) << "(" << worst.at << ")";
    }
  }
}

TEST(CpuFunctions, EqualForEveryLaneCount) {
  const Tensor x = patterns(12345, 104729, 1 << 15);
  for (Pointwise function : unary_functions()) {
    Tensor first;
    for (int lanes : test::lane_counts()) {
      const Tensor y = results(function, x);
      test::run(unary(function, DType::f32, lanes), {x, y}, {x.elements()});
      if (lanes == 1) first = y;
      EXPECT_EQ(std::memcmp(first.data(), y.data(), y.bytes()), 0) << name(function) << ", " << lanes << " lanes";
    }
  }
}

}  // namespace
}  // namespace plait
