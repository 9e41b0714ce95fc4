// Scans of long rows in one launch of a GPU, whose blocks wait for those in front of them: all scans, both directions,
// rows and columns, of every size, run after run, within graphs and beside each other.
#include <gtest/gtest.h>

#include <fmt/core.h>

#include "backend/cuda/nvrtc.h"
#include "plait.h"
#include "session/devices.h"
#include "support/run_case.h"

namespace plait {
namespace {

class ScansInTurnsOnSim : public ::testing::TestWithParam<const char*> {
 protected:
  void SetUp() override {
    std::string why_not;
    if (!nvrtc_available(&why_not)) GTEST_SKIP() << "no NVRTC: " << why_not;
  }
  Compiled compiled(const std::string& text, const char* device = GetParam()) const {
    CompileOptions how;
    how.device = device;
    return compile(*parse_fusion(text), how);
  }
};

INSTANTIATE_TEST_SUITE_P(All, ScansInTurnsOnSim, ::testing::Values("sim:sm_80", "sim:sm_90a"),
                         [](const auto& info) { return std::string(info.param).substr(4); });

Tensor numbers(DType dtype, std::vector<int64_t> shape, int64_t first) {
  std::vector<double> values;
  for (int64_t i = 0; i < element_count(shape); ++i)
    values.push_back(static_cast<double>((first + 7919 * i + i / 16) % 5 - 2));
  return Tensor::from_doubles(dtype, std::move(shape), values);
}

size_t launches(const Compiled& compiled) {
  size_t out = 0;
  for (const auto& step : compiled.program().steps) out += as<LaunchStep>(*step) != nullptr;
  return out;
}

const char* const kRows =
    "let b = 2, n = 5\nfusion @f (%x: {0}[b, n]) -> (%y) {{\n"
    "  segment @s (%x) -> (%y) schedule norm(threads = 32, split = {1}) {{ %y = {2} }}\n}}\n";

// Exact in any order: the bits of a CPU.
TEST_P(ScansInTurnsOnSim, OneLaunchWithTheBitsOfACpu) {
  for (const char* dtype : {"i32", "i64", "f32", "bf16"})
    for (const char* scan : {"cumsum(%x, dim = 1)", "cumsum(%x, dim = 1, reverse = true)"}) {
      Compiled turns = compiled(fmt::format(fmt::runtime(kRows), dtype, 256, scan));
      Compiled whole = compiled(
          fmt::format("let b = 2, n = 5\nfusion @f (%x: {}[b, n]) -> (%y) {{ %y = {} }}\n", dtype, scan), "cpu");
      for (const auto& [b, n] : std::vector<std::pair<int64_t, int64_t>>{{1, 3000}, {3, 1500}, {2, 257}, {2, 100}}) {
        const Tensor x = numbers(*parse_dtype(dtype), {b, n}, b);
        EXPECT_EQ(turns.run({{"x", x}}).at("y").to_doubles(), whole.run({{"x", x}}).at("y").to_doubles())
            << dtype << " " << scan << " " << b << ", " << n;
      }
      EXPECT_EQ(launches(turns), 1u) << dtype << " " << scan;
    }
}

TEST_P(ScansInTurnsOnSim, EveryScan) {
  for (const char* scan : {"%p = add(mul(%x, 0.001), 1)\n    %y = cumprod(%p, dim = 1)", "%y, %z = cummax(%x, dim = 1)",
                           "%y, %z = cummin(%x, dim = 1)", "%y = logcumsumexp(%x, dim = 1)"}) {
    const bool two = std::string(scan).find("%z") != std::string::npos;
    for (const char* dtype : {"f32", "f64", "f16"}) {
      testing::CaseOptions how;
      how.device = GetParam();
      how.compare_one_rank = false;
      for (int64_t n : {2000, 515}) {
        const std::string text = fmt::format(
            "fusion @f (%x: {0}[2, {1}]) -> (%y{2}) {{\n  segment @s (%x) -> (%y{2}) schedule norm(threads = 32, "
            "split = 256) {{\n    {3}\n  }}\n}}\n",
            dtype, n, two ? ", %z" : "", scan);
        const testing::CaseResult result = testing::run_case(text, how);
        EXPECT_TRUE(result.ok) << result.message << "\n" << text;
      }
    }
  }
}

TEST_P(ScansInTurnsOnSim, Columns) {
  Compiled sums = compiled("let b = 5, n = 5\nfusion @f (%x: i32[b, n]) -> (%y) { %y = cumsum(%x, dim = 0) }\n");
  for (const auto& [b, n] :
       std::vector<std::pair<int64_t, int64_t>>{{2000, 70}, {600, 33}, {513, 1}, {4, 100}, {0, 3}, {2000, 0}}) {
    const Tensor x = numbers(DType::i32, {b, n}, b);
    const std::vector<double> got = sums.run({{"x", x}}).at("y").to_doubles(), all = x.to_doubles();
    std::vector<double> want = all;
    for (size_t i = static_cast<size_t>(n); i < want.size(); ++i) want[i] += want[i - static_cast<size_t>(n)];
    EXPECT_EQ(got, want) << b << ", " << n;
  }
}

TEST_P(ScansInTurnsOnSim, RunAfterRunOfManySizes) {
  Compiled sums = compiled("let n = 5\nfusion @f (%x: i32[n]) -> (%y) { %y = cumsum(%x, dim = 0) }\n");
  for (int64_t n : {40000, 70001, 16385, 100, 1, 0, 40000, 98304})
    for (int64_t first : {0, 5}) {
      const Tensor x = numbers(DType::i32, {n}, first);
      std::vector<double> want = x.to_doubles();
      for (size_t i = 1; i < want.size(); ++i) want[i] += want[i - 1];
      EXPECT_EQ(sums.run({{"x", x}}).at("y").to_doubles(), want) << n;
    }
}

// Memory of a device that a caller keeps until the end.
class KeptByCaller : public Allocator {
 public:
  explicit KeptByCaller(Device& device) : device_(device) {}
  std::shared_ptr<Memory> allocate(size_t bytes) override {
    return kept_.emplace_back(device_.allocator().allocate(bytes));
  }

