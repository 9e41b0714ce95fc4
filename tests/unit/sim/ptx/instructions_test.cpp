// Every instruction against expectations written by hand.
#include <gtest/gtest.h>

#include <cmath>
#include <limits>

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

constexpr uint64_t kMin64 = uint64_t(1) << 63, kAll64 = ~uint64_t(0), kAll32 = 0xffffffff, kMin32 = 0x80000000;
const std::vector<int> k16{16}, k16x2{16, 16}, k16x3{16, 16, 16}, k32{32}, k32x2{32, 32}, k32x3{32, 32, 32}, k64{64},
    k64x2{64, 64}, k64x3{64, 64, 64};

TEST(Instructions, IntegerSums) {
  check({{"add.s32 %d, %a, %b;", 32, k32x2, {0x7fffffff, 1}, kMin32},
         {"add.u32 %d, %a, %b;", 32, k32x2, {kAll32, 2}, 1},
         {"add.s32 %d, %a, -7;", 32, k32, {5}, 0xfffffffe},
         {"add.sat.s32 %d, %a, %b;", 32, k32x2, {0x7fffffff, 1}, 0x7fffffff},
         {"add.sat.s32 %d, %a, %b;", 32, k32x2, {kMin32, kAll32}, kMin32},
         {"add.s64 %d, %a, %b;", 64, k64x2, {kAll64, 1}, 0},
         {"add.u64 %d, %a, 4294967296;", 64, k64, {1}, 0x100000001},
         {"add.s16 %d, %a, %b;", 16, k16x2, {0xffff, 2}, 1},
         {"add.u16 %d, %a, %b;", 16, k16x2, {0x8000, 0x7fff}, 0xffff},
         {"sub.s32 %d, %a, %b;", 32, k32x2, {0, 1}, kAll32},
         {"sub.sat.s32 %d, %a, %b;", 32, k32x2, {kMin32, 1}, kMin32},
         {"sub.u64 %d, %a, %b;", 64, k64x2, {0, 1}, kAll64},
         {"sub.s16 %d, %a, %b;", 16, k16x2, {1, 2}, 0xffff}});
}

TEST(Instructions, IntegerProducts) {
  check({{"mul.lo.s32 %d, %a, %b;", 32, k32x2, {kAll32, 3}, 0xfffffffd},
         {"mul.lo.u16 %d, %a, %b;", 16, k16x2, {0xffff, 0xffff}, 1},
         {"mul.lo.s64 %d, %a, %b;", 64, k64x2, {kAll64, kMin64}, kMin64},
         {"mul.hi.u32 %d, %a, %b;", 32, k32x2, {kAll32, kAll32}, 0xfffffffe},
         {"mul.hi.s32 %d, %a, %b;", 32, k32x2, {kAll32, kAll32}, 0},
         {"mul.hi.s32 %d, %a, %b;", 32, k32x2, {kMin32, 2}, kAll32},
         {"mul.hi.u64 %d, %a, %b;", 64, k64x2, {kAll64, kAll64}, kAll64 - 1},
         {"mul.hi.s64 %d, %a, %b;", 64, k64x2, {kMin64, kMin64}, uint64_t(1) << 62},
         {"mul.hi.u16 %d, %a, %b;", 16, k16x2, {0xffff, 0xffff}, 0xfffe},
         {"mul.wide.u32 %d, %a, %b;", 64, k32x2, {kAll32, kAll32}, 0xfffffffe00000001},
         {"mul.wide.s32 %d, %a, %b;", 64, k32x2, {kAll32, 5}, uint64_t(-5)},
         {"mul.wide.u32 %d, %a, 4;", 64, k32, {kMin32}, 0x200000000},
         {"mul.wide.s16 %d, %a, %b;", 32, k16x2, {0xffff, 0x8000}, 0x8000},
         {"mul.wide.u16 %d, %a, %b;", 32, k16x2, {0xffff, 0xffff}, 0xfffe0001},
         {"mad.lo.s32 %d, %a, %b, %c;", 32, k32x3, {3, 4, kAll32}, 11},
         {"mad.lo.s64 %d, %a, %b, %c;", 64, k64x3, {kAll64, 5, 6}, 1},
         {"mad.hi.u32 %d, %a, %b, %c;", 32, k32x3, {kMin32, 4, 7}, 9},
         {"mad.wide.u32 %d, %a, %b, %c;", 64, {32, 32, 64}, {kAll32, 2, 3}, 0x200000001},
         {"mad.wide.s32 %d, %a, %b, %c;", 64, {32, 32, 64}, {kAll32, 2, 3}, 1}});
}

