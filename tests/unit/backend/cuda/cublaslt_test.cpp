// Contractions by cuBLASLt against sums in double.
#include "backend/cuda/cublaslt/cublaslt.h"

#include <gtest/gtest.h>

#include <cmath>
#include <thread>

#include "scalar/convert.h"
#include "support/contraction_numbers.h"
#include "unit/backend/cuda/cuda_fixture.h"

namespace plait {
namespace {

using namespace test;

// Small integers: every sum is exact in every dtype but the narrow results, which round once.
double drawn(uint64_t& state) {
  state = state * 6364136223846793005u + 1442695040888963407u;
  return double(int64_t(state >> 33) % 5 - 2);
}

std::vector<double> draw(size_t count, uint64_t seed) {
  std::vector<double> out(count);
  for (double& each : out) each = drawn(seed);
  return out;
}

// Spans of elements that an operand takes, strides included.
int64_t span_of(int64_t rows, int64_t columns, int64_t row, int64_t batch, int64_t stride) {
  if (rows == 0 || columns == 0 || batch == 0) return 0;
  return (rows - 1) * row + columns + (batch - 1) * stride;
}

struct Case {
  MatmulProblem problem;
  int64_t offset = 0;  // elements that all operands start after an aligned address
};

class CublasLtTest : public CudaTest {
 protected:
  void SetUp() override {
    CudaTest::SetUp();
    if (IsSkipped()) return;
    std::string why_not;
    library_ = cublaslt_of(*device_, &why_not);
    if (library_ == nullptr) GTEST_SKIP() << "cuBLASLt: " << why_not;
    stream_ = device_->make_stream(0);
  }
  void TearDown() override {
    stream_.reset();
    CudaTest::TearDown();
  }

  // Rounded values in device memory, `offset` elements after its start.
  std::shared_ptr<Memory> give(DType dtype, const std::vector<double>& values, int64_t offset) {
    const Tensor host = Tensor::from_doubles(dtype, {int64_t(values.size())}, values);
    auto memory = device_->allocator(0).allocate((values.size() + size_t(offset)) * size_of(dtype) + 1);
    stream_->copy(static_cast<char*>(memory->data()) + size_t(offset) * size_of(dtype), host.data(), host.bytes());
    stream_->synchronize();
    return memory;
  }
  std::vector<double> take(DType dtype, const Memory& memory, size_t count, int64_t offset) {
    Tensor host = Tensor::empty(dtype, {int64_t(count)});
    stream_->copy(host.data(), static_cast<const char*>(memory.data()) + size_t(offset) * size_of(dtype), host.bytes());
    stream_->synchronize();
    return host.to_doubles();
  }

  static MatmulProblem dense(MatmulProblem p) {
    if (p.a_row == 0) p.a_row = p.transpose_a ? p.m : p.k;
    if (p.b_row == 0) p.b_row = p.transpose_b ? p.k : p.n;
    if (p.out_row == 0) p.out_row = p.n;
    return p;
  }

  static double epilogue(MatmulEpilogue which, double x) {
    if (which == MatmulEpilogue::relu) return std::max(x, 0.0);
    if (which == MatmulEpilogue::none) return x;
    return 0.5 * x * (1 + std::tanh(std::sqrt(2 / M_PI) * (x + 0.044715 * x * x * x)));
  }

