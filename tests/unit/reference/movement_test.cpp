// Ops that move elements: by hand at the boundaries, and in every dtype.
#include <cmath>

#include "helpers.h"

namespace plait::reference {
namespace {

const Tensor kX = f32({2, 3}, {1, 2, 3, 4, 5, 6});

Array move(const std::string& call, const Tensor& x = kX, const std::string& type = "f32[2, 3]") {
  return run("%x: " + type, "%y = " + call, {{"x", x}});
}

TEST(Movement, PermuteAndBroadcast) {
  const Array t = move("permute(%x, dims = [1, 0])");
  EXPECT_EQ(t.shape, (Shape{3, 2}));
  expect_values(t, {1, 4, 2, 5, 3, 6});
  const Array three = move("permute(%x, dims = [2, 0, 1])", f32({1, 2, 3}, {1, 2, 3, 4, 5, 6}), "f32[1, 2, 3]");
  EXPECT_EQ(three.shape, (Shape{3, 1, 2}));
  expect_values(three, {1, 4, 2, 5, 3, 6});
  const Array b = move("broadcast(%x, shape = [2, 2, 3], dims = [0, 2])");
  expect_values(b, {1, 2, 3, 1, 2, 3, 4, 5, 6, 4, 5, 6});
  expect_values(move("broadcast(%x, shape = [2, 3], dims = [0])", f32({1}, {7}), "f32[1]"), {7, 7, 7, 7, 7, 7});
  expect_values(move("broadcast(%x, shape = [2], dims = [])", f32({}, {7}), "f32[]"), {7, 7});
  EXPECT_EQ(move("broadcast(%x, shape = [0, 2, 3], dims = [1, 2])").elements(), 0);
}

TEST(Movement, ShapesInOrder) {
  EXPECT_EQ(move("reshape(%x, shape = [3, -1])").shape, (Shape{3, 2}));
  expect_values(move("reshape(%x, shape = [6])"), {1, 2, 3, 4, 5, 6});
  EXPECT_EQ(move("unsqueeze(%x, dims = [0, -1])").shape, (Shape{1, 2, 3, 1}));
  EXPECT_EQ(move("squeeze(%x)", f32({1, 2, 1}, {1, 2}), "f32[1, 2, 1]").shape, (Shape{2}));
  EXPECT_EQ(move("squeeze(%x, dims = [2])", f32({1, 2, 1}, {1, 2}), "f32[1, 2, 1]").shape, (Shape{1, 2}));
  EXPECT_EQ(move("reshape(%x, shape = [0, 7])", f32({3, 0}, {}), "f32[3, 0]").shape, (Shape{0, 7}));
  expect_values(move("reshape(%x, shape = [])", f32({1, 1}, {5}), "f32[1, 1]"), {5});
}

TEST(Movement, SliceAndPad) {
  expect_values(move("slice(%x, dim = 1, start = 1)"), {2, 3, 5, 6});
  expect_values(move("slice(%x, dim = 1, start = 0, stop = 3, step = 2)"), {1, 3, 4, 6});
  expect_values(move("slice(%x, dim = 1, start = 1, stop = 3, step = 5)"), {2, 5});
  expect_values(move("slice(%x, dim = 1, start = -1)"), {3, 6});
  EXPECT_EQ(move("slice(%x, dim = 0, start = 1, stop = 1)").shape, (Shape{0, 3}));
  EXPECT_EQ(move("slice(%x, dim = 0, start = 9, stop = 12)").shape, (Shape{0, 3}));
  EXPECT_THROW(move("slice(%x, dim = 0, start = 1, stop = 0, step = -1)"), UserError);
  expect_values(move("pad(%x, low = [0, 1], high = [1, 0], value = -1)"), {-1, 1, 2, 3, -1, 4, 5, 6, -1, -1, -1, -1});
  expect_values(move("pad(%x, low = [1], high = [0], value = inf)", f32({0}, {}), "f32[0]"), {kInfinity});
  expect_values(move("pad(%x, low = [0], high = [1], value = 0.1)", f32({1}, {1}), "f32[1]"), {1, double(0.1f)});
  const Array i =
      move("pad(%x, low = [1], high = [1], value = 3)", Tensor::from_doubles(DType::i64, {1}, {9}), "i64[1]");
  EXPECT_EQ(i.integers, (std::vector<int64_t>{3, 9, 3}));
}

TEST(Movement, CatFlipRollRepeat) {
  const Given given{{"a", f32({2, 1}, {1, 2})}, {"b", f32({2, 2}, {3, 4, 5, 6})}, {"c", f32({2, 0}, {})}};
  const Array c = run("%a: f32[2, 1], %b: f32[2, 2], %c: f32[2, 0]", "%y = cat(%a, %c, %b, %a, dim = 1)", given);
  EXPECT_EQ(c.shape, (Shape{2, 4}));
  expect_values(c, {1, 3, 4, 1, 2, 5, 6, 2});
  expect_values(move("flip(%x, dims = [1])"), {3, 2, 1, 6, 5, 4});
  expect_values(move("flip(%x, dims = [1, 0])"), {6, 5, 4, 3, 2, 1});
  expect_values(move("roll(%x, shifts = [1], dims = [1])"), {3, 1, 2, 6, 4, 5});
  expect_values(move("roll(%x, shifts = [-1, 1], dims = [1, 0])"), {5, 6, 4, 2, 3, 1});
  expect_values(move("roll(%x, shifts = [7], dims = [1])"), {3, 1, 2, 6, 4, 5});
  expect_values(move("roll(%x, shifts = [-7], dims = [1])"), {2, 3, 1, 5, 6, 4});
  EXPECT_EQ(move("roll(%x, shifts = [2], dims = [0])", f32({0}, {}), "f32[0]").elements(), 0);
  expect_values(move("repeat(%x, repeats = [2, 1, 2])", f32({2, 1}, {1, 2}), "f32[2, 1]"), {1, 1, 2, 2, 1, 1, 2, 2});
  EXPECT_EQ(move("repeat(%x, repeats = [0, 2])").shape, (Shape{0, 6}));
}

TEST(Movement, KeepsNaNSignsAndWideIntegers) {
  const Array f = move("flip(%x, dims = [0])", f32({3}, {kNaN, -0.0, 0x1p-149}), "f32[3]");
  expect_values(f, {0x1p-149, 0, kNaN});
  EXPECT_TRUE(std::signbit(f.value[1]));
  EXPECT_EQ(f.radius, (Values{0, 0, 0}));
  Tensor i = Tensor::empty(DType::i64, {2});
  static_cast<int64_t*>(i.data())[0] = INT64_MAX;
  static_cast<int64_t*>(i.data())[1] = (int64_t{1} << 53) + 1;
  EXPECT_EQ(move("repeat(%x, repeats = [2])", i, "i64[2]").integers,
            (std::vector<int64_t>{INT64_MAX, (int64_t{1} << 53) + 1, INT64_MAX, (int64_t{1} << 53) + 1}));
}

TEST(Movement, EveryDtype) {
  for (int d = 0; d < kDTypeCount; ++d) {
    const auto dtype = static_cast<DType>(d);
    const Tensor x = Tensor::from_doubles(dtype, {2, 2}, {1, 0, 1, 1});
    const std::string type = std::string(name(dtype)) + "[2, 2]";
    const Array y =
        run("%x: " + type,
            "%a = permute(%x, dims = [1, 0])\n%b = cat(%a, %x, dim = 0)\n%c = pad(%b, low = [0, 1], high = "
            "[0, 0])\n%d = slice(%c, dim = 1, start = 0, stop = 2)\n%y = roll(%d, shifts = [1], dims = [0])",
            {{"x", x}});
    EXPECT_EQ(y.dtype, dtype);
    expect_values(y, {0, 1, 0, 1, 0, 0, 0, 1});
  }
}

TEST(Movement, RadiiAndExcusesMoveAlong) {
  const std::string in = "%x: f32[2, 2], %h: f32[]";
  const double edge = double(float(std::atanh(0.5)));
  const Given given{{"x", f32({2, 2}, {edge, 0, 1, 2})}, {"h", f32({}, {0.5})}};
  const std::string head = "%t = tanh(%x)\n%g = gt(%t, %h)\n%w = where(%g, %t, %x)\n";
  const Array w = run(in, head + "%y = permute(%w, dims = [0, 1])", given);
  ASSERT_TRUE(w.excused_at(0));
  const Array y = run(in, head + "%f = flip(%w, dims = [0, 1])\n%y = pad(%f, low = [0, 0], high = [0, 1])", given);
  EXPECT_EQ(y.radius, (Values{w.radius[3], w.radius[2], 0, w.radius[1], w.radius[0], 0}));
  EXPECT_TRUE(y.excused_at(4));
  EXPECT_FALSE(y.excused_at(0));
  ASSERT_TRUE(w.has_alternative(0) && y.has_alternative(4));
  EXPECT_EQ(*y.alternative[4], *w.alternative[0]);
  EXPECT_FALSE(y.has_alternative(5));
  const Array c = run(in, head + "%y = cat(%x, %w, %x, dim = 0)", given);
  EXPECT_EQ(c.radius[4], w.radius[0]);
  EXPECT_EQ(c.radius[0], 0);
  EXPECT_TRUE(c.excused_at(4));
  EXPECT_TRUE(c.has_alternative(4));
  EXPECT_FALSE(c.has_alternative(0));
}

TEST(Bitcast, BothWays) {
  expect_values(move("bitcast(%x, to = u32)", f32({3}, {1, -0.0, kInfinity}), "f32[3]"),
                {double(0x3f800000u), double(0x80000000u), double(0x7f800000u)});
  expect_values(move("bitcast(%x, to = f32)",
                     Tensor::from_doubles(DType::u32, {2}, {double(0x40490fdbu), double(0x7fc00000u)}), "u32[2]"),
                {double(3.14159274f), kNaN});
  const Array d = move("bitcast(%x, to = i64)", Tensor::from_doubles(DType::f64, {1}, {-1}), "f64[1]");
  EXPECT_EQ(d.integers[0], int64_t(0xbff0000000000000u));
  expect_values(move("bitcast(%x, to = bf16)", Tensor::from_doubles(DType::f16, {1}, {1}), "f16[1]"), {0x1p-7});
  EXPECT_EQ(move("bitcast(%x, to = i64)", Tensor::from_doubles(DType::u64, {1}, {5}), "u64[1]").integers[0], 5);
}

TEST(Bitcast, BitsThatAreNotSureAreUnknown) {
  EXPECT_TRUE(move("bitcast(%x, to = u32)", f32({1}, {kNaN}), "f32[1]").excused_at(0));
  EXPECT_FALSE(move("bitcast(%x, to = u32)", f32({1}, {-0.0}), "f32[1]").excused_at(0));
  const Given given{{"x", f32({3}, {1, 0, 1.5})}};
  const Array y = run("%x: f32[3]", "%e = exp(%x)\n%y = bitcast(%e, to = u32)", given);
  EXPECT_TRUE(y.excused_at(0));
  const Array z = run("%x: f32[3]", "%a = max(%x, %x)\n%y = bitcast(%a, to = u32)", given);
  EXPECT_FALSE(z.excused_at(0));
  EXPECT_TRUE(z.excused_at(1));  // either zero
  const Array m = run("%x: f32[3]", "%a = flip(%x, dims = [0])\n%y = bitcast(%a, to = u32)", given);
  EXPECT_FALSE(m.excused_at(1));
}

}  // namespace
}  // namespace plait::reference
