// Ranges of backend/cuda/nvtx.h reach a profiler's library, which attaches as NVTX's interface says.
#include "backend/cuda/nvtx.h"

#include <dlfcn.h>
#include <fmt/core.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <string>

#include "support/scratch_folder.h"

namespace plait {
namespace {

// A profiler: notes names of ranges that begin, and their ends. It writes where NVTX's interface has functions, in
// every module, as profilers do.
constexpr const char* kProfiler = R"(
#include <stdint.h>
#include <string>
#include "cuda_abi/nvtx.h"
static std::string log;
static int push(const char* name) { log += std::string("[") + name; return 0; }
static int pop() { log += "]"; return 0; }
static void other() { log += "?"; }
extern "C" const char* noted() { return log.c_str(); }
extern "C" int InitializeInjectionNvtx2(NvtxGetExportTableFunc_t tables) {
  const auto* version = static_cast<const NvtxExportTableVersionInfo*>(tables(NVTX_ETID_VERSIONINFO));
  const auto* functions = static_cast<const NvtxExportTableCallbacks*>(tables(NVTX_ETID_CALLBACKS));
  if (version->struct_size != sizeof *version || functions->struct_size != sizeof *functions || tables(2) != nullptr) return 0;
  version->SetInjectionNvtxVersion(version->version);
  NvtxFunctionTable table = nullptr;
  unsigned size = 0;
  if (functions->GetModuleFunctionTable(NVTX_CB_MODULE_SIZE, &table, &size) != 0) return 0;
  for (int module = NVTX_CB_MODULE_SIZE - 1; module >= NVTX_CB_MODULE_CORE; --module) {
    if (functions->GetModuleFunctionTable(NvtxCallbackModule(module), &table, &size) != 1) return 0;
    if (size < NVTX_CBID_CORE_SIZE || table[0] != nullptr || table[size] != nullptr) return 0;
    for (unsigned i = 1; i < size; ++i) *table[i] = other;
  }
  *table[NVTX_CBID_CORE_RangePushA] = reinterpret_cast<NvtxFunctionPointer>(push);
  *table[NVTX_CBID_CORE_RangePop] = reinterpret_cast<NvtxFunctionPointer>(pop);
  return 1;
}
)";

TEST(NvtxTest, RangesReachTheProfilerThatIsNamed) {
  const testing::ScratchFolder folder;
  const std::string source = folder.file("profiler.cpp", kProfiler), library = folder / "profiler.so";
  const std::string command =
      fmt::format("{} -std=c++17 -shared -fPIC -I{}/csrc {} -o {}", PLAIT_HOST_CXX, PLAIT_SOURCE_DIR, source, library);
  ASSERT_EQ(std::system(command.c_str()), 0);
  setenv("NVTX_INJECTION64_PATH", library.c_str(), 1);
  {
    const NvtxRange outer("outer"), none(nullptr);
    { const NvtxRange inner("inner"); }
  }
  { const NvtxRange next("next"); }
  void* const profiler = dlopen(library.c_str(), RTLD_NOW | RTLD_NOLOAD);
  ASSERT_NE(profiler, nullptr) << "nobody loaded it";
  EXPECT_STREQ(reinterpret_cast<const char* (*)()>(dlsym(profiler, "noted"))(), "[outer[inner]][next]");
}

TEST(NvtxTest, WithoutAProfilerRangesDoNothing) {
  const auto range = [](const char* named) {
    setenv("NVTX_INJECTION64_PATH", named, 1);
    { const NvtxRange range("range"); }
    std::exit(0);
  };
  EXPECT_EXIT(range(""), ::testing::ExitedWithCode(0), "");
  EXPECT_EXIT(range("/no/such/library.so"), ::testing::ExitedWithCode(0), "");
  EXPECT_EXIT(range("libm.so.6"), ::testing::ExitedWithCode(0), "");  // no profiler
}

}  // namespace
}  // namespace plait
