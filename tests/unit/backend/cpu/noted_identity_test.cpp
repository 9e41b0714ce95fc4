// Which LLVM would compile, as an earlier process noted it: valid while nothing of it has changed.
#include "backend/cpu/noted_identity.h"

#include <dlfcn.h>
#include <gtest/gtest.h>

#include "backend/disk_cache.h"
#include "base/plugin_loader.h"
#include "support/scratch_folder.h"

namespace plait {
namespace {

namespace fs = std::filesystem;
using plait::testing::ScratchFolder;
using plait::testing::write_file;

constexpr const char* kPlugin = "libplait_llvm.so";

void touch(const fs::path& file) { fs::last_write_time(file, fs::last_write_time(file) + std::chrono::seconds(1)); }

class NotedIdentity : public ::testing::Test {
 protected:
  NotedIdentity() {
    for (const LibraryFile& file : plugin_files(kPlugin, ""))
      if (fs::exists(file.file)) fs::copy_file(file.file, library_, fs::copy_options::overwrite_existing);
    void* const handle = dlopen(library_.c_str(), RTLD_NOW | RTLD_LOCAL);
    address_ = handle == nullptr ? nullptr : dlsym(handle, "plait_llvm_interface");
    write_file(plugin_, "a plug-in");
    if (address_ != nullptr) note_identity(disk_, kPlugin, scratch_.path(), "native", address_, "LLVM 19\nznver4");
  }
  std::string noted(const std::string& name = kPlugin, const std::string& target = "native") {
    return noted_identity(disk_, name, scratch_.path(), target);
  }

  ScratchFolder scratch_;
  DiskCache disk_{scratch_ / "c", int64_t(1) << 30};
  const std::string library_ = scratch_ / "library.so", plugin_ = scratch_ / kPlugin;
  void* address_ = nullptr;
};

TEST_F(NotedIdentity, IsFoundAgain) {
  ASSERT_NE(address_, nullptr);
  EXPECT_EQ(noted(), "LLVM 19\nznver4");
  EXPECT_EQ(noted("libother.so"), "");
  EXPECT_EQ(noted(kPlugin, "x86-64-v3"), "");
  DiskCache other(scratch_ / "d", int64_t(1) << 30);
  EXPECT_EQ(noted_identity(other, kPlugin, scratch_.path(), "native"), "");
}

TEST_F(NotedIdentity, EndsWithTheLibraryThatItNames) {
  ASSERT_NE(address_, nullptr);
  touch(library_);
  EXPECT_EQ(noted(), "");
  note_identity(disk_, kPlugin, scratch_.path(), "native", address_, "LLVM 20");
  EXPECT_EQ(noted(), "LLVM 20");
  fs::rename(library_, library_ + ".old");
  EXPECT_EQ(noted(), "");
}

TEST_F(NotedIdentity, EndsWithThePlugin) {
  ASSERT_NE(address_, nullptr);
  touch(plugin_);
  EXPECT_EQ(noted(), "");
  fs::remove(plugin_);
  EXPECT_EQ(noted(), "");
}

TEST_F(NotedIdentity, EndsWithTheLoadersFolders) {
  ASSERT_NE(address_, nullptr);
  const char* const was = getenv("LD_LIBRARY_PATH");
  const std::string kept = was == nullptr ? "" : was;
  setenv("LD_LIBRARY_PATH", "/elsewhere", 1);
  EXPECT_EQ(noted(), "");
  if (was == nullptr)
    unsetenv("LD_LIBRARY_PATH");
  else
    setenv("LD_LIBRARY_PATH", kept.c_str(), 1);
  EXPECT_EQ(noted(), "LLVM 19\nznver4");
}

TEST_F(NotedIdentity, DamagedNotesAreNone) {
  ASSERT_NE(address_, nullptr);
  for (const auto& entry : fs::directory_iterator(disk_.folder())) {
    std::string bytes = plait::testing::read_file(entry.path());
    bytes.back() ^= 1;
    write_file(entry.path(), bytes);
  }
  EXPECT_EQ(noted(), "");
}

}  // namespace
}  // namespace plait
