// plait fmt: files in their canonical layout.
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>

#include "api/format_source.h"
#include "base/file_writer.h"
#include "kir/parse.h"
#include "plait_command.h"
#include "plait_diff.h"
#include "sym/text_reader.h"

namespace plait::tool {

namespace {

namespace fs = std::filesystem;

constexpr std::string_view kTextSuffix = ".plait";

// Names of open files: such a one may be a file that nobody named, which then is not to be replaced.
bool is_open_file(const std::string& path) {
  std::error_code error;
  const std::string whole = fs::absolute(path, error).lexically_normal().string();
  return whole == "/dev/stdin" || whole == "/dev/stdout" || whole == "/dev/stderr" || whole.starts_with("/dev/fd/") ||
         (whole.starts_with("/proc/") && whole.find("/fd/") != whole.npos);
}

// Whether the layout goes to standard output.
bool is_printed(const std::string& path) { return is_stream(path) || is_open_file(path); }

struct Files {
  std::vector<std::string> paths;
  bool failed = false;  // something below a folder could not be read
};

void leave_out(const fs::path& entry, const std::error_code& error, Files& out) {
  fmt::print(stderr, "error: cannot read `{}`: {}\n", entry.string(), error.message());
  out.failed = true;
}

// All .plait files below a folder, in the order of their names, and links to such; what is hidden and links to folders
// are left out, and so is what is no file.
void add_folder(const fs::path& folder, Files& out) {
  std::vector<fs::path> entries;
  std::error_code error;
  for (fs::directory_iterator at(folder, error), end; !error && at != end; at.increment(error))
    if (!at->path().filename().string().starts_with('.')) entries.push_back(at->path());
  if (error) leave_out(folder, error, out);
  std::sort(entries.begin(), entries.end());
  for (const fs::path& entry : entries) {
    const fs::file_status itself = fs::symlink_status(entry, error);
    if (fs::is_directory(itself)) {
      add_folder(entry, out);
    } else if (!fs::status_known(itself)) {
      leave_out(entry, error, out);
    } else if (entry.extension() == kTextSuffix) {
      const fs::file_status facts = fs::status(entry, error);
      if (fs::is_regular_file(facts))
        out.paths.push_back(entry.string());
      else if (error)
        leave_out(entry, error, out);
    }
  }
}

Files files_to_format(const std::vector<std::string>& words) {
  if (words.empty())
    throw UserError("plait fmt needs a file", "plait fmt",
                    "give files, folders whose .plait files are meant, or - for standard input");
  Files out;
  for (const std::string& word : words) {
    std::error_code error;
    if (word != "-" && fs::is_directory(word, error))
      add_folder(word, out);
    else
      out.paths.push_back(word);
  }
  if (out.paths.size() > 1 && std::any_of(out.paths.begin(), out.paths.end(), is_printed))
    throw UserError("a stream is given beside other files", "plait fmt",
                    "format it alone: its layout goes to standard output");
  return out;
}

// The text in its layout. UserError for what is no text of a fusion or a program.
std::string layout_of(const std::string& path, const std::string& text) {
  if (kir::is_kernel_text(text))
    throw UserError(fmt::format("`{}` holds kernels", path), "plait fmt",
                    "give texts of fusions or programs; plait opt FILE prints kernels in their layout");
  return format_source(text, path == "-" ? "<standard input>" : path);
}

constexpr const char* kThrough = "write through it: plait fmt - < FILE > NEW && cat NEW > FILE";

// UserError where the file is not the one that was read.
void refuse_changed(const std::string& path, const std::string& target, const struct stat& old) {
  struct stat now = {};
  if (stat(target.c_str(), &now) == 0 && now.st_dev == old.st_dev && now.st_ino == old.st_ino &&
      now.st_size == old.st_size && now.st_mtim.tv_sec == old.st_mtim.tv_sec &&
      now.st_mtim.tv_nsec == old.st_mtim.tv_nsec)
    return;
  throw UserError(fmt::format("`{}` changed meanwhile", path), "plait fmt", "format it again");
}

// The owner first: a new one takes the special bits of the mode away.
void keep_owner_and_mode(int file, const std::string& path, const struct stat& old) {
  constexpr mode_t kBits = 07777;
  struct stat own = {};
  bool kept = fstat(file, &own) == 0;
  if (kept && (own.st_uid != old.st_uid || own.st_gid != old.st_gid)) kept = fchown(file, old.st_uid, old.st_gid) == 0;
  kept = kept && fchmod(file, old.st_mode & kBits) == 0 && fstat(file, &own) == 0 &&
         (own.st_mode & kBits) == (old.st_mode & kBits);
  if (!kept)
    throw UserError(fmt::format("cannot write `{}`: it would lose its owner, group or mode", path), "plait fmt",
                    kThrough);
}

// In place of the file, or of the one that a link leads to, which was `old` before it was read.
void rewrite(const std::string& path, const std::string& text, const struct stat& old) {
  std::error_code error;
  const std::string target = fs::canonical(path, error).string();
  refuse_changed(path, target, old);
  if (access(target.c_str(), W_OK) != 0)
    throw UserError(fmt::format("cannot write `{}`: {}", path, std::strerror(errno)), "plait fmt",
                    "make it writable, or take --diff to see what would change");
  if (old.st_nlink > 1)
    throw UserError(
        fmt::format("cannot write `{}`: it has {} names, of which one would get the new text", path, old.st_nlink),
        "plait fmt", kThrough);
  FileWriter out(target, "plait fmt");
  keep_owner_and_mode(out.file(), path, old);
  out.write(text);
  out.commit([&] { refuse_changed(path, target, old); });
  fmt::print("formatted {}\n", path);
}

// Whether the file has another layout.
bool format_one(const Arguments& args, const std::string& path) {
  struct stat old = {};
  if (path != "-") (void)!stat(path.c_str(), &old);  // read_text() tells what fails
  const std::string text = read_text(path, TextReader::kMaxText);
  const std::string after = layout_of(path, text);
  const bool differs = after != text;
  if (args.diff) fmt::print("{}", unified_diff(path, text, after));
  if (args.check_layout && differs && !args.diff) fmt::print("{}\n", path);
  if (args.diff || args.check_layout) return differs;
  if (is_printed(path))
    fmt::print("{}", after);
  else if (differs)
    rewrite(path, after, old);
  return differs;
}

}  // namespace

int fmt_command(const Arguments& args) {
  const Files files = files_to_format(args.files);
  bool failed = files.failed, differs = false;
  for (const std::string& path : files.paths) {
    try {
      differs |= format_one(args, path);
    } catch (const UserError& e) {
      fmt::print(stderr, "error: {}\n", e.what());
      failed = true;
    }
  }
  return failed || (args.check_layout && differs) ? kUsersMistake : 0;
}

}  // namespace plait::tool
