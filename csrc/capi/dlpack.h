#pragma once
// DLPack tensors in and out. Layouts are those of DLPack 1 (dmlc/dlpack, dlpack.h), which the ABI names and does not
// define, so that callers may include that header.
#include "capi/plait_c.h"
#include "device/tensor.h"

struct DLDevice {
  int32_t device_type;
  int32_t device_id;
};

struct DLTensor {
  void* data;
  DLDevice device;
  int32_t ndim;
  plait_dtype dtype;
  int64_t* shape;
  int64_t* strides;  // of elements; null: row-major
  uint64_t byte_offset;
};

struct DLPackVersion {
  uint32_t major, minor;
};

struct DLManagedTensorVersioned {
  DLPackVersion version;
  void* manager_ctx;
  void (*deleter)(DLManagedTensorVersioned* self);
  uint64_t flags;
  DLTensor dl_tensor;
};

// Functions of a framework for its tensors, which a capsule `dlpack_exchange_api` of their type points to (DLPack 1.2).
// They return 0, else -1 with an exception of Python's; none of them waits for a stream.
struct DLPackExchangeAPI {
  struct Header {
    DLPackVersion version;
    Header* previous;
  } header;
  int (*allocate)(DLTensor* prototype, DLManagedTensorVersioned** out, void* context,
                  void (*fail)(void* context, const char* kind, const char* message));
  int (*managed_from_object)(void* object, DLManagedTensorVersioned** out);
  int (*object_from_managed)(DLManagedTensorVersioned* tensor, void** object);  // takes the tensor, whatever it returns
  int (*borrow)(void* object, DLTensor* out);  // may be null; valid while the object is
  int (*current_stream)(int32_t device_type, int32_t device_id, void** stream);
};

namespace plait {

// DLDeviceType: memory of the host, of a CUDA device, of the host for CUDA, managed by CUDA.
enum : int32_t { kDlCpu = 1, kDlCuda = 2, kDlCudaHost = 3, kDlCudaManaged = 13 };

plait_dtype to_c(DType dtype);
// UserError where plait has no such dtype.
DType from_c(plait_dtype dtype);

// A tensor over the caller's memory, which must outlive it. UserError at `where` ("input %x"): memory of another kind
// of device, no data, a dtype that plait lacks, an extent below 0.
Tensor from_dlpack(const DLTensor& tensor, const std::string& where);

// A managed tensor that keeps the memory alive until its deleter is called.
DLManagedTensorVersioned* to_dlpack(Tensor tensor);

}  // namespace plait
