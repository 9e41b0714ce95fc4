#include "base/file_writer.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <charconv>
#include <cstdio>
#include <cstring>
#include <filesystem>

#include "base/error.h"

namespace plait {
namespace {

namespace fs = std::filesystem;

// The open file that a path stands for; -1: none. Such a path is written where the file's position is.
int open_file_of(const std::string& path) {
  if (path == "-" || path == "/dev/stdout") return STDOUT_FILENO;
  if (path == "/dev/stderr") return STDERR_FILENO;
  for (const std::string_view folder : {"/dev/fd/", "/proc/self/fd/"}) {
    if (path.rfind(folder, 0) != 0) continue;
    int number = -1;
    const char* const end = path.data() + path.size();
    const auto [stop, error] = std::from_chars(path.data() + folder.size(), end, number);
    if (error == std::errc() && stop == end) return number;
  }
  return -1;
}

// What a new file at the path has for permissions: those of the file it replaces, else the usual ones.
void keep_mode(int file, const std::string& path) {
  struct stat old = {};
  if (stat(path.c_str(), &old) == 0 && S_ISREG(old.st_mode)) (void)!fchmod(file, old.st_mode & 0777);
}

}  // namespace

bool is_stream(const std::string& path) {
  if (path == "-") return true;
  struct stat facts = {};
  return stat(path.c_str(), &facts) == 0 && !S_ISREG(facts.st_mode) && !S_ISDIR(facts.st_mode);
}

FileWriter::FileWriter(const std::string& path, std::string_view where, Durable durable)
    : path_(path), where_(where), durable_(durable) {
  if (const int given = open_file_of(path_); given >= 0) {
    if (given == STDOUT_FILENO && std::fflush(stdout) != 0) fail(errno);
    file_ = fcntl(given, F_DUPFD_CLOEXEC, 0);
  } else if (is_stream(path_)) {
    file_ = open(path_.c_str(), O_WRONLY | O_CLOEXEC | O_NOCTTY);
  } else {
    open_draft();
  }
  if (file_ < 0) fail(errno);
}

void FileWriter::open_draft() {
  static std::atomic<unsigned> count = 0;
  std::error_code error;
  if (fs::is_directory(path_, error)) fail(EISDIR);
  const fs::path folder = fs::path(path_).parent_path();
  do {
    draft_ = (folder / fmt::format(".plait.{}.{}.draft", getpid(), count++)).string();
    file_ = open(draft_.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
  } while (file_ < 0 && errno == EEXIST);
  if (file_ >= 0) return keep_mode(file_, path_);
  const int reason = errno;
  draft_.clear();
  fail(reason);
}

void FileWriter::close_draft() {
  if (file_ >= 0) close(file_);
  if (!draft_.empty()) unlink(draft_.c_str());
  file_ = -1;
  draft_.clear();
}

FileWriter::~FileWriter() { close_draft(); }

void FileWriter::fail(int reason) {
  close_draft();
  throw UserError(fmt::format("cannot write `{}`: {}", path_, std::strerror(reason)), where_,
                  "give a path that can be written, on a disk with room");
}

void FileWriter::write(const void* data, size_t bytes) {
  const auto* at = static_cast<const char*>(data);
  while (bytes > 0) {
    const ssize_t done = ::write(file_, at, std::min(bytes, size_t(1) << 30));
    if (done < 0 && errno == EINTR) continue;
    if (done <= 0) fail(done == 0 ? EIO : errno);
    at += done;
    bytes -= size_t(done);
  }
}

void FileWriter::commit(const std::function<void()>& last) {
  if (!draft_.empty() && durable_ == Durable::yes && fsync(file_) != 0 && errno != EINVAL) fail(errno);
  const int file = file_;
  file_ = -1;
  if (close(file) != 0 && errno != EINTR) fail(errno);
  if (last) last();
  if (draft_.empty()) return;
  if (rename(draft_.c_str(), path_.c_str()) != 0) fail(errno);
  draft_.clear();
}

void write_whole_file(const std::string& path, std::string_view text, std::string_view where, Durable durable) {
  FileWriter out(path, where, durable);
  out.write(text);
  out.commit();
}

}  // namespace plait
