#include "backend/cuda/driver_library.h"

#include <dlfcn.h>

#include <map>
#include <memory>
#include <mutex>

#include "backend/cuda/cuda_device.h"
#include "base/error.h"
#include "base/library_search.h"
#include "base/log.h"

namespace plait {
namespace {

constexpr int kOldest = 12000;

constexpr const char* kLoaderNames[] = {"libcuda.so.1"};

// The library at the path, or the first that can be loaded of those that the system has; null with the reason.
void* open_library(const std::string& path, DriverLibrary& out, std::string& reason) {
  if (!path.empty()) {
    out.rule = "named by the caller";
    void* const handle = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
    if (handle == nullptr) reason = dlerror();
    return handle;
  }
  reason = "no libcuda.so.1 was found";
  for (const auto& [file, rule] : loader_candidates(kLoaderNames)) {
    out.rule = rule;
    if (void* const handle = dlopen(file.c_str(), RTLD_NOW | RTLD_LOCAL); handle != nullptr) return handle;
    reason = dlerror();
  }
  return nullptr;
}

// Loads the library and its functions; the reason where that fails.
std::string load(const std::string& path, DriverLibrary& out) {
  std::string reason;
  void* handle = open_library(path, out, reason);
  if (handle == nullptr) return reason;
  std::string missing;
#define LOAD(function)                                                              \
  out.function = reinterpret_cast<decltype(&::function)>(dlsym(handle, #function)); \
  if (out.function == nullptr && missing.empty()) missing = #function;
#define X(function) LOAD(function)  // one more expansion, so that #function is the versioned name
  PLAIT_DRIVER_FUNCTIONS(X)
#undef X
#undef LOAD
  for (const char* name : {"cuEventElapsedTime_v2", "cuEventElapsedTime"})
    if (out.cuEventElapsedTime == nullptr)
      out.cuEventElapsedTime = reinterpret_cast<decltype(&::cuEventElapsedTime)>(dlsym(handle, name));
  if (out.cuEventElapsedTime == nullptr && missing.empty()) missing = "cuEventElapsedTime";
  if (out.cuGetErrorString != nullptr) out.path = library_file_of(reinterpret_cast<void*>(out.cuGetErrorString));
  if (out.cuDriverGetVersion == nullptr) return fmt::format("{} lacks cuDriverGetVersion", out.path);
  if (out.cuDriverGetVersion(&out.version) != CUDA_SUCCESS) return out.path + " does not tell its version";
  if (out.version < kOldest)
    return fmt::format("{} is the driver of CUDA {}, {} or later is needed", out.path, cuda_version_text(out.version),
                       cuda_version_text(kOldest));
  if (missing.empty())
    log(LogComponent::library, LogLevel::info, "{} loaded: driver of CUDA {}, {}", out.path,
        cuda_version_text(out.version), out.rule);
  return missing.empty() ? "" : fmt::format("{} lacks {}", out.path, missing);
}

std::string initialise(const DriverLibrary& driver) {
  const CUresult code = driver.cuInit(0);
  if (code != CUDA_SUCCESS) return "cuInit failed: " + driver.text(code);
  int count = 0;
  const CUresult counted = driver.cuDeviceGetCount(&count);
  if (counted != CUDA_SUCCESS) return "cuDeviceGetCount failed: " + driver.text(counted);
  return count == 0 ? "the driver finds no device" : "";
}

struct State {
  std::mutex mutex;
  std::map<std::string, std::unique_ptr<const DriverLibrary>> libraries;  // by path as asked for
};

State& state() {
  static State* state = new State;  // never destroyed: devices may be released after statics are
  return *state;
}

}  // namespace

CudaError::CudaError(std::string what, std::string where, int code)
    : InternalError(std::move(what), std::move(where), ""), code_(code) {}

std::string cuda_version_text(int version) { return fmt::format("{}.{}", version / 1000, version % 1000 / 10); }

std::string DriverLibrary::text(CUresult code) const {
  const char *name = nullptr, *words = nullptr;
  if (cuGetErrorName(code, &name) != CUDA_SUCCESS || name == nullptr) return fmt::format("error {}", int(code));
  if (cuGetErrorString(code, &words) != CUDA_SUCCESS || words == nullptr) return name;
  return fmt::format("{}: {}", name, words);
}

void DriverLibrary::fail(CUresult code, std::string_view call, std::string_view where) const {
  const std::string what = fmt::format("{} failed: {}", call, text(code));
  if (code == CUDA_ERROR_OUT_OF_MEMORY)
    throw CudaMemoryError(what, std::string(where), "use smaller sizes or more ranks");
  throw CudaError(what, std::string(where), int(code));
}

const DriverLibrary* driver_library(const std::string& path, std::string* why_not) {
  State& s = state();
  const std::lock_guard lock(s.mutex);
  std::unique_ptr<const DriverLibrary>& known = s.libraries[path];
  if (known != nullptr) return known.get();
  auto loaded = std::make_unique<DriverLibrary>();
  std::string reason = load(path, *loaded);
  if (reason.empty()) reason = initialise(*loaded);
  if (!reason.empty()) {
    if (why_not != nullptr) *why_not = reason;
    return nullptr;
  }
  known = std::move(loaded);
  return known.get();
}

}  // namespace plait
