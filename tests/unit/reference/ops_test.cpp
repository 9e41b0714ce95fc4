// Every op against values computed by hand, with the boundaries: empty extents, 0-dim tensors, NaN, infinities, -0.
#include <cmath>

#include "helpers.h"
#include "scalar/philox.h"

namespace plait::reference {
namespace {

TEST(Pointwise, BroadcastsTrailingDims) {
  const Array y = run("%a: f32[2, 1, 3], %b: f32[2, 1]", "%y = sub(%a, %b)",
                      {{"a", f32({2, 1, 3}, {1, 2, 3, 4, 5, 6})}, {"b", f32({2, 1}, {10, 20})}});
  EXPECT_EQ(y.shape, (Shape{2, 2, 3}));
  expect_values(y, {-9, -8, -7, -19, -18, -17, -6, -5, -4, -16, -15, -14});
}

TEST(Pointwise, ZeroDimAndEmpty) {
  expect_values(run("%a: f32[], %b: f32[]", "%y = mul(%a, %b)", {{"a", f32({}, {3})}, {"b", f32({}, {-2})}}), {-6});
  const Array y =
      run("%a: f32[0, 3], %b: f32[3]", "%y = add(%a, %b)", {{"a", f32({0, 3}, {})}, {"b", f32({3}, {1, 2, 3})}});
  EXPECT_EQ(y.shape, (Shape{0, 3}));
  EXPECT_EQ(y.elements(), 0);
}

TEST(Pointwise, SpecialValues) {
  const Given given{{"a", f32({5}, {kNaN, kInfinity, -kInfinity, -0.0, kInfinity})},
                    {"b", f32({5}, {1, kInfinity, kInfinity, 0, 0})}};
  const std::string in = "%a: f32[5], %b: f32[5]";
  const Array sum = run(in, "%y = add(%a, %b)", given);
  expect_values(sum, {kNaN, kInfinity, kNaN, 0, kInfinity});
  for (int i : {0, 1, 2, 4}) EXPECT_EQ(sum.radius[i], 0) << i;
  EXPECT_TRUE(sum.excused.empty());
  expect_values(run(in, "%y = max(%a, %b)", given), {kNaN, kInfinity, kInfinity, 0, kInfinity});
  expect_values(run(in, "%y = mul(%a, %b)", given), {kNaN, kInfinity, -kInfinity, 0, kNaN});
  expect_values(run(in, "%t = lt(%a, %b)\n%y = cast(%t, to = f32)", given), {0, 0, 1, 0, 0});
  expect_values(run(in, "%t = ne(%a, %b)\n%y = cast(%t, to = f32)", given), {1, 0, 1, 0, 1});
  const Array neg = run(in, "%y = neg(%b)", given);
  EXPECT_TRUE(std::signbit(neg.value[3]));
  expect_values(run(in, "%y = div(%b, %b)", given), {1, kNaN, kNaN, kNaN, kNaN});
}

TEST(Pointwise, OverflowOfF32IsInfinity) {
  const Array y = run("%a: f32[3]", "%t = exp(%a)\n%y = div(%a, %t)", {{"a", f32({3}, {100, -200, 1})}});
  EXPECT_EQ(y.value[0], 0);  // 100 / infinity
  EXPECT_LE(y.radius[0], 0x1p-149);
  EXPECT_TRUE(y.excused_at(1));  // exp(-200) may be 0 in f32
  EXPECT_EQ(y.value[2], 1 / std::exp(1.0));
  EXPECT_GT(y.radius[2], 0);
}

TEST(Pointwise, IntegersAreExactAndWrap) {
  Tensor a = Tensor::empty(DType::i64, {3});
  const int64_t values[] = {INT64_MAX, (int64_t{1} << 53) + 1, -7};
  std::copy(values, values + 3, static_cast<int64_t*>(a.data()));
  const Array y = run("%a: i64[3]", "%t = add(%a, %a)\n%y = sub(%t, %a)", {{"a", a}});
  EXPECT_EQ(y.integers, (std::vector<int64_t>{INT64_MAX, (int64_t{1} << 53) + 1, -7}));
  EXPECT_EQ(y.radius, (Values{0, 0, 0}));
  const Array u = run("%a: u32[2]", "%y = neg(%a)", {{"a", Tensor::from_doubles(DType::u32, {2}, {1, 0})}});
  expect_values(u, {4294967295.0, 0});
}

TEST(Pointwise, Casts) {
  const Given given{{"a", f32({6}, {-1.5, 2.5, kNaN, 1e30, 0.1, -0.0})}};
  const std::string in = "%a: f32[6]";
  const Array i = run(in, "%y = cast(%a, to = i64)", given);
  EXPECT_EQ(i.integers, (std::vector<int64_t>{-1, 2, 0, INT64_MAX, 0, 0}));
  expect_values(run(in, "%y = cast(%a, to = u32)", given), {0, 2, 0, 4294967295.0, 0, 0});
  expect_values(run(in, "%y = cast(%a, to = bool)", given), {1, 1, 1, 1, 1, 0});
  const Array h = run(in, "%y = cast(%a, to = f16)", given);
  expect_values(h, {-1.5, 2.5, kNaN, kInfinity, 0.0999755859375, -0.0});
  EXPECT_EQ(h.radius[0], 0);
  EXPECT_EQ(h.radius[4], double(0.1f) - 0.0999755859375);  // kept or skipped
  EXPECT_TRUE(h.excused_at(3));                            // skipped it would be 1e30
  expect_values(run(in, "%y = cast(%a, to = i8)", given), {-1, 2, 0, 127, 0, 0});
  expect_values(run(in, "%y = cast(%a, to = u16)", given), {0, 2, 0, 65535, 0, 0});
  const Array q = run(in, "%y = cast(%a, to = f8e4m3)", given);
  expect_values(q, {-1.5, 2.5, kNaN, 448, 0.1015625, -0.0});
  EXPECT_EQ(q.radius, std::vector<double>(6, 0.0)) << "f8 is always rounded";
  expect_values(run(in, "%y = cast(%a, to = f8e5m2)", given), {-1.5, 2.5, kNaN, kInfinity, 0.09375, -0.0});
  const Array d = run("%a: f64[1]", "%y = cast(%a, to = f32)", {{"a", Tensor::from_doubles(DType::f64, {1}, {0.1})}});
  expect_values(d, {double(0.1f)});
  EXPECT_EQ(d.radius[0], 0);
  Tensor large = Tensor::empty(DType::u64, {1});
  *static_cast<uint64_t*>(large.data()) = UINT64_MAX;
  expect_values(run("%a: u64[1]", "%y = cast(%a, to = f32)", {{"a", large}}), {0x1p64});
}

// Where the operand's interval holds a boundary of f8, its both sides; past the end, all of it or nothing known.
TEST(Pointwise, RadiusOfF8) {
  const auto settled = [](DType dtype, double value, double own) {
    return settle(dtype, value, Interval::point(value), own);
  };
  EXPECT_EQ(settled(DType::f8e4m3, 1.0624, 1e-6).radius, 0);
  EXPECT_EQ(settled(DType::f8e4m3, 1.0624, 1e-6).value, 1);
  EXPECT_EQ(settled(DType::f8e4m3, 1.0625, 1e-6).radius, 0.125);
  EXPECT_EQ(settled(DType::f8e4m3, 1e30, 1e20).value, 448);
  EXPECT_EQ(settled(DType::f8e4m3, 1e30, 1e20).radius, 0);
  EXPECT_EQ(settled(DType::f8e5m2, 61439, 10).radius, kInfinity);
  EXPECT_EQ(settled(DType::f8e5m2, 1e6, 10).value, kInfinity);
  EXPECT_EQ(settled(DType::f8e5m2, 1e6, 10).radius, 0);
  EXPECT_EQ(settle(DType::f8e4m3, 1, Interval::anything(), 0).radius, kInfinity);
}

// Integers wrap in their own type, and what hangs on a discontinuity may wrap to anything.
TEST(Pointwise, SmallIntegersWrap) {
  const Given given{{"a", Tensor::from_doubles(DType::i8, {3}, {127, -128, 100})},
                    {"b", Tensor::from_doubles(DType::i8, {3}, {1, -1, 100})},
                    {"x", f32({3}, {0.1f, 2, 0.3f})}};
  const std::string in = "%a: i8[3], %b: i8[3], %x: f32[3]";
  expect_values(run(in, "%y = add(%a, %b)", given), {-128, 127, -56});
  expect_values(run(in, "%y = mul(%a, %b)", given), {127, -128, 16});
  expect_values(run(in, "%y = neg(%a)", given), {-127, -128, -100});
  expect_values(run(in, "%t = add(%a, %b)\n%y = lt(%t, %a)", given), {1, 0, 1});
  expect_values(run(in, "%y = cast(%a, to = u8)", given), {127, 128, 100});
  // tanh(x) * 10 / tanh(x) is 10 but for its error: the integer may be 9 or 10, and 118 more may wrap.
  const Array open = run(in,
                         "%t = tanh(%x)\n%k = full(shape = [], value = 10, dtype = f32)\n%u = mul(%t, %k)\n"
                         "%v = div(%u, %t)\n%i = cast(%v, to = i8)\n"
                         "%l = full(shape = [], value = 118, dtype = i8)\n%y = add(%i, %l)",
                         given);
  for (int64_t i = 0; i < 3; ++i) {
    ASSERT_TRUE(open.has_alternative(i));
    EXPECT_EQ(std::abs(open.value[i] - *open.alternative[i]), 255);  // 127 or -128
  }
}

TEST(Pointwise, WhereAndMixedTypes) {
  const Given given{{"c", Tensor::from_doubles(DType::boolean, {2, 1}, {1, 0})},
                    {"a", f32({2}, {1, kNaN})},
                    {"b", Tensor::from_doubles(DType::i64, {}, {7})}};
  const Array y = run("%c: bool[2, 1], %a: f32[2], %b: i64[]", "%y = where(%c, %a, %b)", given);
  EXPECT_EQ(y.dtype, DType::f32);
  expect_values(y, {1, kNaN, 7, 7});
}

TEST(Pointwise, NarrowTensorsAreRoundingPoints) {
  const Given given{{"a", Tensor::from_doubles(DType::bf16, {1}, {1})},
                    {"b", Tensor::from_doubles(DType::bf16, {1}, {0x1p-9})}};
  const Array y = run("%a: bf16[1], %b: bf16[1]", "%t = add(%a, %b)\n%y = sub(%t, %a)", given);
  expect_values(y, {0});           // 1 + 2^-9 rounds to 1
  EXPECT_GE(y.radius[0], 0x1p-9);  // but a backend may keep it
  EXPECT_LE(y.radius[0], 0x1p-9 * 1.01);
}

TEST(Creation, FullAndUniform) {
  expect_values(run("", "%y = full(shape = [2, 2], value = 0.5, dtype = f32)", {}), {0.5, 0.5, 0.5, 0.5});
  Tensor seed = Tensor::empty(DType::u64, {});
  *static_cast<uint64_t*>(seed.data()) = 0x123456789abcdefull;
  const Array y = run("%s: u64[]",
                      "%u = uniform(shape = [2], seed = %s)\n%v = uniform(shape = [3, 2], seed = %s)\n%y = add(%u, %v)",
                      {{"s", seed}}, {.all = true});
  for (int i = 0; i < 6; ++i)
    EXPECT_EQ(y.value[i],
              double(uniform_f32(0x123456789abcdefull, i % 2, 0)) + double(uniform_f32(0x123456789abcdefull, i, 1)));
}

TEST(Creation, PieceOfUniformHoldsItsGlobalNumbers) {
  const Tensor seed = Tensor::from_doubles(DType::u64, {}, {5});
  const Array whole = run("%s: u64[]", "%y = uniform(shape = [6, 5], seed = %s, offset = 9)", {{"s", seed}});
  const Array piece =
      run("%s: u64[]", "%y = uniform(shape = [2, 3], seed = %s, offset = 9, global = [6, 5], start = [3, 2])",
          {{"s", seed}});
  for (int i = 0; i < 2; ++i)
    for (int j = 0; j < 3; ++j) EXPECT_EQ(piece.value[i * 3 + j], whole.value[(i + 3) * 5 + j + 2]);
}

TEST(Dropout, KeepsFromThresholdAndScales) {
  const Tensor seed = Tensor::from_doubles(DType::u64, {}, {11});
  Values ones(1000, 3.0);
  ones[7] = kNaN;
  const Array y = run("%x: f32[10, 100], %s: u64[]", "%y = dropout(%x, p = 0.25, seed = %s)",
                      {{"x", f32({10, 100}, ones)}, {"s", seed}});
  int kept = 0;
  for (int i = 0; i < 1000; ++i) {
    const bool keep = uniform_f32(11, i, 0) >= 0.25;
    kept += keep;
    const double want = keep ? 4.0 : 0.0;
    EXPECT_TRUE(std::abs(y.value[i] - want) <= (keep ? 1e-6 : 0) || (i == 7 && keep)) << i;  // the scale is an f32
    EXPECT_LE(y.radius[i], keep ? 1e-6 : 0);
  }
  EXPECT_NEAR(kept, 750, 60);
  expect_values(
      run("%x: f32[2], %s: u64[]", "%y = dropout(%x, p = 0, seed = %s)", {{"x", f32({2}, {1, -2})}, {"s", seed}}),
      {1, -2});
}

TEST(Product, LinearWithBias) {
  const Given given{
      {"x", f32({2, 3}, {1, 2, 3, 4, 5, 6})}, {"w", f32({2, 3}, {1, 0, -1, 2, 2, 2})}, {"b", f32({2}, {10, 20})}};
  const std::string in = "%x: f32[2, 3], %w: f32[2, 3], %b: f32[2]";
  expect_values(run(in, "%y = linear(%x, %w)", given), {-2, 12, -2, 30});
  const Array y = run(in, "%y = linear(%x, %w, %b)", given);
  expect_values(y, {8, 32, 8, 50});
  EXPECT_EQ(y.radius, Values(4, 0)) << "whole numbers";
  // 2 * u * depth * sum |terms|, depth = 3 terms + the bias + 1 rank.
  const Given half{{"x", given.at("x")}, {"w", given.at("w")}, {"b", f32({2}, {10, 20.5})}};
  const Array z = run(in, "%y = linear(%x, %w, %b)", half);
  EXPECT_NEAR(z.radius[0], 2 * 0x1p-24 * 5 * (1 + 3 + 10), 1e-12);
  EXPECT_NEAR(z.radius[3], 2 * 0x1p-24 * 5 * (8 + 10 + 12 + 20.5), 1e-12);
}

TEST(Product, EmptySumIsZeroAndVectorOperand) {
  expect_values(
      run("%x: f32[2, 0], %w: f32[3, 0]", "%y = linear(%x, %w)", {{"x", f32({2, 0}, {})}, {"w", f32({3, 0}, {})}}),
      {0, 0, 0, 0, 0, 0});
  expect_values(
      run("%x: f32[2], %w: f32[1, 2]", "%y = linear(%x, %w)", {{"x", f32({2}, {3, 4})}, {"w", f32({1, 2}, {1, 2})}}),
      {11});
  EXPECT_EQ(run("%x: f32[2, 2], %w: f32[0, 2]", "%y = linear(%x, %w)",
                {{"x", f32({2, 2}, {1, 1, 1, 1})}, {"w", f32({0, 2}, {})}})
                .shape,
            (Shape{2, 0}));
}

TEST(Product, AccumulateKeepsTheSum) {
  const Given given{{"x", Tensor::from_doubles(DType::bf16, {1, 2}, {1, 0x1p-9})},
                    {"w", Tensor::from_doubles(DType::bf16, {1, 2}, {1, 1})}};
  const std::string in = "%x: bf16[1, 2], %w: bf16[1, 2]";
  expect_values(run(in, "%y = linear(%x, %w)", given), {1});
  const Array y = run(in, "%y = linear(%x, %w, accumulate = true)", given);
  EXPECT_EQ(y.dtype, DType::f32);
  expect_values(y, {1 + 0x1p-9});
}

TEST(Product, MatmulBroadcastsBatches) {
  const Given given{{"a", f32({2, 1, 1, 2}, {1, 2, 3, 4})},
                    {"b", f32({3, 2, 2}, {1, 0, 0, 1, 1, 1, 1, 1, 0, 2, 2, 0})}};
  const Array y = run("%a: f32[2, 1, 1, 2], %b: f32[3, 2, 2]", "%y = matmul(%a, %b)", given);
  EXPECT_EQ(y.shape, (Shape{2, 3, 1, 2}));
  expect_values(y, {1, 2, 3, 3, 4, 2, 3, 4, 7, 7, 8, 6});
}

TEST(Product, NaNAndInfinityReachTheirRowsOnly) {
  const Given given{{"x", f32({2, 2}, {kInfinity, 1, 1, 2})}, {"w", f32({2, 2}, {1, 1, 0, kNaN})}};
  const Array y = run("%x: f32[2, 2], %w: f32[2, 2]", "%y = linear(%x, %w)", given);
  expect_values(y, {kInfinity, kNaN, 3, kNaN});
  EXPECT_EQ(y.radius[0], 0);
  EXPECT_EQ(y.radius[1], 0);
  EXPECT_TRUE(y.excused.empty());
}

TEST(Product, AnySizeEqualsTheSimpleLoop) {
  for (const int64_t m : {1, 3, 4, 5, 131})
    for (const int64_t n : {1, 4, 7})
      for (const int64_t k : {1, 2, 255, 256, 515}) {
        Values x, w;
        for (int64_t i = 0; i < m * k; ++i) x.push_back(double(i * 7919 % 13 - 6));
        for (int64_t i = 0; i < n * k; ++i) w.push_back(double(i * 104729 % 11 - 5));
        const auto type = [&](int64_t rows) { return "f32[" + std::to_string(rows) + ", " + std::to_string(k) + "]"; };
        const Array y = run("%x: " + type(m) + ", %w: " + type(n), "%y = linear(%x, %w)",
                            {{"x", f32({m, k}, x)}, {"w", f32({n, k}, w)}}, {.radius = false});
        for (int64_t i = 0; i < m; ++i)
          for (int64_t j = 0; j < n; ++j) {
            double sum = 0;
            for (int64_t p = 0; p < k; ++p) sum += x[i * k + p] * w[j * k + p];
            ASSERT_EQ(y.value[i * n + j], sum) << m << " " << n << " " << k;
          }
      }
}

TEST(LocalMoves, SliceAndRefusedCollectives) {
  const Given given{{"a", f32({2, 4}, {0, 1, 2, 3, 4, 5, 6, 7})}};
  const Array y = run("%a: f32[2, 4]",
                      "%y: f32[2, 2] = local_slice(%a, outer = 2, start = 1, count = 2, total = 4, inner = 1)", given);
  expect_values(y, {1, 2, 5, 6});
  auto collective = parse_fusion(
      "mesh @m (tp = 2)\nfusion @t on @m (%a: f32[2, 4]) -> (%y) {\n%y = all_reduce(%a, team = tp, reduce = sum)\n}\n");
  EXPECT_THROW(evaluate(*collective, given), InternalError);
}

TEST(Inputs, Refused) {
  auto f = parse_fusion("let n = 3\nfusion @t (%a: f32[n, 2], %b: f32[2*n]) -> (%y) {\n%y = neg(%a)\n}\n");
  const Tensor a = f32({2, 2}, {1, 2, 3, 4}), b = f32({4}, {1, 2, 3, 4});
  EXPECT_EQ(evaluate(*f, {{"a", a}, {"b", b}}).at("y").shape, (Shape{2, 2}));
  EXPECT_THROW(evaluate(*f, {{"a", a}}), UserError);
  EXPECT_THROW(evaluate(*f, {{"a", a}, {"b", b}, {"c", b}}), UserError);
  EXPECT_THROW(evaluate(*f, {{"a", a}, {"b", f32({3}, {1, 2, 3})}}), UserError);
  EXPECT_THROW(evaluate(*f, {{"a", b}, {"b", b}}), UserError);
  EXPECT_THROW(evaluate(*f, {{"a", Tensor::from_doubles(DType::f64, {2, 2}, {1, 2, 3, 4})}, {"b", b}}), UserError);
  EXPECT_THROW(evaluate(*f, {{"a", a}, {"b", b}}, {.sizes = {{"n", 5}}}), UserError);
}

}  // namespace
}  // namespace plait::reference
