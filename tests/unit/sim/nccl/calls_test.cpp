// The table of calls against the shared object and the page about the simulated GPU.
#include <filesystem>
#include <fstream>
#include <sstream>

#include "unit/sim/nccl/library.h"

namespace plait::test {
namespace {

const char* const kNames[] = {
#define X(name, source) #name,
#include "sim/nccl/calls.def"
#undef X
};

TEST(NcclCalls, EveryCallIsExported) {
  const Machine machine(PLAIT_BINARY_DIR, 1);
  const Library library(PLAIT_BINARY_DIR "/libplait_sim_nccl.so");
  for (const char* name : kNames) EXPECT_NE(library.find(name), nullptr) << name;
  EXPECT_EQ(library.find("ncclCommShrink"), nullptr);  // not simulated: absent, so that nobody calls it
}

// The pinned wheel, where it is installed: every call has the name of a real one.
TEST(NcclCalls, RealLibraryHasEveryCall) {
  std::error_code ignored;  // there may be no environment
  for (const auto& version : std::filesystem::directory_iterator(PLAIT_SOURCE_DIR "/.venv/lib", ignored)) {
    const auto path = version.path() / "site-packages/nvidia/nccl/lib/libnccl.so.2";
    if (!std::filesystem::exists(path)) continue;
    void* real = dlopen(path.c_str(), RTLD_LAZY | RTLD_LOCAL);
    if (real == nullptr) GTEST_SKIP() << dlerror();
    for (const char* name : kNames) EXPECT_NE(dlsym(real, name), nullptr) << name;
    return;
  }
  GTEST_SKIP() << "libnccl.so.2 is not installed in .venv";
}

TEST(NcclCalls, PageShowsTheTable) {
  std::ifstream file(PLAIT_SOURCE_DIR "/docs/simulated_gpu.md");
  ASSERT_TRUE(file);
  std::stringstream text;
  text << file.rdbuf();
  const std::string page = text.str();
#define X(name, source) EXPECT_TRUE(has(page, "| `" #name "` | from the manual |"));
#include "sim/nccl/calls.def"
#undef X
  size_t rows = 0;
  for (size_t at = page.find("| `nccl"); at != page.npos; at = page.find("| `nccl", at + 1)) ++rows;
  EXPECT_EQ(rows, std::size(kNames));
}

}  // namespace
}  // namespace plait::test
