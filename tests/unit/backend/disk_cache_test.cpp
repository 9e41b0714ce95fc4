// Code on disk: found whole or not at all, whatever happened to the files.
#include "backend/disk_cache.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/mount.h>
#include <sys/resource.h>
#include <sys/stat.h>

#include <chrono>
#include <filesystem>
#include <fstream>
#include <random>
#include <thread>

#include "support/child.h"
#include "support/scratch_folder.h"

namespace plait {
namespace {

namespace fs = std::filesystem;
using namespace plait::testing;

constexpr int64_t kRoom = int64_t(1) << 30;

std::vector<fs::path> files_in(const std::string& folder) {
  std::vector<fs::path> out;
  for (const auto& entry : fs::directory_iterator(folder)) out.push_back(entry.path());
  std::sort(out.begin(), out.end());
  return out;
}

// The only file of a cache with one entry.
fs::path only_file(const std::string& folder) {
  const std::vector<fs::path> files = files_in(folder);
  EXPECT_EQ(files.size(), 1u);
  return files.at(0);
}

// Code that tells of its source, of a size of its own.
std::string source_of(int i) { return "source " + std::to_string(i) + std::string(size_t(i % 97), 's'); }
std::string code_of(int i) {
  std::string out;
  for (int k = 0; k < 50 + i * 37 % 3000; ++k) out += char(i * 31 + k * 7);
  return out;
}

TEST(DiskCache, KeepsCodeForLaterProcesses) {
  const ScratchFolder scratch;
  {
    DiskCache cache(scratch / "a/b/c", kRoom);
    EXPECT_EQ(cache.find("text"), std::nullopt);
    cache.store("text", std::string("co\0de", 5));
    cache.store("", "of nothing");
    cache.store("nothing", "");
    EXPECT_EQ(cache.counts().stored, 3);
    EXPECT_EQ(cache.counts().misses, 1);
  }
  EXPECT_EQ(fs::status(scratch / "a/b/c").permissions(), fs::perms::owner_all);
  DiskCache later(scratch / "a/b/c", kRoom);
  EXPECT_EQ(later.find("text"), std::string("co\0de", 5));
  EXPECT_EQ(later.find(""), "of nothing");
  EXPECT_EQ(later.find("nothing"), "");
  EXPECT_EQ(later.find("text "), std::nullopt);
  EXPECT_EQ(later.why_not(), "");
  EXPECT_EQ(later.counts().hits, 3);
  later.store("text", "newer");
  EXPECT_EQ(later.find("text"), "newer");
  EXPECT_EQ(later.contents(true).entries, 3);
}

// Two sources whose names are the same: the one that is not meant does not answer.
TEST(DiskCache, ComparesSources) {
  const ScratchFolder scratch;
  DiskCache cache(scratch / "c", kRoom);
  cache.store("one", "code of one");
  const fs::path one = only_file(scratch / "c");
  const std::string bytes = read_file(one);
  fs::remove(one);
  cache.store("two", "code of two");
  write_file(only_file(scratch / "c"), bytes);
  EXPECT_EQ(cache.find("two"), std::nullopt);
  cache.store("two", "code of two");
  EXPECT_EQ(cache.find("two"), "code of two");
}

TEST(DiskCache, DamagedEntriesAreNone) {
  const ScratchFolder scratch;
  DiskCache cache(scratch / "c", kRoom);
  const std::string source = source_of(90), code = code_of(90);
  cache.store(source, code);
  const fs::path file = only_file(scratch / "c");
  const std::string whole = read_file(file);
  std::mt19937 random(1);
  for (int i = 0; i < 1000; ++i) {  // a bit
    std::string bytes = whole;
    bytes[random() % bytes.size()] ^= char(1 << random() % 8);
    write_file(file, bytes);
    ASSERT_EQ(cache.find(source), std::nullopt) << i;
  }
  for (size_t length = 0; length < whole.size(); length += 7) {  // what comes behind
    write_file(file, whole.substr(0, length));
    ASSERT_EQ(cache.find(source), std::nullopt) << length;
    std::string zeros = whole;
    std::fill(zeros.begin() + ptrdiff_t(length), zeros.end(), '\0');
    write_file(file, zeros);
    ASSERT_EQ(cache.find(source), std::nullopt) << length;
  }
  write_file(file, whole + '\0');
  EXPECT_EQ(cache.find(source), std::nullopt);
  EXPECT_EQ(cache.contents(false).entries, 1);
  const DiskCache::Contents seen = cache.contents(true);
  EXPECT_EQ(seen.damaged, 1);
  EXPECT_EQ(seen.entries, 0);
  cache.store(source, code);
  EXPECT_EQ(cache.find(source), code);
}

TEST(DiskCache, RefusesFoldersThatOthersWriteTo) {
  const ScratchFolder scratch;
  fs::create_directory(scratch / "open");
  fs::permissions(scratch / "open", fs::perms::all);
  DiskCache open(scratch / "open", kRoom);
  open.store("text", "code");
  EXPECT_EQ(open.find("text"), std::nullopt);
  EXPECT_EQ(open.why_not(), (scratch / "open") + " can be written by others");
  EXPECT_TRUE(fs::is_empty(scratch / "open"));

  fs::create_directory(scratch / "own");
  fs::create_directory_symlink(scratch / "own", scratch / "link");
  DiskCache link(scratch / "link", kRoom);
  link.store("text", "code");
  EXPECT_NE(link.why_not(), "");
  EXPECT_TRUE(fs::is_empty(scratch / "own"));

  write_file(scratch / "file", "");
  EXPECT_NE(DiskCache(scratch / "file", kRoom).why_not(), "");
  EXPECT_NE(DiskCache(scratch / "file/below", kRoom).why_not(), "");
  EXPECT_EQ(DiskCache("here", kRoom).why_not(), "here is not an absolute path");
  EXPECT_EQ(DiskCache("", kRoom).why_not(), "the environment names no folder");
  EXPECT_EQ(DiskCache(scratch / "none", 0).why_not(), "PLAIT_CACHE_MIB is 0");
  EXPECT_FALSE(fs::exists(scratch / "none"));
  if (geteuid() != 0) return;
  fs::create_directory(scratch / "foreign");
  ASSERT_EQ(chown((scratch / "foreign").c_str(), 1, 1), 0);
  EXPECT_EQ(DiskCache(scratch / "foreign", kRoom).why_not(), (scratch / "foreign") + " belongs to another user");
}

// What a long process meets: its folder removed, its descriptors closed, too many of them open.
TEST(DiskCache, GoesOnAfterWhatPasses) {
  const ScratchFolder scratch;
  const std::string said = in_child(20, [&]() -> std::string {
    DiskCache cache(scratch / "c/", kRoom);
    cache.store("one", "code");
    fs::remove_all(scratch / "c");
    if (cache.find("one")) return "found";
    cache.store("one", "code");
    if (cache.find("one") != "code") return "not made again";
    const rlimit none{3, 3};
    rlimit usual{};
    getrlimit(RLIMIT_NOFILE, &usual);
    const rlimit few{none.rlim_cur, usual.rlim_max};
    setrlimit(RLIMIT_NOFILE, &few);
    cache.store("two", "code");
    if (cache.find("one")) return "without files";
    setrlimit(RLIMIT_NOFILE, &usual);
    cache.store("two", "code");
    return cache.find("one") == "code" && cache.find("two") == "code" ? cache.why_not() + "ok" : "not after";
  });
  EXPECT_EQ(said, "ok");
  EXPECT_EQ(fs::status(scratch / "c").permissions(), fs::perms::owner_all);
}

TEST(DiskCache, RefusesFilesThatAreNoEntries) {
  const ScratchFolder scratch;
  DiskCache cache(scratch / "c", kRoom);
  cache.store("text", "code");
  const fs::path file = only_file(scratch / "c");
  fs::permissions(file, fs::perms::others_write, fs::perm_options::add);
  EXPECT_EQ(cache.find("text"), std::nullopt);
  fs::permissions(file, fs::perms::others_write, fs::perm_options::remove);
  EXPECT_EQ(cache.find("text"), "code");
  fs::rename(file, scratch / "away");
  fs::create_symlink(scratch / "away", file);
  EXPECT_EQ(cache.find("text"), std::nullopt);
  fs::remove(file);
  write_file(file, "");
  fs::resize_file(file, uint64_t(1) << 40);  // of nothing
  EXPECT_EQ(cache.find("text"), std::nullopt);
  fs::remove(file);
  ASSERT_EQ(mkfifo(file.c_str(), 0600), 0);  // whose reader would wait
  EXPECT_EQ(cache.find("text"), std::nullopt);
  EXPECT_EQ(cache.contents(true).entries, 0);
  cache.store("text", "code");
  EXPECT_EQ(cache.find("text"), "code");
  fs::remove(file);
  fs::create_directory(file);
  EXPECT_EQ(cache.find("text"), std::nullopt);
  cache.store("text", "code");  // a folder cannot be replaced
  EXPECT_EQ(cache.find("text"), std::nullopt);
  EXPECT_NE(cache.why_not(), "");
  EXPECT_EQ(files_in(scratch / "c").size(), 1u);  // no draft is left
}

TEST(DiskCache, AFullDiskEndsStoringAndNothingElse) {
  const ScratchFolder scratch;
  const std::string said = in_child(20, [&]() -> std::string {
    DiskCache cache(scratch / "c", kRoom);
    cache.store("small", "code");
    const rlimit limit{1000, 1000};
    setrlimit(RLIMIT_FSIZE, &limit);
    cache.store("large", std::string(2000, 'x'));  // a signal would end this process
    cache.store("later", "code");
    return cache.find("small") == "code" && !cache.find("large") && cache.find("later") ? "ok" : "wrong";
  });
  EXPECT_EQ(said, "ok");
  EXPECT_EQ(files_in(scratch / "c").size(), 2u);
  if (geteuid() != 0) return;  // a disk of its own, of 64 KiB
  const std::string disk = scratch / "disk";
  fs::create_directory(disk);
  if (mount("plait", disk.c_str(), "tmpfs", 0, "size=64k,mode=700") != 0) return;
  {
    DiskCache cache(disk + "/c", kRoom);
    cache.store("small", "code");
    cache.store("large", std::string(100'000, 'x'));
    EXPECT_EQ(cache.find("large"), std::nullopt);
    EXPECT_EQ(cache.find("small"), "code");
    EXPECT_EQ(cache.why_not(), disk + "/c: No space left on device");
    std::ofstream(disk + "/rest") << std::string(100'000, 'x');
    EXPECT_EQ(DiskCache(disk + "/c", kRoom).why_no_more(), disk + "/c: No space left on device");
    EXPECT_EQ(files_in(disk + "/c").size(), 1u);
  }
  umount(disk.c_str());
}

// What lies on a read-only disk serves, and nothing else is lost than what would be kept there.
TEST(DiskCache, AReadOnlyDiskServes) {
  const ScratchFolder scratch;
  const std::string disk = scratch / "disk";
  fs::create_directory(disk);
  if (geteuid() != 0 || mount("plait", disk.c_str(), "tmpfs", 0, "size=1m,mode=700") != 0)
    GTEST_SKIP() << "no disk of its own can be mounted here";
  {
    DiskCache first(disk + "/c", kRoom);
    first.store("text", "code");
    EXPECT_EQ(first.why_no_more(), "");
    EXPECT_EQ(mount("plait", disk.c_str(), "tmpfs", MS_REMOUNT | MS_RDONLY, "size=1m"), 0);
    DiskCache cache(disk + "/c", kRoom), missing(disk + "/other/c", kRoom);
    EXPECT_EQ(cache.find("text"), "code");
    EXPECT_EQ(cache.why_not(), "") << "what is there is used";
    EXPECT_EQ(cache.why_no_more(), disk + "/c: Read-only file system");
    cache.store("other", "code");
    EXPECT_EQ(cache.find("other"), std::nullopt);
    EXPECT_EQ(cache.find("text"), "code");
    EXPECT_EQ(cache.why_not(), disk + "/c: Read-only file system") << "it was tried";
    EXPECT_EQ(cache.contents(true).entries, 1);
    EXPECT_EQ(cache.prune(0).entries, 1);
    EXPECT_EQ(cache.find("text"), "code") << "nothing can be removed";
    missing.store("text", "code");
    EXPECT_EQ(missing.find("text"), std::nullopt);
    EXPECT_EQ(missing.why_not(), disk + "/other/c cannot be made: Read-only file system");
    EXPECT_EQ(missing.why_no_more(), missing.why_not());
    EXPECT_EQ(mount("plait", disk.c_str(), "tmpfs", MS_REMOUNT, "size=1m"), 0);
  }
  umount(disk.c_str());
}

void set_age(const fs::path& file, std::chrono::hours age) {
  fs::last_write_time(file, fs::file_time_type::clock::now() - age);
}

TEST(DiskCache, WhatWasNotUsedForLongestGoesFirst) {
  const ScratchFolder scratch;
  const std::string folder = scratch / "c";
  fs::create_directory(folder);
  fs::permissions(folder, fs::perms::owner_all);
  DiskCache cache(folder, kRoom);
  const std::string code(1000, 'x');
  for (int i = 0; i < 6; ++i) {
    const std::vector<fs::path> before = files_in(folder);
    cache.store("s" + std::to_string(i), code);
    for (const fs::path& file : files_in(folder))
      if (std::find(before.begin(), before.end(), file) == before.end()) set_age(file, std::chrono::hours(100 - i));
  }
  EXPECT_EQ(cache.find("s0"), code);  // now the last one used
  const int64_t each = cache.contents(false).bytes / 6;
  EXPECT_EQ(cache.prune(3 * each).entries, 3);
  for (const int gone : {1, 2, 3}) EXPECT_EQ(cache.find("s" + std::to_string(gone)), std::nullopt) << gone;
  for (const int kept : {0, 4, 5}) EXPECT_EQ(cache.find("s" + std::to_string(kept)), code) << kept;

  write_file(folder + '/' + std::string(32, 'a') + ".code", "");  // as a loss of power leaves it
  write_file(folder + "/draft.1.1.1", "of a process that was killed");
  write_file(folder + "/draft.1.1.2", "of one at work");
  write_file(folder + "/notes.txt", "somebody's");
  set_age(folder + "/draft.1.1.1", std::chrono::hours(2));
  EXPECT_EQ(cache.contents(false).entries, 3);
  EXPECT_FALSE(fs::exists(folder + "/draft.1.1.1"));
  EXPECT_EQ(cache.prune(0).entries, 0);
  std::vector<std::string> left;
  for (const fs::path& file : files_in(folder)) left.push_back(file.filename());
  EXPECT_EQ(left, (std::vector<std::string>{"draft.1.1.2", "notes.txt"}));
}

TEST(DiskCache, StaysNearItsLimit) {
  const ScratchFolder scratch;
  constexpr int64_t kLimit = 1'000'000;  // 244 entries of a block each
  DiskCache cache(scratch / "c", kLimit);
  for (int i = 0; i < 2000; ++i) cache.store(source_of(i), std::string(1000, char(i)));
  EXPECT_LT(cache.contents(false).bytes, 2 * kLimit);
  EXPECT_GT(cache.contents(false).entries, 150);
  cache.store("large", std::string(size_t(kLimit) / 2, 'x'));
  EXPECT_EQ(cache.find("large"), std::nullopt);
}

TEST(DiskCache, ThreadsAndProcessesShareIt) {
  const ScratchFolder scratch;
  constexpr int kEntries = 50;
  const auto work = [&](DiskCache& cache, int first) {
    for (int i = 0; i < 3 * kEntries; ++i) {
      const int entry = (first + i * 7) % kEntries;
      const auto found = cache.find(source_of(entry));
      if (found && *found != code_of(entry)) return false;
      if (!found || i % 3 == 0) cache.store(source_of(entry), code_of(entry));
    }
    return true;
  };
  std::vector<pid_t> children;
  for (int p = 0; p < 3; ++p) {
    children.push_back(fork());
    if (children.back() != 0) continue;
    DiskCache cache(scratch / "c", kRoom);
    std::atomic<int> wrong = 0;
    std::vector<std::thread> threads;
    for (int t = 0; t < 4; ++t) threads.emplace_back([&, t] { wrong += work(cache, p * 11 + t) ? 0 : 1; });
    for (std::thread& thread : threads) thread.join();
    _exit(wrong == 0 && cache.why_not().empty() ? 0 : 1);
  }
  for (const pid_t child : children) {
    int status = -1;
    waitpid(child, &status, 0);
    EXPECT_EQ(status, 0);
  }
  DiskCache cache(scratch / "c", kRoom);
  for (int i = 0; i < kEntries; ++i) EXPECT_EQ(cache.find(source_of(i)), code_of(i)) << i;
  EXPECT_EQ(cache.contents(true).damaged, 0);
  EXPECT_EQ(files_in(scratch / "c").size(), size_t(kEntries));
}

// Two processes that store, both killed somewhere: what has a name is whole.
TEST(DiskCache, KilledProcessesLeaveNoHalves) {
  const ScratchFolder scratch;
  std::mt19937 random(2);
  const auto start = [&](int first) {
    const pid_t child = fork();
    if (child != 0) return child;
    DiskCache cache(scratch / "c", kRoom);
    for (int i = first;; ++i) cache.store(source_of(i % 500), code_of(i % 500));
  };
  for (int i = 0; i < 100; ++i) {
    const pid_t children[] = {start(i), start(i * 3)};
    usleep(random() % 4000);
    for (const pid_t child : children) {
      kill(child, SIGKILL);
      waitpid(child, nullptr, 0);
    }
  }
  DiskCache cache(scratch / "c", kRoom);
  const DiskCache::Contents found = cache.contents(true);
  EXPECT_EQ(found.damaged, 0);
  EXPECT_GT(found.entries, 20);
  for (int i = 0; i < 500; ++i) {
    const auto code = cache.find(source_of(i));
    if (code) EXPECT_EQ(*code, code_of(i)) << i;
  }
}

std::string folder_with(std::initializer_list<std::pair<const char*, const char*>> environment) {
  return in_child(20, [&]() -> std::string {
    for (const char* name : {"PLAIT_CACHE_DIR", "XDG_CACHE_HOME", "HOME", "PLAIT_CACHE_MIB"}) unsetenv(name);
    for (const auto& [name, value] : environment) setenv(name, value, 1);
    DiskCache& cache = DiskCache::of_process();
    return cache.folder() + " " + std::to_string(cache.limit() >> 20);
  });
}

TEST(DiskCache, TheEnvironmentSaysWhere) {
  EXPECT_EQ(folder_with({{"HOME", "/h"}}), "/h/.cache/plait 2048");
  EXPECT_EQ(folder_with({{"HOME", "/h"}, {"XDG_CACHE_HOME", "/x"}}), "/x/plait 2048");
  EXPECT_EQ(folder_with({{"HOME", "/h"}, {"XDG_CACHE_HOME", "x"}}), "/h/.cache/plait 2048");
  EXPECT_EQ(folder_with({{"HOME", "/h"}, {"PLAIT_CACHE_DIR", "/p"}, {"PLAIT_CACHE_MIB", "5"}}), "/p 5");
  EXPECT_EQ(folder_with({{"HOME", "/h"}, {"PLAIT_CACHE_MIB", "0"}}), "/h/.cache/plait 0");
  EXPECT_EQ(folder_with({{"HOME", "/h"}, {"PLAIT_CACHE_MIB", "5 MiB"}}), "/h/.cache/plait 2048");
  EXPECT_EQ(folder_with({{"HOME", "/h"}, {"PLAIT_CACHE_MIB", "-1"}}), "/h/.cache/plait 2048");
  EXPECT_EQ(folder_with({}), " 2048");
}

}  // namespace
}  // namespace plait
