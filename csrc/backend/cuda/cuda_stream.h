#pragma once
// Streams, events and graphs of the driver behind the interfaces of device/stream.h.
#include <memory>

#include "backend/cuda/cuda_parts.h"
#include "device/stream.h"

namespace plait {

// A non-blocking stream of its own; its destruction waits for its work.
std::unique_ptr<Stream> make_cuda_stream(std::shared_ptr<CudaParts> parts, int ordinal);
// A caller's CUstream (null, 1, 2: the default streams), not destroyed. UserError where it belongs to another context
// than the primary one of the ordinal.
std::unique_ptr<Stream> adopt_cuda_stream(std::shared_ptr<CudaParts> parts, void* native, int ordinal);

}  // namespace plait
