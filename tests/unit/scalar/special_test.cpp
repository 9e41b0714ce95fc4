// Values to 53 bits from a multiprecision library.
#include "scalar/special.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

namespace plait {
namespace {

constexpr double kInf = std::numeric_limits<double>::infinity();

struct Value {
  double x, y;
};

// Errors in units of 2^-52 |y|.
double relative(double got, double expected) { return std::fabs(got - expected) / std::fabs(expected) * 0x1p52; }

TEST(Special, Digamma) {
  const Value positive[] = {
      {0x1.0000000000000p-600, -0x1.0000000000000p+600}, {0x1.5798ee2308c3ap-27, -0x1.7d784024f119ep+26},
      {0x1.0000000000000p-2, -0x1.0e8e9943cd7c3p+2},     {0x1.8000000000000p-1, -0x1.15fafa86b04dbp+0},
      {0x1.0000000000000p+0, -0x1.2788cfc6fb619p-1},     {0x1.7000000000000p+0, -0x1.82e261cfb4d1bp-6},
      {0x1.762d86356be3fp+0, -0x1.aa2d9b3ce29e0p-54},    {0x1.762d86356be40p+0, 0x1.1a5beef0723bbp-53},
      {0x1.8000000000000p+0, 0x1.2aed059bd608ap-5},      {0x1.0000000000000p+1, 0x1.b0ee6072093cep-2},
      {0x1.1000000000000p+1, 0x1.0033ef1fed86dp-1},      {0x1.d000000000000p+2, 0x1.e9137b7a7e563p+0},
      {0x1.3f00000000000p+3, 0x1.1fcd8fb30cd2ep+1},      {0x1.4000000000000p+3, 0x1.20396dc85cc95p+1},
      {0x1.9000000000000p+3, 0x1.3e1ae41f318ecp+1},      {0x1.86a0000000000p+16, 0x1.7069d82dcebc1p+3},
      {0x1.0000000000000p+300, 0x1.9fe3682cd3be4p+7}};
  for (const Value& v : positive) EXPECT_LE(relative(digamma(v.x), v.y), 4) << v.x;
  const Value negative[] = {
      {-0x1.b7cdfd9d7bdbbp-34, 0x1.2a05f1ffb61ddp+33}, {-0x1.0000000000000p-2, 0x1.750282bca7d92p+1},
      {-0x1.0000000000000p-1, 0x1.2aed059bd608ap-5},   {-0x1.8000000000000p-1, -0x1.727287dcf04dbp+1},
      {-0x1.4000000000000p+0, 0x1.db68e9230e3f9p+1},   {-0x1.4000000000000p+1, 0x1.1a68793defc15p+0},
      {-0x1.fc00000000000p+1, -0x1.e65dfed58de9ep+4},  {-0x1.9100000000000p+6, 0x1.f045737bcae4cp+2}};
  for (const Value& v : negative) EXPECT_LE(std::fabs(digamma(v.x) - v.y), 0x1p-49 * (1 + std::fabs(v.y))) << v.x;
  EXPECT_EQ(digamma(0.0), -kInf);
  EXPECT_EQ(digamma(-0.0), kInf);
  EXPECT_EQ(digamma(kInf), kInf);
  for (double x : {-1.0, -2.0, -1e20, -kInf, std::nan("")}) EXPECT_TRUE(std::isnan(digamma(x))) << x;
}

TEST(Special, ErfInverse) {
  const Value values[] = {
      {0x1.0000000000000p-1000, 0x1.c5bf891b4ef6bp-1001}, {0x1.5798ee2308c3ap-27, 0x1.308158419499ap-27},
      {0x1.0000000000000p-3, 0x1.c79ed33d00ab0p-4},       {0x1.2000000000000p-2, 0x1.04c30b95af5a5p-2},
      {0x1.4000000000000p-2, 0x1.234299c5fd6afp-2},       {0x1.e000000000000p-2, 0x1.c55817961f538p-2},
      {0x1.0000000000000p-1, 0x1.e861fbb24c00ap-2},       {0x1.1000000000000p-1, 0x1.064d5ea1cff35p-1},
      {0x1.8000000000000p-1, 0x1.a07890f6b2ba1p-1},       {0x1.e000000000000p-1, 0x1.5130c3acae4dep+0},
      {0x1.ff80000000000p-1, 0x1.2a6d8937b12d6p+1},       {0x1.fffffe0000000p-1, 0x1.ea8f95ae0aca8p+1},
      {0x1.fffffffffffffp-1, 0x1.7744f8f74e94ap+2}};
  for (const Value& v : values) {
    EXPECT_LE(relative(erfinv(v.x), v.y), 4) << v.x;
    EXPECT_EQ(erfinv(-v.x), -erfinv(v.x)) << v.x;
  }
  EXPECT_EQ(erfinv(1), kInf);
  EXPECT_EQ(erfinv(-1), -kInf);
  EXPECT_TRUE(std::signbit(erfinv(-0.0)));
  EXPECT_EQ(erfinv(0x1p-1074), 0x1p-1074);
  for (double x : {1.0000000000000002, -2.0, kInf, -kInf, std::nan("")}) EXPECT_TRUE(std::isnan(erfinv(x))) << x;
}

TEST(Special, LogGamma) {
  EXPECT_EQ(log_gamma(1), 0);
  EXPECT_EQ(log_gamma(2), 0);
  EXPECT_NEAR(log_gamma(-0.5), 0x1.43f89a3f0edd6p+0, 0x1p-50);
  for (double x : {0.0, -0.0, -1.0, -7.0, kInf, -kInf}) EXPECT_EQ(log_gamma(x), kInf) << x;
  EXPECT_TRUE(std::isnan(log_gamma(std::nan(""))));
}

}  // namespace
}  // namespace plait
