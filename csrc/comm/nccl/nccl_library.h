#pragma once
// The functions of NCCL, loaded at run time, typed by the declarations of cuda_abi/.
#include "cuda_abi/nccl.h"

#include <string>

namespace plait {

#define PLAIT_NCCL_FUNCTIONS(X) \
  X(ncclGetVersion)             \
  X(ncclGetErrorString)         \
  X(ncclGetLastError)           \
  X(ncclGetUniqueId)            \
  X(ncclCommInitRankConfig)     \
  X(ncclCommFinalize)           \
  X(ncclCommDestroy)            \
  X(ncclCommAbort)              \
  X(ncclCommGetAsyncError)      \
  X(ncclCommCount)              \
  X(ncclCommUserRank)           \
  X(ncclGroupStart)             \
  X(ncclGroupEnd)               \
  X(ncclAllReduce)              \
  X(ncclBroadcast)              \
  X(ncclReduce)                 \
  X(ncclAllGather)              \
  X(ncclReduceScatter)          \
  X(ncclSend)                   \
  X(ncclRecv)

struct NcclLibrary {
#define X(function) decltype(&::function) function = nullptr;
  PLAIT_NCCL_FUNCTIONS(X)
#undef X
  int version = 0;         // 23007 is 2.30.7
  std::string path, rule;  // the file, and what named it (base/library_search.h)

  // "ncclAllReduce: unhandled cuda error: TEXT", the text being NCCL's last error.
  std::string failure(ncclResult_t code, const char* call, ncclComm_t comm) const;
};

// "2.30.7".
std::string nccl_version_text(int version);

// The library at the path (a file or a folder; empty: where library_candidates says), loaded once and never unloaded.
// MissingError with the reason where there is none, or one older than 2.18.
const NcclLibrary& load_nccl(const std::string& path);

}  // namespace plait
