#include "sim/cublaslt/handles.h"

#include <map>
#include <mutex>

#include "sim/cublaslt/descriptors.h"
#include "sim/cuda/engine.h"

namespace plait::sim::cublaslt {
namespace {

struct Handles {
  std::mutex mutex;
  std::map<cublasLtHandle_t, int> live;  // -> device
  uintptr_t next = 0x1000;               // handles are numbers, never used twice
};

Handles& handles() {
  static Handles* handles = new Handles;
  return *handles;
}

}  // namespace

int device_of_handle(cublasLtHandle_t handle) {
  Handles& all = handles();
  const std::lock_guard lock(all.mutex);
  auto at = all.live.find(handle);
  return at == all.live.end() ? -1 : at->second;
}

}  // namespace plait::sim::cublaslt

using namespace plait::sim::cublaslt;

cublasStatus_t cublasLtCreate(cublasLtHandle_t* handle) {
  if (handle == nullptr) return misuse(__func__, "the place for the handle is null");
  const int device = plait::sim::device_of(nullptr);
  if (device < 0) return misuse(__func__, "no context is current", CUBLAS_STATUS_NOT_INITIALIZED);
  Handles& all = handles();
  const std::lock_guard lock(all.mutex);
  *handle = reinterpret_cast<cublasLtHandle_t>(all.next += 0x10);
  all.live.emplace(*handle, device);
  return CUBLAS_STATUS_SUCCESS;
}

cublasStatus_t cublasLtDestroy(cublasLtHandle_t handle) {
  Handles& all = handles();
  {
    const std::lock_guard lock(all.mutex);
    if (all.live.erase(handle) == 1) return CUBLAS_STATUS_SUCCESS;
  }
  return misuse(__func__, "the handle is no live one", CUBLAS_STATUS_NOT_INITIALIZED);
}

size_t cublasLtGetVersion() { return CUBLAS_VERSION; }
size_t cublasLtGetCudartVersion() { return CUDART_VERSION; }

cublasStatus_t cublasLtGetProperty(libraryPropertyType type, int* value) {
  if (value == nullptr) return misuse(__func__, "the place for the value is null");
  switch (type) {
    case MAJOR_VERSION:
      *value = CUBLAS_VER_MAJOR;
      return CUBLAS_STATUS_SUCCESS;
    case MINOR_VERSION:
      *value = CUBLAS_VER_MINOR;
      return CUBLAS_STATUS_SUCCESS;
    case PATCH_LEVEL:
      *value = CUBLAS_VER_PATCH;
      return CUBLAS_STATUS_SUCCESS;
  }
  return misuse(__func__, "there is no such property");
}

#define STATUSES(X)                                                    \
  X(CUBLAS_STATUS_SUCCESS, "success")                                  \
  X(CUBLAS_STATUS_NOT_INITIALIZED, "the library was not initialized")  \
  X(CUBLAS_STATUS_ALLOC_FAILED, "the resource allocation failed")      \
  X(CUBLAS_STATUS_INVALID_VALUE, "an invalid value was passed")        \
  X(CUBLAS_STATUS_ARCH_MISMATCH, "the architecture lacks a feature")   \
  X(CUBLAS_STATUS_MAPPING_ERROR, "an access to memory space failed")   \
  X(CUBLAS_STATUS_EXECUTION_FAILED, "the function failed to launch")   \
  X(CUBLAS_STATUS_INTERNAL_ERROR, "an internal operation failed")      \
  X(CUBLAS_STATUS_NOT_SUPPORTED, "the functionality is not supported") \
  X(CUBLAS_STATUS_LICENSE_ERROR, "the functionality requires a license")

const char* cublasLtGetStatusName(cublasStatus_t status) {
  switch (status) {
#define X(status, text) \
  case status:          \
    return #status;
    STATUSES(X)
#undef X
  }
  return "CUBLAS_STATUS_UNKNOWN";
}

const char* cublasLtGetStatusString(cublasStatus_t status) {
  switch (status) {
#define X(status, text) \
  case status:          \
    return text;
    STATUSES(X)
#undef X
  }
  return "unknown status";
}