  // Runs it and compares every element, those between the rows included.
  void check(const Case& test) {
    const MatmulProblem p = dense(test.problem);
    SCOPED_TRACE(fmt::format("{} -> {}, ta {}, tb {}, {} x {} x {} x {}, epilogue {}, bias {}, offset {}", name(p.in),
                             name(p.out), p.transpose_a, p.transpose_b, p.batch, p.m, p.n, p.k, int(p.epilogue), p.bias,
                             test.offset));
    const auto a =
        draw(size_t(span_of(p.transpose_a ? p.k : p.m, p.transpose_a ? p.m : p.k, p.a_row, p.batch, p.a_batch)), 1);
    const auto b =
        draw(size_t(span_of(p.transpose_b ? p.n : p.k, p.transpose_b ? p.k : p.n, p.b_row, p.batch, p.b_batch)), 2);
    const auto bias = draw(size_t(p.n), 3);
    std::vector<double> out = draw(size_t(span_of(p.m, p.n, p.out_row, p.batch, p.out_batch)), 4);
    const auto da = give(p.in, a, test.offset), db = give(p.in, b, test.offset);
    const auto dbias = give(p.out, bias, test.offset), dout = give(p.out, out, test.offset);
    const auto at = [&](const Memory& memory, DType dtype) {
      return static_cast<char*>(memory.data()) + size_t(test.offset) * size_of(dtype);
    };
    std::string why_not;
    ASSERT_TRUE(library_->matmul(*stream_, test.problem,
                                 {at(*da, p.in), at(*db, p.in), at(*dout, p.out), at(*dbias, p.out)}, &why_not))
        << why_not;
    for (int64_t i = 0; i < p.batch; ++i) {
      for (int64_t r = 0; r < p.m; ++r) {
        for (int64_t c = 0; c < p.n; ++c) {
          double sum = 0;
          for (int64_t k = 0; k < p.k; ++k)
            sum += a[size_t(i * p.a_batch + (p.transpose_a ? k * p.a_row + r : r * p.a_row + k))] *
                   b[size_t(i * p.b_batch + (p.transpose_b ? c * p.b_row + k : k * p.b_row + c))];
          double& to = out[size_t(i * p.out_batch + r * p.out_row + c)];
          to = epilogue(p.epilogue, p.alpha * sum + (p.beta == 0 ? 0 : p.beta * to) + (p.bias ? bias[size_t(c)] : 0));
        }
      }
    }
    const std::vector<double> got = take(p.out, *dout, out.size(), test.offset);
    const std::vector<double> rounded = Tensor::from_doubles(p.out, {int64_t(out.size())}, out).to_doubles();
    const double slack = p.epilogue != MatmulEpilogue::gelu ? 0 : size_of(p.out) == 2 ? 0x1p-7 : 0x1p-18;
    for (size_t i = 0; i < out.size(); ++i)
      ASSERT_LE(std::abs(got[i] - rounded[i]), slack * (1 + std::abs(rounded[i]))) << i;
  }

