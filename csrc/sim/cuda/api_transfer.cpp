// Copies and fills.
#include <fmt/core.h>

#include "sim/cuda/capture.h"
#include "sim/cuda/streams.h"
#include "sim/cuda/transfers.h"

using namespace plait::sim;

namespace {

uint64_t number(const void* pointer) { return reinterpret_cast<uint64_t>(pointer); }

Side side_of(CUmemorytype type, const char* name) {
  switch (type) {
    case CU_MEMORYTYPE_HOST:
      return Side::host;
    case CU_MEMORYTYPE_DEVICE:
      return Side::device;
    case CU_MEMORYTYPE_UNIFIED:
      return Side::any;
    case CU_MEMORYTYPE_ARRAY:
      fail(CUDA_ERROR_NOT_SUPPORTED);
  }
  misuse(CUDA_ERROR_INVALID_VALUE, fmt::format("the memory type of the {} is {}", name, int(type)));
}

void transfer_rows(const Call& call, const CUDA_MEMCPY2D* copy, const std::shared_ptr<StreamObject>& stream,
                   bool synchronous) {
  need(copy, "pCopy");
  const Side to = side_of(copy->dstMemoryType, "target"), from = side_of(copy->srcMemoryType, "source");
  const auto check = [&](size_t pitch, size_t x, const char* name) {
    constexpr size_t kMost = 2147483647;
    if (pitch < copy->WidthInBytes + x || pitch > kMost) {
      misuse(CUDA_ERROR_INVALID_VALUE, fmt::format("the {}'s pitch of {} bytes for rows of {} bytes from byte {}", name,
                                                   pitch, copy->WidthInBytes, x));
    }
  };
  if (copy->WidthInBytes == 0 || copy->Height == 0) return;
  check(copy->dstPitch, copy->dstXInBytes, "target");
  check(copy->srcPitch, copy->srcXInBytes, "source");
  Transfer what;
  what.to =
      (to == Side::host ? number(copy->dstHost) : copy->dstDevice) + copy->dstY * copy->dstPitch + copy->dstXInBytes;
  what.from =
      (from == Side::host ? number(copy->srcHost) : copy->srcDevice) + copy->srcY * copy->srcPitch + copy->srcXInBytes;
  what.to_pitch = copy->dstPitch;
  what.from_pitch = copy->srcPitch;
  what.bytes = copy->WidthInBytes;
  what.rows = copy->Height;
  transfer(call, stream, what, to, from, synchronous);
}

Transfer row(uint64_t to, uint64_t from, size_t bytes) { return {to, from, bytes, bytes, bytes, 1}; }

// The context of a peer copy must be that of the memory's device.
std::shared_ptr<ContextObject> peer_context(const Call& call, CUcontext handle, CUdeviceptr address, const char* name) {
  auto context = call.context(handle);
  const Region* region = machine().scheduler.space.find(address);
  if (region != nullptr && region->device != context->device) {
    misuse(CUDA_ERROR_INVALID_VALUE, fmt::format("the {} is of device {}, {} of device {}", name, region->device,
                                                 context->name, context->device));
  }
  return context;
}

}  // namespace

