// Attention as one kernel of GPUs: bf16 and f16, with masks, windows, biases, shared heads, dropout and moves in front,
// for sizes around its tiles, on both simulated GPUs.
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

struct BlocksCase {
  const char* name;
  const char* inputs;
  const char* body;
};

// h heads, s queries, t keys, d features of keys, e of values.
constexpr BlocksCase kBlocksCases[] = {
    {"plain", "%q: T[2, h, s, d], %k: T[2, h, t, d], %v: T[2, h, t, e]",
     "%y = scaled_dot_product_attention(%q, %k, %v)"},
    {"causal", "%q: T[h, s, d], %k: T[h, t, d], %v: T[h, t, e]",
     "%y = scaled_dot_product_attention(%q, %k, %v, causal = true)"},
    {"shared_heads", "%q: T[2, 4, s, d], %k: T[2, 2, t, d], %v: T[2, 2, t, e]",
     "%y = scaled_dot_product_attention(%q, %k, %v, scale = 0.5)"},
    {"mask", "%q: T[2, h, s, d], %k: T[2, h, t, d], %v: T[2, h, t, e], %m: bool[2, 1, s, t]",
     "%y = scaled_dot_product_attention(%q, %k, %v, mask = %m)"},
    {"bias", "%q: T[h, s, d], %k: T[h, t, d], %v: T[h, t, e], %b: T[s, t]",
     "%y = scaled_dot_product_attention(%q, %k, %v, mask = %b, causal = true)"},
    {"softmax_by_hand", "%q: T[h, s, d], %k: T[h, t, d], %v: T[h, t, e], %b: f32[t]",
     "%s = matmul(%q, permute(%k, dims = [0, 2, 1]), accumulate = true)\n"
     "%p = softmax(add(mul(%s, 0.125), %b), dim = 2)\n%y = matmul(cast(%p, to = T), %v, accumulate = true)"},
    {"capped_window_dropout", "%q: T[h, s, d], %k: T[h, t, d], %v: T[h, t, e], %slope: f32[h, 1, 1], %seed: u64[]",
     "%i = iota(shape = [s, 1], dim = 0)\n%j = iota(shape = [t], dim = 0)\n"
     "%s = mul(matmul(%q, permute(%k, dims = [0, 2, 1]), accumulate = true), 0.25)\n"
     "%c = add(mul(tanh(div(%s, 20.0)), 20.0), mul(cast(sub(%j, %i), to = f32), %slope))\n"
     "%x = where(lt(abs(sub(%i, %j)), 40), %c, -inf)\n"
     "%p = dropout(softmax(%x, dim = 2), p = 0.25, seed = %seed)\n"
     "%y = add(matmul(cast(%p, to = T), %v, accumulate = true), 1.5)"},
    {"from_one_product", "%x: T[2, s, 3*h*d]",  // t = s, e = d
     "%q = permute(reshape(slice(%x, dim = 2, start = 0, stop = h*d), shape = [2, s, h, d]), dims = [0, 2, 1, 3])\n"
     "%k = permute(reshape(slice(%x, dim = 2, start = h*d, stop = 2*h*d), shape = [2, s, h, d]), dims = [0, 2, 1, 3])\n"
     "%v = permute(reshape(slice(%x, dim = 2, start = 2*h*d, stop = 3*h*d), shape = [2, s, h, d]), dims = [0, 2, 1, "
     "3])\n"
     "%y = scaled_dot_product_attention(%q, %k, %v, causal = true)"},
    {"statistics", "%q: T[2, 4, s, d], %k: T[2, 2, t, d], %v: T[2, 2, t, e], %m: bool[s, t]",
     "%y, %l = scaled_dot_product_attention(%q, %k, %v, mask = %m, statistics = true)"},
};

struct BlocksSizes {
  int h, s, t, d, e;
};