  CublasLt* library_ = nullptr;
  std::unique_ptr<Stream> stream_;
};

constexpr std::pair<DType, DType> kTypes[] = {{DType::f64, DType::f64},   {DType::f32, DType::f32},
                                              {DType::f16, DType::f16},   {DType::f16, DType::f32},
                                              {DType::bf16, DType::bf16}, {DType::bf16, DType::f32}};

TEST_F(CublasLtTest, ShapesAndTransposes) {
  const int64_t shapes[][3] = {{1, 1, 1}, {8, 16, 32}, {3, 5, 7}, {64, 1, 16}, {1, 64, 16}, {33, 17, 1}};
  for (const auto& [in, out] : kTypes)
    for (const auto& s : shapes)
      for (int flags = 0; flags < 4; ++flags)
        check({{in, out, (flags & 1) != 0, (flags & 2) != 0, 1, s[0], s[1], s[2]}});
}

TEST_F(CublasLtTest, BatchesAndSharedOperands) {
  for (const auto& [in, out] : kTypes) {
    MatmulProblem p{in, out, false, false, 3, 4, 6, 5};
    p.a_batch = 20, p.b_batch = 30, p.out_batch = 24;
    check({p});
    p.b_batch = 0;
    check({p});
    p.a_batch = 0, p.b_batch = 30, p.transpose_b = true;
    check({p});
  }
}

TEST_F(CublasLtTest, RowsApart) {
  for (const auto& [in, out] : kTypes) {
    MatmulProblem p{in, out, false, true, 2, 4, 6, 8};
    p.a_row = 12, p.b_row = 10, p.out_row = 9;
    p.a_batch = 60, p.b_batch = 64, p.out_batch = 40;
    check({p});
    p.transpose_a = true, p.transpose_b = false;
    p.a_row = 5, p.b_row = 7;
    check({p});
  }
}

TEST_F(CublasLtTest, MisalignedPointers) {
  for (const auto& [in, out] : kTypes)
    for (int64_t offset : {1, 2, 3}) check({{in, out, false, true, 1, 9, 10, 11}, offset});
}

TEST_F(CublasLtTest, Epilogues) {
  for (const auto& [in, out] : kTypes) {
    if (in == DType::f64) continue;
    for (MatmulEpilogue each : {MatmulEpilogue::none, MatmulEpilogue::relu, MatmulEpilogue::gelu}) {
      for (bool bias : {false, true}) {
        MatmulProblem p{in, out, false, true, 1, 8, 16, 8};
        p.epilogue = each;
        p.bias = bias;
        check({p});
      }
    }
  }
}

TEST_F(CublasLtTest, BiasPointersOfEachCall) {
  MatmulProblem p{DType::f32, DType::f32, false, true, 1, 8, 16, 8};
  p.bias = true;
  check({p});
  const size_t plans = library_->cached_plans();
  check({p});
  check({p});
  EXPECT_EQ(library_->cached_plans(), plans) << "the pointer is no part of the plan";
}

TEST_F(CublasLtTest, AlphaAndBeta) {
  for (const auto& [in, out] : kTypes) {
    MatmulProblem p{in, out, false, false, 1, 5, 8, 4};
    p.alpha = 2, p.beta = -1;
    check({p});
    p.alpha = -0.5, p.beta = 0;
    check({p});
  }
}

TEST_F(CublasLtTest, EmptyExtents) {
  for (const auto& [in, out] : kTypes) {
    MatmulProblem p{in, out, false, false, 2, 3, 4, 0};
    p.out_batch = 16;
    p.out_row = 5;
    check({p});  // zeros, and nothing between the rows
    check({{in, out, false, false, 0, 3, 4, 5}});
    check({{in, out, false, false, 1, 0, 4, 5}});
    check({{in, out, false, false, 1, 3, 0, 5}});
  }
  MatmulProblem p{DType::f32, DType::f32, false, false, 1, 3, 4, 0};
  p.beta = 1;
  std::string why_not;
  EXPECT_FALSE(library_->matmul(*stream_, p, {}, &why_not));
  EXPECT_NE(why_not.find("empty sums"), std::string::npos);
}

TEST_F(CublasLtTest, WhatIsRefused) {
  std::string why_not;
  for (const auto& [in, out] : {std::pair{DType::f32, DType::f64},
                                {DType::f64, DType::f32},
                                {DType::i64, DType::i64},
                                {DType::f32, DType::bf16},
                                {DType::bf16, DType::f16},
                                {DType::u32, DType::f32}}) {
    EXPECT_EQ(device_->library({in, out, true}, &why_not), nullptr);
    EXPECT_NE(why_not.find(std::string(name(in))), std::string::npos) << why_not;
    EXPECT_FALSE(library_->matmul(*stream_, {in, out, false, false, 1, 1, 1, 1}, {}, &why_not));
  }
  EXPECT_EQ(device_->library({DType::i64, DType::i64, true}, nullptr), nullptr);
  MatmulProblem p{DType::f32, DType::f32, false, false, 1, 4, 4, 4};
  p.out_row = 3;
  EXPECT_THROW(library_->matmul(*stream_, p, {}, &why_not), InternalError);
  p.out_row = 0, p.m = -1;
  EXPECT_THROW(library_->matmul(*stream_, p, {}, &why_not), InternalError);
}

TEST_F(CublasLtTest, ProductsOfThePipeline) {
  for (const auto& [in, out] : kTypes) {
    for (bool linear : {true, false}) {
      std::string why_not;
      const auto contraction = device_->library({in, out, linear}, &why_not);
      ASSERT_NE(contraction, nullptr) << why_not;
      EXPECT_EQ(device_->library({in, out, linear}, nullptr), contraction);
      EXPECT_GE(contraction->workspace_bytes(), size_t(4) << 20);
      for (const auto& [batch, m, n, k] : {std::array<int64_t, 4>{2, 3, 5, 7},
                                           {1, 1, 1, 1},
                                           {3, 4, 1, 8},
                                           {2, 3, 4, 0},
                                           {0, 3, 4, 5},
                                           {2, 0, 4, 5},
                                           {1, 16, 8, 32}}) {
        const auto a = draw(size_t(batch * m * k), 1), b = draw(size_t((linear ? 1 : batch) * k * n), 2);
        const auto da = give(in, a, 0), db = give(in, b, 0);
        const auto dout = give(out, std::vector<double>(size_t(batch * m * n), 77), 0);
        void* buffers[] = {da->data(), db->data(), dout->data()};
        const std::vector<int64_t> integers =
            (linear ? test::DenseContraction::linear() : test::DenseContraction()).integers(batch, m, n, k);
        LaunchArguments arguments{buffers, integers};
        arguments.stream = stream_.get();
        contraction->launch(arguments);
        const auto got = take(out, *dout, size_t(batch * m * n), 0);
        for (int64_t i = 0; i < batch * m * n; ++i) {
          const int64_t matrix = i / (m * n), row = i / n, column = i % n;
          double sum = 0;
          for (int64_t j = 0; j < k; ++j)
            sum += a[size_t(row * k + j)] *
                   (linear ? b[size_t(column * k + j)] : b[size_t((matrix * k + j) * n + column)]);
          ASSERT_EQ(got[size_t(i)], sum) << name(in) << linear << ' ' << batch << m << n << k << ' ' << i;
        }
      }
    }
  }
}

// Operands of any layout that has dense rows or columns, batches that share a matrix, and a batch of two dims that do
// not lie as one: a loop of calls.
TEST_F(CublasLtTest, StridedOperands) {
  const auto contraction = device_->library({DType::f32, DType::f32, false}, nullptr);
  ASSERT_NE(contraction, nullptr);
  for (const test::StridedContraction& of : test::strided_contractions()) {
    const auto a = draw(size_t(of.size_a), 1), b = draw(size_t(of.size_b), 2);
    const auto da = give(DType::f32, a, 0), db = give(DType::f32, b, 0);
    const auto dout = give(DType::f32, std::vector<double>(size_t(of.size_out()), 77), 0);
    void* buffers[] = {static_cast<float*>(da->data()) + of.numbers.a.offset,
                       static_cast<float*>(db->data()) + of.numbers.b.offset, dout->data()};
    const std::vector<int64_t> integers = of.integers();
    std::string why_not;
    ASSERT_EQ(contraction->accepts(integers, &why_not), of.dense_lines()) << of.name << why_not;
    if (!of.dense_lines()) {
      EXPECT_NE(why_not.find("dense rows or columns"), std::string::npos);
      continue;
    }
    LaunchArguments arguments{buffers, integers};
    arguments.stream = stream_.get();
    contraction->launch(arguments);
    EXPECT_EQ(take(DType::f32, *dout, size_t(of.size_out()), 0), of.expected(a, b)) << of.name;
  }
}

TEST_F(CublasLtTest, CallersWorkspace) {
  const auto contraction = device_->library({DType::f32, DType::f32, true}, nullptr);
  ASSERT_NE(contraction, nullptr);
  const auto own = device_->allocator(0).allocate(contraction->workspace_bytes());
  const auto a = give(DType::f32, draw(64, 1), 0), b = give(DType::f32, draw(64, 2), 0);
  const auto out = give(DType::f32, draw(64, 3), 0);
  void* buffers[] = {a->data(), b->data(), out->data()};
  const std::vector<int64_t> integers = test::DenseContraction::linear().integers(1, 8, 8, 8);
  LaunchArguments arguments{buffers, integers};
  arguments.stream = stream_.get();
  arguments.workspace = own->data();
  const int64_t before = counts().allocations;
  contraction->launch(arguments);
  EXPECT_EQ(counts().allocations, before);
  stream_->synchronize();
}

TEST_F(CublasLtTest, StrictF32AndTf32) {
  CudaOptions options = options_;
  options.allow_tf32 = true;
  const auto loose = make_cuda_device(options);
  const double fine = 1 + 0x1p-12;  // TF32 keeps 10 bits of the fraction
  for (Device* device : {device_.get(), loose.get()}) {
    const auto contraction = device->library({DType::f32, DType::f32, true}, nullptr);
    ASSERT_NE(contraction, nullptr);
    const auto stream = device->make_stream(0);
    const auto a = give(DType::f32, std::vector<double>(32 * 32, fine), 0);
    const auto b = give(DType::f32, std::vector<double>(32 * 32, 1), 0);
    const auto out = give(DType::f32, std::vector<double>(32 * 32, 0), 0);
    void* buffers[] = {a->data(), b->data(), out->data()};
    const std::vector<int64_t> integers = test::DenseContraction::linear().integers(1, 32, 32, 32);
    LaunchArguments arguments{buffers, integers};
    arguments.stream = stream.get();
    contraction->launch(arguments);
    stream->synchronize();
    const double got = take(DType::f32, *out, 1, 0)[0];
    if (device == device_.get()) {
      EXPECT_EQ(got, 32 * fine);
    }
    if (device != device_.get() && !real_) {
      EXPECT_EQ(got, 32) << "the stand-in rounds to TF32 where it may";
    }
  }
}

TEST_F(CublasLtTest, PlansAreKeptAndBounded) {
  const size_t before = library_->cached_plans();
  MatmulProblem p{DType::f32, DType::f32, false, true, 1, 8, 8, 8};
  check({p});
  check({p});
  EXPECT_EQ(library_->cached_plans(), before + 1);
  check({p, 1});
  EXPECT_EQ(library_->cached_plans(), before + 2) << "another alignment is another plan";
  const auto memory = give(DType::f32, std::vector<double>(4096, 0), 0);
  const auto out = give(DType::f32, std::vector<double>(4096, 0), 0);
  for (int64_t m = 1; m <= 40; ++m) {
    for (int64_t n = 1; n <= 30; ++n) {
      std::string why_not;
      ASSERT_TRUE(library_->matmul(*stream_, {DType::f32, DType::f32, false, true, 1, m, n, 1},
                                   {memory->data(), memory->data(), out->data()}, &why_not))
          << why_not;
    }
  }
  stream_->synchronize();
  EXPECT_EQ(library_->cached_plans(), 1024u);
}

TEST_F(CublasLtTest, StreamsOfBothDevicesAtOnce) {
  const auto contraction = device_->library({DType::f32, DType::f32, false}, nullptr);
  ASSERT_NE(contraction, nullptr);
  std::atomic<int> wrong = 0;
  const auto work = [&](int thread) {
    const auto stream = device_->make_stream(thread % 2);
    const auto a = upload(*stream, std::vector<float>(64, 1)),
               b = upload(*stream, std::vector<float>(64, float(thread)));
    const auto out = upload(*stream, std::vector<float>(64, 0));
    for (int64_t m = 1; m <= 8; ++m) {
      void* buffers[] = {a->data(), b->data(), out->data()};
      const std::vector<int64_t> integers = test::DenseContraction().integers(1, m, 8, 8);
      LaunchArguments arguments{buffers, integers};
      arguments.stream = stream.get();
      contraction->launch(arguments);
      wrong += download(*stream, *out)[size_t(m) * 8 - 1] != float(8 * thread);
    }
  };
  std::vector<std::thread> threads;
  for (int i = 0; i < 4; ++i) threads.emplace_back(work, i);
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(wrong, 0);
}

TEST_F(CublasLtTest, GraphsHoldProducts) {
  const auto contraction = device_->library({DType::f32, DType::f32, true}, nullptr);
  const auto a = upload(*stream_, std::vector<float>(64, 1)), b = upload(*stream_, std::vector<float>(64, 2));
  const auto out = upload(*stream_, std::vector<float>(64, 0));
  void* buffers[] = {a->data(), b->data(), out->data()};
  const std::vector<int64_t> integers = test::DenseContraction::linear().integers(1, 8, 8, 8);
  LaunchArguments arguments{buffers, integers};
  arguments.stream = stream_.get();
  ASSERT_TRUE(stream_->begin_capture());
  contraction->launch(arguments);  // its first: the workspace must not become the graph's
  const auto graph = stream_->end_capture();
  EXPECT_EQ(download(*stream_, *out)[0], 0);
  graph->launch(*stream_);
  EXPECT_EQ(download(*stream_, *out)[63], 16);
  contraction->launch(arguments);
  stream_->synchronize();
}

TEST(CublasLtFacts, MissingSaysWhy) {
  CudaOptions options;
  options.cublaslt = "/nowhere/libcublasLt.so";
  const CudaFacts facts = cuda_facts(options);
  EXPECT_EQ(facts.libraries[2].name, "cuBLASLt");
  EXPECT_EQ(facts.libraries[2].version, "");
  EXPECT_FALSE(facts.libraries[2].why_not.empty());
  options.cublaslt = "libm.so.6";
  EXPECT_NE(cuda_facts(options).libraries[2].why_not, "");
}

TEST(CublasLtFacts, RealLibraryIsFoundWithoutADevice) {
  const CudaLibraryFacts facts = cuda_facts().libraries[2];
  if (!facts.why_not.empty()) GTEST_SKIP() << facts.why_not;
  EXPECT_NE(facts.path.find("libcublasLt"), std::string::npos);
  EXPECT_GE(std::atoi(facts.version.c_str()), 12);
}

}  // namespace
}  // namespace plait
