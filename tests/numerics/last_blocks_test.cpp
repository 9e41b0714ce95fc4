// What the last block of a launch does with the results of all: one launch, run after run, of every size, also where
// one kernel has several launches in a program.
#include <gtest/gtest.h>

#include <fmt/core.h>

#include "backend/cuda/nvrtc.h"
#include "plait.h"
#include "session/devices.h"
#include "support/run_case.h"

namespace plait {
namespace {

class LastBlocksOnSim : public ::testing::TestWithParam<const char*> {
 protected:
  void SetUp() override {
    std::string why_not;
    if (!nvrtc_available(&why_not)) GTEST_SKIP() << "no NVRTC: " << why_not;
  }
  Compiled compiled(const std::string& text) const {
    CompileOptions how;
    how.device = GetParam();
    return compile(*parse_fusion(text), how);
  }
};

INSTANTIATE_TEST_SUITE_P(All, LastBlocksOnSim, ::testing::Values("sim:sm_80", "sim:sm_90a"),
                         [](const auto& info) { return std::string(info.param).substr(4); });

// Small whole numbers, whose sums are exact in any order.
Tensor numbers(std::vector<int64_t> shape, int64_t first) {
  std::vector<double> values;
  for (int64_t i = 0; i < element_count(shape); ++i) values.push_back(static_cast<double>((first + 3 * i) % 17 - 8));
  return Tensor::from_doubles(DType::f32, std::move(shape), values);
}

double sum_of(const Tensor& t) {
  double out = 0;
  for (double each : t.to_doubles()) out += each;
  return out;
}

TEST_P(LastBlocksOnSim, RunAfterRunOfManySizes) {
  Compiled sums = compiled("let n = 5\nfusion @sums (%x: f32[n]) -> (%s) { %s = sum(%x, dims = [0]) }\n");
  for (int64_t n : {40000, 70001, 16385, 100, 1, 0, 40000, 16384})
    for (int64_t first : {0, 5}) {
      const Tensor x = numbers({n}, first);
      EXPECT_EQ(sums.run({{"x", x}}).at("s").to_doubles().at(0), sum_of(x)) << n;
    }
}

TEST_P(LastBlocksOnSim, OfEachGroupOfColumns) {
  Compiled sums = compiled("let b = 5, n = 5\nfusion @sums (%x: f32[b, n]) -> (%s) { %s = sum(%x, dims = [0]) }\n");
  for (const auto& [b, n] :
       std::vector<std::pair<int64_t, int64_t>>{{2000, 70}, {600, 33}, {513, 1}, {4, 100}, {0, 3}}) {
    const Tensor x = numbers({b, n}, b);
    const std::vector<double> got = sums.run({{"x", x}}).at("s").to_doubles(), all = x.to_doubles();
    for (int64_t j = 0; j < n; ++j) {
      double want = 0;
      for (int64_t i = 0; i < b; ++i) want += all[static_cast<size_t>(i * n + j)];
      EXPECT_EQ(got.at(static_cast<size_t>(j)), want) << b << ", " << n << ": " << j;
    }
  }
}

// Memory of a device that a caller keeps until the end.
class KeptMemory : public Allocator {
 public:
  explicit KeptMemory(Device& device) : device_(device) {}
  std::shared_ptr<Memory> allocate(size_t bytes) override {
    return kept_.emplace_back(device_.allocator().allocate(bytes));
  }