extern "C" {

CUresult cuMemcpy(CUdeviceptr to, CUdeviceptr from, size_t bytes) {
  SIM_CALL({ transfer(call, call.stream(nullptr), row(to, from, bytes), Side::any, Side::any, true); });
}

CUresult cuMemcpyHtoD(CUdeviceptr to, const void* from, size_t bytes) {
  SIM_CALL({ transfer(call, call.stream(nullptr), row(to, number(from), bytes), Side::device, Side::host, true); });
}

CUresult cuMemcpyDtoH(void* to, CUdeviceptr from, size_t bytes) {
  SIM_CALL({ transfer(call, call.stream(nullptr), row(number(to), from, bytes), Side::host, Side::device, true); });
}

CUresult cuMemcpyDtoD(CUdeviceptr to, CUdeviceptr from, size_t bytes) {
  SIM_CALL({ transfer(call, call.stream(nullptr), row(to, from, bytes), Side::device, Side::device, true); });
}

CUresult cuMemcpyAsync(CUdeviceptr to, CUdeviceptr from, size_t bytes, CUstream stream) {
  SIM_CALL({ transfer(call, call.stream(stream), row(to, from, bytes), Side::any, Side::any, false); });
}

CUresult cuMemcpyHtoDAsync(CUdeviceptr to, const void* from, size_t bytes, CUstream stream) {
  SIM_CALL({ transfer(call, call.stream(stream), row(to, number(from), bytes), Side::device, Side::host, false); });
}

CUresult cuMemcpyDtoHAsync(void* to, CUdeviceptr from, size_t bytes, CUstream stream) {
  SIM_CALL({ transfer(call, call.stream(stream), row(number(to), from, bytes), Side::host, Side::device, false); });
}

CUresult cuMemcpyDtoDAsync(CUdeviceptr to, CUdeviceptr from, size_t bytes, CUstream stream) {
  SIM_CALL({ transfer(call, call.stream(stream), row(to, from, bytes), Side::device, Side::device, false); });
}

CUresult cuMemcpy2D(const CUDA_MEMCPY2D* copy) {
  SIM_CALL({ transfer_rows(call, copy, call.stream(nullptr), true); });
}

CUresult cuMemcpy2DUnaligned(const CUDA_MEMCPY2D* copy) {
  SIM_CALL({ transfer_rows(call, copy, call.stream(nullptr), true); });
}

CUresult cuMemcpy2DAsync(const CUDA_MEMCPY2D* copy, CUstream stream) {
  SIM_CALL({ transfer_rows(call, copy, call.stream(stream), false); });
}

CUresult cuMemcpyPeerAsync(CUdeviceptr to, CUcontext to_context, CUdeviceptr from, CUcontext from_context, size_t bytes,
                           CUstream stream) {
  SIM_CALL({
    peer_context(call, to_context, to, "target");
    peer_context(call, from_context, from, "source");
    transfer(call, call.stream(stream), row(to, from, bytes), Side::device, Side::device, false);
  });
}

CUresult cuMemcpyPeer(CUdeviceptr to, CUcontext to_context, CUdeviceptr from, CUcontext from_context, size_t bytes) {
  SIM_CALL({
    // In order with all work of both contexts, before and after.
    const auto target = peer_context(call, to_context, to, "target");
    const auto source = peer_context(call, from_context, from, "source");
    const auto stream = call.stream(nullptr);
    for (const auto& context : {target, source}) {
      Task join{call.name()};
      std::vector<OpRef> after;
      if (context->legacy != stream) after.push_back(issue(*context->legacy, join));
      issue(*stream, join, after);
    }
    transfer(call, stream, row(to, from, bytes), Side::device, Side::device, true);
    for (const auto& context : {target, source}) {
      if (context->legacy != stream) issue(*context->legacy, Task{call.name()}, {stream->last});
    }
  });
}

// ---- Fills.

CUresult cuMemsetD8(CUdeviceptr to, unsigned char value, size_t count) {
  SIM_CALL({ fill(call, call.stream(nullptr), to, 0, value, 1, count, 1, true); });
}

CUresult cuMemsetD16(CUdeviceptr to, unsigned short value, size_t count) {
  SIM_CALL({ fill(call, call.stream(nullptr), to, 0, value, 2, count, 1, true); });
}

CUresult cuMemsetD32(CUdeviceptr to, unsigned int value, size_t count) {
  SIM_CALL({ fill(call, call.stream(nullptr), to, 0, value, 4, count, 1, true); });
}

CUresult cuMemsetD2D8(CUdeviceptr to, size_t pitch, unsigned char value, size_t width, size_t rows) {
  SIM_CALL({ fill(call, call.stream(nullptr), to, pitch, value, 1, width, rows, true); });
}

CUresult cuMemsetD2D16(CUdeviceptr to, size_t pitch, unsigned short value, size_t width, size_t rows) {
  SIM_CALL({ fill(call, call.stream(nullptr), to, pitch, value, 2, width, rows, true); });
}

CUresult cuMemsetD2D32(CUdeviceptr to, size_t pitch, unsigned int value, size_t width, size_t rows) {
  SIM_CALL({ fill(call, call.stream(nullptr), to, pitch, value, 4, width, rows, true); });
}

CUresult cuMemsetD8Async(CUdeviceptr to, unsigned char value, size_t count, CUstream stream) {
  SIM_CALL({ fill(call, call.stream(stream), to, 0, value, 1, count, 1, false); });
}

CUresult cuMemsetD16Async(CUdeviceptr to, unsigned short value, size_t count, CUstream stream) {
  SIM_CALL({ fill(call, call.stream(stream), to, 0, value, 2, count, 1, false); });
}

CUresult cuMemsetD32Async(CUdeviceptr to, unsigned int value, size_t count, CUstream stream) {
  SIM_CALL({ fill(call, call.stream(stream), to, 0, value, 4, count, 1, false); });
}

CUresult cuMemsetD2D8Async(CUdeviceptr to, size_t pitch, unsigned char value, size_t width, size_t rows,
                           CUstream stream) {
  SIM_CALL({ fill(call, call.stream(stream), to, pitch, value, 1, width, rows, false); });
}

CUresult cuMemsetD2D16Async(CUdeviceptr to, size_t pitch, unsigned short value, size_t width, size_t rows,
                            CUstream stream) {
  SIM_CALL({ fill(call, call.stream(stream), to, pitch, value, 2, width, rows, false); });
}

CUresult cuMemsetD2D32Async(CUdeviceptr to, size_t pitch, unsigned int value, size_t width, size_t rows,
                            CUstream stream) {
  SIM_CALL({ fill(call, call.stream(stream), to, pitch, value, 4, width, rows, false); });
}
}
