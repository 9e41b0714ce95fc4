// Meaning of the pointwise functions against formulas in long double, on every f16 and bf16 number, and integer
// functions against 128-bit arithmetic.
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <random>
#include <vector>

#include "base/error.h"
#include "scalar/convert.h"
#include "scalar/interval.h"
#include "scalar/pointwise.h"
#include "support/exact_functions.h"

namespace plait {
namespace {

using P = Pointwise;
using Real = long double;

constexpr Real kPi = 3.14159265358979323846264338327950288L;
constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();

double run(P op, std::vector<double> args) { return evaluate(op, args); }

// The bound of f64 holds between the meaning in double and the formula in long double.
TEST(FunctionsTest, EveryNarrowNumber) {
  for (int i = 0; i < kPointwiseCount; ++i) {
    const auto op = P(i);
    if (info(op).arity != 1 || !has_float_meaning(op)) continue;
    for (DType dtype : {DType::f16, DType::bf16}) {
      for (int bits = 0; bits < 65536; ++bits) {
        const double x = dtype == DType::f16 ? f16_to_double(uint16_t(bits)) : bf16_to_double(uint16_t(bits));
        const double got = run(op, {x});
        const Real exact = test::exact_result(op, std::span(&x, 1));
        if (std::isnan(exact) || std::isnan(got)) {
          ASSERT_EQ(std::isnan(exact), std::isnan(got)) << name(op) << "(" << x << ") = " << got;
        } else if (got != double(exact)) {
          const std::vector<double> args = {x};
          ASSERT_LE(std::abs(got - exact), own_error(op, DType::f64, args, got))
              << name(op) << "(" << x << ") = " << got;
        }
      }
    }
  }
}

// The same on tuples: hard values in every combination, and random ones.
TEST(FunctionsTest, TuplesOfNumbers) {
  const std::vector<double> hard = {0.0,  -0.0, 1,    -1,   0.5,   -0.3,   2,         7,          -7,  20,
                                    1e-3, 100,  -100, 1e30, -1e30, 1e-300, kInfinity, -kInfinity, kNaN};
  std::mt19937_64 random(3);
  std::normal_distribution<double> normal(0, 3);
  for (int i = 0; i < kPointwiseCount; ++i) {
    const auto op = P(i);
    const auto arity = size_t(info(op).arity);
    if (arity == 1 || !has_float_meaning(op)) continue;
    size_t tuples = 1;
    for (size_t a = 0; a < arity; ++a) tuples *= hard.size();
    for (size_t t = 0; t < 4 * tuples; ++t) {
      std::vector<double> args;
      for (size_t a = 0, rest = t; a < arity; ++a, rest /= hard.size())
        args.push_back(t < tuples ? hard[rest % hard.size()] : normal(random));
      const double got = run(op, args);
      const Real exact = test::exact_result(op, args);
      const std::string where = fmt::format("{} of {}", name(op), testing::PrintToString(args));
      if (is_open(op, args)) continue;
      if (std::isnan(exact) || std::isnan(got)) {
        ASSERT_EQ(std::isnan(exact), std::isnan(got)) << where << " = " << got;
      } else if (got != double(exact)) {
        ASSERT_LE(std::abs(got - exact), own_error(op, DType::f64, args, got)) << where << " = " << got;
      }
    }
  }
}

// Every f16 number x in [-1, 1] is erf of its result, to a few ulps: d erf / d y = 2 / sqrt(pi) exp(-y^2).
TEST(FunctionsTest, ErfinvIsTheInverse) {
  for (int bits = 0; bits < 65536; ++bits) {
    const double x = f16_to_double(uint16_t(bits)), y = run(P::erfinv, {x});
    if (!(std::abs(x) < 1)) {
      EXPECT_TRUE(std::abs(x) == 1 ? y == std::copysign(kInfinity, x) : std::isnan(y)) << x;
      continue;
    }
    const Real slope = 2 / std::sqrt(kPi) * std::exp(-Real(y) * y);
    const Real miss =
        std::abs(x) < 0.5 ? std::erf(Real(y)) - x : (1 - std::abs(Real(x))) - std::erfc(std::abs(Real(y)));
    ASSERT_LE(std::abs(miss / slope), 4 * ulp(DType::f64, y) + 1e-300) << x << " " << y;
    ASSERT_EQ(std::signbit(x), std::signbit(y)) << x;
  }
}

struct Case {
  P op;
  std::vector<double> args;
  double result;
};

// Results, infinities included, as PyTorch gives them.
const Case kCases[] = {
    {P::floor_divide, {7, 2}, 3},
    {P::floor_divide, {-7, 2}, -4},
    {P::floor_divide, {7, -2}, -4},
    {P::floor_divide, {-7, -2}, 3},
    {P::floor_divide, {1, 0}, kInfinity},
    {P::floor_divide, {-1, 0}, -kInfinity},
    {P::floor_divide, {0, 0}, kNaN},
    {P::floor_divide, {kInfinity, 2}, kNaN},
    {P::floor_divide, {5, kInfinity}, 0},
    {P::floor_divide, {-5, kInfinity}, -1},
    {P::floor_divide, {1, 0.1}, 9},
    {P::floor_divide, {6, 2}, 3},
    {P::remainder, {7, 3}, 1},
    {P::remainder, {-7, 3}, 2},
    {P::remainder, {7, -3}, -2},
    {P::remainder, {-7, -3}, -1},
    {P::remainder, {5, 0}, kNaN},
    {P::remainder, {kInfinity, 3}, kNaN},
    {P::remainder, {5, kInfinity}, 5},
    {P::remainder, {-5, kInfinity}, kInfinity},
    {P::fmod, {7, 3}, 1},
    {P::fmod, {-7, 3}, -1},
    {P::fmod, {7, -3}, 1},
    {P::fmod, {5, 0}, kNaN},
    {P::fmod, {-5, kInfinity}, -5},
    {P::fmod, {kInfinity, 3}, kNaN},
    {P::pow, {2, 10}, 1024},
    {P::pow, {-2, 3}, -8},
    {P::pow, {-2, 0.5}, kNaN},
    {P::pow, {0, 0}, 1},
    {P::pow, {kNaN, 0}, 1},
    {P::pow, {1, kNaN}, 1},
    {P::pow, {0, -1}, kInfinity},
    {P::pow, {-0.0, -3}, -kInfinity},
    {P::pow, {-1, kInfinity}, 1},
    {P::pow, {2, -kInfinity}, 0},
    {P::fmax, {kNaN, 1}, 1},
    {P::fmax, {1, kNaN}, 1},
    {P::fmax, {kNaN, kNaN}, kNaN},
    {P::fmin, {kNaN, 1}, 1},
    {P::fmin, {-1, 1}, -1},
    {P::hypot, {3, 4}, 5},
    {P::hypot, {kInfinity, kNaN}, kInfinity},
    {P::hypot, {kNaN, -kInfinity}, kInfinity},
    {P::hypot, {kNaN, 1}, kNaN},
    {P::copysign, {-3, 2}, 3},
    {P::copysign, {3, -0.0}, -3},
    {P::logaddexp, {kInfinity, kInfinity}, kInfinity},
    {P::logaddexp, {-kInfinity, -kInfinity}, -kInfinity},
    {P::logaddexp, {kInfinity, -kInfinity}, kInfinity},
    {P::logaddexp, {1000, 1000}, 1000 + std::log(2)},
    {P::logaddexp, {kNaN, 1}, kNaN},
    {P::logaddexp, {-kInfinity, 5}, 5},
    {P::xlogy, {0, 0}, 0},
    {P::xlogy, {0, kNaN}, kNaN},
    {P::xlogy, {0, -1}, 0},
    {P::xlogy, {2, 0}, -kInfinity},
    {P::xlogy, {2, -1}, kNaN},
    {P::xlog1py, {0, -2}, 0},
    {P::xlog1py, {1, -1}, -kInfinity},
    {P::xlog1py, {0, kNaN}, kNaN},
    {P::atan2, {0, -1}, double(kPi)},
    {P::atan2, {-0.0, -1}, -double(kPi)},
    {P::atan2, {1, 0}, double(kPi / 2)},
    {P::atan2, {kInfinity, kInfinity}, double(kPi / 4)},
    {P::leaky_relu, {-2, 0.5}, -1},
    {P::leaky_relu, {2, 0.5}, 2},
    {P::elu, {-kInfinity, 2}, -2},
    {P::elu, {3, kNaN}, 3},
    {P::celu, {-kInfinity, 2}, -2},
    {P::celu, {2, 3}, 2},
    {P::hardshrink, {0.5, 0.5}, 0},
    {P::hardshrink, {0.6, 0.5}, 0.6},
    {P::hardshrink, {kNaN, 0.5}, kNaN},
    {P::softshrink, {0.75, 0.5}, 0.25},
    {P::softshrink, {-0.75, 0.5}, -0.25},
    {P::softshrink, {0.5, 0.5}, 0},
    {P::softshrink, {kNaN, 0.5}, kNaN},
    {P::clamp, {5, 0, 3}, 3},
    {P::clamp, {5, 4, 3}, 3},
    {P::clamp, {kNaN, 0, 3}, kNaN},
    {P::clamp, {1, kNaN, 3}, kNaN},
    {P::clamp, {1, 0, kNaN}, kNaN},
    {P::hardtanh, {-5, -1, 1}, -1},
    {P::lerp, {2, 4, 0.25}, 2.5},
    {P::lerp, {2, 4, 0.75}, 3.5},
    {P::lerp, {2, 4, 2}, 6},
    {P::lerp, {kInfinity, kInfinity, 0.5}, kNaN},
    {P::fma, {2, 3, 4}, 10},
    {P::fma, {kInfinity, 0, 1}, kNaN},
    {P::logical_and, {kNaN, 1}, 1},
    {P::logical_and, {kNaN, 0}, 0},
    {P::logical_or, {0, -0.0}, 0},
    {P::logical_xor, {2, 3}, 0},
};

TEST(FunctionsTest, SpecialValuesOfBinaryFunctions) {
  for (const Case& c : kCases) {
    const double got = run(c.op, c.args);
    EXPECT_TRUE(std::isnan(c.result) ? std::isnan(got) : got == c.result)
        << name(c.op) << "(" << c.args[0] << ", " << c.args.back() << ") = " << got << ", not " << c.result;
  }
}

TEST(FunctionsTest, SpecialValuesOfUnaryFunctions) {
  EXPECT_EQ(run(P::round, {0.5}), 0);
  EXPECT_EQ(run(P::round, {1.5}), 2);
  EXPECT_EQ(run(P::round, {-2.5}), -2);
  EXPECT_TRUE(std::signbit(run(P::round, {-0.4})));
  EXPECT_EQ(run(P::sign, {kNaN}), 0);
  EXPECT_EQ(run(P::rsqrt, {-0.0}), -kInfinity);
  EXPECT_EQ(run(P::reciprocal, {-0.0}), -kInfinity);
  EXPECT_TRUE(std::isnan(run(P::frac, {kInfinity})));
  EXPECT_EQ(run(P::frac, {-1.75}), -0.75);
  EXPECT_EQ(run(P::lgamma, {-kInfinity}), kInfinity);
  EXPECT_EQ(run(P::lgamma, {-3}), kInfinity);
  EXPECT_EQ(run(P::digamma, {0}), -kInfinity);
  EXPECT_EQ(run(P::digamma, {-0.0}), kInfinity);
  EXPECT_TRUE(std::isnan(run(P::digamma, {-3})));
  EXPECT_TRUE(std::isnan(run(P::digamma, {-kInfinity})));
  EXPECT_EQ(run(P::digamma, {kInfinity}), kInfinity);
  EXPECT_TRUE(std::isnan(run(P::mish, {-kInfinity})));
  EXPECT_TRUE(std::isnan(run(P::hardswish, {-kInfinity})));
  EXPECT_EQ(run(P::hardsigmoid, {-kInfinity}), 0);
  EXPECT_TRUE(std::isnan(run(P::softsign, {kInfinity})));
  EXPECT_EQ(run(P::softplus, {-kInfinity}), 0);
  EXPECT_EQ(run(P::softplus, {21}), 21);
  EXPECT_EQ(run(P::log_sigmoid, {-kInfinity}), -kInfinity);
  EXPECT_EQ(run(P::log_sigmoid, {kInfinity}), 0);
  EXPECT_TRUE(std::isnan(run(P::relu6, {kNaN})));
}

using Wide = __int128;

std::vector<int64_t> integers(DType d) {
  const int bits = int(8 * size_of(d));
  const uint64_t half = uint64_t(1) << (bits - 1);
  const int64_t top = int64_t(half), below = int64_t(half - 1), above = int64_t(half + 1);
  std::vector<int64_t> out;
  for (int64_t v : {int64_t(0), int64_t(1), int64_t(-1), int64_t(2), int64_t(-2), int64_t(3), int64_t(7), int64_t(-7),
                    int64_t(63), int64_t(64), int64_t(bits - 1), int64_t(bits), top, below, above, top / 3}) {
    int64_t stored = 0;
    store_int64(d, &stored, v);
    out.push_back(load_int64(d, &stored));
  }
  return out;
}

Wide wide(DType d, int64_t v) { return d == DType::u64 ? Wide(uint64_t(v)) : Wide(v); }

int64_t wrapped(DType d, Wide v) {
  int64_t stored = 0;
  store_int64(d, &stored, int64_t(uint64_t(v)));
  return load_int64(d, &stored);
}

Wide floor_quotient(Wide x, Wide y) {
  if (y == 0) return 0;
  const Wide q = x / y;
  return q * y != x && (x < 0) != (y < 0) ? q - 1 : q;
}

// Every pair of hard integers of every integer dtype.
TEST(FunctionsTest, IntegerFunctions) {
  for (int t = 0; t < kDTypeCount; ++t) {
    const DType d = DType(t);
    if (!is_integer(d)) continue;
    const int bits = int(8 * size_of(d));
    for (int64_t a : integers(d))
      for (int64_t b : integers(d)) {
        const Wide x = wide(d, a), y = wide(d, b);
        const auto check = [&](P op, Wide expected) {
          const int64_t args[] = {a, b, b};
          EXPECT_EQ(evaluate_int(op, {args, size_t(info(op).arity)}, d), wrapped(d, expected))
              << name(op) << "(" << a << ", " << b << ") of " << name(d);
        };
        const Wide q = floor_quotient(x, y);
        check(P::floor_divide, q);
        check(P::remainder, x - q * y);
        check(P::fmod, y == 0 ? x : x % y);
        using Bits = unsigned __int128;  // products of u64 wrap
        check(P::fma, Wide(Bits(x) * Bits(y) + Bits(y)));
        check(P::square, Wide(Bits(x) * Bits(x)));
        check(P::sign, x > 0 ? 1 : x < 0 ? -1 : 0);
        check(P::fmax, std::max(x, y));
        check(P::clamp, std::min(std::max(x, y), y));
        check(P::bitwise_and, x & y);
        check(P::bitwise_or, x | y);
        check(P::bitwise_xor, x ^ y);
        check(P::bitwise_not, ~x);
        const bool out = y < 0 || y >= bits;
        check(P::shift_left, out ? 0 : Wide(uint64_t(x)) << int(y));
        check(P::shift_right, out ? (x < 0 ? -1 : 0) : x >> int(y));
        check(P::signbit, x < 0);
        check(P::isfinite, 1);
        check(P::logical_xor, (x != 0) != (y != 0));
        for (P op : {P::floor, P::ceil, P::round, P::trunc}) check(op, x);
        Wide power = 1;
        if (y >= 0 && y <= 64)
          for (int i = 0; i < int(y); ++i) power = wide(d, wrapped(d, Wide(Bits(power) * Bits(x))));
        if (y < 0) power = x == 1 ? 1 : x == -1 ? (y % 2 == 0 ? 1 : -1) : 0;
        if (y <= 64) check(P::pow, power);
      }
  }
}

TEST(FunctionsTest, BoolFunctions) {
  for (int64_t a : {0, 1})
    for (int64_t b : {0, 1}) {
      const auto run_bool = [&](P op) {
        const int64_t args[] = {a, b};
        return evaluate_int(op, {args, size_t(info(op).arity)}, DType::boolean);
      };
      EXPECT_EQ(run_bool(P::bitwise_and), a & b);
      EXPECT_EQ(run_bool(P::bitwise_or), a | b);
      EXPECT_EQ(run_bool(P::bitwise_xor), a ^ b);
      EXPECT_EQ(run_bool(P::bitwise_not), !a);
      EXPECT_EQ(run_bool(P::logical_and), a & b);
      EXPECT_EQ(run_bool(P::logical_not), !a);
      EXPECT_EQ(run_bool(P::signbit), 0);
    }
}

// Large exponents: x^(2^k + 1) by repeated squaring in unsigned words.
TEST(FunctionsTest, PowersOfLargeExponents) {
  const int64_t base = 3, args[] = {base, (int64_t(1) << 40) + 1};
  uint64_t expected = 3;
  for (int i = 0; i < 40; ++i) expected *= expected;
  EXPECT_EQ(evaluate_int(P::pow, args, DType::i64), int64_t(expected * 3));
}

TEST(FunctionsTest, IntegerMeaningIsRefusedWhereThereIsNone) {
  const int64_t one[] = {1};
  const double number[] = {1.0, 1.0};
  EXPECT_ANY_THROW(evaluate_int(P::frac, one, DType::i64));
  EXPECT_ANY_THROW(evaluate_int(P::sin, one, DType::i64));
  EXPECT_ANY_THROW(evaluate(P::bitwise_and, number));
  EXPECT_ANY_THROW(evaluate(P::shift_left, number));
  EXPECT_FALSE(has_float_meaning(P::shift_left));
  EXPECT_FALSE(has_integer_meaning(P::exp));
  EXPECT_TRUE(has_integer_meaning(P::pow));
}

// A NaN's sign is open; nothing else is.
TEST(FunctionsTest, OpenResults) {
  EXPECT_TRUE(is_open(P::signbit, std::vector{kNaN}));
  EXPECT_TRUE(is_open(P::copysign, std::vector{1.0, kNaN}));
  EXPECT_FALSE(is_open(P::copysign, std::vector{kNaN, 1.0}));
  EXPECT_FALSE(is_open(P::sign, std::vector{kNaN}));
}

}  // namespace
}  // namespace plait
