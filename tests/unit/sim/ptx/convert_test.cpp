// Conversions: all 16-bit values, all neighbourhoods of rounding points, and special values by hand.
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <random>

#include "machine.h"
#include "sim/ptx/numbers.h"

namespace plait::sim::test {
namespace {

// A value of 16 bits with `fraction` bits below the point, by its definition.
double decode(uint16_t bits, int fraction) {
  const int bias = (1 << (14 - fraction)) - 1, exponent = (bits & 0x7fff) >> fraction;
  const int rest = bits & ((1 << fraction) - 1);
  const double sign = (bits & 0x8000) != 0 ? -1 : 1;
  if (exponent == (1 << (15 - fraction)) - 1) return rest != 0 ? NAN : sign * INFINITY;
  if (exponent == 0) return sign * std::ldexp(rest, 1 - bias - fraction);
  return sign * std::ldexp((1 << fraction) + rest, exponent - bias - fraction);
}

struct Format {
  const char* type;
  int fraction;
  uint16_t infinity;
};
const Format kHalf{"f16", 10, 0x7c00}, kBfloat{"bf16", 7, 0x7f80};

std::vector<std::vector<uint64_t>> all_16() {
  std::vector<std::vector<uint64_t>> rows;
  for (uint64_t i = 0; i < 65536; ++i) rows.push_back({i});
  return rows;
}

TEST(Convert, From16BitsAll) {
  const auto rows = all_16();
  for (const Format& format : {kHalf, kBfloat}) {
    const auto single = evaluate(fmt::format("cvt.f32.{} %d, %a;", format.type), 32, {16}, rows);
    const auto wide = evaluate(fmt::format("cvt.f64.{} %d, %a;", format.type), 64, {16}, rows);
    const auto integer = evaluate(fmt::format("cvt.rni.s32.{} %d, %a;", format.type), 32, {16}, rows);
    for (size_t i = 0; i < rows.size(); ++i) {
      const double expected = decode(static_cast<uint16_t>(i), format.fraction);
      if (std::isnan(expected)) {
        EXPECT_EQ(single[i], 0x7fffffffu);
        EXPECT_TRUE(std::isnan(std::bit_cast<double>(wide[i])));
        EXPECT_EQ(integer[i], 0u);
        continue;
      }
      ASSERT_EQ(single[i], bits(static_cast<float>(expected))) << format.type << " " << i;
      ASSERT_EQ(wide[i], bits(expected)) << format.type << " " << i;
      const double rounded = std::min(std::max(std::nearbyint(expected), -2147483648.0), 2147483647.0);
      ASSERT_EQ(static_cast<int32_t>(integer[i]), static_cast<int32_t>(rounded)) << format.type << " " << i;
    }
  }
}

// What rounding gives by definition: the largest value at most x and the smallest at least x, by bisection.
uint16_t by_definition(double x, const char* mode, const Format& format) {
  if (std::isnan(x)) return 0x7fff;
  const bool negative = std::signbit(x);
  const double size = std::fabs(x);
  uint16_t below = 0;
  for (int bit = 14; bit >= 0; --bit) {
    const uint16_t next = below | static_cast<uint16_t>(1 << bit);
    if (next <= format.infinity && decode(next, format.fraction) <= size) below = next;
  }
  const uint16_t sign = negative ? 0x8000 : 0;
  const double low = decode(below, format.fraction);
  if (low == size) return sign | below;
  const uint16_t above = below + 1;
  // Beyond the largest number the next one counts as if the exponent went on.
  const double high =
      above == format.infinity ? 2 * low - decode(below - 1, format.fraction) : decode(above, format.fraction);
  const std::string how = mode;
  const bool up = how == "rn"   ? size - low > high - size || (size - low == high - size && (below & 1) != 0)
                  : how == "rz" ? false
                                : (how == "rp") != negative;
  return sign | (up ? above : below);
}

// Every value, its halfway point to the next, and the floats beside both.
std::vector<float> rounding_points(const Format& format) {
  std::vector<float> out;
  for (uint32_t i = 0; i <= format.infinity; ++i) {
    const double low = decode(static_cast<uint16_t>(i), format.fraction);
    const double high = i + 1 < format.infinity ? decode(static_cast<uint16_t>(i + 1), format.fraction)
                                                : 2 * low - decode(static_cast<uint16_t>(i - 1), format.fraction);
    for (double point : {low, (low + high) / 2})
      for (float x : {std::nextafterf(float(point), -1), float(point), std::nextafterf(float(point), INFINITY)})
        if (x >= 0) {
          out.push_back(x);
          out.push_back(-x);
        }
  }
  return out;
}

TEST(Convert, To16BitsAtEveryRoundingPoint) {
  for (const Format& format : {kHalf, kBfloat}) {
    std::vector<float> points = rounding_points(format);
    if (format.fraction == 7) {  // a seventh of them: the exponents repeat
      std::vector<float> some;
      for (size_t i = 0; i < points.size(); i += i % 7 == 0 ? 1 : 3) some.push_back(points[i]);
      points = some;
    }
    std::vector<std::vector<uint64_t>> rows;
    for (float x : points) rows.push_back({bits(x)});
    for (const char* mode : {"rn", "rz", "rm", "rp"}) {
      const auto found = evaluate(fmt::format("cvt.{}.{}.f32 %d, %a;", mode, format.type), 16, {32}, rows);
      for (size_t i = 0; i < rows.size(); ++i)
        ASSERT_EQ(found[i], by_definition(points[i], mode, format)) << mode << " " << format.type << " " << points[i];
    }
  }
}

TEST(Convert, PairsAreTwoConversions) {
  std::mt19937 random(3);
  std::vector<std::vector<uint64_t>> rows;
  for (int i = 0; i < 4096; ++i) rows.push_back({random(), i % 3 == 0 ? 0x47800000u + random() % 4096 : random()});
  for (const Format& format : {kHalf, kBfloat})
    for (const char* how : {"rn", "rz", "rn.relu", "rz.satfinite"}) {
      const std::string mode(how, 2), rest(how + 2);
      const auto found = evaluate(fmt::format("cvt.{}.{}x2.f32 %d, %a, %b;", how, format.type), 32, {32, 32}, rows);
      const auto one = [&](uint64_t from) {
        uint16_t to = by_definition(std::bit_cast<float>(static_cast<uint32_t>(from)), mode.c_str(), format);
        if (to == 0x7fff) return to;
        if (rest == ".relu" && (to & 0x8000) != 0) to = 0;
        if (rest == ".satfinite" && (to & 0x7fff) == format.infinity) --to;
        return to;
      };
      for (size_t i = 0; i < rows.size(); ++i)
        ASSERT_EQ(found[i], uint32_t(one(rows[i][0])) << 16 | one(rows[i][1])) << how << " " << i;
    }
}

TEST(Convert, DoubleTo16BitsRoundsOnce) {
  // Just above halfway between two halves, by less than a float shows.
  const double tie = 1 + 0x1p-11;
  const auto found =
      evaluate("cvt.rn.f16.f64 %d, %a;", 16, {64}, {{bits(tie)}, {bits(tie + 0x1p-50)}, {bits(tie - 0x1p-50)}});
  EXPECT_EQ(found, (std::vector<uint64_t>{0x3c00, 0x3c01, 0x3c00}));
}

struct Row {
  const char* text;
  int result_bits;
  std::vector<int> operand_bits;
  std::vector<uint64_t> operands;
  uint64_t expected;
};

void check(const std::vector<Row>& rows) {
  for (const Row& row : rows) {
    try {
      const uint64_t found = evaluate(row.text, row.result_bits, row.operand_bits, {row.operands})[0];
      EXPECT_EQ(found, row.expected) << row.text << std::hex << " gives 0x" << found << ", not 0x" << row.expected;
    } catch (const Fault& fault) {
      ADD_FAILURE() << row.text << ": " << fault.text;
    }
  }
}

constexpr uint64_t kAll64 = ~uint64_t(0), kMin64 = uint64_t(1) << 63;

TEST(Convert, BetweenIntegers) {
  check({{"cvt.u64.u32 %d, %a;", 64, {32}, {0xffffffff}, 0xffffffff},
         {"cvt.s64.s32 %d, %a;", 64, {32}, {0xffffffff}, kAll64},
         {"cvt.u32.u64 %d, %a;", 32, {64}, {0x123456789}, 0x23456789},
         {"cvt.u16.u32 %d, %a;", 16, {32}, {0x12345}, 0x2345},
         {"cvt.u32.u16 %d, %a;", 32, {16}, {0xffff}, 0xffff},
         {"cvt.s32.s16 %d, %a;", 32, {16}, {0xffff}, 0xffffffff},
         {"cvt.u16.u8 %d, %a;", 16, {16}, {0x1ff}, 0xff},
         {"cvt.s16.s8 %d, %a;", 16, {16}, {0x80}, 0xff80},
         {"cvt.s32.s8 %d, %a;", 32, {32}, {0x80}, 0xffffff80},
         {"cvt.s64.s8 %d, %a;", 64, {64}, {0x80}, uint64_t(-128)},
         {"cvt.u8.u32 %d, %a;", 16, {32}, {0x1234}, 0x34},
         {"cvt.s8.s32 %d, %a;", 32, {32}, {0x180}, 0xffffff80},
         {"cvt.sat.u8.s32 %d, %a;", 16, {32}, {uint32_t(-5)}, 0},
         {"cvt.sat.u8.u32 %d, %a;", 16, {32}, {300}, 255},
         {"cvt.sat.s16.s32 %d, %a;", 16, {32}, {70000}, 0x7fff},
         {"cvt.sat.s32.s64 %d, %a;", 32, {64}, {kMin64}, 0x80000000},
         {"cvt.sat.u32.s64 %d, %a;", 32, {64}, {uint64_t(1) << 40}, 0xffffffff},
         {"cvt.sat.s64.u64 %d, %a;", 64, {64}, {kAll64}, kMin64 - 1}});
}

TEST(Convert, FloatsToIntegers) {
  const uint64_t nan = 0x7fffffff, wide_nan = uint64_t(0x7ff8) << 48;
  check({{"cvt.rzi.s32.f32 %d, %a;", 32, {32}, {bits(-2.7f)}, uint32_t(-2)},
         {"cvt.rni.s32.f32 %d, %a;", 32, {32}, {bits(2.5f)}, 2},
         {"cvt.rmi.s32.f32 %d, %a;", 32, {32}, {bits(-2.1f)}, uint32_t(-3)},
         {"cvt.rpi.s32.f32 %d, %a;", 32, {32}, {bits(2.1f)}, 3},
         {"cvt.rzi.s32.f32 %d, %a;", 32, {32}, {bits(3e9f)}, 0x7fffffff},
         {"cvt.rzi.s32.f32 %d, %a;", 32, {32}, {bits(-3e9f)}, 0x80000000},
         {"cvt.rzi.u32.f32 %d, %a;", 32, {32}, {bits(-1.0f)}, 0},
         {"cvt.rzi.u32.f32 %d, %a;", 32, {32}, {bits(1e20f)}, 0xffffffff},
         {"cvt.rzi.s32.f32 %d, %a;", 32, {32}, {nan}, 0},
         {"cvt.rzi.s64.f32 %d, %a;", 64, {32}, {nan}, kMin64},
         {"cvt.rzi.u64.f32 %d, %a;", 64, {32}, {nan}, kMin64},
         {"cvt.rzi.s32.f64 %d, %a;", 32, {64}, {wide_nan}, 0x80000000},
         {"cvt.rzi.s64.f64 %d, %a;", 64, {64}, {bits(1e300)}, kMin64 - 1},
         {"cvt.rzi.u64.f64 %d, %a;", 64, {64}, {bits(0x1p63)}, kMin64},
         {"cvt.rzi.u64.f64 %d, %a;", 64, {64}, {bits(1e30)}, kAll64},
         {"cvt.rzi.s64.f64 %d, %a;", 64, {64}, {bits(-0x1p63)}, kMin64},
         {"cvt.rpi.s32.f32 %d, %a;", 32, {32}, {1}, 1},
         {"cvt.rpi.ftz.s32.f32 %d, %a;", 32, {32}, {1}, 0},
         {"cvt.rzi.u8.f32 %d, %a;", 16, {32}, {bits(300.0f)}, 255},
         {"cvt.rzi.s8.f32 %d, %a;", 32, {32}, {bits(-300.0f)}, 0xffffff80},
         {"cvt.rni.f32.f32 %d, %a;", 32, {32}, {bits(2.5f)}, bits(2.0f)},
         {"cvt.rni.f32.f32 %d, %a;", 32, {32}, {bits(-0.25f)}, bits(-0.0f)},
         {"cvt.rpi.f64.f64 %d, %a;", 64, {64}, {bits(2.25)}, bits(3.0)},
         {"cvt.rmi.f16.f16 %d, %a;", 16, {16}, {0x3e00}, 0x3c00}});
}

TEST(Convert, IntegersToFloats) {
  check({{"cvt.rn.f32.s32 %d, %a;", 32, {32}, {uint32_t(-3)}, bits(-3.0f)},
         {"cvt.rn.f32.u32 %d, %a;", 32, {32}, {0xffffffff}, bits(0x1p32f)},
         {"cvt.rz.f32.u32 %d, %a;", 32, {32}, {0xffffffff}, bits(0x1p32f) - 1},
         {"cvt.rn.f32.u64 %d, %a;", 32, {64}, {0xffffff8000000001}, bits(0x1p64f)},
         {"cvt.rz.f32.u64 %d, %a;", 32, {64}, {kAll64}, bits(0x1p64f) - 1},
         {"cvt.rp.f32.s64 %d, %a;", 32, {64}, {(uint64_t(1) << 62) + 1}, bits(0x1p62f) + 1},
         {"cvt.rm.f32.s64 %d, %a;", 32, {64}, {uint64_t(-(int64_t(1) << 62) - 1)}, bits(-0x1p62f) + 1},
         {"cvt.rn.f64.s64 %d, %a;", 64, {64}, {kAll64}, bits(-1.0)},
         {"cvt.rn.f64.u64 %d, %a;", 64, {64}, {kAll64}, bits(0x1p64)},
         {"cvt.rz.f64.u64 %d, %a;", 64, {64}, {kAll64}, bits(0x1p64) - 1},
         {"cvt.rn.f32.u16 %d, %a;", 32, {16}, {0xffff}, bits(65535.0f)},
         {"cvt.rn.f32.s8 %d, %a;", 32, {16}, {0xff}, bits(-1.0f)},
         {"cvt.rn.f16.s32 %d, %a;", 16, {32}, {2049}, 0x6800},
         {"cvt.rn.f16.u32 %d, %a;", 16, {32}, {70000}, 0x7c00},
         {"cvt.rn.bf16.s64 %d, %a;", 16, {64}, {(uint64_t(1) << 62) + (uint64_t(1) << 54) + 1}, 0x5e81},
         {"cvt.rn.bf16.u32 %d, %a;", 16, {32}, {257}, 0x4380}});
}

TEST(Convert, BetweenFloats) {
  check({{"cvt.f64.f32 %d, %a;", 64, {32}, {bits(1.5f)}, bits(1.5)},
         {"cvt.rn.f32.f64 %d, %a;", 32, {64}, {bits(1 + 0x1p-24)}, bits(1.0f)},
         {"cvt.rp.f32.f64 %d, %a;", 32, {64}, {bits(1 + 0x1p-24)}, bits(1.0f) + 1},
         {"cvt.rz.f32.f64 %d, %a;", 32, {64}, {bits(-1 - 0x1p-24)}, bits(-1.0f)},
         {"cvt.rn.f32.f64 %d, %a;", 32, {64}, {bits(1e300)}, 0x7f800000},
         {"cvt.rz.f32.f64 %d, %a;", 32, {64}, {bits(1e300)}, 0x7f7fffff},
         {"cvt.rn.ftz.f32.f64 %d, %a;", 32, {64}, {bits(0x1p-140)}, 0},
         {"cvt.rn.f32.f64 %d, %a;", 32, {64}, {bits(0x1p-140)}, bits(0x1p-140f)},
         {"cvt.sat.f32.f32 %d, %a;", 32, {32}, {bits(1.5f)}, bits(1.0f)},
         {"cvt.sat.f32.f32 %d, %a;", 32, {32}, {bits(-1.5f)}, 0},
         {"cvt.sat.f32.f32 %d, %a;", 32, {32}, {0x7fc00000}, 0},
         {"cvt.sat.f64.f64 %d, %a;", 64, {64}, {bits(0.5)}, bits(0.5)},
         {"cvt.ftz.f32.f32 %d, %a;", 32, {32}, {0x80000001}, 0x80000000},
         {"cvt.rn.sat.f16.f32 %d, %a;", 16, {32}, {bits(7.0f)}, 0x3c00},
         {"cvt.f16.f16 %d, %a;", 16, {16}, {0x3c01}, 0x3c01},
         {"cvt.rn.relu.f16.f32 %d, %a;", 16, {32}, {bits(-7.0f)}, 0},
         {"cvt.rn.satfinite.f16.f32 %d, %a;", 16, {32}, {bits(1e6f)}, 0x7bff}});
}

// A value of 8 bits with `fraction` bits below the point, by its definition; `no_infinity`: one NaN of each sign alone.
double decode_f8(uint8_t bits, int fraction, bool no_infinity) {
  const int bias = (1 << (6 - fraction)) - 1, exponent = (bits & 0x7f) >> fraction, rest = bits & ((1 << fraction) - 1);
  const double sign = (bits & 0x80) != 0 ? -1 : 1;
  const bool last = exponent == (1 << (7 - fraction)) - 1;
  if (last && (no_infinity ? rest == (1 << fraction) - 1 : rest != 0)) return NAN;
  if (last && !no_infinity) return sign * INFINITY;
  if (exponent == 0) return sign * std::ldexp(rest, 1 - bias - fraction);
  return sign * std::ldexp((1 << fraction) + rest, exponent - bias - fraction);
}

TEST(Convert, PairsOf8Bits) {
  struct Case {
    const char* type;
    int fraction;
    bool no_infinity;
    uint8_t largest;
  };
  for (const Case& c : {Case{"e4m3x2", 3, true, 0x7e}, Case{"e5m2x2", 2, false, 0x7b}}) {
    std::vector<std::vector<uint64_t>> pairs, values;
    for (uint64_t i = 0; i < 65536; i += 3) pairs.push_back({i});
    const auto halves = evaluate(fmt::format("cvt.rn.f16x2.{} %d, %a;", c.type), 32, {16}, pairs, "sm_90a");
    for (size_t i = 0; i < pairs.size(); ++i)
      for (int part : {0, 1}) {
        const double want = decode_f8(uint8_t(pairs[i][0] >> 8 * part), c.fraction, c.no_infinity);
        const double got = decode(uint16_t(halves[i] >> 16 * part), 10);
        EXPECT_TRUE(got == want || (got != got && want != want)) << c.type << " " << pairs[i][0];
      }
    std::vector<double> numbers = {0, 1e30, 5e-324, 3};
    for (uint8_t b = 0; b < c.largest; ++b) {
      const double here = decode_f8(b, c.fraction, c.no_infinity), next = decode_f8(b + 1, c.fraction, c.no_infinity);
      const auto middle = static_cast<float>((here + next) / 2);
      for (float x : {static_cast<float>(here), middle, std::nextafter(middle, 0.0f), std::nextafter(middle, 1e30f)})
        numbers.push_back(x);
    }
    for (double x : numbers)
      for (double sign : {1.0, -1.0}) values.push_back({bits(static_cast<float>(sign * x)), bits(2.0f)});
    const auto f8 =
        evaluate(fmt::format("cvt.rn.satfinite.{}.f32 %d, %a, %b;", c.type), 16, {32, 32}, values, "sm_90a");
    for (size_t i = 0; i < values.size(); ++i) {
      const double x = std::bit_cast<float>(static_cast<uint32_t>(values[i][0]));
      int best = std::abs(x) > 1e9 ? c.largest : 0;
      for (int b = 1; b <= c.largest && std::abs(x) < 1e9; ++b) {  // of two that are as near the even one
        const double ours = std::abs(std::abs(x) - decode_f8(uint8_t(b), c.fraction, c.no_infinity));
        const double theirs = std::abs(std::abs(x) - decode_f8(uint8_t(best), c.fraction, c.no_infinity));
        if (ours < theirs || (ours == theirs && b % 2 == 0)) best = b;
      }
      EXPECT_EQ(f8[i] >> 8, uint64_t(best | (std::signbit(x) ? 0x80 : 0))) << c.type << " " << x;
      EXPECT_EQ(decode_f8(uint8_t(f8[i]), c.fraction, c.no_infinity), 2) << c.type;
    }
    const std::string special = fmt::format("cvt.rn.satfinite.{}.f32 %d, %a, %b;", c.type);
    EXPECT_EQ(evaluate(special, 16, {32, 32}, {{bits(INFINITY), 0x7fc00000}}, "sm_89")[0],
              uint64_t(c.largest) << 8 | 0x7f);
    EXPECT_THROW(evaluate(special, 16, {32, 32}, {{0, 0}}, "sm_80"), Fault) << "before sm_89";
  }
  EXPECT_THROW(evaluate("cvt.rn.satfinite.e4m3x2.f16 %d, %a, %b;", 16, {16, 16}, {{0, 0}}, "sm_90a"), Fault);
}

TEST(Convert, RoundsToOdd) {
  using namespace ptx;
  EXPECT_EQ(odd_double(uint64_t(1) << 60), 0x1p60);
  EXPECT_EQ(odd_double((uint64_t(1) << 60) + 1), 0x1p60 + 256);
  EXPECT_EQ(odd_double(int64_t(-1) - (int64_t(1) << 60)), -0x1p60 - 256);
  EXPECT_EQ(odd_double(uint64_t(12345)), 12345.0);
  EXPECT_EQ(odd_double(std::numeric_limits<int64_t>::min()), -0x1p63);
  EXPECT_EQ(odd_sum(1.0, 0x1p-60), std::nextafter(1.0, 2.0));
  EXPECT_EQ(odd_sum(1.0, -0x1p-60), std::nextafter(1.0, 0.0));
  EXPECT_EQ(odd_sum(1.5, 0.25), 1.75);
}

}  // namespace
}  // namespace plait::sim::test
