// Generated CUDA text through NVRTC and the interpreter, against the meaning of the ops.
#include <fmt/ranges.h>
#include <gtest/gtest.h>

#include <cmath>
#include <random>

#include "backend/cuda/nvrtc.h"
#include "codegen/cuda/write.h"
#include "machine.h"
#include "scalar/convert.h"
#include "scalar/philox.h"
#include "support/host_shim_kernels.h"

namespace plait::sim {
namespace {

using plait::test::KernelBuilder;
using plait::test::same;
using plait::test::samples;
using plait::test::within;

constexpr const char* kArchitectures[] = {"compute_80", "compute_90a", "compute_100a"};

class Kernels : public ::testing::Test {
 protected:
  void SetUp() override {
    std::string why_not;
    if (!nvrtc_available(&why_not)) GTEST_SKIP() << "no NVRTC: " << why_not;
  }
};

struct Compiled {
  Compiled(const kir::Kernel& from, const std::string& architecture) : kernel(from) {
    kir::verify(kernel);
    const std::string text = write_cuda(kernel);
    const std::string ptx = compile_cuda(text, kernel.name, architecture).ptx;
    try {
      module = PtxModule::load(ptx, text);
    } catch (const Fault& fault) {
      throw std::runtime_error(fault.text);
    }
  }
  const kir::Kernel& kernel;
  std::shared_ptr<const PtxModule> module;
};

// The buffers and integers of a kernel; buffers in device memory, what is read written before.
class Arguments {
 public:
  void add(DType dtype, const std::vector<double>& values) {
    std::vector<uint8_t> bytes(values.size() * size_of(dtype));
    for (size_t i = 0; i < values.size(); ++i) store_double(dtype, bytes.data() + i * size_of(dtype), values[i]);
    parameters_.push_back(machine_.upload(bytes));
  }
  void add_word(uint64_t value) { parameters_.push_back(machine_.upload(std::vector<uint64_t>{value})); }
  void add(DType dtype, int64_t elements) {
    parameters_.push_back(machine_.allocate(std::max<size_t>(size_t(elements) * size_of(dtype), 1)));
  }

  void run(const kir::Kernel& kernel, const std::vector<int64_t>& integers, const std::string& architecture,
           uint64_t seed = 0) {
    run(Compiled(kernel, architecture), integers, seed);
  }
  void run(const Compiled& compiled, const std::vector<int64_t>& integers, uint64_t seed) {
    const kir::Kernel& kernel = compiled.kernel;
    const PtxModule* module = compiled.module.get();
    sym::Environment environment;
    for (size_t i = 0; i < integers.size(); ++i) environment[kernel.integers[i].symbol_name()] = integers[i];
    const kir::LaunchExtents extents = kir::launch_extents(kernel);
    Launch launch;
    launch.kernel = module->find(kernel.name);
    launch.seed = seed;
    launch.globals = machine_.globals(*module);
    for (int k = 0; k < 3; ++k) {
      launch.grid[k] = static_cast<uint32_t>(sym::evaluate(extents.grid[k], environment));
      launch.block[k] = static_cast<uint32_t>(sym::evaluate(extents.block[k], environment));
      if (launch.grid[k] == 0 || launch.block[k] == 0) return;
    }
    std::vector<uint64_t> parameters = parameters_;
    for (int64_t each : integers) parameters.push_back(static_cast<uint64_t>(each));
    launch.parameters.resize(parameters.size() * 8);
    std::memcpy(launch.parameters.data(), parameters.data(), launch.parameters.size());
    try {
      sim::launch(*module, launch, machine_.actor(kernel.name), machine_.space);
    } catch (const Fault& fault) {
      FAIL() << kernel.name << " for " << module->target() << ": " << fault.text;
    }
  }

  // Reading what the kernel did not write is a fault.
  std::vector<uint8_t> bytes(size_t buffer, DType dtype, int64_t elements) {
    return machine_.download<uint8_t>(parameters_[buffer], size_t(elements) * size_of(dtype));
  }
  std::vector<double> values(size_t buffer, DType dtype, int64_t elements) {
    const std::vector<uint8_t> from = bytes(buffer, dtype, elements);
    std::vector<double> out;
    for (int64_t i = 0; i < elements; ++i) out.push_back(load_double(dtype, from.data() + size_t(i) * size_of(dtype)));
    return out;
  }

