// Attention as one kernel of CPUs: found by its structure, with masks, biases, shared heads and moves in front, for
// sizes around its tiles; what is none stays with the library.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <regex>

#include "base/error.h"
#include "support/attention_limits.h"
#include "support/run_case.h"

namespace plait {
namespace {

using testing::attention_limits;
using testing::CaseOptions;
using testing::CaseResult;
using testing::run_case;

struct AttentionCase {
  const char* name;
  const char* inputs;
  const char* body;
};

// h heads, g of keys, s queries, t keys, d features of keys, e of values.
constexpr AttentionCase kCases[] = {
    {"plain", "%q: T[2, h, s, d], %k: T[2, h, t, d], %v: T[2, h, t, e]",
     "%y = scaled_dot_product_attention(%q, %k, %v)"},
    {"causal", "%q: T[h, s, d], %k: T[h, t, d], %v: T[h, t, e]",
     "%y = scaled_dot_product_attention(%q, %k, %v, causal = true)"},
    {"shared_heads", "%q: T[2, 4, s, d], %k: T[2, 2, t, d], %v: T[2, 2, t, e]",
     "%y = scaled_dot_product_attention(%q, %k, %v, scale = 0.5)"},
    {"mask", "%q: T[2, h, s, d], %k: T[2, h, t, d], %v: T[2, h, t, e], %m: bool[2, 1, s, t]",
     "%y = scaled_dot_product_attention(%q, %k, %v, mask = %m)"},
    {"bias", "%q: T[h, s, d], %k: T[h, t, d], %v: T[h, t, e], %b: T[s, t]",
     "%y = scaled_dot_product_attention(%q, %k, %v, mask = %b)"},
    {"by_hand", "%q: T[h, s, d], %k: T[h, t, d], %v: T[h, t, e], %b: T[t]",
     "%s = matmul(%q, permute(%k, dims = [0, 2, 1]))\n"
     "%p = softmax(add(mul(%s, 0.125), %b), dim = 2)\n%y = matmul(%p, %v)"},
    {"other_pattern", "%q: T[s, d], %k: T[t, d], %v: T[t, e]",  // squares instead of exponentials; nothing divided
     "%s = matmul(%q, permute(%k, dims = [1, 0]))\n%m = amin(%s, dims = [1], keepdim = true)\n"
     "%y = mul(matmul(square(sub(%s, %m)), %v), 0.25)"},
    {"from_one_product", "%x: T[2, s, 3*h*d]",  // t = s, e = d
     "%q = permute(reshape(slice(%x, dim = 2, start = 0, stop = h*d), shape = [2, s, h, d]), dims = [0, 2, 1, 3])\n"
     "%k = permute(reshape(slice(%x, dim = 2, start = h*d, stop = 2*h*d), shape = [2, s, h, d]), dims = [0, 2, 1, 3])\n"
     "%v = permute(reshape(slice(%x, dim = 2, start = 2*h*d, stop = 3*h*d), shape = [2, s, h, d]), dims = [0, 2, 1, "
     "3])\n"
     "%y = scaled_dot_product_attention(%q, %k, %v, causal = true)"},
};

struct KernelSizes {
  int h, s, t, d, e;
};

std::string text_of(const AttentionCase& c, const char* dtype, const KernelSizes& z, const char* facts = "") {
  return fmt::format("let T = {}, h = {}, s = {}, t = {}, d = {}, e = {}\n{}fusion @f ({}) -> (%y) {{\n{}\n}}\n", dtype,
                     z.h, z.s, z.t, z.d, z.e, facts, c.inputs, c.body);
}

class AttentionKernels : public ::testing::TestWithParam<AttentionCase> {};

INSTANTIATE_TEST_SUITE_P(All, AttentionKernels, ::testing::ValuesIn(kCases),
                         [](const auto& info) { return std::string(info.param.name); });

TEST_P(AttentionKernels, AgreeWithTheReferenceInOneKernel) {
  const KernelSizes sizes[] = {{2, 256, 256, 16, 16}, {1, 33, 257, 8, 1},  {2, 131, 300, 24, 40}, {3, 63, 511, 1, 7},
                               {1, 49, 264, 256, 9},  {1, 32, 4096, 5, 3}, {1, 64, 256, 8, 256}};
  for (const char* dtype : {"f32", "f64"})
    for (const KernelSizes& z : sizes) {
      if (std::string(dtype) == "f64" && z.h == 1) continue;
      CaseOptions how;
      how.options.cpu_threads = 2;
      const CaseResult result = run_case(text_of(GetParam(), dtype, z), how);
      EXPECT_TRUE(result.ok) << dtype << ", s = " << z.s << ", t = " << z.t << ": " << result.message;
      if (z.s < 256 && std::string(GetParam().name) == "from_one_product") continue;  // few keys
      EXPECT_EQ(result.report.launches, 1) << dtype << ", s = " << z.s << ", t = " << z.t;
      EXPECT_EQ(result.report.library_calls, 0) << dtype << ", s = " << z.s << ", t = " << z.t;
    }
}

// Widened where they lie, once for all queries; exact products are numbers of f32.
TEST(AttentionKernels, NarrowOperandsAreWidenedInFront) {
  for (const char* dtype : {"bf16", "f16"})
    for (const int which : {0, 1, 2, 3, 4, 7})
      for (const KernelSizes& z : {KernelSizes{1, 256, 256, 8, 8}, {1, 33, 300, 24, 5}}) {
        if (z.s < 256 && dtype[0] == 'f') continue;
        if (z.s < 256 && which == 7) continue;  // few keys
        const CaseResult result = run_case(text_of(kCases[which], dtype, z), {});
        EXPECT_TRUE(result.ok) << dtype << " " << kCases[which].name << ": " << result.message;
        EXPECT_EQ(result.report.library_calls, 0) << dtype << " " << kCases[which].name;
        EXPECT_LE(result.report.launches, 5) << dtype << " " << kCases[which].name;
      }
  // Two scores of one key tensor.
  const CaseResult two = run_case(
      "let T = bf16\nfusion @f (%q: T[1, 300, 8], %p: T[1, 300, 8], %k: T[1, 300, 8], %v: f32[1, 300, 5]) -> (%y) {\n"
      "%t = permute(%k, dims = [0, 2, 1])\n%a = matmul(%q, %t, accumulate = true)\n"
      "%b = matmul(%p, %t, accumulate = true)\n%y = matmul(softmax(add(%a, %b), dim = 2), %v)\n}\n",
      {});
  EXPECT_TRUE(two.ok) << two.message;
  // Scores that somebody else reads, or of which there are few, are the library's, and the graph is as it was.
  const std::string scores =
      "let T = bf16\nfusion @f (%q: T[1, 300, 8], %k: T[1, 300, 8], %v: T[1, 300, 8]) -> (%y, %s) {\n"
      "%s = matmul(%q, permute(%k, dims = [0, 2, 1]))\n%y = scaled_dot_product_attention(%q, %k, %v)\n}\n";
  for (const auto& [text, calls] : {std::pair(scores, 1),
                                    {text_of(kCases[1], "bf16", {2, 4, 300, 16, 16}), 2},
                                    {text_of(kCases[5], "bf16", {1, 300, 300, 16, 16}), 2}}) {
    const CaseResult result = run_case(text, {});
    EXPECT_TRUE(result.ok) << text << result.message;
    EXPECT_EQ(result.report.library_calls, calls) << text;
  }
}

// No scores lie in memory.
TEST(AttentionKernels, WorkspaceDoesNotGrowWithTheSquareOfKeys) {
  for (const int s : {512, 1024}) {
    const CaseResult result = run_case(text_of(kCases[1], "f32", {1, s, s, 8, 8}), {});
    EXPECT_TRUE(result.ok) << result.message;
    EXPECT_LE(result.report.arena_bytes, 4096) << "keys: " << s;
  }
}

void expect_same_bits(const std::string& text) {
  std::vector<Tensors> found;
  for (const int threads : {1, 2, 5}) {
    CaseOptions how;
    how.options.cpu_threads = threads;
    found.push_back(run_case(text, how).outputs);
  }
  for (size_t i = 1; i < found.size(); ++i)
    for (const auto& [name, tensor] : found[0])
      EXPECT_EQ(std::memcmp(tensor.data(), found[i].at(name).data(), tensor.bytes()), 0) << name;
}

TEST(AttentionKernels, AreTheSameBitsOnAnyNumberOfThreads) {
  expect_same_bits(text_of(kCases[1], "f32", {3, 300, 300, 24, 40}));
}

// Few queries or keys, many keys, narrow types and scores that somebody else reads.
TEST(AttentionKernels, WhatIsNoneOfThemIsComputedByTheLibrary) {
  const struct {
    const char *inputs, *outputs, *body;
    KernelSizes sizes;
  } cases[] = {
      {kCases[0].inputs, "%y", kCases[0].body, {2, 4, 300, 16, 16}},
      {kCases[0].inputs, "%y", kCases[0].body, {2, 300, 40, 16, 16}},
      {kCases[1].inputs, "%y", kCases[1].body, {1, 300, 300, 300, 8}},
      {"%q: T[s, d], %k: T[t, d], %v: T[t, e]",
       "%y, %s",
       "%s = matmul(%q, permute(%k, dims = [1, 0]))\n%y = matmul(softmax(%s, dim = 1), %v)",
       {1, 300, 300, 16, 16}},
  };
  for (const auto& c : cases) {
    const std::string text =
        fmt::format("let T = f32, h = {}, s = {}, t = {}, d = {}, e = {}\nfusion @f ({}) -> ({}) {{\n{}\n}}\n",
                    c.sizes.h, c.sizes.s, c.sizes.t, c.sizes.d, c.sizes.e, c.inputs, c.outputs, c.body);
    const CaseResult result = run_case(text, {});
    EXPECT_TRUE(result.ok) << result.message;
    EXPECT_EQ(result.report.library_calls, 2) << text;
  }
}

// What would be read by way of others, or of another attention, is left to the library.
TEST(AttentionKernels, SegmentsDoNotWaitForThemselves) {
  const std::string head =
      "fusion @f (%q: f32[300, 8], %k: f32[300, 8], %v: f32[300, 5]) -> (OUT) {\n"
      "%s = matmul(%q, permute(%k, dims = [1, 0]))\n%m = amax(%s, dims = [1], keepdim = true)\n"
      "%e = exp(sub(%s, %m))\n%n = sum(%e, dims = [1], keepdim = true)\n";
  const struct {
    const char *outputs, *body;
  } cases[] = {
      {"%y", "%y = matmul(div(%e, %n), mul(%v, %m))"},
      {"%y", "%y0 = matmul(div(%e, %n), %v)\n%y = mul(%y0, sum(%n, dims = [0], keepdim = true))"},
      {"%y, %z",
       "%t = matmul(%k, permute(%q, dims = [1, 0]))\n%m2 = amax(%t, dims = [1], keepdim = true)\n"
       "%y = matmul(exp(sub(%s, %m)), mul(%v, %m2))\n%z = matmul(exp(sub(%t, %m2)), mul(%v, %m))"},
  };
  for (const auto& c : cases) {
    const std::string text = std::string(head).replace(head.find("OUT"), 3, c.outputs) + c.body + "\n}\n";
    const CaseResult result = run_case(text, {});
    EXPECT_TRUE(result.ok) << text << result.message;
    EXPECT_GE(result.report.library_calls, 2) << text;
  }
}

// Queries, keys and values that are read of one permuted product, of lengths that are known or not: what the kernel
// does not hold is made in front of it.
TEST(AttentionKernels, PackedHeadsOfAnyLength) {
  for (const char* length : {"s", "257"})
    for (const int s : {0, 1, 33, 257}) {
      if (*length != 's' && std::to_string(s) != length) continue;
      const std::string text = fmt::format(
          "let b = 1, s = {}\nfusion @f (%x: f32[b, {}, 48]) -> (%y) {{\n"
          "%p = permute(reshape(%x, shape = [b, {}, 3, 2, 8]), dims = [2, 0, 3, 1, 4])\n"
          "%q = squeeze(slice(%p, dim = 0, start = 0, stop = 1), dims = [0])\n"
          "%k = squeeze(slice(%p, dim = 0, start = 1, stop = 2), dims = [0])\n"
          "%v = squeeze(slice(%p, dim = 0, start = 2, stop = 3), dims = [0])\n"
          "%y = scaled_dot_product_attention(%q, %k, %v)\n}}\n",
          s, length, length);
      const CaseResult result = run_case(text, {});
      EXPECT_TRUE(result.ok) << text << result.message;
      if (s > 256) EXPECT_EQ(result.report.library_calls, 0) << text;
    }
}

// More keys than fit the stack: scores go by in parts, once for the maximum and once more for what is weighed.
TEST(AttentionKernels, ManyKeysAreScoredTwice) {
  for (const int which : {0, 1, 3})
    for (const KernelSizes& z : {KernelSizes{1, 40, 4100, 4, 3}, {1, 33, 4608, 3, 17}}) {
      const CaseResult result = run_case(text_of(kCases[which], "f32", z), {});
      EXPECT_TRUE(result.ok) << kCases[which].name << ": " << result.message;
      EXPECT_EQ(result.report.launches, 1) << kCases[which].name;
      EXPECT_EQ(result.report.library_calls, 0) << kCases[which].name;
      EXPECT_LE(result.report.arena_bytes, 4096) << kCases[which].name;
    }
  std::string rows = text_of(kCases[1], "f64", {1, 70, 2100, 4, 3});
  rows.replace(rows.find("-> (%y)"), 7, "-> (%y, %l)").replace(rows.find("%y = "), 5, "%y, %l = ");
  rows.replace(rows.find("causal = true"), 13, "causal = true, statistics = true");
  const CaseResult f64 = run_case(rows, {});
  EXPECT_TRUE(f64.ok) << f64.message;
  EXPECT_EQ(f64.report.launches, 1);
  EXPECT_EQ(f64.report.library_calls, 0);
  const std::string limits = attention_limits(text_of(kCases[1], "f32", {1, 5000, 5000, 4, 3}));
  EXPECT_GE(std::ranges::count(limits, '\n'), 8) << limits;  // both scores
}

TEST(AttentionKernels, OfManyKeysASoftmaxDividesTheProduct) {
  // By hand, and of weights that are dropped.
  for (const char* weights : {"%w = %p", "%w = dropout(mul(%p, 0.5), p = 0.25, seed = %seed)"}) {
    const bool drops = std::string(weights).find("dropout") != std::string::npos;
    const std::string text = fmt::format(
        "fusion @f (%q: f32[1, 40, 4], %k: f32[1, 4400, 4], %v: f32[1, 4400, 3]{}) -> (%y) {{\n"
        "%s = matmul(%q, permute(%k, dims = [0, 2, 1]))\n%p = softmax(mul(tanh(%s), 0.5), dim = 2)\n{}"
        "%y = matmul({}, %v) }}\n",
        drops ? ", %seed: u64[]" : "", drops ? std::string(weights) + "\n" : "", drops ? "%w" : "%p");
    const CaseResult result = run_case(text, {});
    EXPECT_TRUE(result.ok) << text << result.message;
    EXPECT_EQ(result.report.launches, 1) << text;
    EXPECT_EQ(result.report.library_calls, 0) << text;
  }
  // Sums that a division keeps in range stay so: only what cannot overflow is divided behind.
  for (const char* weights : {"%e = exp(add(%s, 70.0))\n%w = div(%e, sum(%e, dims = [2], keepdim = true))",
                              "%e = exp(sub(%s, amax(%s, dims = [2], keepdim = true)))\n"
                              "%w = div(%e, cast(iota(shape = [1, 40, 1], dim = 1), to = f32))"}) {
    const CaseResult result = run_case(
        fmt::format("fusion @f (%q: f32[1, 40, 4], %k: f32[1, 4400, 4], %v: f32[1, 4400, 3]) -> (%y) {{\n"
                    "%s = matmul(%q, permute(%k, dims = [0, 2, 1]))\n{}\n%y = matmul(%w, mul(%v, 1000.0)) }}\n",
                    weights),
        {});
    EXPECT_TRUE(result.ok) << weights << ": " << result.message;
  }
  // Rows that are dropped as a whole are 0, also those of NaN.
  for (const char* drop : {"where(ge(uniform(shape = [1, 40, 1], seed = %seed), 0.5), mul(%p, 2.0), 0.0)",
                           "dropout(%p, p = 0.9997, seed = %seed)"}) {
    const CaseResult result = run_case(
        fmt::format("fusion @f (%q: f32[1, 40, 4], %k: f32[1, 4400, 4], %v: f32[1, 4400, 3], %b: bool[1, 40, 1], "
                    "%seed: u64[]) -> (%y) {{\n"
                    "%s = where(%b, matmul(%q, permute(%k, dims = [0, 2, 1])), -inf)\n%p = softmax(%s, dim = 2)\n"
                    "%y = matmul({}, %v) }}\n",
                    drop),
        {});
    EXPECT_TRUE(result.ok) << drop << ": " << result.message;
  }
  // Rows that a choice made 0 stay 0: nothing divides them behind.
  const CaseResult rows_of_nothing = run_case(
      "fusion @f (%q: f32[300, 4], %k: f32[300, 4], %v: f32[300, 3], %m: bool[300, 1]) -> (%y) {\n"
      "%s = where(%m, matmul(%q, permute(%k, dims = [1, 0])), -inf)\n"
      "%y = matmul(where(%m, softmax(%s, dim = 1), 0.0), %v) }\n",
      {});
  EXPECT_TRUE(rows_of_nothing.ok) << rows_of_nothing.message;
  EXPECT_EQ(rows_of_nothing.report.library_calls, 0);
}

// Results for each query of what rows are reduced to stand in the same kernel.
TEST(AttentionKernels, RowsAreFurtherResults) {
  const struct {
    const char *inputs, *outputs, *body;
  } cases[] = {
      {kCases[0].inputs, "%y, %l", "%y, %l = scaled_dot_product_attention(%q, %k, %v, statistics = true)"},
      {kCases[1].inputs, "%l, %y",
       "%y, %l = scaled_dot_product_attention(%q, %k, %v, causal = true, statistics = true)"},
      {kCases[2].inputs, "%y, %l",
       "%y, %l = scaled_dot_product_attention(%q, %k, %v, causal = true, statistics = true)"},
      {kCases[3].inputs, "%y, %l", "%y, %l = scaled_dot_product_attention(%q, %k, %v, mask = %m, statistics = true)"},
      {kCases[6].inputs, "%y, %m, %n",
       "%s = matmul(%q, permute(%k, dims = [1, 0]))\n%m = amax(%s, dims = [1], keepdim = true)\n"
       "%e = exp(sub(%s, %m))\n%z = sum(%e, dims = [1], keepdim = true)\n%n = log(%z)\n"
       "%y = matmul(div(%e, %z), %v)"},
  };
  for (const auto& c : cases)
    for (const KernelSizes& z : {KernelSizes{2, 256, 256, 16, 16}, {1, 49, 300, 8, 1}, {3, 131, 511, 24, 40}}) {
      const std::string text =
          fmt::format("let T = f32, h = {}, s = {}, t = {}, d = {}, e = {}\nfusion @f ({}) -> ({}) {{\n{}\n}}\n", z.h,
                      z.s, z.t, z.d, z.e, c.inputs, c.outputs, c.body);
      const CaseResult result = run_case(text, {});
      EXPECT_TRUE(result.ok) << text << result.message;
      EXPECT_EQ(result.report.launches, 1) << text;
      EXPECT_EQ(result.report.library_calls, 0) << text;
      const bool causal = std::string(c.body).find("causal = true") != std::string::npos;
      EXPECT_EQ(attention_limits(text).find("keys of ") != std::string::npos, causal) << text;
    }
}

// Scores of fewer dims than the product, or in other dims.
TEST(AttentionKernels, OtherRanksAreLeftToTheLibrary) {
  for (const char* text :
       {"fusion @f (%q: f32[64, 16], %k: f32[16, 256], %z: f32[2, 64, 256], %v: f32[2, 256, 16]) -> (%y) {\n"
        "%s = matmul(%q, %k)\n%p = softmax(add(%s, %z), dim = 2)\n%y = matmul(%p, %v) }\n",
        "fusion @f (%q: f32[64, 16], %k: f32[16, 256], %v: f32[2, 256, 16]) -> (%y) {\n"
        "%s = matmul(%q, %k)\n%p = softmax(reshape(%s, shape = [2, 32, 256]), dim = 2)\n%y = matmul(%p, %v) }\n"}) {
    const CaseResult result = run_case(text, {});
    EXPECT_TRUE(result.ok) << text << result.message;
    EXPECT_EQ(result.report.library_calls, 2) << text;
  }
}

// Rows of something else than scores are inputs.
TEST(AttentionKernels, ReductionsOfAMaskStandInFront) {
  const CaseResult result = run_case(
      "fusion @f (%q: f32[2, 256, 16], %k: f32[2, 16, 256], %v: f32[2, 256, 16], %m: f32[256, 256]) -> (%y) {\n"
      "%mm = exp(%m)\n%ms = sum(%mm, dims = [1], keepdim = true)\n%b = div(%mm, %ms)\n%s = matmul(%q, %k)\n"
      "%p = softmax(add(%s, %b), dim = 2)\n%y = matmul(%p, %v) }\n",
      {});
  EXPECT_TRUE(result.ok) << result.message;
  EXPECT_EQ(result.report.library_calls, 0);
}

// What PyTorch's gradient computes from the logsumexp %l, where `kept` chooses the scores and weights that count.
std::string gradient(const char* dtype, const KernelSizes& z, const std::string& kept,
                     const char* outputs = "%dq, %dk, %dv") {
  const auto choose = [&](const std::string& x, const char* otherwise) {
    return kept.empty() ? x : fmt::format("where({}, {}, {})", kept, x, otherwise);
  };
  const char* t = z.s == z.t ? "s" : "t";  // a window asks for as many keys as queries
  return fmt::format(
      "let T = {}, h = {}, s = {}, t = {}, d = {}, e = {}\n"
      "fusion @f (%g: T[h, s, e], %q: T[h, s, d], %k: T[h, {}, d], %v: T[h, {}, e], %o: T[h, s, e], %l: T[h, s], "
      "%m: bool[h, s, {}]) -> ({}) {{\n"
      "%i = iota(shape = [s, 1], dim = 0)\n%j = iota(shape = [{}], dim = 0)\n"
      "%s = {}\n"
      "%p = {}\n%dv = matmul(permute(%p, dims = [0, 2, 1]), %g)\n"
      "%dp = matmul(%g, permute(%v, dims = [0, 2, 1]))\n%z = sum(mul(%g, %o), dims = [2], keepdim = true)\n"
      "%ds = {}\n%dq = mul(matmul(%ds, %k), 0.25)\n%dk = mul(matmul(permute(%ds, dims = [0, 2, 1]), %q), 0.25)\n}}\n",
      dtype, z.h, z.s, z.t, z.d, z.e, t, t, t, outputs, t,
      choose("mul(matmul(%q, permute(%k, dims = [0, 2, 1])), 0.25)", "-inf"),
      choose("exp(sub(%s, unsqueeze(%l, dims = [-1])))", "0"), choose("mul(%p, sub(%dp, %z))", "0"));
}

// A kernel for queries, one for keys and values, and the sums of rows in front of them.
TEST(AttentionGradients, AgreeWithTheReferenceInTwoKernels) {
  for (const char* kept : {"", "logical_and(%m, ge(add(%i, 5), %j))", "logical_and(le(%j, %i), lt(sub(%i, 50), %j))"})
    for (const char* dtype : {"f32", "f64"})
      for (const KernelSizes& z : {KernelSizes{2, 256, 256, 8, 8}, {1, 300, 257, 8, 1}, {1, 257, 264, 24, 256}}) {
        if (std::string(dtype) == "f64" && (z.h == 1 || *kept == 'l')) continue;
        if (*kept != '\0' && z.e == 256) continue;
        const std::string text = gradient(dtype, z, kept);
        CaseOptions how;
        how.options.cpu_threads = 2;
        const CaseResult result = run_case(text, how);
        EXPECT_TRUE(result.ok) << text << result.message;
        EXPECT_EQ(result.report.launches, 3) << text;
        EXPECT_EQ(result.report.library_calls, 0) << text;
      }
}

// Queries in front of the keys of a group, and keys behind the queries of one, are left out.
TEST(AttentionGradients, WhatAMaskLeavesOutIsSkipped) {
  const KernelSizes z = {1, 300, 300, 8, 8};
  const std::string limits =
      attention_limits(gradient("f32", z, "logical_and(le(%j, add(%i, 8)), lt(%i, add(%j, 25)))"));
  EXPECT_NE(limits.find("keys of %dq_matmul end at 32 floordiv(query, 32) + 40\n"), std::string::npos) << limits;
  EXPECT_NE(limits.find("queries of %dv begin at 32 floordiv(key, 32) - 8\n"), std::string::npos) << limits;
  EXPECT_NE(limits.find("queries of %dk_matmul end at 32 floordiv(key, 32) + 56\n"), std::string::npos) << limits;
  EXPECT_EQ(attention_limits(gradient("f32", z, "")), "");
  EXPECT_EQ(attention_limits(gradient("f32", z, "%m")), "");
}

TEST(AttentionGradients, ValuesThatAreNoNumbersReachWhatTheyReachInTheReference) {
  for (const char* kept : {"le(%j, %i)", "logical_and(le(%j, add(%i, 20)), le(%i, add(%j, 30)))"})
    for (uint64_t seed = 0; seed < 3; ++seed) {
      CaseOptions how;
      how.specials = true;
      how.seed = seed;
      const CaseResult result = run_case(gradient("f32", {1, 260, 260, 8, 5}, kept), how);
      EXPECT_TRUE(result.ok || result.undecided) << kept << ", " << seed << ": " << result.message;
    }
}

TEST(AttentionGradients, AreTheSameBitsOnAnyNumberOfThreads) {
  expect_same_bits(gradient("f32", {3, 300, 300, 24, 40}, "le(%j, %i)"));
}

TEST(AttentionGradients, WorkspaceDoesNotGrowWithTheSquareOfKeys) {
  for (const int s : {512, 1024}) {
    const CaseResult result = run_case(gradient("f32", {1, s, s, 8, 8}, "le(%j, %i)"), {});
    EXPECT_TRUE(result.ok) << result.message;
    EXPECT_LE(result.report.arena_bytes, 8 * s) << "keys: " << s;  // sums of rows
  }
}

// Of 16,384 positions scores would be 1 GiB.
TEST(AttentionGradients, WorkspaceOfLongSequencesIsThatOfRows) {
  const KernelSizes z = {1, 16384, 16384, 4, 4};
  for (const std::string& text : {text_of(kCases[1], "f32", z), gradient("f32", z, "le(%j, %i)")}) {
    const std::string small = std::regex_replace(text, std::regex(", %m: bool\\[h, s, s\\]"), "");  // no mask
    const auto fusion = parse_fusion(small);
    const auto inputs = reference::draw_inputs(*fusion, {});
    Compiled program = compile(*fusion, {});
    program.run({inputs.begin(), inputs.end()});
    EXPECT_EQ(program.report().library_calls, 0) << small;
    EXPECT_LE(program.report().arena_bytes, 8 * z.s) << small;
  }
}

// One of the products alone needs nothing twice; where only one of two kernels would fit, nothing is computed twice.
TEST(AttentionGradients, SomeOfTheProducts) {
  const struct {
    const char* outputs;
    KernelSizes sizes;
    int launches, library;
  } cases[] = {
      {"%dv", {1, 300, 300, 8, 8}, 1, 0},
      {"%dk, %dv", {1, 300, 300, 8, 8}, 2, 0},
      {"%dq", {1, 300, 300, 8, 8}, 2, 0},
      {"%dk, %dq", {1, 300, 300, 8, 8}, 3, 0},
      {"%dq, %dk, %dv", {1, 4100, 300, 2, 2}, 3, 0},
      {"%dq, %dk, %dv", {1, 300, 300, 8, 300}, -1, 5},
      {"%dq, %dk, %dv, %ds", {1, 300, 300, 8, 8}, -1, 5},
  };
  for (const auto& c : cases) {
    const CaseResult result = run_case(gradient("f32", c.sizes, "%m", c.outputs), {});
    EXPECT_TRUE(result.ok) << c.outputs << ": " << result.message;
    EXPECT_EQ(result.report.library_calls, c.library) << c.outputs << ", s = " << c.sizes.s;
    if (c.launches >= 0) {
      EXPECT_EQ(result.report.launches, c.launches) << c.outputs;
    }
  }
}

// Heads that share keys read them through the same unsqueeze, for scores and as values.
TEST(AttentionGradients, HeadsThatShareKeys) {
  for (const char* kept : {"le(%j, %i)", "logical_and(le(%j, %i), lt(%i, add(%j, 100)))"}) {
    const auto choose = [&](const char* x, const char* otherwise) {
      return fmt::format("where({}, {}, {})", kept, x, otherwise);
    };
    const std::string text = fmt::format(
        "let h = 2, n = 3, s = 300, d = 24, e = 40\n"
        "fusion @f (%g: f32[h, n, s, e], %q: f32[h, n, s, d], %k0: f32[h, s, d], %v0: f32[h, s, e], "
        "%o: f32[h, n, s, e], %l: f32[h, n, s]) -> (%dq, %dk, %dv) {{\n"
        "%k = unsqueeze(%k0, dims = [1])\n%v = unsqueeze(%v0, dims = [1])\n"
        "%i = iota(shape = [s, 1], dim = 0)\n%j = iota(shape = [s], dim = 0)\n"
        "%s = {}\n%p = {}\n%dp = matmul(%g, permute(%v, dims = [0, 1, 3, 2]))\n"
        "%z = sum(mul(%g, %o), dims = [3], keepdim = true)\n%ds = {}\n%dq = mul(matmul(%ds, %k), 0.25)\n"
        "%dv = sum(matmul(permute(%p, dims = [0, 1, 3, 2]), %g), dims = [1])\n"
        "%dk = sum(mul(matmul(permute(%ds, dims = [0, 1, 3, 2]), %q), 0.25), dims = [1])\n}}\n",
        choose("mul(matmul(%q, permute(%k, dims = [0, 1, 3, 2])), 0.25)", "-inf"),
        choose("exp(sub(%s, unsqueeze(%l, dims = [-1])))", "0"), choose("mul(%p, sub(%dp, %z))", "0"));
    const CaseResult result = run_case(text, {});
    EXPECT_TRUE(result.ok) << text << result.message;
    EXPECT_EQ(result.report.library_calls, 0) << text;
    EXPECT_EQ(result.report.launches, 4) << text;  // sums of rows, two kernels, sums of heads
  }
}

std::string why_refused(const std::string& text, const std::string& device = "cpu") {
  CaseOptions how;
  how.device = device;
  try {
    run_case(text, how);
    return "";
  } catch (const UserError& e) {
    return e.message() + "\n" + e.remedy();
  }
}

TEST(AttentionKernels, NumbersOfAScheduleAreObeyedOrRefused) {
  const auto segment = [](const std::string& schedule, const std::string& body) {
    return "fusion @f (%q: f32[70, 24], %k: f32[90, 24], %v: f32[90, 40]) -> (%y) {\n"
           "  segment @a (%q, %k, %v) -> (%y) schedule " +
           schedule + " {\n" + body + "  }\n}\n";
  };
  const std::string body =
      "%t = permute(%k, dims = [1, 0])\n%s = matmul(%q, %t)\n%m = amax(%s, dims = [1], keepdim = true)\n"
      "%e = exp(sub(%s, %m))\n%n = sum(%e, dims = [1], keepdim = true)\n%p = matmul(%e, %v)\n%y = div(%p, %n)\n";
  for (const char* schedule :
       {"attention", "attention(queries = 8, block = 8, rows = 3)", "attention(queries = 32, block = 96, rows = 1)",
        "attention(rows = 16)", "attention(kept = 0)", "attention(queries = 8, rows = 5, kept = 0)"}) {
    const CaseResult result = run_case(segment(schedule, body), {});
    EXPECT_TRUE(result.ok) << schedule << ": " << result.message;
    EXPECT_EQ(result.report.launches, 1) << schedule;
  }
  for (const char* sizes : {"%q: f32[1, 40, 24], %k: f32[1, 300, 24], %v: f32[1, 300, 1]",
                            "%q: f32[2, 1, 300, 1], %k: f32[2, 1, 256, 1], %v: f32[2, 1, 256, 3]"}) {
    const CaseResult result = run_case(
        fmt::format("fusion @f ({}) -> (%y) {{ %y = scaled_dot_product_attention(%q, %k, %v) }}\n", sizes), {});
    EXPECT_TRUE(result.ok) << sizes << ": " << result.message;
    EXPECT_EQ(result.report.launches, 1) << sizes;
  }
  EXPECT_NE(why_refused(segment("attention(queries = 16, block = 24)", body)).find("no multiple of queries"),
            std::string::npos);
  EXPECT_NE(why_refused(segment("attention(rows = 17)", body)).find("rows"), std::string::npos);
  EXPECT_NE(
      why_refused(segment("attention", "%y = matmul(%q, matmul(permute(%k, dims = [1, 0]), exp(%v)))\n")).find("no"),
      std::string::npos);
}

}  // namespace
}  // namespace plait
