// Kernels of several phases, workspaces and stack buffers as compiled, against their interpretation.
#include <gtest/gtest.h>

#include <cmath>
#include <cstring>

#include "kir/interpret.h"
#include "kir/parse.h"
#include "support/kernel_run.h"

namespace plait {
namespace {

// Sums of columns by blocks of 16 rows, whose parts are added in order.
constexpr const char* kColumnSums = R"(
kernel @column_sums(%x: f32[m*n] read, %y: f32[n] write, %parts: f32[ceildiv(m, 16)*n] workspace; m, n) target cpu {
  phase {
    for b in 0..ceildiv(m, 16) on cpu_thread {
      for j in 0..n {
        %0: f32 = variable 0
        for r in 0..min(m - 16*b, 16) {
          %1: f32 = load %x[(16*b + r)*n + j] lanewise
          %2: f32 = add(%0, %1)
          assign %0 = %2
        }
        store %parts[b*n + j] = %0 lanewise
      }
    }
  }
  phase {
    for j in 0..n on cpu_thread {
      %3: f32 = variable 0
      for b in 0..ceildiv(m, 16) {
        %4: f32 = load %parts[b*n + j] lanewise
        %5: f32 = add(%3, %4)
        assign %3 = %5
      }
      store %y[j] = %3 lanewise
    }
  }
}
)";

Tensor numbers(int64_t count) {
  std::vector<double> values;
  for (int64_t i = 0; i < count; ++i) values.push_back(std::sin(double(i)) * double(i % 17));
  return Tensor::from_doubles(DType::f32, {count}, values);
}

// What the interpreter makes of a kernel whose last argument is written.
Tensor interpreted(const kir::Kernel& kernel, const std::vector<Tensor>& inputs, const Tensor& like,
                   const std::vector<int64_t>& integers) {
  Tensor out = Tensor::empty(like.dtype, like.shape);
  std::vector<void*> arguments;
  for (const Tensor& input : inputs) arguments.push_back(input.data());
  arguments.push_back(out.data());
  kir::AccessChecker checker(kernel);
  kir::interpret(kernel, integers, arguments, checker);
  checker.finish(kir::buffer_extents(kernel, integers));
  EXPECT_EQ(checker.problems(), std::vector<std::string>{});
  return out;
}

TEST(CpuPhases, ColumnSumsAreEqualForEveryNumberOfThreads) {
  const kir::Kernel kernel = kir::parse(kColumnSums);
  for (int64_t m : {0, 1, 16, 333}) {
    const int64_t n = 100;
    const Tensor x = numbers(m * n), first = Tensor::empty(DType::f32, {n});
    const Tensor want = interpreted(kernel, {x}, first, {m, n});
    for (int threads = 1; threads <= 8; ++threads) {
      const std::unique_ptr<Device> device = test::cpu_device(threads);
      const Tensor y = Tensor::empty(DType::f32, {n}), parts = Tensor::empty(DType::f32, {(m + 15) / 16 * n});
      test::run(kernel, {x, y, parts}, {m, n}, *device);
      EXPECT_TRUE(test::same_results(want, y)) << m << " rows, " << threads << " threads";
    }
  }
}

TEST(CpuPhases, ALaunchGivesEveryPhaseItsExtent) {
  const kir::Kernel kernel = kir::parse(kColumnSums);
  const auto executable = test::shared_cpu().compile(test::text_of(kernel), nullptr);
  float x[2] = {1, 2}, y[2] = {}, parts[2] = {};
  void* buffers[] = {x, y, parts};
  const int64_t integers[] = {1, 2}, later[] = {1};
  executable->launch({.buffers = buffers, .integers = integers, .thread_extent = 1, .later_extents = later});
  EXPECT_EQ(y[0], 1);
  EXPECT_EQ(y[1], 0);  // of a second phase of one task
  EXPECT_THROW(executable->launch({.buffers = buffers, .integers = integers}), InternalError);
}

// Phases of 1, n, 0 and 2 tasks at once, then what needs all of them: every task of every phase runs once.
constexpr const char* kBeside = R"(
kernel @beside(%x: f32[n] read, %y: f32[n + 3] write, %w: f32[n + 1] workspace; n) target cpu {
  phase {
    %9: f32 = literal 7
    store %w[0] = %9 lanewise
  }
  phase beside {
    for i in 0..n on cpu_thread {
      %0: f32 = load %x[i] lanewise
      %1: f32 = add(%0, %0)
      store %w[i + 1] = %1 lanewise
    }
  }
  phase beside {
    for k in 0..0 on cpu_thread {
      %2: f32 = literal 4
      store %y[0] = %2 lanewise
    }
  }
  phase beside {
    for j in 0..2 on cpu_thread {
      %3: f32 = literal 5
      store %y[j] = %3 lanewise
    }
  }
  phase {
    for l in 0..n + 1 on cpu_thread {
      %4: f32 = load %w[n - l] lanewise
      store %y[l + 2] = %4 lanewise
    }
  }
}
)";

TEST(CpuPhases, ThoseBesideEachOtherRunAllTheirTasks) {
  const kir::Kernel kernel = kir::parse(kBeside);
  for (int64_t n : {0, 1, 13, 5000}) {
    const Tensor x = numbers(n), like = Tensor::empty(DType::f32, {n + 3});
    const Tensor want = interpreted(kernel, {x}, like, {n});
    for (int threads : {1, 2, 3, 8}) {
      const std::unique_ptr<Device> device = test::cpu_device(threads);
      const Tensor y = Tensor::empty(DType::f32, {n + 3}), w = Tensor::empty(DType::f32, {n + 1});
      test::run(kernel, {x, y, w}, {n}, *device);
      EXPECT_TRUE(test::same_results(want, y)) << n << " elements, " << threads << " threads";
    }
  }
}

