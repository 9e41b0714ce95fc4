// The text of CUDA kernels.
#include "codegen/cuda/write.h"

#include <gtest/gtest.h>

#include <cmath>

#include "base/error.h"
#include "codegen/cuda/helpers.h"
#include "codegen/cuda/index_text.h"
#include "codegen/cuda/spelling.h"
#include "kir/parse.h"
#include "support/host_shim_kernels.h"

namespace plait {
namespace {

using namespace test;
using codegen::cuda::Helpers;
using codegen::cuda::IndexText;

TEST(WriteCuda, AddOfOneLane) {
  const kir::Kernel kernel = add_kernel(DType::f32, 1);
  kir::verify(kernel);
  EXPECT_EQ(write_cuda(kernel), R"(// add_f32x1: pointwise(vector = 1)
extern "C" __global__ void __launch_bounds__(128) add_f32x1(
    const float* __restrict__ b0, const float* __restrict__ b1, float* __restrict__ b2, long long n0) {
  const long long bx = blockIdx.x;
  const long long tx = threadIdx.x;
  const long long k0 = 128 * bx + tx;
  if (k0 < n0) {
    const float v0 = b0[k0];
    const float v1 = b1[k0];
    const float v2 = v0 + v1;
    b2[k0] = v2;
  }
}
)");
}

// Of a launch that may begin before what is in front of it has ended.
TEST(WriteCuda, WaitsForWhatIsInFront) {
  const kir::Kernel kernel = add_kernel(DType::f32, 1);
  const std::string text = write_cuda(kernel, true);
  EXPECT_EQ(text.find("__restrict__"), text.npos) << text;
  const size_t body = text.find("extern");
  EXPECT_LT(text.find("  follow_launch();\n", body), text.find("blockIdx.x", body)) << text;
  EXPECT_EQ(write_cuda(kernel).find("follow_launch"), std::string::npos);
}

constexpr const char* kNarrow = R"(
kernel @n(%x: f32[n0*n1] read, %i: i64[n0] read, %y: f32[n0*n1] write, %c: i64[n0] write; n0, n1, n2) given n0: 1 in 1..2147483647, n1: 1 in 1..2147483647 target cuda narrow {
  for b in 0..n0 on block_x {
    for t in 0..32 on thread_x {
      %0: i64 = load %i[b] contiguous
      bind m0 = %0
      if 0 <= m0 and m0 < n0 {
        %1: f32 = load %x[m0*n1 + t] contiguous
        store %y[b*n1 + t] = %1 contiguous
      }
      if b*n1*n1 + 5000000 < n2 {
        if min(b - 7, n1) < t {
          %2: i64 = coordinate b - t
          store %c[floordiv(b*n1, n1 + 1)] = %2 contiguous
          store %c[floordiv(b*n1*n1, n1 + 1)] = %2 contiguous
        }
      }
      if max(n0 - 30, -8 - floordiv(n1 + 20, 16)) < t - 9 {
        store %c[b] = %0 contiguous
      }
      for r in 0..n1 - 3000000 {
        %3: f32 = load %x[b*n1 + r] contiguous
        store %y[b*n1 + r] = %3 contiguous
      }
    }
  }
}
)";

// Lanes that lie far apart, or behind a wide workspace; loops that end beyond `int`; minima multiplied.
TEST(WriteCuda, NarrowIndicesThatNeedMore) {
  const std::string text = write_cuda(kir::parse(R"(
kernel @n(%x: f32[n0*n1] read, %y: f32[n0*n1] write, %p: f32[n0*n0*n0] workspace; n0, n1) given n0: 1 in 1..2147483647, n1: 1 in 1..2147483647 target cuda narrow {
  for b in 0..n0 on block_x {
    for t in 0..32 on thread_x {
      %0: f32x4 = load %x[b + 9000000 - 3000000*lane] lanewise
      %1: f32x4 = load %x[b + 9000 - 3*lane] lanewise
      %2: f32x4 = add(%0, %1)
      store %p[4*b*n0 + lane] = %2 aligned
      for r in 0..7*n0 - 10 {
        %3: f32 = load %x[floordiv(min(n0, 60000)*min(n1, 60000), 7)] contiguous
        store %y[r] = %3 contiguous
      }
    }
  }
}
)"));
  const auto has = [&](const char* part) { EXPECT_NE(text.find(part), std::string::npos) << part << "\n" << text; };
  has("= b0[int(k0 + 4291967296u * j)];");
  has("= (b0 + k1)[-3 * j];");
  has("store_vector(b2 + (4 * static_cast<long long>(bx) * static_cast<long long>(n0)), ");
  has("i0 < 7 * static_cast<long long>(n0) - 10; ++i0");
  has("unsigned least32(int a, int b)");
}

// What is left of an index without its constant may be less than 0.
TEST(WriteCuda, PlacesThatSubtract) {
  const std::string text = write_cuda(kir::parse(R"(
kernel @n(%x: f32[n0] read, %y: f32[n0] write; n0) given n0: 1 in 1..2147483647 target cuda narrow {
  for b in 0..floordiv(n0, 64) on block_x {
    for t in 0..8 on thread_x {
      %0: f32 = load %x[64*b - 8*t + 63] contiguous
      %1: f32 = load %x[64*b - 8*t + 38] contiguous
      %2: f32x4 = load %x[64*b + 4*t - lane + 3] reversed
      %3: f32 = load %x[64*b + 8*t + 7] contiguous
      %4: f32 = add(%0, %1)
      %5: f32 = add(%3, %4)
      store %y[64*b + t] = %5 contiguous
      store %y[64*b + 4*t + lane + 8] = %2 contiguous
    }
  }
}
)"));
  const auto has = [&](const char* part) { EXPECT_NE(text.find(part), std::string::npos) << part << "\n" << text; };
  has("= b0[int(k0)];");
  has("= b0[int(k1)];");
  has("const unsigned k1 = k0 - 25;");
  has("const unsigned k2 = 64 * bx + 8 * tx + 7;\n  const float v3 = b0[k2];");
}

// Sums and products are right modulo 2^32; what needs more is done of operands that fit, or in 64 bits.
TEST(WriteCuda, NarrowIndices) {
  const std::string text = write_cuda(kir::parse(kNarrow));
  EXPECT_EQ(text.substr(text.find("    const float*")),
            R"(    const float* __restrict__ b0, const long long* __restrict__ b1, float* __restrict__ b2,
    long long* __restrict__ b3, unsigned n0, unsigned n1, long long n2) {
  const unsigned bx = blockIdx.x;
  const unsigned tx = threadIdx.x;
  const long long v0 = b1[bx];
  const long long m0 = v0;
  if (m0 < static_cast<long long>(n0) && 0 <= m0) {
    const unsigned k0 = unsigned(m0) * n1 + tx;
    const float v1 = b0[int(k0)];
    const unsigned k1 = bx * n1 + tx;
    b2[k1] = v1;
  }
  if (static_cast<long long>(bx) * static_cast<long long>(n1) * static_cast<long long>(n1) + 5000000ll < n2) {
    if (int(least32(int(n1), int(bx - 7))) < int(tx)) {
      const unsigned k2 = bx - tx;
      const long long v2 = int(k2);
      const unsigned k3 = n1 + 1;
      const unsigned k4 = (bx * n1) / k3;
      b3[k4] = v2;
      const unsigned k5 = unsigned((static_cast<long long>(bx) * static_cast<long long>(n1) * static_cast<long long>(n1)) / static_cast<long long>(k3));
      b3[k5] = v2;
    }
  }
  if (int(most32(int(n0 - 30), int(-((n1 + 4) / 16) - 9)) + 9) < int(tx)) {
    b3[bx] = v0;
  }
  const unsigned k6 = n1 - 3000000u;
  for (unsigned i0 = 0; int(i0) < int(k6); ++i0) {
    const unsigned k7 = bx * n1 + i0;
    const float v3 = b0[k7];
    b2[k7] = v3;
  }
}
)");
}

TEST(WriteCuda, AddOfFourLanes) {
  const std::string text = write_cuda(add_kernel(DType::f32, 4));
  EXPECT_EQ(text.substr(text.find("  const long long bx")), R"(  const long long bx = blockIdx.x;
  const long long tx = threadIdx.x;
  const long long k0 = 512 * bx + 4 * tx;
  if (k0 + 3 < n0) {
    Vec<float, 4> v0;
    load_vector(v0, b0 + k0);
    Vec<float, 4> v1;
    load_vector(v1, b1 + k0);
    Vec<float, 4> v2;
    #pragma unroll
    for (int j = 0; j < 4; ++j) v2[j] = v0[j] + v1[j];
    store_vector(b2 + k0, v2);
  }
  if (n0 < k0 + 4 && k0 < n0) {
    const long long k1 = n0 - k0;
    float v5[4];
    #pragma unroll
    for (int j = 0; j < 4; ++j) {
      const float v3 = j < k1 ? b0[k0 + j] : 0.0f;
      const float v4 = j < k1 ? b1[k0 + j] : 0.0f;
      v5[j] = v3 + v4;
    }
    #pragma unroll
    for (int j = 0; j < 4; ++j) if (j < k1) b2[k0 + j] = v5[j];
  }
}
)");
}

// What an index addresses is named behind it, never in front of the loop that reads it.
TEST(WriteCuda, BoundSymbols) {
  KernelBuilder b("look_up", TargetKind::cuda);
  const sym::Expr n = b.integer("n"), m = b.integer("m");
  const uint32_t x = b.reads("x", DType::f32, n * m), index = b.reads("index", DType::i64, m);
  const uint32_t y = b.writes("y", DType::f32, m);
  const sym::Expr i = b.loop("i", m, kir::LoopKind::block_x);
  const kir::Value sum = b.variable(DType::f32, 0, 1);
  const sym::Expr k = b.loop("k", m);
  const sym::Expr at = b.bind("at", b.load(index, k, 1, kir::Access::contiguous));
  b.branch(sym::logical_and(sym::ge(at, 0), sym::lt(at, n)));
  b.assign(sum, b.compute(Pointwise::add, {sum, b.load(x, m * at + i, 1, kir::Access::contiguous)}));
  b.end();
  b.end();
  b.store(y, i, sum, kir::Access::contiguous);
  kir::verify(b.kernel);
  const std::string text = write_cuda(b.kernel);
  EXPECT_EQ(text.substr(text.find("  const long long bx")), R"(  const long long bx = blockIdx.x;
  float v0 = 0.0f;
  for (long long i0 = 0; i0 < n1; ++i0) {
    const long long v1 = b1[i0];
    const long long m0 = v1;
    if (m0 < n0 && 0 <= m0) {
      const long long k0 = m0 * n1 + bx;
      const float v2 = b0[k0];
      const float v3 = v0 + v2;
      v0 = v3;
    }
  }
  b2[bx] = v0;
}
)");
}