 private:
  Device& device_;
  std::vector<std::shared_ptr<Memory>> kept_;
};

// Each launch of a graph leaves its marks as it found them.
TEST_P(ScansInTurnsOnSim, LaunchesOfAGraph) {
  Compiled sums = compiled("let n = 5\nfusion @f (%x: i32[n]) -> (%y) { %y = cumsum(%x, dim = 0) }\n");
  Device& device = find_device(GetParam(), {});
  const auto stream = device.make_stream();
  const Tensor x = numbers(DType::i32, {70000}, 1);
  const auto memory = device.allocator().allocate_on(x.bytes(), stream.get());
  stream->copy(memory->data(), x.data(), x.bytes());
  Tensor lent = x;
  lent.memory = memory;
  KeptByCaller kept(device);
  RunOptions options;
  options.stream = stream->native();
  options.allocator = &kept;
  ASSERT_TRUE(stream->begin_capture());
  const Tensor y = sums.run({{"x", lent}}, options).at("y");
  const auto graph = stream->end_capture();
  ASSERT_NE(graph, nullptr);
  double want = 0;
  for (double each : x.to_doubles()) want += each;
  for (int run = 0; run < 3; ++run) {
    graph->launch(*stream);
    std::vector<int64_t> got(70000);
    stream->copy(got.data(), y.data(), got.size() * sizeof(int64_t));
    stream->synchronize();
    EXPECT_EQ(got.back(), want) << run;
  }
}

// The same bits in every run, whichever blocks come first; those of floats too.
TEST_P(ScansInTurnsOnSim, InAnyOrderOfBlocks) {
  const std::string text = fmt::format(fmt::runtime(kRows), "f32", 256, "cumsum(%x, dim = 1)");
  std::vector<double> values;
  for (int i = 0; i < 6000; ++i) values.push_back(1.0 / (1 + i % 977));
  const Tensor x = Tensor::from_doubles(DType::f32, {2, 3000}, values);
  Compiled first = compiled(text);
  const std::vector<double> want = first.run({{"x", x}}).at("y").to_doubles();
  Device& device = find_device(GetParam(), {});
  for (const uint64_t seed : {1, 2, 3, 4, 5}) {
    set_simulation_seed(device, seed);
    EXPECT_EQ(first.run({{"x", x}}).at("y").to_doubles(), want) << seed;
  }
  set_simulation_seed(device, 0);
}

}  // namespace
}  // namespace plait
