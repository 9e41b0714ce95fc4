// Attention whose masks leave keys out: what is skipped, what is not, and what values that are no numbers reach.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "support/attention_limits.h"
#include "support/run_case.h"

namespace plait {
namespace {

using testing::attention_limits;
using testing::CaseOptions;
using testing::CaseResult;
using testing::run_case;

std::string masked(const std::string& mask, const std::string& tail = "%y = matmul(softmax(%x, dim = 1), %v)") {
  return "fusion @f (%q: f32[100, 8], %k: f32[300, 8], %v: f32[300, 5], %b: f32[100, 300], %m: bool[100, 300]) -> (%y) "
         "{\n"
         "%s = matmul(%q, permute(%k, dims = [1, 0]))\n%i = iota(shape = [100, 1], dim = 0)\n"
         "%j = iota(shape = [300], dim = 0)\n" +
         mask + "\n" + tail + "\n}\n";
}

// Causal masks and windows, however they are written: keys that no query of a group sees are neither scored nor
// weighed.
TEST(AttentionKernels, KeysThatAMaskLeavesOutAreSkipped) {
  const struct {
    const char* mask;
    int begin, end;  // of groups of 16; -1: no such limit
  } cases[] = {
      {"%x = where(le(%j, %i), %s, -inf)", -1, 16},
      {"%x = where(ge(%i, %j), add(%s, %b), -inf)", -1, 16},
      {"%x = where(lt(%j, add(%i, 9)), %s, -inf)", -1, 24},
      {"%x = where(gt(%j, add(8, %i)), -inf, %s)", -1, 24},
      {"%x = where(logical_not(lt(%i, sub(%j, 8))), mul(%s, 0.5), -inf)", -1, 24},
      {"%x = where(logical_and(%m, le(%j, %i)), %s, -inf)", -1, 16},
      {"%x = where(logical_or(%m, gt(%j, %i)), -inf, %s)", -1, 16},
      {"%x = where(%m, where(le(%j, %i), %s, -inf), -inf)", -1, 16},
      {"%x = mul(where(le(%j, %i), where(%m, %s, -inf), -inf), 2)", -1, 16},
      {"%x = where(gt(%j, sub(%i, 41)), %s, -inf)", 40, -1},
      {"%x = where(le(%i, %j), %s, -inf)", 0, -1},
      {"%x = where(logical_and(le(%j, %i), gt(%j, sub(%i, 33))), %s, -inf)", 32, 16},
      {"%x = where(le(%j, %i), where(lt(sub(%i, %j), 3), %s, -inf), -inf)", 8, 16},
      {"%x = where(le(sub(%j, %i), 5), %s, -inf)", -1, 24},
      {"%x = where(ge(sub(%i, %j), neg(7)), %s, -inf)", -1, 24},
      {"%x = where(lt(abs(sub(%i, %j)), 17), %s, -inf)", 16, 32},
      {"%x = where(gt(abs(sub(%j, %i)), 9), -inf, %s)", 16, 32},
      {"%x = where(bitwise_or(gt(%j, %i), gt(sub(%i, %j), 12)), -inf, %s)", 16, 16},
      {"%x = where(bitwise_and(%m, bitwise_not(gt(%j, %i))), %s, -inf)", -1, 16},
      {"%x = where(logical_or(le(%j, %i), lt(sub(%j, %i), 9)), %s, -inf)", -1, 24},
      {"%u = iota(shape = [100], dim = 0)\n%x = where(le(%j, unsqueeze(%u, dims = [1])), %s, -inf)", -1, 16},
      {"%u = iota(shape = [100], dim = 0)\n"
       "%d = sub(unsqueeze(%u, dims = [1]), unsqueeze(iota(shape = [300], dim = 0), dims = [0]))\n"
       "%x = where(logical_and(ge(%d, 0), le(%d, 20)), %s, -inf)",
       24, 16},
      {"%x = where(lt(add(%j, 16), %i), -inf, where(gt(%j, add(%i, 16)), -inf, %s))", 16, 32},
  };
  for (const auto& c : cases) {
    const std::string text = masked(c.mask), limits = attention_limits(text);
    const auto has = [&](const std::string& line) { return limits.find(line) != std::string::npos; };
    EXPECT_EQ(has(fmt::format("keys of %s end at 32 floordiv(query, 32) + {}\n", c.end + 16)), c.end >= 0) << limits;
    EXPECT_EQ(has(fmt::format("keys of %s begin at 32 floordiv(query, 32) - {}\n", c.begin)), c.begin >= 0) << limits;
    EXPECT_EQ(has("end at"), c.end >= 0) << c.mask << "\n" << limits;
    EXPECT_EQ(has("begin at"), c.begin >= 0) << c.mask << "\n" << limits;
    EXPECT_GE(std::ranges::count(limits, '\n'), 5) << limits;  // scores, maximum, exponentials, their sum, product
    const CaseResult result = run_case(text, {});
    EXPECT_TRUE(result.ok) << c.mask << ": " << result.message;
    EXPECT_EQ(result.report.launches, 1) << c.mask;
  }
}

// A choice of weights hides that the rest of a row is NaN, which what is left out would show.
TEST(AttentionKernels, ChoicesOfWeightsHideNoNan) {
  for (const char* again : {"%pad", "%m"}) {
    const std::string text = masked("%pad = ge(%j, 150)\n%x = where(logical_and(le(%j, %i), %pad), %s, -inf)",
                                    fmt::format("%y = matmul(where({}, softmax(%x, dim = 1), 0.0), %v)", again));
    const CaseResult result = run_case(text, {});
    EXPECT_TRUE(result.ok || result.undecided) << text << result.message;
    EXPECT_EQ(attention_limits(text), "") << text;
  }
  // For each row alike it hides nothing.
  const std::string rows =
      masked("%x = where(le(%j, %i), %s, -inf)\n%none = eq(amax(%x, dims = [1], keepdim = true), -inf)",
             "%y = matmul(where(%none, 0.0, softmax(%x, dim = 1)), %v)");
  EXPECT_NE(attention_limits(rows).find("end at 32 floordiv(query, 32) + 32\n"), std::string::npos)
      << attention_limits(rows);
  const CaseResult result = run_case(rows, {});
  EXPECT_TRUE(result.ok) << result.message;
}

// What may be other than 0 beyond the query, and rows that may see no key.
TEST(AttentionKernels, KeysThatMayCountAreNotSkipped) {
  for (const char* mask :
       {"%x = add(%s, %b)", "%x = where(%m, %s, -inf)", "%x = where(le(%j, %i), %s, -1e9)",
        "%x = where(le(%j, %i), -inf, %s)", "%x = where(le(add(%j, 1), %i), %s, -inf)",
        "%x = where(logical_or(%m, le(%j, %i)), %s, -inf)", "%x = where(gt(%j, %i), %s, -inf)",
        "%x = where(gt(sub(%j, 1), %i), %s, -inf)", "%x = add(where(le(%j, %i), %s, -inf), %b)",
        "%x = mul(where(le(%j, %i), %s, -inf), -1)", "%x = where(le(%j, mul(%i, 2)), %s, -inf)",
        "%x = where(gt(abs(sub(%i, %j)), 9), %s, -inf)", "%x = where(lt(sub(sub(%i, %j), %i), 3), %s, -inf)",
        "%x = where(lt(add(%i, %j), 500), %s, -inf)"}) {
    const std::string text = masked(mask);
    EXPECT_EQ(attention_limits(text), "") << mask;
    const CaseResult result = run_case(text, {});
    EXPECT_TRUE(result.ok || result.undecided) << mask << ": " << result.message;
    EXPECT_EQ(result.report.launches, 1) << mask;
  }
  const std::string causal = "%x = where(le(%j, %i), %s, -inf)";
  for (const char* tail :
       {"%y = matmul(exp(sub(%x, amin(%x, dims = [1], keepdim = true))), %v)",
        "%e = exp(%x)\n%n = sum(add(%e, 1), dims = [1], keepdim = true)\n%y = matmul(div(%e, %n), %v)",
        "%m2 = amax(%x, dims = [1], keepdim = true)\n%y = matmul(add(exp(sub(%x, %m2)), 1), %v)"}) {
    const std::string text = masked(causal, tail);
    EXPECT_EQ(attention_limits(text), "") << tail;
    const CaseResult result = run_case(text, {});
    EXPECT_TRUE(result.ok || result.undecided) << tail << ": " << result.message;
  }
}

// 0 times what is infinite or NaN is NaN, also where the key is left out.
TEST(AttentionKernels, ValuesThatAreNoNumbersReachWhatTheyReachInTheReference) {
  for (const char* number : {"nan", "-inf"})
    for (const int key : {0, 16, 63, 64, 299}) {
      const std::string text = fmt::format(
          "fusion @f (%q: f32[2, 300, 8], %k: f32[2, 300, 8], %v: f32[2, 300, 20]) -> (%y) {{\n"
          "%j = iota(shape = [300, 1], dim = 0)\n%e = iota(shape = [20], dim = 0)\n"
          "%w = where(logical_and(eq(%j, {}), ge(%e, 17)), {}, %v)\n"
          "%y = scaled_dot_product_attention(%q, %k, %w, causal = true)\n}}\n",
          key, number);
      const CaseResult result = run_case(text, {});
      EXPECT_TRUE(result.ok) << number << " at " << key << ": " << result.message;
      EXPECT_EQ(result.report.library_calls, 0);
      const Tensor& y = result.outputs.at("y");
      int wrong = 0, others = 0;
      for (int64_t i = 0; i < 2 * 300; ++i)
        for (int64_t e = 0; e < 20; ++e) {
          const bool is_number = std::isfinite(static_cast<const float*>(y.data())[i * 20 + e]);
          (e >= 17 ? wrong : others) += is_number == (e >= 17) ? 1 : 0;
        }
      EXPECT_EQ(others, 0) << number << " at " << key;
      EXPECT_EQ(wrong, 0) << number << " at " << key;  // weight 0 or not
    }
  for (uint64_t seed = 0; seed < 12; ++seed) {
    CaseOptions how;
    how.specials = true;
    how.seed = seed;
    const std::string window = "%x = where(logical_and(le(%j, add(%i, 9)), lt(%i, add(%j, 20))), %s, -inf)";
    const std::string causal =
        "fusion @f (%q: f32[2, 70, 8], %k: f32[2, 300, 8], %v: f32[2, 300, 5]) -> (%y) {\n"
        "%y = scaled_dot_product_attention(%q, %k, %v, causal = true)\n}\n";
    const std::string text = seed % 2 == 0 ? masked(window) : causal;
    const CaseResult result = run_case(text, how);
    EXPECT_TRUE(result.ok || result.undecided) << seed << ": " << result.message;
  }
}

}  // namespace
}  // namespace plait
