// Sums over the rows beside what is computed of each row, in one kernel of a GPU: blocks have rows one after another,
// their threads a state for each of their columns.
#include <gtest/gtest.h>

#include <fmt/core.h>

#include "base/error.h"
#include "session/devices.h"
#include "support/run_case.h"

namespace plait {
namespace {

using testing::CaseOptions;
using testing::CaseResult;
using testing::run_case;

struct SumCase {
  const char* name;
  const char* inputs;
  const char* names;  // of these
  const char* outputs;
  const char* body;
};

constexpr SumCase kSums[] = {
    {"both_ways", "%x: T[b, n]", "%x", "%r, %c", "%r = sum(%x, dims = [1])\n%c = sum(%x, dims = [0])"},
    {"greatest_of_columns", "%x: T[b, n]", "%x", "%y, %c", "%y = softmax(%x, dim = 1)\n%c = amax(%x, dims = [0])"},
    {"rms_norm_backward", "%x: T[b, n], %g: T[b, n], %w: T[n]", "%x, %g, %w", "%dx, %dw",
     "%q = mean(square(%x), dims = [1], keepdim = true)\n%r = rsqrt(add(%q, 0.01))\n%h = mul(%x, %r)\n"
     "%gw = mul(%g, %w)\n%s = mean(mul(%gw, %h), dims = [1], keepdim = true)\n"
     "%dx = mul(%r, sub(%gw, mul(%h, %s)))\n%dw = sum(mul(%g, %h), dims = [0])"},
    {"layer_norm_backward", "%x: T[b, n], %g: T[b, n], %w: T[n], %m: f32[b, 1], %r: f32[b, 1]", "%x, %g, %w, %m, %r",
     "%dx, %dw, %dv",
     "%h = mul(sub(%x, %m), %r)\n%gw = mul(%g, %w)\n%a = mean(%gw, dims = [1], keepdim = true)\n"
     "%s = mean(mul(%gw, %h), dims = [1], keepdim = true)\n%dx = mul(%r, sub(sub(%gw, %a), mul(%h, %s)))\n"
     "%dw = sum(mul(%g, %h), dims = [0])\n%dv = sum(%g, dims = [0])"},
};

// `schedule`: of a segment of its own; empty: none is stated.
std::string text_of(const SumCase& c, const std::string& given, const std::string& schedule = "") {
  std::string body = c.body;
  if (!schedule.empty())
    body = fmt::format("segment @s ({}) -> ({}) schedule {} {{\n{}\n}}", c.names, c.outputs, schedule, body);
  return fmt::format("let b = 300, n = 5, T = f32\n{}fusion @f ({}) -> ({}) {{\n{}\n}}\n", given, c.inputs, c.outputs,
                     body);
}

class ColumnSumsOnSim : public ::testing::TestWithParam<SumCase> {
 protected:
  void SetUp() override {
    if (const std::string why = testing::why_no_device("sim:sm_80"); !why.empty()) GTEST_SKIP() << why;
  }
};

INSTANTIATE_TEST_SUITE_P(All, ColumnSumsOnSim, ::testing::ValuesIn(kSums),
                         [](const auto& info) { return std::string(info.param.name); });

// Rows that several dims make, of known and of symbolic extents, whose cuts simplify in their own ways.
TEST(ColumnSumsOfDimsOnSim, AgreeWithTheReference) {
  struct Dims {
    const char *shape, *row, *kept;
  };
  for (const Dims& d : {Dims{"b, 3*n", "1", "0"},
                        {"b, n, 5", "1, 2", "0"},
                        {"b, n, 4", "1, 2", "0"},
                        {"b, n, m, k", "1, 2, 3", "0"},
                        {"b, k, n, 5", "2, 3", "0, 1"},
                        {"b, n, 3, m", "1, 2, 3", "0"}})
    for (const char* device : {"sim:sm_80", "sim:sm_90a"})
      for (const char* schedule : {"", "norm(vector = 4, parts = 1)"}) {
        if (const std::string why = testing::why_no_device(device); !why.empty()) GTEST_SKIP() << why;
        CaseOptions how;
        how.device = device;
        how.compare_one_rank = false;
        const std::string shape = d.shape,
                          body = fmt::format("%r = sum(%x, dims = [{}])\n%c = sum(%x, dims = [{}])\n", d.row, d.kept);
        if (*schedule != 0 && shape.find('5') == std::string::npos) continue;
        const std::string text = fmt::format(
            "let b = 1030{}{}{}\nfusion @f (%x: f32[{}]) -> (%r, %c) {{\n{}}}\n", ", n = 8",
            shape.find('m') == std::string::npos ? "" : ", m = 4",
            shape.find('k') == std::string::npos ? "" : ", k = 2", shape,
            *schedule == 0 ? body : fmt::format("segment @s (%x) -> (%r, %c) schedule {} {{\n{}}}\n", schedule, body));
        const CaseResult result = run_case(text, how);
        EXPECT_TRUE(result.ok) << device << ": " << text << result.message;
      }
}

TEST_P(ColumnSumsOnSim, AgreeWithTheReferenceInOneKernel) {
  const SumCase& c = GetParam();
  int number = 0;
  for (int64_t b : {1023, 1024, 1030, 1541})
    for (int64_t n : {1, 31, 32, 33, 96, 255, 257, 1024}) {
      if (n > 100 && b != (n == 1024 ? 1030 : 1541)) continue;
      CaseOptions how;
      how.device = number % 2 == 0 ? "sim:sm_80" : "sim:sm_90a";
      const char* dtype = number++ / 2 % 2 == 0 ? "f32" : "bf16";
      how.seed = static_cast<uint64_t>(b * 10000 + n);
      how.set = {{"T", dtype}, {"b", std::to_string(b)}, {"n", std::to_string(n)}};
      how.options.poison = true;
      const CaseResult result = run_case(text_of(c, ""), how);
      const std::string schedule = result.report.kernels.empty() ? "" : result.report.kernels[0].schedule;
      const std::string where =
          fmt::format("{}, {} rows of {} in {} on {}, {}", c.name, b, n, dtype, how.device, schedule);
      EXPECT_TRUE(result.ok) << where << ": " << result.message;
      EXPECT_EQ(result.kernels, 1) << where;
      EXPECT_EQ(schedule.find("each = ") != std::string::npos, b >= 1024) << where;
    }
}

// Rows once, weights once for each block, the sums of blocks written and read.
TEST_P(ColumnSumsOnSim, ReadMemoryOnce) {
  const SumCase& c = GetParam();
  for (const char* device : {"sim:sm_80", "sim:sm_90a"}) {
    CaseOptions how;
    how.device = device;
    how.set = {{"b", "2048"}, {"n", "256"}};
    meter_simulated_gpus(true);
    take_meters();
    const CaseResult result = run_case(text_of(c, "", "norm(each = 64)"), how);
    uint64_t sectors = 0, least = 0;
    for (const KernelMeter& m : take_meters()) {
      sectors += m.sectors;
      least += m.least_sectors;
    }
    meter_simulated_gpus(false);
    EXPECT_TRUE(result.ok) << c.name << ": " << result.message;
    EXPECT_EQ(result.report.launches, 2) << c.name;
    EXPECT_LE(static_cast<double>(sectors), 1.1 * static_cast<double>(least)) << c.name << " on " << device;
  }
}

TEST_P(ColumnSumsOnSim, OfSizesThatAreKnownAndOfNothing) {
  const SumCase& c = GetParam();
  for (const auto& [b, n] : {std::pair{1100, 72}, std::pair{0, 40}, std::pair{1100, 0}}) {
    CaseOptions how;
    how.device = "sim:sm_90a";
    how.set = {{"T", "f16"}, {"b", std::to_string(b)}, {"n", std::to_string(n)}};
    for (const bool known : {true, false}) {
      const std::string given = known ? fmt::format("given b = {}, n = {}\n", b, n) : "";
      const CaseResult result = run_case(text_of(c, given), how);
      EXPECT_TRUE(result.ok || result.undecided) << c.name << ", " << b << " rows of " << n << ": " << result.message;
    }
  }
}

TEST(ColumnSumsOnSim, PinnedNumbersAreObeyedOrRefused) {
  if (const std::string why = testing::why_no_device("sim:sm_80"); !why.empty()) GTEST_SKIP() << why;
  const auto outcome = [&](const std::string& numbers) -> std::string {
    CaseOptions how;
    how.device = "sim:sm_80";
    how.set = {{"b", "1030"}, {"n", "200"}};
    try {
      const CaseResult result = run_case(text_of(kSums[0], "", "norm(" + numbers + ")"), how);
      return result.ok ? result.report.kernels[0].schedule : result.message;
    } catch (const UserError& e) {
      return e.what();
    }
  };
  EXPECT_NE(outcome("vector = 2, threads = 32, parts = 4, each = 8").find("each = 8"), std::string::npos);
  EXPECT_NE(outcome("vector = 2, threads = 32, parts = 2").find("threads do not have rows of"), std::string::npos);
  EXPECT_NE(outcome("rows = 2").find("a block has one row after another"), std::string::npos);
  EXPECT_NE(outcome("split = 64").find("tasks have whole rows"), std::string::npos);
  EXPECT_NE(outcome("threads = 16").find("threads do not have rows of"), std::string::npos);
}

}  // namespace
}  // namespace plait