TEST(Instructions, DotProducts) {
  check({{"dp2a.lo.u32.u32 %d, %a, %b, %c;", 32, k32x3, {0x00030002, 0x07060504, 10}, 33},
         {"dp2a.hi.u32.u32 %d, %a, %b, %c;", 32, k32x3, {0x00030002, 0x07060504, 10}, 43},
         {"dp2a.lo.s32.u32 %d, %a, %b, %c;", 32, k32x3, {0xffff0001, 0x000002ff, 0}, 253},
         {"dp2a.lo.u32.s32 %d, %a, %b, %c;", 32, k32x3, {0xffff0001, 0x000002ff, 0}, 131069},
         {"dp2a.hi.s32.s32 %d, %a, %b, %c;", 32, k32x3, {0x80007fff, 0x80010000, 1}, 0x407fff + 1},
         {"dp4a.u32.u32 %d, %a, %b, %c;", 32, k32x3, {0x04030201, 0x01010101, 5}, 15},
         {"dp4a.s32.s32 %d, %a, %b, %c;", 32, k32x3, {kAll32, 0x04030201, 3}, 0xfffffff9},
         {"dp4a.u32.s32 %d, %a, %b, %c;", 32, k32x3, {0xff, 0xff, 0}, uint64_t(uint32_t(-255))},
         {"dp4a.u32.u32 %d, %a, %b, %c;", 32, k32x3, {1, 1, kAll32}, 0}});
}

// Sums, differences and products of numbers of two words, against 64 and 128 bits.
TEST(Instructions, Carries) {
  const auto words = [](const char* body) {
    return fmt::format(
        ".reg .b32 %a0, %a1, %b0, %b1, %x0, %x1; .reg .b64 %t;\n"
        "mov.b64 {{%a0, %a1}}, %a; mov.b64 {{%b0, %b1}}, %b;\n{}\nmov.b64 %d, {{%x0, %x1}};",
        body);
  };
  const std::string sum = words("add.cc.u32 %x0, %a0, %b0; addc.u32 %x1, %a1, %b1;");
  const std::string difference = words("sub.cc.s32 %x0, %a0, %b0; subc.u32 %x1, %a1, %b1;");
  const std::string product = words(
      "mad.lo.cc.u32 %x0, %a0, %b0, 0; madc.hi.u32 %x1, %a0, %b0, 0;"
      "mad.lo.u32 %x1, %a0, %b1, %x1; mad.lo.u32 %x1, %a1, %b0, %x1;");
  // The upper word of a + b + (carry of a + a), where addc passes its carry on.
  const std::string chain = ".reg .b64 %t, %u, %v; add.cc.u64 %t, %a, %a; addc.cc.u64 %u, %a, %b; addc.u64 %d, 0, 0;";
  // The upper 64 bits of a b + b by halves of it: (a b + b) >> 64.
  const std::string high = ".reg .b64 %t; mad.lo.cc.u64 %t, %a, %b, %b; madc.hi.u64 %d, %a, %b, 0;";
  std::vector<std::vector<uint64_t>> rows;
  const uint64_t values[] = {0,          1,          0xffffffff,         0x100000000,           0xffffffffffffffff,
                             0x80000000, 0x7fffffff, 0x8000000000000000, 0xfffffffeffffffffull, 0x123456789abcdef0};
  for (uint64_t a : values)
    for (uint64_t b : values) rows.push_back({a, b});
  const auto run = [&](const std::string& text) { return evaluate(text, 64, {64, 64}, rows); };
  const auto sums = run(sum), differences = run(difference), products = run(product), chains = run(chain);
  const auto highs = run(high);
  for (size_t i = 0; i < rows.size(); ++i) {
    const uint64_t a = rows[i][0], b = rows[i][1];
    EXPECT_EQ(sums[i], a + b) << a << " " << b;
    EXPECT_EQ(differences[i], a - b) << a << " " << b;
    EXPECT_EQ(products[i], a * b) << a << " " << b;
    const auto wide = static_cast<unsigned __int128>(a);
    EXPECT_EQ(chains[i], static_cast<uint64_t>((wide + b + (a >> 63)) >> 64)) << a << " " << b;
    EXPECT_EQ(highs[i], static_cast<uint64_t>((wide * b + b) >> 64)) << a << " " << b;
  }
}

