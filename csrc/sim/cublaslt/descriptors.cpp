#include "sim/cublaslt/descriptors.h"

#include <fmt/core.h>

#include <cstddef>
#include <cstring>
#include <deque>
#include <map>
#include <memory>
#include <mutex>
#include <span>

#include "sim/cuda/engine.h"

namespace plait::sim::cublaslt {
namespace {

static_assert(sizeof(Layout) <= sizeof(cublasLtMatrixLayoutOpaque_t));
static_assert(sizeof(MatmulDesc) <= sizeof(cublasLtMatmulDescOpaque_t));
static_assert(sizeof(Preference) <= sizeof(cublasLtMatmulPreferenceOpaque_t));

struct Attribute {
  int id;
  size_t offset, size;
};
#define FIELD(id, Struct, member) {id, offsetof(Struct, member), sizeof(Struct::member)}
constexpr Attribute kLayoutAttributes[] = {
    FIELD(CUBLASLT_MATRIX_LAYOUT_TYPE, Layout, type),
    FIELD(CUBLASLT_MATRIX_LAYOUT_ORDER, Layout, order),
    FIELD(CUBLASLT_MATRIX_LAYOUT_ROWS, Layout, rows),
    FIELD(CUBLASLT_MATRIX_LAYOUT_COLS, Layout, cols),
    FIELD(CUBLASLT_MATRIX_LAYOUT_LD, Layout, ld),
    FIELD(CUBLASLT_MATRIX_LAYOUT_BATCH_COUNT, Layout, batch_count),
    FIELD(CUBLASLT_MATRIX_LAYOUT_STRIDED_BATCH_OFFSET, Layout, batch_stride),
    FIELD(CUBLASLT_MATRIX_LAYOUT_PLANE_OFFSET, Layout, plane_offset),
    FIELD(CUBLASLT_MATRIX_LAYOUT_BATCH_MODE, Layout, batch_mode),
};
constexpr Attribute kMatmulAttributes[] = {
    FIELD(CUBLASLT_MATMUL_DESC_COMPUTE_TYPE, MatmulDesc, compute),
    FIELD(CUBLASLT_MATMUL_DESC_SCALE_TYPE, MatmulDesc, scale),
    FIELD(CUBLASLT_MATMUL_DESC_POINTER_MODE, MatmulDesc, pointer_mode),
    FIELD(CUBLASLT_MATMUL_DESC_TRANSA, MatmulDesc, transa),
    FIELD(CUBLASLT_MATMUL_DESC_TRANSB, MatmulDesc, transb),
    FIELD(CUBLASLT_MATMUL_DESC_TRANSC, MatmulDesc, transc),
    FIELD(CUBLASLT_MATMUL_DESC_FILL_MODE, MatmulDesc, fill),
    FIELD(CUBLASLT_MATMUL_DESC_EPILOGUE, MatmulDesc, epilogue),
    FIELD(CUBLASLT_MATMUL_DESC_BIAS_POINTER, MatmulDesc, bias),
    FIELD(CUBLASLT_MATMUL_DESC_BIAS_BATCH_STRIDE, MatmulDesc, bias_stride),
    FIELD(CUBLASLT_MATMUL_DESC_EPILOGUE_AUX_POINTER, MatmulDesc, aux),
    FIELD(CUBLASLT_MATMUL_DESC_EPILOGUE_AUX_LD, MatmulDesc, aux_ld),
    FIELD(CUBLASLT_MATMUL_DESC_EPILOGUE_AUX_BATCH_STRIDE, MatmulDesc, aux_stride),
    FIELD(CUBLASLT_MATMUL_DESC_ALPHA_VECTOR_BATCH_STRIDE, MatmulDesc, alpha_stride),
    FIELD(CUBLASLT_MATMUL_DESC_SM_COUNT_TARGET, MatmulDesc, sm_count),
    FIELD(CUBLASLT_MATMUL_DESC_A_SCALE_POINTER, MatmulDesc, a_scale),
    FIELD(CUBLASLT_MATMUL_DESC_B_SCALE_POINTER, MatmulDesc, b_scale),
    FIELD(CUBLASLT_MATMUL_DESC_C_SCALE_POINTER, MatmulDesc, c_scale),
    FIELD(CUBLASLT_MATMUL_DESC_D_SCALE_POINTER, MatmulDesc, d_scale),
    FIELD(CUBLASLT_MATMUL_DESC_AMAX_D_POINTER, MatmulDesc, amax),
    FIELD(CUBLASLT_MATMUL_DESC_EPILOGUE_AUX_DATA_TYPE, MatmulDesc, aux_type),
    FIELD(CUBLASLT_MATMUL_DESC_EPILOGUE_AUX_SCALE_POINTER, MatmulDesc, aux_scale),
    FIELD(CUBLASLT_MATMUL_DESC_EPILOGUE_AUX_AMAX_POINTER, MatmulDesc, aux_amax),
    FIELD(CUBLASLT_MATMUL_DESC_FAST_ACCUM, MatmulDesc, fast_accum),
    FIELD(CUBLASLT_MATMUL_DESC_BIAS_DATA_TYPE, MatmulDesc, bias_type),
    FIELD(CUBLASLT_MATMUL_DESC_A_SCALE_MODE, MatmulDesc, scale_modes[0]),
    FIELD(CUBLASLT_MATMUL_DESC_B_SCALE_MODE, MatmulDesc, scale_modes[1]),
    FIELD(CUBLASLT_MATMUL_DESC_C_SCALE_MODE, MatmulDesc, scale_modes[2]),
    FIELD(CUBLASLT_MATMUL_DESC_D_SCALE_MODE, MatmulDesc, scale_modes[3]),
    FIELD(CUBLASLT_MATMUL_DESC_EPILOGUE_AUX_SCALE_MODE, MatmulDesc, scale_modes[4]),
    FIELD(CUBLASLT_MATMUL_DESC_D_OUT_SCALE_POINTER, MatmulDesc, out_scale),
    FIELD(CUBLASLT_MATMUL_DESC_D_OUT_SCALE_MODE, MatmulDesc, scale_modes[5]),
    FIELD(CUBLASLT_MATMUL_DESC_EMULATION_DESCRIPTOR, MatmulDesc, emulation),
};
constexpr Attribute kPreferenceAttributes[] = {
    FIELD(CUBLASLT_MATMUL_PREF_SEARCH_MODE, Preference, search_mode),
    FIELD(CUBLASLT_MATMUL_PREF_MAX_WORKSPACE_BYTES, Preference, max_workspace),
    FIELD(CUBLASLT_MATMUL_PREF_REDUCTION_SCHEME_MASK, Preference, reduction_mask),
    FIELD(CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_A_BYTES, Preference, alignment[0]),
    FIELD(CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_B_BYTES, Preference, alignment[1]),
    FIELD(CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_C_BYTES, Preference, alignment[2]),
    FIELD(CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_D_BYTES, Preference, alignment[3]),
    FIELD(CUBLASLT_MATMUL_PREF_MAX_WAVES_COUNT, Preference, max_waves),
    FIELD(CUBLASLT_MATMUL_PREF_IMPL_MASK, Preference, impl_mask),
};
#undef FIELD

// Descriptors made by the library. Destroyed ones stay for a while, so that one still in use is noticed.
class Pool {
 public:
  uint64_t* make(size_t bytes) {
    const std::lock_guard lock(mutex_);
    auto memory = std::make_unique<uint64_t[]>(bytes / sizeof(uint64_t));
    uint64_t* pointer = memory.get();
    live_.emplace(pointer, std::move(memory));
    return pointer;
  }
  bool destroy(void* pointer) {
    const std::lock_guard lock(mutex_);
    auto at = live_.find(pointer);
    if (at == live_.end()) return false;
    const Kind destroyed = Kind::destroyed;
    std::memcpy(at->first, &destroyed, sizeof destroyed);
    dead_.push_back(std::move(at->second));
    live_.erase(at);
    if (dead_.size() > 4096) dead_.pop_front();
    return true;
  }