TEST(WriteCuda, SameKernelSameBytes) {
  for (const DType dtype : {DType::f32, DType::bf16})
    EXPECT_EQ(write_cuda(bias_gelu_dropout_kernel(dtype, 8)), write_cuda(bias_gelu_dropout_kernel(dtype, 8)));
}

TEST(WriteCuda, UserNamesStayOut) {
  KernelBuilder k("k", TargetKind::cuda);
  k.kernel.schedule = "line\nnext \\\n\xc3\xa4";
  const sym::Expr n = k.integer("int");
  const uint32_t x = k.reads("return", DType::f32, n), out = k.writes("while", DType::f32, n);
  const sym::Expr i = k.loop("for_", n, kir::LoopKind::block_x);
  k.store(out, i, k.load(x, i, 1, kir::Access::contiguous), kir::Access::contiguous);
  const std::string text = write_cuda(k.kernel);
  EXPECT_EQ(text.find("return"), text.npos);
  EXPECT_EQ(text.find("while"), text.npos);
  EXPECT_EQ(text.substr(0, text.find('\n')), "// k: line<0a>next <5c><0a><c3><a4>");
}

TEST(WriteCuda, OnlyUsedHelpers) {
  EXPECT_EQ(write_cuda(add_kernel(DType::f32, 1)).find("template"), std::string::npos);
  const std::string text = write_cuda(add_kernel(DType::bf16, 8));
  EXPECT_NE(text.find("bf16_pair"), text.npos);
  EXPECT_EQ(text.find("f16_value"), text.npos);
  EXPECT_EQ(text.find("#include"), text.npos);
  EXPECT_EQ(text.find("// needs"), text.npos);
}