TEST(Instructions, IntegerQuotients) {
  check({{"div.s32 %d, %a, %b;", 32, k32x2, {uint32_t(-7), 2}, uint32_t(-3)},
         {"div.s32 %d, %a, %b;", 32, k32x2, {kMin32, kAll32}, kMin32},
         {"div.u32 %d, %a, %b;", 32, k32x2, {uint32_t(-7), 2}, 0x7ffffffc},
         {"div.u32 %d, %a, %b;", 32, k32x2, {5, 0}, kAll32},
         {"div.s64 %d, %a, %b;", 64, k64x2, {uint64_t(-9), 4}, uint64_t(-2)},
         {"div.s64 %d, %a, %b;", 64, k64x2, {kMin64, kAll64}, kMin64},
         {"div.u64 %d, %a, %b;", 64, k64x2, {kAll64, 10}, kAll64 / 10},
         {"div.s16 %d, %a, %b;", 16, k16x2, {0xfff9, 2}, 0xfffd},
         {"rem.s32 %d, %a, %b;", 32, k32x2, {uint32_t(-7), 2}, kAll32},
         {"rem.s32 %d, %a, %b;", 32, k32x2, {kMin32, kAll32}, 0},
         {"rem.u32 %d, %a, %b;", 32, k32x2, {7, 4}, 3},
         {"rem.u32 %d, %a, %b;", 32, k32x2, {7, 0}, 7},
         {"rem.s64 %d, %a, %b;", 64, k64x2, {uint64_t(-9), 4}, kAll64},
         {"rem.u64 %d, %a, %b;", 64, k64x2, {kAll64, 10}, kAll64 % 10}});
}

TEST(Instructions, IntegerSignsAndExtrema) {
  check({{"abs.s32 %d, %a;", 32, k32, {uint32_t(-7)}, 7},
         {"abs.s32 %d, %a;", 32, k32, {kMin32}, kMin32},
         {"abs.s64 %d, %a;", 64, k64, {uint64_t(-7)}, 7},
         {"abs.s16 %d, %a;", 16, k16, {0xffff}, 1},
         {"neg.s32 %d, %a;", 32, k32, {7}, uint32_t(-7)},
         {"neg.s64 %d, %a;", 64, k64, {kMin64}, kMin64},
         {"neg.s16 %d, %a;", 16, k16, {1}, 0xffff},
         {"min.s32 %d, %a, %b;", 32, k32x2, {kAll32, 1}, kAll32},
         {"min.u32 %d, %a, %b;", 32, k32x2, {kAll32, 1}, 1},
         {"max.s64 %d, %a, %b;", 64, k64x2, {kAll64, 1}, 1},
         {"max.u64 %d, %a, %b;", 64, k64x2, {kAll64, 1}, kAll64},
         {"max.s16 %d, %a, %b;", 16, k16x2, {0xffff, 1}, 1},
         {"min.u16 %d, %a, %b;", 16, k16x2, {0xffff, 1}, 1}});
}

