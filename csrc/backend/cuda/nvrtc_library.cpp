#include "backend/cuda/nvrtc_library.h"

#include <dlfcn.h>

#include <filesystem>
#include <mutex>
#include <vector>

#include "backend/cuda/nvrtc.h"
#include "base/error.h"
#include "base/library_search.h"
#include "base/log.h"

namespace plait {
namespace {

constexpr const char* kStem = "libnvrtc";
constexpr const char* kNvrtcNames[] = {"libnvrtc.so.13", "libnvrtc.so.12", "libnvrtc.so"};

// Loads a library and its functions. From a wheel, NVRTC finds its built-in declarations only where they are loaded
// before it, by full path: else every compilation fails with error 7.
bool load(const std::string& file, NvrtcLibrary& out, std::string& reason) {
  for (const std::string& builtins : libraries_in(std::filesystem::path(file).parent_path(), "libnvrtc-builtins"))
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
  if (reason.empty())
    log(LogComponent::library, LogLevel::info, "{} loaded: NVRTC {}.{}, {}", file, out.major, out.minor, out.rule);
  return reason.empty();
}

struct NvrtcState {
  std::mutex mutex;
  bool searched = false, found = false;
  NvrtcLibrary library;
  std::string reason;
};

NvrtcState& nvrtc_state() {
  static NvrtcState state;
  return state;
}

void search(NvrtcState& s, const std::vector<LibraryFile>& candidates) {
  s.searched = true;
  std::string first_failure;
  for (const LibraryFile& candidate : candidates) {
    std::string reason;
    s.library = {};
    s.library.rule = candidate.rule;
    s.found = load(candidate.file, s.library, reason);
    if (s.found) return;
    if (first_failure.empty()) first_failure = reason;
  }
  s.reason = first_failure.empty() ? "no libnvrtc was found" : first_failure;
}

}  // namespace

std::vector<LibraryFile> nvrtc_candidates() { return library_candidates(kStem, kNvrtcNames); }

const NvrtcLibrary* nvrtc_library(std::string* why_not) {
  NvrtcState& s = nvrtc_state();
  const std::lock_guard lock(s.mutex);
  if (!s.searched) search(s, nvrtc_candidates());
  if (!s.found && why_not != nullptr) *why_not = s.reason;
  return s.found ? &s.library : nullptr;
}

void load_nvrtc(const std::string& path) {
  NvrtcState& s = nvrtc_state();
  const std::lock_guard lock(s.mutex);
  PLAIT_CHECK(!s.found, "NVRTC is loaded already");
  search(s, libraries_at(path, kStem));
  s.searched = s.found;
  if (!s.found)
    throw MissingError(fmt::format("NVRTC could not be loaded: {}", s.reason), path,
                       "name a library or a folder that holds libnvrtc.so");
}

}  // namespace plait
