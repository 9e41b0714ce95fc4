// The types that live in memory only, beside f16 and bf16 (narrow_test.cpp): f8 and the integers of 8 and 16 bits.
#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <cstring>
#include <random>

#include "kir/expand_functions.h"
#include "scalar/convert.h"
#include "support/kernel_run.h"
#include "support/pointwise_values.h"

namespace plait {
namespace {

using test::Style;

constexpr DType kFloats[] = {DType::f8e4m3, DType::f8e5m2};
constexpr DType kIntegers[] = {DType::i8, DType::i16, DType::u8, DType::u16};

kir::Kernel copy_kernel(DType from, DType to, int lanes, Style style = Style::active) {
  return test::pointwise_kernel({from}, to, lanes, style, [&](test::KernelBuilder&, const auto& v) { return v[0]; });
}

// Every pattern of a type of 8 or 16 bits.
Tensor all_patterns(DType dtype) {
  const int count = 1 << (8 * size_of(dtype));
  Tensor x = Tensor::empty(dtype, {count});
  for (int i = 0; i < count; ++i) {
    const auto bits = uint16_t(i);
    std::memcpy(static_cast<std::byte*>(x.data()) + size_t(i) * size_of(dtype), &bits, size_of(dtype));
  }
  return x;
}

bool same(double a, double b) {
  return (std::isnan(a) && std::isnan(b)) || (a == b && std::signbit(a) == std::signbit(b));
}

TEST(CpuStorage, WidensEveryPatternAndCopiesIt) {
  for (const DType dtype : {DType::f8e4m3, DType::f8e5m2, DType::i8, DType::i16, DType::u8, DType::u16}) {
    const Tensor x = all_patterns(dtype);
    const DType wide = compute_type(dtype);
    for (int lanes : test::lane_counts()) {
      for (const Style style : {Style::active, Style::contiguous, Style::lanewise}) {
        const Tensor y = Tensor::empty(wide, x.shape), copy = Tensor::empty(dtype, x.shape);
        test::run(copy_kernel(dtype, wide, lanes, style), {x, y}, {x.elements()});
        test::run(copy_kernel(dtype, dtype, lanes, style), {x, copy}, {x.elements()});
        for (int64_t i = 0; i < x.elements(); ++i) {
          ASSERT_TRUE(same(y.at(i), x.at(i))) << name(dtype) << " " << i;
          ASSERT_TRUE(same(copy.at(i), x.at(i))) << name(dtype) << " " << i;
        }
      }
    }
  }
}

// Every f8, its midpoint with the next one, the ends, and the neighbours of all of them in the wider type.
std::vector<double> hard_cases(DType dtype, DType wide) {
  std::vector<double> points = {464, 480, 61440, 65536, 1e9, 1e-20, INFINITY, -INFINITY, NAN};
  const Tensor all = all_patterns(dtype);
  for (int i = 0; i + 1 < 256; ++i) points.insert(points.end(), {all.at(i), (all.at(i) + all.at(i + 1)) / 2});
  std::vector<double> cases;
  for (const double point : points) {
    if (wide == DType::f32) {
      const float f = float(point);
      for (float v : {f, std::nextafter(f, HUGE_VALF), std::nextafter(f, -HUGE_VALF)}) cases.push_back(double(v));
    } else {
      for (double v : {point, std::nextafter(point, HUGE_VAL), std::nextafter(point, -HUGE_VAL)}) cases.push_back(v);
    }
  }
  return cases;
}

TEST(CpuStorage, F8RoundsAroundEveryBoundary) {
  for (const DType dtype : kFloats) {
    for (const DType wide : {DType::f32, DType::f64}) {
      const std::vector<double> cases = hard_cases(dtype, wide);
      const Tensor x = Tensor::from_doubles(wide, {int64_t(cases.size())}, cases);
      for (int lanes : test::lane_counts()) {
        const Tensor y = Tensor::empty(dtype, x.shape), z = Tensor::empty(wide, x.shape);
        test::run(copy_kernel(wide, dtype, lanes), {x, y}, {x.elements()});
        const auto body = [&](test::KernelBuilder& b, const auto& v) { return b.round(v[0], dtype); };
        test::run(test::pointwise_kernel({wide}, wide, lanes, Style::active, body), {x, z}, {x.elements()});
        for (int64_t i = 0; i < x.elements(); ++i) {
          ASSERT_TRUE(same(y.at(i), round_to(dtype, x.at(i)))) << name(dtype) << " of " << x.at(i) << " is " << y.at(i);
          ASSERT_TRUE(same(z.at(i), round_to(dtype, x.at(i)))) << name(dtype) << " of " << x.at(i) << " is " << z.at(i);
        }
      }
    }
  }
}

void sweep(uint64_t stride) {
  constexpr int64_t kBlock = 1 << 18;
  const Tensor x = Tensor::empty(DType::f32, {kBlock}), y = Tensor::empty(DType::u8, {kBlock});
  const auto* in = static_cast<const float*>(x.data());
  const auto* out = static_cast<const uint8_t*>(y.data());
  for (const DType dtype : kFloats) {
    const auto round = dtype == DType::f8e4m3 ? f8e4m3_from_float : f8e5m2_from_float;
    const auto executable = test::shared_cpu().compile(test::text_of(copy_kernel(DType::f32, dtype, 8)), nullptr);
    for (uint64_t first = 0; first < uint64_t(1) << 32; first += stride * kBlock) {
      for (int64_t i = 0; i < kBlock; ++i) static_cast<uint32_t*>(x.data())[i] = uint32_t(first + uint64_t(i) * stride);
      test::launch(*executable, copy_kernel(DType::f32, dtype, 8), {x, y}, {kBlock});
      for (int64_t i = 0; i < kBlock; ++i)
        if (out[i] != round(in[i])) FAIL() << name(dtype) << " of " << in[i] << " is " << int(out[i]);
    }
  }
}

TEST(CpuStorage, F8RoundsSampledF32) { sweep(4099); }
TEST(CpuStorage, LongRunF8RoundsEveryF32) { sweep(1); }

TEST(CpuStorage, IntegersWrapInStoresAndRounds) {
  std::mt19937_64 random(3);
  for (const DType dtype : kIntegers) {
    const DType wide = compute_type(dtype);
    const Tensor x = Tensor::empty(wide, {100000});
    for (int64_t i = 0; i < x.elements(); ++i)
      static_cast<uint32_t*>(x.data())[i] = i < 70000 ? uint32_t(i - 35000) : uint32_t(random());
    for (int lanes : test::lane_counts()) {
      const Tensor y = Tensor::empty(dtype, x.shape), z = Tensor::empty(wide, x.shape);
      test::run(copy_kernel(wide, dtype, lanes), {x, y}, {x.elements()});
      const auto body = [&](test::KernelBuilder& b, const auto& v) { return b.round(v[0], dtype); };
      test::run(test::pointwise_kernel({wide}, wide, lanes, Style::active, body), {x, z}, {x.elements()});
      for (int64_t i = 0; i < x.elements(); ++i) {
        const double expected = double(wrap_to(dtype, int64_t(x.at(i))));
        ASSERT_EQ(y.at(i), expected) << name(dtype) << " of " << x.at(i);
        ASSERT_EQ(z.at(i), expected) << name(dtype) << " of " << x.at(i);
      }
    }
  }
}

// Functions of one and two operands, and `where`, on every pair of patterns of 8 bits, or on random ones of 16 bits and
// i32, stored in the operands' type.
TEST(CpuStorage, FunctionsOfIntegers) {
  std::mt19937_64 random(4);
  for (const DType dtype : {DType::i8, DType::i16, DType::i32, DType::u8, DType::u16}) {
    const int64_t n = 65536;
    Tensor a = Tensor::empty(dtype, {n}), b = Tensor::empty(dtype, {n}), c = Tensor::empty(DType::boolean, {n});
    const auto at = [&](const Tensor& t, int64_t i) {
      return static_cast<std::byte*>(t.data()) + size_t(i) * size_of(t.dtype);
    };
    for (int64_t i = 0; i < n; ++i) {
      const bool all = size_of(dtype) == 1;
      store_int64(dtype, at(a, i), all ? i & 255 : int64_t(random()) >> (random() % 2 ? 56 : 0));
      store_int64(dtype, at(b, i), all ? i >> 8 : int64_t(random()) >> (random() % 2 ? 60 : 0));
      store_int64(DType::boolean, at(c, i), int64_t(random() % 2));
    }
    for (int k = 0; k < kPointwiseCount; ++k) {
      const auto op = Pointwise(k);
      if (!test::computes_in(op, dtype)) continue;
      const DType out = test::result_in(op, dtype);
      const int arity = info(op).arity;
      const bool selects = op == Pointwise::where;
      const auto body = [&](test::KernelBuilder& builder, const auto& v) {
        std::vector<kir::Value> in(v.begin(), v.begin() + std::min(arity, 2));
        if (selects) in = {v[2], v[0], v[1]};
        return builder.compute(op, in);
      };
      if (arity > 2 && !selects) continue;
      const Tensor y = Tensor::empty(out, {n});
      kir::Kernel kernel = test::pointwise_kernel({dtype, dtype, DType::boolean}, out, 8, Style::active, body);
      kir::expand_functions(kernel);
      test::run(kernel, {a, b, c, y}, {n});
      for (int64_t i = 0; i < n; ++i) {
        std::vector<int64_t> in = {load_int64(dtype, at(a, i)), load_int64(dtype, at(b, i))};
        in.resize(size_t(std::min(arity, 2)));
        if (selects) in.insert(in.begin(), load_int64(DType::boolean, at(c, i)));
        std::byte expected[8];
        store_int64(out, expected, evaluate_int(op, in, dtype));
        ASSERT_EQ(std::memcmp(expected, at(y, i), size_of(out)), 0)
            << name(op) << " of " << name(dtype) << " " << in[0] << ", " << in.back() << " is " << y.at(i);
      }
    }
  }
}

}  // namespace
}  // namespace plait
