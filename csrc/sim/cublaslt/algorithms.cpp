#include "sim/cublaslt/algorithms.h"

#include <fmt/core.h>

#include <algorithm>
#include <cstring>

#include "sim/cublaslt/handles.h"

namespace plait::sim::cublaslt {
namespace {

static_assert(sizeof(Algorithm) <= sizeof(cublasLtMatmulAlgo_t));

constexpr int kSplits = 4;
constexpr int64_t kLeastSplitDepth = 256;  // k from which a split is offered

const Layout& operand_of(const Problem& problem, int operand) {
  const Layout* layouts[] = {&problem.a, &problem.b, &problem.c, &problem.d};
  return *layouts[operand];
}

uint64_t split_workspace(const Problem& problem) {
  const uint64_t element = problem.precision == Precision::f64 ? 8 : 4;
  return uint64_t(problem.m) * uint64_t(problem.n) * uint64_t(problem.batch) * element * kSplits;
}

bool layouts_allow(const Algorithm& algorithm, const Problem& problem) {
  for (int i = 0; i < 4; ++i) {
    const Layout& layout = operand_of(problem, i);
    const auto needed = static_cast<int64_t>(needed_alignment(algorithm, problem, i));
    const auto element = static_cast<int64_t>(size_of(element_type(layout.type)));
    if (algorithm.alignment[i] < static_cast<uint64_t>(needed)) return false;
    if (layout.ld * element % needed != 0) return false;
    if (layout.batch_count > 1 && layout.batch_stride * element % needed != 0) return false;
  }
  return true;
}

float waves(const Problem& problem) {
  const int64_t tiles = ((problem.m + 127) / 128) * ((problem.n + 127) / 128) * problem.batch;
  return static_cast<float>(tiles) / 132.0f;
}

cublasLtMatmulHeuristicResult_t result_of(const Algorithm& algorithm, const Problem& problem) {
  cublasLtMatmulHeuristicResult_t result{};
  std::memcpy(&result.algo, &algorithm, sizeof algorithm);
  result.workspaceSize = algorithm.workspace;
  result.state = CUBLAS_STATUS_SUCCESS;
  result.wavesCount = waves(problem);
  return result;
}

}  // namespace

uint32_t needed_alignment(const Algorithm& algorithm, const Problem& problem, int operand) {
  if (algorithm.id == AlgorithmId::vector) return kVectorBytes;
  return static_cast<uint32_t>(size_of(element_type(operand_of(problem, operand).type)));
}

std::vector<Algorithm> candidates(const Problem& problem, const Preference& preference) {
  Algorithm base;
  base.kind = Kind::algo;
  base.problem = fingerprint(problem);
  std::copy_n(preference.alignment, 4, base.alignment);
  std::vector<Algorithm> found;
  auto offer = [&](AlgorithmId id, int splits, uint64_t workspace) {
    Algorithm algorithm = base;
    algorithm.id = id, algorithm.splits = splits, algorithm.workspace = workspace;
    if (workspace > preference.max_workspace || !layouts_allow(algorithm, problem)) return;
    if (preference.max_waves > 0 && waves(problem) > preference.max_waves) return;
    found.push_back(algorithm);
  };
  offer(AlgorithmId::vector, 1, 0);
  offer(AlgorithmId::any_alignment, 1, 0);
  const bool may_split = (preference.reduction_mask & CUBLASLT_REDUCTION_SCHEME_COMPUTE_TYPE) != 0;
  if (may_split && problem.k >= kLeastSplitDepth) {
    offer(AlgorithmId::split_k, kSplits, split_workspace(problem));
    const bool deep = problem.k >= kSplits * std::max(problem.m, problem.n);
    if (deep && found.size() > 1 && found.back().id == AlgorithmId::split_k) {
      std::rotate(found.begin(), found.end() - 1, found.end());
    }
  }
  return found;
}

std::optional<Algorithm> read_algorithm(const cublasLtMatmulAlgo_t* algo) {
  Algorithm algorithm;
  std::memcpy(static_cast<void*>(&algorithm), algo, sizeof algorithm);
  if (algorithm.kind != Kind::algo) return std::nullopt;
  return algorithm;
}

}  // namespace plait::sim::cublaslt

using namespace plait::sim::cublaslt;

