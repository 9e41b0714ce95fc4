// Attention as one kernel of CPUs: found by its structure, with masks, biases, shared heads and moves in front, for
// sizes around its tiles; what is none stays with the library.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cstring>

#include "base/error.h"
#include "support/run_case.h"

namespace plait {
namespace {

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

struct Sizes {
  int h, s, t, d, e;
};

std::string text_of(const AttentionCase& c, const char* dtype, const Sizes& z, const char* facts = "") {
  return fmt::format("let T = {}, h = {}, s = {}, t = {}, d = {}, e = {}\n{}fusion @f ({}) -> (%y) {{\n{}\n}}\n", dtype,
                     z.h, z.s, z.t, z.d, z.e, facts, c.inputs, c.body);
}

class AttentionKernels : public ::testing::TestWithParam<AttentionCase> {};

INSTANTIATE_TEST_SUITE_P(All, AttentionKernels, ::testing::ValuesIn(kCases),
                         [](const auto& info) { return std::string(info.param.name); });

TEST_P(AttentionKernels, AgreeWithTheReferenceInOneKernel) {
  const Sizes sizes[] = {{2, 256, 256, 16, 16}, {1, 33, 257, 8, 1},   {2, 131, 300, 24, 40},
                         {3, 63, 511, 1, 7},    {1, 49, 264, 256, 9}, {1, 32, 4096, 5, 3}};
  for (const char* dtype : {"f32", "f64"})
    for (const Sizes& z : sizes) {
      if (std::string(dtype) == "f64" && z.t > 2048) continue;  // the stack holds half as many
      CaseOptions how;
      how.options.cpu_threads = 2;
      const CaseResult result = run_case(text_of(GetParam(), dtype, z), how);
      EXPECT_TRUE(result.ok) << dtype << ", s = " << z.s << ", t = " << z.t << ": " << result.message;
      if (z.s < 256 && std::string(GetParam().name) == "from_one_product") continue;  // few keys
      EXPECT_EQ(result.report.launches, 1) << dtype << ", s = " << z.s << ", t = " << z.t;
      EXPECT_EQ(result.report.library_calls, 0) << dtype << ", s = " << z.s << ", t = " << z.t;
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

TEST(AttentionKernels, AreTheSameBitsOnAnyNumberOfThreads) {
  const std::string text = text_of(kCases[1], "f32", {3, 300, 300, 24, 40});
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

// Few queries or keys, many keys, statistics, narrow types and scores that somebody else reads.
TEST(AttentionKernels, WhatIsNoneOfThemIsComputedByTheLibrary) {
  const struct {
    const char *inputs, *outputs, *body;
    Sizes sizes;
  } cases[] = {
      {kCases[0].inputs, "%y", kCases[0].body, {2, 4, 300, 16, 16}},
      {kCases[0].inputs, "%y", kCases[0].body, {2, 300, 40, 16, 16}},
      {kCases[1].inputs, "%y", kCases[1].body, {1, 40, 4100, 2, 2}},
      {kCases[1].inputs, "%y", kCases[1].body, {1, 300, 300, 300, 8}},
      {kCases[1].inputs,
       "%y, %l",
       "%y, %l = scaled_dot_product_attention(%q, %k, %v, statistics = true)",
       {2, 300, 300, 16, 16}},
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

// Reductions of a mask of fewer dims, scores of fewer dims than the product.
TEST(AttentionKernels, OtherRanksAreLeftToTheLibrary) {
  for (const char* text :
       {"fusion @f (%q: f32[2, 256, 16], %k: f32[2, 16, 256], %v: f32[2, 256, 16], %m: f32[256, 256]) -> (%y) {\n"
        "%mm = exp(%m)\n%ms = sum(%mm, dims = [1], keepdim = true)\n%b = div(%mm, %ms)\n%s = matmul(%q, %k)\n"
        "%p = softmax(add(%s, %b), dim = 2)\n%y = matmul(%p, %v) }\n",
        "fusion @f (%q: f32[64, 16], %k: f32[16, 256], %z: f32[2, 64, 256], %v: f32[2, 256, 16]) -> (%y) {\n"
        "%s = matmul(%q, %k)\n%p = softmax(add(%s, %z), dim = 2)\n%y = matmul(%p, %v) }\n",
        "fusion @f (%q: f32[64, 16], %k: f32[16, 256], %v: f32[2, 256, 16]) -> (%y) {\n"
        "%s = matmul(%q, %k)\n%p = softmax(reshape(%s, shape = [2, 32, 256]), dim = 2)\n%y = matmul(%p, %v) }\n"}) {
    const CaseResult result = run_case(text, {});
    EXPECT_TRUE(result.ok) << text << result.message;
    EXPECT_EQ(result.report.library_calls, 2) << text;
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
  for (const char* schedule : {"attention", "attention(queries = 8, block = 8, rows = 3)",
                               "attention(queries = 32, block = 96, rows = 1)", "attention(rows = 16)"}) {
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
