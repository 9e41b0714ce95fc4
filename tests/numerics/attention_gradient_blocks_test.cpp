// Gradients of attention as two kernels of GPUs, one for queries, one for keys and values: bf16 and f16, with masks,
// windows, biases, shared heads, dropout and moves in front, for sizes around their tiles, on both simulated GPUs.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "base/error.h"
#include "session/devices.h"
#include "support/run_case.h"
#include "support/tensor_bits.h"

namespace plait {
namespace {

using testing::CaseOptions;
using testing::CaseResult;
using testing::run_case;

// What is between scores %s and weights, in f32: `kept` where they count, `bias` beside them, `keep` what dropout
// keeps.
struct GradientCase {
  const char* name;
  const char* kept;
  const char* bias = "";
  const char* keep = "";
  const char* inputs = "";
  int shared = 1;    // heads of queries for each of keys
  int launches = 2;  // a condition of keys alone is one more
};

constexpr GradientCase kGradientCases[] = {
    {"plain", ""},
    {"causal", "le(%j, %i)"},
    {"window", "logical_and(le(%j, add(%i, 5)), lt(%i, add(%j, 40)))"},
    {"mask", "%m", "", "", ", %m: bool[b, 1, 1, s, t]"},
    {"bias_and_causal", "le(%j, %i)", "%r", "", ", %r: f32[s, t]"},
    {"of_keys", "lt(%j, %n)", "", "", ", %n: i64[b, 1, 1, 1, 1] in 1..t", 1, 3},
    {"shared_heads", "le(%j, %i)", "", "", "", 3},
    {"dropout", "le(%j, %i)", "", "ge(uniform(shape = [b, h, n, s, t], seed = %seed), 0.25)", ", %seed: u64[]"},
};

struct GradientSizes {
  int b, h, s, t, d, e;
};

std::string text_of_gradient(const GradientCase& c, const char* dtype, const GradientSizes& z) {
  std::string body;
  const auto kept = [&](const std::string& x, const char* otherwise) {
    return *c.kept == 0 ? x : fmt::format("where({}, {}, {})", c.kept, x, otherwise);
  };
  const auto dropped = [&](const char* x) {
    return *c.keep == 0 ? std::string(x) : fmt::format("where(%keep, mul({}, 1.3333), 0.0)", x);
  };
  if (*c.keep != 0) body += fmt::format("%keep = {}\n", c.keep);
  body += "%s0 = mul(matmul(%q, permute(%k, dims = [0, 1, 2, 4, 3]), accumulate = true), 0.25)\n";
  if (*c.bias != 0) body += fmt::format("%s1 = add(%s0, {})\n", c.bias);
  body += fmt::format("%x = mul({}, 1.0)\n", kept(*c.bias != 0 ? "%s1" : "%s0", "-inf"));
  body += fmt::format("%p = mul({}, 1.0)\n", kept("exp(sub(sub(%x, %l), 2.0))", "0.0"));
  body += fmt::format("%w = cast({}, to = T)\n", dropped("%p"));
  body += "%dp0 = matmul(%g, permute(%v, dims = [0, 1, 2, 4, 3]), accumulate = true)\n";
  body += fmt::format("%dp = {}\n", *c.keep == 0 ? "mul(%dp0, 1.0)" : dropped("%dp0"));
  body += fmt::format("%ds = cast({}, to = T)\n", kept("mul(%p, sub(%dp, %z))", "0.0"));
  body +=
      "%dq = cast(mul(matmul(%ds, %k, accumulate = true), 0.25), to = T)\n"
      "%dk = cast(mul(matmul(permute(%ds, dims = [0, 1, 2, 4, 3]), %q, accumulate = true), 0.25), to = T)\n"
      "%dv = matmul(permute(%w, dims = [0, 1, 2, 4, 3]), %g, accumulate = true)\n";
  const char* t = std::string(c.name) == "window" ? "s" : "t";  // a window asks for as many keys as queries
  std::string text = fmt::format(
      "let T = {}, b = {}, h = {}, n = {}, s = {}, {} d = {}, e = {}\n"
      "fusion @f (%g: T[b, h, n, s, e], %q: T[b, h, n, s, d], %k: T[b, h, 1, {}, d], %v: T[b, h, 1, {}, e], "
      "%l: f32[b, h, n, s, 1], %z: f32[b, h, n, s, 1]{}) -> (%dq, %dk, %dv) {{\n"
      "%i = iota(shape = [s, 1], dim = 0)\n%j = iota(shape = [{}], dim = 0)\n{}}}\n",
      dtype, z.b, z.h, c.shared, z.s, *t == 't' ? fmt::format("t = {},", z.t) : "", z.d, z.e, t, t, c.inputs, t, body);
  return text;
}

CaseOptions on_gpu(const std::string& device = "sim:sm_80") {
  CaseOptions how;
  how.device = device;
  how.options.poison = true;
  return how;
}

void PrintTo(const GradientCase& c, std::ostream* out) { *out << c.name; }

class AttentionGradientBlocks : public ::testing::TestWithParam<GradientCase> {
 protected:
  void SetUp() override {
    if (const std::string why = testing::why_no_device("sim:sm_80"); !why.empty()) GTEST_SKIP() << why;
  }
};

INSTANTIATE_TEST_SUITE_P(All, AttentionGradientBlocks, ::testing::ValuesIn(kGradientCases),
                         [](const auto& info) { return std::string(info.param.name); });

TEST_P(AttentionGradientBlocks, AgreeWithTheReferenceInTwoKernels) {
  constexpr GradientSizes kSizes[] = {{1, 2, 16, 16, 16, 16},  {1, 1, 17, 65, 32, 8},    {2, 1, 65, 50, 64, 64},
                                      {1, 1, 130, 33, 40, 48}, {1, 1, 20, 70, 128, 128}, {1, 1, 65, 130, 80, 24}};
  const size_t which = size_t(std::ranges::find(kGradientCases, GetParam().name, &GradientCase::name) - kGradientCases);
  for (size_t i = 0; i < std::size(kSizes); ++i) {
    const GradientSizes& z = kSizes[i];
    if (i % 3 != which % 3) continue;
    const char* dtype = (i + which) % 2 == 0 ? "bf16" : "f16";
    const CaseResult result =
        run_case(text_of_gradient(GetParam(), dtype, z), on_gpu((i + which) % 4 < 2 ? "sim:sm_80" : "sim:sm_90a"));
    EXPECT_TRUE(result.ok) << dtype << ", s = " << z.s << ", t = " << z.t << ", d = " << z.d << ": " << result.message;
    EXPECT_EQ(result.report.launches, GetParam().launches) << dtype << ", s = " << z.s << ", t = " << z.t;
    EXPECT_EQ(result.report.library_calls, 0);
    EXPECT_LT(result.report.arena_bytes, 2 * z.s * z.t) << "scores lie in no memory";
  }
}

// NaN, infinities, huge and tiny numbers reach what they reach in the reference, through what is left out too.
TEST_P(AttentionGradientBlocks, SpecialNumbersReachWhatTheyReach) {
  const bool half = GetParam().name[0] < 'n';
  CaseOptions how = on_gpu();
  how.seed = half ? 2 : 1;
  how.specials = true;
  const GradientSizes z =
      GetParam().shared > 1 ? GradientSizes{1, 1, 70, 70, 16, 16} : GradientSizes{1, 1, 150, 150, 16, 16};
  const CaseResult result = run_case(text_of_gradient(GetParam(), half ? "f16" : "bf16", z), how);
  EXPECT_TRUE(result.ok || result.undecided) << result.message;
  EXPECT_EQ(result.report.launches, GetParam().launches);
}

TEST(AttentionGradientOf, IsTheSameBitsAgain) {
  if (const std::string why = testing::why_no_device("sim:sm_80"); !why.empty()) GTEST_SKIP() << why;
  const std::string text = text_of_gradient(kGradientCases[4], "bf16", {1, 1, 70, 70, 32, 32});
  const auto one = testing::bits_of(run_case(text, on_gpu()).outputs);
  EXPECT_TRUE(testing::bits_of(run_case(text, on_gpu("sim:sm_90a")).outputs) == one);
}

std::vector<KernelMeter> gradient_meters(const std::string& text) {
  meter_simulated_gpus(true);
  take_meters();
  const CaseResult result = run_case(text, on_gpu());
  std::vector<KernelMeter> out = take_meters();
  meter_simulated_gpus(false);
  EXPECT_TRUE(result.ok) << result.message;
  EXPECT_EQ(out.size(), 2u);
  return out;
}

// No access of shared memory waits for another bank, nor do those of values that are left out.
TEST(AttentionGradientOf, BanksDoNotConflict) {
  if (const std::string why = testing::why_no_device("sim:sm_80"); !why.empty()) GTEST_SKIP() << why;
  for (const int features : {32, 64, 128})
    for (const KernelMeter& meter :
         gradient_meters(text_of_gradient(kGradientCases[1], "bf16", {1, 1, 144, 144, features, features})))
      EXPECT_EQ(meter.shared_passes, meter.least_passes) << features;
}

// Of 64 elements, for queries: three products of 16 rows, tiles of 64 keys; for keys and values: four, of 32 queries;
// each in both stages, and no matrix is loaded for more than one use.
TEST(AttentionGradientOf, MultipliesMatricesOnce) {
  if (const std::string why = testing::why_no_device("sim:sm_80"); !why.empty()) GTEST_SKIP() << why;
  const auto fusion = parse_fusion(text_of_gradient(kGradientCases[0], "bf16", {1, 1, 256, 256, 64, 64}));
  CompileOptions options;
  options.device = "sim:sm_80";
  options.until = "kir";
  std::string text;
  try {
    compile(*fusion, options).prepare(testing::metadata_of(*fusion));
  } catch (const StoppedAt& stop) {
    text = stop.text;
  }
  const auto count = [&](const std::string& what) {
    size_t out = 0;
    for (size_t at = text.find(what); at != std::string::npos; at = text.find(what, at + 1)) ++out;
    return out;
  };
  EXPECT_EQ(count("mma %"), 2u * (3 * 4 * 8 + 4 * 2 * 8)) << text;
  EXPECT_EQ(count("load_matrix %"), 2u * (3 * 4 * 4 + 4 * 2 * 4));
  EXPECT_EQ(count(" workspace"), 0u);
}

// Sums of heads of 256 elements do not fit into registers, nor tiles of any number of keys into what a GPU has.
TEST(AttentionGradientOf, OtherSizesAreProducts) {
  if (const std::string why = testing::why_no_device("sim:sm_80"); !why.empty()) GTEST_SKIP() << why;
  for (const GradientSizes& z :
       {GradientSizes{1, 1, 20, 33, 256, 256}, {1, 1, 20, 33, 12, 12}, {1, 1, 8, 33, 16, 16}}) {
    const CaseResult result = run_case(text_of_gradient(kGradientCases[1], "bf16", z), on_gpu());
    EXPECT_TRUE(result.ok) << z.d << ": " << result.message;
    EXPECT_GT(result.report.launches + result.report.library_calls, 4) << z.d;
  }
}

// Of a causal mask both kernels take the tiles that it leaves, of a window those that it sees: what they read and write
// in shared memory is of as many.
TEST(AttentionGradientOf, WhatIsLeftOutCostsNothing) {
  if (const std::string why = testing::why_no_device("sim:sm_80"); !why.empty()) GTEST_SKIP() << why;
  const auto requests = [](const char* kept) {
    std::vector<double> out;
    for (const KernelMeter& meter :
         gradient_meters(text_of_gradient({"window", kept}, "bf16", {1, 1, 384, 384, 64, 64})))
      out.push_back(double(meter.shared_requests));
    return out;
  };
  const std::vector<double> all = requests("ge(%j, 0)"), causal = requests("le(%j, %i)"),
                            window = requests("lt(abs(sub(%i, %j)), 20)");
  for (size_t i = 0; i < 2; ++i) {
    EXPECT_LT(causal[i], 0.78 * all[i]) << i;  // 12 of 18 tiles
    EXPECT_LT(window[i], 0.7 * all[i]) << i;   // 10 of 18
  }
}

}  // namespace
}  // namespace plait
