#include "comm/nccl/nccl_library.h"

#include <dlfcn.h>

#include <map>
#include <memory>
#include <mutex>

#include "base/error.h"
#include "base/library_search.h"
#include "base/log.h"
#include "comm/nccl/nccl_communicators.h"

namespace plait {
namespace {

constexpr int kOldest = 21800;  // non-blocking communicators, their configuration in its present form

// Fills the table; the reason where that cannot be.
std::string load(const std::string& file, NcclLibrary& out) {
  void* handle = dlopen(file.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (handle == nullptr) return dlerror();
  std::string missing;
#define X(function)                                                                 \
  out.function = reinterpret_cast<decltype(&::function)>(dlsym(handle, #function)); \
  if (out.function == nullptr) missing = #function;
  PLAIT_NCCL_FUNCTIONS(X)
#undef X
  if (!missing.empty()) return fmt::format("{} has no function {}", file, missing);
  out.path = library_file_of(reinterpret_cast<const void*>(out.ncclGetVersion));
  if (out.ncclGetVersion(&out.version) != ncclSuccess) return file + " does not tell its version";
  if (out.version < kOldest)
    return fmt::format("{} is version {}, {} or later is needed", file, nccl_version_text(out.version),
                       nccl_version_text(kOldest));
  log(LogComponent::library, LogLevel::info, "{} loaded: NCCL {}", out.path, nccl_version_text(out.version));
  return "";
}

struct Loaded {
  std::mutex mutex;
  std::map<std::string, std::unique_ptr<NcclLibrary>> by_path;
};

Loaded& loaded() {
  static Loaded all;
  return all;
}

}  // namespace

std::string nccl_version_text(int version) {
  return fmt::format("{}.{}.{}", version / 10000, version / 100 % 100, version % 100);
}

std::string NcclLibrary::failure(ncclResult_t code, const char* call, ncclComm_t comm) const {
  const char* last = ncclGetLastError(comm);
  std::string text = fmt::format("{}: {}", call, ncclGetErrorString(code));
  if (last != nullptr && *last != '\0') text += fmt::format(": {}", last);
  return text;
}

const NcclLibrary& load_nccl(const std::string& path) {
  Loaded& all = loaded();
  const std::lock_guard lock(all.mutex);
  auto& slot = all.by_path[path];
  if (slot) return *slot;
  constexpr const char* kNames[] = {"libnccl.so.2", "libnccl.so"};
  const auto candidates = path.empty() ? library_candidates("libnccl", kNames) : libraries_at(path, "libnccl");
  std::string reason;
  for (const auto& [file, rule] : candidates) {
    auto library = std::make_unique<NcclLibrary>();
    library->rule = rule;
    const std::string why = load(file, *library);
    if (why.empty()) {
      slot = std::move(library);
      return *slot;
    }
    if (reason.empty()) reason = why;
  }
  throw MissingError(fmt::format("NCCL cannot be loaded: {}", reason.empty() ? "no libnccl was found" : reason),
                     path.empty() ? "looked in kits, wheels and the loader's places" : path,
                     "install NCCL 2.18 or later, for instance the wheel nvidia-nccl-cu13 into the environment that "
                     "VIRTUAL_ENV names");
}

NcclFacts nccl_facts(const std::string& library) {
  try {
    const NcclLibrary& found = load_nccl(library);
    return {nccl_version_text(found.version), found.path, "", found.rule};
  } catch (const MissingError& e) {
    return {"", "", e.message(), ""};
  }
}

}  // namespace plait