std::string text_of_blocks(const BlocksCase& c, const char* dtype, const BlocksSizes& z) {
  const std::string outputs = std::string(c.body).starts_with("%y, %l") ? "%y, %l" : "%y";
  return fmt::format("let T = {}, h = {}, s = {}, t = {}, d = {}, e = {}\nfusion @f ({}) -> ({}) {{\n{}\n}}\n", dtype,
                     z.h, z.s, z.t, z.d, z.e, c.inputs, outputs, c.body);
}

CaseOptions on_sim(const std::string& device = "sim:sm_80") {
  CaseOptions how;
  how.device = device;
  how.options.poison = true;
  return how;
}

class AttentionBlocks : public ::testing::TestWithParam<BlocksCase> {
 protected:
  void SetUp() override {
    if (const std::string why = testing::why_no_device("sim:sm_80"); !why.empty()) GTEST_SKIP() << why;
  }
};

INSTANTIATE_TEST_SUITE_P(All, AttentionBlocks, ::testing::ValuesIn(kBlocksCases),
                         [](const auto& info) { return std::string(info.param.name); });

TEST_P(AttentionBlocks, AgreeWithTheReferenceInOneKernel) {
  constexpr BlocksSizes kSizes[] = {{2, 16, 16, 16, 16},  {1, 17, 65, 32, 8},     {2, 65, 100, 64, 64},
                                    {1, 100, 17, 40, 96}, {1, 200, 130, 128, 72}, {3, 129, 257, 80, 24}};
  const size_t which = size_t(std::ranges::find(kBlocksCases, GetParam().name, &BlocksCase::name) - kBlocksCases);
  for (size_t i = 0; i < std::size(kSizes); ++i) {
    const BlocksSizes& z = kSizes[i];
    if (which > 1 && i % 3 != which % 3) continue;
    const char* dtype = (i + which) % 2 == 0 ? "bf16" : "f16";
    const CaseResult result =
        run_case(text_of_blocks(GetParam(), dtype, z), on_sim((i + which) % 4 < 2 ? "sim:sm_80" : "sim:sm_90a"));
    EXPECT_TRUE(result.ok) << dtype << ", s = " << z.s << ", t = " << z.t << ", d = " << z.d << ": " << result.message;
    EXPECT_EQ(result.report.launches, 1) << dtype << ", s = " << z.s << ", t = " << z.t;
    EXPECT_EQ(result.report.library_calls, 0);
    EXPECT_EQ(result.report.arena_bytes, 0) << "scores lie in no memory";
  }
}

// NaN, infinities, huge and tiny numbers reach what they reach in the reference, through keys that are left out too.
TEST_P(AttentionBlocks, SpecialNumbersReachWhatTheyReach) {
  for (uint64_t seed = 1; seed <= 2; ++seed) {
    CaseOptions how = on_sim();
    how.seed = seed;
    how.specials = true;
    const CaseResult result =
        run_case(text_of_blocks(GetParam(), seed % 2 ? "bf16" : "f16", {1, 150, 150, 16, 16}), how);
    EXPECT_TRUE(result.ok || result.undecided) << seed << ": " << result.message;
    EXPECT_EQ(result.report.launches, 1);
  }
}

TEST(AttentionBlocksOf, AreTheSameBitsAgain) {
  if (const std::string why = testing::why_no_device("sim:sm_80"); !why.empty()) GTEST_SKIP() << why;
  const std::string text = text_of_blocks(kBlocksCases[4], "bf16", {1, 70, 70, 32, 32});
  const auto one = testing::bits_of(run_case(text, on_sim()).outputs);
  EXPECT_TRUE(testing::bits_of(run_case(text, on_sim("sim:sm_90a")).outputs) == one);
}

// No access of shared memory waits for another bank, nor do those of values that are left out.
TEST(AttentionBlocksOf, BanksDoNotConflict) {
  if (const std::string why = testing::why_no_device("sim:sm_80"); !why.empty()) GTEST_SKIP() << why;
  for (const int features : {32, 64, 128, 256})
    for (const int which : {0, 1}) {
      meter_simulated_gpus(true);
      take_meters();
      const CaseResult result =
          run_case(text_of_blocks(kBlocksCases[which], "bf16", {1, 160, 160, features, features}), on_sim());
      const std::vector<KernelMeter> meters = take_meters();
      meter_simulated_gpus(false);
      EXPECT_TRUE(result.ok) << features << ": " << result.message;
      ASSERT_EQ(meters.size(), 1u);
      EXPECT_EQ(meters[0].shared_passes, meters[0].least_passes) << kBlocksCases[which].name << " of " << features;
    }
}

