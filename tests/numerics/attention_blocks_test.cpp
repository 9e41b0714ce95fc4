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
  const CaseResult none = run_case(pinned("", {1, 0, 20, 16, 16}), on_sim());
  EXPECT_TRUE(none.ok) << none.message;
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
  const auto why = [&](const std::string& numbers, const char* device, int keys = 150) -> std::string {
    try {
      run_case(pinned(numbers, {1, 140, keys, 64, 32}), on_sim(device));
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
  EXPECT_NE(why("", "sim:sm_80", 0).find("there may be no key"), std::string::npos);
}

// What a kernel that scales sums where the greatest logit grows would compute otherwise: other kernels do.
struct OtherCase {
  const char *name, *dtype, *body;
};
constexpr OtherCase kOtherCases[] = {
    {"squares", "bf16", "%w = cast(mul(%p, %p), to = bf16)\n%y = div(matmul(%w, %v, accumulate = true), %n)"},
    {"above", "bf16",
     "%w = cast(where(gt(%p, 0.1), %p, 0.0), to = bf16)\n"
     "%y = div(matmul(%w, %v, accumulate = true), %n)"},
    {"below", "bf16",
     "%w = cast(where(gt(%p, 0.1), 0.0, %p), to = bf16)\n"
     "%y = div(matmul(%w, %v, accumulate = true), %n)"},
    {"more", "bf16", "%w = cast(add(%p, 1.0), to = bf16)\n%y = div(matmul(%w, %v, accumulate = true), %n)"},
    {"largest", "bf16", "%w = cast(max(%p, 0.01), to = bf16)\n%y = div(matmul(%w, %v, accumulate = true), %n)"},
    {"root", "f16", "%w = cast(sqrt(%p), to = f16)\n%y = div(matmul(%w, %v, accumulate = true), %n)"},
    {"inverse", "bf16",
     "%w = cast(div(%n0, add(%p, %n0)), to = bf16)\n"
     "%y = div(matmul(%w, %v, accumulate = true), %n)"},
    {"turned_choice", "bf16",
     "%w = cast(where(lt(%j, %i), 0.0, %p), to = bf16)\n"
     "%y = div(matmul(%w, %v, accumulate = true), %n)"},
    {"of_queries", "bf16", "%w = cast(mul(%p, %n0), to = bf16)\n%y = div(matmul(%w, %v, accumulate = true), %n)"},
    {"rounded_twice", "bf16",
     "%w = cast(cast(%p, to = f16), to = bf16)\n"
     "%y = div(matmul(%w, %v, accumulate = true), %n)"},
    {"rows_of_nan", "bf16",
     "%a = where(lt(%j, %i), %s, -inf)\n"
     "%u = exp(sub(%a, amax(%a, dims = [2], keepdim = true)))\n"
     "%t = sum(%u, dims = [2], keepdim = true)\n%w = cast(where(isnan(%u), 0.0, %u), to = bf16)\n"
     "%y = div(matmul(%w, %v, accumulate = true), where(isnan(%t), 1.0, %t))"},
    {"rows_left_out", "bf16",
     "%a = where(lt(%j, %i), %s, -inf)\n"
     "%u = exp(sub(%a, amax(%a, dims = [2], keepdim = true)))\n"
     "%t = sum(%u, dims = [2], keepdim = true)\n"
     "%w = cast(where(lt(%j, %i), %u, 0.0), to = bf16)\n"
     "%y = div(matmul(%w, %v, accumulate = true), where(isnan(%t), 1.0, %t))"},
    {"f8", "bf16",
     "%w = cast(cast(softmax(mul(%s, 0.01), dim = 2), to = f8e4m3), to = bf16)\n"
     "%y = matmul(%w, %v, accumulate = true)"},
    {"clamped", "f16",
     "%a = sub(%s, 40.0)\n%b = amax(%a, dims = [2], keepdim = true)\n"
     "%e = exp(sub(%a, where(gt(%b, 0.0), %b, 0.0)))\n"
     "%w = cast(div(%e, sum(%e, dims = [2], keepdim = true)), to = f16)\n"
     "%y = matmul(%w, %v, accumulate = true)"},
    {"not_apart", "f16",
     "%a = add(%s, 14.0)\n%b = amax(%a, dims = [2], keepdim = true)\n"
     "%e = exp(sub(%a, where(gt(%b, 25.0), %b, 0.0)))\n"
     "%w = cast(div(%e, sum(%e, dims = [2], keepdim = true)), to = f16)\n"
     "%y = matmul(%w, %v, accumulate = true)"},
    {"large_factor", "f16",
     "%w = cast(mul(softmax(mul(%s, 0.01), dim = 2), 1e5), to = f16)\n"
     "%y = matmul(%w, %v, accumulate = true)"},
    {"factors_in_f16", "f16",
     "%w = mul(mul(cast(softmax(%s, dim = 2), to = f16), 1e-4), 1e4)\n"
     "%y = matmul(%w, %v, accumulate = true)"},
};
constexpr OtherCase kMovedConditions[] = {
    {"turned", "bf16", "%c = permute(le(%i, iota(shape = [32], dim = 0)), dims = [1, 0])\n%x = where(%c, %s, -inf)"},
    {"turned_hides", "bf16",
     "%c = permute(le(%i, iota(shape = [32], dim = 0)), dims = [1, 0])\n"
     "%x = where(%c, -inf, add(%s, 0.5))"},
    {"of_heads", "bf16", "%c = unsqueeze(le(%j, %i), dims = [1])\n%x = where(%c, %s, -inf)"},
    {"of_heads_hides", "f16", "%c = unsqueeze(le(%j, add(%i, 9)), dims = [1])\n%x = where(%c, -inf, %s)"},
    {"both", "bf16", "%a = le(%j, %i)\n%x = where(logical_and(unsqueeze(%a, dims = [1]), %a), %s, -inf)"},
    {"ahead", "bf16", "%x = where(broadcast(le(%j, %i), shape = [32, 32, 32], dims = [0, 2]), %s, -inf)"},
};

TEST(AttentionBlocksOf, WhatIsNotLinearIsRight) {
  if (const std::string why = testing::why_no_device("sim:sm_80"); !why.empty()) GTEST_SKIP() << why;
  for (const OtherCase& c : kOtherCases) {
    const std::string text = fmt::format(
        "fusion @f (%q: {0}[1, 16, 16], %k: {0}[1, 128, 16], %v: {0}[1, 128, 16], %n0: f32[1, 16, 1]) -> (%y) {{\n"
        "%i = iota(shape = [16, 1], dim = 0)\n%j = iota(shape = [128], dim = 0)\n"
        "%s = matmul(%q, permute(%k, dims = [0, 2, 1]), accumulate = true)\n"
        "%p = exp(sub(%s, amax(%s, dims = [2], keepdim = true)))\n%n = sum(%p, dims = [2], keepdim = true)\n{1}\n}}\n",
        c.dtype, c.body);
    const CaseResult result = run_case(text, on_sim());
    EXPECT_TRUE(result.ok || (result.undecided && c.name == std::string("inverse")))
        << c.name << ": " << result.message;
    EXPECT_GT(result.report.launches + result.report.library_calls, 1) << c.name;
  }
}

TEST(AttentionBlocksOf, ConditionsThatWereMovedAreRight) {
  if (const std::string why = testing::why_no_device("sim:sm_80"); !why.empty()) GTEST_SKIP() << why;
  for (const OtherCase& c : kMovedConditions)
    for (const int keys : {32, 130}) {
      if (!std::string(c.name).starts_with("of_heads") && keys != 32) continue;
      const std::string text = fmt::format(
          "fusion @f (%q: {0}[32, 32, 16], %k: {0}[32, {2}, 16], %v: {0}[32, {2}, 16]) -> (%y) {{\n"
          "%i = iota(shape = [32, 1], dim = 0)\n%j = iota(shape = [{2}], dim = 0)\n"
          "%s = matmul(%q, permute(%k, dims = [0, 2, 1]), accumulate = true)\n{1}\n"
          "%y = matmul(cast(softmax(%x, dim = 2), to = {0}), %v, accumulate = true)\n}}\n",
          c.dtype, c.body, keys);
      const CaseResult result = run_case(text, on_sim());
      const bool agrees = result.ok || result.message.find("are NaN on both sides") != std::string::npos;
      EXPECT_TRUE(agrees) << c.name << " of " << keys << ": " << result.message;
    }
}

// Weights that are linear in the exponentials: one kernel.
TEST(AttentionBlocksOf, LinearWeightsAreOneKernel) {
  if (const std::string why = testing::why_no_device("sim:sm_80"); !why.empty()) GTEST_SKIP() << why;
  for (const char* weights : {"%w = cast(%p, to = f16)", "%w = cast(mul(div(%p, 3.0), 0.25), to = bf16)",
                              "%w = cast(mul(12.0, %p), to = f16)", "%w = cast(where(%m, %p, 0.0), to = bf16)",
                              "%w = cast(where(%m, mul(%p, 2.0), 0.0), to = f16)"}) {
    const std::string text = fmt::format(
        "fusion @f (%q: {0}[2, 40, 16], %k: {0}[2, 100, 16], %v: {0}[2, 100, 16],\n"
        "  %m: bool[40, 100]) -> (%y) {{\n%s = matmul(%q, permute(%k, dims = [0, 2, 1]), accumulate = true)\n"
        "%p = exp(sub(%s, amax(%s, dims = [2], keepdim = true)))\n{1}\n"
        "%y = div(matmul(%w, %v, accumulate = true), sum(%p, dims = [2], keepdim = true))\n}}\n",
        std::string(weights).ends_with("bf16)") ? "bf16" : "f16", weights);
    const CaseResult result = run_case(text, on_sim("sim:sm_90a"));
    EXPECT_TRUE(result.ok) << weights << ": " << result.message;
    EXPECT_EQ(result.report.launches + result.report.library_calls, 1) << weights;
  }
}

}  // namespace
}  // namespace plait
