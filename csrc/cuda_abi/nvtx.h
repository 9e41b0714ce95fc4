#pragma once
// The interface by which a profiler attaches to NVTX (version 3), as far as plait uses it: facts, compared with
// NVIDIA's nvToolsExt.h by tools/check_cuda_abi.py.
#include <cstddef>
#include <cstdint>

#define NVTX_VERSION 3

enum NvtxCallbackModule : int { NVTX_CB_MODULE_CORE = 1, NVTX_CB_MODULE_SIZE = 7 };

enum NvtxCallbackIdCore : int { NVTX_CBID_CORE_RangePushA = 9, NVTX_CBID_CORE_RangePop = 11, NVTX_CBID_CORE_SIZE = 16 };

enum NvtxExportTableID : int { NVTX_ETID_CALLBACKS = 1, NVTX_ETID_VERSIONINFO = 3 };

using NvtxFunctionPointer = void (*)();
using NvtxFunctionTable = NvtxFunctionPointer**;
using NvtxGetExportTableFunc_t = const void* (*)(uint32_t);
using NvtxInitializeInjectionNvtxFunc_t = int (*)(NvtxGetExportTableFunc_t);

struct NvtxExportTableCallbacks {
  size_t struct_size;
  int (*GetModuleFunctionTable)(NvtxCallbackModule, NvtxFunctionTable*, unsigned int*);
};

struct NvtxExportTableVersionInfo {
  size_t struct_size;
  uint32_t version;
  uint32_t reserved0;
  void (*SetInjectionNvtxVersion)(uint32_t);
};

using nvtxRangePushA_impl_fntype = int (*)(const char*);
using nvtxRangePop_impl_fntype = int (*)();
