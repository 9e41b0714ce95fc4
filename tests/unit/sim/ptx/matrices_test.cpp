// Products of matrices in the registers of a warp: how they round, and what is refused.
#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "machine.h"

namespace plait::sim {
namespace {

constexpr float kInfinity = std::numeric_limits<float>::infinity();

// d[0] of lane 0 of a product whose registers of a, b and c are the same in every lane.
uint64_t first_sum(const std::string& product, uint32_t a, uint32_t b, uint32_t c, int of_a, int of_b, int of_c) {
  const auto registers = [](const char* name, int count) {
    std::string out = "{";
    for (int i = 0; i < count; ++i) out += (i > 0 ? ", " : "") + std::string(name);
    return out + "}";
  };
  std::string results = "{";
  for (int i = 0; i < of_c; ++i) results += fmt::format("{}%r{}", i > 0 ? ", " : "", 10 + i);
  const std::string text = test::kernel_text(
      "ld.param.u64 %rd0, [a];\n" + fmt::format("mov.b32 %r0, {}; mov.b32 %r1, {}; mov.b32 %r2, {};\n", a, b, c) +
      product + " " + results + "}, " + registers("%r0", of_a) + ", " + registers("%r1", of_b) + ", " +
      registers("%r2", of_c) +
      ";\nmov.u32 %r30, %laneid; setp.eq.u32 %p0, %r30, 0; @%p0 st.global.u32 [%rd0], %r10; ret;");
  test::Machine machine;
  const uint64_t out = machine.allocate(4);
  machine.run(*PtxModule::load(text), {out, 0, 0, 0}, 1, 32);
  return machine.download<uint32_t>(out, 1)[0];
}

uint32_t pair_of(uint32_t half) { return half | half << 16; }
uint32_t bits_of(float x) { return std::bit_cast<uint32_t>(x); }
float number(uint64_t bits) { return std::bit_cast<float>(static_cast<uint32_t>(bits)); }

constexpr uint32_t kOneF16 = 0x3c00, kOneBf16 = 0x3f80;
const char* const kF16 = "mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32";
const char* const kBf16 = "mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32";
const char* const kTf32 = "mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32";

TEST(MatrixProducts, AreSumsOfProducts) {
  EXPECT_EQ(number(first_sum(kF16, pair_of(kOneF16), pair_of(kOneF16), bits_of(0.5f), 4, 2, 4)), 16.5f);
  EXPECT_EQ(number(first_sum(kBf16, pair_of(kOneBf16), pair_of(kOneBf16), bits_of(0.5f), 4, 2, 4)), 16.5f);
  EXPECT_EQ(number(first_sum(kTf32, bits_of(1), bits_of(1), bits_of(0.5f), 4, 2, 4)), 8.5f);
}

// Sums of 8 products are 2, or 1, of which 2^24 takes nothing.
TEST(MatrixProducts, RoundTowardsZeroByParts) {
  const float large = 16777216;
  EXPECT_EQ(number(first_sum(kF16, pair_of(0x3800), pair_of(0x3800), bits_of(large), 4, 2, 4)), large + 4);
  EXPECT_EQ(number(first_sum(kF16, pair_of(0x3400), pair_of(0x3800), bits_of(large), 4, 2, 4)), large);
  EXPECT_EQ(number(first_sum(kF16, pair_of(0xb400), pair_of(0x3800), bits_of(-large), 4, 2, 4)), -large);
}

TEST(MatrixProducts, OfTf32LookAtTenBitsOfMantissa) {
  const float x = 1 + std::ldexp(1.0f, -10);
  EXPECT_EQ(number(first_sum(kTf32, bits_of(x) | 0x1fff, bits_of(1), 0, 4, 2, 4)), 8 * x);
  EXPECT_EQ(test::evaluate("cvt.rna.tf32.f32 %d, %a;", 32, {32},
                           {{bits_of(x) | 0xfff}, {bits_of(x) | 0x1000}, {bits_of(-x) | 0x1000}, {bits_of(kInfinity)}}),
            (std::vector<uint64_t>{bits_of(x), bits_of(x) + 0x2000, bits_of(-x) + 0x2000, bits_of(kInfinity)}));
  EXPECT_EQ(test::evaluate("cvt.rna.tf32.f32 %d, %a;", 32, {32}, {{0x7f800001}, {0x7f7fffff}}),
            (std::vector<uint64_t>{0x7fffffff, bits_of(kInfinity)}));
}

TEST(MatrixProducts, PassOnWhatIsNoNumber) {
  EXPECT_EQ(first_sum(kF16, pair_of(0x7c00), pair_of(0), 0, 4, 2, 4), 0x7fffffffu);
  EXPECT_EQ(number(first_sum(kF16, pair_of(0x7c00), pair_of(kOneF16), bits_of(1), 4, 2, 4)), kInfinity);
  EXPECT_EQ(first_sum(kF16, pair_of(0x7c00), pair_of(kOneF16), bits_of(-kInfinity), 4, 2, 4), 0x7fffffffu);
  EXPECT_EQ(first_sum(kBf16, pair_of(kOneBf16), pair_of(0x7fc0), bits_of(1), 4, 2, 4), 0x7fffffffu);
}

TEST(MatrixProducts, OfHalvesRoundOnce) {
  const char* const product = "mma.sync.aligned.m16n8k16.row.col.f16.f16.f16.f16";
  // 2048 + 16 * 0.25 = 2052; 2048 + 16 * 0.0625 = 2049, half way: to the even 2048.
  EXPECT_EQ(first_sum(product, pair_of(0x3800), pair_of(0x3800), pair_of(0x6800), 4, 2, 2), pair_of(0x6802));
  EXPECT_EQ(first_sum(product, pair_of(0x3400), pair_of(0x3400), pair_of(0x6800), 4, 2, 2), pair_of(0x6800));
  EXPECT_EQ(first_sum(product, pair_of(0x7bff), pair_of(0x7bff), pair_of(0), 4, 2, 2), pair_of(0x7c00));
}

TEST(MatrixProducts, OfBytesWrapOrSaturate) {
  const auto product = [](const char* types, const char* saturates) {
    return fmt::format("mma.sync.aligned.m16n8k32.row.col{}.s32.{}.s32", saturates, types);
  };
  const uint32_t most = 0x7fffffff;
  EXPECT_EQ(first_sum(product("s8.s8", ""), 0xffffffff, 0x02020202, 10, 4, 2, 4), uint32_t(10 - 64));
  EXPECT_EQ(first_sum(product("u8.s8", ""), 0xffffffff, 0x02020202, 10, 4, 2, 4), 10u + 64 * 255);
  EXPECT_EQ(first_sum(product("u8.u8", ""), 0xffffffff, 0xffffffff, 0, 4, 2, 4), 32u * 255 * 255);
  EXPECT_EQ(first_sum(product("s8.s8", ""), 0x01010101, 0x01010101, most, 4, 2, 4), 0x80000000u + 31);
  EXPECT_EQ(first_sum(product("s8.s8", ".satfinite"), 0x01010101, 0x01010101, most, 4, 2, 4), most);
  EXPECT_EQ(first_sum(product("s8.s8", ".satfinite"), 0x01010101, 0xffffffff, 0x80000000, 4, 2, 4), 0x80000000u);
}

// What a module is refused with; empty: it loads.
std::string refusal(const std::string& instruction, const std::string& target = "sm_80") {
  std::string text = test::kernel_text(instruction + " ret;");
  text.replace(text.find("sm_80"), 5, target);
  try {
    PtxModule::load(text);
  } catch (const Fault& fault) {
    EXPECT_EQ(fault.code, kInvalidPtx);
    return fault.text;
  }
  return "";
}

TEST(MatrixInstructions, OtherFormsAreRefused) {
  const auto expect = [](const std::string& instruction, const std::string& says) {
    EXPECT_NE(refusal(instruction).find(says), std::string::npos) << instruction << ": " << refusal(instruction);
  };
  const std::string product = "mma.sync.aligned.m16n8k16.row.col";
  EXPECT_EQ(refusal(product + ".f32.f16.f16.f32 {%r0,%r1,%r2,%r3}, {%r0,%r1,%r2,%r3}, {%r0,%r1}, {%r0,%r1,%r2,%r3};"),
            "");
  expect(product + ".f32.f16.f16.f32 {%r0,%r1,%r2,%r3}, {%r0,%r1,%r2}, {%r0,%r1}, {%r0,%r1,%r2,%r3};",
         "3 registers where 4 belong");
  expect(product + ".f32.bf16.f16.f32 {%r0,%r1,%r2,%r3}, {%r0,%r1,%r2,%r3}, {%r0,%r1}, {%r0,%r1,%r2,%r3};",
         "a product of this form");
  expect(product + ".f16.bf16.bf16.f16 {%r0,%r1}, {%r0,%r1,%r2,%r3}, {%r0,%r1}, {%r0,%r1};", "a product of this form");
  expect("mma.sync.aligned.m8n8k128.row.col.s32.b1.b1.s32 {%r0,%r1}, {%r0}, {%r1}, {%r0,%r1};",
         "a product of this shape");
  expect(
      "mma.sync.aligned.m16n8k4.row.col.f64.f64.f64.f64 {%rd0,%rd1,%rd2,%rd3}, {%rd0,%rd1}, {%rd0}, "
      "{%rd0,%rd1,%rd2,%rd3};",
      "it needs sm_90");
  expect("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%r0,%r1}, [%r2];", "a vector of another length");
  expect("ldmatrix.sync.aligned.m16n16.x1.trans.shared.b8 {%r0,%r1}, [%r2];", "matrices of this form");
  expect("stmatrix.sync.aligned.m8n8.x1.shared.b16 [%r2], {%r0};", "it needs sm_90");
  EXPECT_EQ(refusal("stmatrix.sync.aligned.m8n8.x1.shared.b16 [%r2], {%r0};", "sm_90"), "");
  expect("cp.async.cg.shared.global [%r0], [%rd0], 8;", "a number of bytes that is none of 4, 8, 16");
  expect("cp.async.ca.shared.global [%r0], [%rd0], 32;", "a number of bytes that is none of 4, 8, 16");
  expect("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%r0], [%rd0], 16, [%r1];",
         "a copy of this form");
  expect("cp.async.mbarrier.arrive.shared.b64 [%r0];", "a copy of this form");
  expect("cp.async.wait_group %r0;", "a number of groups that is no literal");
}

}  // namespace
}  // namespace plait::sim
