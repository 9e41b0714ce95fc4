#include "scalar/philox.h"

#include <gtest/gtest.h>

#include <set>

namespace plait {
namespace {

using Words = std::array<uint32_t, 4>;

// Known answers published with Random123 (philox4x32, 10 rounds).
TEST(PhiloxTest, KnownAnswers) {
  EXPECT_EQ(philox(0, 0, 0), (Words{0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8}));
  EXPECT_EQ(philox(UINT64_MAX, UINT64_MAX, UINT64_MAX), (Words{0x408f276d, 0x41c83b0e, 0xa20bc7c6, 0x6d5451fd}));
  EXPECT_EQ(philox(0x299f31d0a4093822, 0x85a308d3243f6a88, 0x0370734413198a2e),
            (Words{0xd16cfe09, 0x94fdcceb, 0x5001e420, 0x24126ea1}));
  static_assert(philox(0, 0, 0)[0] == 0x6627e8d5);
}

TEST(PhiloxTest, UniformTakesTheUpperBitsOfItsLane) {
  for (uint64_t index : {uint64_t(0), uint64_t(1), uint64_t(6), uint64_t(1) << 34 | 3, UINT64_MAX}) {
    const uint32_t word = philox(11, index / 4, 5)[index % 4];
    const float value = uniform_f32(11, index, 5);
    EXPECT_EQ(double(value), double(word / 256) / 16777216.0);
    EXPECT_GE(value, 0.0f);
    EXPECT_LT(value, 1.0f);
  }
  EXPECT_EQ(uniform_from_bits(0xFFu), 0.0f);
  EXPECT_EQ(uniform_from_bits(UINT32_MAX), 1.0f - 0x1p-24f);
}

TEST(PhiloxTest, SeedIndexAndOffsetAllMatter) {
  std::set<Words> seen;
  for (uint64_t bit = 0; bit < 64; ++bit) {
    seen.insert(philox(uint64_t(1) << bit, 0, 0));
    seen.insert(philox(0, uint64_t(1) << bit, 0));
    seen.insert(philox(0, 0, uint64_t(1) << bit));
  }
  EXPECT_EQ(seen.size(), 192u);
}

TEST(PhiloxTest, UniformMoments) {
  double sum = 0, squares = 0;
  const int n = 200000;
  for (int i = 0; i < n; ++i) {
    const double u = uniform_f32(1, i, 0);
    sum += u;
    squares += u * u;
  }
  // Five standard deviations of the means: sqrt(1/12 / n) and sqrt(4/45 / n).
  EXPECT_NEAR(sum / n, 0.5, 5 * std::sqrt(1.0 / 12 / n));
  EXPECT_NEAR(squares / n, 1.0 / 3, 5 * std::sqrt(4.0 / 45 / n));
}

TEST(PhiloxTest, NormalPairsLanes) {
  for (uint64_t index = 0; index < 8; index += 2) {
    const double u = uniform_f32(3, index, 9), v = uniform_f32(3, index + 1, 9);
    const double r = std::sqrt(-2 * std::log(1 - u)), angle = 2 * 3.14159265358979323846 * v;
    EXPECT_NEAR(normal(3, index, 9), r * std::cos(angle), 1e-14);
    EXPECT_NEAR(normal(3, index + 1, 9), r * std::sin(angle), 1e-14);
  }
}

TEST(PhiloxTest, NormalMoments) {
  double sum = 0, squares = 0, fourth = 0;
  const int n = 200000;
  for (int i = 0; i < n; ++i) {
    const double x = normal(42, i, 1);
    ASSERT_TRUE(std::isfinite(x));
    sum += x;
    squares += x * x;
    fourth += x * x * x * x;
  }
  EXPECT_NEAR(sum / n, 0, 5 * std::sqrt(1.0 / n));
  EXPECT_NEAR(squares / n, 1, 5 * std::sqrt(2.0 / n));
  EXPECT_NEAR(fourth / n, 3, 5 * std::sqrt(96.0 / n));
}

}  // namespace
}  // namespace plait