std::string kernel_of(const std::string& text) {
  const auto fusion = parse_fusion(text);
  CompileOptions options;
  options.device = "sim:sm_80";
  options.until = "kir";
  try {
    compile(*fusion, options).prepare(testing::metadata_of(*fusion));
  } catch (const StoppedAt& stop) {
    return stop.text;
  }
  return "";
}

size_t count_of(const std::string& text, const std::string& what) {
  size_t out = 0;
  for (size_t at = text.find(what); at != std::string::npos; at = text.find(what, at + 1)) ++out;
  return out;
}

// A warp multiplies its 16 rows with 64 keys, of 64 features, and with 64 values: 4 * 8 products each, in both stages.
TEST(AttentionBlocksOf, MultiplyMatricesOnce) {
  if (const std::string why = testing::why_no_device("sim:sm_80"); !why.empty()) GTEST_SKIP() << why;
  const std::string text = kernel_of(text_of_blocks(kBlocksCases[0], "bf16", {1, 256, 256, 64, 64}));
  EXPECT_EQ(count_of(text, "mma %"), 2u * 2 * 4 * 8) << text;
  EXPECT_EQ(count_of(text, "load_matrix %"), 2u * 2 * 4 * 4);
  EXPECT_EQ(count_of(text, " workspace"), 0u);
}

// Of a causal mask a block takes half of the keys, of a window those that it sees.
TEST(AttentionBlocksOf, KeysThatAreLeftOutCostNothing) {
  if (const std::string why = testing::why_no_device("sim:sm_80"); !why.empty()) GTEST_SKIP() << why;
  const auto instructions = [](const std::string& mask) {
    meter_simulated_gpus(true);
    take_meters();
    const std::string text = fmt::format(
        "fusion @f (%q: bf16[1024, 64], %k: bf16[1024, 64], %v: bf16[1024, 64]) -> (%y) {{\n"
        "%i = iota(shape = [1024, 1], dim = 0)\n%j = iota(shape = [1024], dim = 0)\n"
        "%s = matmul(%q, permute(%k, dims = [1, 0]), accumulate = true)\n%x = where({}, %s, -inf)\n"
        "%y = matmul(cast(softmax(%x, dim = 1), to = bf16), %v, accumulate = true)\n}}\n",
        mask);
    const CaseResult result = run_case(text, on_sim());
    const std::vector<KernelMeter> meters = take_meters();
    meter_simulated_gpus(false);
    EXPECT_TRUE(result.ok) << mask << ": " << result.message;
    EXPECT_EQ(meters.size(), 1u);
    return double(meters[0].warp_instructions);
  };
  const double all = instructions("ge(%j, 0)"), causal = instructions("le(%j, %i)");
  EXPECT_LT(causal, 0.82 * all);  // 40 of 64 tiles
  EXPECT_LT(instructions("lt(abs(sub(%i, %j)), 64)"), 0.7 * all);
}

constexpr const char* kPinned =
    "let T = bf16\nfusion @f (%q: T[2, s, d], %k: T[2, t, d], %v: T[2, t, e]) -> (%y) {{\n"
    "  segment @a (%q, %k, %v) -> (%y) schedule attention{} {{\n"
    "    %kt = permute(%k, dims = [0, 2, 1])\n    %s = matmul(%q, %kt, accumulate = true)\n"
    "    %i = iota(shape = [s, 1], dim = 0)\n    %j = iota(shape = [t], dim = 0)\n    %le = le(%j, %i)\n"
    "    %none = full(shape = [], value = -inf, dtype = f32)\n    %x = where(%le, %s, %none)\n"
    "    %m = amax(%x, dims = [2], keepdim = true)\n    %z = sub(%x, %m)\n    %p = exp(%z)\n"
    "    %n = sum(%p, dims = [2], keepdim = true)\n    %c = cast(%p, to = T)\n"
    "    %o = matmul(%c, %v, accumulate = true)\n    %y = div(%o, %n)\n  }}\n}}\n";

