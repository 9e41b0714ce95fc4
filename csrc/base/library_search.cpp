#include "base/library_search.h"

#include <dlfcn.h>

#include <algorithm>
#include <filesystem>

#include "base/environment.h"

namespace plait {
namespace {

namespace fs = std::filesystem;

// Entries of a folder in order of name; none where it cannot be read.
std::vector<fs::path> entries(const fs::path& folder) {
  std::vector<fs::path> out;
  std::error_code error;
  for (fs::directory_iterator at(folder, error), end; !error && at != end; at.increment(error))
    out.push_back(at->path());
  std::sort(out.begin(), out.end());
  return out;
}

// Collects the files of one stem, each once.
class Search {
 public:
  explicit Search(std::string stem) : stem_(std::move(stem)) {}

  void add_kit(const fs::path& home) {
    add_folder(home / "lib64");
    add_folder(home / "lib");
    for (const fs::path& target : entries(home / "targets")) add_folder(target / "lib");
  }

  // Wheels of a virtual environment: lib/python3*/site-packages/nvidia/*/lib.
  void add_environment(const fs::path& environment) {
    for (const fs::path& python : entries(environment / "lib")) {
      if (python.filename().string().rfind("python3", 0) != 0) continue;
      for (const fs::path& wheel : entries(python / "site-packages" / "nvidia")) add_folder(wheel / "lib");
    }
  }

  void add_environments_above(fs::path folder) {
    for (;; folder = folder.parent_path()) {
      add_environment(folder / ".venv");
      if (folder == folder.parent_path()) return;
    }
  }

  std::vector<std::string> take() { return std::move(found_); }

 private:
  void add_folder(const fs::path& folder) {
    for (const std::string& file : libraries_in(folder, stem_))
      if (std::find(found_.begin(), found_.end(), file) == found_.end()) found_.push_back(file);
  }

  std::string stem_;
  std::vector<std::string> found_;
};

}  // namespace

std::vector<std::string> libraries_in(const std::string& folder, const std::string& stem) {
  std::vector<std::string> out;
  for (const fs::path& path : entries(folder))
    if (path.filename().string().rfind(stem + ".so", 0) == 0) out.insert(out.begin(), path.string());
  return out;
}

std::vector<std::string> libraries_at(const std::string& path, const std::string& stem) {
  std::error_code error;
  return fs::is_directory(path, error) ? libraries_in(path, stem) : std::vector<std::string>{path};
}

std::vector<std::string> library_candidates(const std::string& stem, std::span<const char* const> loader_names) {
  Search search(stem);
  for (const char* variable : {"PLAIT_CUDA_HOME", "CUDA_HOME"})
    if (const auto home = environment(variable)) search.add_kit(*home);
  search.add_kit("/usr/local/cuda");
  if (const auto folder = environment("VIRTUAL_ENV")) search.add_environment(*folder);
  std::error_code error;
  const fs::path executable = fs::read_symlink("/proc/self/exe", error);
  if (!error) search.add_environments_above(executable.parent_path());
  const fs::path here = fs::current_path(error);
  if (!error) search.add_environments_above(here);
  std::vector<std::string> out = search.take();
  out.insert(out.end(), loader_names.begin(), loader_names.end());
  return out;
}

std::string library_file_of(const void* address) {
  Dl_info info;
  return dladdr(address, &info) != 0 && info.dli_fname != nullptr ? info.dli_fname : "";
}

}  // namespace plait
