#pragma once
// The functions of cuBLASLt, loaded at run time, typed by the declarations of cuda_abi/.
#include "cuda_abi/cublaslt.h"

#include <string>

namespace plait {

#define PLAIT_CUBLASLT_FUNCTIONS(X)       \
  X(cublasLtGetVersion)                   \
  X(cublasLtGetStatusName)                \
  X(cublasLtGetStatusString)              \
  X(cublasLtCreate)                       \
  X(cublasLtDestroy)                      \
  X(cublasLtMatmulDescCreate)             \
  X(cublasLtMatmulDescDestroy)            \
  X(cublasLtMatmulDescSetAttribute)       \
  X(cublasLtMatrixLayoutCreate)           \
  X(cublasLtMatrixLayoutDestroy)          \
  X(cublasLtMatrixLayoutSetAttribute)     \
  X(cublasLtMatmulPreferenceCreate)       \
  X(cublasLtMatmulPreferenceDestroy)      \
  X(cublasLtMatmulPreferenceSetAttribute) \
  X(cublasLtMatmulAlgoGetHeuristic)       \
  X(cublasLtMatmul)

struct CublasLtLibrary {
#define X(function) decltype(&::function) function = nullptr;
  PLAIT_CUBLASLT_FUNCTIONS(X)
#undef X
  std::string path;     // file that was loaded
  std::string version;  // "13.1.1"
  std::string rule;     // what named the file (base/library_search.h)

  // Throws what a status that is no success means: CudaMemoryError for lack of memory, else CudaError.
  void check(cublasStatus_t status, const char* call) const {
    if (status != CUBLAS_STATUS_SUCCESS) fail(status, call);
  }
  [[noreturn]] void fail(cublasStatus_t status, const char* call) const;
  std::string text(cublasStatus_t status) const;  // "CUBLAS_STATUS_NOT_SUPPORTED: ..."
};

// The library at `path`, a file or a folder, or where that is empty the first that loads of what library_candidates
// names; loaded on first use and never unloaded, one object per path. Null with the reason in `why_not` (may be null).
const CublasLtLibrary* cublaslt_library(const std::string& path, std::string* why_not);

}  // namespace plait
