#include "scalar/pointwise.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <random>
#include <set>
#include <vector>

#include "base/error.h"
#include "scalar/convert.h"

namespace plait {
namespace {

using P = Pointwise;
constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();

double run(P op, std::vector<double> args) { return evaluate(op, args); }
int64_t run_int(P op, std::vector<int64_t> args, DType d = DType::i64) { return evaluate_int(op, args, d); }
DType type(P op, std::vector<DType> operands) { return result_type(op, operands); }

TEST(PointwiseTest, NamesReadBack) {
  for (int i = 0; i < kPointwiseCount; ++i) {
    EXPECT_EQ(parse_pointwise(name(P(i))), P(i));
    EXPECT_GE(info(P(i)).arity, 1);
    EXPECT_LE(info(P(i)).arity, 3);
  }
  EXPECT_EQ(parse_pointwise("gelu"), std::nullopt);
  EXPECT_EQ(parse_pointwise(""), std::nullopt);
  EXPECT_EQ(name(P::gelu_tanh), "gelu_tanh");
}

TEST(PointwiseTest, ErrorsOfTheContract) {
  for (P op : {P::neg, P::abs, P::max, P::min, P::relu, P::eq, P::ge, P::where, P::cast, P::fmod, P::clamp, P::floor})
    EXPECT_EQ(info(op).error_ulp, 0);
  for (P op : {P::add, P::sub, P::mul, P::div, P::sqrt, P::fma}) EXPECT_EQ(info(op).error_ulp, 0.5);
  for (P op : {P::exp, P::log, P::erf, P::sin, P::cos}) EXPECT_EQ(info(op).error_ulp, 2);
  EXPECT_EQ(info(P::tanh).error_ulp, 3);
  EXPECT_EQ(info(P::sigmoid).error_ulp, 4);
  for (P op : {P::gelu_erf, P::gelu_tanh, P::silu}) {
    EXPECT_EQ(info(op).argument_error, 8) << name(op);
    EXPECT_EQ(info(op).error_ulp, 4) << name(op);
    EXPECT_EQ(info(op).scale, ErrorScale::operand) << name(op);
  }
}

TEST(PointwiseTest, IsDiscontinuous) {
  for (P op : {P::lt, P::where, P::floor, P::fmod, P::isnan, P::logical_not, P::hardshrink, P::copysign, P::sign})
    EXPECT_TRUE(info(op).discontinuous) << name(op);
  for (P op : {P::add, P::relu, P::clamp, P::pow, P::softshrink, P::leaky_relu, P::cast})
    EXPECT_FALSE(info(op).discontinuous) << name(op);
  EXPECT_TRUE(is_discontinuous(P::floor, 0, DType::bf16, DType::bf16));
  EXPECT_FALSE(is_discontinuous(P::floor, 0, DType::i64, DType::i64));
  EXPECT_TRUE(is_discontinuous(P::lt, 1, DType::bf16, DType::boolean));
  EXPECT_FALSE(is_discontinuous(P::lt, 0, DType::i64, DType::boolean));
  EXPECT_FALSE(is_discontinuous(P::where, 1, DType::f32, DType::f32));
  EXPECT_FALSE(is_discontinuous(P::where, 0, DType::boolean, DType::f32));
  EXPECT_TRUE(is_discontinuous(P::cast, 0, DType::f32, DType::i64));
  EXPECT_TRUE(is_discontinuous(P::cast, 0, DType::f32, DType::boolean));
  EXPECT_FALSE(is_discontinuous(P::cast, 0, DType::f32, DType::bf16));
  EXPECT_FALSE(is_discontinuous(P::relu, 0, DType::f32, DType::f32));
}

TEST(PointwiseTest, ResultTypes) {
  EXPECT_EQ(type(P::add, {DType::bf16, DType::f32}), DType::f32);
  EXPECT_EQ(type(P::add, {DType::bf16, DType::f16}), DType::f32);
  EXPECT_EQ(type(P::mul, {DType::boolean, DType::bf16}), DType::bf16);
  EXPECT_EQ(type(P::add, {DType::i64, DType::boolean}), DType::i64);
  EXPECT_EQ(type(P::div, {DType::i64, DType::f16}), DType::f16);
  EXPECT_EQ(type(P::div, {DType::i64, DType::i64}), DType::f32);
  EXPECT_EQ(type(P::exp, {DType::u64}), DType::f32);
  EXPECT_EQ(type(P::sqrt, {DType::boolean}), DType::f32);
  EXPECT_EQ(type(P::atan2, {DType::boolean, DType::f64}), DType::f64);
  EXPECT_EQ(type(P::gelu_tanh, {DType::bf16}), DType::bf16);
  EXPECT_EQ(type(P::isnan, {DType::f16}), DType::boolean);
  EXPECT_EQ(type(P::signbit, {DType::i64}), DType::boolean);
  EXPECT_EQ(type(P::logical_and, {DType::u64, DType::bf16}), DType::boolean);
  EXPECT_EQ(type(P::bitwise_and, {DType::boolean, DType::boolean}), DType::boolean);
  EXPECT_EQ(type(P::bitwise_or, {DType::boolean, DType::i64}), DType::i64);
  EXPECT_EQ(type(P::shift_left, {DType::u32, DType::u32}), DType::u32);
  EXPECT_EQ(type(P::clamp, {DType::i64, DType::boolean, DType::i64}), DType::i64);
  EXPECT_EQ(type(P::fma, {DType::bf16, DType::bf16, DType::f32}), DType::f32);
  EXPECT_EQ(type(P::lt, {DType::f32, DType::i64}), DType::boolean);
  EXPECT_EQ(type(P::eq, {DType::boolean, DType::boolean}), DType::boolean);
  EXPECT_EQ(type(P::where, {DType::boolean, DType::bf16, DType::f32}), DType::f32);
  EXPECT_EQ(type(P::where, {DType::boolean, DType::boolean, DType::boolean}), DType::boolean);
  EXPECT_EQ(computation_type(P::lt, std::vector{DType::bf16, DType::bf16}), DType::f32);
  EXPECT_EQ(computation_type(P::add, std::vector{DType::u32, DType::u32}), DType::u32);
  EXPECT_EQ(computation_type(P::where, std::vector{DType::boolean, DType::f64, DType::f16}), DType::f64);
  EXPECT_EQ(computation_type(P::cast, std::vector{DType::bf16}), DType::bf16);
  EXPECT_EQ(computation_type(P::exp, std::vector{DType::i64}), DType::f32);
  EXPECT_EQ(computation_type(P::logical_or, std::vector{DType::u64, DType::f16}), DType::boolean);
  EXPECT_EQ(computation_type(P::isinf, std::vector{DType::f16}), DType::f32);
}

void expect_refused(P op, std::vector<DType> operands, const std::string& part) {
  try {
    result_type(op, operands);
    FAIL() << name(op);
  } catch (const UserError& e) {
    EXPECT_NE(e.message().find(part), std::string::npos) << e.message();
    EXPECT_EQ(e.where(), name(op));
    EXPECT_FALSE(e.remedy().empty());
  }
}

TEST(PointwiseTest, RefusedTypes) {
  expect_refused(P::add, {DType::u32, DType::i64}, "found operands: u32, i64");
  expect_refused(P::add, {DType::boolean, DType::boolean}, "add is not defined on bool");
  expect_refused(P::relu, {DType::boolean}, "not defined on bool");
  expect_refused(P::hypot, {DType::i64, DType::i64}, "hypot is defined on floats only; found operands: i64, i64");
  expect_refused(P::gelu_erf, {DType::u64}, "floats only");
  expect_refused(P::frac, {DType::boolean}, "floats only");
  expect_refused(P::floor_divide, {DType::boolean, DType::boolean}, "not defined on bool");
  expect_refused(P::bitwise_xor, {DType::i64, DType::f32}, "on integers and bool only; found operands: i64, f32");
  expect_refused(P::shift_left, {DType::boolean, DType::boolean}, "shift_left is defined on integers only");
  expect_refused(P::shift_right, {DType::f64, DType::i64}, "on integers only");
  expect_refused(P::logical_not, {DType::f32, DType::f32}, "takes 1 operand, got 2");
  expect_refused(P::where, {DType::f32, DType::f32, DType::f32}, "bool condition");
  expect_refused(P::where, {DType::boolean, DType::u64, DType::i64}, "without a common type");
  expect_refused(P::lt, {DType::u64, DType::i64}, "without a common type");
  expect_refused(P::add, {DType::f32}, "takes 2 operands, got 1");
  expect_refused(P::neg, {}, "takes 1 operand, got 0; found operands: none");
}

TEST(PointwiseTest, Values) {
  EXPECT_EQ(run(P::add, {1, 2}), 3);
  EXPECT_EQ(run(P::sub, {1, 2}), -1);
  EXPECT_EQ(run(P::mul, {3, 2}), 6);
  EXPECT_EQ(run(P::div, {3, 2}), 1.5);
  EXPECT_EQ(run(P::div, {1, -0.0}), -kInfinity);
  EXPECT_EQ(run(P::neg, {3}), -3);
  EXPECT_EQ(run(P::abs, {-3}), 3);
  EXPECT_EQ(run(P::exp, {1}), std::exp(1.0));
  EXPECT_EQ(run(P::log, {0}), -kInfinity);
  EXPECT_TRUE(std::isnan(run(P::log, {-1})));
  EXPECT_EQ(run(P::tanh, {kInfinity}), 1);
  EXPECT_EQ(run(P::sqrt, {2}), std::sqrt(2.0));
  EXPECT_EQ(run(P::where, {1, 5, 6}), 5);
  EXPECT_EQ(run(P::where, {0, 5, 6}), 6);
  EXPECT_EQ(run(P::cast, {1.7}), 1.7);
  EXPECT_EQ(run(P::relu, {-2}), 0);
  EXPECT_EQ(run(P::relu, {2}), 2);
  EXPECT_THROW(run(P::add, {1}), InternalError);
  EXPECT_THROW(run(P::relu, {1, 2}), InternalError);
}

TEST(PointwiseTest, ZerosAndNaN) {
  EXPECT_FALSE(std::signbit(run(P::max, {-0.0, 0.0})));
  EXPECT_FALSE(std::signbit(run(P::max, {0.0, -0.0})));
  EXPECT_TRUE(std::signbit(run(P::min, {-0.0, 0.0})));
  EXPECT_TRUE(std::signbit(run(P::min, {0.0, -0.0})));
  EXPECT_FALSE(std::signbit(run(P::relu, {-0.0})));
  // Ops for which a NaN operand does not make a NaN.
  const std::set<P> others = {P::fmax,        P::fmin,       P::sign,        P::pow,        P::copysign,
                              P::where,       P::isnan,      P::isinf,       P::isfinite,   P::signbit,
                              P::logical_and, P::logical_or, P::logical_xor, P::logical_not};
  for (int i = 0; i < kPointwiseCount; ++i) {
    const PointwiseInfo& op = info(P(i));
    if (!has_float_meaning(P(i)) || others.contains(P(i))) continue;
    for (int operand = 0; operand < op.arity; ++operand) {
      std::vector<double> args(op.arity, 2.0);
      if (P(i) == P::hardshrink || P(i) == P::softshrink) args[0] = 0.5;
      args[operand] = kNaN;
      // A branch that does not read the NaN.
      if (operand == 1 && (P(i) == P::leaky_relu || P(i) == P::elu || P(i) == P::celu)) args[0] = -1;
      if (operand == 1 && P(i) == P::hardshrink) continue;
      const double result = evaluate(P(i), args);
      if (op.type_rule == TypeRule::compare) {
        EXPECT_EQ(result, P(i) == P::ne) << op.name;
      } else if (!(P(i) == P::softshrink && operand == 1)) {
        EXPECT_TRUE(std::isnan(result)) << op.name;
      }
    }
  }
}

TEST(PointwiseTest, Comparisons) {
  const double values[] = {-kInfinity, -1, -0.0, 0.0, 1, kInfinity};
  for (double a : values)
    for (double b : values) {
      EXPECT_EQ(run(P::eq, {a, b}), a == b);
      EXPECT_EQ(run(P::ne, {a, b}), a != b);
      EXPECT_EQ(run(P::lt, {a, b}), a < b);
      EXPECT_EQ(run(P::le, {a, b}), a <= b);
      EXPECT_EQ(run(P::gt, {a, b}), a > b);
      EXPECT_EQ(run(P::ge, {a, b}), a >= b);
    }
}

// Against long double by the textbook formulas, at relative errors of a few ulps of double plus 8 u |x| where allowed.
TEST(PointwiseTest, Activations) {
  for (int i = -4000; i <= 4000; ++i) {
    const double x = i / 100.0;
    const long double lx = x, s = 1 / (1 + std::exp(-lx));
    const long double u = std::sqrt(2 / 3.14159265358979323846264338328L) * (lx + 0.044715L * lx * lx * lx);
    const double slack = 8 * 0x1p-53 * std::abs(x);
    EXPECT_NEAR(run(P::sigmoid, {x}), double(s), 4 * ulp(DType::f64, double(s))) << x;
    EXPECT_NEAR(run(P::silu, {x}), double(lx * s), 4 * ulp(DType::f64, double(lx * s)) + slack) << x;
    const long double erf = lx * std::erfc(-lx / std::sqrt(2.0L)) / 2;
    EXPECT_NEAR(run(P::gelu_erf, {x}), double(erf), 4 * ulp(DType::f64, double(erf)) + slack) << x;
    const long double tanh = lx / (1 + std::exp(-2 * u));
    EXPECT_NEAR(run(P::gelu_tanh, {x}), double(tanh), 4 * ulp(DType::f64, double(tanh)) + slack) << x;
    EXPECT_NEAR(run(P::gelu_tanh, {x}), double(lx / 2 * (1 + std::tanh(u))), 1e-15 * (1 + std::abs(x))) << x;
  }
}

TEST(PointwiseTest, ActivationsAtTheEnds) {
  for (P op : {P::gelu_erf, P::gelu_tanh, P::silu}) {
    EXPECT_EQ(run(op, {kInfinity}), kInfinity) << name(op);
    EXPECT_TRUE(std::isnan(run(op, {-kInfinity}))) << name(op);
    EXPECT_EQ(run(op, {-1e300}), 0) << name(op);
    EXPECT_EQ(run(op, {1e300}), 1e300) << name(op);
    EXPECT_EQ(run(op, {0}), 0) << name(op);
  }
  EXPECT_EQ(run(P::sigmoid, {-kInfinity}), 0);
  EXPECT_EQ(run(P::sigmoid, {kInfinity}), 1);
  EXPECT_EQ(run(P::sigmoid, {-1000}), 0);
}

TEST(PointwiseTest, IntegersWrap) {
  EXPECT_EQ(run_int(P::add, {INT64_MAX, 1}), INT64_MIN);
  EXPECT_EQ(run_int(P::sub, {INT64_MIN, 1}), INT64_MAX);
  EXPECT_EQ(run_int(P::mul, {INT64_MAX, 2}), -2);
  EXPECT_EQ(run_int(P::neg, {INT64_MIN}), INT64_MIN);
  EXPECT_EQ(run_int(P::abs, {INT64_MIN}), INT64_MIN);
  EXPECT_EQ(run_int(P::abs, {-5}), 5);
  EXPECT_EQ(run_int(P::add, {UINT32_MAX, 1}, DType::u32), 0);
  EXPECT_EQ(run_int(P::sub, {0, 1}, DType::u32), int64_t(UINT32_MAX));
  EXPECT_EQ(run_int(P::mul, {UINT32_MAX, UINT32_MAX}, DType::u32), 1);
  EXPECT_EQ(run_int(P::neg, {1}, DType::u32), int64_t(UINT32_MAX));
  EXPECT_EQ(run_int(P::abs, {-1}, DType::u64), -1);
  EXPECT_EQ(run_int(P::relu, {-1}, DType::u64), -1);
  EXPECT_EQ(run_int(P::relu, {-1}), 0);
  EXPECT_EQ(run_int(P::where, {0, 3, 4}), 4);
  EXPECT_THROW(run_int(P::div, {1, 1}), InternalError);
  EXPECT_THROW(run_int(P::exp, {1}), InternalError);
}

TEST(PointwiseTest, IntegerOrderFollowsTheSign) {
  EXPECT_EQ(run_int(P::max, {-1, 1}), 1);
  EXPECT_EQ(run_int(P::max, {-1, 1}, DType::u64), -1);
  EXPECT_EQ(run_int(P::min, {-1, 1}, DType::u64), 1);
  for (DType d : {DType::i64, DType::u64})
    for (int64_t a : {INT64_MIN, int64_t(-1), int64_t(0), int64_t(1), INT64_MAX})
      for (int64_t b : {INT64_MIN, int64_t(-1), int64_t(0), int64_t(1), INT64_MAX}) {
        const bool less = d == DType::i64 ? a < b : uint64_t(a) < uint64_t(b);
        EXPECT_EQ(run_int(P::lt, {a, b}, d), less);
        EXPECT_EQ(run_int(P::ge, {a, b}, d), !less);
        EXPECT_EQ(run_int(P::le, {a, b}, d), less || a == b);
        EXPECT_EQ(run_int(P::gt, {a, b}, d), !less && a != b);
        EXPECT_EQ(run_int(P::eq, {a, b}, d), a == b);
        EXPECT_EQ(run_int(P::ne, {a, b}, d), a != b);
        EXPECT_EQ(run_int(P::max, {a, b}, d), less ? b : a);
      }
}

double error(P op, DType d, std::vector<double> args) { return own_error(op, d, args, evaluate(op, args)); }

TEST(PointwiseTest, OwnError) {
  EXPECT_EQ(error(P::add, DType::f32, {1, 0.5}), 0.5 * 0x1p-23);
  EXPECT_EQ(error(P::exp, DType::f64, {0}), 2 * 0x1p-52);
  EXPECT_EQ(error(P::tanh, DType::f32, {0}), 3 * 0x1p-149);
  EXPECT_EQ(error(P::silu, DType::f32, {1}), 4 * ulp(DType::f32, run(P::silu, {1})) + 8 * 0x1p-24);
  EXPECT_GT(error(P::gelu_tanh, DType::f32, {-10}), 8 * 0x1p-24 * 9.99);
  EXPECT_EQ(error(P::relu, DType::f32, {5}), 0);
  EXPECT_EQ(error(P::cast, DType::f32, {1e300}), 0);
  EXPECT_EQ(error(P::add, DType::bf16, {1, 0.5}), 0.5 * 0x1p-23);  // computed in f32
  EXPECT_EQ(error(P::add, DType::i64, {1, 2}), 0);
  EXPECT_EQ(error(P::log, DType::f32, {-1}), 0);  // NaN on every device
  // 1 - z rounds and multiplies what y - x lost, for z < 0 by more than |z|.
  EXPECT_GT(error(P::lerp, DType::f32, {-2.72721, 1.78249, -1.0328}), 4 * 0x1p-24 * 4.5 * 2.03);
  EXPECT_LT(error(P::lerp, DType::f32, {1, 2, 1}), 5 * 0x1p-24 * 4);
  // The exponential leaves f32, its product with y does not.
  EXPECT_EQ(error(P::celu, DType::f32, {-4.59006e-36, -3.8763e-38}), kInfinity);
  EXPECT_LT(error(P::celu, DType::f64, {-4.59006e-36, -3.8763e-38}), 1e3);  // of -1e14
  EXPECT_EQ(error(P::log, DType::f32, {0}), 0);                             // -inf on every device
  EXPECT_EQ(error(P::exp, DType::f32, {100}), kInfinity);                   // finite in double, infinite in f32
  EXPECT_EQ(error(P::add, DType::f32, {max_finite(DType::f32), 0}), kInfinity);
  EXPECT_EQ(error(P::mul, DType::f32, {1e30, 1}), 0.5 * ulp(DType::f32, 1e30));
}

// One rounding in f32 of the exact ops stays within the stated error.
TEST(PointwiseTest, OwnErrorCoversF32Arithmetic) {
  std::mt19937 random(5);
  std::normal_distribution<float> draw;
  for (int i = 0; i < 50000; ++i) {
    const float a = draw(random), b = draw(random);
    const auto check = [&](P op, float got) {
      const std::vector<double> args = info(op).arity == 2 ? std::vector<double>{a, b} : std::vector<double>{a};
      const double exact = evaluate(op, args);
      if (std::isnan(exact)) return;
      ASSERT_LE(std::abs(double(got) - exact), own_error(op, DType::f32, args, exact))
          << name(op) << " " << a << " " << b;
    };
    check(P::add, a + b);
    check(P::sub, a - b);
    check(P::mul, a * b);
    check(P::div, a / b);
    check(P::sqrt, std::sqrt(a));
    check(P::exp, std::exp(a));
    check(P::log, std::log(a));
    check(P::tanh, std::tanh(a));
    check(P::sigmoid, 1 / (1 + std::exp(-a)));
    check(P::silu, a / (1 + std::exp(-a)));
    const float u = 0.7978845608f * (a + 0.044715f * (a * a * a));
    check(P::gelu_tanh, a / (1 + std::exp(-2 * u)));
  }
}

}  // namespace
}  // namespace plait