 private:
  std::mutex mutex_;
  std::map<void*, std::unique_ptr<uint64_t[]>> live_;
  std::deque<std::unique_ptr<uint64_t[]>> dead_;
};

Pool& pool() {
  static Pool* pool = new Pool;  // outlives descriptors destroyed at exit
  return *pool;
}

Kind kind_of(const void* descriptor) {
  Kind kind = Kind::none;
  if (descriptor != nullptr) std::memcpy(&kind, descriptor, sizeof kind);
  return kind;
}

cublasStatus_t set(const char* function, void* descriptor, Kind kind, std::span<const Attribute> attributes, int id,
                   const void* value, size_t bytes) {
  if (kind_of(descriptor) != kind) return misuse(function, "the descriptor is " + why_not(descriptor));
  for (const Attribute& attribute : attributes) {
    if (attribute.id != id) continue;
    if (value == nullptr) return misuse(function, fmt::format("the value of attribute {} is null", id));
    if (bytes != attribute.size) {
      return misuse(function, fmt::format("attribute {} has {} bytes, not {}", id, attribute.size, bytes));
    }
    std::memcpy(static_cast<std::byte*>(descriptor) + attribute.offset, value, bytes);
    return CUBLAS_STATUS_SUCCESS;
  }
  return misuse(function, fmt::format("there is no attribute {}", id));
}

cublasStatus_t get(const char* function, const void* descriptor, Kind kind, std::span<const Attribute> attributes,
                   int id, void* value, size_t bytes, size_t* written) {
  if (kind_of(descriptor) != kind) return misuse(function, "the descriptor is " + why_not(descriptor));
  for (const Attribute& attribute : attributes) {
    if (attribute.id != id) continue;
    if (bytes == 0) {
      if (written == nullptr) return misuse(function, "both the size and the place for the size are 0");
      *written = attribute.size;
      return CUBLAS_STATUS_SUCCESS;
    }
    if (value == nullptr) return misuse(function, fmt::format("the place for attribute {} is null", id));
    if (bytes != attribute.size) {
      return misuse(function, fmt::format("attribute {} has {} bytes, not {}", id, attribute.size, bytes));
    }
    std::memcpy(value, static_cast<const std::byte*>(descriptor) + attribute.offset, bytes);
    if (written != nullptr) *written = bytes;
    return CUBLAS_STATUS_SUCCESS;
  }
  return misuse(function, fmt::format("there is no attribute {}", id));
}

template <class Data, class Opaque>
cublasStatus_t place(const char* function, Opaque* memory, size_t bytes, const Data& data) {
  if (memory == nullptr) return misuse(function, "the descriptor is null");
  if (bytes < sizeof(Opaque)) return CUBLAS_STATUS_ALLOC_FAILED;
  std::memset(memory, 0, sizeof(Opaque));
  std::memcpy(memory, &data, sizeof(Data));
  return CUBLAS_STATUS_SUCCESS;
}

template <class Data, class Opaque>
cublasStatus_t create(const char* function, Opaque** place_of, const Data& data) {
  if (place_of == nullptr) return misuse(function, "the place for the descriptor is null");
  *place_of = reinterpret_cast<Opaque*>(pool().make(sizeof(Opaque)));
  return place(function, *place_of, sizeof(Opaque), data);
}

cublasStatus_t destroy(const char* function, void* descriptor, Kind kind) {
  if (descriptor == nullptr) return CUBLAS_STATUS_SUCCESS;
  if (kind_of(descriptor) != kind) return misuse(function, "the descriptor is " + why_not(descriptor));
  if (!pool().destroy(descriptor)) return misuse(function, "the descriptor was not made by the library");
  return CUBLAS_STATUS_SUCCESS;
}

Layout new_layout(cudaDataType type, uint64_t rows, uint64_t cols, int64_t ld) {
  return {Kind::layout, type, CUBLASLT_ORDER_COL, 1, rows, cols, ld, 0, 0, CUBLASLT_BATCH_MODE_STRIDED};
}

MatmulDesc new_matmul(cublasComputeType_t compute, cudaDataType scale) {
  MatmulDesc desc{};
  desc.kind = Kind::matmul;
  desc.compute = compute;
  desc.scale = scale;
  desc.fill = CUBLAS_FILL_MODE_FULL;
  desc.epilogue = CUBLASLT_EPILOGUE_DEFAULT;
  desc.aux_type = desc.bias_type = -1;
  return desc;
}

Preference new_preference() {
  return {Kind::preference, CUBLASLT_SEARCH_BEST_FIT, CUBLASLT_REDUCTION_SCHEME_MASK, {256, 256, 256, 256}, 0, 0,
          ~uint64_t{0}};
}

}  // namespace

Layout* layout_of(cublasLtMatrixLayout_t layout) {
  return kind_of(layout) == Kind::layout ? reinterpret_cast<Layout*>(layout) : nullptr;
}
MatmulDesc* matmul_of(cublasLtMatmulDesc_t desc) {
  return kind_of(desc) == Kind::matmul ? reinterpret_cast<MatmulDesc*>(desc) : nullptr;
}
Preference* preference_of(cublasLtMatmulPreference_t preference) {
  return kind_of(preference) == Kind::preference ? reinterpret_cast<Preference*>(preference) : nullptr;
}

std::string why_not(const void* descriptor) {
  if (descriptor == nullptr) return "null";
  return kind_of(descriptor) == Kind::destroyed ? "destroyed" : "no such descriptor";
}

cublasStatus_t misuse(const char* function, const std::string& why, cublasStatus_t status) {
  report(fmt::format("{}: {} ({})", function, why, cublasLtGetStatusName(status)));
  return status;
}

}  // namespace plait::sim::cublaslt

