#pragma once
// cublasLt.h, its functions exported from this shared object.
#include <cuda_runtime_api.h>
#include <library_types.h>
#pragma GCC visibility push(default)
#include <cublasLt.h>
#pragma GCC visibility pop
