// Generated kernels through NVRTC: machine code for every architecture, registers, spills, wide accesses.
#include "backend/cuda/nvrtc.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <thread>

#include "base/error.h"
#include "codegen/cuda/write.h"
#include "support/host_shim_kernels.h"

namespace plait {
namespace {

using namespace test;

class Nvrtc : public testing::TestWithParam<const char*> {
 protected:
  void SetUp() override {
    std::string why_not;
    if (!nvrtc_available(&why_not)) GTEST_SKIP() << "NVRTC: " << why_not;
    const std::string number = std::string(GetParam()).substr(3);
    const std::vector<int> known = nvrtc_architectures();
    if (std::find(known.begin(), known.end(), std::atoi(number.c_str())) == known.end())
      GTEST_SKIP() << "NVRTC " << nvrtc_version() << " does not know " << GetParam();
  }

  // Compiles and asserts what every kernel must show.
  // The circular functions of CUDA's own library reduce large arguments in a stack frame.
  NvrtcResult compile(const kir::Kernel& kernel, bool may_have_stack = false) {
    kir::verify(kernel);
    const NvrtcResult result = compile_cuda(write_cuda(kernel), kernel.name, GetParam());
    EXPECT_EQ(std::string(result.cubin.data() + 1, 3), "ELF") << kernel.name;
    EXPECT_EQ(result.spill_bytes, 0) << kernel.name;
    if (!may_have_stack) {
      EXPECT_EQ(result.stack_bytes, 0) << kernel.name;
      EXPECT_EQ(result.ptx.find(".local"), std::string::npos) << kernel.name;
    }
    EXPECT_EQ(result.shared_bytes, 0) << kernel.name;
    EXPECT_GT(result.registers, 0) << kernel.name;
    std::printf("[ %-28s ] %s: %3d registers, %5.1f ms\n", kernel.name.c_str(), GetParam(), result.registers,
                result.compile_ms);
    return result;
  }
};

size_t count(const std::string& text, const std::string& part) {
  size_t n = 0;
  for (size_t at = text.find(part); at != text.npos; at = text.find(part, at + 1)) ++n;
  return n;
}

TEST_P(Nvrtc, EmptyKernelFloor) {
  KernelBuilder k("empty", TargetKind::cuda);
  compile(k.kernel);
}

TEST_P(Nvrtc, VectorWidths) {
  for (const int lanes : {1, 2, 4, 8}) {
    const NvrtcResult result = compile(add_kernel(DType::f32, lanes));
    EXPECT_LE(result.registers, 40) << lanes;
    const size_t wide = lanes < 4 ? 0 : size_t(lanes) / 4;
    EXPECT_EQ(count(result.ptx, "ld.global.nc.v4"), 2 * wide) << lanes;
    EXPECT_EQ(count(result.ptx, "st.global.v4"), wide) << lanes;
    EXPECT_EQ(count(result.ptx, "ld.global.nc.v2"), lanes == 2 ? 2u : 0u) << lanes;
  }
}

TEST_P(Nvrtc, SixteenBytesOfEveryType) {
  for (const auto& [dtype, lanes] : {std::pair{DType::f64, 2},
                                     {DType::i64, 2},
                                     {DType::u32, 4},
                                     {DType::f16, 8},
                                     {DType::bf16, 8},
                                     {DType::u64, 4}}) {
    const NvrtcResult result = compile(add_kernel(dtype, lanes));
    const std::string width = size_of(dtype) == 8 ? "v2.u64" : "v4";
    const std::string floats = "v2.f64";
    EXPECT_EQ(count(result.ptx, "ld.global.nc." + (dtype == DType::f64 ? floats : width)),
              2 * size_of(dtype) * size_t(lanes) / 16)
        << name(dtype);
  }
}

TEST_P(Nvrtc, FusedPointwise) {
  const NvrtcResult result = compile(bias_gelu_dropout_kernel(DType::bf16, 8));
  EXPECT_LE(result.registers, 64);
  EXPECT_EQ(count(result.ptx, "ex2.approx"), 16u) << "8 in the whole vector, 8 in the tail";
  EXPECT_EQ(count(result.ptx, "ld.global.nc.v4"), 2u);
  compile(bias_gelu_dropout_kernel(DType::f32, 4));
}

TEST_P(Nvrtc, LoopsAndLanes) {
  compile(row_sum_kernel());
  EXPECT_EQ(count(compile(column_sum_kernel()).ptx, "st.global.v4"), 2u);
  compile(transpose_kernel());
}

TEST_P(Nvrtc, EveryFunctionAndCastsOfTwoTypes) {
  for (const auto& [dtype, lanes] :
       {std::pair{DType::f32, 1}, {DType::i64, 2}, {DType::u32, 4}, {DType::boolean, 8}, {DType::f64, 1}}) {
    std::vector<Pointwise> ops;
    compile(all_ops_kernel(dtype, lanes, &ops), is_float(dtype));
  }
  for (const DType dtype : {DType::f64, DType::bf16}) compile(casts_kernel(dtype, 2));
}

INSTANTIATE_TEST_SUITE_P(Architectures, Nvrtc, testing::Values("sm_80", "sm_90a", "sm_100a"),
                         [](const auto& info) { return std::string(info.param); });

class NvrtcErrors : public testing::Test {
 protected:
  void SetUp() override {
    std::string why_not;
    if (!nvrtc_available(&why_not)) GTEST_SKIP() << "NVRTC: " << why_not;
  }
};

TEST_F(NvrtcErrors, NumberedSourceAroundTheFirst) {
  std::string text;
  for (int i = 1; i < 20; ++i) text += fmt::format("// line {}\n", i);
  text += "extern \"C\" __global__ void k() { wrong(); }\n// after\n";
  try {
    compile_cuda(text, "k", "sm_80");
    FAIL();
  } catch (const InternalError& error) {
    EXPECT_NE(error.message().find("  20 extern"), std::string::npos) << error.what();
    EXPECT_NE(error.message().find("  16 // line 16"), std::string::npos);
    EXPECT_EQ(error.message().find("// line 15"), std::string::npos);
    EXPECT_NE(error.message().find("wrong"), std::string::npos);
  }
}

TEST_F(NvrtcErrors, UnknownArchitectures) {
  for (const char* architecture : {"sm_9", "sm_", "", "compute_", "compute_20", "sm_20", "lto_80"})
    EXPECT_THROW(compile_cuda("", "k", architecture), MissingError) << architecture;
}

TEST_F(NvrtcErrors, SpillsAreRead) {
  // 200 live values at 32 registers a thread.
  const std::string text =
      "extern \"C\" __global__ void __launch_bounds__(1024, 2) k(float* p) {\n  float v[200];\n"
      "  for (int i = 0; i < 200; ++i) v[i] = p[i * 1024 + threadIdx.x];\n  __syncthreads();\n"
      "  for (int i = 0; i < 200; ++i) p[i * 1024 + threadIdx.x] = v[199 - i] * v[i];\n}\n";
  const NvrtcResult result = compile_cuda(text, "k", "sm_80");
  EXPECT_GT(result.spill_bytes + result.stack_bytes, 0);
  EXPECT_LE(result.registers, 32);
  const std::string shared =
      "extern \"C\" __global__ void k(float* p) { __shared__ float s[256]; s[threadIdx.x] = p[threadIdx.x];\n"
      "__syncthreads(); p[threadIdx.x] = s[threadIdx.x ^ 1]; }\n";
  EXPECT_EQ(compile_cuda(shared, "k", "sm_80").shared_bytes, 1024);
}

TEST_F(NvrtcErrors, ThreadsCompileAtOnce) {
  const kir::Kernel kernel = add_kernel(DType::f32, 4);
  const std::string text = write_cuda(kernel);
  std::vector<NvrtcResult> results(4);
  std::vector<std::thread> threads;
  for (NvrtcResult& result : results) threads.emplace_back([&] { result = compile_cuda(text, kernel.name, "sm_80"); });
  for (std::thread& thread : threads) thread.join();
  for (const NvrtcResult& result : results) EXPECT_EQ(result.cubin, results[0].cubin);
}

// In a process of its own, where nothing is loaded yet.
TEST(NvrtcSearch, RefusedPathLeavesTheSearchOpen) {
  testing::FLAGS_gtest_death_test_style = "threadsafe";
  const auto body = [] {
    try {
      load_nvrtc("/nowhere/libnvrtc.so");
    } catch (const MissingError&) {
      const bool before = nvrtc_available(nullptr);
      std::exit(before == nvrtc_available(nullptr) ? 7 : 1);
    } catch (...) {}
    std::exit(2);
  };
  EXPECT_EXIT(body(), testing::ExitedWithCode(7), "");
}

TEST(NvrtcSearch, OrderOfPlaces) {
  namespace fs = std::filesystem;
  const fs::path root = fs::path(testing::TempDir()) / fmt::format("nvrtc_search_{}", getpid());
  const fs::path own = root / "own/lib64", kit = root / "kit/targets/machine/lib";
  const fs::path wheel = root / "env/lib/python3.11/site-packages/nvidia/cu13/lib";
  for (const fs::path& folder : {own, kit, wheel}) fs::create_directories(folder);
  std::ofstream(own / "libnvrtc.so.12") << "no library";
  std::ofstream(own / "libnvrtc.so.13") << "no library";
  std::ofstream(own / "libnvrtc.alt.so.13") << "other";
  std::ofstream(own / "libnvrtc-builtins.so.13.0") << "other";
  std::ofstream(kit / "libnvrtc.so") << "no library";
  std::ofstream(wheel / "libnvrtc.so.13") << "no library";
  setenv("PLAIT_CUDA_HOME", (root / "own").c_str(), 1);
  setenv("CUDA_HOME", (root / "kit").c_str(), 1);
  setenv("VIRTUAL_ENV", (root / "env").c_str(), 1);
  std::vector<std::string> found;
  for (const LibraryFile& each : nvrtc_candidates()) found.push_back(each.file);
  for (const char* variable : {"PLAIT_CUDA_HOME", "CUDA_HOME", "VIRTUAL_ENV"}) unsetenv(variable);
  fs::remove_all(root);
  if (found.empty()) GTEST_SKIP() << "NVRTC: built without it";
  const auto index = [&](const fs::path& path) { return std::find(found.begin(), found.end(), path) - found.begin(); };
  EXPECT_EQ(index(own / "libnvrtc.so.13"), 0) << "the newest first";
  EXPECT_EQ(index(own / "libnvrtc.so.12"), 1);
  EXPECT_EQ(index(kit / "libnvrtc.so"), 2);
  EXPECT_LT(size_t(index(wheel / "libnvrtc.so.13")), found.size());
  for (const std::string& each : found) {
    EXPECT_EQ(each.find(".alt."), each.npos);
    EXPECT_TRUE(fs::path(each).is_absolute()) << each;
    EXPECT_EQ(each.find("builtins"), each.npos);
  }
}

TEST(NvrtcFacts, OfDevices) {
  NvrtcResult result;
  result.registers = 30;
  result.spill_bytes = 8;
  result.shared_bytes = 16;
  result.compile_ms = 2.5;
  const KernelFacts got = facts(result);
  EXPECT_EQ(got.registers, 30);
  EXPECT_EQ(got.spill_bytes, 8);
  EXPECT_EQ(got.shared_bytes, 16);
  EXPECT_EQ(got.compile_ms, 2.5);
}

}  // namespace
}  // namespace plait
