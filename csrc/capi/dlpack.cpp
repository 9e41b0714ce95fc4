#include "capi/dlpack.h"

#include <memory>

#include "base/error.h"

namespace plait {

namespace {

Location location_of(DLDevice device, const std::string& where) {
  switch (device.device_type) {
    case kDLCPU:
    case kDLCUDAHost:
      return {};
    case kDLCUDA:
    case kDLCUDAManaged:
      return {false, device.device_id};
    default:
      throw UserError(fmt::format("memory of DLPack device type {}", static_cast<int32_t>(device.device_type)), where,
                      "copy the tensor to the CPU or to a CUDA device");
  }
}

// Bytes from the first to the last element; negative strides are no DLPack.
size_t reach(const Tensor& t, const std::string& where) {
  int64_t last = 0;
  for (size_t d = 0; d < t.shape.size(); ++d) {
    if (t.shape[d] == 0) return 0;
    if (t.strides[d] < 0)
      throw UserError(fmt::format("stride {} of dim {} is negative", t.strides[d], d), where,
                      "make the tensor contiguous");
    int64_t step = 0;
    if (__builtin_mul_overflow(t.shape[d] - 1, t.strides[d], &step) || __builtin_add_overflow(last, step, &last) ||
        last >= INT64_MAX / 8)
      throw UserError(fmt::format("stride {} of dim {} leads past 2^63 bytes", t.strides[d], d), where,
                      "pass a valid DLTensor");
  }
  return static_cast<size_t>(last + 1) * size_of(t.dtype);
}

// What a managed tensor owns.
struct Exported {
  DLManagedTensorVersioned managed;
  Tensor tensor;
};

}  // namespace

plait_dtype to_c(DType dtype) {
  const auto bits = static_cast<uint8_t>(8 * size_of(dtype));
  if (dtype == DType::boolean) return {kDLBool, 8, 1};
  if (dtype == DType::bf16) return {kDLBfloat, 16, 1};
  if (dtype == DType::f8e4m3) return {kDLFloat8_e4m3fn, 8, 1};
  if (dtype == DType::f8e5m2) return {kDLFloat8_e5m2, 8, 1};
  if (is_float(dtype)) return {kDLFloat, bits, 1};
  return {static_cast<uint8_t>(is_unsigned(dtype) ? kDLUInt : kDLInt), bits, 1};
}

DType from_c(plait_dtype dtype) {
  for (int i = 0; i < kDTypeCount; ++i) {
    const plait_dtype known = to_c(static_cast<DType>(i));
    if (known.code == dtype.code && known.bits == dtype.bits && dtype.lanes == 1) return static_cast<DType>(i);
  }
  throw UserError(
      fmt::format("DLPack type (code {}, bits {}, lanes {}) is no dtype of plait", dtype.code, dtype.bits, dtype.lanes),
      "", "convert the tensor first");
}

Tensor from_dlpack(const DLTensor& tensor, const std::string& where, std::optional<size_t> rank) {
  Tensor out;
  try {
    out.dtype = from_c(tensor.dtype);
  } catch (UserError& e) {
    e.add_place(where);
    throw;
  }
  if (tensor.ndim < 0 || (tensor.ndim > 0 && !tensor.shape))
    throw UserError(fmt::format("ndim is {}, shape {}", tensor.ndim, tensor.shape ? "given" : "null"), where,
                    "pass a valid DLTensor");
  constexpr int32_t kMostDims = 64;
  if (rank ? static_cast<size_t>(tensor.ndim) != *rank : tensor.ndim > kMostDims)
    throw UserError(
        fmt::format("expected {}{} dims, got {}", rank ? "" : "at most ", rank ? *rank : kMostDims, tensor.ndim), where,
        "give a tensor with as many dims");
  if (tensor.ndim > 0) out.shape.assign(tensor.shape, tensor.shape + tensor.ndim);
  for (size_t d = 0; d < out.shape.size(); ++d)
    if (out.shape[d] < 0)
      throw UserError(fmt::format("extent {} of dim {} is negative", out.shape[d], d), where, "pass a valid DLTensor");
  const int64_t elements = element_count(out.shape);
  out.strides = row_major_strides(out.shape);
  if (tensor.strides && tensor.ndim > 0) out.strides.assign(tensor.strides, tensor.strides + tensor.ndim);
  if (elements > 0 && !tensor.data) throw UserError("data is null", where, "pass a tensor with memory");
  const size_t bytes = reach(out, where);
  const auto address = reinterpret_cast<uintptr_t>(tensor.data);
  if (tensor.data && (tensor.byte_offset > UINTPTR_MAX - address || bytes > UINTPTR_MAX - address - tensor.byte_offset))
    throw UserError(fmt::format("byte_offset {} leads past the end of memory", tensor.byte_offset), where,
                    "pass a valid DLTensor");
  alignas(kBufferAlignment) static char nothing[kBufferAlignment];  // empty tensors may have no address
  char* first = tensor.data ? static_cast<char*>(tensor.data) + tensor.byte_offset : nothing;
  out.memory = std::make_shared<Memory>(first, bytes, nullptr, location_of(tensor.device, where));
  return out;
}

DLManagedTensorVersioned* to_dlpack(Tensor tensor) {
  auto out = std::make_unique<Exported>();
  out->tensor = std::move(tensor);
  Tensor& t = out->tensor;
  DLManagedTensorVersioned& managed = out->managed;
  managed.version = {DLPACK_MAJOR_VERSION, DLPACK_MINOR_VERSION};
  managed.manager_ctx = out.get();
  managed.deleter = [](DLManagedTensorVersioned* self) { delete static_cast<Exported*>(self->manager_ctx); };
  managed.flags = 0;
  const Location location = t.memory ? t.memory->location() : Location{};
  managed.dl_tensor.data = t.memory ? t.memory->data() : nullptr;
  managed.dl_tensor.device = {location.host ? kDLCPU : kDLCUDA, location.host ? 0 : location.ordinal};
  managed.dl_tensor.ndim = static_cast<int32_t>(t.shape.size());
  managed.dl_tensor.dtype = to_c(t.dtype);
  managed.dl_tensor.shape = t.shape.data();
  managed.dl_tensor.strides = t.strides.data();
  managed.dl_tensor.byte_offset = t.byte_offset;
  return &out.release()->managed;
}

}  // namespace plait
