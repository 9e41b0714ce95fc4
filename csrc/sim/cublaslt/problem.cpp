#include "sim/cublaslt/problem.h"

#include <fmt/core.h>

#include <climits>
#include <utility>

#include "base/error.h"

namespace plait::sim::cublaslt {
namespace {

struct TypeRow {
  int32_t compute, scale, in, out;
  Precision precision;
};
constexpr TypeRow kTypeRows[] = {
#define X(compute, scale, in, out, precision) {compute, scale, in, out, Precision::precision},
#include "sim/cublaslt/types.def"
#undef X
};

Refusal refused(std::string why) { return {CUBLAS_STATUS_NOT_SUPPORTED, std::move(why), true}; }
Refusal not_simulated(const std::string& what) {
  return {CUBLAS_STATUS_NOT_SUPPORTED, what + " is not simulated", false};
}

bool is_real(int32_t type) {
  return type == CUDA_R_64F || type == CUDA_R_32F || type == CUDA_R_16F || type == CUDA_R_16BF;
}

std::optional<Refusal> check_layout(const char* name, const Layout& layout) {
  if (layout.order != CUBLASLT_ORDER_COL && layout.order != CUBLASLT_ORDER_ROW) {
    return refused(fmt::format("{}: memory order {} is for 8-bit integers", name, layout.order));
  }
  if (layout.rows > INT_MAX || layout.cols > INT_MAX) return refused(fmt::format("{}: more than 2^31 - 1", name));
  if (layout.batch_mode != CUBLASLT_BATCH_MODE_STRIDED) return not_simulated("a batch of pointers");
  if (layout.plane_offset != 0) return invalid(fmt::format("{}: a plane offset without complex numbers", name));
  if (layout.batch_stride < 0) return not_simulated("a negative batch stride");
  if (layout.batch_count < 1) return invalid(fmt::format("{}: batch count {}", name, layout.batch_count));
  const bool column_major = layout.order == CUBLASLT_ORDER_COL;
  const auto least = static_cast<int64_t>(column_major ? layout.rows : layout.cols);
  if (layout.ld < least) {
    return invalid(fmt::format("{}: leading dimension {} is less than its {} {}", name, layout.ld, least,
                               column_major ? "rows" : "columns"));
  }
  return std::nullopt;
}

std::optional<Refusal> check_types(Problem& problem) {
  const MatmulDesc& desc = problem.desc;
  const int32_t in = problem.a.type, out = problem.d.type;
  if (problem.c.type != out) return refused("C and D differ in type");
  for (const TypeRow& row : kTypeRows) {
    if (row.compute != desc.compute || row.scale != desc.scale || row.in != in || problem.b.type != in ||
        row.out != out) {
      continue;
    }
    problem.precision = row.precision;
    problem.scale_type = element_type(row.scale);
    return std::nullopt;
  }
  if (!is_real(in) || !is_real(problem.b.type) || !is_real(out)) {
    return not_simulated(
        fmt::format("the combination of types A {}, B {}, D {} (cudaDataType)", in, problem.b.type, out));
  }
  return refused(fmt::format("compute type {} with scale type {}, A {}, B {}, C and D {} is no row of the table",
                             desc.compute, desc.scale, in, problem.b.type, out));
}

std::optional<Refusal> check_shapes(Problem& problem) {
  const MatmulDesc& desc = problem.desc;
  for (int32_t operation : {desc.transa, desc.transb}) {
    if (operation != CUBLAS_OP_N && operation != CUBLAS_OP_T && operation != CUBLAS_OP_C) {
      return invalid(fmt::format("operation {} on A or B", operation));
    }
  }
  if (desc.transc != CUBLAS_OP_N) return refused("a transposed C");
  const Layout &a = problem.a, &b = problem.b, &c = problem.c, &d = problem.d;
  const uint64_t m = desc.transa == CUBLAS_OP_N ? a.rows : a.cols, k = desc.transa == CUBLAS_OP_N ? a.cols : a.rows;
  const uint64_t n = desc.transb == CUBLAS_OP_N ? b.cols : b.rows, kb = desc.transb == CUBLAS_OP_N ? b.rows : b.cols;
  if (k != kb) return invalid(fmt::format("op(A) is {} x {}, op(B) is {} x {}", m, k, kb, n));
  if (d.rows != m || d.cols != n) return invalid(fmt::format("D is {} x {}, not {} x {}", d.rows, d.cols, m, n));
  if (c.rows != m || c.cols != n) return invalid(fmt::format("C is {} x {}, not {} x {}", c.rows, c.cols, m, n));
  if (a.batch_count != d.batch_count || b.batch_count != d.batch_count || c.batch_count != d.batch_count) {
    return invalid(fmt::format("batch counts of A, B, C, D: {}, {}, {}, {}", a.batch_count, b.batch_count,
                               c.batch_count, d.batch_count));
  }
  if (m == 0 || n == 0 || k == 0) return refused(fmt::format("an empty product: m {}, n {}, k {}", m, n, k));
  problem.m = static_cast<int64_t>(m), problem.n = static_cast<int64_t>(n), problem.k = static_cast<int64_t>(k);
  problem.batch = d.batch_count;
  return std::nullopt;
}

std::optional<Refusal> check_epilogue(Problem& problem) {
  const MatmulDesc& desc = problem.desc;
  switch (desc.epilogue) {
    case CUBLASLT_EPILOGUE_DEFAULT:
      break;
    case CUBLASLT_EPILOGUE_BIAS:
      problem.bias = true;
      break;
    case CUBLASLT_EPILOGUE_RELU:
    case CUBLASLT_EPILOGUE_RELU_BIAS:
      problem.activation = Activation::relu;
      problem.bias = desc.epilogue == CUBLASLT_EPILOGUE_RELU_BIAS;
      break;
    case CUBLASLT_EPILOGUE_GELU:
    case CUBLASLT_EPILOGUE_GELU_BIAS:
      problem.activation = Activation::gelu;
      problem.bias = desc.epilogue == CUBLASLT_EPILOGUE_GELU_BIAS;
      break;
    default:
      return not_simulated(fmt::format("epilogue {}", desc.epilogue));
  }
  if (desc.epilogue != CUBLASLT_EPILOGUE_DEFAULT && problem.d.order == CUBLASLT_ORDER_ROW) {
    return refused("an epilogue with a row-major D");
  }
  const int32_t bias_type = desc.bias_type == -1 ? problem.d.type : desc.bias_type;
  if (problem.bias && bias_type != problem.d.type) {
    return refused(fmt::format("a bias of type {} with D of type {}", bias_type, problem.d.type));
  }
  problem.bias_type = element_type(problem.d.type);
  return std::nullopt;
}

std::optional<Refusal> check_description(const MatmulDesc& desc) {
  if (desc.fill != CUBLAS_FILL_MODE_FULL) return not_simulated("a triangle of D");
  if (desc.pointer_mode != CUBLASLT_POINTER_MODE_HOST && desc.pointer_mode != CUBLASLT_POINTER_MODE_DEVICE) {
    return not_simulated(fmt::format("pointer mode {}", desc.pointer_mode));
  }
  if (desc.emulation != 0) return not_simulated("emulated floating point");
  for (uint64_t scale : {desc.a_scale, desc.b_scale, desc.c_scale, desc.d_scale, desc.amax, desc.aux_scale,
                         desc.aux_amax, desc.out_scale}) {
    if (scale != 0) return invalid("a scale or maximum pointer, which only 8-bit and narrower types have");
  }
  for (int32_t mode : desc.scale_modes) {
    if (mode != 0) return invalid("a scale mode, which only 8-bit and narrower types have");
  }
  return std::nullopt;
}

}  // namespace

std::optional<Refusal> read_problem(cublasLtMatmulDesc_t desc, cublasLtMatrixLayout_t a, cublasLtMatrixLayout_t b,
                                    cublasLtMatrixLayout_t c, cublasLtMatrixLayout_t d, Problem* problem) {
  const MatmulDesc* operation = matmul_of(desc);
  if (operation == nullptr) return invalid("the operation's descriptor is " + why_not(desc));
  problem->desc = *operation;
  struct Named {
    const char* name;
    cublasLtMatrixLayout_t from;
    Layout* to;
  };
  const Named layouts[] = {{"A", a, &problem->a}, {"B", b, &problem->b}, {"C", c, &problem->c}, {"D", d, &problem->d}};
  for (const Named& layout : layouts) {
    const Layout* found = layout_of(layout.from);
    if (found == nullptr) return invalid(fmt::format("the layout of {} is {}", layout.name, why_not(layout.from)));
    *layout.to = *found;
  }
  if (auto refusal = check_description(problem->desc)) return refusal;
  for (const Named& layout : layouts) {
    if (auto refusal = check_layout(layout.name, *layout.to)) return refusal;
  }
  if (auto refusal = check_types(*problem)) return refusal;
  if (auto refusal = check_shapes(*problem)) return refusal;
  return check_epilogue(*problem);
}

uint64_t fingerprint(const Problem& problem) {
  uint64_t hash = 0xcbf29ce484222325u;
  auto mix = [&](uint64_t word) {
    hash = (hash ^ word) * 0x100000001b3u;
    hash ^= hash >> 29;
  };
  for (const Layout* layout : {&problem.a, &problem.b, &problem.c, &problem.d}) {
    for (uint64_t word : {uint64_t(layout->type), uint64_t(layout->order), uint64_t(layout->batch_count), layout->rows,
                          layout->cols, uint64_t(layout->ld), uint64_t(layout->batch_stride)}) {
      mix(word);
    }
  }
  const MatmulDesc& desc = problem.desc;
  for (int32_t word : {desc.compute, desc.scale, desc.pointer_mode, desc.transa, desc.transb,
                       static_cast<int32_t>(desc.epilogue), desc.bias_type}) {
    mix(uint64_t(word));
  }
  return hash;
}

DType element_type(int32_t cuda_type) {
  switch (cuda_type) {
    case CUDA_R_64F:
      return DType::f64;
    case CUDA_R_32F:
      return DType::f32;
    case CUDA_R_16F:
      return DType::f16;
    case CUDA_R_16BF:
      return DType::bf16;
    default:
      PLAIT_CHECK(false, "cudaDataType {}", cuda_type);
  }
}

int64_t row_stride(const Layout& layout) { return layout.order == CUBLASLT_ORDER_COL ? 1 : layout.ld; }
int64_t column_stride(const Layout& layout) { return layout.order == CUBLASLT_ORDER_COL ? layout.ld : 1; }

std::string describe(const char* name, const Layout& layout) {
  std::string batch;
  if (layout.batch_count > 1) batch = fmt::format(", {} of them {} apart", layout.batch_count, layout.batch_stride);
  return fmt::format("{} [{} x {}, ld {}, {}-major, {}{}]", name, layout.rows, layout.cols, layout.ld,
                     layout.order == CUBLASLT_ORDER_COL ? "column" : "row", plait::name(element_type(layout.type)),
                     batch);
}

}  // namespace plait::sim::cublaslt
