// The table of calls against the shared object, the real library and the page about the simulated GPU.
#include <filesystem>
#include <fstream>
#include <sstream>

#include "unit/sim/cublaslt/library.h"

namespace plait::test {
namespace {

const char* const kNames[] = {
#define X(name, source) #name,
#include "sim/cublaslt/calls.def"
#undef X
};

TEST(CublasLtCalls, EveryCallIsExported) {
  const Machine machine(PLAIT_BINARY_DIR, 1);
  const Library library(PLAIT_BINARY_DIR "/libplait_sim_cublaslt.so");
  for (const char* name : kNames) EXPECT_NE(library.find(name), nullptr) << name;
  EXPECT_EQ(library.find("cublasLtMatrixTransform"), nullptr);  // not simulated: absent, so that nobody calls it
}

TEST(CublasLtCalls, VersionsAndTexts) {
  const Machine machine(PLAIT_BINARY_DIR, 1);
  const CublasLt lt{Library(PLAIT_BINARY_DIR "/libplait_sim_cublaslt.so")};
  EXPECT_EQ(lt.cublasLtGetVersion(), size_t{CUBLAS_VERSION});
  int major = 0;
  ASSERT_EQ(lt.cublasLtGetProperty(MAJOR_VERSION, &major), CUBLAS_STATUS_SUCCESS);
  EXPECT_EQ(major, CUBLAS_VER_MAJOR);
  EXPECT_STREQ(lt.cublasLtGetStatusName(CUBLAS_STATUS_NOT_SUPPORTED), "CUBLAS_STATUS_NOT_SUPPORTED");
  EXPECT_STREQ(lt.cublasLtGetStatusName(static_cast<cublasStatus_t>(31)), "CUBLAS_STATUS_UNKNOWN");
  EXPECT_STRNE(lt.cublasLtGetStatusString(CUBLAS_STATUS_INVALID_VALUE), "");
}

// The pinned wheel, where it is installed: every call has the name of a real one.
TEST(CublasLtCalls, RealLibraryHasEveryCall) {
  std::error_code ignored;  // there may be no environment
  for (const auto& version : std::filesystem::directory_iterator(PLAIT_SOURCE_DIR "/.venv/lib", ignored)) {
    const auto path = version.path() / "site-packages/nvidia/cu13/lib/libcublasLt.so.13";
    if (!std::filesystem::exists(path)) continue;
    void* real = dlopen(path.c_str(), RTLD_LAZY | RTLD_LOCAL);
    if (real == nullptr) GTEST_SKIP() << dlerror();
    for (const char* name : kNames) EXPECT_NE(dlsym(real, name), nullptr) << name;
    return;
  }
  GTEST_SKIP() << "libcublasLt.so.13 is not installed in .venv";
}

TEST(CublasLtCalls, PageShowsTheTables) {
  std::ifstream file(PLAIT_SOURCE_DIR "/docs/simulated_gpu.md");
  ASSERT_TRUE(file);
  std::stringstream text;
  text << file.rdbuf();
  const std::string page = text.str();
#define X(name, source) EXPECT_TRUE(has(page, "| `" #name "` | from the manual |"));
#include "sim/cublaslt/calls.def"
#undef X
#define X(compute, scale, in, out, precision) \
  EXPECT_TRUE(has(page, "| `" #compute "` | `" #scale "` | `" #in "` | `" #out "` | " #precision " |"));
#include "sim/cublaslt/types.def"
#undef X
  size_t rows = 0;
  for (size_t at = page.find("| `cublasLt"); at != page.npos; at = page.find("| `cublasLt", at + 1)) ++rows;
  EXPECT_EQ(rows, std::size(kNames));
}

}  // namespace
}  // namespace plait::test
