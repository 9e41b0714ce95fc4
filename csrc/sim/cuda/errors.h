#pragma once
// Results of the driver API: their names, their texts, and how a call inside the stand-in fails.
#include <string>
#include <string_view>

#include "sim/cuda/cuda_api.h"

namespace plait::sim {

// "CUDA_ERROR_INVALID_VALUE"; null for a number that is no CUresult.
const char* error_name(CUresult code);
// What the driver says of it; null for a number that is no CUresult.
const char* error_text(CUresult code);

// Ends a call with `code`. With a text the caller did wrong: it becomes a finding "cuXxx: text".
struct ApiError {
  CUresult code = CUDA_ERROR_UNKNOWN;
  std::string text;
};

[[noreturn]] inline void misuse(CUresult code, std::string text) { throw ApiError{code, std::move(text)}; }
// A failure that correct programs meet too (out of memory, not ready, not found).
[[noreturn]] inline void fail(CUresult code) { throw ApiError{code, {}}; }
// CUDA_ERROR_INVALID_VALUE unless the pointer for a result or argument is there.
inline void need(const void* pointer, std::string_view name) {
  if (pointer == nullptr) misuse(CUDA_ERROR_INVALID_VALUE, std::string(name) + " is null");
}

}  // namespace plait::sim
