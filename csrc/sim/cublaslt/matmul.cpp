// cublasLtMatmul: checks what a caller can get wrong, and queues the product as work of the stream.
#include <fmt/core.h>
#include "cuda_abi/driver.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <functional>
#include <memory>
#include <utility>

#include "scalar/convert.h"
#include "sim/cublaslt/algorithms.h"
#include "sim/cublaslt/footprint.h"
#include "sim/cublaslt/handles.h"
#include "sim/cuda/engine.h"

namespace plait::sim::cublaslt {
namespace {

constexpr int kIllegalAddress = 700;  // CUDA_ERROR_ILLEGAL_ADDRESS

struct Pointers {
  uint64_t a = 0, b = 0, c = 0, d = 0, workspace = 0;
  size_t workspace_bytes = 0;
  const void *alpha = nullptr, *beta = nullptr;
};

// A matmul that was accepted.
struct Launch {
  Problem problem;
  Algorithm algorithm;
  Pointers at;
  double alpha = 1, beta = 0;  // of pointer mode host
  bool scalars_on_device = false;
  bool reads_c = false;
  std::string name;
};

struct Operand {
  const char* name;
  uint64_t address;
  const Layout* layout;
};

std::array<Operand, 4> operands(const Launch& launch) {
  const Problem& problem = launch.problem;
  return {{{"A", launch.at.a, &problem.a},
           {"B", launch.at.b, &problem.b},
           {"C", launch.at.c, &problem.c},
           {"D", launch.at.d, &problem.d}}};
}

uint64_t bias_bytes(const Problem& problem) {
  const int64_t extent = problem.m + (problem.batch - 1) * problem.desc.bias_stride;
  return static_cast<uint64_t>(extent) * size_of(problem.bias_type);
}

using Why = std::optional<Refusal>;

Why check_pointers(const Launch& launch) {
  for (const Operand& operand : operands(launch)) {
    if (operand.address == 0) return invalid(fmt::format("{} is null", operand.name));
  }
  if (launch.at.alpha == nullptr || launch.at.beta == nullptr) return invalid("alpha or beta is null");
  const Problem& problem = launch.problem;
  if (problem.bias) {
    if (problem.desc.bias == 0) return invalid("the epilogue adds a bias, and the bias pointer is not set");
    if (problem.desc.bias % size_of(problem.bias_type) != 0) return invalid("the bias is not aligned to its type");
    if (problem.desc.bias_stride < 0) return invalid("the batch stride of the bias is negative");
  }
  return std::nullopt;
}

Why check_algorithm(const Launch& launch) {
  const Algorithm& algorithm = launch.algorithm;
  if (algorithm.problem != fingerprint(launch.problem)) {
    return invalid(
        "the algorithm was chosen for another problem: descriptors or layouts differ from those given to "
        "the heuristic");
  }
  int i = 0;
  for (const Operand& operand : operands(launch)) {
    const uint32_t needed = needed_alignment(algorithm, launch.problem, i);
    const uint32_t promised = algorithm.alignment[i++];
    if (operand.address % needed != 0) {
      return invalid(fmt::format("{} at {:#x} is not aligned to the {} bytes that the algorithm needs", operand.name,
                                 operand.address, needed));
    }
    if (operand.address % promised != 0) {
      return invalid(fmt::format("{} at {:#x} is not aligned to {} bytes, which the preference promised", operand.name,
                                 operand.address, promised));
    }
  }
  if (algorithm.workspace > launch.at.workspace_bytes) {
    return invalid(fmt::format("the algorithm needs {} bytes of workspace and is given {}", algorithm.workspace,
                               launch.at.workspace_bytes));
  }
  if (algorithm.workspace > 0 && launch.at.workspace == 0) return invalid("the workspace is null");
  if (launch.at.workspace % kVectorBytes != 0) return invalid("the workspace is not aligned to 16 bytes");
  return std::nullopt;
}

bool same_layout(const Layout& a, const Layout& b) {
  return a.order == b.order && a.ld == b.ld && a.batch_stride == b.batch_stride;
}

Why check_overlap(const Launch& launch) {
  const Problem& problem = launch.problem;
  const Footprint d = footprint(problem.d, launch.at.d);
  if (d.overlaps_itself) return invalid("elements of " + describe("D", problem.d) + " share memory");
  auto clash = [&](const char* name) { return invalid(fmt::format("D overlaps {}", name)); };
  if (overlap(d, footprint(problem.a, launch.at.a))) return clash("A");
  if (overlap(d, footprint(problem.b, launch.at.b))) return clash("B");
  const bool in_place = launch.at.c == launch.at.d;
  if (in_place && !same_layout(problem.c, problem.d)) return invalid("C is D, and their layouts differ");
  if (!in_place && launch.reads_c && overlap(d, footprint(problem.c, launch.at.c))) return clash("C");
  if (problem.bias && overlap(d, {{{problem.desc.bias, problem.desc.bias + bias_bytes(problem)}}, false})) {
    return clash("the bias");
  }
  const uint64_t workspace = launch.algorithm.workspace;
  if (workspace == 0) return std::nullopt;
  const Footprint scratch{{{launch.at.workspace, launch.at.workspace + workspace}}, false};
  for (const Operand& operand : operands(launch)) {
    if (overlap(footprint(*operand.layout, operand.address), scratch)) {
      return invalid(fmt::format("the workspace overlaps {}", operand.name));
    }
  }
  return std::nullopt;
}

// Whether device code can reach all of the bytes: one live allocation, or host memory that the driver knows.
bool reachable(uint64_t address, uint64_t bytes) {
  unsigned type = 0;
  if (cuPointerGetAttribute(&type, CU_POINTER_ATTRIBUTE_MEMORY_TYPE, address) != CUDA_SUCCESS) return false;
  return host_address(address, bytes) != nullptr;
}

Why check_places(const Launch& launch, cublasLtHandle_t handle, cudaStream_t stream) {
  const int made = device_of_handle(handle), current = device_of(nullptr), runs = device_of(stream);
  if (current < 0 || runs < 0) {  // the driver's stand-in has said why, if it is a misuse
    return Refusal{CUBLAS_STATUS_EXECUTION_FAILED, "no context, or one that was lost", true};
  }
  if (current != made) {
    return Refusal{CUBLAS_STATUS_EXECUTION_FAILED,
                   fmt::format("the handle was made on device {}, and device {} is current", made, current), false};
  }
  if (runs != made) {
    return Refusal{CUBLAS_STATUS_EXECUTION_FAILED,
                   fmt::format("the handle was made on device {}, and the stream is of device {}", made, runs), false};
  }
  if (launch.scalars_on_device) {
    const size_t bytes = size_of(launch.problem.scale_type);
    for (const void* scalar : {launch.at.alpha, launch.at.beta}) {
      if (!reachable(reinterpret_cast<uint64_t>(scalar), bytes)) {
        return invalid("alpha or beta is not in device memory, as the pointer mode says");
      }
    }
  }
  return std::nullopt;
}

// Empty, or which operand lies outside of what is allocated. The driver's stand-in would only name an address.
std::string outside_of_memory(const Launch& launch) {
  for (const Operand& operand : operands(launch)) {
    if (operand.name[0] == 'C' && !launch.reads_c) continue;
    const uint64_t bytes = extent(*operand.layout);
    if (reachable(operand.address, bytes)) continue;
    return fmt::format("{} at {:#x}, {} bytes from first to last, does not lie within one live allocation",
                       describe(operand.name, *operand.layout), operand.address, bytes);
  }
  const Problem& problem = launch.problem;
  if (problem.bias && !reachable(problem.desc.bias, bias_bytes(problem))) {
    return fmt::format("the bias at {:#x}, {} bytes, does not lie within one live allocation", problem.desc.bias,
                       bias_bytes(problem));
  }
  const uint64_t workspace = launch.algorithm.workspace;
  if (workspace > 0 && !reachable(launch.at.workspace, workspace)) {
    return fmt::format("the workspace at {:#x}, {} bytes, does not lie within one live allocation", launch.at.workspace,
                       workspace);
  }
  return {};
}

std::vector<Access> accesses(const Launch& launch) {
  std::vector<Access> all;
  auto add = [&](const Layout& layout, uint64_t address, bool write) {
    for (const Range& range : footprint(layout, address).ranges) {
      all.push_back({range.begin, static_cast<size_t>(range.end - range.begin), write});
    }
  };
  const Problem& problem = launch.problem;
  add(problem.a, launch.at.a, false);
  add(problem.b, launch.at.b, false);
  if (launch.reads_c) add(problem.c, launch.at.c, false);
  if (problem.bias) {
    const size_t row = static_cast<size_t>(problem.m) * size_of(problem.bias_type);
    for (int64_t i = 0; i < problem.batch; ++i) {
      const int64_t offset = i * problem.desc.bias_stride * static_cast<int64_t>(size_of(problem.bias_type));
      all.push_back({problem.desc.bias + static_cast<uint64_t>(offset), row, false});
      if (problem.desc.bias_stride == 0) break;
    }
  }
  if (launch.scalars_on_device) {
    for (const void* scalar : {launch.at.alpha, launch.at.beta}) {
      all.push_back({reinterpret_cast<uint64_t>(scalar), size_of(problem.scale_type), false});
    }
  }
  if (launch.algorithm.workspace > 0) all.push_back({launch.at.workspace, launch.algorithm.workspace, true});
  add(problem.d, launch.at.d, true);
  return all;
}

const std::byte* host_of(uint64_t address, size_t bytes) {
  return static_cast<const std::byte*>(host_address(address, bytes));
}

// The matrix of the batch's instance, with rows and columns exchanged where the operation says so.
View view(const Layout& layout, uint64_t address, int64_t instance, int32_t operation) {
  const DType type = element_type(layout.type);
  const std::byte* base = host_of(address, extent(layout));
  if (base == nullptr) throw Fault{kIllegalAddress, "cublasLtMatmul: an operand was freed"};
  View result{type, base + instance * layout.batch_stride * static_cast<int64_t>(size_of(type)), row_stride(layout),
              column_stride(layout)};
  if (operation != CUBLAS_OP_N) std::swap(result.row_stride, result.column_stride);
  return result;
}

void run(const Launch& launch) {
  const Problem& problem = launch.problem;
  Product product;
  product.precision = problem.precision;
  product.m = problem.m, product.n = problem.n, product.k = problem.k;
  product.splits = launch.algorithm.splits;
  product.activation = problem.activation;
  product.bias_type = problem.bias_type;
  product.alpha = launch.alpha, product.beta = launch.beta;
  if (launch.scalars_on_device) {
    const size_t bytes = size_of(problem.scale_type);
    product.alpha = load_double(problem.scale_type, host_of(reinterpret_cast<uint64_t>(launch.at.alpha), bytes));
    product.beta = load_double(problem.scale_type, host_of(reinterpret_cast<uint64_t>(launch.at.beta), bytes));
  }
  for (int64_t i = 0; i < problem.batch; ++i) {
    product.a = view(problem.a, launch.at.a, i, problem.desc.transa);
    product.b = view(problem.b, launch.at.b, i, problem.desc.transb);
    if (launch.reads_c) product.c = view(problem.c, launch.at.c, i, CUBLAS_OP_N);
    product.d = view(problem.d, launch.at.d, i, CUBLAS_OP_N);
    if (problem.bias) {
      const int64_t offset = i * problem.desc.bias_stride * static_cast<int64_t>(size_of(problem.bias_type));
      product.bias = host_of(problem.desc.bias, bias_bytes(problem)) + offset;
    }
    multiply(product);
  }
}

// The caller's algorithm, or without one the first that needs no more than the workspace.
Why choose_algorithm(Launch& launch, const cublasLtMatmulAlgo_t* algo) {
  if (algo != nullptr) {
    const std::optional<Algorithm> given = read_algorithm(algo);
    if (!given) return invalid("the algorithm is none of this library");
    launch.algorithm = *given;
    return std::nullopt;
  }
  Preference preference{};
  preference.reduction_mask = CUBLASLT_REDUCTION_SCHEME_MASK;
  preference.max_workspace = launch.at.workspace_bytes;
  int i = 0;
  for (const Operand& operand : operands(launch)) {
    preference.alignment[i++] = static_cast<uint32_t>(std::min<uint64_t>(operand.address & -operand.address, 256));
  }
  const std::vector<Algorithm> found = candidates(launch.problem, preference);
  if (found.empty()) return Refusal{CUBLAS_STATUS_NOT_SUPPORTED, "no algorithm serves these pointers", false};
  launch.algorithm = found.front();
  return std::nullopt;
}

void read_scalars(Launch& launch) {
  launch.scalars_on_device = launch.problem.desc.pointer_mode == CUBLASLT_POINTER_MODE_DEVICE;
  launch.reads_c = true;  // where beta is not known before the work runs
  if (launch.scalars_on_device) return;
  launch.alpha = load_double(launch.problem.scale_type, launch.at.alpha);
  launch.beta = load_double(launch.problem.scale_type, launch.at.beta);
  launch.reads_c = launch.beta != 0;
}

Work work_of(const std::shared_ptr<Launch>& launch) {
  Work work;
  work.name = launch->name;
  if (std::string why = outside_of_memory(*launch); !why.empty()) {
    work.run = [launch, why] { throw Fault{kIllegalAddress, fmt::format("{}: {}", launch->name, why)}; };
    return work;
  }
  work.accesses = accesses(*launch);
  work.run = [launch] { run(*launch); };
  return work;
}

}  // namespace
}  // namespace plait::sim::cublaslt

