// Rows that the threads of one block do not hold in registers: on sm_80 they lie in shared memory, from sm_90 on the
// blocks of a cluster have them together. Memory is read once, and what is computed agrees with the reference.
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

struct LongCase {
  const char* name;
  const char* inputs;  // of b rows of n in T
  const char* output;
  const char* body;
  int64_t read_twice;  // inputs
};

constexpr LongCase kLong[] = {
    {"softmax", "%x", "%y", "%y = softmax(%x, dim = 1)", 1},
    {"normalised", "%x", "%y",
     "%m, %v = var_mean(%x, dims = [1], keepdim = true, correction = 0)\n"
     "%y = mul(sub(%x, %m), rsqrt(add(%v, 0.25)))",
     1},
    {"backward", "%x, %g", "%d",
     "%p = mul(%x, %g)\n%s = sum(%p, dims = [1], keepdim = true)\n%d = mul(%x, sub(%g, %s))", 2},
};

// `schedule`: of a segment of its own; empty: none is stated.
std::string text_of(const LongCase& c, const std::string& given, const std::string& schedule) {
  std::string inputs = c.inputs, body = c.body;
  for (size_t at = 0; (at = inputs.find_first_of("xg", at)) != std::string::npos; at += 2)
    inputs.insert(at + 1, ": T[b, n]");
  if (!schedule.empty())
    body = fmt::format("segment @s ({}) -> ({}) schedule {} {{\n{}\n}}", c.inputs, c.output, schedule, body);
  return fmt::format("let b = 2, n = 5, T = f32\n{}fusion @f ({}) -> ({}) {{\n{}\n}}\n", given, inputs, c.output, body);
}

// What the kernels of a run did.
struct RunOfRows {
  CaseResult result;
  uint64_t sectors = 0, least = 0;
  std::string schedule;
};

RunOfRows run(const std::string& text, const char* device, const char* dtype, int64_t b, const std::string& n) {
  CaseOptions how;
  how.device = device;
  how.set = {{"T", dtype}, {"b", std::to_string(b)}, {"n", n}};
  how.options.poison = true;
  meter_simulated_gpus(true);
  take_meters();
  RunOfRows out{run_case(text, how)};
  for (const KernelMeter& m : take_meters()) {
    out.sectors += m.sectors;
    out.least += m.least_sectors;
  }
  meter_simulated_gpus(false);
  for (const KernelReport& k : out.result.report.kernels) out.schedule += k.schedule;
  return out;
}

class LongRowsOnSim : public ::testing::TestWithParam<LongCase> {
 protected:
  void SetUp() override {
    if (const std::string why = testing::why_no_device("sim:sm_80"); !why.empty()) GTEST_SKIP() << why;
  }
};

INSTANTIATE_TEST_SUITE_P(All, LongRowsOnSim, ::testing::ValuesIn(kLong),
                         [](const auto& info) { return std::string(info.param.name); });

TEST_P(LongRowsOnSim, AreReadOnce) {
  const LongCase& c = GetParam();
  for (const auto& [dtype, bytes] : {std::pair{"f32", 4}, std::pair{"bf16", 2}})
    for (const char* device : {"sim:sm_80", "sim:sm_90a"}) {
      const bool clusters = std::string(device) == "sim:sm_90a";
      const std::string text = text_of(c, "", clusters ? "" : "norm(split = 0)");  // few rows are split
      const int64_t fits = (clusters ? 512 << 10 : 160 << 10) / (bytes * c.read_twice);
      for (int64_t n : {fits, fits - 1024 - 32}) {
        const RunOfRows r = run(text, device, dtype, 2, std::to_string(n));
        const std::string where = fmt::format("{} of {} in {} on {}, {}", c.name, n, dtype, device, r.schedule);
        EXPECT_TRUE(r.result.ok) << where << ": " << r.result.message;
        EXPECT_EQ(r.result.kernels, 1) << where;
        EXPECT_NE(r.schedule.find(clusters ? "cluster = " : "shared = "), std::string::npos) << where;
        EXPECT_LE(static_cast<double>(r.sectors), 1.02 * static_cast<double>(r.least)) << where;
      }
    }
}