TEST(Instructions, Logic) {
  check({{"and.b32 %d, %a, %b;", 32, k32x2, {0xff00ff00, 0x0ff00ff0}, 0x0f000f00},
         {"or.b64 %d, %a, %b;", 64, k64x2, {0xff00, kMin64}, kMin64 | 0xff00},
         {"xor.b16 %d, %a, %b;", 16, k16x2, {0xffff, 0x0ff0}, 0xf00f},
         {"not.b32 %d, %a;", 32, k32, {5}, 0xfffffffa},
         {"not.b16 %d, %a;", 16, k16, {5}, 0xfffa},
         {"not.b64 %d, %a;", 64, k64, {0}, kAll64},
         {"and.b32 %d, %a, -65536;", 32, k32, {0x12345678}, 0x12340000},
         {"and.pred %d, %a, %b;", 1, {1, 1}, {1, 0}, 0},
         {"or.pred %d, %a, %b;", 1, {1, 1}, {1, 0}, 1},
         {"xor.pred %d, %a, %b;", 1, {1, 1}, {1, 1}, 0},
         {"not.pred %d, %a;", 1, {1}, {0}, 1},
         {"mov.pred %d, 0;", 1, {}, {}, 0},
         {"mov.pred %d, %a;", 1, {1}, {1}, 1},
         {"lop3.b32 %d, %a, %b, %c, 0x96;",
          32,
          k32x3,
          {0xf0f0f0f0, 0xcccccccc, 0xaaaaaaaa},
          0xf0f0f0f0 ^ 0xcccccccc ^ 0xaaaaaaaa},
         {"lop3.b32 %d, %a, %b, %c, 0xE8;", 32, k32x3, {0xf0, 0xcc, 0xaa}, 0xe8}});
}

TEST(Instructions, Shifts) {
  check({{"shl.b32 %d, %a, %b;", 32, k32x2, {3, 31}, kMin32},
         {"shl.b32 %d, %a, %b;", 32, k32x2, {3, 32}, 0},
         {"shl.b64 %d, %a, %b;", 64, {64, 32}, {3, 63}, kMin64},
         {"shl.b64 %d, %a, %b;", 64, {64, 32}, {3, 64}, 0},
         {"shl.b16 %d, %a, %b;", 16, {16, 32}, {3, 15}, 0x8000},
         {"shl.b16 %d, %a, %b;", 16, {16, 32}, {3, 16}, 0},
         {"shr.u32 %d, %a, %b;", 32, k32x2, {kMin32, 31}, 1},
         {"shr.u32 %d, %a, %b;", 32, k32x2, {kMin32, 40}, 0},
         {"shr.b32 %d, %a, %b;", 32, k32x2, {kMin32, 4}, 0x08000000},
         {"shr.s32 %d, %a, %b;", 32, k32x2, {kMin32, 31}, kAll32},
         {"shr.s32 %d, %a, %b;", 32, k32x2, {kMin32, 99}, kAll32},
         {"shr.s32 %d, %a, %b;", 32, k32x2, {0x7fffffff, 99}, 0},
         {"shr.s64 %d, %a, 63;", 64, k64, {kMin64}, kAll64},
         {"shr.u64 %d, %a, 54;", 64, k64, {kAll64}, 1023},
         {"shr.s16 %d, %a, 8;", 16, k16, {0x8000}, 0xff80},
         {"shr.u16 %d, %a, 8;", 16, k16, {0x8000}, 0x80},
         {"shf.l.wrap.b32 %d, %a, %b, %c;", 32, k32x3, {0x80000001, 0x12345678, 4}, 0x23456788},
         {"shf.r.wrap.b32 %d, %a, %b, %c;", 32, k32x3, {0x80000001, 0x12345678, 36}, 0x88000000},
         {"shf.l.clamp.b32 %d, %a, %b, %c;", 32, k32x3, {0x80000001, 0x12345678, 36}, 0x80000001},
         {"shf.r.clamp.b32 %d, %a, %b, %c;", 32, k32x3, {0x80000001, 0x12345678, 36}, 0x12345678},
         {"shf.l.wrap.b32 %d, %a, %b, %c;", 32, k32x3, {1, 2, 0}, 2}});
}

