// Streams and events.
#include <fmt/core.h>

#include "sim/cuda/capture.h"
#include "sim/cuda/contexts.h"
#include "sim/cuda/streams.h"

using namespace plait::sim;

namespace {

void create(const Call& call, CUstream* stream, unsigned flags, int priority) {
  need(stream, "phStream");
  if ((flags & ~unsigned(CU_STREAM_NON_BLOCKING)) != 0) {
    misuse(CUDA_ERROR_INVALID_VALUE, fmt::format("flags {}", flags));
  }
  const int kept = priority > 0 ? 0 : priority < kGreatestPriority ? kGreatestPriority : priority;
  *stream = handle_of<CUstream>(*make_stream(call.context(), flags, kept, call.name()));
}

std::shared_ptr<EventObject> event_of(const Call& call, CUevent handle) {
  auto event = machine().registry.get<EventObject>(handle);
  call.check(*event->owner);
  return event;
}

void refuse_captured(const EventObject& event) {
  if (event.capture == nullptr) return;
  if (event.capture->active) invalidate(*event.capture);
  misuse(CUDA_ERROR_CAPTURED_EVENT, event.name + " was last recorded in a captured stream: it stands for no work");
}

void record(const Call& call, CUevent handle, CUstream stream_handle) {
  const auto event = event_of(call, handle);
  const auto stream = call.stream(stream_handle);
  if (event->owner != stream->owner) {
    misuse(CUDA_ERROR_INVALID_HANDLE,
           fmt::format("{} is of {} (device {}), {} of {} (device {})", event->name, event->owner->name,
                       event->owner->device, stream->name, stream->owner->name, stream->owner->device));
  }
  if (stream->capture != nullptr) {
    if (!stream->capture->valid) fail(CUDA_ERROR_STREAM_CAPTURE_INVALIDATED);
    event->capture = stream->capture;
    event->captured = stream->frontier;
    event->record = nullptr;
    return;
  }
  event->record = issue(*stream, Task{fmt::format("cuEventRecord of {}", event->name)});
  event->capture = nullptr;
  event->captured.clear();
}

void wait(const Call& call, CUstream stream_handle, CUevent handle, unsigned flags) {
  const auto stream = call.stream(stream_handle);
  const auto event = event_of(call, handle);
  if (flags != CU_EVENT_WAIT_DEFAULT) {
    if (flags == CU_EVENT_WAIT_EXTERNAL) fail(CUDA_ERROR_NOT_SUPPORTED);
    misuse(CUDA_ERROR_INVALID_VALUE, fmt::format("flags {}", flags));
  }
  if (event->capture != nullptr) return join_capture(call, stream, *event);
  if (event->record == nullptr) {
    machine().note(stream->lane.name, fmt::format("{} waited for {} when that was not recorded: that orders nothing",
                                                  stream->name, event->name));
    return;
  }
  if (stream->capture != nullptr) {
    invalidate(*stream->capture);
    misuse(CUDA_ERROR_STREAM_CAPTURE_ISOLATION,
           fmt::format("{} is being captured and cannot wait for {}, recorded outside", stream->name, event->name));
  }
  issue(*stream, Task{fmt::format("cuStreamWaitEvent of {}", event->name)}, {event->record});
}

void launch_host(const Call& call, CUstream handle, std::function<void()> function) {
  const auto stream = call.stream(handle);
  Task task{call.name()};
  task.run = [function = std::move(function)](const Actor&) { function(); };
  task.calls_user = true;
  submit(call, *stream, CU_GRAPH_NODE_TYPE_HOST, std::move(task));
}

// Whether work is done, after giving it a chance. What a query saw done, the host knows.
bool query(const OpRef& op) {
  if (op == nullptr) return true;
  Scheduler& scheduler = machine().scheduler;
  if (!op->done()) scheduler.poll();
  if (!op->done()) return false;
  scheduler.host_knows(op->clock());
  return true;
}

}  // namespace