std::string pinned(const std::string& numbers, const BlocksSizes& z) {
  return fmt::format("let s = {}, t = {}, d = {}, e = {}\n", z.s, z.t, z.d, z.e) + fmt::format(kPinned, numbers);
}

TEST(AttentionBlocksOf, SmallLengthsAndNumbers) {
  if (const std::string why = testing::why_no_device("sim:sm_80"); !why.empty()) GTEST_SKIP() << why;
  for (const BlocksSizes& z : {BlocksSizes{1, 1, 1, 16, 16},
                               {1, 1, 100, 64, 64},
                               {1, 15, 1, 8, 8},
                               {1, 17, 15, 32, 48},
                               {1, 65, 65, 256, 16}}) {
    const CaseResult result = run_case(pinned("", z), on_sim());
    EXPECT_TRUE(result.ok) << z.s << ", " << z.t << ": " << result.message;
    EXPECT_EQ(result.report.launches, 1);
  }
  for (const BlocksSizes& none : {BlocksSizes{1, 0, 20, 16, 16}, {1, 20, 0, 16, 16}}) {
    const CaseResult result = run_case(pinned("", none), on_sim());
    const bool agrees = result.ok || result.message.find("are NaN on both sides") != std::string::npos;
    EXPECT_TRUE(agrees) << none.s << ", " << none.t << ": " << result.message;
  }
  CaseOptions strict = on_sim();
  strict.options.strict_rounding = true;
  const CaseResult rounded = run_case(text_of_blocks(kBlocksCases[5], "bf16", {1, 70, 90, 32, 32}), strict);
  EXPECT_TRUE(rounded.ok) << rounded.message;
  EXPECT_EQ(rounded.report.launches, 1);
  for (const char* numbers :
       {"(stages = 1)", "(stages = 3)", "(queries = 32, block = 64)", "(keys = 16, block = 16)",
        "(keys = 32, block = 32, queries = 32)", "(queries = 32, block = 128, keys = 32)", "(keys = 128, stages = 1)",
        "(features = 96, values = 64)", "(block = 256, keys = 128, stages = 1)"}) {
    const CaseResult result = run_case(pinned(numbers, {1, 140, 150, 64, 32}), on_sim("sim:sm_90a"));
    EXPECT_TRUE(result.ok) << numbers << ": " << result.message;
    EXPECT_EQ(result.report.launches, 1) << numbers;
  }
  const auto why = [&](const std::string& numbers, const char* device) -> std::string {
    try {
      run_case(pinned(numbers, {1, 140, 150, 64, 32}), on_sim(device));
      return "";
    } catch (const UserError& e) {
      return e.message();
    }
  };
  EXPECT_NE(why("(queries = 8)", "sim:sm_80").find("no multiple of 16"), std::string::npos);
  EXPECT_NE(why("(block = 24)", "sim:sm_80").find("no multiple of queries"), std::string::npos);
  EXPECT_NE(why("(block = 48)", "sim:sm_80").find("no power of two"), std::string::npos);
  EXPECT_NE(why("(features = 32)", "sim:sm_80").find("more than 32 elements"), std::string::npos);
  EXPECT_NE(why("(queries = 64, block = 64, keys = 64)", "sim:sm_80").find("registers"), std::string::npos);
  EXPECT_NE(why("(keys = 128, stages = 3)", "sim:sm_80").find("tiles of"), std::string::npos);
  EXPECT_NE(why("(rows = 4)", "sim:sm_80").find("numbers of CPUs"), std::string::npos);
  EXPECT_NE(why("", "cpu").find("of GPUs"), std::string::npos);
}

}  // namespace
}  // namespace plait
