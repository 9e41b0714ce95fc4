#include "scalar/interval.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <random>
#include <vector>

#include "base/error.h"
#include "scalar/convert.h"

namespace plait {

void PrintTo(const Interval& x, std::ostream* out) { *out << "[" << x.lo << ", " << x.hi << "]"; }

namespace {

using P = Pointwise;
constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();

Interval run(P op, std::vector<Interval> operands) { return interval(op, operands); }

void expect(const Interval& got, double lo, double hi) {
  EXPECT_EQ(got.lo, lo);
  EXPECT_EQ(got.hi, hi);
}

TEST(IntervalTest, Contains) {
  EXPECT_TRUE((Interval{1, 2}.contains(1)));
  EXPECT_FALSE((Interval{1, 2}.contains(2.5)));
  EXPECT_FALSE((Interval{1, 2}.contains(kNaN)));
  EXPECT_TRUE(Interval::anything().contains(kNaN));
  EXPECT_TRUE(Interval::anything().contains(kInfinity));
  EXPECT_TRUE(Interval::point(kNaN).contains(kNaN));
  EXPECT_FALSE(Interval::point(kNaN).contains(1));
  EXPECT_TRUE(Interval::point(kNaN).is_point() && Interval::point(3).is_point() && !Interval({1, 2}).is_point());
}

TEST(IntervalTest, Corners) {
  expect(run(P::add, {{1, 2}, {10, 20}}), 11, 22);
  expect(run(P::sub, {{1, 2}, {10, 20}}), -19, -8);
  expect(run(P::mul, {{-1, 2}, {-3, 5}}), -6, 10);
  expect(run(P::div, {{1, 2}, {4, 8}}), 0.125, 0.5);
  expect(run(P::div, {{-1, 2}, {-4, -1}}), -2, 1);
  expect(run(P::neg, {{1, 2}}), -2, -1);
  expect(run(P::max, {{1, 5}, {2, 3}}), 2, 5);
  expect(run(P::min, {{1, 5}, {2, 3}}), 1, 3);
  expect(run(P::sqrt, {{4, 9}}), 2, 3);
  expect(run(P::cast, {{-1.5, 2.5}}), -1.5, 2.5);
}

TEST(IntervalTest, ExtremaInside) {
  expect(run(P::abs, {{-3, 2}}), 0, 3);
  expect(run(P::abs, {{-3, -2}}), 2, 3);
  expect(run(P::relu, {{-3, 2}}), 0, 2);
  EXPECT_DOUBLE_EQ(run(P::gelu_erf, {{-5, 1}}).lo, -0.16997120747990369);
  EXPECT_DOUBLE_EQ(run(P::silu, {{-5, 1}}).lo, -0.27846454276107380);
  // Symmetric around the minimum the corners alone would be too small.
  for (P op : {P::gelu_erf, P::gelu_tanh, P::silu}) {
    const Interval range = run(op, {{-2, 0}});
    for (int i = 0; i <= 2000; ++i) {
      const double x = -i / 1000.0;
      EXPECT_GE(evaluate(op, std::vector{x}), range.lo - 1e-16) << name(op) << " " << x;
      EXPECT_LE(evaluate(op, std::vector{x}), range.hi + 1e-16) << name(op) << " " << x;
    }
  }
}

TEST(IntervalTest, DomainsAndPoles) {
  EXPECT_TRUE(run(P::div, {{1, 2}, {-1, 1}}).is_anything());
  EXPECT_TRUE(run(P::div, {{1, 2}, {0, 1}}).is_anything());  // the zero may be negative
  EXPECT_TRUE(run(P::div, {{1, 2}, {-1, 0}}).is_anything());
  EXPECT_TRUE(run(P::div, {{0, 2}, {0, 0}}).is_anything());
  expect(run(P::div, {{1, 2}, {0, 0}}), kInfinity, kInfinity);
  EXPECT_TRUE(run(P::div, {{0, 0}, {0, 0}}).is_nan());
  EXPECT_TRUE(run(P::log, {{-1, 1}}).is_anything());
  EXPECT_TRUE(run(P::log, {{-2, -1}}).is_nan());
  expect(run(P::log, {{0, 1}}), -kInfinity, 0);
  EXPECT_TRUE(run(P::sqrt, {{-1, 1}}).is_anything());
  EXPECT_TRUE(run(P::sqrt, {{-2, -1}}).is_nan());
  expect(run(P::sqrt, {{0, 1}}), 0, 1);
}

TEST(IntervalTest, InfinitiesAndNaN) {
  EXPECT_TRUE(run(P::sub, {{1, kInfinity}, {1, kInfinity}}).is_anything());
  EXPECT_TRUE(run(P::mul, {{0, 1}, {1, kInfinity}}).is_anything());
  expect(run(P::add, {{1, kInfinity}, {1, 2}}), 2, kInfinity);
  EXPECT_TRUE(run(P::add, {Interval::point(kNaN), {1, 2}}).is_nan());
  EXPECT_TRUE(run(P::max, {Interval::anything(), {1, 2}}).is_anything());
  EXPECT_TRUE(run(P::relu, {Interval::anything()}).is_anything());
  EXPECT_TRUE(run(P::sigmoid, {Interval::anything()}).is_anything());
  EXPECT_TRUE(run(P::gelu_erf, {{-kInfinity, 1}}).is_anything());
  expect(run(P::tanh, {{-kInfinity, 0}}), -1, 0);
  EXPECT_THROW(run(P::neg, {{2, 1}}), InternalError);
  EXPECT_THROW(run(P::neg, {{kNaN, 1}}), InternalError);
}

TEST(IntervalTest, Comparisons) {
  expect(run(P::lt, {{1, 2}, {3, 4}}), 1, 1);
  expect(run(P::lt, {{3, 4}, {1, 2}}), 0, 0);
  expect(run(P::lt, {{1, 3}, {2, 4}}), 0, 1);
  expect(run(P::lt, {{1, 2}, {2, 3}}), 0, 1);
  expect(run(P::le, {{1, 2}, {2, 3}}), 1, 1);
  expect(run(P::gt, {{1, 2}, {2, 3}}), 0, 0);
  expect(run(P::ge, {{2, 3}, {1, 2}}), 1, 1);
  expect(run(P::eq, {{2, 2}, {2, 2}}), 1, 1);
  expect(run(P::eq, {{2, 2}, {1, 3}}), 0, 1);
  expect(run(P::ne, {{1, 2}, {3, 4}}), 1, 1);
  expect(run(P::eq, {Interval::point(kNaN), {1, 2}}), 0, 0);
  expect(run(P::ne, {Interval::point(kNaN), {1, 2}}), 1, 1);
  expect(run(P::lt, {Interval::anything(), {1, 2}}), 0, 1);
}

TEST(IntervalTest, Where) {
  expect(run(P::where, {{1, 1}, {1, 2}, {5, 6}}), 1, 2);
  expect(run(P::where, {{0, 0}, {1, 2}, {5, 6}}), 5, 6);
  expect(run(P::where, {{0, 1}, {1, 2}, {5, 6}}), 1, 6);
  EXPECT_TRUE(run(P::where, {{0, 1}, {1, 2}, Interval::point(kNaN)}).is_anything());
  expect(run(P::where, {{1, 1}, {1, 2}, Interval::point(kNaN)}), 1, 2);
}

TEST(IntervalTest, TestsAndLogic) {
  const Interval nan = Interval::point(kNaN), anything = Interval::anything();
  expect(run(P::isnan, {nan}), 1, 1);
  expect(run(P::isnan, {anything}), 0, 1);
  expect(run(P::isnan, {{1, kInfinity}}), 0, 0);
  expect(run(P::isinf, {{1, kInfinity}}), 0, 1);
  expect(run(P::isinf, {{-kInfinity, -kInfinity}}), 1, 1);
  expect(run(P::isinf, {nan}), 0, 0);
  expect(run(P::isfinite, {{1, 2}}), 1, 1);
  expect(run(P::isfinite, {{1, kInfinity}}), 0, 1);
  expect(run(P::isfinite, {nan}), 0, 0);
  expect(run(P::signbit, {nan}), 0, 1);
  expect(run(P::signbit, {{-2, -1}}), 1, 1);
  expect(run(P::signbit, {{-2, 1}}), 0, 1);
  expect(run(P::logical_and, {{1, 2}, nan}), 1, 1);
  expect(run(P::logical_and, {{-1, 2}, {0, 0}}), 0, 0);
  expect(run(P::logical_or, {{-1, 2}, {0, 0}}), 0, 1);
  expect(run(P::logical_xor, {{1, 2}, {-2, -1}}), 0, 0);
  expect(run(P::logical_not, {anything}), 0, 1);
  expect(run(P::logical_not, {nan}), 0, 0);
}

TEST(IntervalTest, WhereNaNDoesNotStay) {
  const Interval nan = Interval::point(kNaN);
  expect(run(P::fmax, {nan, {1, 2}}), 1, 2);
  expect(run(P::fmin, {{1, 2}, nan}), 1, 2);
  EXPECT_TRUE(run(P::fmax, {nan, nan}).is_nan());
  expect(run(P::sign, {nan}), 0, 0);
  EXPECT_TRUE(run(P::pow, {nan, {-1, 1}}).is_anything());
  EXPECT_TRUE(run(P::pow, {nan, {1, 2}}).is_nan());
  EXPECT_TRUE(run(P::pow, {{0, 2}, nan}).is_anything());
  EXPECT_TRUE(run(P::hypot, {nan, {1, kInfinity}}).is_anything());
  EXPECT_TRUE(run(P::hypot, {nan, {1, 2}}).is_nan());
  expect(run(P::copysign, {{1, 2}, nan}), -2, 2);
  EXPECT_TRUE(run(P::clamp, {{1, 2}, nan, {1, 2}}).is_nan());
}

TEST(IntervalTest, Powers) {
  expect(run(P::pow, {{-3, 2}, {2, 2}}), 0, 9);
  expect(run(P::pow, {{-3, 2}, {3, 3}}), -27, 8);
  expect(run(P::pow, {{-4, -2}, {-1, -1}}), -0.5, -0.25);
  expect(run(P::pow, {{0, 2}, {0, 2}}), 0, 4);
  EXPECT_TRUE(run(P::pow, {{-3, 2}, {-2, -2}}).is_anything());
  EXPECT_TRUE(run(P::pow, {{-3, -2}, {1, 2}}).is_anything());
  EXPECT_TRUE(run(P::pow, {{-3, -2}, {1.1, 1.9}}).is_nan());
  EXPECT_TRUE(run(P::pow, {{-3, 0}, {1.1, 1.9}}).is_anything());
  EXPECT_TRUE(run(P::pow, {{-kInfinity, -2}, {1.1, 1.9}}).is_anything());
}

TEST(IntervalTest, WavesAndPoles) {
  expect(run(P::sin, {{0, 7}}), -1, 1);
  EXPECT_EQ(run(P::sin, {{1, 2}}).hi, 1);
  EXPECT_EQ(run(P::cos, {{3, 3.5}}).lo, -1);
  EXPECT_LT(run(P::cos, {{3, 3.5}}).hi, -0.9);
  EXPECT_EQ(run(P::cos, {{-0.1, 0.1}}).hi, 1);
  expect(run(P::sin, {{1e15, 1e15 + 1}}), -1, 1);
  EXPECT_TRUE(run(P::sin, {{1, kInfinity}}).is_anything());
  EXPECT_TRUE(run(P::tan, {{1, 2}}).is_anything());
  EXPECT_FALSE(run(P::tan, {{1, 1.5}}).is_anything());
  EXPECT_TRUE(run(P::lgamma, {{-1.5, -0.5}}).is_anything());
  EXPECT_TRUE(run(P::digamma, {{-0.5, 0.5}}).is_anything());
  const Interval valley = run(P::lgamma, {{1, 2}});  // the least value is -0.12149
  EXPECT_LE(valley.lo, -0.1214862905);
  EXPECT_GE(valley.lo, -0.25);
  EXPECT_EQ(valley.hi, 0);
  EXPECT_TRUE(run(P::acosh, {{0, 2}}).is_anything());
  EXPECT_TRUE(run(P::atanh, {{0.5, 1.5}}).is_anything());
  EXPECT_TRUE(run(P::asin, {{2, 3}}).is_nan());
}

TEST(IntervalTest, DiscontinuitiesOfFloats) {
  const auto holds = [](P op, std::vector<Interval> operands) { return holds_discontinuity(op, operands); };
  EXPECT_TRUE(holds(P::floor, {{0.5, 1}}));
  EXPECT_FALSE(holds(P::floor, {{0, 0.9}}));
  EXPECT_TRUE(holds(P::sign, {{0, 0.9}}));
  EXPECT_TRUE(holds(P::fmod, {{3.5, 4.5}, {2, 2}}));
  EXPECT_FALSE(holds(P::fmod, {{2.5, 3.5}, {2, 2}}));
  EXPECT_FALSE(holds(P::fmod, {{-1.5, 1.5}, {2, 2}}));
  EXPECT_TRUE(holds(P::remainder, {{-1.5, 1.5}, {2, 2}}));
  EXPECT_TRUE(holds(P::floor_divide, {{3.5, 4.5}, {2, 2}}));
  EXPECT_TRUE(holds(P::frac, {{0.5, 1.5}}));
  EXPECT_FALSE(holds(P::frac, {{-0.5, 0.5}}));
  EXPECT_TRUE(holds(P::copysign, {{1, 2}, {-1, 1}}));
  EXPECT_FALSE(holds(P::copysign, {{1, 2}, {1, 2}}));
  EXPECT_TRUE(holds(P::atan2, {{-1, 1}, {-2, -1}}));
  EXPECT_FALSE(holds(P::atan2, {{-1, 1}, {1, 2}}));
  EXPECT_TRUE(holds(P::hardshrink, {{0.4, 0.6}, {0.5, 0.5}}));
  EXPECT_FALSE(holds(P::hardshrink, {{-0.4, 0.5}, {0.5, 0.5}}));
  EXPECT_FALSE(holds(P::exp, {{0, 1}}));
  expect(run(P::fmod, {{2.5, 3.5}, {2, 2}}), 0.5, 1.5);
  expect(run(P::fmod, {{3.5, 4.5}, {2, 2}}), 0, 2);
  expect(run(P::remainder, {{-0.5, 0.5}, {2, 2}}), 0, 2);
  expect(run(P::remainder, {{-0.5, 0.5}, {-2, -2}}), -2, 0);
  expect(run(P::hardshrink, {{0.4, 0.6}, {0.5, 0.5}}), 0, 0.6);
  expect(run(P::softshrink, {{0.4, 0.6}, {0.5, 0.5}}), 0, 0.6 - 0.5);
  expect(run(P::softshrink, {{0.25, 0.5}, {-2, -1}}), 1.25, 2.5);
  expect(run(P::softshrink, {{-4, -3}, {-2, -1}}), -6, -4);
  expect(run(P::softshrink, {{-2, -2}, {-2, -2}}), -4, -4);  // the end itself belongs to the left
  expect(run(P::softshrink, {{-2.25, -2}, {-2, -1}}), -4.25, -3);
  expect(run(P::softshrink, {{-2.5, -1.5}, {-2, -2}}), -4.5, 0.5);
}

// Random boxes, random points inside and at corners: every result is inside, up to the library's own last bits.
TEST(IntervalTest, SampledResultsStayInside) {
  std::mt19937_64 random(17);
  std::normal_distribution<double> draw;
  std::uniform_real_distribution<double> uniform(0, 1);
  for (int i = 0; i < kPointwiseCount; ++i) {
    const P op = P(i);
    const PointwiseInfo& op_info = info(op);
    if (!has_float_meaning(op)) continue;
    for (int box = 0; box < 3000; ++box) {
      std::vector<Interval> operands(op_info.arity);
      for (Interval& x : operands) {
        double center = draw(random) * 3, radius = box % 5 ? std::exp(draw(random) * 4 - 3) : 0;
        if (box % 7 == 0) center = std::round(center);
        if (box % 11 == 0) center *= 20, radius *= 20;
        x = {center - radius, center + radius};
      }
      if (op == P::where) operands[0] = box % 3 ? Interval::point(box % 3 - 1) : Interval{0, 1};
      const Interval range = interval(op, operands);
      ASSERT_TRUE(range.is_nan() || range.lo <= range.hi);
      for (int sample = 0; sample < 12; ++sample) {
        std::vector<double> args;
        for (const Interval& x : operands)
          args.push_back(sample < 8 ? (sample >> args.size() & 1 ? x.hi : x.lo)
                                    : std::clamp(x.lo + (x.hi - x.lo) * uniform(random), x.lo, x.hi));
        const double value = evaluate(op, args);
        if (range.contains(value)) continue;
        ASSERT_FALSE(std::isnan(value) || range.is_nan()) << op_info.name << " " << args[0] << " " << args.back();
        const double slack = op_info.error_ulp > 0.5 ? own_error(op, DType::f64, args, value) : 0;
        ASSERT_TRUE(range.contains(value + slack) || range.contains(value - slack))
            << op_info.name << " of " << args[0] << ", " << args.back() << " gives " << value << " outside ["
            << range.lo << ", " << range.hi << "]";
      }
    }
  }
}

}  // namespace
}  // namespace plait