TEST(Instructions, BitFields) {
  check({{"bfe.u32 %d, %a, %b, %c;", 32, k32x3, {0x12345678, 24, 8}, 0x12},
         {"bfe.u32 %d, %a, %b, %c;", 32, k32x3, {0x12345678, 8, 0}, 0},
         {"bfe.u32 %d, %a, %b, %c;", 32, k32x3, {0xf2345678, 28, 8}, 0xf},
         {"bfe.s32 %d, %a, %b, %c;", 32, k32x3, {0x00000f00, 8, 4}, kAll32},
         {"bfe.s32 %d, %a, %b, %c;", 32, k32x3, {0x80000000, 28, 8}, 0xfffffff8},
         {"bfe.s32 %d, %a, %b, %c;", 32, k32x3, {0x80000000, 40, 8}, kAll32},
         {"bfe.u32 %d, %a, %b, %c;", 32, k32x3, {kAll32, 0, 64}, kAll32},
         {"bfe.u64 %d, %a, %b, %c;", 64, {64, 32, 32}, {kAll64, 60, 8}, 15},
         {"bfe.s64 %d, %a, %b, %c;", 64, {64, 32, 32}, {0x80, 4, 4}, uint64_t(-8)},
         {"bfi.b32 %d, %a, %b, 8, 4;", 32, k32x2, {0xff, 0}, 0xf00},
         {"bfi.b32 %d, %a, %b, 28, 8;", 32, k32x2, {0xff, 1}, 0xf0000001},
         {"bfi.b32 %d, %a, %b, 8, 0;", 32, k32x2, {0xff, 7}, 7},
         {"bfi.b32 %d, %a, %b, 32, 8;", 32, k32x2, {0xff, 7}, 7},
         {"bfi.b64 %d, %a, %b, 32, 32;", 64, k64x2, {0x12345678, 9}, 0x1234567800000009},
         {"brev.b32 %d, %a;", 32, k32, {1}, kMin32},
         {"brev.b64 %d, %a;", 64, k64, {3}, uint64_t(3) << 62},
         {"popc.b32 %d, %a;", 32, k32, {0xf0f0}, 8},
         {"popc.b64 %d, %a;", 32, k64, {kAll64}, 64},
         {"clz.b32 %d, %a;", 32, k32, {0}, 32},
         {"clz.b64 %d, %a;", 32, k64, {1}, 63},
         {"bfind.u32 %d, %a;", 32, k32, {0x100}, 8},
         {"bfind.u32 %d, %a;", 32, k32, {0}, kAll32},
         {"bfind.s32 %d, %a;", 32, k32, {kAll32}, kAll32},
         {"bfind.s32 %d, %a;", 32, k32, {0xfffffff0}, 3},
         {"bfind.shiftamt.u64 %d, %a;", 32, k64, {1}, 63},
         {"prmt.b32 %d, %a, %b, 0x3340;", 32, k32x2, {0x33221100, 0x77665544}, 0x33334400},
         {"prmt.b32 %d, %a, %b, 0x7654;", 32, k32x2, {0x33221100, 0x77665544}, 0x77665544},
         {"prmt.b32 %d, %a, %b, 0x89ab;", 32, k32x2, {0x80ff7f01, 0}, 0x0000ffff}});
}

