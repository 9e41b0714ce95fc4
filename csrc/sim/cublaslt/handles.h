#pragma once
#include "sim/cublaslt/api.h"

namespace plait::sim::cublaslt {

// The device on which the handle was made; -1: no live handle.
int device_of_handle(cublasLtHandle_t handle);

}  // namespace plait::sim::cublaslt