using namespace plait::sim::cublaslt;

cublasStatus_t cublasLtMatrixLayoutInit_internal(cublasLtMatrixLayout_t layout, size_t size, cudaDataType type,
                                                 uint64_t rows, uint64_t cols, int64_t ld) {
  return place("cublasLtMatrixLayoutInit", layout, size, new_layout(type, rows, cols, ld));
}
cublasStatus_t cublasLtMatrixLayoutCreate(cublasLtMatrixLayout_t* layout, cudaDataType type, uint64_t rows,
                                          uint64_t cols, int64_t ld) {
  return create(__func__, layout, new_layout(type, rows, cols, ld));
}
cublasStatus_t cublasLtMatrixLayoutDestroy(cublasLtMatrixLayout_t layout) {
  return destroy(__func__, layout, Kind::layout);
}
cublasStatus_t cublasLtMatrixLayoutSetAttribute(cublasLtMatrixLayout_t layout, cublasLtMatrixLayoutAttribute_t id,
                                                const void* value, size_t bytes) {
  return set(__func__, layout, Kind::layout, kLayoutAttributes, id, value, bytes);
}
cublasStatus_t cublasLtMatrixLayoutGetAttribute(cublasLtMatrixLayout_t layout, cublasLtMatrixLayoutAttribute_t id,
                                                void* value, size_t bytes, size_t* written) {
  return get(__func__, layout, Kind::layout, kLayoutAttributes, id, value, bytes, written);
}

