#include "backend/cuda/nvrtc_library.h"

#include <dlfcn.h>

#include <algorithm>
#include <filesystem>
#include <mutex>
#include <vector>

#include "backend/cuda/nvrtc.h"
#include "base/environment.h"
#include "base/error.h"

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

bool is_library(const fs::path& path, const std::string& stem) {
  const std::string name = path.filename().string();
  return name.rfind(stem + ".so", 0) == 0;
}

// Libraries of that stem in a folder, the newest first.
std::vector<std::string> libraries(const fs::path& folder, const std::string& stem) {
  std::vector<std::string> out;
  for (const fs::path& path : entries(folder))
    if (is_library(path, stem)) out.insert(out.begin(), path.string());
  return out;
}

void add_folder(const fs::path& folder, std::vector<std::string>& out) {
  for (const std::string& file : libraries(folder, "libnvrtc"))
    if (std::find(out.begin(), out.end(), file) == out.end()) out.push_back(file);
}

void add_kit(const fs::path& home, std::vector<std::string>& out) {
  add_folder(home / "lib64", out);
  add_folder(home / "lib", out);
  for (const fs::path& target : entries(home / "targets")) add_folder(target / "lib", out);
}

// Wheels of a virtual environment: lib/python3*/site-packages/nvidia/*/lib.
void add_environment(const fs::path& environment, std::vector<std::string>& out) {
  for (const fs::path& python : entries(environment / "lib")) {
    if (python.filename().string().rfind("python3", 0) != 0) continue;
    for (const fs::path& wheel : entries(python / "site-packages" / "nvidia")) add_folder(wheel / "lib", out);
  }
}

void add_environments_above(fs::path folder, std::vector<std::string>& out) {
  for (;; folder = folder.parent_path()) {
    add_environment(folder / ".venv", out);
    if (folder == folder.parent_path()) return;
  }
}

// Loads a library and its functions. From a wheel, NVRTC finds its built-in declarations only where they are loaded
// before it, by full path: else every compilation fails with error 7.
bool load(const std::string& file, NvrtcLibrary& out, std::string& reason) {
  for (const std::string& builtins : libraries(fs::path(file).parent_path(), "libnvrtc-builtins"))
    if (dlopen(builtins.c_str(), RTLD_NOW | RTLD_GLOBAL) != nullptr) break;
  void* handle = dlopen(file.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (handle == nullptr) {
    reason = dlerror();
    return false;
  }
#define X(function)                                                                 \
  out.function = reinterpret_cast<decltype(&::function)>(dlsym(handle, #function)); \
  if (out.function == nullptr) reason = fmt::format("{} lacks {}", file, #function);
  PLAIT_NVRTC_FUNCTIONS(X)
#undef X
  if (!reason.empty()) return false;
  if (out.nvrtcVersion(&out.major, &out.minor) != NVRTC_SUCCESS) reason = file + " does not tell its version";
  if (out.major < 12) reason = fmt::format("{} is version {}.{}, 12.0 or later is needed", file, out.major, out.minor);
  return reason.empty();
}

struct State {
  std::mutex mutex;
  bool searched = false, found = false;
  NvrtcLibrary library;
  std::string reason;
};

State& state() {
  static State state;
  return state;
}

void search(State& s, const std::vector<std::string>& candidates) {
  s.searched = true;
  std::string first_failure;
  for (const std::string& file : candidates) {
    std::string reason;
    s.library = {};
    s.found = load(file, s.library, reason);
    if (s.found) return;
    if (first_failure.empty() && fs::path(file).has_parent_path()) first_failure = reason;
  }
  s.reason = first_failure.empty() ? "no libnvrtc was found" : first_failure;
}

}  // namespace

std::vector<std::string> nvrtc_candidates() {
  std::vector<std::string> out;
  for (const char* variable : {"PLAIT_CUDA_HOME", "CUDA_HOME"})
    if (const auto home = environment(variable)) add_kit(*home, out);
  add_kit("/usr/local/cuda", out);
  if (const auto folder = environment("VIRTUAL_ENV")) add_environment(*folder, out);
  std::error_code error;
  const fs::path executable = fs::read_symlink("/proc/self/exe", error);
  if (!error) add_environments_above(executable.parent_path(), out);
  const fs::path here = fs::current_path(error);
  if (!error) add_environments_above(here, out);
  for (const char* name : {"libnvrtc.so.13", "libnvrtc.so.12", "libnvrtc.so"}) out.push_back(name);
  return out;
}

const NvrtcLibrary* nvrtc_library(std::string* why_not) {
  State& s = state();
  const std::lock_guard lock(s.mutex);
  if (!s.searched) search(s, nvrtc_candidates());
  if (!s.found && why_not != nullptr) *why_not = s.reason;
  return s.found ? &s.library : nullptr;
}

void load_nvrtc(const std::string& path) {
  State& s = state();
  const std::lock_guard lock(s.mutex);
  PLAIT_CHECK(!s.found, "NVRTC is loaded already");
  std::error_code error;
  std::vector<std::string> candidates = {path};
  if (fs::is_directory(path, error)) candidates = libraries(path, "libnvrtc");
  search(s, candidates);
  s.searched = s.found;
  if (!s.found)
    throw MissingError(fmt::format("NVRTC could not be loaded: {}", s.reason), path,
                       "name a library or a folder that holds libnvrtc.so");
}

}  // namespace plait
