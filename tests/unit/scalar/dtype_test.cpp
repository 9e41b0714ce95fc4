#include "scalar/dtype.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <vector>

#include "base/error.h"

namespace plait {
namespace {

std::vector<DType> all() {
  std::vector<DType> result;
  for (int i = 0; i < kDTypeCount; ++i) result.push_back(DType(i));
  return result;
}

TEST(DTypeTest, NamesReadBack) {
  const char* names[] = {"bool", "i8",     "i16",    "i32", "i64",  "u8",  "u16", "u32",
                         "u64",  "f8e4m3", "f8e5m2", "f16", "bf16", "f32", "f64"};
  ASSERT_EQ(kDTypeCount, 15);
  for (DType d : all()) {
    EXPECT_EQ(name(d), names[int(d)]);
    EXPECT_EQ(parse_dtype(name(d)), d);
  }
  for (const char* bad : {"", "boolean", "F32", "f32 ", "f3", "float", "int8", "f8", "f8e4m3fn"})
    EXPECT_EQ(parse_dtype(bad), std::nullopt) << bad;
}

TEST(DTypeTest, SizesAndClasses) {
  const size_t sizes[] = {1, 1, 2, 4, 8, 1, 2, 4, 8, 1, 1, 2, 2, 4, 8};
  for (DType d : all()) {
    EXPECT_EQ(size_of(d), sizes[int(d)]) << name(d);
    EXPECT_EQ(is_float(d), d != DType::boolean && (name(d)[0] == 'f' || d == DType::bf16)) << name(d);
    EXPECT_EQ(is_integer(d), !is_float(d) && d != DType::boolean) << name(d);
    EXPECT_EQ(is_unsigned(d), name(d)[0] == 'u') << name(d);
    EXPECT_EQ(is_narrow(d), is_float(d) && size_of(d) <= 2) << name(d);
    EXPECT_EQ(is_f8(d), d == DType::f8e4m3 || d == DType::f8e5m2) << name(d);
    EXPECT_EQ(is_always_rounded(d), is_f8(d) || (is_integer(d) && size_of(d) <= 2)) << name(d);
  }
}

TEST(DTypeTest, AccumulationAndComputation) {
  EXPECT_EQ(accumulation_type(DType::f16), DType::f32);
  EXPECT_EQ(accumulation_type(DType::bf16), DType::f32);
  EXPECT_EQ(accumulation_type(DType::f8e4m3), DType::f32);
  EXPECT_EQ(accumulation_type(DType::f8e5m2), DType::f32);
  EXPECT_EQ(accumulation_type(DType::f32), DType::f32);
  EXPECT_EQ(accumulation_type(DType::f64), DType::f64);
  for (DType d : all()) {
    if (!is_float(d)) {
      EXPECT_EQ(accumulation_type(d), DType::i64);
    }
  }
  for (DType d : all()) {
    DType wide = d;
    if (is_narrow(d)) wide = DType::f32;
    if (d == DType::i8 || d == DType::i16) wide = DType::i32;
    if (d == DType::u8 || d == DType::u16) wide = DType::u32;
    EXPECT_EQ(compute_type(d), wide) << name(d);
  }
}

TEST(DTypeTest, FloatFactsMatchTheStandardLibrary) {
  EXPECT_EQ(unit_roundoff(DType::f32), double(std::numeric_limits<float>::epsilon()) / 2);
  EXPECT_EQ(unit_roundoff(DType::f64), std::numeric_limits<double>::epsilon() / 2);
  EXPECT_EQ(unit_roundoff(DType::bf16), 0x1p-8);
  EXPECT_EQ(unit_roundoff(DType::f16), 0x1p-11);
  EXPECT_EQ(smallest_spacing(DType::f32), double(std::numeric_limits<float>::denorm_min()));
  EXPECT_EQ(smallest_spacing(DType::f64), std::numeric_limits<double>::denorm_min());
  EXPECT_EQ(smallest_spacing(DType::f16), 0x1p-24);
  EXPECT_EQ(smallest_spacing(DType::bf16), 0x1p-133);
  EXPECT_EQ(min_normal(DType::f32), double(std::numeric_limits<float>::min()));
  EXPECT_EQ(min_normal(DType::f64), std::numeric_limits<double>::min());
  EXPECT_EQ(min_normal(DType::f16), 0x1p-14);
  EXPECT_EQ(max_finite(DType::f32), double(std::numeric_limits<float>::max()));
  EXPECT_EQ(max_finite(DType::f64), std::numeric_limits<double>::max());
  EXPECT_EQ(max_finite(DType::f16), 65504);
  for (DType d : all()) {
    if (!is_float(d)) {
      EXPECT_EQ(unit_roundoff(d), 0) << name(d);
    }
  }
}

TEST(DTypeTest, FloatsOfEightBits) {
  EXPECT_EQ(unit_roundoff(DType::f8e4m3), 0x1p-4);
  EXPECT_EQ(unit_roundoff(DType::f8e5m2), 0x1p-3);
  EXPECT_EQ(min_normal(DType::f8e4m3), 0x1p-6);
  EXPECT_EQ(min_normal(DType::f8e5m2), 0x1p-14);
  EXPECT_EQ(smallest_spacing(DType::f8e4m3), 0x1p-9);
  EXPECT_EQ(smallest_spacing(DType::f8e5m2), 0x1p-16);
  EXPECT_EQ(max_finite(DType::f8e4m3), 448);
  EXPECT_EQ(max_finite(DType::f8e5m2), 57344);
  EXPECT_EQ(max_exact_integer(DType::f8e4m3), 16);
  EXPECT_EQ(max_exact_integer(DType::f8e5m2), 8);
}

TEST(DTypeTest, EndsOfTheTypes) {
  EXPECT_EQ(max_finite(DType::i8), 127);
  EXPECT_EQ(max_finite(DType::i16), 32767);
  EXPECT_EQ(max_finite(DType::i32), 2147483647.0);
  EXPECT_EQ(max_finite(DType::i64), 0x1p63);
  EXPECT_EQ(max_finite(DType::u8), 255);
  EXPECT_EQ(max_finite(DType::u16), 65535);
  EXPECT_EQ(max_finite(DType::u32), 4294967295.0);
  EXPECT_EQ(max_finite(DType::u64), 0x1p64);
  EXPECT_EQ(max_finite(DType::boolean), 1);
  EXPECT_EQ(least_finite(DType::i8), -128);
  EXPECT_EQ(least_finite(DType::i64), -0x1p63);
  for (DType d : all()) {
    if (is_unsigned(d) || d == DType::boolean) {
      EXPECT_EQ(least_finite(d), 0) << name(d);
    }
    if (is_float(d)) {
      EXPECT_EQ(least_finite(d), -max_finite(d)) << name(d);
    }
  }
}

TEST(DTypeTest, LargestExactIntegers) {
  EXPECT_EQ(max_exact_integer(DType::bf16), 256);
  EXPECT_EQ(max_exact_integer(DType::f16), 2048);
  EXPECT_EQ(max_exact_integer(DType::f32), 1 << 24);
  EXPECT_EQ(max_exact_integer(DType::f64), int64_t(1) << 53);
  EXPECT_EQ(max_exact_integer(DType::i64), INT64_MAX);
  EXPECT_EQ(max_exact_integer(DType::u64), INT64_MAX);
  EXPECT_EQ(max_exact_integer(DType::u32), int64_t(UINT32_MAX));
  EXPECT_EQ(max_exact_integer(DType::boolean), 1);
  EXPECT_EQ(max_exact_integer(DType::i8), 127);
  EXPECT_EQ(max_exact_integer(DType::u16), 65535);
  EXPECT_EQ(max_exact_integer(DType::i32), INT32_MAX);
}

TEST(DTypeTest, PromotionIsALatticeWhereDefined) {
  for (DType a : all()) {
    EXPECT_EQ(promote(a, a), a);
    for (DType b : all()) {
      EXPECT_EQ(try_promote(a, b), try_promote(b, a)) << name(a) << " " << name(b);
      const auto ab = try_promote(a, b);
      if (!ab) continue;
      EXPECT_EQ(try_promote(*ab, a), *ab);
      if (is_float(a) || is_float(b)) {
        EXPECT_TRUE(is_float(*ab));
      }
    }
  }
}

// promotion_table.inc is what torch.promote_types says; promotion_table.py made it.
TEST(DTypeTest, PromotionFollowsPyTorch) {
  constexpr struct {
    const char *a, *b, *result;  // "-": refused
  } kTable[] = {
#include "promotion_table.inc"
  };
  ASSERT_EQ(std::size(kTable), size_t(kDTypeCount * kDTypeCount));
  for (const auto& [a, b, result] : kTable) {
    const auto common = try_promote(parse_dtype(a).value(), parse_dtype(b).value());
    EXPECT_EQ(common, parse_dtype(result)) << a << " " << b;
  }
}

TEST(DTypeTest, NoCommonTypeIsAUsersError) {
  try {
    promote(DType::u32, DType::i64);
    FAIL();
  } catch (const UserError& e) {
    EXPECT_EQ(e.message(), "u32 and i64 have no common type");
    EXPECT_FALSE(e.remedy().empty());
  }
  EXPECT_THROW(promote(DType::f8e4m3, DType::f32), UserError);
}

}  // namespace
}  // namespace plait
