// Rows that begin anywhere in a sector of memory (`align` of norm): the values of the reference, of every length, and
// the schedules that do not bear it.
#include <gtest/gtest.h>

#include <fmt/core.h>

#include "base/error.h"
#include "support/run_case.h"

namespace plait {
namespace {

struct AlignCase {
  const char* name;
  const char* inputs;
  const char* outputs;
  const char* body;
};

constexpr AlignCase kAlignCases[] = {
    {"softmax", "%x: T[b, n]", "%y", "%y = softmax(%x, dim = 1)"},
    {"sum", "%x: T[b, n]", "%y", "%y = sum(%x, dims = [1])"},
    {"statistics", "%x: T[b, n]", "%y, %v, %m",
     "%m, %v = var_mean(%x, dims = [1], keepdim = true)\n%y = mul(sub(%x, %m), rsqrt(add(%v, 0.001)))"},
    {"places_of_extremes", "%x: T[b, n]", "%v, %i", "%v, %i = max_with_argmax(%x, dims = [1])"},
    {"running", "%x: T[b, n]", "%y, %v, %i", "%y = cumsum(%x, dim = 1)\n%v, %i = cummax(%x, dim = 1)"},
    {"softmax_and_scan", "%x: T[b, n]", "%y", "%p = softmax(%x, dim = 1)\n%y = cumsum(%p, dim = 1)"},
    {"weights", "%x: T[b, n], %w: T[n]", "%y", "%s = sum(%x, dims = [1], keepdim = true)\n%y = mul(mul(%x, %w), %s)"},
    {"several_kept_dims", "%x: T[2, b, n], %w: T[2, b, 1]", "%y", "%y = softmax(mul(%x, %w), dim = 2)"},
    {"noise", "%x: T[b, n], %seed: u64[]", "%y", "%y = softmax(dropout(%x, p = 0.5, seed = %seed), dim = 1)"},
    {"narrowed", "%x: f32[b, n]", "%y", "%y = cast(softmax(%x, dim = 1), to = T)"},
};

class AlignRowsOnSim : public ::testing::TestWithParam<AlignCase> {};

INSTANTIATE_TEST_SUITE_P(All, AlignRowsOnSim, ::testing::ValuesIn(kAlignCases),
                         [](const auto& info) { return std::string(info.param.name); });

void expect_right(const std::string& text, const char* dtype, int64_t b, int64_t n) {
  testing::CaseOptions how;
  how.device = n % 2 == 0 ? "sim:sm_80" : "sim:sm_90a";
  how.seed = static_cast<uint64_t>(100 * n + b);
  how.compare_one_rank = false;
  how.set = {{"T", dtype}, {"b", std::to_string(b)}, {"n", std::to_string(n)}};
  const testing::CaseResult result = testing::run_case(text, how);
  EXPECT_TRUE(result.ok) << result.message << "\n" << dtype << ", " << b << ", " << n << "\n" << text;
}

TEST_P(AlignRowsOnSim, AsChosen) {
  if (const std::string why = testing::why_no_device("sim:sm_80"); !why.empty()) GTEST_SKIP() << why;
  const AlignCase& c = GetParam();
  const std::string text =
      fmt::format("let T = f32, b = 3, n = 7\nfusion @f ({}) -> ({}) {{\n{}\n}}\n", c.inputs, c.outputs, c.body);
  for (const char* dtype : {"f32", "bf16", "f64"})
    for (const auto& [b, n] :
         std::vector<std::pair<int64_t, int64_t>>{{3, 97}, {5, 255}, {3, 1019}, {2, 1025}, {1, 333}, {9, 102}})
      expect_right(text, dtype, b, n);
}

TEST(AlignRows, PositionsBesideScansAreRight) {
  if (const std::string why = testing::why_no_device("sim:sm_80"); !why.empty()) GTEST_SKIP() << why;
  for (const char* body : {"%y = cumsum(%x, dim = 1)\n%z = argmax(%x, dims = [1])",
                           "%y = cumsum(%x, dim = 1, exclusive = true)\n%v, %z = min_with_argmin(%x, dims = [1])",
                           "%p = softmax(%x, dim = 1)\n%y = cumsum(%p, dim = 1)\n%z = argmin(%p, dims = [1])"}) {
    const std::string text =
        fmt::format("let T = f32, b = 3, n = 7\nfusion @f (%x: T[b, n]) -> (%y, %z) {{\n{}\n}}\n", body);
    for (const char* dtype : {"f32", "bf16"})
      for (const int64_t n : {97, 255, 257, 1001, 4097}) expect_right(text, dtype, 3, n);
  }
}

// Of any length, also shorter than what is in front of it, and of none.
TEST_P(AlignRowsOnSim, AsAsked) {
  if (const std::string why = testing::why_no_device("sim:sm_80"); !why.empty()) GTEST_SKIP() << why;
  const AlignCase& c = GetParam();
  std::string inputs, part;
  for (const char ch : std::string(c.inputs) + ",") {
    part += ch;
    if (ch == ':')
      inputs += (inputs.empty() ? "" : ", ") + part.substr(part.find('%'), part.size() - part.find('%') - 1);
    if (ch == ':' || ch == ']') part.clear();
  }
  for (const int align : {8, 16})
    for (const char* dtype : {"f32", "bf16"}) {
      const std::string text = fmt::format(
          "let T = f32, b = 3, n = 7\nfusion @f ({0}) -> ({1}) {{\n  segment @s ({2}) -> ({1}) schedule norm(threads = "
          "32, "
          "align = {3}) {{\n{4}\n  }}\n}}\n",
          c.inputs, c.outputs, inputs, align, c.body);
      for (const auto& [b, n] : std::vector<std::pair<int64_t, int64_t>>{{3, 41}, {7, 33}, {3, 127}, {2, 131}})
        expect_right(text, dtype, b, n);
    }
}

TEST(AlignRows, WhatDoesNotBearIt) {
  const auto refused = [](const std::string& numbers, const std::string& shape, const std::string& body,
                          const std::string& reason) {
    const std::string text =
        fmt::format("fusion @f (%x: f32[{}]) -> (%y) {{\n  segment @s (%x) -> (%y) schedule norm({}) {{ {} }}\n}}\n",
                    shape, numbers, body);
    testing::CaseOptions how;
    how.device = "sim:sm_90a";
    try {
      testing::run_case(text, how);
      FAIL() << text;
    } catch (const UserError& error) {
      EXPECT_NE(error.message().find(reason), std::string::npos) << error.message();
    }
  };
  if (const std::string why = testing::why_no_device("sim:sm_90a"); !why.empty()) GTEST_SKIP() << why;
  const std::string softmax = "%y = softmax(%x, dim = 1)";
  refused("align = 8", "30, 1024", softmax, "align = 8 does not apply: rows are whole vectors");
  refused("align = 8", "30, 1001", "%y = cumsum(%x, dim = 1, reverse = true)", "rows are scanned from the end");
  refused("align = 2", "30, 1001", "%y = cumsum(%x, dim = 1)", "it is no multiple of vector = 4");
  refused("align = 8", "1001, 64", "%y = sum(%x, dims = [0])", "a row is not one dim");
  refused("align = 8, split = 16384", "2, 400001", "%y = sum(%x, dims = [1])", "several blocks have a row");
}

}  // namespace
}  // namespace plait