// Of odd lengths, elements by themselves; of sizes that are known, and symbols; one row, and more than a few.
TEST_P(LongRowsOnSim, OfAnyLength) {
  const LongCase& c = GetParam();
  for (const char* device : {"sim:sm_80", "sim:sm_90a"})
    for (const auto& [n, b] :
         {std::pair{"16385", 3}, std::pair{"20001", 1}, std::pair{"20480", 130}, std::pair{"50257", 2}})
      for (const bool known : {true, false}) {
        const std::string given = known ? fmt::format("given b = {}, n = {}\n", b, n) : "";
        const RunOfRows r = run(text_of(c, given, ""), device, "bf16", b, n);
        EXPECT_TRUE(r.result.ok) << c.name << " of " << n << " on " << device << ": " << r.result.message;
      }
}

// Segments that share a launch have their own shared memory, each, also that which other blocks of a cluster read.
TEST(LongRowsOnSim, JoinOthers) {
  const char* const texts[] = {
      "fusion @f (%x: f32[b, n]) -> (%y) {\n%l = logsumexp(%x, dims = [1])\n%g = amax(%x, dims = [1])\n"
      "%y = mean(sub(%l, %g))\n}\n",
      "fusion @f (%x: f32[b, n]) -> (%p, %y) {\n%p = softmax(%x, dim = 1)\n%s = amax(%p, dims = [1])\n"
      "%y = sum(%s, dims = [0])\n}\n",
      "fusion @f (%x: f32[b, n], %z: f32[b, k]) -> (%p, %s) {\n%p = softmax(%x, dim = 1)\n"
      "%s = softmax(%z, dim = 1)\n}\n",
  };
  for (const char* device : {"sim:sm_90a", "sim:sm_80"}) {
    if (const std::string why = testing::why_no_device(device); !why.empty()) GTEST_SKIP() << why;
    for (const std::string text : texts) {
      CaseOptions how;
      how.device = device;
      how.compare_one_rank = false;
      const bool other = text.find("k]") != std::string::npos;
      const CaseResult result =
          run_case(fmt::format("let b = 3, n = 20000{}\n{}", other ? ", k = 40000" : "", text), how);
      EXPECT_TRUE(result.ok) << device << ": " << text << result.message;
    }
  }
}

TEST(LongRowsOnSim, PinnedNumbersAreObeyedOrRefused) {
  if (const std::string why = testing::why_no_device("sim:sm_80"); !why.empty()) GTEST_SKIP() << why;
  const auto text = [](const std::string& numbers) {
    return fmt::format(
        "let b = 3, n = 2000\nfusion @f (%x: f32[b, n]) -> (%y) {{\nsegment @s (%x) -> (%y) schedule norm({}) {{\n"
        "%y = softmax(%x, dim = 1)\n}}\n}}\n",
        numbers);
  };
  const auto refusal = [&](const char* device, const std::string& numbers) -> std::string {
    CaseOptions how;
    how.device = device;
    try {
      const CaseResult result = run_case(text(numbers), how);
      return result.ok ? result.report.kernels[0].schedule : result.message;
    } catch (const UserError& e) {
      return e.what();
    }
  };
  const std::string base = "vector = 4, rows = 1, parts = 1, threads = 128, ";
  EXPECT_NE(refusal("sim:sm_80", base + "keep = 0, shared = 2048").find("shared = 2048"), std::string::npos);
  EXPECT_NE(refusal("sim:sm_90a", base + "cluster = 4").find("cluster = 4"), std::string::npos);
  EXPECT_NE(refusal("sim:sm_80", base + "keep = 0, shared = 2000").find("no whole parts of 512"), std::string::npos);
  EXPECT_NE(refusal("sim:sm_80", base + "keep = 0, shared = 1024").find("rows are longer"), std::string::npos);
  EXPECT_NE(refusal("sim:sm_80", base + "keep = 0, shared = 51200").find("fit"), std::string::npos);
  EXPECT_NE(refusal("sim:sm_80", base + "cluster = 4").find("clusters are of sm_90 and later"), std::string::npos);
  EXPECT_NE(refusal("cpu", "shared = 2048").find("for GPUs"), std::string::npos);
  EXPECT_NE(refusal("cpu", "cluster = 2").find("for GPUs"), std::string::npos);
  EXPECT_NE(refusal("sim:sm_80", base + "each = 4").find("is the same for every row"), std::string::npos);
}

}  // namespace
}  // namespace plait
