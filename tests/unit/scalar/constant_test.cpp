#include "scalar/constant.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <random>
#include <unordered_set>

#include "scalar/convert.h"

namespace plait {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();

std::string text(DType dtype, double value) { return Constant::from_double(dtype, value).text(); }

TEST(ConstantTest, PrintsShortly) {
  EXPECT_EQ(text(DType::f32, 6), "6");
  EXPECT_EQ(text(DType::f32, 0.1), "0.1");
  EXPECT_EQ(text(DType::f64, 0.1), "0.1");
  EXPECT_EQ(text(DType::f64, double(0.1f)), "0.10000000149011612");
  EXPECT_EQ(text(DType::bf16, 0.1), "0.1");
  EXPECT_EQ(text(DType::f16, 0.1), "0.1");
  EXPECT_EQ(text(DType::bf16, 1.0 / 3), "0.334");
  EXPECT_EQ(text(DType::f16, 65504), "65500");
  EXPECT_EQ(text(DType::f16, 2048), "2048");
  EXPECT_EQ(text(DType::bf16, 256), "256");
  EXPECT_EQ(text(DType::f32, -0.0), "-0");
  EXPECT_EQ(text(DType::bf16, -0.0), "-0");
  EXPECT_EQ(text(DType::f32, 1e20), "1e+20");
  for (DType d : {DType::f16, DType::bf16, DType::f32, DType::f64}) {
    EXPECT_EQ(text(d, kNaN), "nan");
    EXPECT_EQ(text(d, -kNaN), "nan");
    EXPECT_EQ(text(d, kInfinity), "inf");
    EXPECT_EQ(text(d, -kInfinity), "-inf");
    EXPECT_EQ(text(d, 0), "0");
  }
  EXPECT_EQ(text(DType::boolean, 1), "true");
  EXPECT_EQ(text(DType::boolean, 0), "false");
  EXPECT_EQ(Constant::from_int64(DType::i64, INT64_MIN).text(), "-9223372036854775808");
  EXPECT_EQ(Constant::from_int64(DType::u64, -1).text(), "18446744073709551615");
  EXPECT_EQ(Constant::from_int64(DType::u32, -1).text(), "4294967295");
}

size_t digits_of(const std::string& text) {
  size_t first = std::string::npos, last = 0, count = 0;
  for (size_t i = 0; i < text.size() && text[i] != 'e'; ++i) {
    if (text[i] < '0' || text[i] > '9') continue;
    ++count;
    if (text[i] == '0') continue;
    if (first == std::string::npos) first = count;
    last = count;
  }
  return first == std::string::npos ? 1 : last - first + 1;
}

// Whether some decimal of `digits` significant digits reads as exactly this narrow number: all those near it are tried.
bool has_decimal(DType dtype, double value, int digits) {
  const int exponent = int(std::floor(std::log10(std::abs(value)))) - digits + 1;
  const double unit = std::pow(10.0, exponent);
  for (int64_t k = int64_t(std::abs(value) / unit) - 2; k <= int64_t(std::abs(value) / unit) + 2; ++k) {
    const std::string decimal = std::to_string(k) + "e" + std::to_string(exponent);
    if (k > 0 && double(k) < std::pow(10.0, digits) &&
        round_to(dtype, std::strtod(decimal.c_str(), nullptr)) == std::abs(value))
      return true;
  }
  return false;
}

TEST(ConstantTest, EveryNarrowNumberReadsBackAndIsShortest) {
  for (DType d : {DType::f16, DType::bf16})
    for (unsigned bits = 0; bits < 65536; ++bits) {
      const Constant c{d, bits};
      const double value = c.to_double();
      if (std::isnan(value)) continue;
      const std::string printed = c.text();
      const auto back = parse_constant(d, printed);
      ASSERT_TRUE(back && *back == c) << printed;
      ASSERT_NE(printed.back(), '.');
      if (std::isinf(value) || value == 0 || bits >= 0x8000) continue;
      const size_t digits = digits_of(printed);
      if (digits > 1) {
        ASSERT_FALSE(has_decimal(d, value, int(digits) - 1)) << printed;
      }
    }
}

TEST(ConstantTest, RandomWideNumbersReadBack) {
  std::mt19937_64 random(3);
  for (DType d : {DType::f32, DType::f64, DType::i64, DType::u32, DType::u64})
    for (int i = 0; i < 20000; ++i) {
      const uint64_t bits = size_of(d) == 4 ? random() & 0xFFFFFFFF : random();
      const Constant c{d, bits};
      if (is_float(d) && std::isnan(c.to_double())) continue;
      const auto back = parse_constant(d, c.text());
      ASSERT_TRUE(back && *back == c) << c.text();
    }
}

TEST(ConstantTest, ExtremesReadBack) {
  for (DType d : {DType::f16, DType::bf16, DType::f32, DType::f64})
    for (double x :
         {max_finite(d), -max_finite(d), min_normal(d), smallest_spacing(d), min_normal(d) - smallest_spacing(d)}) {
      const Constant c = Constant::from_double(d, x);
      EXPECT_EQ(parse_constant(d, c.text()), c) << c.text();
    }
  EXPECT_TRUE(std::isnan(parse_constant(DType::bf16, "nan")->to_double()));
}

TEST(ConstantTest, RefusesWhatIsNoLiteral) {
  for (DType d : {DType::f16, DType::bf16, DType::f32, DType::f64})
    for (const char* bad : {"", " 1", "1 ", "1x", "0x10", "infinity", "nan(1)", "-nan", "NaN", "+1", "--1", "1e", ".",
                            "1,5", "true", "1e400", "-1e400"})
      EXPECT_EQ(parse_constant(d, bad), std::nullopt) << name(d) << " '" << bad << "'";
  EXPECT_EQ(parse_constant(DType::f16, "65520"), std::nullopt);
  EXPECT_TRUE(parse_constant(DType::f16, "65519"));
  EXPECT_EQ(parse_constant(DType::f32, "1e39"), std::nullopt);
  EXPECT_EQ(parse_constant(DType::f32, "1e-60")->bits, 0u);
  for (const char* bad : {"", "1.0", "1e3", "9223372036854775808", "-9223372036854775809", "+1", "0x1", "nan"})
    EXPECT_EQ(parse_constant(DType::i64, bad), std::nullopt) << bad;
  for (const char* bad : {"-1", "18446744073709551616", "1.5"})
    EXPECT_EQ(parse_constant(DType::u64, bad), std::nullopt) << bad;
  EXPECT_EQ(parse_constant(DType::u32, "4294967296"), std::nullopt);
  for (const char* bad : {"", "2", "True", "yes", "1.0"})
    EXPECT_EQ(parse_constant(DType::boolean, bad), std::nullopt) << bad;
  EXPECT_EQ(parse_constant(DType::boolean, "1"), Constant::from_bool(true));
  EXPECT_EQ(parse_constant(DType::boolean, "false"), Constant::from_bool(false));
}

// 1 + 2^-24 + a little is above the tie of f32; by way of double the little would be lost.
TEST(ConstantTest, ReadsFloatsWithOneRounding) {
  EXPECT_EQ(parse_constant(DType::f32, "1.00000005960464477539062500000001")->to_double(), 1 + 0x1p-23);
  EXPECT_EQ(parse_constant(DType::f32, "1.000000059604644775390625")->to_double(), 1.0);
}

TEST(ConstantTest, FromIntegersRoundsOnce) {
  const int64_t tie_f32 = (int64_t(1) << 62) + (int64_t(1) << 38);
  EXPECT_EQ(Constant::from_int64(DType::f32, tie_f32).to_double(), 0x1p62);
  EXPECT_EQ(Constant::from_int64(DType::f32, tie_f32 + 1).to_double(), 0x1p62 + 0x1p39);
  const int64_t tie_bf16 = (int64_t(1) << 62) + (int64_t(1) << 54);
  EXPECT_EQ(Constant::from_int64(DType::bf16, tie_bf16).to_double(), 0x1p62);
  EXPECT_EQ(Constant::from_int64(DType::bf16, tie_bf16 + 1).to_double(), 0x1p62 + 0x1p55);
  EXPECT_EQ(Constant::from_int64(DType::bf16, -tie_bf16 - 1).to_double(), -0x1p62 - 0x1p55);
  EXPECT_EQ(Constant::from_int64(DType::bf16, INT64_MIN).to_double(), -0x1p63);
  EXPECT_EQ(Constant::from_int64(DType::f16, 2049).to_double(), 2048);
  EXPECT_EQ(Constant::from_int64(DType::f16, INT64_MAX).to_double(), kInfinity);
  EXPECT_EQ(Constant::from_int64(DType::f64, INT64_MAX).to_double(), 0x1p63);
  EXPECT_EQ(Constant::from_int64(DType::boolean, 256).to_int64(), 1);
}

TEST(ConstantTest, EqualityAndHashAreByBits) {
  EXPECT_NE(Constant::from_double(DType::f32, 0.0), Constant::from_double(DType::f32, -0.0));
  EXPECT_EQ(Constant::from_double(DType::f32, kNaN), Constant::from_double(DType::f32, kNaN));
  EXPECT_NE(Constant::from_double(DType::f16, 0), Constant::from_double(DType::bf16, 0));
  std::unordered_set<size_t> hashes;
  for (int d = 0; d < kDTypeCount; ++d)
    for (uint64_t bits = 0; bits < 2; ++bits) hashes.insert(std::hash<Constant>()(Constant{DType(d), bits}));
  EXPECT_EQ(hashes.size(), size_t(2 * kDTypeCount));
}

TEST(ConstantTest, LoadsAndStores) {
  for (int i = 0; i < kDTypeCount; ++i) {
    const DType d = DType(i);
    unsigned char memory[9] = {};
    const Constant one = Constant::from_double(d, 1);
    one.store(memory);
    EXPECT_EQ(Constant::load(d, memory), one) << name(d);
    for (size_t j = size_of(d); j < sizeof memory; ++j) EXPECT_EQ(memory[j], 0);
  }
  const uint8_t odd = 7;
  EXPECT_EQ(Constant::load(DType::boolean, &odd), Constant::from_bool(true));
}

}  // namespace
}  // namespace plait
