// Reductions, variance and running sums: values by hand at the boundaries, and against plain loops over multi-indices.
#include <cmath>
#include <ctime>
#include <functional>
#include <random>

#include "helpers.h"
#include "scalar/convert.h"

namespace plait::reference {
namespace {

Tensor i64(Shape shape, const std::vector<int64_t>& values) {
  Tensor t = Tensor::empty(DType::i64, std::move(shape));
  std::copy(values.begin(), values.end(), static_cast<int64_t*>(t.data()));
  return t;
}

Array reduce(const std::string& type, const std::string& call, const Tensor& x, const EvaluateOptions& options = {}) {
  return run("%x: " + type, "%y = " + call, {{"x", x}}, options);
}

TEST(Reduce, DimsAndKeepdim) {
  const Tensor x = f32({2, 3}, {1, -2, 3, 4, 5, -6});
  expect_values(reduce("f32[2, 3]", "sum(%x)", x), {5});
  EXPECT_EQ(reduce("f32[2, 3]", "sum(%x)", x).shape, Shape{});
  expect_values(reduce("f32[2, 3]", "sum(%x, dims = [0])", x), {5, 3, -3});
  expect_values(reduce("f32[2, 3]", "sum(%x, dims = [-1])", x), {2, 3});
  EXPECT_EQ(reduce("f32[2, 3]", "sum(%x, dims = [1], keepdim = true)", x).shape, (Shape{2, 1}));
  EXPECT_EQ(reduce("f32[2, 3]", "sum(%x, keepdim = true)", x).shape, (Shape{1, 1}));
  expect_values(reduce("f32[2, 3]", "prod(%x, dims = [1])", x), {-6, -120});
  expect_values(reduce("f32[2, 3]", "amax(%x, dims = [0])", x), {4, 5, 3});
  expect_values(reduce("f32[2, 3]", "amin(%x, dims = [1])", x), {-2, -6});
  EXPECT_EQ(reduce("f32[2, 3]", "argmax(%x, dims = [1])", x).integers, (std::vector<int64_t>{2, 1}));
  EXPECT_EQ(reduce("f32[2, 3]", "argmin(%x)", x).integers, (std::vector<int64_t>{5}));
  EXPECT_EQ(reduce("f32[2, 3]", "argmin(%x, keepdim = true)", x).shape, (Shape{1, 1}));
  expect_values(reduce("f32[]", "sum(%x)", f32({}, {7})), {7});
}

TEST(Reduce, OfNothing) {
  const Tensor x = f32({2, 0}, {});
  expect_values(reduce("f32[2, 0]", "sum(%x, dims = [1])", x), {0, 0});
  expect_values(reduce("f32[2, 0]", "prod(%x, dims = [1])", x), {1, 1});
  expect_values(reduce("f32[2, 0]", "amax(%x, dims = [1])", x), {-kInfinity, -kInfinity});
  expect_values(reduce("f32[2, 0]", "amin(%x, dims = [1])", x), {kInfinity, kInfinity});
  expect_values(reduce("f32[2, 0]", "argmax(%x, dims = [1])", x), {0, 0});
  EXPECT_EQ(reduce("f32[2, 0]", "sum(%x, dims = [0])", x).elements(), 0);
  EXPECT_EQ(reduce("f32[2, 0]", "sum(%x, dims = [1])", x).radius, (Values{0, 0}));
  const Tensor i = i64({0}, {});
  EXPECT_EQ(reduce("i64[0]", "amax(%x)", i).integers[0], INT64_MIN);
  EXPECT_EQ(reduce("i64[0]", "amin(%x)", i).integers[0], INT64_MAX);
  EXPECT_EQ(reduce("i64[0]", "prod(%x)", i).integers[0], 1);
  EXPECT_EQ(reduce("u32[0]", "amin(%x)", Tensor::empty(DType::u32, {0})).value[0], 4294967295.0);
  EXPECT_EQ(reduce("u32[0]", "amax(%x)", Tensor::empty(DType::u32, {0})).value[0], 0);
  EXPECT_EQ(reduce("u64[0]", "amin(%x)", Tensor::empty(DType::u64, {0})).integers[0], -1);
  EXPECT_EQ(reduce("bool[0]", "amin(%x)", Tensor::empty(DType::boolean, {0})).value[0], 1);
  EXPECT_EQ(reduce("bool[0]", "amax(%x)", Tensor::empty(DType::boolean, {0})).value[0], 0);
  EXPECT_EQ(reduce("bool[0]", "sum(%x)", Tensor::empty(DType::boolean, {0})).dtype, DType::i64);
  EXPECT_EQ(reduce("i8[0]", "amax(%x)", Tensor::empty(DType::i8, {0})).value[0], -128);
  EXPECT_EQ(reduce("i32[0]", "amin(%x)", Tensor::empty(DType::i32, {0})).value[0], 2147483647);
  EXPECT_EQ(reduce("u16[0]", "amin(%x)", Tensor::empty(DType::u16, {0})).value[0], 65535);
  EXPECT_EQ(reduce("f8e5m2[0]", "amax(%x)", Tensor::empty(DType::f8e5m2, {0})).value[0], -kInfinity);
  EXPECT_EQ(reduce("f8e4m3[0]", "amax(%x)", Tensor::empty(DType::f8e4m3, {0})).value[0], -448);  // it has no infinity
  EXPECT_EQ(reduce("f8e4m3[0]", "amin(%x)", Tensor::empty(DType::f8e4m3, {0})).value[0], 448);
}

TEST(Reduce, ProductsHaveTheSignOfTheirFactors) {
  const Tensor x = f32({4, 2}, {0, -1, -1, -2, -0.0, 3, -0.0, -3});
  expect_values(reduce("f32[4, 2]", "reciprocal(prod(%x, dims = [1]))", x), {-kInfinity, 0.5, -kInfinity, kInfinity});
  expect_values(reduce("f32[4, 2]", "reciprocal(slice(cumprod(%x, dim = 1), dim = 1, start = 1))", x),
                {-kInfinity, 0.5, -kInfinity, kInfinity});
}

TEST(Reduce, SpecialValues) {
  const Tensor x = f32({4, 3}, {1, kNaN, 2, kInfinity, -kInfinity, 0, kInfinity, 1, 2, -kInfinity, 0, 3});
  const Array sum = reduce("f32[4, 3]", "sum(%x, dims = [1])", x);
  expect_values(sum, {kNaN, kNaN, kInfinity, -kInfinity});
  EXPECT_EQ(sum.radius, (Values{0, 0, 0, 0}));
  expect_values(reduce("f32[4, 3]", "prod(%x, dims = [1])", x), {kNaN, kNaN, kInfinity, kNaN});
  expect_values(reduce("f32[4, 3]", "amax(%x, dims = [1])", x), {kNaN, kInfinity, kInfinity, 3});
  expect_values(reduce("f32[4, 3]", "amin(%x, dims = [1])", x), {kNaN, -kInfinity, 1, -kInfinity});
  expect_values(reduce("f32[4, 3]", "argmax(%x, dims = [1])", x), {1, 0, 0, 2});
  expect_values(reduce("f32[4, 3]", "argmin(%x, dims = [1])", x), {1, 1, 1, 0});
  expect_values(reduce("f32[4, 3]", "prod(%x, dims = [1])",
                       f32({4, 3}, {-kInfinity, 2, 3, -kInfinity, -2, 3, 5, 0, 2, -0.0, 1, 1})),
                {-kInfinity, kInfinity, 0, 0});
}

TEST(Reduce, TiesAndSignedZeros) {
  const Tensor x = f32({6}, {1, 3, 3, -0.0, 0.0, 3});
  EXPECT_EQ(reduce("f32[6]", "argmax(%x)", x).integers[0], 1);
  EXPECT_EQ(reduce("f32[6]", "argmin(%x)", x).integers[0], 3);  // -0 equals 0: the first
  EXPECT_EQ(reduce("f32[6]", "argmax(%x)", x).radius[0], 0);
  EXPECT_EQ(reduce("f32[6]", "amin(%x)", x).value[0], 0);
  EXPECT_EQ(reduce("f32[3]", "argmax(%x)", f32({3}, {kInfinity, kNaN, kNaN})).integers[0], 1);
  EXPECT_EQ(reduce("f32[2, 2]", "argmax(%x)", f32({2, 2}, {0, 1, 5, 5})).integers[0], 2);
  EXPECT_EQ(reduce("f32[2]", "amax(%x)", f32({2}, {0x1p-149, 0})).value[0], 0x1p-149);
}

TEST(Reduce, IntegersWrapAndCompareAsTheyAre) {
  const int64_t big = (int64_t{1} << 60) + 1;
  const Tensor x = i64({4}, {big, big + 1, INT64_MAX, -3});
  EXPECT_EQ(reduce("i64[4]", "sum(%x)", x).integers[0], int64_t(uint64_t(INT64_MAX) + 2 * uint64_t(big) + 1 - 3));
  EXPECT_EQ(reduce("i64[2]", "prod(%x)", i64({2}, {big, 3})).integers[0], int64_t(uint64_t(big) * 3));
  EXPECT_EQ(reduce("i64[2]", "argmax(%x)", i64({2}, {big, big + 1})).integers[0], 1);  // equal as doubles
  EXPECT_EQ(reduce("i64[2]", "amin(%x)", i64({2}, {big + 1, big})).integers[0], big);
  EXPECT_EQ(reduce("i64[2]", "amin(%x)", i64({2}, {INT64_MIN, INT64_MAX})).integers[0], INT64_MIN);
  Tensor u = Tensor::empty(DType::u64, {3});
  const uint64_t values[] = {1, UINT64_MAX, uint64_t{1} << 63};
  std::copy(values, values + 3, static_cast<uint64_t*>(u.data()));
  EXPECT_EQ(reduce("u64[3]", "amax(%x)", u).integers[0], -1);
  EXPECT_EQ(reduce("u64[3]", "argmin(%x)", u).integers[0], 0);
  EXPECT_EQ(reduce("u64[3]", "argmax(%x)", u).integers[0], 1);
  EXPECT_EQ(reduce("u64[3]", "sum(%x)", u).dtype, DType::i64);
  EXPECT_EQ(reduce("u64[3]", "sum(%x)", u).integers[0], INT64_MIN);
  const Tensor c = Tensor::from_doubles(DType::boolean, {4}, {1, 0, 1, 1});
  EXPECT_EQ(reduce("bool[4]", "sum(%x)", c).integers[0], 3);
  EXPECT_EQ(reduce("bool[4]", "prod(%x)", c).integers[0], 0);
  EXPECT_EQ(reduce("bool[4]", "amax(%x)", c).dtype, DType::boolean);
  EXPECT_EQ(reduce("bool[4]", "argmin(%x)", c).integers[0], 1);
  const Tensor w = Tensor::from_doubles(DType::u32, {2}, {4294967295.0, 1});
  EXPECT_EQ(reduce("u32[2]", "sum(%x)", w).integers[0], int64_t{1} << 32);
}

TEST(Reduce, NarrowTypesAccumulateWideAndRoundOnce) {
  for (DType dtype : {DType::bf16, DType::f16}) {
    const std::string type = std::string(name(dtype)) + "[4097]";
    const Tensor ones = Tensor::from_doubles(dtype, {4097}, Values(4097, 1.0));
    const Array y = reduce(type, "sum(%x)", ones);
    EXPECT_EQ(y.value[0], round_to(dtype, 4097));
    EXPECT_GE(y.radius[0], std::abs(4097 - y.value[0]));  // a backend may keep the sum wide
  }
  const Array p = reduce("f16[2]", "prod(%x)", Tensor::from_doubles(DType::f16, {2}, {300, 300}));
  EXPECT_EQ(p.value[0], kInfinity);
  EXPECT_TRUE(p.excused_at(0));  // 90000 where the rounding is skipped
}

TEST(Reduce, OverflowIsSureOrOpen) {
  EXPECT_EQ(reduce("f32[3]", "sum(%x)", f32({3}, {3e38, 3e38, 1})).value[0], kInfinity);
  EXPECT_FALSE(reduce("f32[3]", "sum(%x)", f32({3}, {3e38, 3e38, 1})).excused_at(0));
  EXPECT_EQ(reduce("f32[2]", "sum(%x)", f32({2}, {-3e38, -3e38})).value[0], -kInfinity);
  EXPECT_TRUE(reduce("f32[3]", "sum(%x)", f32({3}, {3e38, 3e38, -3e38})).excused_at(0));
  EXPECT_TRUE(reduce("f32[3]", "sum(%x)", f32({3}, {3e38, 3e38, -kInfinity})).excused_at(0));
  EXPECT_TRUE(reduce("f32[3]", "prod(%x)", f32({3}, {1e30, 1e30, 1e-30})).excused_at(0));
  EXPECT_TRUE(reduce("f32[3]", "prod(%x)", f32({3}, {1e30, 1e30, 0})).excused_at(0));
  EXPECT_EQ(reduce("f32[3]", "prod(%x)", f32({3}, {1e30, -1e30, 2})).value[0], -kInfinity);
  EXPECT_FALSE(reduce("f32[3]", "prod(%x)", f32({3}, {1e30, -1e30, 2})).excused_at(0));
  const Array tiny = reduce("f32[3]", "prod(%x)", f32({3}, {1e-30, 1e-30, 1e30}));
  EXPECT_GE(tiny.radius[0], 1e-30);  // the product of the first two may be 0
}

// Calls fn(index) for every multi-index of a shape.
void for_each_index(const Shape& shape, const std::function<void(const Shape&)>& fn) {
  Shape index(shape.size(), 0);
  for (int64_t n = element_count(shape); n > 0; --n) {
    fn(index);
    for (size_t d = shape.size(); d-- > 0;) {
      if (++index[d] < shape[d]) break;
      index[d] = 0;
    }
  }
}

int64_t at(const Shape& shape, const Shape& index) {
  int64_t linear = 0;
  for (size_t d = 0; d < shape.size(); ++d) linear = linear * shape[d] + index[d];
  return linear;
}

TEST(Reduce, EverySetOfDimsAgainstLoops) {
  const Shape shape{3, 4, 5};
  std::mt19937 random(1);
  Values values(60);
  for (double& v : values) v = double(int(random() % 7)) - 3;
  for (const char* dtype : {"f32", "f64", "bf16", "f16", "i64", "i8", "i32", "u8", "u32", "bool"}) {
    const DType type = *parse_dtype(dtype);
    const Tensor x = Tensor::from_doubles(type, shape, values);
    for (int mask = 1; mask < 8; ++mask) {
      std::string dims;
      Shape out_shape;
      for (int d = 0; d < 3; ++d) {
        if (mask >> d & 1)
          dims += (dims.empty() ? "" : ", ") + std::to_string(d);
        else
          out_shape.push_back(shape[d]);
      }
      const auto kept = [&](const Shape& index) {
        Shape out;
        for (int d = 0; d < 3; ++d)
          if (!(mask >> d & 1)) out.push_back(index[d]);
        return at(out_shape, out);
      };
      const auto count = size_t(element_count(out_shape));
      Values sum(count, 0), most(count, -kInfinity), where(count, 0), seen(count, 0);
      for_each_index(shape, [&](const Shape& index) {
        const double v = x.at(at(shape, index));
        const auto o = size_t(kept(index));
        sum[o] += v;
        if (v > most[o]) most[o] = v, where[o] = seen[o];
        ++seen[o];
      });
      const std::string in = std::string(dtype) + "[3, 4, 5]", at_dims = "(%x, dims = [" + dims + "])";
      expect_values(reduce(in, "sum" + at_dims, x), sum);
      expect_values(reduce(in, "amax" + at_dims, x), most);
      expect_values(reduce(in, "argmax" + at_dims, x), where);
    }
  }
}

TEST(Var, ByHand) {
  const Tensor x = f32({2, 4}, {1, 2, 3, 4, 5, 5, 5, 5});
  expect_values(reduce("f32[2, 4]", "var(%x, dims = [1])", x), {5.0 / 3, 0});
  expect_values(reduce("f32[2, 4]", "var(%x, dims = [1], correction = 0)", x), {1.25, 0});
  EXPECT_EQ(reduce("f32[2, 4]", "var(%x, dims = [1], keepdim = true)", x).shape, (Shape{2, 1}));
  expect_values(reduce("f32[2, 4]", "var(%x, dims = [1], correction = 3)", x), {5, 0});
  expect_values(reduce("f64[3]", "var(%x)", Tensor::from_doubles(DType::f64, {3}, {1e9, 1e9 + 1, 1e9 + 2})), {1});
}

TEST(Var, FewElements) {
  expect_values(reduce("f32[1]", "var(%x)", f32({1}, {3})), {kNaN});
  expect_values(reduce("f32[1]", "var(%x, correction = 0)", f32({1}, {3})), {0});
  EXPECT_EQ(reduce("f32[1]", "var(%x, correction = 0)", f32({1}, {3})).radius[0], 0);
  expect_values(reduce("f32[0]", "var(%x)", f32({0}, {})), {kNaN});
  expect_values(reduce("f32[0]", "var(%x, correction = 0)", f32({0}, {})), {kNaN});
  expect_values(reduce("f32[2]", "var(%x, correction = 2)", f32({2}, {1, 3})), {kInfinity});
  expect_values(reduce("f32[2]", "var(%x, correction = 5)", f32({2}, {1, 3})), {kInfinity});
  EXPECT_TRUE(reduce("f32[2]", "var(%x, correction = 2)", f32({2}, {3, 3})).excused_at(0));  // NaN or infinite
}

TEST(Var, SpecialValues) {
  expect_values(reduce("f32[3]", "var(%x)", f32({3}, {1, kNaN, 2})), {kNaN});
  expect_values(reduce("f32[3]", "var(%x)", f32({3}, {1, kInfinity, 2})), {kNaN});
  EXPECT_EQ(reduce("f32[3]", "var(%x)", f32({3}, {1, kInfinity, 2})).radius[0], 0);
  EXPECT_TRUE(reduce("f32[3]", "var(%x)", f32({3}, {1e30, -1e30, 2})).excused_at(0));  // squares overflow
  const Array b = reduce("bf16[2]", "var(%x)", Tensor::from_doubles(DType::bf16, {2}, {1, 1.0078125}));
  EXPECT_EQ(b.value[0], 0.0078125 * 0.0078125 / 2);
}

TEST(CumSum, Directions) {
  const Tensor x = f32({2, 3}, {1, 2, 3, 4, 5, 6});
  expect_values(reduce("f32[2, 3]", "cumsum(%x, dim = 1)", x), {1, 3, 6, 4, 9, 15});
  expect_values(reduce("f32[2, 3]", "cumsum(%x, dim = 0)", x), {1, 2, 3, 5, 7, 9});
  expect_values(reduce("f32[2, 3]", "cumsum(%x, dim = 1, exclusive = true)", x), {0, 1, 3, 0, 4, 9});
  expect_values(reduce("f32[2, 3]", "cumsum(%x, dim = 1, reverse = true)", x), {6, 5, 3, 15, 11, 6});
  expect_values(reduce("f32[2, 3]", "cumsum(%x, dim = -1, exclusive = true, reverse = true)", x), {5, 3, 0, 11, 6, 0});
  EXPECT_EQ(reduce("f32[2, 0]", "cumsum(%x, dim = 1)", f32({2, 0}, {})).elements(), 0);
  EXPECT_EQ(reduce("f32[0, 2]", "cumsum(%x, dim = 0)", f32({0, 2}, {})).elements(), 0);
}

TEST(CumSum, TypesAndSpecialValues) {
  expect_values(reduce("f32[4]", "cumsum(%x, dim = 0)", f32({4}, {1, kInfinity, -kInfinity, 2})),
                {1, kInfinity, kNaN, kNaN});
  expect_values(reduce("f32[4]", "cumsum(%x, dim = 0, exclusive = true)", f32({4}, {1, kNaN, 1, 2})),
                {0, 1, kNaN, kNaN});
  const Array b = reduce("bool[3]", "cumsum(%x, dim = 0)", Tensor::from_doubles(DType::boolean, {3}, {1, 0, 1}));
  EXPECT_EQ(b.integers, (std::vector<int64_t>{1, 1, 2}));
  EXPECT_EQ(reduce("i64[2]", "cumsum(%x, dim = 0)", i64({2}, {INT64_MAX, 1})).integers[1], INT64_MIN);
  const Array n = reduce("bf16[300]", "cumsum(%x, dim = 0)", Tensor::from_doubles(DType::bf16, {300}, Values(300, 1)));
  for (int i = 0; i < 300; ++i) EXPECT_EQ(n.value[i], round_to(DType::bf16, i + 1));  // each is rounded once
}

// Printed, not asserted: machines differ.
TEST(Reduce, Speed) {
  Values values(1 << 20);
  for (size_t i = 0; i < values.size(); ++i) values[i] = double(i % 1000) - 500;
  const Tensor x = f32({1024, 1024}, values);
  for (const char* call :
       {"sum(%x)", "sum(%x, dims = [0])", "prod(%x, dims = [1])", "amax(%x, dims = [1])", "argmax(%x, dims = [1])",
        "var(%x, dims = [1])", "cumsum(%x, dim = 1)", "permute(%x, dims = [1, 0])"}) {
    const std::clock_t start = std::clock();
    const Array y = reduce("f32[1024, 1024]", call, x);
    std::printf("%-26s %6.1f M elements/s\n", call,
                1e-6 * double(values.size()) * CLOCKS_PER_SEC / double(std::clock() - start));
    EXPECT_GT(y.elements(), 0);
  }
}

}  // namespace
}  // namespace plait::reference
