// Kernels on devices: values, modules per ordinal, errors, threads.
#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <cstdio>
#include <thread>

#include "unit/backend/cuda/cuda_fixture.h"

namespace plait {
namespace {

using namespace test;

class CudaLaunch : public CudaTest {};

TEST_F(CudaLaunch, OnEveryOrdinal) {
  const auto kernel = device_->compile(scale_kernel(), nullptr);
  for (int ordinal = 0; ordinal < 2; ++ordinal) {
    const auto stream = device_->make_stream(ordinal);
    EXPECT_EQ(stream->ordinal(), ordinal);
    EXPECT_NE(stream->native(), nullptr);
    const std::vector<float> values = counted(1000);
    const auto in = upload(*stream, values), out = upload(*stream, std::vector<float>(1000, -1));
    EXPECT_EQ(in->location(), (Location{false, ordinal}));
    launch_scale(*kernel, *stream, *in, *out, 3, ordinal);
    const std::vector<float> got = download(*stream, *out);
    for (size_t i = 0; i < got.size(); ++i) ASSERT_EQ(got[i], values[i] * 3 + float(ordinal)) << i;
  }
}

TEST_F(CudaLaunch, EmptyGridsLaunchNothing) {
  const auto kernel = device_->compile(scale_kernel(), nullptr);
  const auto stream = device_->make_stream(0);
  void* buffers[] = {nullptr, nullptr};
  const int64_t integers[] = {0, 0, 0};
  for (int i = 0; i < 3; ++i) {
    LaunchArguments arguments{buffers, integers};
    arguments.stream = stream.get();
    arguments.grid[i] = 0;
    const int64_t before = counts().launches;
    kernel->launch(arguments);
    EXPECT_EQ(counts().launches, before);
  }
  stream->synchronize();
}

TEST_F(CudaLaunch, WrongCallsAreOurs) {
  const auto kernel = device_->compile(scale_kernel(), nullptr);
  const auto stream = device_->make_stream(0);
  void* buffers[] = {nullptr, nullptr};
  const int64_t integers[] = {0, 0, 0};
  LaunchArguments arguments{buffers, integers};
  EXPECT_THROW(kernel->launch(arguments), InternalError) << "no stream";
  arguments.stream = stream.get();
  arguments.block[1] = 0;
  EXPECT_THROW(kernel->launch(arguments), InternalError);
  arguments.block[1] = 1;
  arguments.integers = std::span(integers, 2);
  EXPECT_THROW(kernel->launch(arguments), InternalError);
}

TEST_F(CudaLaunch, ErrorsNameTheKernel) {
  const auto kernel = device_->compile(scale_kernel("wide"), nullptr);
  const auto stream = device_->make_stream(0);
  void* buffers[] = {nullptr, nullptr};
  const int64_t integers[] = {0, 0, 0};
  LaunchArguments arguments{buffers, integers};
  arguments.stream = stream.get();
  arguments.block[0] = arguments.block[1] = 1024;  // more threads than a block may have
  try {
    kernel->launch(arguments);
    FAIL();
  } catch (const CudaError& error) {
    EXPECT_NE(error.message().find("cuLaunchKernelEx failed: CUDA_ERROR_INVALID_VALUE: "), std::string::npos)
        << error.what();
    EXPECT_NE(error.where().find("kernel wide, grid (1, 1, 1), block (1024, 1024, 1)"), std::string::npos)
        << error.what();
    EXPECT_NE(error.code(), 0);
  }
  const std::string found = findings();  // the stand-in says it too
  if (!real_) {
    EXPECT_NE(found.find("`wide`"), std::string::npos) << found;
  }
  arguments.block[0] = arguments.block[1] = 1;
  arguments.grid[1] = 70000;
  EXPECT_THROW(kernel->launch(arguments), UserError);
  arguments.grid[1] = 1;
  arguments.grid[0] = int64_t(1) << 31;
  EXPECT_THROW(kernel->launch(arguments), UserError);
  stream->synchronize();  // a refused launch leaves the device usable
}

TEST_F(CudaLaunch, TextsThatDoNotCompile) {
  try {
    device_->compile({"k", "extern \"C\" __global__ void k() {\n  wrong();\n}\n", 0, 0}, nullptr);
    FAIL();
  } catch (const InternalError& error) {
    EXPECT_NE(error.message().find("   2   wrong();"), std::string::npos) << error.what();
    EXPECT_EQ(error.where().rfind("k.cu:2 for ", 0), 0u) << error.where();
  }
}

TEST_F(CudaLaunch, AbsentEntry) {
  device_->make_stream(0);  // opens the context
  KernelText kernel = scale_kernel("there");
  kernel.name = "elsewhere";
  EXPECT_THROW(device_->compile(kernel, nullptr), InternalError);
}

TEST_F(CudaLaunch, SameTextSameExecutable) {
  KernelFacts first, second;
  const auto one = device_->compile(scale_kernel(), &first), two = device_->compile(scale_kernel(), &second);
  EXPECT_EQ(one, two);
  EXPECT_EQ(first.arch, device_->target().architecture);
  EXPECT_EQ(first.compile_ms, second.compile_ms);
  EXPECT_NE(device_->compile(scale_kernel("other"), nullptr), one);
}

TEST_F(CudaLaunch, ManyParameters) {
  constexpr int kCount = 100;  // more than fit a launch's own array
  KernelText kernel{"many", "extern \"C\" __global__ void many(", 1, kCount};
  kernel.text += "long long* out";
  std::string body;
  for (int i = 0; i < kCount; ++i) {
    kernel.text += ", long long n" + std::to_string(i);
    body += "  out[" + std::to_string(i) + "] = n" + std::to_string(i) + ";\n";
  }
  kernel.text += ") {\n" + body + "}\n";
  const auto compiled = device_->compile(kernel, nullptr);
  const auto stream = device_->make_stream(0);
  const auto out = device_->allocator(0).allocate(kCount * 8);
  std::vector<int64_t> integers(kCount), got(kCount);
  for (int i = 0; i < kCount; ++i) integers[size_t(i)] = int64_t(i) * i - 7;
  void* buffers[] = {out->data()};
  LaunchArguments arguments{buffers, integers};
  arguments.stream = stream.get();
  compiled->launch(arguments);
  stream->copy(got.data(), out->data(), kCount * 8);
  stream->synchronize();
  EXPECT_EQ(got, integers);
}

TEST_F(CudaLaunch, ExecutablesOutliveTheDevice) {
  auto kernel = device_->compile(scale_kernel(), nullptr);
  auto stream = device_->make_stream(0);
  auto in = upload(*stream, counted(10)), out = upload(*stream, counted(10));
  device_.reset();
  launch_scale(*kernel, *stream, *in, *out, 2, 1);
  EXPECT_EQ(download(*stream, *out)[9], 19);
}

TEST_F(CudaLaunch, ThreadsOnStreamsOfTheirOwn) {
  const auto kernel = device_->compile(scale_kernel(), nullptr);
  std::atomic<int> wrong = 0;
  const auto work = [&](int thread) {
    const auto stream = device_->make_stream(thread % 2);
    const std::vector<float> values = counted(256);
    for (int round = 0; round < 5; ++round) {
      auto in = device_->allocator(thread % 2).allocate_on(1024, stream.get());
      auto out = device_->allocator(thread % 2).allocate_on(1024, stream.get());
      stream->copy(in->data(), values.data(), 1024);
      launch_scale(*kernel, *stream, *in, *out, thread + 1, round);
      const std::vector<float> got = download(*stream, *out);
      for (size_t i = 0; i < got.size(); ++i) wrong += got[i] != values[i] * float(thread + 1) + float(round);
    }
  };
  std::vector<std::thread> threads;
  for (int i = 0; i < 4; ++i) threads.emplace_back(work, i);
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(wrong, 0);
}

TEST_F(CudaLaunch, ThreadsCompileAndLaunchOneText) {
  std::atomic<int> wrong = 0;
  const auto work = [&](int thread) {
    const auto kernel = device_->compile(scale_kernel("shared"), nullptr);
    const auto stream = device_->make_stream(thread % 2);
    const auto in = upload(*stream, counted(10)), out = upload(*stream, counted(10));
    launch_scale(*kernel, *stream, *in, *out, 2, thread);
    wrong += download(*stream, *out)[3] != float(6 + thread);
  };
  std::vector<std::thread> threads;
  for (int i = 0; i < 4; ++i) threads.emplace_back(work, i);
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(wrong, 0);
}

TEST_F(CudaLaunch, CompileManyInOrder) {
  std::vector<KernelText> texts;
  for (int i = 0; i < 5; ++i) {
    KernelText kernel = scale_kernel("many_" + std::to_string(i));
    kernel.text = "__device__ float helper() { return " + std::to_string(i) + ".0f; }\n" + kernel.text;
    kernel.text.replace(kernel.text.find("+ number"), 8, "+ helper()");
    texts.push_back(kernel);
  }
  const auto known = device_->compile(texts[2], nullptr);
  const std::vector<CompiledKernel> compiled = device_->compile_many(texts);
  ASSERT_EQ(compiled.size(), texts.size());
  EXPECT_EQ(compiled[2].executable, known);
  const auto stream = device_->make_stream(1);
  const auto in = upload(*stream, counted(10)), out = upload(*stream, counted(10));
  for (size_t i = 0; i < texts.size(); ++i) {
    EXPECT_GT(compiled[i].facts.compile_ms, 0);
    launch_scale(*compiled[i].executable, *stream, *in, *out, 1, 0);
    EXPECT_EQ(download(*stream, *out)[1], 1 + float(i));
  }
  EXPECT_TRUE(device_->compile_many({}).empty());
}

// The driver's own structure, for a launch without plait.
struct RawConfig {
  unsigned grid[3] = {1, 1, 1}, block[3] = {1, 1, 1}, shared = 0;
  void *stream = nullptr, *attributes = nullptr;
  unsigned count = 0;
};

// Prints host time of a launch above that of the driver's own call with the same arguments.
TEST_F(CudaLaunch, HostTimeLongRun) {
  const KernelText text{"empty", "extern \"C\" __global__ void empty(const float* a, float* b, long long n) {}\n", 2,
                        1};
  const auto kernel = device_->compile(text, nullptr);
  const auto stream = device_->make_stream(0);
  const DriverByName by_name(real_ ? "libcuda.so.1" : options_.driver);
  const std::string code = compile_cuda_unit({&text, 1}, real_ ? device_->target().architecture : "compute_90a").code;
  void *module = nullptr, *function = nullptr;
  const auto launch_raw = by_name.get<int(RawConfig*, void*, void**, void**)>("cuLaunchKernelEx");
  with_cuda_context(*device_, 0, [&] {
    ASSERT_EQ(by_name.get<int(void**, const void*)>("cuModuleLoadData")(&module, code.c_str()), 0);
    ASSERT_EQ(by_name.get<int(void**, void*, const char*)>("cuModuleGetFunction")(&function, module, "empty"), 0);
  });
  void* buffers[] = {nullptr, nullptr};
  const int64_t integers[] = {0};
  LaunchArguments arguments{buffers, integers};
  arguments.stream = stream.get();
  RawConfig config;
  config.stream = stream->native();
  void* parameters[] = {&buffers[0], &buffers[1], const_cast<int64_t*>(&integers[0])};
  const auto time = [&](auto&& body) {  // the least of 20 rounds of 200
    double best = 1e9;
    for (int round = 0; round < 20; ++round) {
      const auto start = std::chrono::steady_clock::now();
      for (int i = 0; i < 200; ++i) body();
      best =
          std::min(best, std::chrono::duration<double, std::micro>(std::chrono::steady_clock::now() - start).count());
      stream->synchronize();
    }
    return best / 200;
  };
  double ours = 0, raw = 0;
  with_cuda_context(*device_, 0, [&] { raw = time([&] { launch_raw(&config, function, parameters, nullptr); }); });
  ours = time([&] { kernel->launch(arguments); });
  std::printf("[ launch ] %.2f us, the driver's own call %.2f us, above it %.2f us\n", ours, raw, ours - raw);
  EXPECT_LT(ours - raw, 2);
  with_cuda_context(*device_, 0, [&] { by_name.get<int(void*)>("cuModuleUnload")(module); });
}

}  // namespace
}  // namespace plait
