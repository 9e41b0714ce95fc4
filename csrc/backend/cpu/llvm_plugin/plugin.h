#pragma once
// C interface of libplait_llvm.so: LLVM IR text in, an object for this host out; object in,
// code that runs out. The library is loaded on first use,
// so that only processes that compile for the CPU pay for LLVM.
#include <stddef.h>
#include <stdint.h>

extern "C" {

typedef struct PlaitLlvmCompiler PlaitLlvmCompiler;
typedef struct PlaitLlvmCode PlaitLlvmCode;

// A C function that code may call.
typedef struct PlaitLlvmSymbol {
  const char* name;
  void* address;
} PlaitLlvmSymbol;

typedef void (*PlaitLlvmTake)(void* context, const void* object, size_t size);

// Runs iterations begin .. end - 1 of a kernel; see codegen/llvm/writer.h.
typedef void (*PlaitLlvmEntry)(void* const* buffers, const int64_t* integers, int64_t begin, int64_t end);

// All functions may be called from several threads at once. Errors are texts, cut to fit `error_size` bytes.
typedef struct PlaitLlvmInterface {
  uint32_t version;  // kPlaitLlvmVersion
  // Code sees the symbols and nothing else of the process. Null on failure.
  PlaitLlvmCompiler* (*create)(const PlaitLlvmSymbol* symbols, size_t count, char* error, size_t error_size);
  // After all code has been released.
  void (*destroy)(PlaitLlvmCompiler* compiler);
  // Compiles the module `text` of `size` bytes (a zero byte follows), which defines the functions `names`: its object
  // file goes to `take`, which is called once; to `instructions`, how many of LLVM's it has when it is optimized. The
  // object follows from text, names and identity() alone. 0 on failure.
  int (*compile)(PlaitLlvmCompiler* compiler, const char* text, size_t size, const char* const* names, size_t count,
                 PlaitLlvmTake take, void* context, int64_t* instructions, char* error, size_t error_size);
  // Machine code of an object that compile() made, here or in another process of equal identity; the addresses of its
  // functions `names` go to `entries`. Null on failure.
  PlaitLlvmCode* (*load)(PlaitLlvmCompiler* compiler, const void* object, size_t size, const char* const* names,
                         size_t count, PlaitLlvmEntry* entries, char* error, size_t error_size);
  // Removes the code; its entries must not run any more.
  void (*release)(PlaitLlvmCode* code);
  const char* (*cpu_name)(PlaitLlvmCompiler* compiler);      // "znver4"
  const char* (*cpu_features)(PlaitLlvmCompiler* compiler);  // "+avx2,-avx512f,..."
  int (*vector_bytes)(PlaitLlvmCompiler* compiler);          // width of the vectors that kernels should use
  // What objects are made by: LLVM's version, the sources of this plug-in, processor and features.
  const char* (*identity)(PlaitLlvmCompiler* compiler);
  const void* (*library)(void);  // an address in LLVM's library, of which versions have many builds
} PlaitLlvmInterface;

enum { kPlaitLlvmVersion = 5 };

// The one symbol the library exports.
const PlaitLlvmInterface* plait_llvm_interface(void);
}
