// Float instructions: special values by hand, random ones against the machine's own arithmetic in double.
#include <gtest/gtest.h>

#include <cfenv>
#include <cmath>
#include <limits>
#include <random>

#include "machine.h"

namespace plait::sim::test {
namespace {

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

constexpr uint64_t kNan32 = 0x7fffffff, kInf32 = 0x7f800000, kNegInf32 = 0xff800000, kNegZero32 = 0x80000000;
const std::vector<int> k16{16}, k16x2{16, 16}, k16x3{16, 16, 16}, k32{32}, k32x2{32, 32}, k32x3{32, 32, 32}, k64{64},
    k64x2{64, 64}, k64x3{64, 64, 64};

TEST(Floats, Sums) {
  const uint64_t one = bits(1.0f), tiny = bits(0x1p-30f);
  check({{"add.f32 %d, %a, %b;", 32, k32x2, {one, tiny}, one},
         {"add.rn.f32 %d, %a, %b;", 32, k32x2, {one, one}, bits(2.0f)},
         {"add.rp.f32 %d, %a, %b;", 32, k32x2, {one, tiny}, one + 1},
         {"add.rm.f32 %d, %a, %b;", 32, k32x2, {one, tiny}, one},
         {"sub.rz.f32 %d, %a, %b;", 32, k32x2, {one, tiny}, one - 1},
         {"sub.f32 %d, %a, %b;", 32, k32x2, {one, one}, 0},
         {"sub.rm.f32 %d, %a, %b;", 32, k32x2, {one, one}, kNegZero32},
         {"add.f32 %d, %a, %b;", 32, k32x2, {kInf32, kNegInf32}, kNan32},
         {"add.f32 %d, %a, %b;", 32, k32x2, {0xffc12345, one}, kNan32},
         {"add.f32 %d, %a, %b;", 32, k32x2, {1, 1}, 2},
         {"add.ftz.f32 %d, %a, %b;", 32, k32x2, {1, 1}, 0},
         {"add.ftz.f32 %d, %a, %b;", 32, k32x2, {0x80000001, 0x80000001}, kNegZero32},
         {"sub.ftz.f32 %d, %a, %b;", 32, k32x2, {0x00800001, 0x00800000}, 0},
         {"add.sat.f32 %d, %a, %b;", 32, k32x2, {one, one}, one},
         {"sub.sat.f32 %d, %a, %b;", 32, k32x2, {one, bits(3.0f)}, 0},
         {"add.sat.f32 %d, %a, %b;", 32, k32x2, {kNan32, one}, 0},
         {"add.f64 %d, %a, %b;", 64, k64x2, {bits(1.0), bits(0x1p-60)}, bits(1.0)},
         {"add.rp.f64 %d, %a, %b;", 64, k64x2, {bits(1.0), bits(0x1p-60)}, bits(1.0) + 1},
         {"sub.f64 %d, %a, %b;", 64, k64x2, {bits(0x1p-1022), bits(0x1.8p-1022)}, bits(-0x1p-1023)},
         {"add.rn.f32x2 %d, %a, %b;", 64, k64x2, {one << 32 | one, bits(2.0f) << 32 | tiny}, bits(3.0f) << 32 | one},
         {"fma.rn.f32x2 %d, %a, %a, %b;", 64, k64x2, {bits(3.0f) << 32 | one, one << 32}, bits(10.0f) << 32 | one}});
}

TEST(Floats, ProductsAndFusedOnes) {
  const uint64_t third = bits(1.0f / 3), three = bits(3.0f), above_one = bits(1.0f) + 1;
  check({{"mul.f32 %d, %a, %b;", 32, k32x2, {third, three}, bits(1.0f)},
         {"mul.rz.f32 %d, %a, %b;", 32, k32x2, {above_one, above_one}, above_one + 1},
         {"mul.rp.f32 %d, %a, %b;", 32, k32x2, {above_one, above_one}, above_one + 2},
         {"mul.f32 %d, %a, %b;", 32, k32x2, {0, kInf32}, kNan32},
         {"mul.ftz.f32 %d, %a, %b;", 32, k32x2, {0x00800000, bits(0.5f)}, 0},
         {"mul.sat.f32 %d, %a, %b;", 32, k32x2, {three, bits(-1.0f)}, 0},
         {"fma.rn.f32 %d, %a, %b, %c;", 32, k32x3, {above_one, above_one, bits(-1.0f)}, bits(0x1.000001p-22f)},
         {"fma.rm.f32 %d, %a, %b, %c;", 32, k32x3, {bits(1.0f), bits(-0x1p-40f), bits(1.0f)}, bits(1.0f) - 1},
         {"fma.rn.ftz.f32 %d, %a, %b, %c;", 32, k32x3, {0x007fffff, bits(1.0f), bits(0.0f)}, 0},
         {"fma.rn.sat.f32 %d, %a, %b, %c;", 32, k32x3, {three, three, three}, bits(1.0f)},
         {"mad.rn.f32 %d, %a, %b, %c;", 32, k32x3, {three, three, bits(1.0f)}, bits(10.0f)},
         {"fma.rn.f64 %d, %a, %b, %c;",
          64,
          k64x3,
          {bits(1 + 0x1p-52), bits(1 + 0x1p-52), bits(-1.0)},
          bits(0x1.0000000000000p-51 + 0x1p-104)},
         {"fma.rz.f64 %d, %a, %b, %c;", 64, k64x3, {bits(1.0), bits(-0x1p-80), bits(1.0)}, bits(1.0) - 1}});
}

TEST(Floats, QuotientsAndRoots) {
  const uint64_t one = bits(1.0f), three = bits(3.0f), large = bits(0x1p127f);
  check({{"div.rn.f32 %d, %a, %b;", 32, k32x2, {one, three}, bits(1.0f / 3)},
         {"div.rz.f32 %d, %a, %b;", 32, k32x2, {one, three}, bits(1.0f / 3) - 1},
         {"div.full.f32 %d, %a, %b;", 32, k32x2, {one, three}, bits(1.0f / 3)},
         {"div.approx.f32 %d, %a, %b;", 32, k32x2, {one, three}, bits(1.0f / 3)},
         {"div.approx.f32 %d, %a, %b;", 32, k32x2, {large, large}, 0},
         {"div.approx.f32 %d, %a, %b;", 32, k32x2, {kInf32, large}, kNan32},
         {"div.approx.ftz.f32 %d, %a, %b;", 32, k32x2, {one, 1}, kInf32},
         {"div.rn.f32 %d, %a, %b;", 32, k32x2, {0, 0}, kNan32},
         {"div.rn.f32 %d, %a, %b;", 32, k32x2, {bits(-1.0f), 0}, kNegInf32},
         {"div.rn.f64 %d, %a, %b;", 64, k64x2, {bits(1.0), bits(3.0)}, bits(1.0 / 3)},
         {"rcp.rn.f32 %d, %a;", 32, k32, {three}, bits(1.0f / 3)},
         {"rcp.approx.f32 %d, %a;", 32, k32, {three}, bits(1.0f / 3)},
         {"rcp.approx.ftz.f32 %d, %a;", 32, k32, {bits(0x1.8p126f)}, 0},
         {"rcp.approx.ftz.f32 %d, %a;", 32, k32, {0x80000001}, kNegInf32},
         {"rcp.approx.f32 %d, %a;", 32, k32, {kNegInf32}, kNegZero32},
         {"rcp.rn.f64 %d, %a;", 64, k64, {bits(3.0)}, bits(1.0 / 3)},
         {"rcp.approx.ftz.f64 %d, %a;", 64, k64, {bits(3.0)}, bits(1.0 / 3) >> 32 << 32},
         {"rcp.approx.ftz.f64 %d, %a;", 64, k64, {1}, uint64_t(0x7ff0) << 48},
         {"sqrt.rn.f32 %d, %a;", 32, k32, {bits(2.0f)}, bits(std::sqrt(2.0f))},
         {"sqrt.rp.f32 %d, %a;", 32, k32, {bits(2.0f)}, bits(std::sqrt(2.0f)) + (std::sqrt(2.0) > std::sqrt(2.0f))},
         {"sqrt.rn.f32 %d, %a;", 32, k32, {bits(-1.0f)}, kNan32},
         {"sqrt.rn.f32 %d, %a;", 32, k32, {kNegZero32}, kNegZero32},
         {"sqrt.approx.ftz.f32 %d, %a;", 32, k32, {0x80000001}, kNegZero32},
         {"sqrt.rn.f64 %d, %a;", 64, k64, {bits(2.0)}, bits(std::sqrt(2.0))},
         {"rsqrt.approx.f32 %d, %a;", 32, k32, {bits(4.0f)}, bits(0.5f)},
         {"rsqrt.approx.f32 %d, %a;", 32, k32, {kNegZero32}, kNegInf32},
         {"rsqrt.approx.f32 %d, %a;", 32, k32, {bits(-4.0f)}, kNan32},
         {"rsqrt.approx.f64 %d, %a;", 64, k64, {bits(3.0)}, bits(1 / std::sqrt(3.0))},
         {"rsqrt.approx.f64 %d, %a;", 64, k64, {bits(-0.0)}, bits(-double(INFINITY))},
         {"rsqrt.approx.ftz.f64 %d, %a;", 64, k64, {bits(4.0)}, bits(0.5)}});
}

TEST(Floats, SignsAndExtrema) {
  const uint64_t one = bits(1.0f), two = bits(2.0f);
  check({{"abs.f32 %d, %a;", 32, k32, {bits(-2.0f)}, two},
         {"abs.ftz.f32 %d, %a;", 32, k32, {0x80000001}, 0},
         {"neg.f32 %d, %a;", 32, k32, {0}, kNegZero32},
         {"neg.f64 %d, %a;", 64, k64, {bits(2.5)}, bits(-2.5)},
         {"abs.f64 %d, %a;", 64, k64, {bits(-2.5)}, bits(2.5)},
         {"max.f32 %d, %a, %b;", 32, k32x2, {one, two}, two},
         {"max.f32 %d, %a, %b;", 32, k32x2, {kNan32, two}, two},
         {"max.f32 %d, %a, %b;", 32, k32x2, {0xffc00001, 0xffc00000}, kNan32},
         {"max.NaN.f32 %d, %a, %b;", 32, k32x2, {0xffc00001, two}, kNan32},
         {"max.f32 %d, %a, %b;", 32, k32x2, {kNegZero32, 0}, 0},
         {"min.f32 %d, %a, %b;", 32, k32x2, {0, kNegZero32}, kNegZero32},
         {"min.NaN.f32 %d, %a, %b;", 32, k32x2, {one, two}, one},
         {"min.ftz.f32 %d, %a, %b;", 32, k32x2, {1, one}, 0},
         {"min.f64 %d, %a, %b;", 64, k64x2, {bits(-1.0), bits(1.0)}, bits(-1.0)},
         {"max.f64 %d, %a, %b;", 64, k64x2, {uint64_t(0x7ff8) << 48, bits(1.0)}, bits(1.0)},
         {"copysign.f32 %d, %a, %b;", 32, k32x2, {bits(-1.0f), two}, bits(-2.0f)},
         {"copysign.f64 %d, %a, %b;", 64, k64x2, {bits(1.0), bits(-2.0)}, bits(2.0)}});
}

TEST(Floats, Approximations) {
  check({{"ex2.approx.f32 %d, %a;", 32, k32, {bits(3.0f)}, bits(8.0f)},
         {"ex2.approx.ftz.f32 %d, %a;", 32, k32, {bits(-140.0f)}, 0},
         {"ex2.approx.f32 %d, %a;", 32, k32, {bits(-140.0f)}, bits(0x1p-140f)},
         {"ex2.approx.f32 %d, %a;", 32, k32, {kNegInf32}, 0},
         {"lg2.approx.f32 %d, %a;", 32, k32, {bits(8.0f)}, bits(3.0f)},
         {"lg2.approx.ftz.f32 %d, %a;", 32, k32, {1}, kNegInf32},
         {"lg2.approx.f32 %d, %a;", 32, k32, {bits(-1.0f)}, kNan32},
         {"tanh.approx.f32 %d, %a;", 32, k32, {bits(100.0f)}, bits(1.0f)},
         {"tanh.approx.f16 %d, %a;", 16, k16, {0x3c00}, 0x3a18},
         {"tanh.approx.bf16x2 %d, %a;", 32, k32, {0x42c80000}, 0x3f800000},
         {"sin.approx.f32 %d, %a;", 32, k32, {0}, 0},
         {"cos.approx.ftz.f32 %d, %a;", 32, k32, {0}, bits(1.0f)},
         {"ex2.approx.f16 %d, %a;", 16, k16, {0x4200}, 0x4800},
         {"ex2.approx.f16x2 %d, %a;", 32, k32, {0x42003c00}, 0x48004000},
         {"ex2.approx.ftz.bf16 %d, %a;", 16, k16, {0x4040}, 0x4100}});
}

TEST(Floats, HalvesByHand) {
  check({{"add.f16 %d, %a, %b;", 16, k16x2, {0x3c00, 0x3c00}, 0x4000},
         {"add.rn.f16 %d, %a, %b;", 16, k16x2, {0x7bff, 0x7bff}, 0x7c00},
         {"add.sat.f16 %d, %a, %b;", 16, k16x2, {0x3c00, 0x3c00}, 0x3c00},
         {"add.ftz.f16 %d, %a, %b;", 16, k16x2, {1, 1}, 0},
         {"mul.f16 %d, %a, %b;", 16, k16x2, {0, 0x7c00}, 0x7fff},
         {"fma.rn.f16 %d, %a, %b, %c;", 16, k16x3, {0x3c01, 0x3c01, 0xbc00}, 0x1800},
         {"sub.f16x2 %d, %a, %b;", 32, k32x2, {0x40003c00, 0x3c003c00}, 0x3c000000},
         {"fma.rn.f16x2 %d, %a, %a, %b;", 32, k32x2, {0x40003c00, 0x3c003c00}, 0x45004000},
         {"neg.f16x2 %d, %a;", 32, k32, {0x3c00bc00}, 0xbc003c00},
         {"abs.f16 %d, %a;", 16, k16, {0xbc00}, 0x3c00},
         {"max.f16 %d, %a, %b;", 16, k16x2, {0x7e00, 0x3c00}, 0x3c00},
         {"max.NaN.f16 %d, %a, %b;", 16, k16x2, {0x7e00, 0x3c00}, 0x7fff},
         {"min.f16x2 %d, %a, %b;", 32, k32x2, {0x40000000, 0x3c008000}, 0x3c008000},
         {"add.bf16 %d, %a, %b;", 16, k16x2, {0x3f80, 0x3f80}, 0x4000},
         {"add.bf16 %d, %a, %b;", 16, k16x2, {0x3f80, 0x3b80}, 0x3f80},
         {"mul.bf16x2 %d, %a, %b;", 32, k32x2, {0x40003f80, 0x40404040}, 0x40c04040},
         {"fma.rn.bf16 %d, %a, %b, %c;", 16, k16x3, {0x3f81, 0x3f81, 0x2000}, 0x3f82},
         {"fma.rn.bf16x2 %d, %a, %a, %b;", 32, k32x2, {0x40003f80, 0x3f803f80}, 0x40a04000},
         {"max.bf16 %d, %a, %b;", 16, k16x2, {0x8000, 0}, 0},
         {"neg.bf16 %d, %a;", 16, k16, {0x3f80}, 0xbf80}});
}

// bf16's product can lie on a tie that only a far smaller addend decides.
TEST(Floats, FusedHalvesRoundOnce) {
  // 0x3f81^2 = 1.0156860..., whose 16 bits end halfway for suitable operands: 1.0625 * 1.0625 = 1.12890625 is a tie.
  check({{"fma.rn.bf16 %d, %a, %b, %c;", 16, k16x3, {0x3f88, 0x3f88, 0x0080}, 0x3f91},
         {"fma.rn.bf16 %d, %a, %b, %c;", 16, k16x3, {0x3f88, 0x3f88, 0x8080}, 0x3f90},
         {"fma.rn.bf16 %d, %a, %b, %c;", 16, k16x3, {0x3f88, 0x3f88, 0}, 0x3f90}});
}

// ---- Random operands against the machine.

std::vector<std::vector<uint64_t>> random_rows(size_t count, size_t operands, bool wide, uint32_t seed) {
  std::mt19937_64 random(seed);
  const std::vector<uint64_t> special =
      wide ? std::vector<uint64_t>{0,
                                   uint64_t(1) << 63,
                                   bits(1.0),
                                   bits(-1.0),
                                   1,
                                   uint64_t(0x7ff) << 52,
                                   uint64_t(0xfff) << 52}
           : std::vector<uint64_t>{0,          0x80000000, bits(1.0f), bits(-1.0f), 1,
                                   0x7f7fffff, 0x7f800000, 0xff800000, 0x7fc00000,  0x00800000};
  std::vector<std::vector<uint64_t>> out(count);
  for (auto& row : out)
    for (size_t i = 0; i < operands; ++i) {
      const uint64_t draw = random();
      const uint64_t near = wide ? bits(std::ldexp(1.0 + double(draw >> 12) * 0x1p-52, int(draw % 40) - 20))
                                 : bits(std::ldexp(1.0f + float(draw >> 41) * 0x1p-23f, int(draw % 20) - 10));
      const uint64_t signed_near = near ^ (draw >> 11 & 1) << (wide ? 63 : 31);
      row.push_back(draw % 8 == 0   ? special[draw / 8 % special.size()]
                    : draw % 8 == 1 ? (wide ? draw * 0x9e3779b97f4a7c15 : draw * 0x9e3779b97f4a7c15 >> 32)
                                    : signed_near);
    }
  return out;
}

template <class T>
T as(uint64_t x) {
  if constexpr (sizeof(T) == 8)
    return std::bit_cast<T>(x);
  else
    return std::bit_cast<T>(static_cast<uint32_t>(x));
}

// Rounded by the machine; volatile keeps the compiler from moving it.
template <class T>
T by_machine(char op, int mode, T a, T b, T c) {
  const int before = std::fegetround();
  std::fesetround(mode);
  volatile T x = a, y = b, z = c, out = 0;
  if (op == '+') out = x + y;
  if (op == '-') out = x - y;
  if (op == '*') out = x * y;
  if (op == '/') out = x / y;
  if (op == 'f') out = std::fma(T(x), T(y), T(z));
  if (op == 's') out = std::sqrt(T(x));
  std::fesetround(before);
  return out;
}

template <class T>
void random_arithmetic(const char* type) {
  const std::pair<const char*, int> modes[] = {
      {"rn", FE_TONEAREST}, {"rz", FE_TOWARDZERO}, {"rm", FE_DOWNWARD}, {"rp", FE_UPWARD}};
  const std::pair<char, std::string> ops[] = {{'+', "add"}, {'-', "sub"}, {'*', "mul"},
                                              {'/', "div"}, {'f', "fma"}, {'s', "sqrt"}};
  const int width = 8 * sizeof(T);
  uint32_t seed = 0;
  for (const auto& [mode_name, mode] : modes)
    for (const auto& [op, op_name] : ops) {
      const auto rows = random_rows(600, 3, sizeof(T) == 8, ++seed);
      const std::string operands = op == 's' ? "%d, %a;" : op == 'f' ? "%d, %a, %b, %c;" : "%d, %a, %b;";
      const std::string text = fmt::format("{}.{}.{} {}", op_name, mode_name, type, operands);
      const auto found = evaluate(text, width, {width, width, width}, rows);
      for (size_t i = 0; i < rows.size(); ++i) {
        const T expected = by_machine<T>(op, mode, as<T>(rows[i][0]), as<T>(rows[i][1]), as<T>(rows[i][2]));
        if (std::isnan(expected))
          EXPECT_TRUE(std::isnan(as<T>(found[i]))) << text << " row " << i;
        else
          ASSERT_EQ(found[i], bits(expected)) << text << " of " << as<T>(rows[i][0]) << ", " << as<T>(rows[i][1]);
      }
    }
}

TEST(Floats, RandomSingle) { random_arithmetic<float>("f32"); }
TEST(Floats, RandomDouble) { random_arithmetic<double>("f64"); }

}  // namespace
}  // namespace plait::sim::test
