// Contexts: primary ones, those that a user makes, and what is current to a thread.
#include <fmt/core.h>

#include "sim/cuda/capture.h"
#include "sim/cuda/contexts.h"
#include "sim/cuda/streams.h"

using namespace plait::sim;

namespace {

void synchronize(const Call& call, ContextObject& context) {
  unsafe_call(call);
  refuse_captured(context, "its context cannot be waited for");
  wait_for_context(call, context, true);
  call.check(context);
}

}  // namespace

extern "C" {

CUresult cuDevicePrimaryCtxRetain(CUcontext* context, CUdevice device) {
  SIM_CALL({
    need(context, "pctx");
    DeviceState& state = call.device(device);
    if (state.primary == nullptr) {
      state.primary = make_context(device, state.flags, call.name());
      state.primary->primary = true;
    }
    ++state.users;
    *context = handle_of<CUcontext>(*state.primary);
  });
}

CUresult cuDevicePrimaryCtxRelease(CUdevice device) {
  SIM_CALL({
    DeviceState& state = call.device(device);
    if (state.users == 0) {
      misuse(CUDA_ERROR_INVALID_CONTEXT, fmt::format("the primary context of device {} was not retained", device));
    }
    if (--state.users > 0) return;
    const auto context = std::move(state.primary);
    state.primary = nullptr;
    destroy_context(call, context);
  });
}

CUresult cuDevicePrimaryCtxReset(CUdevice device) {
  SIM_CALL({
    DeviceState& state = call.device(device);
    if (state.primary != nullptr) empty_context(call, *state.primary);
  });
}

CUresult cuDevicePrimaryCtxSetFlags(CUdevice device, unsigned int flags) {
  SIM_CALL({
    call.device(device).flags = flags;
    if (call.device(device).primary != nullptr) call.device(device).primary->flags = flags;
  });
}

CUresult cuDevicePrimaryCtxGetState(CUdevice device, unsigned int* flags, int* active) {
  SIM_CALL({
    need(flags, "flags");
    need(active, "active");
    *flags = call.device(device).flags;
    *active = call.device(device).primary != nullptr;
  });
}

CUresult cuCtxCreate(CUcontext* context, CUctxCreateParams* parameters, unsigned int flags, CUdevice device) {
  SIM_CALL({
    need(context, "pctx");
    call.device(device);
    if (parameters != nullptr) fail(CUDA_ERROR_NOT_SUPPORTED);
    const auto made = make_context(device, flags, call.name());
    thread_state().contexts.push_back(made);
    *context = handle_of<CUcontext>(*made);
  });
}

CUresult cuCtxDestroy(CUcontext handle) {
  SIM_CALL({
    const auto context = machine().registry.get<ContextObject>(handle, CUDA_ERROR_INVALID_CONTEXT);
    if (context->primary) misuse(CUDA_ERROR_INVALID_CONTEXT, context->name + " is a primary one: release it");
    destroy_context(call, context);
    auto& stack = thread_state().contexts;
    if (!stack.empty() && stack.back() == context) stack.pop_back();
  });
}

CUresult cuCtxPushCurrent(CUcontext handle) {
  SIM_CALL({
    thread_state().contexts.push_back(machine().registry.get<ContextObject>(handle, CUDA_ERROR_INVALID_CONTEXT));
  });
}

CUresult cuCtxPopCurrent(CUcontext* handle) {
  SIM_CALL({
    auto& stack = thread_state().contexts;
    if (stack.empty() || stack.back() == nullptr) {
      misuse(CUDA_ERROR_INVALID_CONTEXT, "no context is current to the calling thread");
    }
    if (handle != nullptr) *handle = handle_of<CUcontext>(*stack.back());
    stack.pop_back();
  });
}

CUresult cuCtxSetCurrent(CUcontext handle) {
  SIM_CALL({
    auto& stack = thread_state().contexts;
    std::shared_ptr<ContextObject> context;
    if (handle != nullptr) context = machine().registry.get<ContextObject>(handle, CUDA_ERROR_INVALID_CONTEXT);
    if (!stack.empty()) stack.pop_back();
    if (context != nullptr) stack.push_back(std::move(context));
  });
}

CUresult cuCtxGetCurrent(CUcontext* handle) {
  SIM_CALL({
    need(handle, "pctx");
    const auto& stack = thread_state().contexts;
    *handle = stack.empty() || stack.back() == nullptr ? nullptr : handle_of<CUcontext>(*stack.back());
  });
}

CUresult cuCtxGetDevice(CUdevice* device) {
  SIM_CALL({
    need(device, "device");
    *device = call.context()->device;
  });
}

CUresult cuCtxGetDevice_v2(CUdevice* device, CUcontext handle) {
  SIM_CALL({
    need(device, "device");
    *device = call.context(handle)->device;
  });
}

CUresult cuCtxGetFlags(unsigned int* flags) {
  SIM_CALL({
    need(flags, "flags");
    *flags = call.context()->flags;
  });
}

CUresult cuCtxGetId(CUcontext handle, unsigned long long* id) {
  SIM_CALL({
    need(id, "ctxId");
    *id = call.context(handle)->number;
  });
}

CUresult cuCtxGetApiVersion(CUcontext handle, unsigned int* version) {
  SIM_CALL({
    need(version, "version");
    call.context(handle);
    *version = 3020;
  });
}

CUresult cuCtxGetStreamPriorityRange(int* least, int* greatest) {
  SIM_CALL({
    call.context();
    if (least != nullptr) *least = 0;
    if (greatest != nullptr) *greatest = kGreatestPriority;
  });
}

CUresult cuCtxSynchronize(void) {
  SIM_CALL({ synchronize(call, *call.context()); });
}

CUresult cuCtxSynchronize_v2(CUcontext handle) {
  SIM_CALL({ synchronize(call, *call.context(handle)); });
}

CUresult cuCtxGetLimit(size_t* value, CUlimit limit) {
  SIM_CALL({
    need(value, "pvalue");
    call.context();
    switch (limit) {
      case CU_LIMIT_STACK_SIZE:
        *value = 1024;
        break;
      case CU_LIMIT_PRINTF_FIFO_SIZE:
        *value = 1 << 20;
        break;
      case CU_LIMIT_MALLOC_HEAP_SIZE:
        *value = 8 << 20;
        break;
      default:
        fail(CUDA_ERROR_UNSUPPORTED_LIMIT);
    }
  });
}

// ---- Peers.

CUresult cuCtxEnablePeerAccess(CUcontext handle, unsigned int flags) {
  SIM_CALL({
    const auto context = call.context();
    const auto peer = machine().registry.get<ContextObject>(handle, CUDA_ERROR_INVALID_CONTEXT);
    if (flags != 0) misuse(CUDA_ERROR_INVALID_VALUE, "flags are not 0");
    if (peer->device == context->device) {
      misuse(CUDA_ERROR_INVALID_DEVICE, fmt::format("both contexts are of device {}", peer->device));
    }
    if (!context->peers.insert(peer->device).second) fail(CUDA_ERROR_PEER_ACCESS_ALREADY_ENABLED);
    machine().scheduler.space.set_peer_access(context->device, peer->device, true);
  });
}

CUresult cuCtxDisablePeerAccess(CUcontext handle) {
  SIM_CALL({
    const auto context = call.context();
    const auto peer = machine().registry.get<ContextObject>(handle, CUDA_ERROR_INVALID_CONTEXT);
    if (context->peers.erase(peer->device) == 0) {
      misuse(CUDA_ERROR_PEER_ACCESS_NOT_ENABLED,
             fmt::format("device {} has no access to device {}", context->device, peer->device));
    }
    wait_for_context(call, *context, false);
    machine().scheduler.space.set_peer_access(context->device, peer->device, false);
  });
}
}
