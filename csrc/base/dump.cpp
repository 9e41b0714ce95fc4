#include "base/dump.h"

#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstdio>
#include <filesystem>
#include <system_error>

#include "base/error.h"
#include "base/file_writer.h"
#include "base/progress.h"
#include "base/suggest.h"

namespace plait {

const std::vector<std::string_view>& stage_names() {
  static const std::vector<std::string_view> names = {"fusion", "graph",     "sharded", "localized", "segments",
                                                      "params", "scheduled", "kir",     "cuda",      "llvm",
                                                      "ptx",    "sass",      "program", "memory",    "timings"};
  return names;
}

bool glob_match(std::string_view pattern, std::string_view text) {
  size_t p = 0, t = 0, star = std::string_view::npos, mark = 0;
  while (t < text.size()) {
    if (p < pattern.size() && (pattern[p] == '?' || pattern[p] == text[t]) && pattern[p] != '*') {
      ++p, ++t;
    } else if (p < pattern.size() && pattern[p] == '*') {
      star = p++;
      mark = t;
    } else if (star != std::string_view::npos) {
      p = star + 1;
      t = ++mark;
    } else {
      return false;
    }
  }
  while (p < pattern.size() && pattern[p] == '*') ++p;
  return p == pattern.size();
}

namespace {

// UserError where it cannot be made or holds nothing new.
void make_folder(const std::string& folder) {
  std::error_code error;
  std::filesystem::create_directories(folder, error);
  if (error || access(folder.c_str(), W_OK | X_OK) != 0)
    throw UserError(fmt::format("no dump can be written to `{}`: {}", folder,
                                error ? error.message() : std::generic_category().message(errno)),
                    "dump", "give a folder that can be written");
}

}  // namespace

void DumpSink::request(std::string_view specs) {
  while (!specs.empty()) {
    const size_t comma = std::min(specs.find(','), specs.size());
    if (comma > 0) request_one(specs.substr(0, comma));
    specs.remove_prefix(std::min(comma + 1, specs.size()));
  }
}

void DumpSink::request_one(std::string_view spec) {
  Request r;
  if (size_t at = spec.find('@'); at != spec.npos) {
    r.folder = spec.substr(at + 1);
    spec = spec.substr(0, at);
  }
  if (size_t at = spec.find(':'); at != spec.npos) {
    r.glob = spec.substr(at + 1);
    spec = spec.substr(0, at);
  }
  r.stage = spec;
  const auto& names = stage_names();
  if (std::find(names.begin(), names.end(), spec) == names.end())
    throw UserError(fmt::format("there is no stage `{}`", spec), "dump",
                    suggestion(spec, {names.begin(), names.end()}));
  if (!r.folder.empty()) make_folder(r.folder);
  requests_.push_back(std::move(r));
}

bool DumpSink::requested(std::string_view stage) const {
  return std::any_of(requests_.begin(), requests_.end(), [&](const auto& r) { return r.stage == stage; });
}

bool DumpSink::wants(std::string_view stage) const { return all_ || requested(stage); }

void DumpSink::put(std::string_view stage, std::string_view name, std::string_view text) {
  static std::atomic<int> files = 0;
  if (listener_) listener_(stage, name, text);
  for (const auto& r : requests_) {
    if (r.stage != stage || (!r.glob.empty() && !glob_match(r.glob, name))) continue;
    if (r.folder.empty()) {
      std::string line = fmt::format("---- {} {}\n", stage, name);
      wipe_progress();
      std::fwrite(line.data(), 1, line.size(), stdout);
      std::fwrite(text.data(), 1, text.size(), stdout);
      std::fflush(stdout);
      continue;
    }
    make_folder(r.folder);
    const std::string path = fmt::format("{}/{:02}_{}_{}.txt", r.folder, ++files, stage, name);
    if (check_) check_(path);
    write_whole_file(path, text, "dump");
  }
}

}  // namespace plait