TEST(Instructions, Comparisons) {
  const uint64_t nan = bits(std::numeric_limits<float>::quiet_NaN()), one = bits(1.0f), two = bits(2.0f);
  check({{"setp.lt.s32 %d, %a, %b;", 1, k32x2, {kAll32, 0}, 1},
         {"setp.lt.u32 %d, %a, %b;", 1, k32x2, {kAll32, 0}, 0},
         {"setp.lo.u32 %d, %a, %b;", 1, k32x2, {0, 1}, 1},
         {"setp.hs.u32 %d, %a, %b;", 1, k32x2, {1, 1}, 1},
         {"setp.ge.s64 %d, %a, %b;", 1, k64x2, {kMin64, 0}, 0},
         {"setp.eq.b64 %d, %a, 1;", 1, k64, {1}, 1},
         {"setp.ne.s16 %d, %a, 0;", 1, k16, {0x8000}, 1},
         {"setp.gt.s16 %d, %a, %b;", 1, k16x2, {0x8000, 0}, 0},
         {"setp.eq.f32 %d, %a, %b;", 1, k32x2, {0, kMin32}, 1},
         {"setp.lt.f32 %d, %a, %b;", 1, k32x2, {one, two}, 1},
         {"setp.lt.f32 %d, %a, %b;", 1, k32x2, {nan, two}, 0},
         {"setp.ltu.f32 %d, %a, %b;", 1, k32x2, {nan, two}, 1},
         {"setp.ne.f32 %d, %a, %b;", 1, k32x2, {nan, nan}, 0},
         {"setp.neu.f32 %d, %a, %b;", 1, k32x2, {nan, nan}, 1},
         {"setp.geu.f32 %d, %a, %b;", 1, k32x2, {one, two}, 0},
         {"setp.nan.f32 %d, %a, %b;", 1, k32x2, {one, nan}, 1},
         {"setp.num.f32 %d, %a, %b;", 1, k32x2, {one, nan}, 0},
         {"setp.gt.f32 %d, %a, %b;", 1, k32x2, {1, 0}, 1},
         {"setp.gt.ftz.f32 %d, %a, %b;", 1, k32x2, {1, 0}, 0},
         {"setp.gt.f64 %d, %a, %b;", 1, k64x2, {bits(2.5), bits(2.25)}, 1},
         {"setp.lt.f16 %d, %a, %b;", 1, k16x2, {0xbc00, 0x3c00}, 1},
         {"setp.le.bf16 %d, %a, %b;", 1, k16x2, {0x3f80, 0x3f80}, 1},
         {"setp.lt.and.s32 %d, %a, %b, %c;", 1, {32, 32, 1}, {1, 2, 0}, 0},
         {"setp.lt.and.s32 %d, %a, %b, !%c;", 1, {32, 32, 1}, {1, 2, 0}, 1},
         {"setp.lt.or.s32 %d, %a, %b, %c;", 1, {32, 32, 1}, {3, 2, 1}, 1},
         {"setp.lt.xor.s32 %d, %a, %b, %c;", 1, {32, 32, 1}, {1, 2, 1}, 0},
         {"setp.lt.s32 %p1|%d, %a, %b;", 1, k32x2, {1, 2}, 0},
         {"setp.lt.and.s32 %p1|%d, %a, %b, %c;", 1, {32, 32, 1}, {3, 2, 1}, 1},
         {"setp.lt.s32 %d|_, %a, %b;", 1, k32x2, {1, 2}, 1},
         {"selp.b32 %d, %a, %b, %c;", 32, {32, 32, 1}, {5, 6, 1}, 5},
         {"selp.f64 %d, %a, %b, %c;", 64, {64, 64, 1}, {5, 6, 0}, 6},
         {"selp.u16 %d, 1, 0, %a;", 16, {1}, {1}, 1},
         {"selp.b32 %d, %a, %b, !%c;", 32, {32, 32, 1}, {5, 6, 1}, 6},
         {"testp.finite.f32 %d, %a;", 1, k32, {0x7f800000}, 0},
         {"testp.infinite.f32 %d, %a;", 1, k32, {0xff800000}, 1},
         {"testp.notanumber.f64 %d, %a;", 1, k64, {uint64_t(0x7ff8) << 48}, 1},
         {"testp.subnormal.f32 %d, %a;", 1, k32, {1}, 1},
         {"testp.normal.f64 %d, %a;", 1, k64, {bits(1.0)}, 1}});
}

