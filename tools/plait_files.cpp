// Files that the command is given: streams, and outputs that would take the place of something.
#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <map>

#include "base/error.h"
#include "base/file_writer.h"
#include "plait_command.h"
#include "session/communication.h"

namespace plait::tool {

namespace {

namespace fs = std::filesystem;

// The name in a folder that a rename to the path replaces.
fs::path entry_of(const std::string& path) {
  std::error_code error;
  const fs::path whole = fs::absolute(path, error);
  return fs::weakly_canonical(whole.parent_path(), error) / whole.filename();
}

bool is_standard_input(const std::string& path) { return path == "-" || path == "/dev/stdin"; }

struct Output {
  std::string flag, path;
};

// Those of `--out`, `--json`, `--svg`, `--save`, `--trace`, `--page` and `--out` of tune and import, in order.
std::vector<Output> outputs_of(const Arguments& args) {
  std::vector<Output> out;
  for (const auto& word : args.outs) out.push_back({"--out " + word, name_and_value(word, "--out").second});
  if (!args.json.empty()) out.push_back({"--json " + args.json, args.json});
  if (!args.svg.empty()) out.push_back({"--svg " + args.svg, args.svg});
  if (!args.save.empty()) out.push_back({"--save " + args.save, args.save});
  if (!args.trace.empty()) out.push_back({"--trace " + args.trace, args.trace});
  if (!args.page.empty()) out.push_back({"--page " + args.page, args.page});
  if (!args.pinned.empty()) out.push_back({"--out " + args.pinned, args.pinned});
  if (!args.imported.empty()) out.push_back({"--out " + args.imported, args.imported});
  return out;
}

// Text of FILE by its first reading, which is the only one that a stream allows.
void read_streams(Arguments& args) {
  int readers = is_standard_input(args.file);
  for (const auto& word : args.inputs) readers += is_standard_input(name_and_value(word, "--input").second);
  if (readers > 1)
    throw UserError("standard input is to be read more than once", "plait " + args.command,
                    "give files for all but one of them");
  if (args.file.empty() || !is_stream(args.file)) return;
  if (args.bisect == "auto")
    throw UserError(fmt::format("`{}` can be read once, and --bisect auto reads FILE in every trial", args.file),
                    "--bisect auto", "give the path of a file");
  if (job_processes(args.comm).value_or(1) > 1)
    throw UserError(fmt::format("`{}` can be read once, and every process of a job reads FILE", args.file),
                    "plait " + args.command, "give the path of a file");
  args.text = read_text(args.file);
}

void refuse_shared_outputs(const Arguments& args) {
  std::map<std::string, std::string> taken;  // place, flag
  for (const Output& output : outputs_of(args)) {
    if (!is_standard_output(output.path) && is_stream(output.path)) continue;
    const std::string place = is_standard_output(output.path) ? "-" : entry_of(output.path).string();
    const auto [at, fresh] = taken.emplace(place, output.flag);
    if (!fresh)
      throw UserError(fmt::format("`{}` is to hold two outputs", output.path),
                      fmt::format("{}, {}", at->second, output.flag), "give each a path of its own");
    if (!args.file.empty()) refuse_overwriting(output.path, output.flag, args.file, "FILE");
    for (const auto& word : args.inputs)
      refuse_overwriting(output.path, output.flag, name_and_value(word, "--input").second, "--input " + word);
  }
}

}  // namespace

bool is_standard_output(const std::string& path) { return path == "-" || path == "/dev/stdout"; }

void refuse_overwriting(const std::string& output, const std::string& flag, const std::string& input,
                        const std::string& reads) {
  std::error_code error;
  if (is_stream(output) || !fs::is_regular_file(input, error)) return;
  const fs::path place = entry_of(output);
  if (place == entry_of(input) || place == fs::canonical(input, error))
    throw UserError(fmt::format("`{}` would be overwritten, which the command reads", output),
                    fmt::format("{}, {}", flag, reads), "give the output a path of its own");
}

std::string divert_standard_output() {
  std::fflush(stdout);
  const int kept = fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, 3);
  if (kept < 0 || dup2(STDERR_FILENO, STDOUT_FILENO) < 0)
    throw UserError(fmt::format("standard output cannot be written: {}", std::strerror(errno)), "-",
                    "leave it open, or give the path of a file");
  return fmt::format("/dev/fd/{}", kept);
}

void settle_files(Arguments& args) {
  if (args.command == "view" && args.page.empty()) args.page = default_page(args);
  if (args.command == "import") settle_import(args);
  try {
    refuse_shared_outputs(args);
    read_streams(args);
  } catch (const UserError&) {
    args.json.clear();  // it may be what must not be written
    throw;
  }
  std::string diverted;
  const auto divert = [&] { return diverted.empty() ? diverted = divert_standard_output() : diverted; };
  for (std::string& word : args.outs)
    if (const auto [name, path] = name_and_value(word, "--out"); is_standard_output(path)) word = name + "=" + divert();
  for (std::string* path : {&args.json, &args.svg, &args.save, &args.trace, &args.page, &args.pinned, &args.imported})
    if (is_standard_output(*path)) *path = divert();
}

int output_failed(const std::string& reason) {
  fmt::print(stderr, "error: standard output cannot be written: {}\n  help: write to a file on a disk with room\n",
             reason);
  return kUsersMistake;
}

int finish_output(int code) {
  errno = 0;
  if (std::fflush(stdout) == 0 && std::ferror(stdout) == 0) return code;
  const int failed = output_failed(errno != 0 ? std::strerror(errno) : "an earlier part of it failed");
  return code == 0 ? failed : code;
}

}  // namespace plait::tool