cublasStatus_t cublasLtMatmulAlgoGetHeuristic(cublasLtHandle_t handle, cublasLtMatmulDesc_t operation,
                                              cublasLtMatrixLayout_t a, cublasLtMatrixLayout_t b,
                                              cublasLtMatrixLayout_t c, cublasLtMatrixLayout_t d,
                                              cublasLtMatmulPreference_t preference, int requested,
                                              cublasLtMatmulHeuristicResult_t results[], int* returned) {
  if (device_of_handle(handle) < 0) return misuse(__func__, "the handle is no live one", CUBLAS_STATUS_NOT_INITIALIZED);
  if (requested <= 0) return misuse(__func__, fmt::format("{} algorithms are asked for", requested));
  if (results == nullptr || returned == nullptr) return misuse(__func__, "no place for the results");
  *returned = 0;
  const Preference* wanted = preference_of(preference);
  if (wanted == nullptr) return misuse(__func__, "the preference is " + why_not(preference));
  if (wanted->search_mode != CUBLASLT_SEARCH_BEST_FIT) {
    return misuse(__func__, "a search by algorithm is not simulated", CUBLAS_STATUS_NOT_SUPPORTED);
  }
  for (uint32_t alignment : wanted->alignment) {
    if (alignment == 0 || (alignment & (alignment - 1)) != 0) {
      return misuse(__func__, fmt::format("an alignment of {} bytes is no power of two", alignment));
    }
  }
  Problem problem;
  if (auto refusal = read_problem(operation, a, b, c, d, &problem)) {
    return refusal->probe ? refusal->status : misuse(__func__, refusal->why, refusal->status);
  }
  const std::vector<Algorithm> found = candidates(problem, *wanted);
  if (found.empty()) return CUBLAS_STATUS_NOT_SUPPORTED;
  *returned = std::min(requested, static_cast<int>(found.size()));
  for (int i = 0; i < *returned; ++i) results[i] = result_of(found[i], problem);
  return CUBLAS_STATUS_SUCCESS;
}

cublasStatus_t cublasLtMatmulAlgoCheck(cublasLtHandle_t handle, cublasLtMatmulDesc_t operation,
                                       cublasLtMatrixLayout_t a, cublasLtMatrixLayout_t b, cublasLtMatrixLayout_t c,
                                       cublasLtMatrixLayout_t d, const cublasLtMatmulAlgo_t* algo,
                                       cublasLtMatmulHeuristicResult_t* result) {
  if (device_of_handle(handle) < 0) return misuse(__func__, "the handle is no live one", CUBLAS_STATUS_NOT_INITIALIZED);
  if (algo == nullptr || result == nullptr) return misuse(__func__, "the algorithm or the result is null");
  const std::optional<Algorithm> algorithm = read_algorithm(algo);
  if (!algorithm) return misuse(__func__, "the algorithm is none of this library");
  Problem problem;
  if (auto refusal = read_problem(operation, a, b, c, d, &problem)) {
    return refusal->probe ? refusal->status : misuse(__func__, refusal->why, refusal->status);
  }
  if (algorithm->problem != fingerprint(problem)) return CUBLAS_STATUS_INVALID_VALUE;
  const cublasLtMatmulAlgo_t kept = result->algo;
  *result = result_of(*algorithm, problem);
  result->algo = kept;
  return CUBLAS_STATUS_SUCCESS;
}

cublasStatus_t cublasLtMatmulAlgoConfigGetAttribute(const cublasLtMatmulAlgo_t* algo,
                                                    cublasLtMatmulAlgoConfigAttributes_t attribute, void* value,
                                                    size_t bytes, size_t* written) {
  if (algo == nullptr) return misuse(__func__, "the algorithm is null");
  const std::optional<Algorithm> algorithm = read_algorithm(algo);
  if (!algorithm) return misuse(__func__, "the algorithm is none of this library");
  int32_t number = 0;  // of attributes that are 32 bits wide; the stand-in has no tiles, stages or swizzles
  switch (attribute) {
    case CUBLASLT_ALGO_CONFIG_ID:
      number = static_cast<int32_t>(algorithm->id);
      break;
    case CUBLASLT_ALGO_CONFIG_SPLITK_NUM:
      number = algorithm->splits;
      break;
    case CUBLASLT_ALGO_CONFIG_REDUCTION_SCHEME:
      number = algorithm->splits > 1 ? CUBLASLT_REDUCTION_SCHEME_COMPUTE_TYPE : CUBLASLT_REDUCTION_SCHEME_NONE;
      break;
    case CUBLASLT_ALGO_CONFIG_TILE_ID:
    case CUBLASLT_ALGO_CONFIG_CTA_SWIZZLING:
    case CUBLASLT_ALGO_CONFIG_CUSTOM_OPTION:
    case CUBLASLT_ALGO_CONFIG_STAGES_ID:
      break;
    default:
      return misuse(__func__, fmt::format("attribute {} is not simulated", int(attribute)));
  }
  if (bytes == 0) {
    if (written == nullptr) return misuse(__func__, "both the size and the place for the size are 0");
    *written = sizeof number;
    return CUBLAS_STATUS_SUCCESS;
  }
  if (value == nullptr || bytes != sizeof number) return misuse(__func__, "the value is null or not of 4 bytes");
  std::memcpy(value, &number, sizeof number);
  if (written != nullptr) *written = sizeof number;
  return CUBLAS_STATUS_SUCCESS;
}
