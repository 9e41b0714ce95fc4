#pragma once
// DLPack tensors in and out.
#include <optional>

#include "capi/plait_c.h"
#include "device/tensor.h"

namespace plait {

plait_dtype to_c(DType dtype);
// UserError where plait has no such dtype.
DType from_c(plait_dtype dtype);

// A tensor over the caller's memory, which must outlive it. UserError at `where` ("input %x"): memory of another kind
// of device, no data, a dtype that plait lacks, an extent below 0, another number of dims than `rank`, where that is
// said: then shape and strides are not read.
Tensor from_dlpack(const DLTensor& tensor, const std::string& where, std::optional<size_t> rank = std::nullopt);

// A managed tensor that keeps the memory alive until its deleter is called.
DLManagedTensorVersioned* to_dlpack(Tensor tensor);

}  // namespace plait
