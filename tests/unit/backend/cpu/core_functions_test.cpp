// Functions of codegen/llvm/functions.h against those of double: f32 within its bound, f64 the same, special values
// alike, equal for all lane counts.
#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <limits>
#include <random>

#include "scalar/convert.h"
#include "scalar/special.h"
#include "support/function_run.h"

namespace plait {
namespace {

using codegen::llvm::Function;
using codegen::llvm::Ir;

constexpr double kInf = std::numeric_limits<double>::infinity();

struct Unary {
  const char* name;
  Ir (*spelling)(Function&, const Ir&);
  double (*meaning)(double);
  double ulps = 0.51;
};

#define PLAIT_UNARY(name) {#name, codegen::llvm::name, [](double x) { return std::name(x); }}
const Unary kUnary[] = {
    {"exp", codegen::llvm::exp, [](double x) { return std::exp(x); }, 1},
    {"log", codegen::llvm::log, [](double x) { return std::log(x); }, 1},
    {"tanh", codegen::llvm::tanh, [](double x) { return std::tanh(x); }, 2.5},
    {"erf", codegen::llvm::erf, [](double x) { return std::erf(x); }, 1.5},
    PLAIT_UNARY(exp2),
    PLAIT_UNARY(expm1),
    PLAIT_UNARY(log2),
    PLAIT_UNARY(log10),
    PLAIT_UNARY(log1p),
    PLAIT_UNARY(cbrt),
    PLAIT_UNARY(sinh),
    PLAIT_UNARY(cosh),
    PLAIT_UNARY(asinh),
    PLAIT_UNARY(acosh),
    PLAIT_UNARY(atanh),
    PLAIT_UNARY(erfc),
    PLAIT_UNARY(sin),
    PLAIT_UNARY(cos),
    PLAIT_UNARY(tan),
    PLAIT_UNARY(asin),
    PLAIT_UNARY(acos),
    PLAIT_UNARY(atan),
    {"log_gamma", codegen::llvm::log_gamma, log_gamma},
    {"digamma", codegen::llvm::digamma, digamma},
    {"erfinv", codegen::llvm::erfinv, erfinv},
    {"rsqrt", codegen::llvm::rsqrt, [](double x) { return 1 / std::sqrt(x); }, 1.5},
};
#undef PLAIT_UNARY

struct Binary {
  const char* name;
  Ir (*spelling)(Function&, const Ir&, const Ir&);
  double (*meaning)(double, double);
  double ulps = 0.51;
};

#define PLAIT_BINARY(name) {#name, codegen::llvm::name, [](double x, double y) { return std::name(x, y); }}
const Binary kBinary[] = {PLAIT_BINARY(pow), PLAIT_BINARY(hypot), PLAIT_BINARY(atan2), PLAIT_BINARY(fmod)};
#undef PLAIT_BINARY

// In ulps of the exact result; infinite where one is NaN, infinite or zero of the wrong sign and the other is not.
double ulps_between(DType dtype, double expected, double got) {
  if (std::isnan(expected) || std::isnan(got)) return std::isnan(expected) && std::isnan(got) ? 0 : kInf;
  const double rounded = round_to(dtype, expected);
  if (rounded == got && std::signbit(rounded) != std::signbit(got)) return kInf;
  if (std::isinf(rounded) || std::isinf(got)) return rounded == got ? 0 : kInf;
  return std::fabs(got - expected) / ulp(dtype, expected);
}

std::shared_ptr<Executable> compile(const Unary& u, DType dtype, int lanes) {
  const auto body = [&](Function& f, const std::vector<Ir>& in) { return u.spelling(f, in[0]); };
  return test::shared_cpu().compile(test::function_kernel(dtype, 1, lanes, body), nullptr);
}

std::shared_ptr<Executable> compile(const Binary& b, DType dtype, int lanes) {
  const auto body = [&](Function& f, const std::vector<Ir>& in) { return b.spelling(f, in[0], in[1]); };
  return test::shared_cpu().compile(test::function_kernel(dtype, 2, lanes, body), nullptr);
}

struct Worst {
  double ulps = 0, x = 0, y = 0, got = 0;
  void see(double u, double at_x, double at_y, double value) {
    if (u > ulps) ulps = u, x = at_x, y = at_y, got = value;
  }
};

Tensor patterns(uint64_t first, uint64_t stride, int64_t count) {
  Tensor x = Tensor::empty(DType::f32, {count});
  for (int64_t i = 0; i < count; ++i) static_cast<uint32_t*>(x.data())[i] = uint32_t(first + uint64_t(i) * stride);
  return x;
}

void sweep(const Unary& u, uint64_t stride) {
  constexpr int64_t kBlock = 1 << 14;
  const int lanes = test::lane_counts().back();
  const Tensor out = Tensor::empty(DType::f32, {kBlock});
  const auto* got = static_cast<const float*>(out.data());
  const auto executable = compile(u, DType::f32, lanes);
  Worst worst;
  for (uint64_t first = 0; first < uint64_t(1) << 32; first += stride * kBlock) {
    const Tensor x = patterns(first, stride, kBlock);
    const auto* in = static_cast<const float*>(x.data());
    test::launch_function(*executable, {x, out}, lanes);
    for (int64_t i = 0; i < kBlock; ++i) {
      const double want = u.meaning(in[i]);
      if (float(want) == got[i] && std::signbit(want) == std::signbit(got[i])) continue;  // within half an ulp
      worst.see(ulps_between(DType::f32, want, got[i]), in[i], 0, got[i]);
    }
  }
  EXPECT_LE(worst.ulps, u.ulps) << u.name << "(" << worst.x << ") = " << worst.got;
  if (std::getenv("PLAIT_TEST_VERBOSE") != nullptr) printf("%-12s %.4f ulp at %a\n", u.name, worst.ulps, worst.x);
}

TEST(CpuCoreFunctions, SampledOverAllF32) {
  for (const Unary& u : kUnary) sweep(u, 65521);
}

// One test per function: each takes about a minute.
class CpuCoreFunctionsLongRun : public ::testing::TestWithParam<size_t> {};
TEST_P(CpuCoreFunctionsLongRun, SampledOverAllF32) { sweep(kUnary[GetParam()], 7); }
INSTANTIATE_TEST_SUITE_P(, CpuCoreFunctionsLongRun, ::testing::Range(size_t{0}, std::size(kUnary)),
                         [](const auto& each) { return std::string(kUnary[each.param].name); });

// Special values, ends of ranges, and what lies around them.
std::vector<double> hard_values(DType dtype) {
  std::vector<double> values{kInf, -kInf, std::nan("")};
  const bool narrow = dtype == DType::f32;
  for (double seam : {0.0,
                      0.25,
                      0.41421356,
                      0.5,
                      0.70710678,
                      1.0,
                      1.41421356,
                      1.46163214,
                      1.57079633,
                      2.0,
                      2.41421356,
                      3.0,
                      3.14159265,
                      4.0,
                      6.28318531,
                      8.0,
                      10.06,
                      17.0,
                      27.0,
                      88.72,
                      103.97,
                      128.0,
                      149.0,
                      150.0,
                      709.78,
                      745.13,
                      1000.0,
                      0x1p24,
                      0x1p30,
                      1e15,
                      0x1p52,
                      1e20,
                      0x1p-126,
                      0x1p-149,
                      0x1p-12,
                      0x1p-24,
                      3.4e38,
                      narrow ? 1.0 : 0x1p-1074,
                      narrow ? 1.0 : 1e300,
                      narrow ? 1.0 : 1.79e308}) {
    double up = round_to(dtype, seam), down = up;
    for (int step = 0; step < 20; ++step) {
      for (double v : {up, down, -up, -down}) values.push_back(v);
      up = narrow ? double(std::nextafter(float(up), INFINITY)) : std::nextafter(up, kInf);
      down = narrow ? double(std::nextafter(float(down), -INFINITY)) : std::nextafter(down, -kInf);
    }
  }
  while (values.size() % 16 != 0) values.push_back(1);
  return values;
}

TEST(CpuCoreFunctions, HardValues) {
  for (DType dtype : {DType::f32, DType::f64}) {
    const std::vector<double> values = hard_values(dtype);
    const Tensor x = Tensor::from_doubles(dtype, {int64_t(values.size())}, values), out = Tensor::empty(dtype, x.shape);
    for (const Unary& u : kUnary) {
      test::launch_function(*compile(u, dtype, 8), {x, out}, 8);
      for (int64_t i = 0; i < x.elements(); ++i) {
        const double expected = u.meaning(x.at(i)), bound = dtype == DType::f32 ? u.ulps : u.ulps > 0.51 ? 1 : 0;
        EXPECT_LE(ulps_between(dtype, expected, out.at(i)), bound)
            << u.name << "(" << x.at(i) << ") = " << out.at(i) << ", not " << expected << " in " << name(dtype);
      }
    }
  }
}

TEST(CpuCoreFunctions, PairsOfHardValues) {
  for (DType dtype : {DType::f32, DType::f64}) {
    std::vector<double> left, right;
    const std::vector<double> values = hard_values(dtype);
    std::mt19937_64 random(3);
    const auto value = [&](uint64_t kind) {
      if (kind == 0) return values[random() % values.size()];
      if (kind == 1) return double(int64_t(random() % 21) - 10);
      if (kind == 2) return round_to(dtype, double(int64_t(random())) * 0x1p-60);
      return dtype == DType::f32 ? double(std::bit_cast<float>(uint32_t(random()))) : std::bit_cast<double>(random());
    };
    for (int i = 0; i < 1 << 16; ++i) left.push_back(value(random() % 4)), right.push_back(value(random() % 4));
    const Tensor x = Tensor::from_doubles(dtype, {int64_t(left.size())}, left);
    const Tensor y = Tensor::from_doubles(dtype, x.shape, right), out = Tensor::empty(dtype, x.shape);
    for (const Binary& b : kBinary) {
      test::launch_function(*compile(b, dtype, 8), {x, y, out}, 8);
      Worst worst;
      for (int64_t i = 0; i < x.elements(); ++i) {
        const double expected = b.meaning(x.at(i), y.at(i));
        worst.see(ulps_between(dtype, expected, out.at(i)), x.at(i), y.at(i), out.at(i));
      }
      const double bound = dtype == DType::f32 ? std::strcmp(b.name, "fmod") == 0 ? 0 : b.ulps : 0;
      EXPECT_LE(worst.ulps, bound) << b.name << "(" << worst.x << ", " << worst.y << ") = " << worst.got << ", not "
                                   << b.meaning(worst.x, worst.y) << " in " << name(dtype);
      if (std::getenv("PLAIT_TEST_VERBOSE") != nullptr)
        printf("%-12s %.4f ulp in %s\n", b.name, worst.ulps, name(dtype).data());
    }
  }
}

TEST(CpuCoreFunctions, EqualForEveryLaneCount) {
  const Tensor x = patterns(12345, 524287, 1 << 13), y = patterns(777, 1048573, 1 << 13);
  const auto expect_equal = [&](const auto& function, const std::vector<Tensor>& inputs) {
    Tensor first;
    for (int lanes : test::lane_counts()) {
      std::vector<Tensor> tensors = inputs;
      tensors.push_back(Tensor::empty(DType::f32, x.shape));
      test::launch_function(*compile(function, DType::f32, lanes), tensors, lanes);
      if (lanes == 1) first = tensors.back();
      EXPECT_TRUE(test::same_results(first, tensors.back())) << function.name << ", " << lanes << " lanes";
    }
  };
  for (const Unary& u : kUnary) expect_equal(u, {x});
  for (const Binary& b : kBinary) expect_equal(b, {x, y});
}

}  // namespace
}  // namespace plait