// Phases that differ in their buffers and sizes only are one function.
TEST(CpuPhases, EqualPhasesAreOneFunction) {
  std::string text =
      "kernel @list(%a: f32[n] read, %b: f32[m] read, %c: f32[n] write, %d: f32[m] write; n, m) target cpu {\n";
  text += "phase {\nfor i in 0..n on cpu_thread {\n%0: f32 = load %a[i] lanewise\nstore %c[i] = %0 lanewise\n}\n}\n";
  text +=
      "phase beside {\nfor j in 0..m on cpu_thread {\n%1: f32 = load %b[j] lanewise\nstore %d[j] = %1 "
      "lanewise\n}\n}\n}\n";
  const kir::Kernel kernel = kir::parse(text);
  const std::string code = test::text_of(kernel).text;
  size_t bodies = 0;
  for (size_t at = code.find("define internal"); at != code.npos; at = code.find("define internal", at + 1)) ++bodies;
  EXPECT_EQ(bodies, 1u) << code;
  const Tensor a = numbers(7), b = numbers(100);
  const Tensor c = Tensor::empty(DType::f32, {7}), d = Tensor::empty(DType::f32, {100});
  test::run(kernel, {a, b, c, d}, {7, 100});
  EXPECT_TRUE(test::same_results(a, c));
  EXPECT_TRUE(test::same_results(b, d));
}

// A row that is read three times lies on the stack; its extent follows from a size.
TEST(CpuPhases, StackBuffers) {
  for (int lanes : test::lane_counts()) {
    const std::string w = std::to_string(lanes), type = lanes == 1 ? "" : "x" + w;
    for (const char* dtype : {"f32", "bf16", "f64", "bool"}) {
      const std::string wide = std::string(dtype) == "bf16" ? "f32" : dtype;
      const kir::Kernel kernel = kir::parse(
          "kernel @rows(%x: " + std::string(dtype) + "[m*n] read, %y: " + dtype + "[m*n] write; m, n) given n: " + w +
          " in " + w + "..1024 target cpu {\nfor i in 0..m on cpu_thread {\nalloc %row: " + dtype +
          "[n] stack\nfor j in 0..floordiv(n, " + w + ") {\n%0: " + wide + type + " = load %x[i*n + " + w +
          "*j + lane] contiguous\nstore %row[" + w + "*j + lane] = %0 aligned\n}\nfor k in 0..n {\n%1: " + wide +
          " = load %row[n - 1 - k] lanewise\nstore %y[i*n + k] = %1 lanewise\n}\n}\n}\n");
      const int64_t m = 3, n = 4 * lanes;
      std::vector<double> values;
      for (int64_t i = 0; i < m * n; ++i) values.push_back(std::string(dtype) == "bool" ? i % 3 == 0 : double(i % 7));
      const Tensor x = Tensor::from_doubles(*parse_dtype(dtype), {m * n}, values);
      const Tensor y = Tensor::empty(x.dtype, {m * n});
      test::run(kernel, {x, y}, {m, n});
      const Tensor want = interpreted(kernel, {x}, y, {m, n});
      EXPECT_EQ(want.to_doubles(), y.to_doubles()) << dtype << " x" << lanes;
      EXPECT_EQ(y.at(0), x.at(n - 1));
    }
  }
}

TEST(CpuPhases, WritersKnowNoReductions) {
  const kir::Kernel kernel = kir::parse("kernel @k() target cpu {\n%0: f32 = start sum\n}\n");
  try {
    test::text_of(kernel);
    FAIL();
  } catch (const InternalError& error) {
    const std::string words = "kernel @k: `%0: f32 = start sum` is for pass expand_reductions to replace";
    EXPECT_NE(error.message().find(words), std::string::npos) << error.message();
  }
  const kir::Kernel lanes = kir::parse("kernel @k() target cpu {\nfor j in 0..8 on lanes {\n}\n}\n");
  EXPECT_THROW(test::text_of(lanes), InternalError);
}

// The interpreter says what compiled kernels do, bit for bit where they compute alike.
TEST(CpuPhases, InterpretedValuesAreThoseOfTheCpu) {
  const auto body = [](test::KernelBuilder& b, const std::vector<kir::Value>& v) {
    const kir::Value c =
        b.convert(b.round(b.compute(Pointwise::mul, {v[0], v[1]}), DType::bf16), DType::i32, v[0].lanes);
    const kir::Value back =
        b.convert(b.compute(Pointwise::bitwise_and, {c, b.literal(DType::i32, 13, c.lanes)}), DType::f32, c.lanes);
    const kir::Value less = b.compute(Pointwise::lt, {v[0], v[1]});
    return b.compute(Pointwise::add, {b.compute(Pointwise::where, {less, v[0], back}), v[1]});
  };
  for (int lanes : test::lane_counts()) {
    for (test::Style style : {test::Style::contiguous, test::Style::lanewise}) {
      for (DType out : {DType::f32, DType::f16, DType::f8e4m3}) {
        const kir::Kernel kernel = test::pointwise_kernel({DType::f32, DType::bf16}, out, lanes, style, body);
        const int64_t n = 32;
        std::vector<double> values;
        for (int64_t i = 0; i < n; ++i) values.push_back(double(i) - 11.25);
        const Tensor x = Tensor::from_doubles(DType::f32, {n}, values),
                     z = Tensor::from_doubles(DType::bf16, {n}, values);
        const Tensor y = Tensor::empty(out, {n});
        test::run(kernel, {x, z, y}, {n});
        EXPECT_EQ(interpreted(kernel, {x, z}, y, {n}).to_doubles(), y.to_doubles()) << lanes << " " << name(out);
      }
    }
  }
}

}  // namespace
}  // namespace plait
