#pragma once
// Contractions by cuBLASLt, NVIDIA's library of matrix contractions, loaded at run time.
#include <cstdint>
#include <memory>
#include <string>

#include "device/device.h"

namespace plait {

class CudaParts;
struct CudaLibraryFacts;

enum class MatmulEpilogue : uint8_t { none, relu, gelu };  // gelu: the tanh form

// out[i, r, c] = epilogue(alpha * sum_k a[i, r, k] * b[i, k, c] + beta * out[i, r, c] + bias[c]) for i < batch, r < m,
// c < n; row-major. `transpose_a`: a is given as [i, k, r]; `transpose_b`: b as [i, c, k]. Strides count elements of
// each operand: `*_row` from row to row as it lies in memory (0: dense), `*_batch` from matrix to matrix (0 shares one
// matrix: a and b only).
struct MatmulProblem {
  DType in = DType::f32, out = DType::f32;
  bool transpose_a = false, transpose_b = false;
  int64_t batch = 1, m = 0, n = 0, k = 0;
  int64_t a_row = 0, b_row = 0, out_row = 0;
  int64_t a_batch = 0, b_batch = 0, out_batch = 0;
  double alpha = 1, beta = 0;
  MatmulEpilogue epilogue = MatmulEpilogue::none;
  bool bias = false;
};

struct MatmulPointers {
  const void* a = nullptr;
  const void* b = nullptr;
  void* out = nullptr;
  const void* bias = nullptr;  // n elements of the dtype of out
  void* workspace = nullptr;   // workspace_bytes() that no other stream uses; null: the device's own for the stream
};

// Whether the library is asked at all: f64, f32, f16 and bf16, each to itself, and the narrow ones to f32.
inline bool has_dtypes(DType in, DType out) {
  if (in == DType::f64 || in == DType::f32) return out == in;
  return (in == DType::f16 || in == DType::bf16) && (out == in || out == DType::f32);
}

// Safe to use from several threads at once.
class CublasLt {
 public:
  virtual ~CublasLt() = default;
  // The product of the pipeline, or null with the reason in `why_not` (may be null). Equal contractions are one
  // executable. A shape that the library refuses is a UserError of the launch. An empty out does nothing, an empty sum
  // is zero.
  virtual std::shared_ptr<Executable> contraction(const LibraryContraction& contraction, std::string* why_not) = 0;
  // Queues the contraction on a stream of the device; false with the reason where the library has none for the problem
  // (dtypes, strides, alignment). f64, f32, f16, bf16, and f32 out of the narrow ones. Sums are in f64 or f32, of f32
  // operands with TF32 rounding only by option. Negative extents and strides that overlap are internal errors.
  virtual bool matmul(Stream& stream, const MatmulProblem& problem, const MatmulPointers& pointers,
                      std::string* why_not) = 0;
  virtual size_t workspace_bytes() const = 0;
  virtual size_t cached_plans() const = 0;  // how many problems have a plan
};

// The library, or null with the reason in `why_not` (may be null). `path`: as CudaOptions::cublaslt.
std::shared_ptr<CublasLt> make_cublaslt(std::shared_ptr<CudaParts> parts, const std::string& path, bool allow_tf32,
                                        std::string* why_not);

// Whether and where it is found.
CudaLibraryFacts cublaslt_facts(const std::string& path);

}  // namespace plait
