// Libraries of others come from where the caller or the installation says, never from the working directory.
#include "base/library_search.h"

#include <gtest/gtest.h>
#include <stdlib.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <set>

#include "base/environment.h"
#include "base/error.h"
#include "base/plugin_loader.h"
#include "command/run_command.h"

namespace plait {
namespace {

namespace fs = std::filesystem;
using testing::ScratchFolder;

constexpr const char* kNames[] = {"libplanted.so.2"};

class LibrarySearch : public ::testing::Test {
 protected:
  void SetUp() override {
    for (const char* variable : kVariables) old_.push_back(environment(variable));
    for (const char* variable : kVariables) unsetenv(variable);
    fs::create_directories(deep_);
    fs::current_path(deep_);
  }
  void TearDown() override {
    fs::current_path(here_);
    for (size_t i = 0; i < old_.size(); ++i)
      old_[i] ? setenv(kVariables[i], old_[i]->c_str(), 1) : unsetenv(kVariables[i]);
  }
  // A file as a wheel in the environment has it.
  fs::path plant(const fs::path& environment) {
    const fs::path folder = environment / "lib/python3.11/site-packages/nvidia/planted/lib";
    fs::create_directories(folder);
    testing::write_file(folder / "libplanted.so.2", "no library");
    return folder / "libplanted.so.2";
  }
  static std::string rule_of(const fs::path& file) {
    for (const LibraryFile& each : library_candidates("libplanted", kNames))
      if (each.file == file) return each.rule;
    return "";
  }

  static constexpr const char* kVariables[] = {"PLAIT_CUDA_HOME", "CUDA_HOME", "VIRTUAL_ENV", "LD_LIBRARY_PATH"};
  ScratchFolder scratch_;
  const fs::path root_ = fs::canonical(scratch_.path()), deep_ = root_ / "a" / "b", here_ = fs::current_path();
  std::vector<std::optional<std::string>> old_;
};

TEST_F(LibrarySearch, TheWorkingDirectoryIsNoPlace) {
  plant(deep_ / ".venv");
  plant(root_ / ".venv");
  plant(deep_);
  testing::write_file(deep_ / "libplanted.so.2", "no library");
  for (const char* list : {"", ":", ".", ":/nowhere", "a:./b"}) {
    setenv("LD_LIBRARY_PATH", list, 1);
    for (const LibraryFile& each : library_candidates("libplanted", kNames))
      ADD_FAILURE() << each.file << " by " << each.rule << " with LD_LIBRARY_PATH=" << list;
  }
}

TEST_F(LibrarySearch, RulesNameThePlaces) {
  const fs::path wheel = plant(root_ / "environment"), kit = root_ / "kit" / "lib64", folder = root_ / "folder";
  for (const fs::path& each : {kit, folder}) {
    fs::create_directories(each);
    testing::write_file(each / "libplanted.so.2", "no library");
  }
  setenv("VIRTUAL_ENV", (root_ / "environment").c_str(), 1);
  setenv("PLAIT_CUDA_HOME", (root_ / "kit").c_str(), 1);
  setenv("LD_LIBRARY_PATH", ("relative:" + folder.string()).c_str(), 1);
  EXPECT_EQ(rule_of(kit / "libplanted.so.2"), "PLAIT_CUDA_HOME");
  EXPECT_EQ(rule_of(wheel), "VIRTUAL_ENV");
  EXPECT_EQ(rule_of(folder / "libplanted.so.2"), "LD_LIBRARY_PATH");
  const auto all = library_candidates("libplanted", kNames);
  ASSERT_EQ(all.size(), 3u);
  EXPECT_EQ(all.front().rule, "PLAIT_CUDA_HOME");
  EXPECT_EQ(all.back().rule, "LD_LIBRARY_PATH");
}

TEST_F(LibrarySearch, PackagesOfAnInterpreter) {
  const fs::path wheel = plant(root_ / "other");
  EXPECT_EQ(rule_of(wheel), "");
  add_package_folder((root_ / "other/lib/python3.11/site-packages").string());
  EXPECT_EQ(rule_of(wheel), "the interpreter's packages");
  add_package_folder(".");
  plant(deep_);
  EXPECT_EQ(library_candidates("libplanted", kNames).size(), 1u);
}

TEST_F(LibrarySearch, LibrariesThatTheProcessHas) {
  constexpr const char* kLoaded[] = {"libc.so.6"};
  const auto all = loader_candidates(kLoaded);
  ASSERT_FALSE(all.empty());
  EXPECT_EQ(all.front().rule, "loaded by the process");
  for (const LibraryFile& each : all) EXPECT_TRUE(fs::path(each.file).is_absolute()) << each.file;
}

// Run by the test below too, as a program of another name.
TEST(PluginFolders, AreAbsolute) {
  std::set<std::string> known;
  for (const LibraryFile& each : plugin_folders()) {
    EXPECT_TRUE(known.insert(each.file).second) << each.file << " is there twice";
    EXPECT_TRUE(fs::path(each.file).is_absolute()) << each.file;
    printf("place %s\n", each.file.c_str());
  }
}

TEST_F(LibrarySearch, TheNameOfAProgramIsNoPlace) {
  testing::write_file(deep_ / "plait", "whoever can write here");
  const std::string line =
      "exec -a plait " + fs::read_symlink("/proc/self/exe").string() + " --gtest_filter=PluginFolders.AreAbsolute";
  const auto result = testing::run_words({"/bin/bash", "-c", line}, deep_);
  ASSERT_EQ(result.exit, 0) << result.out << result.err;
  EXPECT_NE(result.out.find("place /"), result.out.npos);
  EXPECT_EQ(result.out.find("place " + root_.string()), result.out.npos) << result.out;
}

TEST_F(LibrarySearch, PluginsComeFromNoWorkingDirectory) {
  testing::write_file(deep_ / "libplait_planted.so", "no library");
  setenv("LD_LIBRARY_PATH", ".:", 1);
  try {
    load_plugin("libplait_planted.so", "symbol", "", "package");
    FAIL();
  } catch (const MissingError& e) {
    EXPECT_NE(e.message().find("no such file"), std::string::npos) << e.what();
    EXPECT_NE(e.remedy().find("lib/plait of its installation"), std::string::npos) << e.what();
    EXPECT_NE(e.remedy().find("LD_LIBRARY_PATH"), std::string::npos) << e.what();
    EXPECT_EQ(e.where().find(root_.string()), std::string::npos) << e.what();
  }
}

}  // namespace
}  // namespace plait