TEST(Instructions, Moves) {
  check({{"mov.b64 %d, {%a, %b};", 64, k32x2, {1, 2}, 0x200000001},
         {"mov.b64 {%d, %r9}, %a;", 32, k64, {0x200000001}, 1},
         {"mov.b64 {_, %d}, %a;", 32, k64, {0x200000001}, 2},
         {"mov.b32 %d, {%a, %b};", 32, k16x2, {0x1234, 0x5678}, 0x56781234},
         {"mov.b32 {%h1, %d}, %a;", 16, k32, {0x56781234}, 0x5678},
         {"mov.b64 {%h1, %h2, %h3, %d}, %a;", 16, k64, {0x1234567890abcdef}, 0x1234},
         {"mov.b64 %d, {%a, %b, %a, %b};", 64, k16x2, {1, 2}, 0x0002000100020001},
         {"mov.f32 %d, 0f3F800000;", 32, {}, {}, 0x3f800000},
         {"mov.f64 %d, 0dBFF0000000000000;", 64, {}, {}, bits(-1.0)},
         {"mov.u32 %d, 0x10;", 32, {}, {}, 16},
         {"mov.u32 %d, 0b101;", 32, {}, {}, 5},
         {"mov.s32 %d, -1;", 32, {}, {}, kAll32},
         {"mov.u16 %d, -1;", 16, {}, {}, 0xffff},
         {"mov.u64 %d, 9223372036854775807;", 64, {}, {}, kMin64 - 1},
         {"{ .reg .b32 %d; mov.b32 %d, 5; mov.b32 %r5, %d; } mov.b32 %d, %r5;", 32, {}, {}, 5},
         {"cvta.to.global.u64 %d, %a;", 64, k64, {77}, 77},
         {"cvta.local.u64 %rd9, %a; cvta.to.local.u64 %d, %rd9;", 64, k64, {77}, 77},
         {"@%a mov.u32 %d, 1; @!%a mov.u32 %d, 2;", 32, {1}, {0}, 2}});
}

TEST(Instructions, SpecialRegisters) {
  const std::string body =
      std::string(kThread) +
      "mov.u32 %r0, %tid.x; mov.u32 %r1, %tid.y; mov.u32 %r2, %tid.z; mov.u32 %r3, %laneid;\n"
      "mov.u32 %r4, %ctaid.y; mov.u32 %r5, %nctaid.y; mov.u32 %r6, %ntid.z; mov.u32 %r7, %warpid;\n"
      "mov.u32 %r10, %ntid.y; mad.lo.s32 %r11, %r2, %r10, %r1; mov.u32 %r12, %ntid.x;\n"
      "mad.lo.s32 %r13, %r11, %r12, %r0; mul.wide.u32 %rd1, %r13, 32; add.s64 %rd2, %rd38, %rd1;\n"
      "setp.ne.u32 %p0, %r4, 1; @%p0 ret;\n"
      "st.global.v4.u32 [%rd2], {%r0, %r1, %r2, %r3}; st.global.v4.u32 [%rd2+16], {%r4, %r5, %r6, %r7};";
  Machine machine;
  const auto module = PtxModule::load(kernel_text(body));
  Launch launch;
  launch.grid = {1, 3, 1};
  launch.block = {5, 3, 4};
  launch.parameters.resize(32);
  const uint64_t out = machine.allocate(60 * 32);
  std::memcpy(launch.parameters.data(), &out, 8);
  sim::launch(*module, launch, machine.actor("k"), machine.space);
  const auto found = machine.download<uint32_t>(out, 60 * 8);
  for (uint32_t i = 0; i < 60; ++i) {
    const std::vector<uint32_t> expected = {i % 5, i / 5 % 3, i / 15, i % 32, 1, 3, 4, i / 32};
    EXPECT_EQ(std::vector<uint32_t>(found.begin() + i * 8, found.begin() + i * 8 + 8), expected) << i;
  }
}

}  // namespace
}  // namespace plait::sim::test
