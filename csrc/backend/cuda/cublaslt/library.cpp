#include "backend/cuda/cublaslt/library.h"

#include <dlfcn.h>

#include <map>
#include <memory>
#include <mutex>

#include "backend/cuda/cublaslt/cublaslt.h"
#include "backend/cuda/cuda_device.h"
#include "base/library_search.h"
#include "base/log.h"

namespace plait {
namespace {

constexpr const char* kStem = "libcublasLt";
constexpr const char* kLoaderNames[] = {"libcublasLt.so.13", "libcublasLt.so.12", "libcublasLt.so"};
constexpr size_t kOldest = 120000;

std::string version_text(size_t version) {
  return fmt::format("{}.{}.{}", version / 10000, version / 100 % 100, version % 100);
}

// Loads the library and its functions; the reason where that fails.
std::string load(const std::string& file, CublasLtLibrary& out) {
  void* handle = dlopen(file.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (handle == nullptr) return dlerror();
#define X(function)                                                                 \
  out.function = reinterpret_cast<decltype(&::function)>(dlsym(handle, #function)); \
  if (out.function == nullptr) return fmt::format("{} lacks {}", file, #function);
  PLAIT_CUBLASLT_FUNCTIONS(X)
#undef X
  out.path = library_file_of(reinterpret_cast<void*>(out.cublasLtMatmul));
  const size_t version = out.cublasLtGetVersion();
  out.version = version_text(version);
  if (version < kOldest)
    return fmt::format("{} is version {}, {} or later is needed", out.path, out.version, version_text(kOldest));
  log(LogComponent::library, LogLevel::info, "{} loaded: cuBLASLt {}", out.path, out.version);
  return "";
}

struct State {
  std::mutex mutex;
  std::map<std::string, std::unique_ptr<const CublasLtLibrary>> libraries;  // by path as asked for
};

State& state() {
  static State* state = new State;  // never destroyed: devices may be released after statics are
  return *state;
}

}  // namespace

std::string CublasLtLibrary::text(cublasStatus_t status) const {
  return fmt::format("{}: {}", cublasLtGetStatusName(status), cublasLtGetStatusString(status));
}

void CublasLtLibrary::fail(cublasStatus_t status, const char* call) const {
  const std::string what = fmt::format("{} failed: {}", call, text(status));
  if (status == CUBLAS_STATUS_ALLOC_FAILED) throw CudaMemoryError(what, "cuBLASLt", "use smaller sizes or more ranks");
  throw CudaError(what, "cuBLASLt", int(status));
}

const CublasLtLibrary* cublaslt_library(const std::string& path, std::string* why_not) {
  State& s = state();
  const std::lock_guard lock(s.mutex);
  std::unique_ptr<const CublasLtLibrary>& known = s.libraries[path];
  if (known != nullptr) return known.get();
  std::string first_failure;
  for (const auto& [file, rule] : path.empty() ? library_candidates(kStem, kLoaderNames) : libraries_at(path, kStem)) {
    auto loaded = std::make_unique<CublasLtLibrary>();
    loaded->rule = rule;
    const std::string reason = load(file, *loaded);
    if (reason.empty()) {
      known = std::move(loaded);
      return known.get();
    }
    if (first_failure.empty()) first_failure = reason;
  }
  if (why_not != nullptr)
    *why_not = "cuBLASLt cannot be loaded: " + (first_failure.empty() ? "no libcublasLt was found" : first_failure);
  return nullptr;
}

CudaLibraryFacts cublaslt_facts(const std::string& path) {
  CudaLibraryFacts facts{"cuBLASLt", "", "", "", ""};
  if (const CublasLtLibrary* library = cublaslt_library(path, &facts.why_not)) {
    facts.version = library->version;
    facts.path = library->path;
    facts.rule = library->rule;
  }
  return facts;
}

}  // namespace plait
