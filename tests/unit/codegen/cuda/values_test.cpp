// What CUDA kernels compute: their text, compiled as host C++, against the meaning of the ops.
#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <random>

#include "base/error.h"
#include "codegen/cuda/write.h"
#include "scalar/convert.h"
#include "scalar/philox.h"
#include "support/host_shim.h"
#include "support/host_shim_kernels.h"

namespace plait {
namespace {

using namespace test;

// Buffers of a kernel's arguments, with guards behind their ends.
class Arguments {
 public:
  void* add(DType dtype, int64_t elements) {
    const size_t bytes = size_t(elements) * size_of(dtype);
    memory_.push_back(std::make_unique<std::byte[]>(bytes + 128));
    std::byte* start = memory_.back().get();
    start += (64 - reinterpret_cast<uintptr_t>(start) % 64) % 64;
    std::memset(start, 0xab, bytes + 16);
    ends_.push_back(start + bytes);
    pointers.push_back(start);
    return start;
  }
  void* add(DType dtype, const std::vector<double>& values) {
    auto* start = static_cast<std::byte*>(add(dtype, int64_t(values.size())));
    for (size_t i = 0; i < values.size(); ++i) store_double(dtype, start + i * size_of(dtype), values[i]);
    return start;
  }
  void run(const kir::Kernel& kernel, std::vector<int64_t> integers) {
    kir::verify(kernel);
    launch(kernel, *compile_host_cuda(kernel), pointers, integers);
    for (const std::byte* end : ends_)
      for (int i = 0; i < 16; ++i) ASSERT_EQ(end[i], std::byte{0xab}) << kernel.name << " writes past an end";
  }
  double at(size_t buffer, DType dtype, int64_t i) const {
    return load_double(dtype, static_cast<const std::byte*>(pointers[buffer]) + size_t(i) * size_of(dtype));
  }
  const std::byte* bytes(size_t buffer, DType dtype, int64_t i) const {
    return static_cast<const std::byte*>(pointers[buffer]) + size_t(i) * size_of(dtype);
  }

  std::vector<void*> pointers;

