#include "backend/cuda/cublaslt/plan.h"

#include "base/error.h"

namespace plait {
namespace {

constexpr int kAlgorithms = 8;

cudaDataType_t type_of(DType dtype) {
  switch (dtype) {
    case DType::f64:
      return CUDA_R_64F;
    case DType::f32:
      return CUDA_R_32F;
    case DType::f16:
      return CUDA_R_16F;
    case DType::bf16:
      return CUDA_R_16BF;
    case DType::boolean:
    case DType::i8:
    case DType::i16:
    case DType::i32:
    case DType::i64:
    case DType::u8:
    case DType::u16:
    case DType::u32:
    case DType::u64:
    case DType::f8e4m3:
    case DType::f8e5m2:
      break;
  }
  PLAIT_CHECK(false, "contractions of {}", name(dtype));
}

cublasLtEpilogue_t epilogue_of(const MatmulProblem& problem) {
  switch (problem.epilogue) {
    case MatmulEpilogue::none:
      return problem.bias ? CUBLASLT_EPILOGUE_BIAS : CUBLASLT_EPILOGUE_DEFAULT;
    case MatmulEpilogue::relu:
      return problem.bias ? CUBLASLT_EPILOGUE_RELU_BIAS : CUBLASLT_EPILOGUE_RELU;
    case MatmulEpilogue::gelu:
      return problem.bias ? CUBLASLT_EPILOGUE_GELU_BIAS : CUBLASLT_EPILOGUE_GELU;
  }
  __builtin_unreachable();
}

struct LayoutExtents {
  int64_t rows, columns, row_stride, batch, batch_stride;
};

// A row-major matrix as the library sees it: its transpose, column-major.
LtLayout make_layout(const CublasLtLibrary& library, DType dtype, const LayoutExtents& of) {
  cublasLtMatrixLayout_t made = nullptr;
  library.check(
      library.cublasLtMatrixLayoutCreate(&made, type_of(dtype), uint64_t(of.columns), uint64_t(of.rows), of.row_stride),
      "cublasLtMatrixLayoutCreate");
  LtLayout layout(made, library.cublasLtMatrixLayoutDestroy);
  const auto set = [&](cublasLtMatrixLayoutAttribute_t attribute, const auto& value) {
    library.check(library.cublasLtMatrixLayoutSetAttribute(made, attribute, &value, sizeof value),
                  "cublasLtMatrixLayoutSetAttribute");
  };
  if (of.batch > 1) {
    set(CUBLASLT_MATRIX_LAYOUT_BATCH_COUNT, int32_t(of.batch));
    set(CUBLASLT_MATRIX_LAYOUT_STRIDED_BATCH_OFFSET, int64_t(of.batch_stride));
  }
  return layout;
}

LtPreference make_preference(const CublasLtLibrary& library, const PlanKey& key) {
  cublasLtMatmulPreference_t made = nullptr;
  library.check(library.cublasLtMatmulPreferenceCreate(&made), "cublasLtMatmulPreferenceCreate");
  LtPreference preference(made, library.cublasLtMatmulPreferenceDestroy);
  const auto set = [&](cublasLtMatmulPreferenceAttributes_t attribute, const auto& value) {
    library.check(library.cublasLtMatmulPreferenceSetAttribute(made, attribute, &value, sizeof value),
                  "cublasLtMatmulPreferenceSetAttribute");
  };
  set(CUBLASLT_MATMUL_PREF_MAX_WORKSPACE_BYTES, uint64_t(key.workspace_bytes));
  // Partial sums are added in the accumulation type, never in a narrow result.
  set(CUBLASLT_MATMUL_PREF_REDUCTION_SCHEME_MASK, uint32_t(CUBLASLT_REDUCTION_SCHEME_COMPUTE_TYPE));
  set(CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_A_BYTES, uint32_t(key.align_b));
  set(CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_B_BYTES, uint32_t(key.align_a));
  set(CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_C_BYTES, uint32_t(key.align_out));
  set(CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_D_BYTES, uint32_t(key.align_out));
  return preference;
}

bool is_refusal(cublasStatus_t status) {
  return status == CUBLAS_STATUS_NOT_SUPPORTED || status == CUBLAS_STATUS_INVALID_VALUE ||
         status == CUBLAS_STATUS_ARCH_MISMATCH;
}

}  // namespace

LtOperation make_operation(const CublasLtLibrary& library, const PlanKey& key, const void* bias) {
  const MatmulProblem& problem = key.problem;
  const bool wide = problem.in == DType::f64;
  cublasComputeType_t compute = wide ? CUBLAS_COMPUTE_64F : CUBLAS_COMPUTE_32F;
  if (problem.in == DType::f32 && key.tf32) compute = CUBLAS_COMPUTE_32F_FAST_TF32;
  cublasLtMatmulDesc_t made = nullptr;
  library.check(library.cublasLtMatmulDescCreate(&made, compute, wide ? CUDA_R_64F : CUDA_R_32F),
                "cublasLtMatmulDescCreate");
  LtOperation operation(made, library.cublasLtMatmulDescDestroy);
  const auto set = [&](cublasLtMatmulDescAttributes_t attribute, const auto& value) {
    library.check(library.cublasLtMatmulDescSetAttribute(made, attribute, &value, sizeof value),
                  "cublasLtMatmulDescSetAttribute");
  };
  set(CUBLASLT_MATMUL_DESC_TRANSA, int32_t(problem.transpose_b ? CUBLAS_OP_T : CUBLAS_OP_N));
  set(CUBLASLT_MATMUL_DESC_TRANSB, int32_t(problem.transpose_a ? CUBLAS_OP_T : CUBLAS_OP_N));
  set(CUBLASLT_MATMUL_DESC_EPILOGUE, uint32_t(epilogue_of(problem)));
  if (problem.bias) set(CUBLASLT_MATMUL_DESC_BIAS_POINTER, bias);
  return operation;
}

std::shared_ptr<const Plan> make_plan(const CublasLtLibrary& library, cublasLtHandle_t handle, const PlanKey& key,
                                      const void* bias, std::string* why_not) {
  const MatmulProblem& p = key.problem;
  const auto flip = [](bool transpose, int64_t rows, int64_t columns, int64_t row, int64_t batch, int64_t stride) {
    return transpose ? LayoutExtents{columns, rows, row, batch, stride}
                     : LayoutExtents{rows, columns, row, batch, stride};
  };
  auto plan = std::make_shared<Plan>(
      Plan{make_operation(library, key, bias),
           make_layout(library, p.in, flip(p.transpose_b, p.k, p.n, p.b_row, p.batch, p.b_batch)),
           make_layout(library, p.in, flip(p.transpose_a, p.m, p.k, p.a_row, p.batch, p.a_batch)),
           make_layout(library, p.out, {p.m, p.n, p.out_row, p.batch, p.out_batch}),
           p.in == DType::f64,
           {}});
  const LtPreference preference = make_preference(library, key);
  std::array<cublasLtMatmulHeuristicResult_t, kAlgorithms> found = {};
  int count = 0;
  const cublasStatus_t status = library.cublasLtMatmulAlgoGetHeuristic(
      handle, plan->operation.get(), plan->a.get(), plan->b.get(), plan->out.get(), plan->out.get(), preference.get(),
      kAlgorithms, found.data(), &count);
  if (status != CUBLAS_STATUS_SUCCESS && !is_refusal(status)) library.fail(status, "cublasLtMatmulAlgoGetHeuristic");
  for (int i = 0; status == CUBLAS_STATUS_SUCCESS && i < count; ++i)
    if (found[size_t(i)].state == CUBLAS_STATUS_SUCCESS && found[size_t(i)].workspaceSize <= key.workspace_bytes)
      plan->algorithms.push_back(found[size_t(i)].algo);
  if (!plan->algorithms.empty()) return plan;
  if (why_not != nullptr) {
    *why_not = "cuBLASLt has no algorithm for this contraction";
    if (status != CUBLAS_STATUS_SUCCESS) *why_not += ": " + library.text(status);
  }
  return nullptr;
}

}  // namespace plait
