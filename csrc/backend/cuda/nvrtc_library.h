#pragma once
// The functions of NVRTC, loaded at run time, typed by the declarations of cuda_abi/.
#include "cuda_abi/nvrtc.h"

#include <string>

namespace plait {

#define PLAIT_NVRTC_FUNCTIONS(X) \
  X(nvrtcVersion)                \
  X(nvrtcGetErrorString)         \
  X(nvrtcGetNumSupportedArchs)   \
  X(nvrtcGetSupportedArchs)      \
  X(nvrtcCreateProgram)          \
  X(nvrtcDestroyProgram)         \
  X(nvrtcCompileProgram)         \
  X(nvrtcGetPTXSize)             \
  X(nvrtcGetPTX)                 \
  X(nvrtcGetCUBINSize)           \
  X(nvrtcGetCUBIN)               \
  X(nvrtcGetProgramLogSize)      \
  X(nvrtcGetProgramLog)

struct NvrtcLibrary {
#define X(function) decltype(&::function) function = nullptr;
  PLAIT_NVRTC_FUNCTIONS(X)
#undef X
  int major = 0, minor = 0;
  std::string rule;  // what named its file (base/library_search.h)
};

// The library, loaded on first use and never unloaded, or null with the reason in `why_not` (may be null).
const NvrtcLibrary* nvrtc_library(std::string* why_not);

}  // namespace plait
