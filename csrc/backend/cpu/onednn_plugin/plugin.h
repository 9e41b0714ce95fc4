#pragma once
// C interface of libplait_onednn.so: matrix contractions by oneDNN. The library is loaded on first use.
#include <stddef.h>
#include <stdint.h>

extern "C" {

typedef struct PlaitOneDnnContraction PlaitOneDnnContraction;

typedef enum PlaitOneDnnType { kPlaitOneDnnF32 = 0, kPlaitOneDnnBf16 = 1, kPlaitOneDnnF16 = 2 } PlaitOneDnnType;

// Strides of an operand in elements; 0 along a batch dim shares one matrix.
typedef struct PlaitOneDnnOperand {
  int64_t batch[2], row, column;
} PlaitOneDnnOperand;

// out[i, j, m, n] = sum over k of a[i, j, m, k] * b[i, j, k, n], with `dims` (0 to 2) batch dims. All extents positive.
typedef struct PlaitOneDnnShape {
  int32_t dims;
  int64_t batch[2], m, n, k;
  PlaitOneDnnOperand a, b, out;
} PlaitOneDnnShape;

// All functions may be called from several threads at once. Errors are texts, cut to fit `error_size` bytes.
typedef struct PlaitOneDnnInterface {
  uint32_t version;  // kPlaitOneDnnVersion
  // A contraction of these types with `threads` threads; null with the reason where oneDNN has none on this host, its
  // own slow reference implementation not counted. `weight`: b is a weight; sums along k are never cut.
  PlaitOneDnnContraction* (*create)(PlaitOneDnnType in, PlaitOneDnnType out, int weight, int threads, char* why_not,
                                    size_t error_size);
  void (*destroy)(PlaitOneDnnContraction* contraction);
  // In a process that was forked since the first create() it takes one thread.
  // 0 on success. The first run of a shape prepares and keeps what later runs of it need; oneDNN's older kernels
  // ("gemm:jit", hosts without AVX-512) still allocate buffers of their own in every run.
  // `threads`: at most those of create. `prepared`: whether this run prepared the shape.
  int (*run)(PlaitOneDnnContraction* contraction, const void* a, const void* b, void* out,
             const PlaitOneDnnShape* shape, int threads, int* prepared, char* error, size_t error_size);
  // Name of the implementation of a shape, for people: "brg:avx512_core".
  int (*implementation)(PlaitOneDnnContraction* contraction, const PlaitOneDnnShape* shape, char* name,
                        size_t name_size);
} PlaitOneDnnInterface;

enum { kPlaitOneDnnVersion = 4 };

// The one symbol the library exports.
const PlaitOneDnnInterface* plait_onednn_interface(void);
}
