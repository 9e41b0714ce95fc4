#include "scalar/special.h"

#include <math.h>

#include <cmath>
#include <limits>
#include <numbers>

namespace plait {
namespace {

constexpr double kPi = std::numbers::pi;

// (x - root) g(x) on [1, 2], g by a polynomial in x - 1.5 that interpolates at Chebyshev's points. The root stands in
// two parts, so that results near it keep their bits.
double digamma_near_root(double x) {
  constexpr double kCoefficients[] = {
      0x1.f255c4568ac4dp-14, -0x1.75c084e78a4cdp-13, 0x1.94e73cc9821e1p-14, -0x1.2fae5cb379bf2p-13,
      0x1.53b23429da21bp-12, -0x1.fd8e50abf2196p-12, 0x1.6a3e76070c135p-11, -0x1.0fb38d217b800p-10,
      0x1.99d3f5c0cad5ep-10, -0x1.336dbe66757c8p-9,  0x1.cd2011454fd05p-9,  -0x1.5a06a5d662cb4p-8,
      0x1.03c0adafa529cp-7,  -0x1.863563f44f303p-7,  0x1.2564717896ec6p-6,  -0x1.b9f8b11bfd3d0p-6,
      0x1.4de9aa1779d23p-5,  -0x1.fb44202a2306bp-5,  0x1.8512e5903903ep-4,  -0x1.2feeeb98a78eap-3,
      0x1.eca189b8e6f6dp-3,  -0x1.b1cb63005ee98p-2,  0x1.e6f0cbb873616p-1};
  const double t = x - 1.5;
  double p = 0;
  for (double c : kCoefficients) p = p * t + c;
  return ((x - 0x1.762d86356be3fp+0) - 0x1.b86a722197829p-54) * p;
}

// log x - 1 / 2x - sum of B(2k) / (2k x^2k).
double digamma_asymptotic(double x) {
  constexpr double kTerms[] = {3617.0 / 8160, -1.0 / 12,  691.0 / 32760, -1.0 / 132,
                               1.0 / 240,     -1.0 / 252, 1.0 / 120,     -1.0 / 12};
  const double s = 1 / (x * x);
  double p = 0;
  for (double c : kTerms) p = p * s + c;
  return std::log(x) - 0.5 / x + p * s;
}

double positive_digamma(double x) {
  if (x >= 10) return digamma_asymptotic(x);
  double shift = 0;
  for (; x < 1; x += 1) shift -= 1 / x;
  for (; x > 2; x -= 1) shift += 1 / (x - 1);
  return digamma_near_root(x) + shift;
}

}  // namespace

double log_gamma(double x) {
  int sign = 0;  // lgamma would write it into a variable of the process
  return ::lgamma_r(x, &sign);
}

double digamma(double x) {
  if (x == 0) return std::copysign(std::numeric_limits<double>::infinity(), -x);
  if (!(x < 0)) return std::isinf(x) ? x : positive_digamma(x);
  const double fraction = x - std::floor(x);  // exact for x < -1, where it decides
  if (fraction == 0 || std::isinf(x)) return std::numeric_limits<double>::quiet_NaN();
  // The reflection of x; the tangent's argument within a quarter turn. x itself is the fraction near zero.
  const double turn = x > -0.5 ? x : fraction > 0.5 ? fraction - 1 : fraction;
  return positive_digamma(1 - x) - kPi / std::tan(kPi * turn);
}

double erfinv(double x) {
  const double a = std::fabs(x);
  if (a == 1) return std::copysign(std::numeric_limits<double>::infinity(), x);
  if (!(a < 1)) return std::numeric_limits<double>::quiet_NaN();
  // A guess within 2 parts of 1000: two terms of the series, or Winitzki's formula.
  double y = std::sqrt(kPi) / 2 * a * (1 + kPi / 12 * a * a);
  if (a > 0.3) {
    const double k = 0.147, l = std::log((1 - a) * (1 + a)), t = 2 / (kPi * k) + l / 2;
    y = std::sqrt(std::sqrt(t * t - l / k) - t);
  }
  // Halley's steps, of third order, on erf near zero and on erfc further out, where it keeps the bits.
  for (int step = 0; step < 3; ++step) {
    const double miss = a < 0.5 ? std::erf(y) - a : (1 - a) - std::erfc(y);
    const double newton = miss * (std::sqrt(kPi) / 2) * std::exp(y * y);
    y -= newton / (1 + y * newton);
  }
  return std::copysign(y, x);
}

}  // namespace plait