 private:
  Device& device_;
  std::vector<std::shared_ptr<Memory>> kept_;
};

// On a caller's stream that is being captured, without a run before.
TEST_P(LastBlocksOnSim, FirstRunWithinACapture) {
  Compiled sums = compiled("let n = 5\nfusion @sums (%x: f32[n]) -> (%s) { %s = sum(%x, dims = [0]) }\n");
  Device& device = find_device(GetParam(), {});
  const auto stream = device.make_stream();
  const Tensor x = numbers({50000}, 1);
  const auto memory = device.allocator().allocate_on(x.bytes(), stream.get());
  stream->copy(memory->data(), x.data(), x.bytes());
  Tensor lent = x;
  lent.memory = memory;
  KeptMemory kept(device);
  RunOptions options;
  options.stream = stream->native();
  options.allocator = &kept;
  ASSERT_TRUE(stream->begin_capture());
  const Tensor s = sums.run({{"x", lent}}, options).at("s");
  const auto graph = stream->end_capture();
  ASSERT_NE(graph, nullptr);
  for (int run = 0; run < 3; ++run) {
    graph->launch(*stream);
    float got = 0;
    stream->copy(&got, s.data(), sizeof got);
    stream->synchronize();
    EXPECT_EQ(got, sum_of(x)) << run;
  }
}

// The same kernel twice, with a product between that is none of plait's.
TEST_P(LastBlocksOnSim, SeveralLaunchesOfAProgram) {
  Compiled sums = compiled(
      "fusion @twice (%x: f32[50000], %w: f32[2, 1]) -> (%s, %u) {\n"
      "  %s = sum(%x, dims = [0])\n  %r = reshape(%s, shape = [1, 1])\n  %p = linear(%r, %w)\n"
      "  %q = sum(%p, dims = [0, 1])\n  %b = broadcast(%q, shape = [50000], dims = [])\n"
      "  %m = mul(%x, %b)\n  %u = sum(%m, dims = [0])\n}\n");
  const Tensor x = numbers({50000}, 2), w = numbers({2, 1}, 3);
  const double s = sum_of(x), of_w = sum_of(w);
  for (int run = 0; run < 3; ++run) {
    const Tensors got = sums.run({{"x", x}, {"w", w}});
    EXPECT_EQ(got.at("s").to_doubles().at(0), s);
    EXPECT_NEAR(got.at("u").to_doubles().at(0), s * s * of_w, 1e-6 * std::abs(s * s * of_w));
  }
  int counters = 0;
  for (const auto& step : sums.program().steps)
    if (const auto* launch = as<LaunchStep>(*step)) counters += static_cast<int>(launch->counters.size());
  EXPECT_GE(counters, 2);
}

// On streams of a caller, which nothing orders: each run counts by itself.
TEST_P(LastBlocksOnSim, RunsOnTwoStreams) {
  Compiled sums = compiled("let n = 5\nfusion @sums (%x: f32[n]) -> (%s) { %s = sum(%x, dims = [0]) }\n");
  Device& device = find_device(GetParam(), {});
  const std::unique_ptr<Stream> streams[] = {device.make_stream(), device.make_stream()};
  const Tensor x[] = {numbers({70000}, 1), numbers({70000}, 4)};
  Tensor lent[] = {x[0], x[1]};
  for (int i = 0; i < 2; ++i) {
    lent[i].memory = device.allocator().allocate_on(x[i].bytes(), streams[i].get());
    streams[i]->copy(lent[i].memory->data(), x[i].data(), x[i].bytes());
  }
  for (int run = 0; run < 3; ++run) {
    Tensor sum[2];
    for (int i = 0; i < 2; ++i) {
      RunOptions options;
      options.stream = streams[i]->native();
      sum[i] = sums.run({{"x", lent[i]}}, options).at("s");
    }
    for (int i = 0; i < 2; ++i) {
      float got = 0;
      streams[i]->copy(&got, sum[i].data(), sizeof got);
      streams[i]->synchronize();
      EXPECT_EQ(got, sum_of(x[i])) << run << ", " << i;
    }
  }
}

// Columns of which there are none, beside another sum.
TEST_P(LastBlocksOnSim, NothingToCount) {
  Compiled sums = compiled(
      "let b = 5, n = 5\nfusion @sums (%x: f32[b, n], %w: f32[b]) -> (%s, %t) {\n"
      "  %s = sum(%x, dims = [0])\n  %t = sum(%w, dims = [0])\n}\n");
  for (const auto& [b, n] : std::vector<std::pair<int64_t, int64_t>>{{2000, 0}, {2000, 40}, {0, 3}}) {
    const Tensor x = numbers({b, n}, 0), w = numbers({b}, 3);
    const Tensors got = sums.run({{"x", x}, {"w", w}});
    EXPECT_EQ(got.at("t").to_doubles().at(0), sum_of(w));
    EXPECT_EQ(sum_of(got.at("s")), sum_of(x));
  }
}

// Kernels that are brought to the device while those in front of them run.
TEST(ProgrammaticLaunches, GiveTheSame) {
  if (const std::string why = testing::why_no_device("sim:sm_90a"); !why.empty()) GTEST_SKIP() << why;
  for (const char* text :
       {"fusion @f (%x: f32[300, 70]) -> (%y) { %y = softmax(%x, dim = 0) }\n",
        "fusion @f (%x: bf16[2000, 70], %g: bf16[70]) -> (%y, %m) {\n  %y = rms_norm(%x, %g, dims = 1, eps = 0.001)\n"
        "  %m = mean(%y, dims = [0, 1])\n}\n",
        "fusion @f (%x: f32[30, 40], %w: f32[50, 40], %i: i64[7] in 0..30) -> (%y) {\n"
        "  %a = relu(linear(%x, %w))\n  %y = index_select(%a, %i, dim = 0)\n}\n"}) {
    testing::CaseOptions how;
    how.device = "sim:sm_90a";
    how.options.programmatic_launch = true;
    const testing::CaseResult result = testing::run_case(text, how);
    EXPECT_TRUE(result.ok) << result.message << "\n" << text;
    for (const char* device : {"sim:sm_80", "sim:sm_90a"}) {
      CompileOptions compile_options;
      compile_options.device = device;
      compile_options.options.programmatic_launch = true;
      const auto fusion = parse_fusion(text);
      Compiled compiled = compile(*fusion, compile_options);
      compiled.prepare(testing::metadata_of(*fusion));
      for (const KernelSlot& kernel : compiled.program().kernels)
        EXPECT_EQ(kernel.code.follows, std::string(device) == "sim:sm_90a") << "older GPUs have none";
    }
  }
}

}  // namespace
}  // namespace plait
