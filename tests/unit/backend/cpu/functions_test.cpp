// Pointwise functions as compiled: within the bounds of scalar/pointwise.h, special values right, equal for all lane
// counts.
#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <limits>
#include <random>
#include <utility>

#include "support/exact_functions.h"
#include "support/function_check.h"

namespace plait {
namespace {

constexpr double kInf = std::numeric_limits<double>::infinity();

kir::Kernel unary(Pointwise function, DType dtype, int lanes) { return test::compute_kernel(function, {dtype}, lanes); }

// Those with a meaning on floats.
std::vector<Pointwise> functions_of(int arity) {
  std::vector<Pointwise> functions;
  for (int i = 0; i < kPointwiseCount; ++i) {
    const auto function = Pointwise(i);
    const TypeRule rule = info(function).type_rule;
    const bool on_floats = has_float_meaning(function) && rule != TypeRule::logical && rule != TypeRule::select;
    if (info(function).arity == arity && function != Pointwise::cast && on_floats) functions.push_back(function);
  }
  return functions;
}
std::vector<Pointwise> unary_functions() { return functions_of(1); }

Tensor results(Pointwise function, const Tensor& x) {
  return Tensor::empty(result_type(function, std::span(&x.dtype, 1)), x.shape);
}

struct Worst {
  double ratio = 0, at = 0;
};

Worst worst_of(Pointwise function, DType dtype, const Tensor& x, const Tensor& y) {
  Worst worst;
  const std::vector<double> ins = x.to_doubles(), gots = y.to_doubles();
  for (size_t i = 0; i < ins.size(); ++i) {
    const double in = ins[i], got = gots[i], ratio = test::error_over_bound(function, dtype, std::span(&in, 1), got);
    if (ratio > worst.ratio) worst.ratio = ratio, worst.at = in;
  }
  return worst;
}

// The largest error over f32 operands, against formulas in long double.
class Sweep {
 public:
  explicit Sweep(Pointwise function)
      : function_(function),
        arity_(size_t(info(function).arity)),
        kernel_(test::compute_kernel(function, types(), test::lane_counts().back())),
        executable_(test::shared_cpu().compile(test::text_of(kernel_), nullptr)) {
    for (size_t k = 0; k < arity_; ++k) tensors_.push_back(Tensor::empty(DType::f32, {kBlock}));
    tensors_.push_back(Tensor::empty(result_type(function, types()), {kBlock}));
  }
  // One block of operands; `value` draws the next number.
  void block(const std::function<float()>& value) {
    for (int64_t i = 0; i < kBlock; ++i)
      for (size_t k = 0; k < arity_; ++k) static_cast<float*>(tensors_[k].data())[i] = value();
    test::launch(*executable_, kernel_, tensors_, {kBlock});
    const std::vector<double> got = tensors_.back().to_doubles();
    for (int64_t i = 0; i < kBlock; ++i) {
      double in[3] = {};
      for (size_t k = 0; k < arity_; ++k) in[k] = static_cast<const float*>(tensors_[k].data())[i];
      see(std::span(in, arity_), got[size_t(i)]);
    }
  }
  void report() const {
    EXPECT_LE(share_, 1) << where_;
    testing::Test::RecordProperty(std::string(name(function_)) + "_ulps", std::to_string(ulps_));
    if (std::getenv("PLAIT_TEST_VERBOSE"))
      printf("%-12s %.3f ulp, %.3f of the bound\n", name(function_).data(), ulps_, share_);
  }
  static constexpr int64_t kBlock = 1 << 16;

 private:
  std::vector<DType> types() const { return std::vector<DType>(arity_, DType::f32); }
  void see(std::span<const double> in, double got) {
    const long double expected = test::exact_result(function_, in);
    const double share = test::error_over_bound(function_, DType::f32, in, got, expected);
    if (share > share_) {
      share_ = share;
      where_ = fmt::format("{} of {} is {}, not {}", name(function_),
                           testing::PrintToString(std::vector(in.begin(), in.end())), got, double(expected));
    }
    if (std::isfinite(got) && std::fabs(expected) <= max_finite(DType::f32))
      ulps_ = std::max(ulps_, double(std::fabs(got - expected)) / ulp(DType::f32, double(expected)));
  }

  Pointwise function_;
  size_t arity_;
  kir::Kernel kernel_;
  std::shared_ptr<Executable> executable_;
  std::vector<Tensor> tensors_;
  double share_ = 0, ulps_ = 0;
  std::string where_;
};

// Every `stride`th bit pattern.
void sweep_f32(uint64_t stride) {
  for (Pointwise function : functions_of(1)) {
    Sweep sweep(function);
    uint64_t pattern = 0;
    while (pattern < uint64_t(1) << 32)
      sweep.block([&] { return std::bit_cast<float>(uint32_t(std::exchange(pattern, pattern + stride))); });
    sweep.report();
  }
}

// Pairs and triples, as many as said: of any bits, and as many between -8 and 8, where functions of several operands
// are neither 0 nor infinite nor one of the operands.
void sweep_tuples(int64_t count) {
  for (int arity : {2, 3})
    for (Pointwise function : functions_of(arity)) {
      std::mt19937_64 random(uint64_t(function) + 1);
      Sweep sweep(function);
      for (int64_t done = 0; done < count; done += Sweep::kBlock)
        sweep.block([&] { return std::bit_cast<float>(uint32_t(random())); });
      for (int64_t done = 0; done < count; done += Sweep::kBlock)
        sweep.block([&] { return float(int64_t(random())) * 0x1p-60f; });
      sweep.report();
    }
}

TEST(CpuFunctions, SampledOverAllF32) { sweep_f32(32771); }
TEST(CpuFunctions, LongRunSampledOverAllF32) { sweep_f32(211); }
TEST(CpuFunctions, SampledTuplesOfF32) { sweep_tuples(1 << 16); }
TEST(CpuFunctions, LongRunSampledTuplesOfF32) { sweep_tuples(1 << 23); }

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

// Every `stride`th f32 bit pattern from `first`, `count` of them.
Tensor patterns(uint64_t first, uint64_t stride, int64_t count) {
  Tensor x = Tensor::empty(DType::f32, {count});
  for (int64_t i = 0; i < count; ++i) static_cast<uint32_t*>(x.data())[i] = uint32_t(first + uint64_t(i) * stride);
  return x;
}

TEST(CpuFunctions, EqualForEveryLaneCount) {
  const Tensor x = patterns(12345, 104729, 1 << 15);
  for (Pointwise function : unary_functions()) {
    Tensor first;
    for (int lanes : test::lane_counts()) {
      const Tensor y = results(function, x);
      test::run(unary(function, DType::f32, lanes), {x, y}, {x.elements()});
      if (lanes == 1) first = y;
      EXPECT_TRUE(test::same_results(first, y)) << name(function) << ", " << lanes << " lanes";
    }
  }
}

}  // namespace
}  // namespace plait