 private:
  test::Machine machine_;
  std::vector<uint64_t> parameters_;
};

class AllOps : public Kernels, public testing::WithParamInterface<std::tuple<DType, int, int>> {};

TEST_P(AllOps, WithinBounds) {
  const auto [dtype, lanes, architecture] = GetParam();
  const int64_t n = 1003;
  std::vector<Pointwise> ops;
  const kir::Kernel kernel = plait::test::all_ops_kernel(dtype, lanes, &ops);
  const std::vector<double> a = samples(dtype, n, 1), b = samples(dtype, n, 2), c = samples(DType::boolean, n, 3);
  Arguments arguments;
  arguments.add(dtype, a);
  arguments.add(dtype, b);
  arguments.add(DType::boolean, c);
  for (size_t i = 0; i < ops.size(); ++i) arguments.add(kernel.buffers[3 + i].dtype, n);
  arguments.run(kernel, {n}, kArchitectures[architecture]);
  const std::vector<uint8_t> left = arguments.bytes(0, dtype, n), right = arguments.bytes(1, dtype, n);
  for (size_t i = 0; i < ops.size(); ++i) {
    const DType out = kernel.buffers[3 + i].dtype;
    const std::vector<double> found = arguments.values(3 + i, out, n);
    const std::vector<uint8_t> stored = arguments.bytes(3 + i, out, n);
    for (size_t at = 0; at < size_t(n); ++at) {
      if (is_float(dtype)) {
        const std::vector<double> in = plait::test::operands(ops[i], a[at], b[at], c[at] != 0);
        ASSERT_TRUE(within(ops[i], out == DType::boolean ? out : dtype, in, found[at]))
            << name(ops[i]) << "(" << fmt::format("{:.9g}", fmt::join(in, ", ")) << ") = " << found[at] << ", not "
            << evaluate(ops[i], in);
        continue;
      }
      const int64_t x = load_int64(dtype, left.data() + at * size_of(dtype));
      const int64_t y = load_int64(dtype, right.data() + at * size_of(dtype));
      const std::vector<int64_t> integers = plait::test::operands(ops[i], dtype, x, y, c[at] != 0);
      std::byte expected[8];
      store_int64(out, expected, evaluate_int(ops[i], integers, dtype));
      ASSERT_EQ(std::memcmp(expected, stored.data() + at * size_of(out), size_of(out)), 0)
          << name(ops[i]) << "(" << integers[0] << ", " << integers.back() << ")";
    }
  }
}

// Few lanes where functions are many: the compiler's time grows with both.
INSTANTIATE_TEST_SUITE_P(Types, AllOps,
                         testing::Values(std::tuple{DType::f32, 2, 0}, std::tuple{DType::f32, 1, 2},
                                         std::tuple{DType::f64, 1, 1}, std::tuple{DType::i64, 2, 2},
                                         std::tuple{DType::u32, 4, 0}, std::tuple{DType::u64, 1, 1},
                                         std::tuple{DType::boolean, 8, 2}, std::tuple{DType::bf16, 2, 0},
                                         std::tuple{DType::f16, 1, 1}, std::tuple{DType::i8, 16, 1},
                                         std::tuple{DType::i16, 8, 2}, std::tuple{DType::i32, 4, 0},
                                         std::tuple{DType::u8, 2, 0}, std::tuple{DType::u16, 2, 1},
                                         std::tuple{DType::f8e4m3, 2, 2}, std::tuple{DType::f8e5m2, 1, 0}),
                         [](const auto& info) {
                           return fmt::format("{}x{}_{}", name(std::get<0>(info.param)), std::get<1>(info.param),
                                              kArchitectures[std::get<2>(info.param)]);
                         });

TEST_F(Kernels, CastsOfEveryPairOfTypes) {
  const int64_t n = 511;
  for (int from = 0; from < kDTypeCount; ++from) {
    const DType in = DType(from);
    Arguments arguments;
    arguments.add(in, samples(in, n, 7));
    for (int to = 0; to < kDTypeCount; ++to) arguments.add(DType(to), n);
    arguments.run(plait::test::casts_kernel(in, 4), {n}, kArchitectures[from % 3]);
    const std::vector<uint8_t> sources = arguments.bytes(0, in, n);
    for (int to = 0; to < kDTypeCount; ++to) {
      const DType out = DType(to);
      const std::vector<double> found = arguments.values(size_t(1 + to), out, n);
      for (int64_t i = 0; i < n; ++i) {
        const uint8_t* source = sources.data() + size_t(i) * size_of(in);
        std::byte expected[8];
        plait::test::store_cast(in, source, out, expected);
        ASSERT_TRUE(same(load_double(out, expected), found[size_t(i)]))
            << name(in) << " " << load_double(in, source) << " as " << name(out) << " is " << found[size_t(i)];
      }
    }
  }
}

TEST_F(Kernels, TailsOfEveryLength) {
  const std::tuple<DType, int> forms[] = {{DType::f32, 4}, {DType::bf16, 8}, {DType::bf16, 2},
                                          {DType::i64, 1}, {DType::f16, 4},  {DType::f32, 8}};
  int architecture = 0;
  for (const auto& [dtype, lanes] : forms) {
    const kir::Kernel kernel = plait::test::add_kernel(dtype, lanes);
    ++architecture;
    const Compiled compiled(kernel, kArchitectures[architecture % 3]);
    for (const int64_t n : {1, 2, 3, 7, 8, 9, 127, 129, 1023, 1025}) {
      std::vector<double> a, b;
      for (int64_t i = 0; i < n; ++i) a.push_back(double(i % 97)), b.push_back(double(i % 31));
      Arguments arguments;
      arguments.add(dtype, a);
      arguments.add(dtype, b);
      arguments.add(dtype, n);
      arguments.run(compiled, {n}, static_cast<uint64_t>(n));
      const std::vector<double> found = arguments.values(2, dtype, n);
      for (int64_t i = 0; i < n; ++i) ASSERT_EQ(found[size_t(i)], double(i % 97 + i % 31)) << n << " " << i;
    }
  }
}

TEST_F(Kernels, BiasGeluDropout) {
  const int64_t n = 768 * 3 + 3;
  const uint64_t seed = 0x123456789abcdefull;
  const std::vector<double> x = samples(DType::f32, n, 11);
  const std::vector<double> bias(768, 0.25);
  for (int k = 0; k < 3; ++k) {
    Arguments arguments;
    arguments.add(DType::f32, x);
    arguments.add(DType::f32, bias);
    arguments.add_word(seed);
    arguments.add(DType::f32, n);
    arguments.run(plait::test::bias_gelu_dropout_kernel(DType::f32, k == 0 ? 1 : 2 << k), {n}, kArchitectures[k]);
    const std::vector<double> found = arguments.values(3, DType::f32, n);
    for (int64_t i = 0; i < n; ++i) {
      const bool keep = uniform_f32(seed, uint64_t(i), 3) >= 0.1f;
      const std::vector<double> sum = {round_to(DType::f32, x[size_t(i)] + 0.25)};
      const double g = evaluate(Pointwise::gelu_tanh, sum), expected = keep ? g / 0.9 : 0, got = found[size_t(i)];
      const double bound = own_error(Pointwise::gelu_tanh, DType::f32, sum, g);
      if (std::isnan(expected)) {
        ASSERT_TRUE(std::isnan(got)) << i;
      } else if (std::abs(expected) <= 3e38) {
        ASSERT_LE(std::abs(got - expected), 1.2 * bound + 2e-7 * std::abs(expected)) << x[size_t(i)];
      }
    }
  }
}

TEST_F(Kernels, RandomNumbersAreBitEqual) {
  const uint64_t seed = 0xfedcba9876543210ull, offset = 0x500000001ull;
  for (const auto& [lanes, shift] : {std::pair{1, 5}, std::pair{4, 0}, std::pair{8, 4}, std::pair{4, 5}}) {
    KernelBuilder k(fmt::format("random_{}_{}", lanes, shift), TargetKind::cuda);
    const sym::Expr n = k.integer("n");
    const uint32_t word = k.reads("seed", DType::u64, k.number(1)), out = k.writes("out", DType::f32, n);
    const kir::Value key = k.load(word, k.number(0), 1, kir::Access::splat);
    const int width = lanes;
    const int64_t first = shift;
    plait::test::each_vector(k, n, lanes, 32, [&](sym::Expr at, kir::Access access, sym::Expr active) {
      k.store(out, at, k.random(key, at + first, offset, width), access, active);
    });
    const int64_t count = 1001;
    Arguments arguments;
    arguments.add_word(seed);
    arguments.add(DType::f32, count);
    arguments.run(k.kernel, {count}, kArchitectures[lanes % 3], 5);
    const std::vector<double> found = arguments.values(1, DType::f32, count);
    for (int64_t i = 0; i < count; ++i) ASSERT_EQ(found[size_t(i)], uniform_f32(seed, uint64_t(i + shift), offset));
  }
}

TEST_F(Kernels, SerialSums) {
  const int64_t rows = 70, columns = 40;
  std::vector<double> x;
  for (int64_t i = 0; i < rows * columns; ++i) x.push_back(double(i * 7 % 5) - 2);
  Arguments by_row, by_column;
  by_row.add(DType::bf16, x);
  by_row.add(DType::bf16, rows);
  by_row.run(plait::test::row_sum_kernel(), {rows, columns}, "compute_90a");
  by_column.add(DType::f32, x);
  by_column.add(DType::f32, columns);
  by_column.run(plait::test::column_sum_kernel(), {rows, columns}, "compute_80");
  const auto row_sums = by_row.values(1, DType::bf16, rows), column_sums = by_column.values(1, DType::f32, columns);
  for (int64_t r = 0; r < rows; ++r) {
    double sum = 0;
    for (int64_t c = 0; c < columns; ++c) sum += x[size_t(r * columns + c)];
    EXPECT_EQ(row_sums[size_t(r)], sum);
  }
  for (int64_t c = 0; c < columns; ++c) {
    double sum = 0;
    for (int64_t r = 0; r < rows; ++r) sum += x[size_t(r * columns + c)];
    EXPECT_EQ(column_sums[size_t(c)], sum);
  }
}

TEST_F(Kernels, TransposeOnAGridOfThreeDimensions) {
  const int64_t rows = 70, columns = 6;
  std::vector<double> x;
  for (int64_t i = 0; i < rows * columns; ++i) x.push_back(double(i));
  Arguments arguments;
  arguments.add(DType::f32, x);
  arguments.add(DType::f32, std::vector<double>{0, 1000, 2000});
  arguments.add(DType::f32, rows * columns);
  arguments.run(plait::test::transpose_kernel(), {rows, columns}, "compute_100a", 9);
  const std::vector<double> found = arguments.values(2, DType::f32, rows * columns);
  for (int64_t i = 0; i < columns; ++i)
    for (int64_t j = 0; j < rows; ++j)
      ASSERT_EQ(found[size_t(i * rows + j)], x[size_t(j * columns + i)] + double(j % 3 * 1000));
}

// An index that is one too large, in a generated kernel: the report names the line of its text.
TEST_F(Kernels, WrongIndexIsReportedWithItsCudaLine) {
  KernelBuilder k("shifted", TargetKind::cuda);
  const sym::Expr n = k.integer("n");
  const uint32_t in = k.reads("x", DType::f32, n + 1), out = k.writes("y", DType::f32, n);
  plait::test::each_vector(k, n, 1, 32, [&](sym::Expr at, kir::Access access, sym::Expr active) {
    k.store(out, at, k.load(in, at + 1, 1, access, active), access, active);
  });
  const std::string text = write_cuda(k.kernel);
  test::Machine machine;
  const auto module = PtxModule::load(compile_cuda(text, "shifted", "compute_90a").ptx, text);
  const uint64_t x = machine.upload(std::vector<float>(100, 1.0f)), y = machine.allocate(400);
  Launch launch;
  launch.grid[0] = 4;
  launch.block[0] = 32;
  const uint64_t parameters[] = {x, y, 100};
  launch.parameters.resize(24);
  std::memcpy(launch.parameters.data(), parameters, 24);
  try {
    sim::launch(*module, launch, machine.actor("shifted"), machine.space);
    FAIL() << "not reported";
  } catch (const Fault& fault) {
    EXPECT_EQ(fault.code, kIllegalAddress);
    for (const char* part : {"reads 4 bytes at allocation 1 + 400 of 400 bytes", "`shifted`", "block (3, 0, 0)",
                             "thread (3, 0, 0)", "ld.global.nc.f32", "CUDA line ", "b0["})
      EXPECT_NE(fault.text.find(part), fault.text.npos) << part << " in\n" << fault.text;
  }
}

}  // namespace
}  // namespace plait::sim
