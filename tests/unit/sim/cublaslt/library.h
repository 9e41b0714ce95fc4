#pragma once
// The stand-in for cuBLASLt and matrices of tests.
#include "cuda_abi/cublaslt.h"

#include <cmath>
#include <functional>
#include <random>

#include "scalar/convert.h"
#include "unit/sim/cublaslt/driver.h"

namespace plait::test {

struct CublasLt {
#define X(name, source) decltype(&::name) name;
#include "sim/cublaslt/calls.def"
#undef X
  explicit CublasLt(const Library& library) {
#define X(name, source) name = library.get<decltype(name)>(#name);
#include "sim/cublaslt/calls.def"
#undef X
  }
};

inline DType dtype_of(cudaDataType type) {
  switch (type) {
    case CUDA_R_64F:
      return DType::f64;
    case CUDA_R_32F:
      return DType::f32;
    case CUDA_R_16F:
      return DType::f16;
    default:
      return DType::bf16;
  }
}

struct TypeRow {
  cublasComputeType_t compute;
  cudaDataType scale, in, out;
  const char* precision;
};
inline std::vector<TypeRow> type_rows() {
  return {
#define X(compute, scale, in, out, precision) {compute, scale, in, out, #precision},
#include "sim/cublaslt/types.def"
#undef X
  };
}

// A matrix, or a batch of them, in host memory and on the device.
struct Matrix {
  cudaDataType type = CUDA_R_32F;
  int64_t rows = 1, cols = 1, batch = 1;
  cublasLtOrder_t order = CUBLASLT_ORDER_COL;
  int64_t padding = 0;  // of the leading dimension
  int64_t gap = 0;      // between matrices of the batch
  std::vector<std::byte> bytes{};
  CUdeviceptr address = 0;

  int64_t ld() const { return (order == CUBLASLT_ORDER_COL ? rows : cols) + padding; }
  int64_t stride() const { return ld() * (order == CUBLASLT_ORDER_COL ? cols : rows) + gap; }
  int64_t index(int64_t b, int64_t r, int64_t c) const {
    return b * stride() + (order == CUBLASLT_ORDER_COL ? r + c * ld() : r * ld() + c);
  }
  size_t element() const { return size_of(dtype_of(type)); }
  void allocate() { bytes.assign(static_cast<size_t>(batch * stride()) * element(), std::byte(0)); }
  double at(int64_t b, int64_t r, int64_t c) const {
    return load_double(dtype_of(type), bytes.data() + static_cast<size_t>(index(b, r, c)) * element());
  }
  void put(int64_t b, int64_t r, int64_t c, double value) {
    store_double(dtype_of(type), bytes.data() + static_cast<size_t>(index(b, r, c)) * element(), value);
  }
  void fill(const std::function<double()>& draw) {
    allocate();
    for (int64_t b = 0; b < batch; ++b) {
      for (int64_t r = 0; r < rows; ++r) {
        for (int64_t c = 0; c < cols; ++c) put(b, r, c, draw());
      }
    }
  }
};

// One product and what it needs; set the fields, then prepare(), then run what is to be tested.
class Product {
 public:
  TypeRow row{CUBLAS_COMPUTE_32F, CUDA_R_32F, CUDA_R_32F, CUDA_R_32F, "f32"};
  int64_t m = 4, n = 3, k = 5, batch = 1;
  cublasOperation_t transa = CUBLAS_OP_N, transb = CUBLAS_OP_N;
  cublasLtEpilogue_t epilogue = CUBLASLT_EPILOGUE_DEFAULT;
  cublasLtOrder_t order_a = CUBLASLT_ORDER_COL, order_b = CUBLASLT_ORDER_COL, order_d = CUBLASLT_ORDER_COL;
  int64_t padding = 0, gap = 0;
  double alpha = 1, beta = 0;
  uint32_t alignment = 256;  // promised to the heuristic
  uint64_t max_workspace = 0;
  bool integers = false;  // inputs of which every sum is exact

  // Afterwards:
  Matrix a, b, c, d, bias;
  cublasLtMatmulDesc_t desc = nullptr;
  cublasLtMatrixLayout_t layout_a = nullptr, layout_b = nullptr, layout_c = nullptr, layout_d = nullptr;
  cublasLtMatmulPreference_t preference = nullptr;
  std::vector<cublasLtMatmulHeuristicResult_t> algorithms;

  Product(Machine& machine, CublasLt& lt, cublasLtHandle_t handle) : machine_(machine), lt_(lt), handle_(handle) {}
  ~Product() {
    for (const Matrix* each : {&a, &b, &c, &d, &bias}) {
      if (each->address != 0) machine_.driver.cuMemFree(each->address);
    }
    if (workspace_ != 0) machine_.driver.cuMemFree(workspace_);
    for (auto layout : {layout_a, layout_b, layout_c, layout_d}) lt_.cublasLtMatrixLayoutDestroy(layout);
    lt_.cublasLtMatmulDescDestroy(desc);
    lt_.cublasLtMatmulPreferenceDestroy(preference);
  }

  template <class T>
  void set(cublasLtMatmulDescAttributes_t id, T value) {
    ASSERT_EQ(lt_.cublasLtMatmulDescSetAttribute(desc, id, &value, sizeof value), CUBLAS_STATUS_SUCCESS);
  }
  template <class T>
  void set(cublasLtMatrixLayout_t layout, cublasLtMatrixLayoutAttribute_t id, T value) {
    ASSERT_EQ(lt_.cublasLtMatrixLayoutSetAttribute(layout, id, &value, sizeof value), CUBLAS_STATUS_SUCCESS);
  }
  template <class T>
  void set(cublasLtMatmulPreferenceAttributes_t id, T value) {
    ASSERT_EQ(lt_.cublasLtMatmulPreferenceSetAttribute(preference, id, &value, sizeof value), CUBLAS_STATUS_SUCCESS);
  }

