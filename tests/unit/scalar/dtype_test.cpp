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
  const char* names[] = {"bool", "i64", "u32", "u64", "f16", "bf16", "f32", "f64"};
  ASSERT_EQ(kDTypeCount, 8);
  for (DType d : all()) {
    EXPECT_EQ(name(d), names[int(d)]);
    EXPECT_EQ(parse_dtype(name(d)), d);
  }
  for (const char* bad : {"", "boolean", "F32", "f32 ", "f3", "float"})
    EXPECT_EQ(parse_dtype(bad), std::nullopt) << bad;
}

TEST(DTypeTest, SizesAndClasses) {
  const size_t sizes[] = {1, 8, 4, 8, 2, 2, 4, 8};
  for (DType d : all()) {
    EXPECT_EQ(size_of(d), sizes[int(d)]) << name(d);
    EXPECT_EQ(is_float(d), d == DType::f16 || d == DType::bf16 || d == DType::f32 || d == DType::f64) << name(d);
    EXPECT_EQ(is_integer(d), !is_float(d) && d != DType::boolean) << name(d);
    EXPECT_EQ(is_unsigned(d), d == DType::u32 || d == DType::u64) << name(d);
    EXPECT_EQ(is_narrow(d), d == DType::f16 || d == DType::bf16) << name(d);
  }
}

TEST(DTypeTest, AccumulationAndComputation) {
  EXPECT_EQ(accumulation_type(DType::f16), DType::f32);
  EXPECT_EQ(accumulation_type(DType::bf16), DType::f32);
  EXPECT_EQ(accumulation_type(DType::f32), DType::f32);
  EXPECT_EQ(accumulation_type(DType::f64), DType::f64);
  for (DType d : {DType::boolean, DType::i64, DType::u32, DType::u64}) EXPECT_EQ(accumulation_type(d), DType::i64);
  EXPECT_EQ(compute_type(DType::bf16), DType::f32);
  EXPECT_EQ(compute_type(DType::u32), DType::u32);
  EXPECT_EQ(compute_type(DType::f64), DType::f64);
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
  EXPECT_EQ(max_finite(DType::u32), 4294967295.0);
  for (DType d : {DType::boolean, DType::i64, DType::u32, DType::u64}) EXPECT_EQ(unit_roundoff(d), 0) << name(d);
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

TEST(DTypeTest, PromotionFollowsPyTorch) {
  EXPECT_EQ(promote(DType::boolean, DType::i64), DType::i64);
  EXPECT_EQ(promote(DType::i64, DType::f16), DType::f16);
  EXPECT_EQ(promote(DType::u64, DType::bf16), DType::bf16);
  EXPECT_EQ(promote(DType::f16, DType::bf16), DType::f32);
  EXPECT_EQ(promote(DType::bf16, DType::f32), DType::f32);
  EXPECT_EQ(promote(DType::f64, DType::f16), DType::f64);
  for (DType other : {DType::boolean, DType::i64, DType::u32}) EXPECT_EQ(try_promote(DType::u64, other), std::nullopt);
  try {
    promote(DType::u32, DType::i64);
    FAIL();
  } catch (const UserError& e) {
    EXPECT_EQ(e.message(), "u32 and i64 have no common type");
    EXPECT_FALSE(e.remedy().empty());
  }
}

}  // namespace
}  // namespace plait
