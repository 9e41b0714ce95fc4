#pragma once
// The functions of the CUDA driver's library, loaded at run time, typed by the declarations of cuda_abi/.
#include "cuda_abi/driver.h"

#include <string>
#include <string_view>

namespace plait {

// Names expand to the versioned ones of cuda_abi/driver.h: cuMemAlloc to cuMemAlloc_v2.
#define PLAIT_DRIVER_FUNCTIONS(X)      \
  X(cuInit)                            \
  X(cuDriverGetVersion)                \
  X(cuGetErrorName)                    \
  X(cuGetErrorString)                  \
  X(cuDeviceGetCount)                  \
  X(cuDeviceGet)                       \
  X(cuDeviceGetName)                   \
  X(cuDeviceGetAttribute)              \
  X(cuDeviceTotalMem)                  \
  X(cuDeviceCanAccessPeer)             \
  X(cuDevicePrimaryCtxRetain)          \
  X(cuDevicePrimaryCtxRelease)         \
  X(cuCtxGetCurrent)                   \
  X(cuCtxPushCurrent)                  \
  X(cuCtxPopCurrent)                   \
  X(cuCtxSynchronize)                  \
  X(cuCtxEnablePeerAccess)             \
  X(cuThreadExchangeStreamCaptureMode) \
  X(cuModuleLoadDataEx)                \
  X(cuModuleUnload)                    \
  X(cuModuleGetFunction)               \
  X(cuFuncSetAttribute)                \
  X(cuLaunchKernelEx)                  \
  X(cuMemGetInfo)                      \
  X(cuMemAlloc)                        \
  X(cuMemFree)                         \
  X(cuMemHostAlloc)                    \
  X(cuMemFreeHost)                     \
  X(cuMemAllocFromPoolAsync)           \
  X(cuMemFreeAsync)                    \
  X(cuMemPoolCreate)                   \
  X(cuMemPoolDestroy)                  \
  X(cuMemPoolSetAttribute)             \
  X(cuMemPoolSetAccess)                \
  X(cuMemPoolTrimTo)                   \
  X(cuPointerGetAttribute)             \
  X(cuMemcpyAsync)                     \
  X(cuMemcpy2DAsync)                   \
  X(cuMemsetD8Async)                   \
  X(cuMemsetD2D8Async)                 \
  X(cuStreamCreate)                    \
  X(cuStreamDestroy)                   \
  X(cuStreamGetCtx)                    \
  X(cuStreamWaitEvent)                 \
  X(cuStreamQuery)                     \
  X(cuStreamSynchronize)               \
  X(cuStreamIsCapturing)               \
  X(cuStreamBeginCapture)              \
  X(cuStreamEndCapture)                \
  X(cuEventCreate)                     \
  X(cuEventDestroy)                    \
  X(cuEventRecord)                     \
  X(cuEventQuery)                      \
  X(cuGraphInstantiate)                \
  X(cuGraphDestroy)                    \
  X(cuGraphExecDestroy)                \
  X(cuGraphLaunch)

struct DriverLibrary {
#define X(function) decltype(&::function) function = nullptr;
  PLAIT_DRIVER_FUNCTIONS(X)
#undef X
  decltype(&::cuEventElapsedTime) cuEventElapsedTime = nullptr;  // of drivers before 12.8 the one without a version
  int version = 0;                                               // 13000
  std::string path, rule;  // file that was loaded, and what named it (base/library_search.h)

  // Throws what a code that is no success means: CudaMemoryError for lack of memory, else CudaError. `where` names the
  // kernel or what the call was for; may be empty.
  void check(CUresult code, std::string_view call, std::string_view where = {}) const {
    if (code != CUDA_SUCCESS) fail(code, call, where);
  }
  [[noreturn]] void fail(CUresult code, std::string_view call, std::string_view where) const;
  // "CUDA_ERROR_INVALID_VALUE: invalid argument"
  std::string text(CUresult code) const;
};

// "13.0" of 13000.
std::string cuda_version_text(int version);

// The library at this path (empty: libcuda.so.1 among loader_candidates()), initialised on first use and never
// unloaded: one object per path. Null, with the reason in `why_not` (may be null), where it cannot be loaded, is older
// than 12.0 or finds no device; a later call tries again.
const DriverLibrary* driver_library(const std::string& path, std::string* why_not);

// Makes a context current for a scope; what was current before is so again after it.
class ContextScope {
 public:
  ContextScope(const DriverLibrary& driver, CUcontext context) : driver_(driver) {
    CUcontext current = nullptr;
    driver.check(driver.cuCtxGetCurrent(&current), "cuCtxGetCurrent");
    if (current == context) return;
    driver.check(driver.cuCtxPushCurrent(context), "cuCtxPushCurrent");
    pushed_ = true;
  }
  ~ContextScope() {
    CUcontext popped;
    if (pushed_) driver_.cuCtxPopCurrent(&popped);
  }
  ContextScope(const ContextScope&) = delete;

 private:
  const DriverLibrary& driver_;
  bool pushed_ = false;
};

}  // namespace plait
