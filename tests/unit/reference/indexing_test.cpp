// Lookups and scattered sums, counters, random numbers: by hand at the boundaries.
#include <cmath>

#include "helpers.h"
#include "reference/draw_inputs.h"
#include "scalar/convert.h"
#include "scalar/philox.h"

namespace plait::reference {
namespace {

Tensor indices(Shape shape, const Values& values) { return Tensor::from_doubles(DType::i64, std::move(shape), values); }

const Tensor kTable = f32({3, 2}, {1, 2, 3, 4, 5, 6});

Array look_up(const std::string& call, const Tensor& x, const std::string& x_type, const Tensor& index) {
  std::string extents;
  for (int64_t e : index.shape) extents += (extents.empty() ? "" : ", ") + std::to_string(e);
  return run("%x: " + x_type + ", %i: i64[" + extents + "]", "%y = " + call, {{"x", x}, {"i", index}});
}

TEST(Gather, AlongEitherDim) {
  expect_values(look_up("gather(%x, %i, dim = 0)", kTable, "f32[3, 2]", indices({2, 2}, {2, 0, 1, 1})), {5, 2, 3, 4});
  expect_values(look_up("gather(%x, %i, dim = 1)", kTable, "f32[3, 2]", indices({3, 3}, {0, 1, 0, 1, 1, 0, 0, 0, 1})),
                {1, 2, 1, 4, 4, 3, 5, 5, 6});
  expect_values(look_up("gather(%x, %i, dim = 0)", kTable, "f32[3, 2]", indices({4, 1}, {2, 1, 0, 2})), {5, 3, 1, 5});
  EXPECT_EQ(look_up("gather(%x, %i, dim = 0)", kTable, "f32[3, 2]", indices({0, 2}, {})).shape, (Shape{0, 2}));
}

TEST(Gather, IndexOutside) {
  const Array y = look_up("gather(%x, %i, dim = 0)", kTable, "f32[3, 2]", indices({2, 2}, {3, -1, 1, 1e18}));
  expect_values(y, {kNaN, kNaN, 3, kNaN});
  EXPECT_EQ(y.radius, (Values{0, 0, 0, 0}));
  const Tensor i = Tensor::from_doubles(DType::i64, {2}, {7, 8});
  expect_values(look_up("gather(%x, %i, dim = 0)", i, "i64[2]", indices({3}, {1, 2, -1})), {8, 0, 0});
  const Tensor b = Tensor::from_doubles(DType::boolean, {2}, {1, 1});
  expect_values(look_up("gather(%x, %i, dim = 0)", b, "bool[2]", indices({2}, {1, 2})), {1, 0});
  expect_values(look_up("gather(%x, %i, dim = 0)", f32({0}, {}), "f32[0]", indices({1}, {0})), {kNaN});
}

TEST(IndexSelect, IndexOfAnyRank) {
  expect_values(look_up("index_select(%x, %i, dim = 0)", kTable, "f32[3, 2]", indices({2}, {2, 0})), {5, 6, 1, 2});
  const Array y = look_up("index_select(%x, %i, dim = 1)", kTable, "f32[3, 2]", indices({2, 2}, {1, 0, 5, 1}));
  EXPECT_EQ(y.shape, (Shape{3, 2, 2}));
  expect_values(y, {2, 1, kNaN, 2, 4, 3, kNaN, 4, 6, 5, kNaN, 6});
  const Array s = look_up("index_select(%x, %i, dim = 0)", kTable, "f32[3, 2]", indices({}, {1}));
  EXPECT_EQ(s.shape, (Shape{2}));
  expect_values(s, {3, 4});
}

TEST(Gather, OpenIndexHasTwoReadingsAndRadiiAreCopied) {
  // argmax of two nearly equal numbers may be either.
  const Given given{{"x", f32({2}, {1, 1})}, {"v", f32({2}, {10, 20})}};
  const Array y = run("%x: f32[2], %v: f32[2]",
                      "%e = exp(%x)\n%i = argmax(%e, dims = [0], keepdim = true)\n%y = gather(%v, %i, dim = 0)", given);
  EXPECT_TRUE(y.excused_at(0));
  EXPECT_TRUE(y.has_alternative(0));
  const Array z = run("%x: f32[2], %i: i64[2]", "%e = exp(%x)\n%y = gather(%e, %i, dim = 0)",
                      {{"x", f32({2}, {0, 2})}, {"i", indices({2}, {1, 0})}});
  EXPECT_GT(z.radius[0], z.radius[1]);
  EXPECT_FALSE(z.excused_at(0));
}

Array scatter(const Tensor& x, const std::string& x_type, const Tensor& index, const Tensor& src,
              const std::string& type, int64_t dim, const std::string& update = "add") {
  return run("%x: " + x_type + ", %i: i64" + type + ", %s: " + std::string(name(src.dtype)) + type,
             "%y = scatter(%x, %i, %s, dim = " + std::to_string(dim) + ", update = " + update + ")",
             {{"x", x}, {"i", index}, {"s", src}});
}

TEST(ScatterAdd, AddsWhereTheIndexSays) {
  const Array y = scatter(kTable, "f32[3, 2]", indices({4, 2}, {0, 1, 0, 2, 2, 2, 0, 0}),
                          f32({4, 2}, {10, 20, 30, 40, 50, 60, 70, 80}), "[4, 2]", 0);
  expect_values(y, {111, 82, 3, 24, 55, 106});
  EXPECT_EQ(y.radius[2], 0);  // nothing was added
  EXPECT_EQ(y.radius[0], 0);  // whole numbers
  EXPECT_GT(scatter(kTable, "f32[3, 2]", indices({1, 2}, {0, 1}), f32({1, 2}, {0.1, 0.2}), "[1, 2]", 0).radius[0], 0);
  expect_values(scatter(kTable, "f32[3, 2]", indices({1, 3}, {1, 1, 7}), f32({1, 3}, {1, 2, 4}), "[1, 3]", 1),
                {1, 5, 3, 4, 5, 6});  // 7 lies outside
  expect_values(scatter(f32({2}, {1, 2}), "f32[2]", indices({2}, {-1, 1}), f32({2}, {kInfinity, kNaN}), "[2]", 0),
                {1, kNaN});
  expect_values(scatter(f32({2}, {1, 2}), "f32[2]", indices({0}, {}), f32({0}, {}), "[0]", 0), {1, 2});
}

TEST(ScatterAdd, RoundsOnceAndWraps) {
  const Tensor ones = Tensor::from_doubles(DType::bf16, {300}, Values(300, 1));
  const Array y =
      scatter(Tensor::from_doubles(DType::bf16, {1}, {0}), "bf16[1]", indices({300}, Values(300, 0)), ones, "[300]", 0);
  EXPECT_EQ(y.value[0], 300);
  const Tensor u = Tensor::from_doubles(DType::u32, {2}, {4294967295.0, 5});
  expect_values(scatter(u, "u32[2]", indices({2}, {0, 0}), Tensor::from_doubles(DType::u32, {2}, {1, 3}), "[2]", 0),
                {3, 5});
}

TEST(ScatterAdd, OpenIndexOpensBothPlaces) {
  const Given given{{"x", f32({2}, {1, 1})}, {"v", f32({3}, {10, 20, 30})}, {"s", f32({1}, {4})}};
  const Array y =
      run("%x: f32[2], %v: f32[3], %s: f32[1]",
          "%e = exp(%x)\n%i = argmax(%e, dims = [0], keepdim = true)\n%y = scatter(%v, %i, %s, dim = 0, update = add)",
          given);
  EXPECT_TRUE(y.excused_at(0));
  EXPECT_TRUE(y.excused_at(1));
  EXPECT_FALSE(y.excused_at(2));
  EXPECT_GE(y.radius[0], 4);
  EXPECT_GE(y.radius[1], 4);
}

TEST(Scatter, TheLastUpdateStays) {
  expect_values(scatter(kTable, "f32[3, 2]", indices({4, 2}, {0, 1, 0, 2, 2, 2, 0, 0}),
                        f32({4, 2}, {10, 20, 30, 40, 50, 60, 70, 80}), "[4, 2]", 0, "set"),
                {70, 80, 3, 20, 50, 60});
  expect_values(
      scatter(kTable, "f32[3, 2]", indices({1, 3}, {1, -1, 1}), f32({1, 3}, {7, 8, kNaN}), "[1, 3]", 1, "set"),
      {1, kNaN, 3, 4, 5, 6});
  const Tensor wide = Tensor::from_doubles(DType::i64, {2}, {0x1p60, 3});
  const Array y = scatter(wide, "i64[2]", indices({2}, {1, 1}), wide, "[2]", 0, "set");
  EXPECT_EQ(y.integers, (std::vector<int64_t>{int64_t{1} << 60, 3}));
  const Tensor b = Tensor::from_doubles(DType::boolean, {2}, {0, 1});
  expect_values(
      scatter(b, "bool[2]", indices({2}, {0, 1}), Tensor::from_doubles(DType::boolean, {2}, {1, 0}), "[2]", 0, "set"),
      {1, 0});
  expect_values(scatter(f32({2}, {1, 2}), "f32[2]", indices({0}, {}), f32({0}, {}), "[0]", 0, "set"), {1, 2});
}

TEST(Scatter, ExtremaAndProducts) {
  const auto of = [](const Values& x, const std::string& update) {
    return scatter(f32({3}, x), "f32[3]", indices({5}, {0, 0, 1, 9, 1}), f32({5}, {4, -3, kNaN, 7, 2}), "[5]", 0,
                   update);
  };
  expect_values(of({1, 2, 3}, "max"), {4, kNaN, 3});
  expect_values(of({1, 2, 3}, "min"), {-3, kNaN, 3});
  expect_values(of({-kInfinity, 2, kNaN}, "max"), {4, kNaN, kNaN});
  expect_values(of({2, 2, 3}, "mul"), {-24, kNaN, 3});
  EXPECT_EQ(scatter(f32({1}, {2}), "f32[1]", indices({2}, {0, 0}), f32({2}, {4, -3}), "[2]", 0, "mul").radius_at(0), 0)
      << "whole numbers";
  EXPECT_GT(of({0.1, 2, 3}, "mul").radius_at(0), 0);
  EXPECT_EQ(of({0.1, 2, 0.3}, "mul").radius_at(2), 0) << "nothing was multiplied";
  const Tensor u = Tensor::from_doubles(DType::u64, {1}, {0x1p63});
  const auto wide = [&](const char* update) {
    return scatter(u, "u64[1]", indices({2}, {0, 0}), Tensor::from_doubles(DType::u64, {2}, {5, 3}), "[2]", 0, update);
  };
  EXPECT_EQ(wide("max").integers[0], INT64_MIN);
  EXPECT_EQ(wide("min").integers[0], 3);
  EXPECT_EQ(wide("mul").integers[0], INT64_MIN) << "2^63 15 modulo 2^64";
  const Tensor b = Tensor::from_doubles(DType::boolean, {2}, {0, 1});
  expect_values(scatter(b, "bool[2]", indices({2}, {0, 1}), b, "[2]", 0, "max"), {0, 1});
  expect_values(
      scatter(b, "bool[2]", indices({1}, {1}), Tensor::from_doubles(DType::boolean, {1}, {0}), "[1]", 0, "min"),
      {0, 0});
}

// Every place that an open index may mean is open; a sure update behind it closes that of a scatter which sets.
TEST(Scatter, OpenIndices) {
  const Given given{{"x", f32({2}, {1, 1})}, {"v", f32({3}, {10, 20, 30})}, {"s", f32({1}, {4})}};
  const auto of = [&](const std::string& update, const std::string& more = "") {
    return run("%x: f32[2], %v: f32[3], %s: f32[1]",
               "%e = exp(%x)\n%i = argmax(%e, dims = [0], keepdim = true)\n%y" + std::string(more.empty() ? "" : "0") +
                   " = scatter(%v, %i, %s, dim = 0, update = " + update + ")" + more,
               given);
  };
  const auto may_be = [](const Array& y, int64_t i, double value) {
    const double error = std::abs(y.value[i] - value);
    return error <= y.radius_at(i) || (y.has_alternative(i) && *y.alternative[i] == value);
  };
  const Array set = of("set");
  for (int64_t i : {0, 1}) {
    EXPECT_TRUE(set.excused_at(i));
    EXPECT_TRUE(may_be(set, i, given.at("v").at(i)) && may_be(set, i, 4)) << i;
  }
  EXPECT_FALSE(set.excused_at(2));
  const Array least = of("min"), most = of("max"), product = of("mul");
  for (int64_t i : {0, 1}) {
    EXPECT_TRUE(least.excused_at(i) && may_be(least, i, given.at("v").at(i)) && may_be(least, i, 4)) << i;
    EXPECT_TRUE(may_be(most, i, given.at("v").at(i))) << i;
    EXPECT_EQ(product.radius_at(i), kInfinity);
  }
  EXPECT_FALSE(least.excused_at(2) || most.excused_at(2) || product.excused_at(2));
  const Array closed = of("set", "\n%k = iota(shape = [1], dim = 0)\n%y = scatter(%y0, %k, %s, dim = 0)");
  EXPECT_FALSE(closed.excused_at(0));
  EXPECT_EQ(closed.radius_at(0), 0);
  EXPECT_TRUE(closed.excused_at(1));
}

TEST(Creation, IotaAndSize) {
  expect_values(run("", "%y = iota(shape = [2, 3], dim = 1)", {}), {0, 1, 2, 0, 1, 2});
  expect_values(run("", "%y = iota(shape = [2, 3], dim = 0, dtype = f32)", {}), {0, 0, 0, 1, 1, 1});
  expect_values(run("", "%y = iota(shape = [3], dim = 0, dtype = u32, start = 4294967295)", {}), {4294967295.0, 0, 1});
  EXPECT_EQ(run("", "%y = iota(shape = [0], dim = 0)", {}).elements(), 0);
  const Array b = run("", "%y = iota(shape = [260], dim = 0, dtype = bf16)", {});
  EXPECT_EQ(b.value[257], 256);
  EXPECT_GE(b.radius[257], 1);  // kept where the rounding is skipped
  EXPECT_EQ(b.radius[255], 0);
  const Given given{{"x", f32({2, 3}, Values(6, 0))}};
  EXPECT_EQ(run("%x: f32[n, m]", "%y = size(value = n*m + 1)", given).integers[0], 7);
  expect_values(run("%x: f32[n, m]", "%y = size(value = n*m, dtype = f32)", given), {6});
}

TEST(Creation, NormalHasItsBound) {
  const Tensor seed = Tensor::from_doubles(DType::u64, {}, {5});
  const Array y =
      run("%s: u64[]", "%u = uniform(shape = [2], seed = %s)\n%y = normal(shape = [40, 25], seed = %s)", {{"s", seed}});
  double sum = 0, squares = 0;
  for (int i = 0; i < 1000; ++i) {
    EXPECT_EQ(y.value[i], normal(5, uint64_t(i), 1));  // its ordinal among random ops
    sum += y.value[i], squares += y.value[i] * y.value[i];
    const auto words = philox(5, uint64_t(i) / 4, 1);
    const float u = uniform_from_bits(words[i % 4 & 2]), v = uniform_from_bits(words[(i % 4 & 2) + 1]);
    const float r = std::sqrt(-2.0f * std::log(1.0f - u)), angle = 6.2831853f * v;
    const float got = i % 2 ? r * std::sin(angle) : r * std::cos(angle);
    EXPECT_LE(std::abs(double(got) - y.value[i]), y.radius[i]);
  }
  EXPECT_NEAR(sum / 1000, 0, 0.15);
  EXPECT_NEAR(squares / 1000, 1, 0.2);
  const Array whole = run("%s: u64[]", "%y = normal(shape = [6, 5], seed = %s, offset = 9)", {{"s", seed}});
  const Array piece =
      run("%s: u64[]", "%y = normal(shape = [2, 3], seed = %s, offset = 9, global = [6, 5], start = [3, 2])",
          {{"s", seed}});
  for (int i = 0; i < 2; ++i)
    for (int j = 0; j < 3; ++j) EXPECT_EQ(piece.value[i * 3 + j], whole.value[(i + 3) * 5 + j + 2]);
}

TEST(Draw, IndicesLieInside) {
  auto f = fusion("%x: f32[5, 4], %i: i64[40, 4], %s: f32[40, 4], %j: i64[100]", "%y, %z",
                  "%y = scatter(%x, %i, %s, dim = 0, update = add)\n%z = index_select(%x, %j, dim = 1)");
  for (const bool exact : {false, true}) {
    const auto drawn = draw_inputs(*f, {.seed = 4, .exact = exact});
    double most = 0, most_j = 0;
    for (double v : drawn.at("i").to_doubles()) {
      EXPECT_TRUE(v >= 0 && v < 5) << v;
      most = std::max(most, v);
    }
    for (double v : drawn.at("j").to_doubles()) most_j = std::max(most_j, v);
    EXPECT_EQ(most, 4);
    EXPECT_EQ(most_j, 3);
  }
}

TEST(Exact, OpsThatKeepTheIntegers) {
  const auto keeps = [](const std::string& body) { return supports_exact(*fusion("%x: f32[4, 3]", "%y", body)); };
  for (const char* body :
       {"%y = sum(%x)", "%y = prod(%x)", "%y = amax(%x)", "%y = argmin(%x)", "%y = cumsum(%x, dim = 0)",
        "%y = permute(%x, dims = [1, 0])", "%y = pad(%x, low = [1, 0], high = [0, 0], value = 2)"})
    EXPECT_TRUE(keeps(body)) << body;
  for (const char* body : {"%y = var(%x)", "%y = pad(%x, low = [1, 0], high = [0, 0], value = 0.5)",
                           "%y = bitcast(%x, to = u32)", "%y = softmax(%x, dim = 0)"})
    EXPECT_FALSE(keeps(body)) << body;
}

TEST(Exact, SumsAndProductsAreThinnedUntilExact) {
  for (const char* dtype : {"bf16", "f16", "f32"}) {
    auto f = fusion("%x: " + std::string(dtype) + "[8, 2000]", "%s, %p, %c",
                    "%s = sum(%x, dims = [1])\n%p = prod(%x, dims = [1])\n%c = cumsum(%x, dim = 1)");
    const auto drawn = draw_inputs(*f, {.seed = 2, .exact = true});
    const auto results = evaluate(*f, drawn, {.radius = false, .spread = true, .all = true});
    for (const auto& [name, array] : results)
      for (double v : array.value) {
        ASSERT_EQ(v, std::trunc(v)) << name;
        ASSERT_LE(std::abs(v), double(max_exact_integer(array.dtype))) << name;
      }
  }
}

}  // namespace
}  // namespace plait::reference