TEST(WriteCuda, RefusesOtherTargets) {
  KernelBuilder k("k", TargetKind::cpu);
  EXPECT_THROW(write_cuda(k.kernel), InternalError);
}

TEST(Helpers, EachOnceAfterWhatItNeeds) {
  Helpers helpers;
  helpers.need("f16_vector");
  helpers.need("bf16_vector");
  const std::string text = helpers.text();
  EXPECT_EQ(text.find("struct __align__"), text.rfind("struct __align__"));
  EXPECT_LT(text.find("struct __align__"), text.find("bf16_pair"));
  EXPECT_LT(text.find("struct bf16"), text.find("const bf16*"));
  EXPECT_THROW(helpers.need("nothing"), InternalError);
}

TEST(IndexText, PlainDivisionOnlyWhereProven) {
  sym::Pool pool;
  const sym::Expr i = pool.symbol("i", {.lo = 0}), d = pool.symbol("d");
  Helpers helpers;
  IndexText text(helpers);
  text.set_name(i, "i0");
  text.set_name(d, "n0");
  EXPECT_EQ(text.text(sym::floordiv(i, 7)), "i0 / 7");
  EXPECT_EQ(text.text(sym::mod(i, 7), true), "(i0 % 7)");
  EXPECT_EQ(text.text(sym::floordiv(d, 7)), "floor_div(n0, 7)");
  EXPECT_EQ(text.text(sym::mod(d, 7)), "floor_mod(n0, 7)");
  EXPECT_EQ(text.text(i - d * 3), "i0 - 3 * n0");
  EXPECT_EQ(text.text(i * 5000000000), "5000000000ll * i0");
  text.open_scope();
  text.set_name(i - d * 3, "k0");
  EXPECT_EQ(text.text(i - d * 3), "k0");
  EXPECT_EQ(text.text(i - d * 3 + 5), "k0 + 5");
  EXPECT_EQ(text.text(i - d * 3 - 5), "k0 - 5");
  EXPECT_EQ(text.text(7 - i + d * 3), "7 - k0");
  EXPECT_EQ(text.text(sym::floordiv(i - d * 3 + 5, 8)), "floor_div(k0 + 5, 8)");
  text.close_scope();
  EXPECT_EQ(text.text(sym::logical_not(sym::eq(i, d))).find("!="), text.text(sym::ne(i, d)).find("!="));
}

