#pragma once
// The driver's own header, so that signatures cannot drift; what it declares is exported.
#pragma GCC visibility push(default)
#include <cuda.h>
#pragma GCC visibility pop