using namespace plait::sim;
using namespace plait::sim::cublaslt;

cublasStatus_t cublasLtMatmul(cublasLtHandle_t handle, cublasLtMatmulDesc_t operation, const void* alpha, const void* a,
                              cublasLtMatrixLayout_t a_layout, const void* b, cublasLtMatrixLayout_t b_layout,
                              const void* beta, const void* c, cublasLtMatrixLayout_t c_layout, void* d,
                              cublasLtMatrixLayout_t d_layout, const cublasLtMatmulAlgo_t* algo, void* workspace,
                              size_t workspace_bytes, cudaStream_t stream) {
  if (device_of_handle(handle) < 0) return misuse(__func__, "the handle is no live one", CUBLAS_STATUS_NOT_INITIALIZED);
  auto launch = std::make_shared<Launch>();
  auto number = [](const void* pointer) { return reinterpret_cast<uint64_t>(pointer); };
  launch->at = {number(a), number(b), number(c), number(d), number(workspace), workspace_bytes, alpha, beta};
  auto refused = read_problem(operation, a_layout, b_layout, c_layout, d_layout, &launch->problem);
  if (!refused) refused = check_pointers(*launch);
  if (refused) return misuse(__func__, refused->why, refused->status);
  const Problem& problem = launch->problem;
  launch->name = fmt::format("cublasLtMatmul m {} n {} k {} batch {} {}", problem.m, problem.n, problem.k,
                             problem.batch, plait::name(element_type(problem.a.type)));
  read_scalars(*launch);
  refused = choose_algorithm(*launch, algo);
  if (!refused) refused = check_algorithm(*launch);
  if (!refused) refused = check_overlap(*launch);
  if (!refused) refused = check_places(*launch, handle, stream);
  if (refused) return refused->probe ? refused->status : misuse(__func__, refused->why, refused->status);
  return enqueue(stream, work_of(launch)) == 0 ? CUBLAS_STATUS_SUCCESS : CUBLAS_STATUS_EXECUTION_FAILED;
}
