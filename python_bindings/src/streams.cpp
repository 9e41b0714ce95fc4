#include "streams.h"

#include "base/error.h"

namespace plait::python {
namespace {

// The driver's names of the default streams, which are also those of the array API.
void* const kLegacy = reinterpret_cast<void*>(uintptr_t{1});
void* const kPerThread = reinterpret_cast<void*>(uintptr_t{2});

[[noreturn]] void refuse(nb::handle stream, const char* where, const char* remedy) {
  throw UserError(fmt::format("{} is no CUDA stream", nb::cast<std::string>(nb::repr(stream))), where, remedy);
}

int64_t handle_of(nb::handle stream, const char* where) {
  int64_t out = 0;
  if (!PyLong_Check(stream.ptr()) || !nb::try_cast(stream, out))
    refuse(stream, where, "give its handle as an integer, e.g. torch.cuda.current_stream().cuda_stream");
  return out;
}

}  // namespace

void* run_stream(nb::handle stream) {
  if (stream.is_none()) return nullptr;
  const int64_t handle = handle_of(stream, "run, stream");
  if (handle < 0) refuse(stream, "run, stream", "give its handle, 0 for the default stream, or None");
  return handle == 0 ? kLegacy : reinterpret_cast<void*>(handle);
}

void* export_stream(nb::handle stream) {
  if (stream.is_none()) return kLegacy;
  const int64_t handle = handle_of(stream, "__dlpack__, stream");
  if (handle == 0 || handle < -1)
    refuse(stream, "__dlpack__, stream", "give 1 for the legacy default stream, 2 for the thread's, -1 for no order");
  return handle == -1 ? nullptr : reinterpret_cast<void*>(handle);
}

Queued queued_on(void* stream, Device& device, const Tensor& tensor) {
  if (!stream || tensor.on_host()) return {};
  Queued out{stream, &device, nullptr};
  if (stream != kPerThread) return out;
  // Another thread cannot name this one's stream: what is queued there is marked now.
  const auto queue = device.adopt_stream(stream, tensor.memory->location().ordinal);
  out.written = queue->make_event();
  queue->record(*out.written);
  return out;
}

Queued queued_by_producer(void* stream, const Tensor& tensor) {
  if (tensor.on_host()) return {};
  return {stream ? stream : kLegacy, nullptr, nullptr};
}

void wait_for(const Queued& array, Device& device, int ordinal, void* stream) {
  if (!array.stream || (array.stream == stream && !array.written)) return;
  std::shared_ptr<Event> written = array.written;
  if (!written) {
    const auto from = device.adopt_stream(array.stream, ordinal);
    if (!stream) return from->synchronize();
    written = from->make_event();
    from->record(*written);
  }
  const auto to = stream ? device.adopt_stream(stream, ordinal) : device.make_stream(ordinal);
  to->wait(*written);
  if (!stream) to->synchronize();
}

}  // namespace plait::python
