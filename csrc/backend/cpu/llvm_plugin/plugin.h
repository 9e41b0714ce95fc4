#pragma once
// C interface of libplait_llvm.so: LLVM IR text in, an object file out (backend/cpu/object_code.h links
// it). The library is loaded on first use, so that only processes that compile for the CPU pay for LLVM.
#include <stddef.h>
#include <stdint.h>

extern "C" {

typedef struct PlaitLlvmCompiler PlaitLlvmCompiler;

typedef void (*PlaitLlvmTake)(void* context, const void* object, size_t size);

// All functions may be called from several threads at once. Errors are texts, cut to fit `error_size` bytes.
typedef struct PlaitLlvmInterface {
  uint32_t version;  // kPlaitLlvmVersion
  // For a processor by the name that LLVM has for it ("x86-64-v3"), whose instruction sets `features` lists (" avx2
  // fma"); null, null: for this host. Null on failure.
  PlaitLlvmCompiler* (*create)(const char* processor, const char* features, char* error, size_t error_size);
  void (*destroy)(PlaitLlvmCompiler* compiler);
  // Compiles the module `text` of `size` bytes (a zero byte follows), which defines the functions `names`: its object
  // file goes to `take`, which is called once; to `instructions`, how many of LLVM's it has when it is optimized. The
  // object follows from text, names and identity() alone. 0 on failure.
  int (*compile)(PlaitLlvmCompiler* compiler, const char* text, size_t size, const char* const* names, size_t count,
                 PlaitLlvmTake take, void* context, int64_t* instructions, char* error, size_t error_size);
  // What objects are made by: LLVM's version, the sources of this plug-in, processor and features.
  const char* (*identity)(PlaitLlvmCompiler* compiler);
  const void* (*library)(void);  // an address in LLVM's library, of which versions have many builds
} PlaitLlvmInterface;

enum { kPlaitLlvmVersion = 7 };

// The one symbol the library exports.
const PlaitLlvmInterface* plait_llvm_interface(void);
}
