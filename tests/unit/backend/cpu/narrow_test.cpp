// f16 and bf16 in memory: widening and rounding exhaustively against scalar/convert.h.
#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <cstring>

#include "scalar/convert.h"
#include "support/kernel_run.h"

namespace plait {
namespace {

using test::Style;

constexpr DType kNarrow[] = {DType::f16, DType::bf16};

double widened(DType narrow, uint16_t bits) {
  return narrow == DType::f16 ? f16_to_double(bits) : bf16_to_double(bits);
}

uint16_t rounded(DType narrow, double value) {
  return narrow == DType::f16 ? f16_from_double(value) : bf16_from_double(value);
}

Tensor all_narrow(DType dtype) {
  Tensor x = Tensor::empty(dtype, {65536});
  for (int i = 0; i < 65536; ++i) static_cast<uint16_t*>(x.data())[i] = uint16_t(i);
  return x;
}

kir::Kernel copy_kernel(DType from, DType to, int lanes) {
  return test::pointwise_kernel({from}, to, lanes, Style::active,
                                [](test::KernelBuilder&, const auto& v) { return v[0]; });
}

TEST(CpuNarrow, WidensEveryBitPattern) {
  for (DType narrow : kNarrow) {
    const Tensor x = all_narrow(narrow);
    for (int lanes : test::lane_counts()) {
      const Tensor y = Tensor::empty(DType::f32, x.shape);
      test::run(copy_kernel(narrow, DType::f32, lanes), {x, y}, {65536});
      for (int i = 0; i < 65536; ++i) {
        const float got = static_cast<float*>(y.data())[i];
        const double expected = widened(narrow, uint16_t(i));
        const bool same = std::isnan(expected) ? std::isnan(got) : got == expected;
        ASSERT_TRUE(same && std::signbit(got) == std::signbit(expected)) << name(narrow) << " " << i;
      }
    }
  }
}

TEST(CpuNarrow, CopiesEveryBitPattern) {
  for (DType narrow : kNarrow) {
    const Tensor x = all_narrow(narrow), y = Tensor::empty(narrow, x.shape);
    test::run(copy_kernel(narrow, narrow, 8), {x, y}, {65536});
    for (int i = 0; i < 65536; ++i) {
      const double value = widened(narrow, uint16_t(i));
      const uint16_t got = static_cast<uint16_t*>(y.data())[i];
      const bool quieted = std::isnan(value) && got == rounded(narrow, value);  // or as it was
      ASSERT_TRUE(got == uint16_t(i) || quieted) << name(narrow) << " " << i;
    }
  }
}

// Every narrow value, its midpoint with the next one, and the neighbours of both in the wider type.
std::vector<double> hard_cases(DType narrow, bool in_f32) {
  std::vector<double> cases;
  for (int i = 0; i < 65536; ++i) {
    const double value = widened(narrow, uint16_t(i)), next = widened(narrow, uint16_t(i + 1));
    for (double point : {value, value / 2 + next / 2}) {
      if (in_f32) {
        const float f = float(point);
        for (float v : {f, std::nextafter(f, INFINITY), std::nextafter(f, -INFINITY)}) cases.push_back(v);
      } else {
        for (double v : {point, std::nextafter(point, INFINITY), std::nextafter(point, -INFINITY)}) cases.push_back(v);
      }
    }
  }
  return cases;
}

void expect_rounded(DType narrow, const Tensor& x, const Tensor& y) {
  for (int64_t i = 0; i < x.elements(); ++i) {
    ASSERT_EQ(static_cast<uint16_t*>(y.data())[i], rounded(narrow, x.at(i))) << name(narrow) << " of " << x.at(i);
  }
}

TEST(CpuNarrow, RoundsAroundEveryBoundary) {
  for (DType narrow : kNarrow) {
    for (DType wide : {DType::f32, DType::f64}) {
      const std::vector<double> cases = hard_cases(narrow, wide == DType::f32);
      const Tensor x = Tensor::from_doubles(wide, {int64_t(cases.size())}, cases);
      for (int lanes : {1, 8}) {
        const Tensor y = Tensor::empty(narrow, x.shape);
        test::run(copy_kernel(wide, narrow, lanes), {x, y}, {x.elements()});
        expect_rounded(narrow, x, y);
      }
    }
  }
}

void sweep(uint64_t stride) {
  constexpr int64_t kBlock = 1 << 18;
  const Tensor x = Tensor::empty(DType::f32, {kBlock}), y = Tensor::empty(DType::f16, {kBlock});
  const auto* in = static_cast<const float*>(x.data());
  const auto* out = static_cast<const uint16_t*>(y.data());
  for (DType narrow : kNarrow) {
    const kir::Kernel kernel = copy_kernel(DType::f32, narrow, 8);
    const auto round = narrow == DType::f16 ? f16_from_float : bf16_from_float;
    for (uint64_t first = 0; first < uint64_t(1) << 32; first += stride * kBlock) {
      for (int64_t i = 0; i < kBlock; ++i) {
        static_cast<uint32_t*>(x.data())[i] = uint32_t(first + uint64_t(i) * stride);
      }
      test::run(kernel, {x, y}, {kBlock});
      for (int64_t i = 0; i < kBlock; ++i)
        if (out[i] != round(in[i])) FAIL() << name(narrow) << " of " << in[i] << " is " << out[i];
    }
  }
}

TEST(CpuNarrow, RoundsSampledF32) { sweep(4099); }
TEST(CpuNarrow, LongRunRoundsEveryF32) { sweep(1); }

TEST(CpuNarrow, RoundStatement) {
  for (DType narrow : kNarrow) {
    for (DType wide : {DType::f32, DType::f64}) {
      const std::vector<double> cases = hard_cases(narrow, wide == DType::f32);
      const Tensor x = Tensor::from_doubles(wide, {int64_t(cases.size())}, cases), y = Tensor::empty(wide, x.shape);
      const auto body = [&](test::KernelBuilder& b, const auto& v) { return b.round(v[0], narrow); };
      test::run(test::pointwise_kernel({wide}, wide, 8, Style::active, body), {x, y}, {x.elements()});
      for (int64_t i = 0; i < x.elements(); ++i) {
        const double expected = round_to(narrow, x.at(i)), got = y.at(i);
        ASSERT_TRUE(got == expected || (std::isnan(got) && std::isnan(expected))) << x.at(i);
      }
    }
  }
}

TEST(CpuNarrow, F64IntoF32RoundsOnce) {
  const std::vector<double> cases{1 + 0x1p-24, 1 + 0x1p-24 + 0x1p-52, 1e300, -1e300, 0x1p-150,
                                  0x1.8p-149,  std::nan("")};
  const Tensor x = Tensor::from_doubles(DType::f64, {7}, cases), y = Tensor::empty(DType::f32, {7});
  test::run(copy_kernel(DType::f64, DType::f32, 4), {x, y}, {7});
  for (int i = 0; i < 6; ++i) EXPECT_EQ(y.at(i), round_to(DType::f32, cases[size_t(i)]));
  EXPECT_TRUE(std::isnan(y.at(6)));
}

}  // namespace
}  // namespace plait
