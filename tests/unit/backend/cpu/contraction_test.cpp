// Contractions by oneDNN against plain double loops.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <random>
#include <thread>

#include "backend/cpu/onednn_contraction.h"
#include "backend/cpu/onednn_plugin/plugin.h"
#include "backend/cpu/widened_contraction.h"
#include "base/error.h"
#include "base/plugin_loader.h"
#include "scalar/convert.h"
#include "support/allocation_counter.h"
#include "support/contraction_numbers.h"
#include "support/kernel_run.h"

namespace plait {
namespace {

struct Shape {
  int64_t batch, m, n, k;
};

// Small integers: every sum is exact in f32, whatever its order.
Tensor integers(DType dtype, std::vector<int64_t> shape, uint64_t seed) {
  std::mt19937_64 random(seed);
  std::vector<double> values;
  for (int64_t i = 0; i < element_count(shape); ++i) values.push_back(double(random() % 9) - 4);
  return Tensor::from_doubles(dtype, std::move(shape), values);
}

// A contraction of dense operands.
struct Form {
  DType in, out;
  bool linear, transpose_a = false, transpose_b = false;
  LibraryContraction library() const { return {in, out, linear}; }
  std::vector<int64_t> integers(const Shape& s) const {
    const test::DenseContraction dense{transpose_a, transpose_b};
    return (linear ? test::DenseContraction::linear() : dense).integers(s.batch, s.m, s.n, s.k);
  }
};

struct Operands {
  Tensor a, b, out;
};

Operands operands(const Form& p, const Shape& s) {
  const int64_t weights = p.linear ? s.n * s.k : s.batch * s.k * s.n;
  return {integers(p.in, {s.batch * s.m * s.k}, 1), integers(p.in, {weights}, 2),
          Tensor::from_doubles(p.out, {s.batch * s.m * s.n}, std::vector<double>(size_t(s.batch * s.m * s.n), 99))};
}

void launch(const Executable& executable, const Form& p, const Operands& o, const Shape& s, int threads = 0) {
  void* buffers[] = {o.a.data(), o.b.data(), o.out.data()};
  const std::vector<int64_t> integers = p.integers(s);
  executable.launch({.buffers = buffers, .integers = integers, .threads = threads});
}

void expect_product(const Form& p, const Operands& o, const Shape& s) {
  const std::vector<double> a = o.a.to_doubles(), b = o.b.to_doubles();
  for (int64_t e = 0; e < s.batch * s.m * s.n; ++e) {
    const int64_t row = e / s.n, column = e % s.n, batch = row / s.m;
    double sum = 0;
    for (int64_t k = 0; k < s.k; ++k) {
      const int64_t in_a = p.transpose_a ? (batch * s.k + k) * s.m + row % s.m : row * s.k + k;
      const int64_t in_b = p.linear        ? column * s.k + k
                           : p.transpose_b ? (batch * s.n + column) * s.k + k
                                           : (batch * s.k + k) * s.n + column;
      sum += a[size_t(in_a)] * b[size_t(in_b)];
    }
    const double expected = Constant::from_double(p.out, sum).to_double();
    ASSERT_EQ(o.out.at(e), expected) << s.batch << " x " << s.m << " x " << s.n << " x " << s.k << ", element " << e;
  }
}

const Shape kShapes[] = {{1, 1, 1, 1},    {1, 1, 1, 7},      {1, 1, 5, 1},     {1, 7, 1, 3},   {1, 3, 5, 7},
                         {1, 16, 16, 16}, {1, 17, 33, 9},    {1, 64, 1, 64},   {1, 1, 64, 64}, {1, 64, 64, 1},
                         {2, 3, 4, 5},    {3, 1, 1, 1},      {2, 1, 7, 9},     {5, 8, 1, 8},   {1, 65, 171, 128},
                         {4, 33, 17, 65}, {1, 128, 512, 64}, {1, 32, 32, 448}, {1, 7, 5, 391}, {3, 4, 9, 2003},
                         {2, 1, 1, 10000}};

class Contractions : public testing::TestWithParam<Form> {
 protected:
  void SetUp() override {
    std::string why_not;
    executable = test::shared_cpu().library(GetParam().library(), &why_not);
    if (executable == nullptr) GTEST_SKIP() << why_not;
  }
  std::shared_ptr<Executable> executable;
};

// Name of oneDNN's implementation of a shape.
std::string implementation(const Form& p, const Shape& s) {
  using Getter = const PlaitOneDnnInterface* (*)();
  static const PlaitOneDnnInterface* interface =
      reinterpret_cast<Getter>(load_plugin("libplait_onednn.so", "plait_onednn_interface", "", "libdnnl-dev"))();
  const auto type = [](DType d) { return d == DType::f32 ? kPlaitOneDnnF32 : kPlaitOneDnnBf16; };
  char text[256] = "";
  PlaitOneDnnContraction* contraction =
      interface->create(type(p.in), type(p.out), p.linear ? 1 : 0, 2, text, sizeof text);
  if (contraction == nullptr) return "none";  // widened: the machine has no instructions for the types
  const std::vector<int64_t> integers = p.integers(s);
  const ContractionArguments all(integers);
  PlaitOneDnnShape shape{int32_t(all.batch.size()), {1, 1}, all.m, all.n, all.k, {}, {}, {}};
  std::copy(all.batch.begin(), all.batch.end(), shape.batch);
  const auto fill = [&](const ContractionOperand& from, PlaitOneDnnOperand& to) {
    to.row = from.row, to.column = from.column;
    std::copy(from.batch.begin(), from.batch.end(), to.batch);
  };
  fill(all.a, shape.a), fill(all.b, shape.b), fill(all.out, shape.out);
  interface->implementation(contraction, &shape, text, sizeof text);
  interface->destroy(contraction);
  return text;
}

TEST_P(Contractions, EqualNaiveLoops) {
  const Form p = GetParam();
  for (const Shape& s : kShapes) {
    EXPECT_EQ(implementation(p, s).find("ref"), std::string::npos);
    const Operands o = operands(p, s);
    for (int round = 0; round < 2; ++round) {
      launch(*executable, p, o, s);
      expect_product(p, o, s);
    }
  }
}

// A long sum for a small result is cut, so that its rounding error is that of a few parts.
TEST(LongProducts, ErrLessThanSumsInOrder) {
  const Form p{DType::f32, DType::f32, false};
  std::string why_not;
  const auto executable = test::shared_cpu().library(p.library(), &why_not);
  if (executable == nullptr) GTEST_SKIP() << why_not;
  const Shape s{1, 16, 16, 2048};
  std::mt19937_64 random(3);
  std::normal_distribution<double> normal;
  const auto draw = [&](int64_t count) {
    std::vector<double> values;
    for (int64_t i = 0; i < count; ++i) values.push_back(normal(random));
    return Tensor::from_doubles(DType::f32, {count}, values);
  };
  const Operands o{draw(s.m * s.k), draw(s.k * s.n), draw(s.m * s.n)};
  launch(*executable, p, o, s);
  const std::vector<double> a = o.a.to_doubles(), b = o.b.to_doubles();
  double ours = 0, in_order = 0;
  for (int64_t e = 0; e < s.m * s.n; ++e) {
    double exact = 0;
    float sum = 0;
    for (int64_t k = 0; k < s.k; ++k) {
      const double x = a[size_t(e / s.n * s.k + k)], y = b[size_t(k * s.n + e % s.n)];
      exact += x * y;
      sum = std::fma(static_cast<float>(x), static_cast<float>(y), sum);
    }
    ours += std::pow(o.out.at(e) - exact, 2);
    in_order += std::pow(sum - exact, 2);
  }
  EXPECT_LT(std::sqrt(ours), 0.7 * std::sqrt(in_order));
}

TEST_P(Contractions, ZeroExtents) {
  const Form p = GetParam();
  for (const Shape& s :
       {Shape{0, 3, 4, 5}, Shape{2, 0, 4, 5}, Shape{2, 3, 0, 5}, Shape{2, 3, 4, 0}, Shape{0, 0, 0, 0}}) {
    const Operands o = operands(p, s);
    launch(*executable, p, o, s);
    for (double value : o.out.to_doubles()) EXPECT_EQ(value, 0);
  }
  EXPECT_THROW(launch(*executable, p, operands(p, {1, 1, 1, 1}), {1, -1, 1, 1}), InternalError);
}

// On one thread: a team that stood still is left for a while, and another number of threads is prepared anew.
TEST_P(Contractions, SecondRunAllocatesNothing) {
  if (!test::counts_allocations()) GTEST_SKIP() << "this build cannot count allocations";
  const Form p = GetParam();
  for (const Shape& s : {Shape{1, 65, 171, 128}, Shape{4, 33, 17, 65}, Shape{1, 256, 256, 256}}) {
    const std::string by = implementation(p, s);
    if (by.find("gemm") != std::string::npos) GTEST_SKIP() << "oneDNN's older kernels allocate";
    if (by == "none") GTEST_SKIP() << "the machine has no instructions for the types: operands are widened in each run";
    const Operands o = operands(p, s);
    launch(*executable, p, o, s, 1);
    const int64_t before = test::large_allocations();
    for (int i = 0; i < 3; ++i) launch(*executable, p, o, s, 1);
    EXPECT_EQ(test::large_allocations(), before) << s.batch << " x " << s.m << " x " << s.n << " x " << s.k;
  }
}

TEST_P(Contractions, FromSeveralThreads) {
  const Form p = GetParam();
  const Shape s{1, 40, 50, 60};
  std::vector<Operands> all;
  for (int t = 0; t < 3; ++t) all.push_back(operands(p, s));
  std::vector<std::thread> threads;
  for (int t = 0; t < 3; ++t) {
    threads.emplace_back([&, t] {
      for (int i = 0; i < 20; ++i) launch(*executable, p, all[size_t(t)], s);
    });
  }
  for (std::thread& thread : threads) thread.join();
  for (const Operands& o : all) expect_product(p, o, s);
}

std::string name_of(const testing::TestParamInfo<Form>& info) {
  const Form& p = info.param;
  return fmt::format("{}_{}{}{}_{}", p.linear ? "linear" : "matmul", p.transpose_a ? "ta_" : "",
                     p.transpose_b ? "tb_" : "", name(p.in), name(p.out));
}

INSTANTIATE_TEST_SUITE_P(CpuContractions, Contractions,
                         testing::Values(Form{DType::f32, DType::f32, true}, Form{DType::f32, DType::f32, false},
                                         Form{DType::bf16, DType::f32, true}, Form{DType::bf16, DType::f32, false},
                                         Form{DType::bf16, DType::bf16, true}, Form{DType::bf16, DType::bf16, false},
                                         Form{DType::f32, DType::f32, false, true, false},
                                         Form{DType::f32, DType::f32, false, false, true},
                                         Form{DType::f32, DType::f32, false, true, true},
                                         Form{DType::bf16, DType::f32, false, true, false},
                                         Form{DType::bf16, DType::bf16, false, false, true}),
                         name_of);

TEST(CpuContractions, F32IsThere) { EXPECT_NE(test::shared_cpu().library({}, nullptr), nullptr); }

// By f32, as on CPUs without instructions for the dtype: panels of every form, groups of small contractions.
class Widened : public testing::TestWithParam<Form> {};

TEST_P(Widened, EqualNaiveLoops) {
  const Form p = GetParam();
  LibraryContraction wide = p.library();
  wide.in = wide.out = DType::f32;
  auto scratch = std::make_shared<HostAllocator>();
  const auto executable = widen_contraction(test::shared_cpu().library(wide, nullptr), p.library(), scratch,
                                            std::make_shared<ThreadPool>(2));
  std::vector<Shape> shapes(std::begin(kShapes), std::end(kShapes));
  shapes.insert(shapes.end(), {{1, 520, 9, 5}, {1, 3, 70, 8200}, {2, 3, 70, 8200}, {40, 33, 65, 170}, {2, 0, 3, 4}});
  for (const Shape& s : shapes) {
    const Operands o = operands(p, s);
    launch(*executable, p, o, s);
    expect_product(p, o, s);
  }
  const Operands empty = operands(p, {2, 3, 4, 0});
  launch(*executable, p, empty, {2, 3, 4, 0});
  for (double value : empty.out.to_doubles()) EXPECT_EQ(value, 0);
  EXPECT_THROW(launch(*executable, p, operands(p, {1, 1, 1, 1}), {1, -1, 1, 1}), InternalError);
}

// Rounding of results and what is special: as the conversions of scalar/convert.h.
TEST(WidenedContractions, RoundAsConversionsDo) {
  for (const DType dtype : {DType::bf16, DType::f16}) {
    const auto executable = widen_contraction(test::shared_cpu().library({}, nullptr), {dtype, dtype, true},
                                              std::make_shared<HostAllocator>(), std::make_shared<ThreadPool>(1));
    const double infinite = std::numeric_limits<double>::infinity();
    std::vector<double> values = {0, -0.0, 1, 3.5, 65504, -65504, 6e-8, 1e-5, infinite, -infinite, std::nan("")};
    for (int i = 0; i < 30; ++i) values.push_back(1 + i * 0x1p-7);
    const auto n = int64_t(values.size());
    const Operands o{Tensor::from_doubles(dtype, {1}, {1.0078125}), Tensor::from_doubles(dtype, {n}, values),
                     Tensor::empty(dtype, {n})};
    launch(*executable, {dtype, dtype, true}, o, {1, 1, n, 1});
    for (int64_t i = 0; i < n; ++i) {
      const float product = float(o.b.at(i)) * 1.0078125F;
      const double expected = round_to(dtype, product);
      if (std::isnan(expected))
        EXPECT_TRUE(std::isnan(o.out.at(i)));
      else
        EXPECT_EQ(o.out.at(i), expected) << values[size_t(i)];
    }
  }
}

INSTANTIATE_TEST_SUITE_P(CpuContractions, Widened,
                         testing::Values(Form{DType::bf16, DType::bf16, true}, Form{DType::bf16, DType::f32, true},
                                         Form{DType::bf16, DType::bf16, false}, Form{DType::f16, DType::f16, true},
                                         Form{DType::f16, DType::f32, false},
                                         Form{DType::bf16, DType::f32, false, true, false},
                                         Form{DType::f16, DType::f16, false, false, true},
                                         Form{DType::bf16, DType::bf16, false, true, true}),
                         name_of);

// Whatever the CPU has instructions for.
TEST(CpuContractions, NarrowTypesAreAlwaysThere) {
  for (const DType dtype : {DType::f16, DType::bf16})
    for (const bool linear : {true, false}) {
      const Form p{dtype, dtype, linear};
      std::string why_not;
      const auto executable = test::shared_cpu().library(p.library(), &why_not);
      ASSERT_NE(executable, nullptr) << why_not;
      const Operands o = operands(p, {1, 17, 33, 9});
      launch(*executable, p, o, {1, 17, 33, 9});
      expect_product(p, o, {1, 17, 33, 9});
    }
}

TEST(ContractionThreads, AreByTheSizeOfTheWork) {
  ContractionTeams teams;
  EXPECT_EQ(teams.threads(1000, 16), 1);
  EXPECT_EQ(teams.threads(1e6, 16), 1);
  EXPECT_EQ(teams.threads(5e6, 16), 5);
  EXPECT_EQ(teams.threads(1e12, 16), 16);
  EXPECT_EQ(teams.threads(1e12, 1), 1);
}

// A team that stood still is not asked again for a while, but for what needs it.
TEST(ContractionThreads, AvoidTeamsThatStoodStill) {
  ContractionTeams teams;
  teams.note(5e6, std::chrono::milliseconds(1));
  teams.note(1e9, std::chrono::milliseconds(400));
  EXPECT_EQ(teams.threads(5e6, 16), 5);
  teams.note(5e6, std::chrono::milliseconds(64));
  EXPECT_EQ(teams.threads(5e6, 16), 1);
  EXPECT_EQ(teams.threads(1e9, 16), 16);
}

TEST(CpuContractions, EqualProductsAreOneExecutable) {
  EXPECT_EQ(test::shared_cpu().library({}, nullptr), test::shared_cpu().library({}, nullptr));
}

TEST(CpuContractions, RefusedWithReasons) {
  const auto reason = [](DType in, DType out) {
    std::string why_not;
    EXPECT_EQ(test::shared_cpu().library({in, out, true}, &why_not), nullptr);
    return why_not;
  };
  EXPECT_NE(reason(DType::f64, DType::f64).find("no contraction linear f64 x f64 -> f64"), std::string::npos);
  EXPECT_NE(reason(DType::i64, DType::i64).find("no contraction"), std::string::npos);
  EXPECT_NE(reason(DType::f32, DType::bf16).find("f32 x f32 -> bf16"), std::string::npos);
}

// Slices, transposes, interleaved heads and shared matrices, by oneDNN and by panels that are widened.
class Strided : public testing::TestWithParam<test::StridedContraction> {};

TEST_P(Strided, EqualNaiveLoops) {
  const test::StridedContraction& of = GetParam();
  const auto wide = test::shared_cpu().library({DType::f32, DType::f32, false}, nullptr);
  if (wide == nullptr) GTEST_SKIP() << "no oneDNN";
  for (const DType dtype : {DType::f32, DType::bf16, DType::f16}) {
    const LibraryContraction contraction{dtype, DType::f32, false};
    const auto widened = dtype == DType::f32 ? nullptr
                                             : widen_contraction(wide, contraction, std::make_shared<HostAllocator>(),
                                                                 std::make_shared<ThreadPool>(2));
    for (const auto& executable : {test::shared_cpu().library(contraction, nullptr), widened}) {
      if (executable == nullptr) continue;
      const Tensor a = integers(dtype, {of.size_a}, 1), b = integers(dtype, {of.size_b}, 2);
      const Tensor out =
          Tensor::from_doubles(DType::f32, {of.size_out()}, std::vector<double>(size_t(of.size_out()), 99));
      void* buffers[] = {static_cast<std::byte*>(a.data()) + size_t(of.numbers.a.offset) * size_of(dtype),
                         static_cast<std::byte*>(b.data()) + size_t(of.numbers.b.offset) * size_of(dtype), out.data()};
      const std::vector<int64_t> numbers = of.integers();
      executable->launch({.buffers = buffers, .integers = numbers});
      EXPECT_EQ(out.to_doubles(), of.expected(a.to_doubles(), b.to_doubles())) << name(dtype);
    }
  }
}

INSTANTIATE_TEST_SUITE_P(CpuContractions, Strided, testing::ValuesIn(test::strided_contractions()),
                         [](const auto& info) { return info.param.name; });

// Real numbers: the bound is that of a contraction in f32.
TEST(CpuContractions, RealNumbersWithinTheBound) {
  std::mt19937_64 random(5);
  std::normal_distribution<double> normal;
  const Shape s{1, 31, 47, 300};
  std::vector<double> va, vb;
  for (int64_t i = 0; i < s.m * s.k; ++i) va.push_back(normal(random));
  for (int64_t i = 0; i < s.n * s.k; ++i) vb.push_back(normal(random));
  for (DType dtype : {DType::f32, DType::bf16}) {
    const auto executable = test::shared_cpu().library({dtype, DType::f32, true}, nullptr);
    if (executable == nullptr) continue;
    const Operands o{Tensor::from_doubles(dtype, {s.m * s.k}, va), Tensor::from_doubles(dtype, {s.n * s.k}, vb),
                     Tensor::empty(DType::f32, {s.m * s.n})};
    launch(*executable, {dtype, DType::f32, true}, o, s);
    for (int64_t e = 0; e < s.m * s.n; ++e) {
      double sum = 0, magnitude = 0;
      for (int64_t k = 0; k < s.k; ++k) {
        const double term = o.a.at(e / s.n * s.k + k) * o.b.at(e % s.n * s.k + k);
        sum += term;
        magnitude += std::fabs(term);
      }
      EXPECT_LE(std::fabs(o.out.at(e) - sum), 2 * 0x1p-24 * double(s.k) * magnitude);
    }
  }
}

}  // namespace
}  // namespace plait