  void prepare() {
    std::mt19937 random(7);
    std::normal_distribution<double> normal;
    std::uniform_int_distribution<int> small(-3, 3);
    auto draw = [&] { return integers ? double(small(random)) : normal(random); };
    const bool plain_a = transa == CUBLAS_OP_N, plain_b = transb == CUBLAS_OP_N;
    a = {row.in, plain_a ? m : k, plain_a ? k : m, batch, order_a, padding, gap};
    b = {row.in, plain_b ? k : n, plain_b ? n : k, batch, order_b, padding, gap};
    c = {row.out, m, n, batch, order_d, padding, gap};
    d = c;
    bias = {row.out, m, 1};
    for (Matrix* each : {&a, &b, &c, &bias}) each->fill(draw);
    d.allocate();
    for (Matrix* each : {&a, &b, &c, &bias}) each->address = machine_.upload(each->bytes);
    d.address = machine_.allocate(d.bytes.size());
    // What lies between columns is read back with the rest.
    if (padding + gap > 0) check(machine_.driver.cuMemsetD8(d.address, 0x5a, d.bytes.size()), "cuMemsetD8");
    describe();
  }
  void describe() {
    ASSERT_EQ(lt_.cublasLtMatmulDescCreate(&desc, row.compute, row.scale), CUBLAS_STATUS_SUCCESS);
    set(CUBLASLT_MATMUL_DESC_TRANSA, static_cast<int32_t>(transa));
    set(CUBLASLT_MATMUL_DESC_TRANSB, static_cast<int32_t>(transb));
    set(CUBLASLT_MATMUL_DESC_EPILOGUE, static_cast<uint32_t>(epilogue));
    if ((epilogue & CUBLASLT_EPILOGUE_BIAS) != 0) {
      set(CUBLASLT_MATMUL_DESC_BIAS_POINTER, reinterpret_cast<void*>(bias.address));
    }
    layout_a = make_layout(a), layout_b = make_layout(b), layout_c = make_layout(c), layout_d = make_layout(d);
    ASSERT_EQ(lt_.cublasLtMatmulPreferenceCreate(&preference), CUBLAS_STATUS_SUCCESS);
    set(CUBLASLT_MATMUL_PREF_MAX_WORKSPACE_BYTES, max_workspace);
    for (auto id : {CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_A_BYTES, CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_B_BYTES,
                    CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_C_BYTES, CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_D_BYTES}) {
      set(id, alignment);
    }
  }
  cublasLtMatrixLayout_t make_layout(const Matrix& matrix) {
    cublasLtMatrixLayout_t layout = nullptr;
    EXPECT_EQ(lt_.cublasLtMatrixLayoutCreate(&layout, matrix.type, static_cast<uint64_t>(matrix.rows),
                                             static_cast<uint64_t>(matrix.cols), matrix.ld()),
              CUBLAS_STATUS_SUCCESS);
    set(layout, CUBLASLT_MATRIX_LAYOUT_ORDER, static_cast<int32_t>(matrix.order));
    set(layout, CUBLASLT_MATRIX_LAYOUT_BATCH_COUNT, static_cast<int32_t>(matrix.batch));
    set(layout, CUBLASLT_MATRIX_LAYOUT_STRIDED_BATCH_OFFSET, matrix.stride());
    return layout;
  }

  cublasStatus_t heuristic() {
    algorithms.resize(8);
    int found = 0;
    const cublasStatus_t status = lt_.cublasLtMatmulAlgoGetHeuristic(
        handle_, desc, layout_a, layout_b, layout_c, layout_d, preference, 8, algorithms.data(), &found);
    algorithms.resize(static_cast<size_t>(found));
    return status;
  }
  // With the algorithm, a workspace of its size, and D as given or C where `in_place`.
  cublasStatus_t matmul(const cublasLtMatmulHeuristicResult_t* algorithm, CUstream stream = nullptr) {
    const size_t bytes = algorithm == nullptr ? 0 : algorithm->workspaceSize;
    if (workspace_ != 0) machine_.driver.cuMemFree(workspace_);
    workspace_ = bytes == 0 ? 0 : machine_.allocate(bytes);
    return matmul(algorithm == nullptr ? nullptr : &algorithm->algo, workspace_, bytes, stream);
  }
  cublasStatus_t matmul(const cublasLtMatmulAlgo_t* algo, CUdeviceptr workspace, size_t bytes, CUstream stream) {
    store_double(dtype_of(row.scale), alpha_, alpha);
    store_double(dtype_of(row.scale), beta_, beta);
    auto pointer = [](CUdeviceptr address) { return reinterpret_cast<void*>(address); };
    return lt_.cublasLtMatmul(handle_, desc, alpha_, pointer(a.address), layout_a, pointer(b.address), layout_b, beta_,
                              pointer(c.address), layout_c, pointer(d.address), layout_d, algo, pointer(workspace),
                              bytes, reinterpret_cast<cudaStream_t>(stream));
  }

 private:
  Machine& machine_;
  CublasLt& lt_;
  cublasLtHandle_t handle_;
  CUdeviceptr workspace_ = 0;
  double alpha_[1], beta_[1];
};

}  // namespace plait::test
