#pragma once
// cuBLASLt's functions, exported from this shared object.
#pragma GCC visibility push(default)
#include "cuda_abi/cublaslt.h"
#pragma GCC visibility pop
