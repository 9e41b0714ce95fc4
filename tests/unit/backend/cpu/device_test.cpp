#include <dlfcn.h>
#include <gtest/gtest.h>

#include <atomic>
#include <filesystem>
#include <thread>

#include "base/sanitizers.h"
#include "support/allocation_counter.h"
#include "support/kernel_run.h"

namespace plait {
namespace {

using test::Style;

kir::Kernel gelu_kernel(int lanes) {
  return test::pointwise_kernel(
      {DType::f32}, DType::f32, lanes, Style::active,
      [](test::KernelBuilder& b, const auto& v) { return b.compute(Pointwise::gelu_tanh, {v[0]}); });
}

TEST(CpuDevice, NameLanesAndAllocator) {
  const auto device = test::cpu_device();
  EXPECT_EQ(device->name(), "cpu");
  EXPECT_TRUE(device->target().vector_lanes == 4 || device->target().vector_lanes == 8 ||
              device->target().vector_lanes == 16);
  EXPECT_EQ(make_cpu_device({.lanes = 2})->target().vector_lanes, 2);
  EXPECT_EQ(reinterpret_cast<uintptr_t>(device->allocator().allocate(10)->data()) % kBufferAlignment, 0u);
}

TEST(CpuDevice, SameTextIsTheSameExecutable) {
  const auto device = test::cpu_device();
  KernelFacts first, second;
  const auto a = device->compile(test::text_of(gelu_kernel(8)), &first);
  const auto b = device->compile(test::text_of(gelu_kernel(8)), &second);
  const auto c = device->compile(test::text_of(gelu_kernel(4)), nullptr);
  EXPECT_EQ(a, b);
  EXPECT_NE(a, c);
  EXPECT_GT(first.compile_ms, 0);
  EXPECT_EQ(first.compile_ms, second.compile_ms);
  EXPECT_FALSE(first.registers.has_value());
}

// Texts of kernels that write nothing do not say how they are launched.
TEST(CpuDevice, TheSameTextIsLaunchedAsItsKernelSays) {
  const auto device = make_cpu_device();
  const KernelText first = test::text_of(gelu_kernel(8));
  KernelText more = first, parted = first;
  more.buffers += 1;
  parted.waves = {2};
  const auto executable = device->compile(first, nullptr);
  EXPECT_NE(executable, device->compile(more, nullptr));
  EXPECT_NE(first.signature(), parted.signature());
  EXPECT_EQ(executable, device->compile(first, nullptr));
}

TEST(CpuDevice, ExecutablesOutliveTheDevice) {
  const kir::Kernel kernel = gelu_kernel(8);
  std::shared_ptr<Executable> executable;
  {
    const auto device = test::cpu_device(2);
    executable = device->compile(test::text_of(kernel), nullptr);
  }
  const Tensor x = Tensor::from_doubles(DType::f32, {3}, {0, 100, -100}), y = Tensor::empty(DType::f32, {3});
  test::launch(*executable, kernel, {x, y}, {3});
  EXPECT_EQ(y.at(1), 100);
}

TEST(CpuDevice, RefusesBadText) {
  const auto device = test::cpu_device();
  const auto message = [&](const std::string& name, const std::string& text) -> std::string {
    try {
      device->compile({name, text, 0, 0}, nullptr);
    } catch (const InternalError& error) {
      return error.what();
    }
    return "accepted";
  };
  EXPECT_NE(message("k", "define void @k() { nonsense }").find("expected instruction"), std::string::npos);
  EXPECT_NE(message("k", "define void @other() { ret void }").find("defines no function k"), std::string::npos);
  EXPECT_NE(message("k", "declare void @g()\ndefine void @k() {\n call void @g()\n ret void }").find("it calls g, "),
            std::string::npos);
  EXPECT_NE(message("k", "").find("defines no function"), std::string::npos);
  // The device still works.
  EXPECT_NO_THROW(device->compile(test::text_of(gelu_kernel(4)), nullptr));
}

TEST(CpuDevice, RefusesWrongNumbersOfArguments) {
  const kir::Kernel kernel = gelu_kernel(8);
  const auto executable = test::shared_cpu().compile(test::text_of(kernel), nullptr);
  EXPECT_THROW(executable->launch({}), InternalError);
}

TEST(CpuDevice, MissingPluginNamesThePackage) {
  const auto device = make_cpu_device({.threads = 1, .plugin_folder = "/nonexistent"});
  try {
    device->compile(test::text_of(gelu_kernel(8)), nullptr);
    FAIL() << "compiled without a plug-in";
  } catch (const MissingError& error) {
    EXPECT_NE(error.remedy().find("llvm-19-dev"), std::string::npos);
    EXPECT_NE(error.where().find("/nonexistent"), std::string::npos);
  }
  std::string why_not;
  EXPECT_EQ(device->library({}, &why_not), nullptr);
  EXPECT_NE(why_not.find("libdnnl-dev"), std::string::npos);
}

TEST(CpuDevice, CompilesFromSeveralThreads) {
  const auto device = test::cpu_device();
  std::atomic<int> wrong = 0;
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([&, t] {
      for (int round = 0; round < 6; ++round) {
        const double k = t * 100 + round / 2;  // half of the texts are compiled twice
        const kir::Kernel kernel = test::pointwise_kernel(
            {DType::f32}, DType::f32, 8, Style::active, [&](test::KernelBuilder& b, const auto& v) {
              return b.compute(Pointwise::add, {v[0], b.literal(DType::f32, k, 8)});
            });
        const Tensor x = Tensor::from_doubles(DType::f32, {3}, {1, 2, 3}), y = Tensor::empty(DType::f32, {3});
        test::run(kernel, {x, y}, {3}, *device);
        wrong += y.at(2) != 3 + k;
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(wrong, 0);
}

TEST(CpuDevice, ExecutablesGoWithTheDevice) {
  std::weak_ptr<Executable> dropped;
  {
    const auto local = test::cpu_device();
    dropped = local->compile(test::text_of(gelu_kernel(8)), nullptr);
    EXPECT_FALSE(dropped.expired());
  }
  EXPECT_TRUE(dropped.expired());
}

#if !PLAIT_TSAN
// Two devices whose contractions run on OpenMP have one team and no workers.
TEST(CpuDevice, KernelsRunOnTheThreadsOfProducts) {
  auto threads = [] {
    const std::filesystem::directory_iterator tasks("/proc/self/task");
    return std::distance(begin(tasks), end(tasks));
  };
  const std::unique_ptr<Device> devices[] = {test::cpu_device(2), test::cpu_device(2)};
  const kir::Kernel kernel = gelu_kernel(8);
  const Tensor x = Tensor::from_doubles(DType::f32, {1 << 20}, std::vector<double>(1 << 20, 0.5));
  const Tensor y = Tensor::empty(DType::f32, {1 << 20});
  std::vector<ptrdiff_t> counts;
  for (const auto& device : devices) {
    std::string why_not;
    if (device->library({DType::f32, DType::f32, true}, &why_not) == nullptr) GTEST_SKIP() << why_not;
    if (dlopen("libgomp.so.1", RTLD_LAZY | RTLD_NOLOAD) == nullptr) GTEST_SKIP() << "contractions without GNU OpenMP";
    test::launch(*device->compile(test::text_of(kernel), nullptr), kernel, {x, y}, {1 << 20});
    counts.push_back(threads());
  }
  EXPECT_EQ(counts[0], counts[1]);
}
#endif

TEST(CpuDevice, LaunchAllocatesNothing) {
  if (!test::counts_allocations()) GTEST_SKIP() << "this build cannot count allocations";
  const auto device = test::cpu_device(2);
  const kir::Kernel kernel = gelu_kernel(8);
  const auto executable = device->compile(test::text_of(kernel), nullptr);
  const Tensor x = Tensor::from_doubles(DType::f32, {1 << 20}, std::vector<double>(1 << 20, 0.5));
  const Tensor y = Tensor::empty(DType::f32, {1 << 20});
  void* buffers[] = {x.data(), y.data()};
  const int64_t integers[] = {1 << 20};
  const LaunchArguments arguments{.buffers = buffers, .integers = integers, .thread_extent = (1 << 20) / 8};
  executable->launch(arguments);  // starts the workers
  const int64_t before = test::large_allocations();
  for (int i = 0; i < 10; ++i) executable->launch(arguments);
  EXPECT_EQ(test::large_allocations(), before);
}

}  // namespace
}  // namespace plait
