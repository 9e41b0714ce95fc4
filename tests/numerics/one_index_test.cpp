// Scatters with one index for each row, which kernels of moves and of rows compute where they are read.
#include <gtest/gtest.h>

#include "support/run_case.h"

namespace plait {
namespace {

using testing::CaseOptions;
using testing::CaseResult;
using testing::run_case;

CaseResult one_index(const std::string& body, const std::string& dtype, const std::string& device, const char* set_n) {
  CaseOptions how;
  how.device = device;
  how.set = {{"T", dtype}, {"n", set_n}};
  return run_case(
      "let b = 6, m = 3, n = 40, T = f32\ngiven n: 1 in 1..99999\nfusion @f (%x: T[b, n, m], %i: i32[b, 1, m] in 0..n, "
      "%s: "
      "T[b, 1, m], %z: T[b, n, m]) -> (%y) {\n" +
          body + "}\n",
      how);
}

TEST(OneIndex, OfEveryUpdateAndDtype) {
  for (const char* device : {"cpu", "sim:sm_80"}) {
    if (!testing::why_no_device(device).empty()) continue;
    for (const char* update : {"set", "add", "max", "min", "mul"})
      for (const char* dtype : {"f32", "bf16", "i32", "bool", "f64", "f16", "i8", "u64"}) {
        if (device[0] == 's' && std::string(dtype) == "f64") break;  // the first ones
        const bool is_bool = std::string(dtype) == "bool";
        if (is_bool && (std::string(update) == "add" || std::string(update) == "mul")) continue;
        const std::string neighbours = is_bool ? "logical_or" : "max";
        for (const char* n : {"1", "67"}) {
          const CaseResult r = one_index(fmt::format("  %d = scatter({0}(%x, %z), %i, %s, dim = 1, update = {1})\n"
                                                     "  %y = {0}(%d, %z)\n",
                                                     neighbours, update),
                                         dtype, device, n);
          EXPECT_TRUE(r.ok) << update << " of " << dtype << " on " << device << ", " << n << ": " << r.message;
          EXPECT_EQ(r.report.launches, 1) << update << " of " << dtype << " on " << device << ", " << n;
        }
      }
  }
}

// Beside sums of its rows, along the indexed dim and across, and of a row that is computed.
TEST(OneIndex, BesideSumsOfItsRows) {
  for (const char* device : {"cpu", "sim:sm_80"}) {
    if (!testing::why_no_device(device).empty()) continue;
    for (const char* body :
         {"  %d = scatter(%x, %i, %s, dim = 1)\n  %y = sub(%d, sum(%d, dims = [1], keepdim = true))\n",
          "  %d = scatter(%x, %i, mul(%s, 2.0), dim = 1, update = add)\n"
          "  %y = mul(%d, amax(abs(%d), dims = [1, 2], keepdim = true))\n",
          "  %p = div(exp(%x), sum(exp(%x), dims = [1], keepdim = true))\n"
          "  %y = scatter(%p, %i, sum(%z, dims = [1], keepdim = true), dim = 1, update = add)\n"}) {
      const CaseResult r = one_index(body, "f32", device, "67");
      EXPECT_TRUE(r.ok) << body << " on " << device << ": " << r.message;
      EXPECT_EQ(r.report.launches, 1) << body << " on " << device;
    }
  }
}

TEST(OneIndex, OutsideIsTold) {
  const auto fusion = parse_fusion(
      "given n: 1 in 1..99999\nfusion @f (%x: f32[b, n], %i: i64[b, 1], %s: f32[b, 1]) -> (%y, %t) {\n"
      "  %d = scatter(%x, %i, %s, dim = 1)\n  %t = sum(%d, dims = [1])\n  %y = neg(%d)\n}\n");
  Compiled p = compile(*fusion, {.device = "cpu"});
  const auto run = [&](std::vector<double> i) -> std::string {
    try {
      const Tensors out = p.run({{"x", Tensor::from_doubles(DType::f32, {3, 2}, {1, 2, 3, 4, 5, 6})},
                                 {"i", Tensor::from_doubles(DType::i64, {3, 1}, i)},
                                 {"s", Tensor::from_doubles(DType::f32, {3, 1}, {7, 8, 9})}});
      EXPECT_EQ(p.report().launches, 1);
      std::string text;
      for (double v : out.at("t").to_doubles()) text += fmt::format("{} ", v);
      return text;
    } catch (const UserError& e) {
      return std::string(e.message());
    }
  };
  EXPECT_EQ(run({1, 0, 1}), "8 12 14 ");
  EXPECT_EQ(run({1, 2, -1}), "index 2 at [1, 0] of %i lies outside of the 2 places along dim 1 of %x");
  EXPECT_EQ(run({1, 0, -1}), "index -1 at [2, 0] of %i lies outside of the 2 places along dim 1 of %x");
}

// What may be written in place of its operand writes its updates alone.
TEST(OneIndex, OfMemoryIsAScatter) {
  for (const bool in_memory : {true, false}) {
    const CaseResult r = run_case(
        fmt::format("let b = 5, n = 10\ngiven n: 1 in 1..99999\nfusion @f (%x: f32[b, n], %i: i64[b, 1] in 0..n, %s: "
                    "f32[b, 1]) -> (%y) {{\n  %y = scatter({}, %i, %s, dim = 1)\n}}\n",
                    in_memory ? "%x" : "neg(%x)"),
        {});
    EXPECT_TRUE(r.ok) << r.message;
    ASSERT_EQ(r.report.kernels.size(), 1u);
    EXPECT_EQ(r.report.kernels[0].schedule.starts_with("scatter("), in_memory) << r.report.kernels[0].schedule;
  }
}

// Cut along the indexed dim, each rank has the places of its piece.
TEST(OneIndex, OfCutRows) {
  CaseOptions how;
  how.ranks = 3;
  const CaseResult r = run_case(
      "let b = 5, n = 10\ngiven n: 1 in 1..99999\nmesh @m (tp = t)\nfusion @f on @m (%x: f32[b, n] {1: tp}, %i: i64[b, "
      "1] in "
      "0..n, %s: f32[b, 1]) -> (%y, %t) {\n  %y = scatter(%x, %i, %s, dim = 1, update = add)\n"
      "  %t = sum(%y, dims = [1])\n}\n",
      how);
  EXPECT_TRUE(r.ok) << r.message;
}

}  // namespace
}  // namespace plait