TEST(Spelling, Literals) {
  using codegen::cuda::literal;
  const auto f32 = [](double x) { return literal(Constant::from_double(DType::f32, x)); };
  EXPECT_EQ(f32(1), "1.0f");
  EXPECT_EQ(f32(0.1), "0.1f");
  EXPECT_EQ(f32(-2.5), "(-2.5f)");
  EXPECT_EQ(f32(1e20), "1e+20f");
  EXPECT_EQ(f32(-0.0), "(-0.0f)");
  EXPECT_EQ(f32(INFINITY), "__uint_as_float(0x7f800000u)");
  EXPECT_EQ(literal(Constant::from_double(DType::f64, 0.1)), "0.1");
  EXPECT_EQ(literal(Constant::from_double(DType::f64, -INFINITY)), "__longlong_as_double(0xfff0000000000000ll)");
  EXPECT_EQ(literal(Constant::from_int64(DType::i64, INT64_MIN)), "(-9223372036854775807ll - 1)");
  EXPECT_EQ(literal(Constant::from_int64(DType::i64, -3)), "(-3ll)");
  EXPECT_EQ(literal(Constant::from_int64(DType::u64, -1)), "18446744073709551615ull");
  EXPECT_EQ(literal(Constant::from_bool(true)), "true");
}

}  // namespace
}  // namespace plait
