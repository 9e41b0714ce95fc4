// Statements of kernel IR as compiled: loops, conditions, variables, accesses, tails, conversions, random numbers.
#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <limits>

#include "scalar/convert.h"
#include "scalar/philox.h"
#include "support/kernel_run.h"

namespace plait {
namespace {

using kir::Access;
using kir::LoopKind;
using kir::Value;
using test::KernelBuilder;
using test::Style;

Tensor counting(DType dtype, int64_t count, double scale = 1) {
  std::vector<double> values;
  for (int64_t i = 0; i < count; ++i) values.push_back(double(i % 251) * scale);
  return Tensor::from_doubles(dtype, {count}, values);
}

// A tensor of `count` elements inside of a larger one whose other elements are marked.
struct Guarded {
  Tensor whole, inner;
  Guarded(DType dtype, int64_t count) : whole(Tensor::empty(dtype, {count + 128})), inner(whole) {
    std::memset(whole.data(), 1, whole.bytes());
    inner.shape = {count};
    inner.byte_offset = 64;
  }
  bool untouched() const {
    const auto* bytes = static_cast<const unsigned char*>(whole.data());
    for (size_t i = 0; i < whole.bytes(); ++i) {
      if ((i < 64 || i >= 64 + inner.bytes()) && bytes[i] != 1) return false;
    }
    return true;
  }
};

// Every dtype, lane count and way to touch memory; lengths around multiples of the lanes, 0 included.
TEST(CpuKernels, CopiesOfEveryDTypeAndLength) {
  for (int d = 0; d < kDTypeCount; ++d) {
    const auto dtype = DType(d);
    for (int lanes : test::lane_counts()) {
      for (Style style : {Style::contiguous, Style::active, Style::lanewise}) {
        const kir::Kernel kernel =
            test::pointwise_kernel({dtype}, dtype, lanes, style, [](KernelBuilder&, const auto& v) { return v[0]; });
        const auto executable = test::shared_cpu().compile(test::text_of(kernel), nullptr);
        for (int64_t n : {0, 1, 3, 4, 5, 15, 16, 17, 31, 100}) {
          const Tensor x = counting(dtype, n);
          const Guarded y(dtype, n);
          test::launch(*executable, kernel, {x, y.inner}, {n});
          EXPECT_EQ(x.to_doubles(), y.inner.to_doubles()) << name(dtype) << " x" << lanes << ", n = " << n;
          EXPECT_TRUE(y.untouched()) << name(dtype) << " x" << lanes << ", n = " << n;
        }
      }
    }
  }
}

TEST(CpuKernels, InactiveLanesAreZeroAndTouchNoMemory) {
  for (int lanes : test::lane_counts()) {
    for (Access access : {Access::contiguous, Access::splat, Access::lanewise}) {
      KernelBuilder b("masked");
      const auto active = b.integer("active", {});
      const auto x = b.reads("x", DType::f32, b.number(64)), y = b.writes("y", DType::f32, b.number(64));
      const auto index = access == Access::splat ? b.number(0) : b.number(0) + b.lane;
      b.store(y, b.number(0) + b.lane, b.load(x, index, lanes, access, active), Access::contiguous);
      for (int64_t count :
           {int64_t(-5), int64_t(0), int64_t(1), int64_t(lanes) - 1, int64_t(lanes), int64_t(1) << 40}) {
        const Tensor in = Tensor::from_doubles(DType::f32, {64}, std::vector<double>(64, 7)),
                     out = counting(DType::f32, 64);
        test::run(b.kernel, {in, out}, {count});
        for (int lane = 0; lane < lanes; ++lane) EXPECT_EQ(out.at(lane), lane < count ? 7 : 0) << lanes << " " << count;
        // No active lane: the load goes nowhere.
        if (count <= 0) {
          Tensor nowhere = Tensor::wrap(DType::f32, {64}, reinterpret_cast<void*>(64));
          test::run(b.kernel, {nowhere, out}, {count});
        }
      }
    }
  }
}

TEST(CpuKernels, RowsTransposedAndBroadcast) {
  for (int lanes : test::lane_counts()) {
    KernelBuilder b("mixed");
    const auto m = b.integer("m"), n = b.integer("n");
    const auto x = b.reads("x", DType::f32, m * n), row = b.reads("row", DType::bf16, m),
               t = b.reads("t", DType::f64, m * n);
    const auto y = b.writes("y", DType::f64, m * n);
    const auto i = b.loop("i", m, LoopKind::cpu_thread);
    const auto j = b.loop("j", sym::ceildiv(n, lanes));
    const auto active = n - lanes * j, index = i * n + lanes * j + b.lane;
    const Value a = b.load(x, index, lanes, Access::contiguous, active);
    const Value c = b.load(row, i, lanes, Access::splat);
    const Value d = b.load(t, m * (lanes * j + b.lane) + i, lanes, Access::lanewise, active);
    const Value sum = b.compute(Pointwise::add, {b.convert(b.compute(Pointwise::mul, {a, c}), DType::f64, lanes), d});
    b.store(y, index, sum, Access::contiguous, active);
    const int64_t rows = 5, columns = 37;
    const Tensor tx = counting(DType::f32, rows * columns), tr = counting(DType::bf16, rows),
                 tt = counting(DType::f64, rows * columns, 3);
    const Tensor ty = Tensor::empty(DType::f64, {rows * columns});
    test::run(b.kernel, {tx, tr, tt, ty}, {rows, columns});
    for (int64_t r = 0; r < rows; ++r) {
      for (int64_t c2 = 0; c2 < columns; ++c2) {
        EXPECT_EQ(ty.at(r * columns + c2), tx.at(r * columns + c2) * tr.at(r) + tt.at(c2 * rows + r));
      }
    }
  }
}

// A serial sum in a variable, as a contraction's loop nest has it.
TEST(CpuKernels, VariablesAccumulate) {
  for (int lanes : test::lane_counts()) {
    KernelBuilder b("nest");
    const auto m = b.integer("m"), n = b.integer("n"), k = b.integer("k");
    const auto x = b.reads("x", DType::f64, m * k), w = b.reads("w", DType::f64, k * n),
               y = b.writes("y", DType::f64, m * n);
    const auto i = b.loop("i", m, LoopKind::cpu_thread);
    const auto j = b.loop("j", sym::ceildiv(n, lanes));
    const auto active = n - lanes * j;
    const Value sum = b.variable(DType::f64, 0, lanes);
    const auto r = b.loop("r", k);
    const Value a = b.load(x, i * k + r, lanes, Access::splat);
    const Value c = b.load(w, r * n + lanes * j + b.lane, lanes, Access::contiguous, active);
    b.assign(sum, b.compute(Pointwise::add, {sum, b.compute(Pointwise::mul, {a, c})}));
    b.end();
    b.store(y, i * n + lanes * j + b.lane, sum, Access::contiguous, active);
    for (int64_t depth : {0, 1, 7}) {
      const Tensor tx = counting(DType::f64, 3 * depth), tw = counting(DType::f64, depth * 19),
                   ty = Tensor::empty(DType::f64, {57});
      test::run(b.kernel, {tx, tw, ty}, {3, 19, depth});
      for (int64_t e = 0; e < 57; ++e) {
        double expected = 0;
        for (int64_t q = 0; q < depth; ++q) expected += tx.at(e / 19 * depth + q) * tw.at(q * 19 + e % 19);
        EXPECT_EQ(ty.at(e), expected);
      }
    }
  }
}

TEST(CpuKernels, ConditionsAndKernelsWithoutThreadLoop) {
  KernelBuilder b("branches");
  const auto n = b.integer("n", {});
  const auto y = b.writes("y", DType::i64, b.number(4));
  const auto put = [&](int64_t at, double value) {
    b.store(y, b.number(at), b.literal(DType::i64, value, 1), Access::lanewise);
  };
  put(0, 1);
  b.branch(sym::logical_and(sym::ge(n, 2), sym::ne(n, 5)));
  put(1, 2);
  b.branch(sym::lt(n, 4));
  put(2, 3);
  b.end();
  b.end();
  put(3, 4);
  const auto expect = [&](int64_t value, const std::vector<double>& expected) {
    const Tensor out = Tensor::from_doubles(DType::i64, {4}, {0, 0, 0, 0});
    test::run(b.kernel, {out}, {value});
    EXPECT_EQ(out.to_doubles(), expected) << value;
  };
  expect(-1, {1, 0, 0, 4});
  expect(2, {1, 2, 3, 4});
  expect(4, {1, 2, 0, 4});
  expect(5, {1, 0, 0, 4});
  const Tensor out = Tensor::from_doubles(DType::i64, {4}, {0, 0, 0, 0});
  const auto executable = test::shared_cpu().compile(test::text_of(b.kernel), nullptr);
  void* buffers[] = {out.data()};
  const int64_t integers[] = {2};
  executable->launch({.buffers = buffers, .integers = integers, .thread_extent = 0});
  EXPECT_EQ(out.to_doubles(), (std::vector<double>{0, 0, 0, 0}));
}

TEST(CpuKernels, WhereAndComparisons) {
  for (int lanes : test::lane_counts()) {
    const auto body = [&](KernelBuilder& b, const std::vector<Value>& v) {
      const Value smaller = b.compute(Pointwise::lt, {v[0], v[1]});
      return b.compute(Pointwise::where, {b.compute(Pointwise::eq, {smaller, v[2]}), v[0], v[1]});
    };
    const kir::Kernel kernel =
        test::pointwise_kernel({DType::f32, DType::f32, DType::boolean}, DType::f32, lanes, Style::active, body);
    const Tensor a = counting(DType::f32, 100), c = counting(DType::f32, 100, 0.5),
                 t = Tensor::empty(DType::boolean, {100});
    for (int i = 0; i < 100; ++i) static_cast<uint8_t*>(t.data())[i] = i % 3 == 0;
    const Tensor y = Tensor::empty(DType::f32, {100});
    test::run(kernel, {a, c, t, y}, {100});
    for (int i = 0; i < 100; ++i) {
      EXPECT_EQ(y.at(i), (a.at(i) < c.at(i)) == (i % 3 == 0) ? a.at(i) : c.at(i));
    }
  }
}

// Between all pairs of wide dtypes, at the edges of their ranges.
TEST(CpuKernels, Conversions) {
  const double inf = std::numeric_limits<double>::infinity();
  const std::vector<double> values{
      0,      -0.0,   1,       -1,     0.5,    -0.5,  2.5, 255.99, 4294967295.0, 4294967296.0, -4294967297.0,
      9.2e18, 9.3e18, -9.3e18, 1.8e19, 1.9e19, 1e300, inf, -inf,   std::nan(""), 16777217,     9007199254740993.0,
      1e-45};
  constexpr DType kWide[] = {DType::boolean, DType::i32, DType::i64, DType::u32, DType::u64, DType::f32, DType::f64};
  for (DType from : kWide) {
    const Tensor x = Tensor::from_doubles(from, {int64_t(values.size())}, values);
    for (DType to : kWide) {
      const Tensor y = Tensor::empty(to, x.shape);
      const auto body = [&](KernelBuilder& b, const auto& v) { return b.convert(v[0], to, v[0].lanes); };
      test::run(test::pointwise_kernel({from}, to, 8, Style::active, body), {x, y}, {x.elements()});
      for (int64_t i = 0; i < x.elements(); ++i) {
        const auto* source = static_cast<const char*>(x.data()) + i * int64_t(size_of(from));
        uint64_t expected = 0, got = 0;
        if (is_float(from)) {
          store_double(to, &expected, load_double(from, source));
        } else if (is_float(to)) {
          const Constant exact = from == DType::u64
                                     ? Constant::from_double(to, double(uint64_t(load_int64(from, source))))
                                     : Constant::from_int64(to, load_int64(from, source));
          if (from == DType::u64 && to == DType::f32) continue;  // double would round twice; see below
          expected = exact.bits;
        } else {
          store_int64(to, &expected, load_int64(from, source));
        }
        std::memcpy(&got, static_cast<const char*>(y.data()) + i * int64_t(size_of(to)), size_of(to));
        const bool nan = is_float(to) && std::isnan(load_double(to, &expected)) && std::isnan(load_double(to, &got));
        EXPECT_TRUE(nan || got == expected) << values[size_t(i)] << ": " << name(from) << " to " << name(to);
      }
    }
  }
}

TEST(CpuKernels, U64ToF32RoundsOnce) {
  const Tensor x = Tensor::empty(DType::u64, {4}), y = Tensor::empty(DType::f32, {4});
  const uint64_t values[] = {(uint64_t(1) << 63) + (uint64_t(1) << 39) + 1, ~uint64_t(0), (uint64_t(1) << 24) + 1, 7};
  std::memcpy(x.data(), values, sizeof values);
  const auto body = [&](KernelBuilder& b, const auto& v) { return b.convert(v[0], DType::f32, v[0].lanes); };
  test::run(test::pointwise_kernel({DType::u64}, DType::f32, 4, Style::active, body), {x, y}, {4});
  for (int i = 0; i < 4; ++i) EXPECT_EQ(y.at(i), float(values[i]));
}

TEST(CpuKernels, LiteralsReadBackExactly) {
  const double inf = std::numeric_limits<double>::infinity();
  for (DType dtype : {DType::f32, DType::f64, DType::i32, DType::i64, DType::u32, DType::u64, DType::boolean}) {
    for (double value : {0.0, -0.0, 1.0, 0.1, 1e-45, 3.4e38, 123456789.0, inf, -inf, std::nan(""), -5.0}) {
      for (int lanes : {1, 8}) {
        KernelBuilder b("literal");
        const auto y = b.writes("y", dtype, b.number(8));
        b.store(y, b.number(0) + b.lane, b.literal(dtype, value, lanes), Access::contiguous);
        const Tensor out = Tensor::from_doubles(dtype, {8}, std::vector<double>(8, 1));
        test::run(b.kernel, {out}, {});
        const Constant got = Constant::load(dtype, static_cast<char*>(out.data()) + size_of(dtype) * size_t(lanes - 1));
        EXPECT_EQ(got.text(), Constant::from_double(dtype, value).text()) << value << " as " << name(dtype);
      }
    }
  }
}

TEST(CpuKernels, ConvertSplatsOneLane) {
  KernelBuilder b("splat");
  const auto x = b.reads("x", DType::bf16, b.number(1)), y = b.writes("y", DType::f64, b.number(8));
  const Value v = b.load(x, b.number(0), 1, Access::splat);
  b.store(y, b.number(0) + b.lane, b.convert(v, DType::f64, 8), Access::aligned);
  const Tensor out = Tensor::empty(DType::f64, {8});
  test::run(b.kernel, {Tensor::from_doubles(DType::bf16, {1}, {2.5}), out}, {});
  EXPECT_EQ(out.to_doubles(), std::vector<double>(8, 2.5));
}

TEST(CpuKernels, HalvesOfVectors) {
  for (DType dtype : {DType::f32, DType::f64, DType::i64, DType::boolean})
    for (int lanes : test::lane_counts()) {
      if (lanes == 1) continue;
      KernelBuilder b("halves");
      const auto x = b.reads("x", dtype, b.number(lanes)), y = b.writes("y", dtype, b.number(lanes));
      const Value v = b.load(x, b.number(0) + b.lane, lanes, Access::aligned);
      b.store(y, b.number(0) + b.lane, b.half(v, true), Access::contiguous);
      b.store(y, b.number(lanes / 2) + b.lane, b.half(v, false), Access::contiguous);
      const Tensor in = counting(dtype, lanes), out = Tensor::empty(dtype, {lanes});
      test::run(b.kernel, {in, out}, {});
      for (int l = 0; l < lanes; ++l)
        EXPECT_EQ(out.at(l), in.at((l + lanes / 2) % lanes)) << name(dtype) << " " << lanes;
    }
}

// So many rows of so many elements, squares and taller ones.
void expect_changed_places(DType dtype, int rows, int lanes) {
  KernelBuilder b("rectangle");
  const int64_t count = int64_t(rows) * lanes;
  const auto x = b.reads("x", dtype, b.number(count)), y = b.writes("y", dtype, b.number(count));
  auto stmt = std::make_unique<kir::Transpose>();
  for (int i = 0; i < rows; ++i) stmt->in.push_back(b.load(x, b.number(i * lanes) + b.lane, lanes, Access::aligned));
  for (int i = 0; i < lanes; ++i) stmt->out.push_back({uint32_t(1000 + i), stmt->in[0].dtype, rows});
  const std::vector<Value> out = stmt->out;
  b.kernel.phases[0].body.push_back(std::move(stmt));
  for (int i = 0; i < lanes; ++i) b.store(y, b.number(i * rows) + b.lane, out[size_t(i)], Access::aligned);
  const Tensor in = counting(dtype, count), result = Tensor::empty(dtype, {count});
  test::run(b.kernel, {in, result}, {});
  for (int i = 0; i < lanes; ++i)
    for (int l = 0; l < rows; ++l)
      ASSERT_EQ(result.at(i * rows + l), in.at(l * lanes + i)) << name(dtype) << " " << rows << " x " << lanes;
}

TEST(CpuKernels, SquaresAndRectanglesChangePlaces) {
  for (DType dtype : {DType::f32, DType::f64, DType::bf16, DType::u8, DType::i64, DType::boolean})
    for (int rows : test::lane_counts())
      for (int lanes = rows; lanes >= 1; lanes /= rows == 32 ? 2 : 4) expect_changed_places(dtype, rows, lanes);
}

TEST(CpuKernels, LanesThatRunBackwards) {
  for (DType dtype : {DType::f32, DType::f64, DType::bf16, DType::i8, DType::boolean})
    for (int lanes : test::lane_counts()) {
      KernelBuilder b("backwards");
      const auto x = b.reads("x", dtype, b.number(3 * lanes)), y = b.writes("y", dtype, b.number(3 * lanes));
      const auto i = b.loop("i", b.number(3), LoopKind::cpu_thread);
      const Value v = b.load(x, 3 * lanes - 1 - lanes * i - b.lane, lanes, Access::reversed);
      b.store(y, lanes * i + b.lane, v, Access::aligned);
      const Tensor in = counting(dtype, 3 * lanes), out = Tensor::empty(dtype, {3 * lanes});
      test::run(b.kernel, {in, out}, {});
      for (int l = 0; l < 3 * lanes; ++l) ASSERT_EQ(out.at(l), in.at(3 * lanes - 1 - l)) << name(dtype) << " " << lanes;
    }
}

TEST(CpuKernels, RandomEqualsPhiloxBitForBit) {
  for (int lanes : test::lane_counts()) {
    for (int64_t shift : {0, 1, 4, 7}) {
      for (uint64_t offset : {uint64_t(0), uint64_t(3), ~uint64_t(0) - 5}) {
        KernelBuilder b("random");
        const auto n = b.integer("n"), first = b.integer("first");
        const auto s = b.reads("seed", DType::u64, b.number(1)), y = b.writes("y", DType::f32, n);
        const auto i = b.loop("i", sym::ceildiv(n, lanes), LoopKind::cpu_thread);
        const Value seed = b.load(s, b.number(0), 1, Access::splat);
        const auto index = lanes * i + b.lane;
        const auto global = shift % 4 == 0 && shift != 0 ? index + 4 * first : index + first;
        b.store(y, index, b.random(seed, global, offset, lanes), Access::contiguous, n - lanes * i);
        for (uint64_t key : {uint64_t(0), uint64_t(1) << 63 | 12345, ~uint64_t(0)}) {
          const Tensor ts = Tensor::empty(DType::u64, {1}), ty = Tensor::empty(DType::f32, {1003});
          std::memcpy(ts.data(), &key, 8);
          const int64_t start = shift + (int64_t(1) << 34);
          test::run(b.kernel, {ts, ty}, {1003, start});
          for (int64_t e = 0; e < 1003; ++e) {
            const int64_t at = e + (shift % 4 == 0 && shift != 0 ? 4 * start : start);
            ASSERT_EQ(ty.at(e), uniform_f32(key, uint64_t(at), offset)) << lanes << " lanes, index " << at;
          }
        }
      }
    }
  }
}

TEST(CpuKernels, RandomAtScatteredIndices) {
  KernelBuilder b("random");
  const auto s = b.reads("seed", DType::u64, b.number(1)), y = b.writes("y", DType::f32, b.number(8));
  const Value seed = b.load(s, b.number(0), 1, Access::splat);
  b.store(y, b.number(0) + b.lane, b.random(seed, 5 * b.lane * b.lane + 2, 9, 8), Access::contiguous);
  const Tensor out = Tensor::empty(DType::f32, {8});
  test::run(b.kernel, {Tensor::from_doubles(DType::u64, {1}, {77}), out}, {});
  for (int64_t l = 0; l < 8; ++l) EXPECT_EQ(out.at(l), uniform_f32(77, uint64_t(5 * l * l + 2), 9));
}

TEST(CpuKernels, EqualForOneAndTwoThreads) {
  const auto body = [](KernelBuilder& b, const auto& v) { return b.compute(Pointwise::gelu_tanh, {v[0]}); };
  const kir::Kernel kernel = test::pointwise_kernel({DType::f32}, DType::bf16, 8, Style::active, body);
  const Tensor x = counting(DType::f32, 1000003, 0.03), one = Tensor::empty(DType::bf16, x.shape),
               two = Tensor::empty(DType::bf16, x.shape);
  const auto single = test::cpu_device(1), pair = test::cpu_device(2);
  test::run(kernel, {x, one}, {x.elements()}, *single);
  test::run(kernel, {x, two}, {x.elements()}, *pair);
  EXPECT_EQ(std::memcmp(one.data(), two.data(), one.bytes()), 0);
}

}  // namespace
}  // namespace plait
