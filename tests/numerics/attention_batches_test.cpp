// Attention whose products have their batch and heads merged into one dim, as PyTorch's matmul of four dims has it.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include "support/run_case.h"

namespace plait {
namespace {

using testing::CaseOptions;
using testing::CaseResult;
using testing::run_case;

std::string merged(const std::string& t, const char* rows, const char* columns) {
  return fmt::format(
      "reshape(cast(broadcast({}, shape = [b, h, {}, {}], dims = [0, 1, 2, 3]), to = T), shape = [b*h, {}, {}])", t,
      rows, columns, rows, columns);
}

void expect_kernels(const std::string& text, const char* dtype, int queries, int launches) {
  const std::string all =
      fmt::format("let T = {}, b = 2, h = 2, s = {}, t = 260, d = 4, e = 8\n", dtype, queries) + text;
  CaseOptions how;
  how.options.cpu_threads = 2;
  const CaseResult result = run_case(all, how);
  EXPECT_TRUE(result.ok) << all << result.message;
  EXPECT_EQ(result.report.launches, launches) << all;
  EXPECT_EQ(result.report.library_calls, 0) << all;
}

TEST(AttentionBatches, MergedForTheProductsAreOneKernel) {
  const std::string scores = "reshape(matmul(" + merged("%qh", "s", "d") + ", " +
                             merged("permute(%kh, dims = [0, 1, 3, 2])", "d", "t") + "), shape = [b, h, s, t])";
  const std::string product =
      "reshape(matmul(" + merged("%p", "s", "t") + ", " + merged("%vh", "t", "e") + "), shape = [b, h, s, e])";
  const struct {
    const char *inputs, *heads;
  } cases[] = {
      {"%q: T[b, s, h, d], %k: T[b, t, h, d], %v: T[b, t, h, e]",
       "%qh = permute(%q, dims = [0, 2, 1, 3])\n%kh = permute(%k, dims = [0, 2, 1, 3])\n"
       "%vh = permute(%v, dims = [0, 2, 1, 3])"},
      {"%q: T[b, h, s, d], %k: T[b, t, d], %v: T[b, t, e]",  // one head of keys for all, copied for the products
       "%qh = add(%q, 1.0)\n%kh = broadcast(unsqueeze(%k, dims = [1]), shape = [b, h, t, d], dims = [0, 1, 2, 3])\n"
       "%vh = broadcast(unsqueeze(%v, dims = [1]), shape = [b, h, t, e], dims = [0, 1, 2, 3])"},
  };
  for (const auto& c : cases)
    for (const char* mask : {"%s", "where(%m, %s, -inf)"})
      for (const char* dtype : {"f32", "f64"}) {
        if (*mask == '%' && std::string(dtype) == "f64") continue;
        const bool computes = std::string(c.heads).find("add") != std::string::npos;
        expect_kernels(fmt::format("fusion @f ({}, %m: bool[s, t]) -> (%y) {{\n{}\n%s = mul({}, 0.3)\n"
                                   "%p = softmax({}, dim = 3)\n%y = {}\n}}\n",
                                   c.inputs, c.heads, scores, mask, product),
                       dtype, 35, computes ? 2 : 1);
      }
}

// One tensor of positions for both dims, as who writes arange once has it; fewer keys than the kernel asks for go the
// other way.
TEST(AttentionBatches, PositionsOfBothDimsAreOneTensor) {
  for (const int s : {256, 40}) {
    const std::string text = fmt::format(
        "let s = {}\nfusion @f (%q: f32[2, s, 8], %k: f32[2, s, 8], %v: f32[2, s, 8]) -> (%y, %x) {{\n"
        "%i = iota(shape = [s], dim = 0)\n%d = sub(unsqueeze(%i, dims = [1]), unsqueeze(%i, dims = [0]))\n"
        "%s = where(bitwise_or(lt(%d, 0), gt(%d, 20)), -inf, matmul(%q, permute(%k, dims = [0, 2, 1])))\n"
        "%y = matmul(softmax(%s, dim = 2), %v)\n%x = add(cast(%i, to = f32), 1.0)\n}}\n",
        s);
    const CaseResult result = run_case(text, {});
    EXPECT_TRUE(result.ok) << text << result.message;
    EXPECT_EQ(result.report.launches, 2) << text;  // with %x
    EXPECT_EQ(result.report.library_calls, s == 256 ? 0 : 2) << text;
  }
}

// The forward run keeps merged stacks of queries, keys and values.
TEST(AttentionBatches, GradientsOfMergedOnesAreTwoKernels) {
  for (const char* dtype : {"f32", "f64"})
    expect_kernels(
        "fusion @f (%g: T[b, h, s, e], %q: T[b*h, s, d], %k: T[b*h, d, t], %v: T[b*h, t, e], %o: T[b, h, s, e], "
        "%l: T[b, h, s, 1]) -> (%dq, %dk, %dv) {\n"
        "%gm = " +
            merged("%g", "s", "e") +
            "\n"
            "%s = mul(reshape(matmul(%q, %k), shape = [b, h, s, t]), 0.3)\n%p = exp(sub(%s, %l))\n"
            "%pm = " +
            merged("%p", "s", "t") +
            "\n"
            "%dv = matmul(permute(%pm, dims = [0, 2, 1]), %gm)\n"
            "%dp = reshape(matmul(%gm, permute(%v, dims = [0, 2, 1])), shape = [b, h, s, t])\n"
            "%z = sum(mul(%g, %o), dims = [3], keepdim = true)\n%ds = mul(mul(%p, sub(%dp, %z)), 0.3)\n"
            "%dsm = " +
            merged("%ds", "s", "t") +
            "\n"
            "%dq = matmul(%dsm, permute(%k, dims = [0, 2, 1]))\n%dk = matmul(permute(%dsm, dims = [0, 2, 1]), %q)\n}\n",
        dtype, 257, 3);
}

}  // namespace
}  // namespace plait
