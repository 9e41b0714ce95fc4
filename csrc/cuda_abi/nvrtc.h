#pragma once
// NVRTC's interface, as far as plait uses it: facts, compared with NVIDIA's nvrtc.h by tools/check_cuda_abi.py.
#include <cstddef>

using nvrtcProgram = struct _nvrtcProgram*;

enum nvrtcResult : int { NVRTC_SUCCESS = 0, NVRTC_ERROR_COMPILATION = 6 };

extern "C" {
nvrtcResult nvrtcCompileProgram(nvrtcProgram, int, const char* const*);
nvrtcResult nvrtcCreateProgram(nvrtcProgram*, const char*, const char*, int, const char* const*, const char* const*);
nvrtcResult nvrtcDestroyProgram(nvrtcProgram*);
nvrtcResult nvrtcGetCUBIN(nvrtcProgram, char*);
nvrtcResult nvrtcGetCUBINSize(nvrtcProgram, size_t*);
const char* nvrtcGetErrorString(nvrtcResult);
nvrtcResult nvrtcGetNumSupportedArchs(int*);
nvrtcResult nvrtcGetPTX(nvrtcProgram, char*);
nvrtcResult nvrtcGetPTXSize(nvrtcProgram, size_t*);
nvrtcResult nvrtcGetProgramLog(nvrtcProgram, char*);
nvrtcResult nvrtcGetProgramLogSize(nvrtcProgram, size_t*);
nvrtcResult nvrtcGetSupportedArchs(int*);
nvrtcResult nvrtcVersion(int*, int*);
}
