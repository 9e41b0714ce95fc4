// Texts of results, and addresses of calls.
#include <fmt/core.h>

#include "sim/cuda/calls.h"
#include "sim/cuda/machine.h"

using namespace plait::sim;

extern "C" {

CUresult cuGetErrorName(CUresult error, const char** text) {
  if (text == nullptr) return CUDA_ERROR_INVALID_VALUE;
  *text = error_name(error);
  return *text == nullptr ? CUDA_ERROR_INVALID_VALUE : CUDA_SUCCESS;
}

CUresult cuGetErrorString(CUresult error, const char** text) {
  if (text == nullptr) return CUDA_ERROR_INVALID_VALUE;
  std::lock_guard lock(machine().lock);
  const char* const fault = machine().fault_text(error);
  *text = fault != nullptr ? fault : error_text(error);
  return *text == nullptr ? CUDA_ERROR_INVALID_VALUE : CUDA_SUCCESS;
}

CUresult cuGetProcAddress(const char* symbol, void** address, int version, cuuint64_t flags,
                          CUdriverProcAddressQueryResult* status) {
  return api_call(
      __func__,
      [&](const Call&) {
        need(symbol, "symbol");
        need(address, "pfn");
        *address = nullptr;
        if ((flags & CU_GET_PROC_ADDRESS_PER_THREAD_DEFAULT_STREAM) != 0) {
          misuse(CUDA_ERROR_NOT_SUPPORTED, "the calls with a default stream per thread are not simulated");
        }
        const CallEntry* entry = find_call(symbol, version);
        const bool newer = entry == nullptr && find_call(symbol, 1 << 30) != nullptr;
        if (status != nullptr) {
          *status = entry != nullptr ? CU_GET_PROC_ADDRESS_SUCCESS
                    : newer          ? CU_GET_PROC_ADDRESS_VERSION_NOT_SUFFICIENT
                                     : CU_GET_PROC_ADDRESS_SYMBOL_NOT_FOUND;
        }
        if (entry == nullptr) fail(CUDA_ERROR_NOT_FOUND);
        *address = entry->address;
      },
      false);
}
}
