#pragma once
// The algorithms that the stand-in offers: one that any alignment serves, one that wants 16 bytes, and one that cuts k
// and needs workspace. They give the same sums but for the last, which adds parts.
#include <cstdint>
#include <optional>
#include <vector>

#include "sim/cublaslt/problem.h"

namespace plait::sim::cublaslt {

enum class AlgorithmId : int32_t { any_alignment = 0, vector = 1, split_k = 2 };

// What lies in a cublasLtMatmulAlgo_t.
struct Algorithm {
  Kind kind = Kind::none;
  AlgorithmId id = AlgorithmId::any_alignment;
  int32_t splits = 1;
  uint32_t alignment[4] = {};  // bytes promised for the pointers of A, B, C, D
  uint64_t workspace = 0;      // bytes
  uint64_t problem = 0;        // its fingerprint
};

inline constexpr uint32_t kVectorBytes = 16;  // alignment of the vector algorithm and of every workspace

// What the algorithm needs of the pointer of operand 0 .. 3 (A .. D), its leading dimension and batch stride, in bytes.
uint32_t needed_alignment(const Algorithm& algorithm, const Problem& problem, int operand);
// Algorithms for the problem in order of preference, none that needs more than the preference allows.
std::vector<Algorithm> candidates(const Problem& problem, const Preference& preference);
// The algorithm in a caller's memory; nothing if there is none.
std::optional<Algorithm> read_algorithm(const cublasLtMatmulAlgo_t* algo);

}  // namespace plait::sim::cublaslt
