#include "sim/ptx/numbers.h"

namespace plait::sim::ptx {
namespace {

// A float format of 16 bits.
struct Format {
  int fraction;  // bits
  int least;     // exponent of the smallest normal number
  uint16_t infinity;
};
constexpr Format kHalf{10, -14, 0x7c00}, kBfloat{7, -126, 0x7f80};

uint16_t narrow(double x, Round round, const Format& format) {
  const uint16_t sign = std::signbit(x) ? 0x8000 : 0;
  if (std::isnan(x)) return 0x7fff;
  if (std::isinf(x)) return sign | format.infinity;
  if (x == 0) return sign;
  const int exponent = std::max(std::ilogb(x), format.least);
  const double units = rounded_integer(std::ldexp(x, format.fraction - exponent), round);  // of the last place
  const double result = std::fabs(std::ldexp(units, exponent - format.fraction));
  const double limit = std::ldexp(1.0, -format.least + 2);  // one above the largest exponent
  if (result >= limit) {
    const bool to_infinity =
        round == Round::rn || (round == Round::rp && sign == 0) || (round == Round::rm && sign != 0);
    return sign | static_cast<uint16_t>(format.infinity - (to_infinity ? 0 : 1));
  }
  if (result == 0) return sign;
  const int own = std::ilogb(result);
  if (own < format.least) return sign | static_cast<uint16_t>(std::ldexp(result, format.fraction - format.least));
  const int biased = own - format.least + 1;
  const int fraction = static_cast<int>(std::ldexp(result, format.fraction - own)) - (1 << format.fraction);
  return sign | static_cast<uint16_t>(biased << format.fraction | fraction);
}

}  // namespace

double rounded_integer(double x, Round round) {
  switch (round) {
    case Round::rn:
      return std::nearbyint(x);
    case Round::rz:
      return std::trunc(x);
    case Round::rm:
      return std::floor(x);
    case Round::rp:
      return std::ceil(x);
  }
  return x;
}

double odd_sum(double a, double b) {
  const double sum = a + b;
  if (!std::isfinite(sum)) return sum;
  const double part = sum - a, error = (a - (sum - part)) + (b - part);
  if (error == 0 || (std::bit_cast<uint64_t>(sum) & 1) != 0) return sum;
  return std::nextafter(sum, error > 0 ? INFINITY : -INFINITY);
}

double odd_double(uint64_t value) {
  const int extra = 64 - 53 - std::countl_zero(value | 1);
  if (extra <= 0) return static_cast<double>(value);
  const uint64_t rest = value & ((uint64_t(1) << extra) - 1);
  return static_cast<double>((value - rest) | (rest != 0 ? uint64_t(1) << extra : 0));
}

double odd_double(int64_t value) {
  const uint64_t magnitude = value < 0 ? 0 - static_cast<uint64_t>(value) : static_cast<uint64_t>(value);
  return value < 0 ? -odd_double(magnitude) : odd_double(magnitude);
}

Half to_half(double x, Round round) { return {narrow(x, round, kHalf)}; }
Bfloat to_bfloat(double x, Round round) { return {narrow(x, round, kBfloat)}; }

}  // namespace plait::sim::ptx
