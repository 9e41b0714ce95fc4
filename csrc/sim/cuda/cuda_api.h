#pragma once
// The driver's functions as tools/check_cuda_abi.py finds them in its header; what is declared is exported.
#pragma GCC visibility push(default)
#include "cuda_abi/driver.h"
#pragma GCC visibility pop
