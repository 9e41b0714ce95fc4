#include "scalar/convert.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <limits>
#include <random>

#include "base/error.h"

namespace plait {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();

struct Format {
  DType dtype;
  int mantissa, bias;
  uint16_t infinity;
  uint16_t (*from_double)(double);
  uint16_t (*from_float)(float);
  double (*to_double)(uint16_t);
  float (*to_float)(uint16_t);
};

const Format kFormats[] = {
    {DType::f16, 10, 15, 0x7C00, f16_from_double, f16_from_float, f16_to_double, f16_to_float},
    {DType::bf16, 7, 127, 0x7F80, bf16_from_double, bf16_from_float, bf16_to_double, bf16_to_float},
};

// The value from the definition of the format.
double defined_value(const Format& f, uint16_t bits) {
  const int exponent = (bits & 0x7FFF) >> f.mantissa, mantissa = bits & ((1 << f.mantissa) - 1);
  const double significand = exponent ? (1 << f.mantissa) + mantissa : mantissa;
  const double value = std::ldexp(significand, std::max(exponent, 1) - f.bias - f.mantissa);
  return bits & 0x8000 ? -value : value;
}

TEST(ConvertTest, EveryPatternRoundTrips) {
  for (const Format& f : kFormats)
    for (unsigned i = 0; i < 65536; ++i) {
      const uint16_t bits = uint16_t(i);
      const double value = f.to_double(bits);
      if ((bits & 0x7FFF) > f.infinity) {
        const uint16_t quiet = uint16_t(bits | 1 << (f.mantissa - 1));
        ASSERT_TRUE(std::isnan(value) && std::isnan(f.to_float(bits))) << bits;
        ASSERT_EQ(f.from_double(value), quiet) << bits;
        ASSERT_EQ(f.from_float(f.to_float(bits)), quiet) << bits;
        continue;
      }
      if ((bits & 0x7FFF) == f.infinity) {
        ASSERT_EQ(value, bits & 0x8000 ? -kInfinity : kInfinity);
      } else {
        ASSERT_EQ(value, defined_value(f, bits)) << bits;
      }
      ASSERT_EQ(std::signbit(value), bits >> 15) << bits;
      ASSERT_EQ(double(f.to_float(bits)), value) << bits;
      ASSERT_EQ(f.from_double(value), bits);
      ASSERT_EQ(f.from_float(float(value)), bits);
    }
}

TEST(ConvertTest, PatternsAreOrdered) {
  for (const Format& f : kFormats)
    for (unsigned bits = 0; bits < f.infinity; ++bits) {
      ASSERT_LT(f.to_double(uint16_t(bits)), f.to_double(uint16_t(bits + 1))) << bits;
      ASSERT_GT(f.to_double(uint16_t(bits | 0x8000)), f.to_double(uint16_t((bits + 1) | 0x8000))) << bits;
    }
}

// Halfway between each pair of neighbours, and the doubles (and floats) next to it on both sides.
TEST(ConvertTest, HalfwayCasesRoundToEven) {
  for (const Format& f : kFormats)
    for (unsigned low = 0; low < f.infinity; ++low) {
      const unsigned high = low + 1, even = low % 2 ? high : low;
      const double a = f.to_double(uint16_t(low));
      const double b = high == f.infinity ? a + ulp(f.dtype, a) : f.to_double(uint16_t(high));
      const double half = a + (b - a) / 2;
      for (unsigned sign : {0u, 0x8000u}) {
        const double s = sign ? -1 : 1;
        ASSERT_EQ(f.from_double(s * half), even | sign) << low;
        ASSERT_EQ(f.from_double(s * std::nextafter(half, 0.0)), low | sign) << low;
        ASSERT_EQ(f.from_double(s * std::nextafter(half, kInfinity)), high | sign) << low;
        const float single = float(half);
        if (double(single) != half) continue;  // below the subnormals of f32
        ASSERT_EQ(f.from_float(float(s) * single), even | sign) << low;
        ASSERT_EQ(f.from_float(float(s) * std::nextafter(single, 0.0f)), low | sign) << low;
        ASSERT_EQ(f.from_float(float(s) * std::nextafter(single, HUGE_VALF)), high | sign) << low;
      }
    }
}

TEST(ConvertTest, ExtremesOfDoubles) {
  for (const Format& f : kFormats) {
    EXPECT_EQ(f.from_double(kInfinity), f.infinity);
    EXPECT_EQ(f.from_double(-kInfinity), f.infinity | 0x8000);
    EXPECT_EQ(f.from_double(std::numeric_limits<double>::max()), f.infinity);
    EXPECT_EQ(f.from_double(-1e300), f.infinity | 0x8000);
    EXPECT_EQ(f.from_double(std::numeric_limits<double>::denorm_min()), 0);
    EXPECT_EQ(f.from_double(-std::numeric_limits<double>::denorm_min()), 0x8000);
    EXPECT_EQ(f.from_double(-0.0), 0x8000);
    // A NaN whose payload sits only in the bits that are dropped stays a NaN.
    EXPECT_EQ(f.from_double(std::bit_cast<double>(uint64_t(0x7FF0000000000001))), f.infinity | 1 << (f.mantissa - 1));
    EXPECT_EQ(f.from_float(std::bit_cast<float>(0xFF800001u)), 0x8000 | f.infinity | 1 << (f.mantissa - 1));
  }
}

// By way of float this would round twice: 1 + 2^-11 + 2^-40 is above the tie in f16, the float is the tie itself.
TEST(ConvertTest, DoublesRoundOnce) {
  EXPECT_EQ(f16_from_double(1 + 0x1p-11 + 0x1p-40), 0x3C01);
  EXPECT_EQ(f16_from_float(float(1 + 0x1p-11 + 0x1p-40)), 0x3C00);
  EXPECT_EQ(bf16_from_double(1 + 0x1p-8 + 0x1p-40), 0x3F81);
  EXPECT_EQ(bf16_from_double(1 + 0x1p-8 - 0x1p-40), 0x3F80);
}

TEST(ConvertTest, RandomDoublesGoToANearestNumber) {
  std::mt19937_64 random(7);
  for (const Format& f : kFormats)
    for (int i = 0; i < 200000; ++i) {
      const double x = std::ldexp(double(int64_t(random())), int(random() % 300) - 213);
      const uint16_t bits = f.from_double(x);
      const double value = f.to_double(bits);
      if (std::isinf(value)) {
        ASSERT_GE(std::abs(x), max_finite(f.dtype) + ulp(f.dtype, max_finite(f.dtype)) / 2);
        continue;
      }
      ASSERT_LE(std::abs(value - x), ulp(f.dtype, x) / 2) << x;
      // Float input by the generic path equals the fast one.
      ASSERT_EQ(f.from_float(float(x)), f.from_double(double(float(x)))) << x;
    }
}

template <class T>
T stored(DType dtype, double value) {
  T result;
  store_double(dtype, &result, value);
  return result;
}

TEST(ConvertTest, DoublesToIntegersTruncateAndSaturate) {
  EXPECT_EQ(stored<int64_t>(DType::i64, 1.9), 1);
  EXPECT_EQ(stored<int64_t>(DType::i64, -1.9), -1);
  EXPECT_EQ(stored<int64_t>(DType::i64, kNaN), 0);
  EXPECT_EQ(stored<int64_t>(DType::i64, 0x1p63), INT64_MAX);
  EXPECT_EQ(stored<int64_t>(DType::i64, std::nextafter(0x1p63, 0.0)), INT64_MAX - 1023);
  EXPECT_EQ(stored<int64_t>(DType::i64, -0x1p63), INT64_MIN);
  EXPECT_EQ(stored<int64_t>(DType::i64, -kInfinity), INT64_MIN);
  EXPECT_EQ(stored<uint32_t>(DType::u32, 4294967295.9), UINT32_MAX);
  EXPECT_EQ(stored<uint32_t>(DType::u32, 4294967294.9), UINT32_MAX - 1);
  EXPECT_EQ(stored<uint32_t>(DType::u32, 0x1p32), UINT32_MAX);
  EXPECT_EQ(stored<uint32_t>(DType::u32, -0.9), 0u);
  EXPECT_EQ(stored<uint32_t>(DType::u32, -5.0), 0u);
  EXPECT_EQ(stored<uint64_t>(DType::u64, 0x1p64), UINT64_MAX);
  EXPECT_EQ(stored<uint64_t>(DType::u64, 0x1p63), uint64_t(1) << 63);
  EXPECT_EQ(stored<uint64_t>(DType::u64, kInfinity), UINT64_MAX);
  EXPECT_EQ(stored<uint64_t>(DType::u64, kNaN), 0u);
}

TEST(ConvertTest, DoublesToBool) {
  EXPECT_EQ(stored<uint8_t>(DType::boolean, 0.0), 0);
  EXPECT_EQ(stored<uint8_t>(DType::boolean, -0.0), 0);
  EXPECT_EQ(stored<uint8_t>(DType::boolean, 0.25), 1);
  EXPECT_EQ(stored<uint8_t>(DType::boolean, -3.0), 1);
  EXPECT_EQ(stored<uint8_t>(DType::boolean, kNaN), 1);
  const uint8_t odd = 7;  // memory from outside may hold any nonzero byte
  EXPECT_EQ(load_double(DType::boolean, &odd), 1);
  EXPECT_EQ(load_int64(DType::boolean, &odd), 1);
}

TEST(ConvertTest, LoadReadsUnalignedMemory) {
  for (int i = 0; i < kDTypeCount; ++i) {
    const DType d = DType(i);
    unsigned char bytes[16] = {};
    store_double(d, bytes + 1, 1.0);
    EXPECT_EQ(load_double(d, bytes + 1), 1.0) << name(d);
    EXPECT_EQ(bytes[0], 0);
    for (size_t j = 1 + size_of(d); j < 16; ++j) EXPECT_EQ(bytes[j], 0) << name(d);
  }
}

TEST(ConvertTest, Integers64LoseNoBits) {
  for (int64_t x : {INT64_MIN, INT64_MIN + 1, int64_t(-1), int64_t(0), (int64_t(1) << 53) + 1, INT64_MAX}) {
    for (DType d : {DType::i64, DType::u64}) {
      uint64_t memory = 0;
      store_int64(d, &memory, x);
      EXPECT_EQ(memory, uint64_t(x));
      EXPECT_EQ(load_int64(d, &memory), x);
    }
    uint32_t word = 0;
    store_int64(DType::u32, &word, x);
    EXPECT_EQ(word, uint32_t(uint64_t(x)));
    EXPECT_EQ(load_int64(DType::u32, &word), int64_t(uint64_t(x) & 0xFFFFFFFF));
    uint8_t flag = 9;
    store_int64(DType::boolean, &flag, x);
    EXPECT_EQ(flag, x != 0);
  }
  uint64_t large = UINT64_MAX;
  EXPECT_EQ(load_double(DType::u64, &large), 0x1p64);
  EXPECT_THROW(load_int64(DType::f32, &large), InternalError);
  EXPECT_THROW(store_int64(DType::bf16, &large, 1), InternalError);
}

TEST(ConvertTest, RoundToGivesTheStoredValue) {
  EXPECT_EQ(round_to(DType::bf16, 257.0), 256.0);
  EXPECT_EQ(round_to(DType::bf16, 259.0), 260.0);
  EXPECT_EQ(round_to(DType::f16, 65519.0), 65504.0);
  EXPECT_EQ(round_to(DType::f16, 65520.0), kInfinity);
  EXPECT_EQ(round_to(DType::f32, 16777217.0), 16777216.0);
  EXPECT_EQ(round_to(DType::f32, 1e300), kInfinity);
  EXPECT_EQ(round_to(DType::f64, 0.1), 0.1);
  EXPECT_EQ(round_to(DType::i64, -2.5), -2.0);
  EXPECT_EQ(round_to(DType::boolean, -2.5), 1.0);
  EXPECT_TRUE(std::isnan(round_to(DType::bf16, kNaN)));
  EXPECT_TRUE(std::signbit(round_to(DType::f16, -1e-30)));
}

TEST(ConvertTest, UlpIsTheSpacingAbove) {
  for (const Format& f : kFormats)
    for (unsigned bits = 0; bits + 1 < f.infinity; ++bits) {
      const double a = f.to_double(uint16_t(bits)), b = f.to_double(uint16_t(bits + 1));
      ASSERT_EQ(ulp(f.dtype, a), b - a) << bits;
      ASSERT_EQ(ulp(f.dtype, -a), b - a) << bits;
      ASSERT_EQ(ulp(f.dtype, a + (b - a) / 2), b - a) << bits;
    }
  for (float x : {0.0f, 1e-45f, 1e-38f, 1.0f, 1.99999f, 2.0f, 3e38f})
    EXPECT_EQ(ulp(DType::f32, x), double(std::nextafter(x, HUGE_VALF)) - double(x)) << x;
  for (double x : {0.0, 5e-324, 1e-308, 1.0, 1.9999999, 1e300})
    EXPECT_EQ(ulp(DType::f64, x), std::nextafter(x, kInfinity) - x) << x;
  EXPECT_EQ(ulp(DType::f64, std::numeric_limits<double>::max()), 0x1p971);
  EXPECT_EQ(ulp(DType::f16, 65505.0), kInfinity);
  EXPECT_EQ(ulp(DType::f32, kInfinity), kInfinity);
  EXPECT_TRUE(std::isnan(ulp(DType::f32, kNaN)));
  EXPECT_EQ(ulp(DType::i64, 1e18), 1);
}

}  // namespace
}  // namespace plait
