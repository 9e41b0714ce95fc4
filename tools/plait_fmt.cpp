// plait fmt: files in their canonical layout.
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

namespace plait::tool {

namespace {

namespace fs = std::filesystem;

constexpr std::string_view kTextSuffix = ".plait";

// Whether the layout goes to standard output: /dev/stdin may be a file, which then is not to be replaced.
bool is_printed(const std::string& path) { return is_stream(path) || path.starts_with("/dev/"); }

// All .plait files below a folder, in the order of their names; hidden folders and links to folders are left out.
void add_folder(const fs::path& folder, std::vector<std::string>& out) {
  std::vector<fs::path> entries;
  for (const auto& entry : fs::directory_iterator(folder)) entries.push_back(entry.path());
  std::sort(entries.begin(), entries.end());
  for (const fs::path& entry : entries) {
    const bool hidden = entry.filename().string().starts_with('.');
    if (fs::is_directory(fs::symlink_status(entry)) && !hidden)
      add_folder(entry, out);
    else if (entry.extension() == kTextSuffix && !hidden && !fs::is_directory(entry))
      out.push_back(entry.string());
  }
}

std::vector<std::string> files_to_format(const std::vector<std::string>& words) {
  if (words.empty())
    throw UserError("plait fmt needs a file", "plait fmt",
                    "give files, folders whose .plait files are meant, or - for standard input");
  std::vector<std::string> out;
  for (const std::string& word : words) {
    std::error_code error;
    if (word != "-" && fs::is_directory(word, error))
      add_folder(word, out);
    else
      out.push_back(word);
  }
  if (std::any_of(out.begin(), out.end(), is_printed) && out.size() > 1)
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

// In place of the file, or of the one that a link leads to.
void rewrite(const std::string& path, const std::string& text) {
  const std::string target = fs::canonical(path).string();
  if (access(target.c_str(), W_OK) != 0)
    throw UserError(fmt::format("cannot write `{}`: {}", path, std::strerror(errno)), "plait fmt",
                    "make it writable, or take --diff to see what would change");
  write_whole_file(target, text, "plait fmt");
  fmt::print("formatted {}\n", path);
}

// Whether the file has another layout.
bool format_one(const Arguments& args, const std::string& path) {
  const std::string text = read_text(path);
  const std::string after = layout_of(path, text);
  const bool differs = after != text;
  if (args.diff) fmt::print("{}", unified_diff(path, text, after));
  if (args.check_layout && differs && !args.diff) fmt::print("{}\n", path);
  if (args.diff || args.check_layout) return differs;
  if (is_printed(path))
    fmt::print("{}", after);
  else if (differs)
    rewrite(path, after);
  return differs;
}

}  // namespace

int fmt_command(const Arguments& args) {
  bool failed = false, differs = false;
  for (const std::string& path : files_to_format(args.files)) {
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