extern "C" {

CUresult cuStreamCreate(CUstream* stream, unsigned int flags) {
  SIM_CALL({ create(call, stream, flags, 0); });
}

CUresult cuStreamCreateWithPriority(CUstream* stream, unsigned int flags, int priority) {
  SIM_CALL({ create(call, stream, flags, priority); });
}

CUresult cuStreamGetPriority(CUstream handle, int* priority) {
  SIM_CALL({
    need(priority, "priority");
    *priority = call.stream(handle)->priority;
  });
}

CUresult cuStreamGetFlags(CUstream handle, unsigned int* flags) {
  SIM_CALL({
    need(flags, "flags");
    *flags = call.stream(handle)->flags;
  });
}

CUresult cuStreamGetId(CUstream handle, unsigned long long* id) {
  SIM_CALL({
    need(id, "streamId");
    const auto stream = call.stream(handle);
    *id = stream->legacy ? stream->owner->number : stream->handle;
  });
}

CUresult cuStreamGetDevice(CUstream handle, CUdevice* device) {
  SIM_CALL({
    need(device, "device");
    *device = call.stream(handle)->owner->device;
  });
}

CUresult cuStreamGetCtx(CUstream handle, CUcontext* context) {
  SIM_CALL({
    need(context, "pctx");
    *context = handle_of<CUcontext>(*call.stream(handle)->owner);
  });
}

CUresult cuStreamGetCtx_v2(CUstream handle, CUcontext* context, CUgreenCtx* green) {
  SIM_CALL({
    need(context, "pCtx");
    *context = handle_of<CUcontext>(*call.stream(handle)->owner);
    if (green != nullptr) *green = nullptr;
  });
}

CUresult cuStreamWaitEvent(CUstream stream, CUevent event, unsigned int flags) {
  SIM_CALL({ wait(call, stream, event, flags); });
}

CUresult cuStreamQuery(CUstream handle) {
  SIM_CALL({
    const auto stream = call.stream(handle);
    refuse_captured(*stream, "it cannot be asked");
    unsafe_call(call);
    if (!query(last_work(*stream, call))) fail(CUDA_ERROR_NOT_READY);
    call.check(*stream->owner);
  });
}

CUresult cuStreamSynchronize(CUstream handle) {
  SIM_CALL({
    const auto stream = call.stream(handle);
    refuse_captured(*stream, "it cannot be waited for");
    unsafe_call(call);
    wait_for(last_work(*stream, call), call.name());
    call.check(*stream->owner);
  });
}

CUresult cuStreamDestroy(CUstream handle) {
  SIM_CALL({
    if (handle == nullptr || handle == CU_STREAM_LEGACY || handle == CU_STREAM_PER_THREAD) {
      misuse(CUDA_ERROR_INVALID_HANDLE, "a default stream cannot be destroyed");
    }
    const auto stream = call.stream(handle);
    refuse_captured(*stream, "it cannot be destroyed");
    const OpRef& last = stream->last;
    Machine& all = machine();
    if (last != nullptr && !last->followed && !all.scheduler.host_knows_of(*last)) {
      all.findings.add(fmt::format("{}: {} is destroyed in use: nobody waited for {}", call.name(), stream->name,
                                   all.scheduler.space.trace().describe(last->actor.id)));
    }
    if (last != nullptr && stream->blocking()) stream->owner->orphans.push_back(last);
    all.registry.destroy(*stream, call.name());
  });
}

CUresult cuLaunchHostFunc(CUstream stream, CUhostFn function, void* data) {
  SIM_CALL({
    if (function == nullptr) misuse(CUDA_ERROR_INVALID_VALUE, "fn is null");
    launch_host(call, stream, [=] { function(data); });
  });
}

CUresult cuStreamAddCallback(CUstream stream, CUstreamCallback function, void* data, unsigned int flags) {
  SIM_CALL({
    if (function == nullptr || flags != 0) misuse(CUDA_ERROR_INVALID_VALUE, "no callback, or flags");
    refuse_captured(*call.stream(stream), "callbacks cannot be captured");
    launch_host(call, stream, [=] { function(stream, CUDA_SUCCESS, data); });
  });
}

// ---- Events.

CUresult cuEventCreate(CUevent* event, unsigned int flags) {
  SIM_CALL({
    need(event, "phEvent");
    constexpr unsigned kKnown = CU_EVENT_BLOCKING_SYNC | CU_EVENT_DISABLE_TIMING;
    if ((flags & CU_EVENT_INTERPROCESS) != 0) fail(CUDA_ERROR_NOT_SUPPORTED);
    if ((flags & ~kKnown) != 0) misuse(CUDA_ERROR_INVALID_VALUE, fmt::format("flags {}", flags));
    const auto context = call.context();
    const auto made = machine().registry.make<EventObject>(call.name(), context->handle);
    made->owner = context;
    made->flags = flags;
    *event = handle_of<CUevent>(*made);
  });
}

CUresult cuEventRecord(CUevent event, CUstream stream) {
  SIM_CALL({ record(call, event, stream); });
}

CUresult cuEventRecordWithFlags(CUevent event, CUstream stream, unsigned int flags) {
  SIM_CALL({
    if (flags == CU_EVENT_RECORD_EXTERNAL) fail(CUDA_ERROR_NOT_SUPPORTED);
    if (flags != 0) misuse(CUDA_ERROR_INVALID_VALUE, fmt::format("flags {}", flags));
    record(call, event, stream);
  });
}

CUresult cuEventQuery(CUevent handle) {
  SIM_CALL({
    const auto event = event_of(call, handle);
    refuse_captured(*event);
    unsafe_call(call);
    if (!query(event->record)) fail(CUDA_ERROR_NOT_READY);
    call.check(*event->owner);
  });
}

CUresult cuEventSynchronize(CUevent handle) {
  SIM_CALL({
    const auto event = event_of(call, handle);
    refuse_captured(*event);
    unsafe_call(call);
    wait_for(event->record, call.name());
    call.check(*event->owner);
  });
}

CUresult cuEventDestroy(CUevent handle) {
  SIM_CALL({ machine().registry.destroy(*event_of(call, handle), call.name()); });
}

CUresult cuEventElapsedTime(float* milliseconds, CUevent start, CUevent end) {
  SIM_CALL({
    need(milliseconds, "pMilliseconds");
    const auto first = event_of(call, start);
    const auto second = event_of(call, end);
    for (const auto& event : {first, second}) {
      refuse_captured(*event);
      if ((event->flags & CU_EVENT_DISABLE_TIMING) != 0 || event->record == nullptr) {
        misuse(CUDA_ERROR_INVALID_HANDLE,
               event->name + (event->record == nullptr ? " was never recorded" : " was made without timing"));
      }
    }
    if (first->owner != second->owner) misuse(CUDA_ERROR_INVALID_HANDLE, "the events are of different contexts");
    if (!first->record->done() || !second->record->done()) fail(CUDA_ERROR_NOT_READY);
    using Milliseconds = std::chrono::duration<float, std::milli>;
    *milliseconds = Milliseconds(second->record->finished - first->record->finished).count();
  });
}
}