cublasStatus_t cublasLtMatmulDescInit_internal(cublasLtMatmulDesc_t desc, size_t size, cublasComputeType_t compute,
                                               cudaDataType_t scale) {
  return place("cublasLtMatmulDescInit", desc, size, new_matmul(compute, scale));
}
cublasStatus_t cublasLtMatmulDescCreate(cublasLtMatmulDesc_t* desc, cublasComputeType_t compute, cudaDataType_t scale) {
  return create(__func__, desc, new_matmul(compute, scale));
}
cublasStatus_t cublasLtMatmulDescDestroy(cublasLtMatmulDesc_t desc) { return destroy(__func__, desc, Kind::matmul); }
cublasStatus_t cublasLtMatmulDescSetAttribute(cublasLtMatmulDesc_t desc, cublasLtMatmulDescAttributes_t id,
                                              const void* value, size_t bytes) {
  return set(__func__, desc, Kind::matmul, kMatmulAttributes, id, value, bytes);
}
cublasStatus_t cublasLtMatmulDescGetAttribute(cublasLtMatmulDesc_t desc, cublasLtMatmulDescAttributes_t id, void* value,
                                              size_t bytes, size_t* written) {
  return get(__func__, desc, Kind::matmul, kMatmulAttributes, id, value, bytes, written);
}

cublasStatus_t cublasLtMatmulPreferenceInit_internal(cublasLtMatmulPreference_t preference, size_t size) {
  return place("cublasLtMatmulPreferenceInit", preference, size, new_preference());
}
cublasStatus_t cublasLtMatmulPreferenceCreate(cublasLtMatmulPreference_t* preference) {
  return create(__func__, preference, new_preference());
}
cublasStatus_t cublasLtMatmulPreferenceDestroy(cublasLtMatmulPreference_t preference) {
  return destroy(__func__, preference, Kind::preference);
}
cublasStatus_t cublasLtMatmulPreferenceSetAttribute(cublasLtMatmulPreference_t preference,
                                                    cublasLtMatmulPreferenceAttributes_t id, const void* value,
                                                    size_t bytes) {
  return set(__func__, preference, Kind::preference, kPreferenceAttributes, id, value, bytes);
}
cublasStatus_t cublasLtMatmulPreferenceGetAttribute(cublasLtMatmulPreference_t preference,
                                                    cublasLtMatmulPreferenceAttributes_t id, void* value, size_t bytes,
                                                    size_t* written) {
  return get(__func__, preference, Kind::preference, kPreferenceAttributes, id, value, bytes, written);
}