 private:
  std::vector<std::unique_ptr<std::byte[]>> memory_;
  std::vector<std::byte*> ends_;
};

class AllOps : public testing::TestWithParam<std::tuple<DType, int>> {};

TEST_P(AllOps, WithinBounds) {
  const auto [dtype, lanes] = GetParam();
  const int64_t n = 2003;
  std::vector<Pointwise> ops;
  const kir::Kernel kernel = all_ops_kernel(dtype, lanes, &ops);
  const std::vector<double> a = samples(dtype, n, 1), b = samples(dtype, n, 2), c = samples(DType::boolean, n, 3);
  Arguments arguments;
  arguments.add(dtype, a);
  arguments.add(dtype, b);
  arguments.add(DType::boolean, c);
  for (size_t i = 0; i < ops.size(); ++i) arguments.add(kernel.buffers[3 + i].dtype, n);
  arguments.run(kernel, {n});
  for (size_t i = 0; i < ops.size(); ++i) {
    const DType out = kernel.buffers[3 + i].dtype;
    int bad = 0;
    for (int64_t at = 0; at < n && bad < 3; ++at) {
      if (is_float(dtype)) {
        const std::vector<double> in = operands(ops[i], a[size_t(at)], b[size_t(at)], c[size_t(at)] != 0);
        const double got = arguments.at(3 + i, out, at);
        if (within(ops[i], out == DType::boolean ? out : dtype, in, got)) continue;
        ADD_FAILURE() << name(ops[i]) << "(" << in[0] << ", " << in.back() << ") = " << got << " not "
                      << evaluate(ops[i], in);
      } else {
        const int64_t x = load_int64(dtype, arguments.bytes(0, dtype, at));
        const int64_t y = load_int64(dtype, arguments.bytes(1, dtype, at));
        const std::vector<int64_t> integers = operands(ops[i], dtype, x, y, c[size_t(at)] != 0);
        int64_t expected = evaluate_int(ops[i], integers, dtype);
        std::byte stored[8];
        store_int64(out, stored, expected);
        if (std::memcmp(stored, arguments.bytes(3 + i, out, at), size_of(out)) == 0) continue;
        ADD_FAILURE() << name(ops[i]) << "(" << integers[0] << ", " << integers.back()
                      << ") = " << load_int64(out, arguments.bytes(3 + i, out, at)) << " not " << expected;
      }
      ++bad;
    }
  }
}

INSTANTIATE_TEST_SUITE_P(
    Types, AllOps,
    testing::Values(std::tuple{DType::f32, 4}, std::tuple{DType::f64, 2}, std::tuple{DType::i64, 2},
                    std::tuple{DType::u32, 4}, std::tuple{DType::u64, 1}, std::tuple{DType::boolean, 8},
                    std::tuple{DType::bf16, 8}, std::tuple{DType::f16, 8}, std::tuple{DType::f32, 1},
                    std::tuple{DType::i8, 16}, std::tuple{DType::i16, 8}, std::tuple{DType::i32, 4},
                    std::tuple{DType::u8, 2}, std::tuple{DType::u16, 2}, std::tuple{DType::f8e4m3, 16},
                    std::tuple{DType::f8e5m2, 4}, std::tuple{DType::u8, 8}),
    [](const auto& info) {
      return std::string(name(std::get<0>(info.param))) + "x" + std::to_string(std::get<1>(info.param));
    });

TEST(Casts, EveryPairOfTypes) {
  const int64_t n = 1023;
  for (int from = 0; from < kDTypeCount; ++from) {
    const DType in = DType(from);
    const kir::Kernel kernel = casts_kernel(in, 4);
    Arguments arguments;
    arguments.add(in, samples(in, n, 7));
    for (int to = 0; to < kDTypeCount; ++to) arguments.add(DType(to), n);
    arguments.run(kernel, {n});
    for (int to = 0; to < kDTypeCount; ++to) {
      const DType out = DType(to);
      for (int64_t i = 0; i < n; ++i) {
        const std::byte* source = arguments.bytes(0, in, i);
        std::byte expected[8];
        store_cast(in, source, out, expected);
        ASSERT_TRUE(same(load_double(out, expected), arguments.at(size_t(1 + to), out, i)))
            << name(in) << " " << load_double(in, source) << " as " << name(out) << " is "
            << arguments.at(size_t(1 + to), out, i);
      }
    }
  }
}

// Lengths around whole vectors and blocks, for every vector width.
TEST(Tails, EveryLength) {
  for (const DType dtype : {DType::f32, DType::bf16, DType::i64, DType::u8, DType::i16}) {
    for (const int lanes : {1, 2, 4, 8}) {
      const kir::Kernel kernel = add_kernel(dtype, lanes);
      for (const int64_t n : {0, 1, 2, 3, 7, 8, 9, 127, 128, 129, 1023, 1024, 1025, 3001}) {
        std::vector<double> a, b;
        for (int64_t i = 0; i < n; ++i) a.push_back(double(i % 97)), b.push_back(double(i % 31));
        Arguments arguments;
        arguments.add(dtype, a);
        arguments.add(dtype, b);
        arguments.add(dtype, n);
        arguments.run(kernel, {n});
        for (int64_t i = 0; i < n; ++i) ASSERT_EQ(arguments.at(2, dtype, i), double(i % 97 + i % 31)) << n << " " << i;
      }
    }
  }
}

TEST(BiasGeluDropout, AllWidths) {
  const int64_t n = 768 * 5 + 3;
  const std::vector<double> x = samples(DType::f32, n, 11);
  std::vector<double> bias(768, 0.25);
  for (const int lanes : {1, 2, 4, 8}) {
    Arguments arguments;
    arguments.add(DType::f32, x);
    arguments.add(DType::f32, bias);
    *static_cast<uint64_t*>(arguments.add(DType::u64, 1)) = 0x123456789abcdefull;
    arguments.add(DType::f32, n);
    arguments.run(bias_gelu_dropout_kernel(DType::f32, lanes), {n});
    for (int64_t i = 0; i < n; ++i) {
      const bool keep = uniform_f32(0x123456789abcdefull, uint64_t(i), 3) >= 0.1f;
      const double sum = round_to(DType::f32, x[size_t(i)] + 0.25);
      const double g = evaluate(Pointwise::gelu_tanh, std::vector<double>{sum});
      const double bound = own_error(Pointwise::gelu_tanh, DType::f32, std::vector<double>{sum}, g);
      const double expected = keep ? g / 0.9 : 0, got = arguments.at(3, DType::f32, i);
      if (std::isnan(expected)) {
        ASSERT_TRUE(std::isnan(got)) << i;
      } else if (std::abs(expected) <= 3e38) {
        ASSERT_LE(std::abs(got - expected), 1.2 * bound + 2e-7 * std::abs(expected)) << x[size_t(i)];
      }
    }
  }
}

// Aligned and unaligned sequences, each bit for bit.
TEST(Random, BitEqual) {
  for (const int lanes : {1, 2, 4, 8}) {
    for (const int64_t shift : {0, 4, 5}) {
      KernelBuilder k(fmt::format("random_{}_{}", lanes, shift), TargetKind::cuda);
      const sym::Expr n = k.integer("n");
      const uint32_t seed = k.reads("seed", DType::u64, k.number(1)), out = k.writes("out", DType::f32, n);
      const kir::Value key = k.load(seed, k.number(0), 1, kir::Access::splat);
      each_vector(k, n, lanes, 32, [&](sym::Expr at, kir::Access access, sym::Expr active) {
        k.store(out, at, k.random(key, at + shift, 0x500000001ull, lanes), access, active);
      });
      const int64_t count = 1001;
      Arguments arguments;
      *static_cast<uint64_t*>(arguments.add(DType::u64, 1)) = 0xfedcba9876543210ull;
      arguments.add(DType::f32, count);
      arguments.run(k.kernel, {count});
      for (int64_t i = 0; i < count; ++i)
        ASSERT_EQ(arguments.at(1, DType::f32, i),
                  uniform_f32(0xfedcba9876543210ull, uint64_t(i + shift), 0x500000001ull));
    }
  }
}

TEST(Loops, SerialSums) {
  const int64_t rows = 70, columns = 40;
  std::vector<double> x;
  for (int64_t i = 0; i < rows * columns; ++i) x.push_back(double(i * 7 % 5) - 2);
  Arguments by_row;
  by_row.add(DType::bf16, x);
  by_row.add(DType::bf16, rows);
  by_row.run(row_sum_kernel(), {rows, columns});
  Arguments by_column;
  by_column.add(DType::f32, x);
  by_column.add(DType::f32, columns);
  by_column.run(column_sum_kernel(), {rows, columns});
  for (int64_t r = 0; r < rows; ++r) {
    double sum = 0;
    for (int64_t c = 0; c < columns; ++c) sum += x[size_t(r * columns + c)];
    EXPECT_EQ(by_row.at(1, DType::bf16, r), sum);
  }
  for (int64_t c = 0; c < columns; ++c) {
    double sum = 0;
    for (int64_t r = 0; r < rows; ++r) sum += x[size_t(r * columns + c)];
    EXPECT_EQ(by_column.at(1, DType::f32, c), sum);
  }
}

TEST(Lanewise, Transpose) {
  const int64_t rows = 70, columns = 6;
  std::vector<double> x;
  for (int64_t i = 0; i < rows * columns; ++i) x.push_back(double(i));
  Arguments arguments;
  arguments.add(DType::f32, x);
  arguments.add(DType::f32, std::vector<double>{0, 1000, 2000});
  arguments.add(DType::f32, rows * columns);
  arguments.run(transpose_kernel(), {rows, columns});
  for (int64_t i = 0; i < columns; ++i)
    for (int64_t j = 0; j < rows; ++j)
      ASSERT_EQ(arguments.at(2, DType::f32, i * rows + j), x[size_t(j * columns + i)] + double(j % 3 * 1000));
}

// Index expressions of every kind, on negative values, too.
TEST(Indices, EveryKind) {
  KernelBuilder k("indices", TargetKind::cuda);
  const sym::Expr n = k.integer("n"), s = k.integer("s", {});
  const sym::Expr i = k.loop("i", n, kir::LoopKind::thread_x);
  const sym::Expr d = i - s;
  const std::vector<sym::Expr> indices = {
      d,
      -d,
      i * d,
      sym::floordiv(d, 3),
      sym::mod(d, 3),
      sym::floordiv(i, 3) * 5 - sym::mod(i, 3),
      sym::min(d, i * 2 - 9),
      sym::max(sym::max(d, 4), -i),
      sym::select(sym::lt(d, 0), d * 2, d - 100),
      sym::lt(d, 3) * 7 + sym::le(d, 1),
      sym::eq(d, 2),
      sym::ne(d, 2),
      sym::logical_and(sym::ge(d, 0), sym::logical_or(sym::eq(d, 3), sym::gt(d, 5))),
      sym::logical_not(sym::logical_and(d, i)),
      sym::chunk(n, k.number(4), sym::mod(i, 4), 3),
      sym::chunk_start(n, k.number(4), sym::mod(i, 4), 3),
      sym::floordiv(i * 5000000000, 7),
      sym::mod(i, sym::max(d, 1)),
      sym::floordiv(i, sym::floordiv(i, 2) + 1),
      sym::floordiv(sym::floordiv(i, 2) * sym::mod(i, 5), 3) - (d - i * 3)};
  std::vector<uint32_t> outs;
  for (size_t e = 0; e < indices.size(); ++e) outs.push_back(k.writes(fmt::format("o{}", e), DType::i64, n));
  for (size_t e = 0; e < indices.size(); ++e) k.store(outs[e], i, k.coordinate(indices[e], 1), kir::Access::contiguous);
  const int64_t count = 29;
  Arguments arguments;
  for (size_t e = 0; e < indices.size(); ++e) arguments.add(DType::i64, count);
  arguments.run(k.kernel, {count, 13});
  for (size_t e = 0; e < indices.size(); ++e)
    for (int64_t at = 0; at < count; ++at)
      EXPECT_EQ(load_int64(DType::i64, arguments.bytes(e, DType::i64, at)),
                sym::evaluate(indices[e], {{"i", at}, {"n", count}, {"s", 13}}))
          << sym::print(indices[e]) << " at " << at;
}

TEST(Narrow, RoundOnceFromF64) {
  std::mt19937_64 random(5);
  std::vector<double> x;
  for (int i = 0; i < 4096; ++i) {
    const uint16_t half = uint16_t(random());
    const double base = i % 2 ? f16_to_double(half) : bf16_to_double(half);
    x.push_back(base * (1 + std::ldexp(1.0, -9 - int(random() % 3)) * (random() % 2 ? 1 + 1e-14 : 1)));
  }
  const int64_t n = int64_t(x.size());
  KernelBuilder k("round", TargetKind::cuda);
  const uint32_t in = k.reads("x", DType::f64, k.number(n)), kept = k.writes("kept", DType::f64, k.number(n));
  const uint32_t f16 = k.writes("f16", DType::f16, k.number(n)), bf16 = k.writes("bf16", DType::bf16, k.number(n));
  const sym::Expr block = k.loop("block", k.number(n / 256), kir::LoopKind::block_x);
  const sym::Expr at = (block * 64 + k.loop("thread", k.number(64), kir::LoopKind::thread_x)) * 4 + k.lane;
  const kir::Value v = k.load(in, at, 4, kir::Access::aligned);
  k.store(f16, at, v, kir::Access::aligned);
  k.store(bf16, at, v, kir::Access::aligned);
  k.store(kept, at, k.round(v, DType::bf16), kir::Access::aligned);
  Arguments arguments;
  arguments.add(DType::f64, x);
  arguments.add(DType::f64, n);
  arguments.add(DType::f16, n);
  arguments.add(DType::bf16, n);
  arguments.run(k.kernel, {});
  for (int64_t i = 0; i < n; ++i) {
    ASSERT_TRUE(same(arguments.at(2, DType::f16, i), round_to(DType::f16, x[size_t(i)])))
        << x[size_t(i)] << " is " << arguments.at(2, DType::f16, i);
    ASSERT_TRUE(same(arguments.at(3, DType::bf16, i), round_to(DType::bf16, x[size_t(i)]))) << x[size_t(i)];
    ASSERT_TRUE(same(arguments.at(1, DType::f64, i), round_to(DType::bf16, x[size_t(i)]))) << x[size_t(i)];
  }
}

// Scalars among vectors: splat loads, converted scalars, constants stored as vectors, one-lane masks.
TEST(Uniform, SpreadOverLanes) {
  KernelBuilder k("uniform", TargetKind::cuda);
  const uint32_t in = k.reads("x", DType::f32, k.number(8)), out = k.writes("y", DType::f32, k.number(64));
  const uint32_t ones = k.writes("ones", DType::bf16, k.number(64)), sums = k.writes("sums", DType::f32, k.number(64));
  const sym::Expr first = k.loop("thread", k.number(8), kir::LoopKind::thread_x) * 8;
  const kir::Value coordinates = k.convert(k.coordinate(first + k.lane, 8), DType::f32, 8);
  const kir::Value splat = k.load(in, sym::floordiv(first, 8), 8, kir::Access::splat);
  const kir::Value scalar = k.convert(k.load(in, k.number(1), 1, kir::Access::contiguous), DType::f64, 1);
  const kir::Value spread = k.convert(scalar, DType::f32, 8);
  k.store(ones, first + k.lane, k.literal(DType::f32, 1, 8), kir::Access::aligned);
  k.store(out, first + k.lane, splat, kir::Access::aligned);
  const kir::Value sum = k.compute(Pointwise::add, {coordinates, k.compute(Pointwise::add, {splat, spread})});
  k.store(sums, first + k.lane, sum, kir::Access::lanewise, k.number(7));
  Arguments arguments;
  arguments.add(DType::f32, std::vector<double>{10, 20, 30, 40, 50, 60, 70, 80});
  arguments.add(DType::f32, 64);
  arguments.add(DType::bf16, 64);
  arguments.add(DType::f32, std::vector<double>(64, -1));
  arguments.run(k.kernel, {});
  for (int64_t i = 0; i < 64; ++i) {
    EXPECT_EQ(arguments.at(1, DType::f32, i), double(i / 8 * 10 + 10));
    EXPECT_EQ(arguments.at(2, DType::bf16, i), 1);
    EXPECT_EQ(arguments.at(3, DType::f32, i), i % 8 == 7 ? -1 : double(i + i / 8 * 10 + 30));
  }
}

// Every narrow value, and every float near a rounding boundary, through the shim's own conversions.
TEST(Shim, NarrowConversionsAreExact) {
  for (const DType dtype : {DType::f16, DType::bf16}) {
    const kir::Kernel kernel = casts_kernel(dtype, 8);
    Arguments arguments;
    auto* bits = static_cast<uint16_t*>(arguments.add(dtype, 65536));
    for (int i = 0; i < 65536; ++i) bits[i] = uint16_t(i);
    for (int to = 0; to < kDTypeCount; ++to) arguments.add(DType(to), 65536);
    arguments.run(kernel, {65536});
    for (int64_t i = 0; i < 65536; ++i)
      ASSERT_TRUE(same(arguments.at(size_t(1 + int(dtype)), dtype, i), arguments.at(0, dtype, i))) << i;
  }
  const kir::Kernel kernel = casts_kernel(DType::f32, 4);
  std::vector<double> x;
  for (uint32_t half = 0; half < 65536; half += 3)
    for (const double x0 : {f16_to_double(uint16_t(half)), bf16_to_double(uint16_t(half))})
      for (const uint32_t step : {0u, 0x7fffu, 0x8000u, 0x8001u, 0xfffu, 0x1000u, 0x1001u}) {
        const float value = float(x0);
        uint32_t word;
        std::memcpy(&word, &value, 4);
        word += step;
        float moved;
        std::memcpy(&moved, &word, 4);
        x.push_back(double(moved));
      }
  const int64_t n = int64_t(x.size());
  Arguments arguments;
  arguments.add(DType::f32, x);
  for (int to = 0; to < kDTypeCount; ++to) arguments.add(DType(to), n);
  arguments.run(kernel, {n});
  for (const DType to : {DType::f16, DType::bf16})
    for (int64_t i = 0; i < n; ++i)
      ASSERT_TRUE(same(arguments.at(size_t(1 + int(to)), to, i), round_to(to, x[size_t(i)]))) << x[size_t(i)];
}

TEST(Shim, DeviceCompilesAndAllocates) {
  const std::unique_ptr<Device> device = make_shim_device();
  EXPECT_EQ(device->name(), "host_cuda");
  const kir::Kernel kernel = add_kernel(DType::f32, 4);
  const KernelText text{kernel.name, write_cuda(kernel), 3, 1};
  EXPECT_EQ(device->compile(text, nullptr), device->compile(text, nullptr)) << "cached by content while in use";
  std::string why_not;
  EXPECT_EQ(device->library({}, &why_not), nullptr);
  EXPECT_FALSE(why_not.empty());
  EXPECT_EQ(device->allocator().allocate(256)->bytes(), 256u);
  try {
    device->compile({"k", "extern \"C\" __global__ void k() { missing(); }", 0, 0}, nullptr);
    FAIL();
  } catch (const InternalError& error) {
    EXPECT_NE(error.message().find("missing"), std::string::npos);
  }
}

}  // namespace
}  // namespace plait
