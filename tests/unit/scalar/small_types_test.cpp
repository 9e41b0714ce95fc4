// The types of 8 and 16 bits, all of them: conversions against formulas that share nothing with scalar/convert.cpp.
#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <limits>
#include <random>
#include <vector>

#include "base/error.h"
#include "scalar/constant.h"
#include "scalar/convert.h"
#include "scalar/pointwise.h"

namespace plait {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();

struct Format {
  DType dtype;
  int mantissa, bias;
  unsigned infinity;    // pattern; 0x7F where there is none
  double largest, tie;  // the largest number, and where overflow begins: at the tie, or behind it
  bool tie_overflows;
  uint8_t (*from_double)(double);
  uint8_t (*from_float)(float);
  double (*to_double)(uint8_t);
  float (*to_float)(uint8_t);
};

const Format kFormats[] = {
    {DType::f8e4m3, 3, 7, 0x7F, 448, 464, false, f8e4m3_from_double, f8e4m3_from_float, f8e4m3_to_double,
     f8e4m3_to_float},
    {DType::f8e5m2, 2, 15, 0x7C, 57344, 61440, true, f8e5m2_from_double, f8e5m2_from_float, f8e5m2_to_double,
     f8e5m2_to_float},
};

// Value of a pattern by the table of the OCP specification (8-bit floating point, revision 1.0).
double defined_value(const Format& f, unsigned bits) {
  const unsigned magnitude = bits & 0x7F;
  double value = 0;
  if (f.dtype == DType::f8e4m3 && magnitude == 0x7F) {
    value = kNaN;
  } else if (f.dtype == DType::f8e5m2 && magnitude >= 0x7C) {
    value = magnitude == 0x7C ? kInfinity : kNaN;
  } else {
    const int exponent = int(magnitude >> f.mantissa);
    const double fraction = double(magnitude % (1u << f.mantissa)) / (1 << f.mantissa);
    value = exponent == 0 ? std::exp2(1 - f.bias) * fraction : std::exp2(exponent - f.bias) * (1 + fraction);
  }
  return bits & 0x80 ? -value : value;
}

// The pattern nearest to a value by trying all of them; ties to the even pattern. NaN and overflow as stated.
unsigned nearest(const Format& f, double value) {
  const unsigned sign = std::signbit(value) ? 0x80 : 0;
  const double x = std::abs(value);
  if (std::isnan(x)) return sign | 0x7F;
  if (x > f.tie || (x == f.tie && f.tie_overflows)) return sign | (f.dtype == DType::f8e4m3 ? 0x7E : 0x7C);
  unsigned best = 0;
  for (unsigned bits = 0; defined_value(f, bits) <= f.largest; ++bits) {
    const double distance = std::abs(defined_value(f, bits) - x), known = std::abs(defined_value(f, best) - x);
    if (distance < known || (distance == known && bits % 2 == 0)) best = bits;
  }
  return sign | best;
}

TEST(FloatsOf8Bits, EveryPatternIsItsDefinedValueAndRoundTrips) {
  for (const Format& f : kFormats) {
    for (unsigned bits = 0; bits < 256; ++bits) {
      const double value = f.to_double(uint8_t(bits)), expected = defined_value(f, bits);
      ASSERT_EQ(std::signbit(value), bits >> 7) << bits;
      if (std::isnan(expected)) {
        ASSERT_TRUE(std::isnan(value) && std::isnan(f.to_float(uint8_t(bits)))) << bits;
        ASSERT_EQ(f.from_double(value), bits | 0x7F) << "one NaN, with its sign";
        ASSERT_EQ(f.from_float(f.to_float(uint8_t(bits))), bits | 0x7F);
        continue;
      }
      ASSERT_EQ(value, expected) << name(f.dtype) << " " << bits;
      ASSERT_EQ(double(f.to_float(uint8_t(bits))), expected);
      const bool infinite = std::isinf(expected);
      ASSERT_EQ(f.from_double(value), bits) << infinite;
      ASSERT_EQ(f.from_float(float(value)), bits);
      ASSERT_EQ(load_double(f.dtype, &bits), expected);
    }
  }
}

TEST(FloatsOf8Bits, EveryF16AndBf16GoesToTheNearest) {
  for (const Format& f : kFormats) {
    for (unsigned i = 0; i < 65536; ++i) {
      for (const double x : {f16_to_double(uint16_t(i)), bf16_to_double(uint16_t(i))}) {
        const unsigned expected = nearest(f, x);
        ASSERT_EQ(f.from_double(x), expected) << name(f.dtype) << " of " << x;
        ASSERT_EQ(f.from_float(float(x)), expected) << name(f.dtype) << " of " << x;
      }
    }
  }
}

TEST(FloatsOf8Bits, HalfwayCasesAndTheirNeighbours) {
  for (const Format& f : kFormats) {
    for (unsigned low = 0; defined_value(f, low) < f.largest; ++low) {
      const double half = (defined_value(f, low) + defined_value(f, low + 1)) / 2;
      const unsigned even = low % 2 ? low + 1 : low;
      for (const double sign : {1.0, -1.0}) {
        const unsigned top = sign < 0 ? 0x80 : 0;
        ASSERT_EQ(f.from_double(sign * half), even | top);
        ASSERT_EQ(f.from_double(sign * std::nextafter(half, 0.0)), low | top);
        ASSERT_EQ(f.from_double(sign * std::nextafter(half, kInfinity)), (low + 1) | top);
        ASSERT_EQ(f.from_float(float(sign) * std::nextafter(float(half), 0.0f)), low | top);
        ASSERT_EQ(f.from_float(float(sign) * std::nextafter(float(half), HUGE_VALF)), (low + 1) | top);
      }
    }
  }
}

TEST(FloatsOf8Bits, Ends) {
  // f8e4m3 has no infinity: everything beyond is the largest number, as torch.float8_e4m3fn of torch 2.13 has it.
  EXPECT_EQ(f8e4m3_from_double(464), 0x7E);
  EXPECT_EQ(f8e4m3_from_double(std::nextafter(464.0, 500.0)), 0x7E);
  for (const double x : {480.0, 1e9, 1e300, kInfinity}) {
    EXPECT_EQ(f8e4m3_from_double(x), 0x7E) << x;
    EXPECT_EQ(f8e4m3_from_double(-x), 0xFE) << x;
  }
  EXPECT_EQ(f8e5m2_from_double(std::nextafter(61440.0, 0.0)), 0x7B);
  for (const double x : {61440.0, 1e9, kInfinity}) {
    EXPECT_EQ(f8e5m2_from_double(x), 0x7C) << x;
    EXPECT_EQ(f8e5m2_from_double(-x), 0xFC) << x;
  }
  EXPECT_EQ(f8e4m3_from_float(std::bit_cast<float>(0x7F800001u)), 0x7F) << "a NaN of which all kept bits are zero";
  EXPECT_EQ(f8e5m2_from_float(std::bit_cast<float>(0xFF800001u)), 0xFF);
  for (const Format& f : kFormats) {
    EXPECT_EQ(f.from_double(-0.0), 0x80);
    EXPECT_EQ(f.from_double(std::numeric_limits<double>::denorm_min()), 0);
    EXPECT_EQ(f.from_double(-smallest_spacing(f.dtype) / 2), 0x80) << "a tie with zero";
    EXPECT_EQ(f.from_double(smallest_spacing(f.dtype) * 0.500001), 1);
    EXPECT_FALSE(overflows(f.dtype, f.largest));
    EXPECT_FALSE(overflows(f.dtype, std::nextafter(f.tie, 0.0)));
    EXPECT_EQ(overflows(f.dtype, f.tie), f.tie_overflows);
    EXPECT_TRUE(overflows(f.dtype, -std::nextafter(f.tie, kInfinity)));
    EXPECT_FALSE(overflows(f.dtype, kInfinity));
  }
  EXPECT_TRUE(overflows(DType::f16, 65520));
  EXPECT_FALSE(overflows(DType::f16, std::nextafter(65520.0, 0.0)));
  EXPECT_TRUE(overflows(DType::f32, 1e39));
  EXPECT_FALSE(overflows(DType::f64, 1e300));
  EXPECT_FALSE(overflows(DType::i8, 1e300));
}

TEST(FloatsOf8Bits, UlpIsTheSpacingAbove) {
  for (const Format& f : kFormats) {
    for (unsigned bits = 0; defined_value(f, bits) < f.largest; ++bits) {
      const double a = defined_value(f, bits), b = defined_value(f, bits + 1);
      ASSERT_EQ(ulp(f.dtype, a), b - a) << bits;
      ASSERT_EQ(ulp(f.dtype, -(a + (b - a) / 2)), b - a) << bits;
    }
  }
}

TEST(FloatsOf8Bits, EveryNumberHasATextThatReadsBack) {
  for (const Format& f : kFormats) {
    for (unsigned bits = 0; bits < 256; ++bits) {
      const Constant constant = Constant::load(f.dtype, &bits);
      const double value = defined_value(f, bits);
      const auto back = parse_constant(f.dtype, constant.text());
      ASSERT_TRUE(back) << constant.text();
      if (std::isnan(value)) {
        ASSERT_EQ(constant.text(), "nan");
      } else {
        ASSERT_EQ(*back, constant) << constant.text();
      }
    }
    EXPECT_EQ(parse_constant(f.dtype, "1e9"), std::nullopt) << "a literal does not saturate";
    EXPECT_EQ(parse_constant(f.dtype, "-1e9"), std::nullopt);
  }
  EXPECT_EQ(parse_constant(DType::f8e4m3, "464")->to_double(), 448);
  EXPECT_EQ(parse_constant(DType::f8e4m3, "464.1"), std::nullopt);
  EXPECT_EQ(parse_constant(DType::f8e4m3, "inf"), std::nullopt);
  EXPECT_EQ(parse_constant(DType::f8e4m3, "-inf"), std::nullopt);
  EXPECT_EQ(parse_constant(DType::f8e5m2, "-inf")->bits, 0xFCu);
}

constexpr DType kSmallIntegers[] = {DType::i8, DType::i16, DType::u8, DType::u16};

TEST(SmallIntegers, EveryPatternRoundTrips) {
  for (const DType dtype : kSmallIntegers) {
    const int count = 1 << (8 * size_of(dtype));
    for (int i = 0; i < count; ++i) {
      const bool negative = !is_unsigned(dtype) && i >= count / 2;
      const int64_t value = negative ? i - count : i;
      const auto bits = uint16_t(i);
      ASSERT_EQ(load_int64(dtype, &bits), value);
      ASSERT_EQ(load_double(dtype, &bits), double(value));
      uint16_t stored = 0;
      store_int64(dtype, &stored, value);
      ASSERT_EQ(stored, bits);
      store_double(dtype, &stored, double(value));
      ASSERT_EQ(stored, bits);
      const Constant constant = Constant::load(dtype, &bits);
      ASSERT_EQ(constant.text(), std::to_string(value));
      ASSERT_EQ(parse_constant(dtype, constant.text()), constant);
    }
  }
}

TEST(SmallIntegers, FloatsTruncateAndSaturate) {
  for (const DType dtype : kSmallIntegers) {
    const double lo = least_finite(dtype), hi = max_finite(dtype);
    for (int i = -4 * 70000; i <= 4 * 70000; ++i) {
      const double x = i / 4.0, expected = std::min(std::max(std::trunc(x), lo), hi);
      ASSERT_EQ(round_to(dtype, x), expected) << name(dtype) << " of " << x;
    }
    for (const double x : {1e9, 1e300, kInfinity}) {
      EXPECT_EQ(round_to(dtype, x), hi);
      EXPECT_EQ(round_to(dtype, -x), lo);
    }
    EXPECT_EQ(round_to(dtype, kNaN), 0);
  }
  EXPECT_EQ(round_to(DType::i32, 3e9), 2147483647.0);
  EXPECT_EQ(round_to(DType::i32, -3e9), -2147483648.0);
  EXPECT_EQ(round_to(DType::i32, 2147483646.75), 2147483646.0);
}

TEST(SmallIntegers, IntegersWrap) {
  for (const DType dtype : kSmallIntegers) {
    const int64_t count = int64_t(1) << (8 * size_of(dtype));
    for (int64_t x = -3 * count; x <= 3 * count; x += dtype == DType::i8 || dtype == DType::u8 ? 1 : 7) {
      int64_t expected = ((x % count) + count) % count;
      if (!is_unsigned(dtype) && expected >= count / 2) expected -= count;
      ASSERT_EQ(wrap_to(dtype, x), expected) << name(dtype) << " of " << x;
    }
  }
  EXPECT_EQ(wrap_to(DType::i32, int64_t(1) << 31), -(int64_t(1) << 31));
  EXPECT_EQ(wrap_to(DType::i32, (int64_t(1) << 32) + 5), 5);
  EXPECT_EQ(wrap_to(DType::i64, INT64_MIN), INT64_MIN);
  EXPECT_EQ(wrap_to(DType::u32, -1), int64_t(UINT32_MAX));
}

TEST(SmallIntegers, LiteralsOutOfRangeAreRefused) {
  for (const auto& [dtype, text] :
       {std::pair{DType::i8, "128"}, std::pair{DType::i8, "-129"}, std::pair{DType::u8, "256"},
        std::pair{DType::u8, "-1"}, std::pair{DType::i16, "32768"}, std::pair{DType::u16, "65536"},
        std::pair{DType::i32, "2147483648"}, std::pair{DType::i32, "1.5"}})
    EXPECT_EQ(parse_constant(dtype, text), std::nullopt) << name(dtype) << " " << text;
  EXPECT_EQ(parse_constant(DType::i32, "-2147483648")->to_int64(), INT32_MIN);
}

// Every pair of neighbours, the least numbers and the step to infinity among them: halfway goes to the even pattern,
// what lies on either side of it to the nearer number.
TEST(FloatsOf16Bits, HalfwayCasesAndTheirNeighbours) {
  struct Wide {
    DType dtype;
    uint16_t largest;  // pattern; behind it comes infinity, which is even
    uint16_t (*from_double)(double);
    uint16_t (*from_float)(float);
    double (*to_double)(uint16_t);
  };
  for (const Wide& f : {Wide{DType::f16, 0x7BFF, f16_from_double, f16_from_float, f16_to_double},
                        Wide{DType::bf16, 0x7F7F, bf16_from_double, bf16_from_float, bf16_to_double}}) {
    for (uint16_t low = 0; low <= f.largest; ++low) {
      const double least = f.to_double(low), half = least + ulp(f.dtype, least) / 2;
      const auto next = uint16_t(low + 1), even = low % 2 ? next : low;
      for (const uint16_t sign : {0, 0x8000}) {
        const double s = sign ? -1 : 1;
        const auto narrow = float(half);
        ASSERT_EQ(double(narrow), half);
        ASSERT_EQ(f.from_double(s * half), even | sign) << name(f.dtype) << " of " << half;
        ASSERT_EQ(f.from_float(float(s) * narrow), even | sign) << name(f.dtype) << " of " << half;
        ASSERT_EQ(f.from_double(s * std::nextafter(half, 0.0)), low | sign);
        ASSERT_EQ(f.from_double(s * std::nextafter(half, kInfinity)), next | sign);
        ASSERT_EQ(f.from_float(float(s) * std::nextafter(narrow, 0.0f)), low | sign);
        ASSERT_EQ(f.from_float(float(s) * std::nextafter(narrow, HUGE_VALF)), next | sign);
      }
    }
  }
}

// The residue of x modulo 2^bits that the type holds; bool: whether x is not 0.
int64_t residue(DType to, int64_t x) {
  if (to == DType::boolean) return x != 0;
  const int bits = 8 * int(size_of(to));
  if (bits == 64) return x;
  const int64_t count = int64_t(1) << bits, rest = ((x % count) + count) % count;
  return !is_unsigned(to) && rest >= count / 2 ? rest - count : rest;
}

// A float in another float type: nearest, ties to the even pattern.
void expect_nearest(DType from, double x, DType to) {
  uint64_t pattern = 0;
  store_double(to, &pattern, x);
  const double y = round_to(to, x);
  ASSERT_EQ(std::isnan(y), std::isnan(x));
  if (std::isnan(x)) return;
  ASSERT_EQ(load_double(to, &pattern), y);
  ASSERT_EQ(std::signbit(y), std::signbit(x));
  if (overflows(to, x) || std::isinf(x)) {
    ASSERT_EQ(y, std::copysign(to == DType::f8e4m3 ? 448 : kInfinity, x)) << name(from) << " to " << name(to);
    return;
  }
  const double half = ulp(to, std::min(std::abs(x), max_finite(to))) / 2, moved = std::abs(y - x);
  ASSERT_LE(moved, half) << name(from) << " " << x << " to " << name(to);
  if (moved == half) {
    ASSERT_EQ(pattern % 2, 0u) << name(from) << " " << x << " to " << name(to);
  }
}

// Every cast from types of 8 and 16 bits, all patterns, to every type: integers keep their residue, floats truncate
// and saturate, and what becomes a float goes to the nearest.
TEST(SmallTypes, CastsOfEveryPattern) {
  for (int d = 0; d < kDTypeCount; ++d) {
    const auto from = DType(d);
    if (size_of(from) > 2) continue;
    for (int t = 0; t < kDTypeCount; ++t) {
      const auto to = DType(t);
      for (unsigned i = 0; i < 1u << (8 * size_of(from)); ++i) {
        const auto bits = uint16_t(i);
        const double x = load_double(from, &bits);
        if (is_float(to)) {
          expect_nearest(from, x, to);
          if (testing::Test::HasFatalFailure()) return;
        } else if (!is_float(from)) {
          const int64_t value = load_int64(from, &bits), expected = residue(to, value);
          ASSERT_EQ(wrap_to(to, value), expected) << name(from) << " " << value << " to " << name(to);
          const int64_t found = evaluate_int(Pointwise::cast, std::span(&value, 1), to);
          ASSERT_EQ(found, expected) << name(from) << " " << value << " to " << name(to);
        } else {
          const double truncated = std::isnan(x) ? 0 : std::trunc(x);
          const double expected = to == DType::boolean
                                      ? double(std::isnan(x) || x != 0)
                                      : std::min(std::max(truncated, least_finite(to)), max_finite(to));
          ASSERT_EQ(round_to(to, x), expected) << name(from) << " " << x << " to " << name(to);
        }
      }
    }
  }
}

}  // namespace
}  // namespace plait
