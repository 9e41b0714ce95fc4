#include "comm/file_bootstrap.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <numeric>
#include <optional>
#include <sstream>
#include <thread>

#include "base/error.h"
#include "base/file_writer.h"
#include "comm/comm_call.h"

namespace plait {
namespace {

namespace fs = std::filesystem;

// Where the number of a process means the same: the host, and its space of process numbers.
std::string process_space() {
  char name[256] = {};
  gethostname(name, sizeof(name) - 1);
  std::error_code error;
  return std::string(name) + ":" + fs::read_symlink("/proc/self/ns/pid", error).string();
}

std::optional<std::string> read(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  if (!in) return std::nullopt;
  std::ostringstream out;
  out << in.rdbuf();
  return out.str();
}

FileBootstrapOptions checked(FileBootstrapOptions options) {
  if (options.size < 1 || options.rank < 0 || options.rank >= options.size)
    throw UserError(fmt::format("rank {} of {} processes", options.rank, options.size), "FileBootstrap",
                    "ranks are numbered from 0");
  if (options.folder.empty()) throw UserError("no folder", "FileBootstrap", "name a folder that all processes see");
  return options;
}

}  // namespace

FileBootstrap::FileBootstrap(FileBootstrapOptions options) : options_(checked(std::move(options))) {
  std::error_code error;
  fs::create_directories(options_.folder, error);
  const std::string path = file("process", 0, rank());
  const int handle = open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
  if (handle < 0)
    throw UserError(fmt::format("`{}` cannot be made: {}", path, std::strerror(errno)), "FileBootstrap",
                    errno == EEXIST ? "give each job a new folder, and each process a rank of its own"
                                    : "name a folder that can be written to");
  const std::string text = fmt::format("{} {}\n", getpid(), process_space());
  const bool written = write(handle, text.data(), text.size()) == ssize_t(text.size());
  close(handle);
  if (!written) throw UserError(fmt::format("`{}` cannot be written", path), "FileBootstrap", "is the disk full?");
}

FileBootstrap::~FileBootstrap() {
  // Others may still have to read the last rounds: who says goodbye last removes everything.
  std::error_code error;
  std::ofstream(file("left", 0, rank())).close();
  for (int64_t r = 0; r < size(); ++r)
    if (!fs::exists(file("left", 0, r), error)) return;
  for (const auto& entry : fs::directory_iterator(options_.folder, error)) {
    const std::string name = entry.path().filename().string();
    if (name.rfind("plait.", 0) == 0) fs::remove(entry.path(), error);
  }
}

std::string FileBootstrap::file(const std::string& tag, int64_t round, int64_t rank) const {
  return (fs::path(options_.folder) / fmt::format("plait.{}.{}.{}", tag, round, rank)).string();
}

void FileBootstrap::publish(const std::string& path, std::string_view text) const {
  try {
    write_whole_file(path, text, "FileBootstrap", Durable::no);
  } catch (const UserError& e) {
    throw CommError(e.message(), e.where(), e.remedy());
  }
}

// Whether the process of a rank ended, as far as this host knows.
bool FileBootstrap::is_gone(int64_t rank) const {
  const auto text = read(file("process", 0, rank));
  if (!text) return false;
  std::istringstream words(*text);
  long process = 0;
  std::string space;
  if (!(words >> process >> space) || space != process_space()) return false;
  return kill(pid_t(process), 0) != 0 && errno == ESRCH;
}

std::string FileBootstrap::await(const std::string& path, int64_t other, const std::string& what) const {
  using Clock = std::chrono::steady_clock;
  const Clock::time_point begin = Clock::now();
  Clock::time_point next_look = begin + std::chrono::milliseconds(50);
  auto pause = std::chrono::microseconds(50);
  for (;;) {
    if (auto text = read(path)) return *text;
    const Clock::time_point now = Clock::now();
    if (now >= next_look) {
      next_look = now + std::chrono::milliseconds(50);
      if (is_gone(other)) {
        if (auto text = read(path)) return *text;
        throw CommError(fmt::format("rank {} has ended; rank {} waits for it", other, rank()), what, "");
      }
      if (now - begin > options_.timeout)
        throw CommError(fmt::format("rank {} has waited {} ms for rank {}", rank(), options_.timeout.count(), other),
                        what, fmt::format("are all {} processes started, with this folder?", size()));
    }
    std::this_thread::sleep_for(pause);
    pause = std::min(pause * 2, std::chrono::microseconds(2000));
  }
}

std::vector<std::string> FileBootstrap::all_gather(std::string_view mine) {
  std::vector<int64_t> all(static_cast<size_t>(size()));
  std::iota(all.begin(), all.end(), int64_t(0));
  return all_gather_among(all, mine);
}

std::vector<std::string> FileBootstrap::all_gather_among(std::span<const int64_t> ranks, std::string_view mine) {
  PLAIT_CHECK(std::find(ranks.begin(), ranks.end(), rank()) != ranks.end(), "rank {} is none of {}", rank(),
              rank_list(ranks));
  Group& group = groups_[{ranks.begin(), ranks.end()}];
  if (group.tag.empty()) {
    group.tag = "of";
    for (int64_t r : ranks) group.tag += fmt::format("_{}", r);
    if (group.tag.size() > 100) {  // file names have a limit: FNV-1a of the list
      uint64_t hash = 14695981039346656037u;
      for (int64_t r : ranks) hash = (hash ^ uint64_t(r)) * 1099511628211u;
      group.tag = fmt::format("of_{}_{:016x}", ranks.size(), hash);
    }
  }
  const int64_t round = group.round++;
  const std::string own = file(group.tag, round, rank());
  publish(own, mine);
  const std::string what = fmt::format("FileBootstrap, round {} of {}", round, rank_list(ranks));
  std::vector<std::string> out;
  for (int64_t r : ranks) out.push_back(r == rank() ? std::string(mine) : await(file(group.tag, round, r), r, what));
  // Everybody has come to this round, so nobody needs the one before.
  std::error_code error;
  if (round > 0) fs::remove(file(group.tag, round - 1, rank()), error);
  return out;
}

}  // namespace plait
