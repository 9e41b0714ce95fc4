// Gradients of attention with many heads: one kernel, whose tasks have all queries and keys of a head, computes scores
// and weights once for all three products.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <regex>

#include "support/attention_limits.h"
#include "support/run_case.h"
#include "support/tensor_bits.h"

namespace plait {
namespace {

using testing::attention_limits;
using testing::CaseOptions;
using testing::CaseResult;
using testing::run_case;

struct Heads {
  int b, h, s, t, d, e;
};

// From the logsumexp %l and sums of rows %z; `kept` chooses the scores and weights that count.
std::string gradient_of_heads(const char* dtype, const Heads& z, const std::string& kept,
                              const std::string& outputs = "%dq, %dk, %dv", const char* keys_of = "h") {
  const auto choose = [&](const std::string& x, const char* otherwise) {
    return kept.empty() ? x : fmt::format("where({}, {}, {})", kept, x, otherwise);
  };
  const char* t = z.s == z.t ? "s" : "t";  // a window asks for as many keys as queries
  return fmt::format(
      "let T = {}, b = {}, h = {}, s = {}, t = {}, d = {}, e = {}\n"
      "fusion @f (%g: T[b, h, s, e], %q: T[b, h, s, d], %k: T[b, {}, {}, d], %v: T[b, {}, {}, e], %l: T[b, h, s, 1], "
      "%z: T[b, h, s, 1], %m: bool[s, {}]) -> ({}) {{\n"
      "%i = iota(shape = [s, 1], dim = 0)\n%j = iota(shape = [{}], dim = 0)\n%s = {}\n%p = {}\n"
      "%dv = matmul(permute(%p, dims = [0, 1, 3, 2]), %g)\n%dp = matmul(%g, permute(%v, dims = [0, 1, 3, 2]))\n"
      "%ds = {}\n%dq = mul(matmul(%ds, %k), 0.25)\n%dk = mul(matmul(permute(%ds, dims = [0, 1, 3, 2]), %q), "
      "0.25)\n}}\n",
      dtype, z.b, z.h, z.s, z.t, z.d, z.e, keys_of, t, keys_of, t, t, outputs, t,
      choose("mul(matmul(%q, permute(%k, dims = [0, 1, 3, 2])), 0.25)", "-inf"), choose("exp(sub(%s, %l))", "0"),
      choose("mul(%p, sub(%dp, %z))", "0"));
}

const char* const kCausal = "le(%j, %i)";
const char* const kWindow = "logical_and(le(%j, add(%i, 3)), lt(%i, add(%j, 100)))";

void expect_one_kernel(const std::string& text) {
  CaseOptions how;
  how.options.cpu_threads = 2;
  const CaseResult result = run_case(text, how);
  EXPECT_TRUE(result.ok) << text << result.message;
  EXPECT_EQ(result.report.launches, 1) << text;
  EXPECT_EQ(result.report.library_calls, 0) << text;
}

// The text of stage `segments`, for what is not run.
std::string segments_of(const std::string& text) {
  CompileOptions how;
  how.device = "cpu";
  how.until = "segments";
  const auto fusion = parse_fusion(text);
  const auto inputs = reference::draw_inputs(*fusion, {});
  try {
    compile(*fusion, how).run({inputs.begin(), inputs.end()});
  } catch (const StoppedAt& stop) {
    return stop.text;
  }
  return "";
}
int attention_kernels(const std::string& text) {
  const std::string segments = segments_of(text), word = "schedule attention(";
  int out = 0;
  for (size_t at = segments.find(word); at != std::string::npos; at = segments.find(word, at + 1)) ++out;
  return out;
}

TEST(AttentionOfHeads, GradientsAreOneKernel) {
  for (const char* kept : {"", "%m"}) expect_one_kernel(gradient_of_heads("f32", {2, 4, 256, 130, 4, 8}, kept));
  expect_one_kernel(gradient_of_heads("f32", {1, 8, 260, 70, 17, 5}, kCausal));
  expect_one_kernel(gradient_of_heads("f64", {4, 2, 300, 300, 3, 2}, kWindow));
}

// Results that are the products themselves, some of them, and one head of keys for all.
TEST(AttentionOfHeads, OtherResultsOfAGradient) {
  const Heads z = {2, 4, 256, 40, 4, 4};
  expect_one_kernel(gradient_of_heads("f32", z, "%m", "%dv, %dq"));
  expect_one_kernel(gradient_of_heads("f32", z, kCausal, "%dq, %dk"));
  expect_one_kernel(gradient_of_heads("f32", z, kCausal, "%dq, %dk, %dv", "1"));
}

// Sums of all queries that the stack does not hold are in memory.
TEST(AttentionOfHeads, SumsOfManyQueriesAreInMemory) {
  for (const Heads& z : {Heads{2, 4, 4100, 40, 1, 1}, {1, 9, 530, 129, 120, 1}})
    expect_one_kernel(gradient_of_heads("f32", z, z.d == 1 ? kCausal : ""));
}

// Fewer heads than tasks should be; more states than a task has; more features; scores that somebody else reads.
TEST(AttentionOfHeads, OtherGradientsAreTwoKernels) {
  EXPECT_EQ(attention_kernels(gradient_of_heads("f32", {1, 8, 256, 256, 4, 4}, "")), 1);
  EXPECT_EQ(attention_kernels(gradient_of_heads("f32", {1, 7, 256, 256, 4, 4}, "")), 2);
  EXPECT_EQ(attention_kernels(gradient_of_heads("f32", {2, 4, 65536, 256, 1, 1}, "")), 1);
  EXPECT_EQ(attention_kernels(gradient_of_heads("f32", {2, 4, 65537, 256, 1, 1}, "")), 2);
  EXPECT_EQ(attention_kernels(gradient_of_heads("f64", {2, 4, 256, 256, 64, 2}, "")), 1);
  EXPECT_EQ(attention_kernels(gradient_of_heads("f64", {2, 4, 256, 256, 65, 2}, "")), 2);
  EXPECT_EQ(attention_kernels(gradient_of_heads("f32", {2, 4, 256, 256, 4, 4}, "", "%dq, %dk, %dv, %ds")), 0);
}

TEST(AttentionOfHeads, WhatAMaskLeavesOutIsSkipped) {
  const Heads z = {2, 4, 300, 300, 8, 8};
  const std::string limits =
      attention_limits(gradient_of_heads("f32", z, "logical_and(le(%j, add(%i, 8)), lt(%i, add(%j, 25)))"));
  for (const char* of : {"%dq_matmul", "%dk_matmul", "%dv"}) {
    EXPECT_NE(limits.find(fmt::format("queries of {} begin at 32 floordiv(key, 32) - 8\n", of)), std::string::npos)
        << limits;
    EXPECT_NE(limits.find(fmt::format("queries of {} end at 32 floordiv(key, 32) + 56\n", of)), std::string::npos)
        << limits;
  }
  EXPECT_EQ(attention_limits(gradient_of_heads("f32", z, "%m")), "");
}

// Limits that no tile of queries has as a whole: offsets that sizes say, tiles of 3 rows in groups of 4 keys.
TEST(AttentionOfHeads, LimitsOfQueriesAreRight) {
  const Heads z = {1, 8, 260, 260, 2, 3};
  std::string text = gradient_of_heads("f32", {1, 8, 260, 70, 2, 3}, "le(%j, add(%i, %w))");
  text.insert(text.find("%i = iota"), "%w = size(value = w)\n");
  text.insert(text.find("%m: bool"), "%x: f32[w], ");
  expect_one_kernel("let w = 3\n" + text);
  expect_one_kernel(std::regex_replace(segments_of(gradient_of_heads("f32", z, kWindow)),
                                       std::regex("schedule attention\\([^)]*\\)"),
                                       "schedule attention(rows = 3, queries = 4)"));
}

TEST(AttentionOfHeads, GradientsAreTheSameBitsOnAnyNumberOfThreads) {
  const std::string text = gradient_of_heads("f32", {3, 3, 300, 70, 5, 3}, kCausal);
  CaseOptions one, five;
  one.options.cpu_threads = 1, five.options.cpu_threads = 5;
  EXPECT_TRUE(testing::bits_of(run_case(text, one).outputs) == testing::bits_of(run_case(text, five).outputs));
}

TEST(AttentionOfHeads, ValuesThatAreNoNumbersReachWhatTheyReachInTheReference) {
  const Heads causal = {2, 4, 260, 70, 3, 5}, window = {2, 4, 260, 260, 3, 5};
  for (uint64_t seed = 0; seed < 3; ++seed) {
    CaseOptions how;
    how.specials = true;
    how.seed = seed;
    const CaseResult result = run_case(
        seed == 2 ? gradient_of_heads("f32", window, kWindow) : gradient_of_heads("f32", causal, kCausal), how);
    EXPECT_TRUE(result.ok || result.undecided) << seed << ": " << result.message;
    EXPECT_EQ(result.report.launches, 1);
  }
}

}  // namespace
}  // namespace plait
