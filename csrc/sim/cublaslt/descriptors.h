#pragma once
// What lies in the opaque descriptors of cuBLASLt. A descriptor is plain data in memory of the caller or of the
// library; the first word says which kind it is, so that one destroyed or never made is noticed.
#include <cstdint>
#include <string>

#include "sim/cublaslt/api.h"

namespace plait::sim::cublaslt {

enum class Kind : uint32_t { none = 0, layout = 0x504c5401, matmul, preference, algo, destroyed };

struct Layout {
  Kind kind;
  int32_t type;   // cudaDataType
  int32_t order;  // cublasLtOrder_t
  int32_t batch_count;
  uint64_t rows, cols;
  int64_t ld, batch_stride, plane_offset;  // elements, elements, bytes
  uint32_t batch_mode;
};

struct MatmulDesc {
  Kind kind;
  int32_t compute, scale;  // cublasComputeType_t, cudaDataType
  int32_t pointer_mode, transa, transb, transc, fill;
  uint32_t epilogue;
  int32_t sm_count, aux_type, bias_type;  // types: -1 is the type of D
  uint64_t bias;                          // an address, as are the other pointers
  int64_t bias_stride;
  uint64_t aux;
  int64_t aux_ld, aux_stride, alpha_stride;
  uint64_t a_scale, b_scale, c_scale, d_scale, amax, aux_scale, aux_amax, out_scale, emulation;
  int32_t scale_modes[6];  // A, B, C, D, aux, D out
  int8_t fast_accum;
};

struct Preference {
  Kind kind;
  uint32_t search_mode, reduction_mask;
  uint32_t alignment[4];  // promised for A, B, C, D, in bytes
  float max_waves;
  uint64_t max_workspace, impl_mask;
};

// The descriptor's data; null for a null pointer, one destroyed, or memory that is no such descriptor.
Layout* layout_of(cublasLtMatrixLayout_t layout);
MatmulDesc* matmul_of(cublasLtMatmulDesc_t desc);
Preference* preference_of(cublasLtMatmulPreference_t preference);
// "null", "destroyed" or "no such descriptor": why the functions above gave null.
std::string why_not(const void* descriptor);

// Enters a finding "function: why (status)" and returns the status.
cublasStatus_t misuse(const char* function, const std::string& why,
                      cublasStatus_t status = CUBLAS_STATUS_INVALID_VALUE);

}  // namespace plait::sim::cublaslt
