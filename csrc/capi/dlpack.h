#pragma once
// DLPack tensors in and out.
#include "capi/plait_c.h"
#include "device/tensor.h"

namespace plait {

plait_dtype to_c(DType dtype);
// UserError where plait has no such dtype.
DType from_c(plait_dtype dtype);

// A tensor over the caller's memory, which must outlive it. UserError at `where` ("input %x"): memory of another kind
// of device, no data, a dtype that plait lacks, an extent below 0.
Tensor from_dlpack(const DLTensor& tensor, const std::string& where);

// A managed tensor that keeps the memory alive until its deleter is called.
DLManagedTensorVersioned* to_dlpack(Tensor tensor);

}  // namespace plait
