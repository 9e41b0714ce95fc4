#pragma once
// The frame of every call of the driver API.
#include "sim/cuda/machine.h"

namespace plait::sim {

// A call in progress.
class Call {
 public:
  explicit Call(const char* name) : name_(name) {}
  // As users write it, without the version; lives for ever.
  const char* name() const;
  // The context that is current to the thread, alive and not lost.
  std::shared_ptr<ContextObject> context() const;
  // A context that is alive and not lost, by its handle.
  std::shared_ptr<ContextObject> context(CUcontext handle) const;
  // An error of the context ends the call: it was lost by a fault.
  void check(const ContextObject& context) const;
  DeviceState& device(CUdevice ordinal) const;
  // The stream that a handle means: one made by the caller, the legacy default stream (null or CU_STREAM_LEGACY) or the
  // thread's (CU_STREAM_PER_THREAD) of the current context.
  std::shared_ptr<StreamObject> stream(CUstream handle) const;

 private:
  const char* name_;
};

// Result of a call that failed; adds the finding.
CUresult failed_call(const char* name, const ApiError& error);

template <class Body>
CUresult api_call(const char* name, Body body, bool needs_init) {
  if (in_host_function) {
    std::lock_guard lock(machine().lock);
    return failed_call(name, {CUDA_ERROR_NOT_PERMITTED, "called by a host function of a stream"});
  }
  std::unique_lock lock(machine().lock);
  try {
    if (needs_init && !machine().initialised) {
      misuse(CUDA_ERROR_NOT_INITIALIZED, "cuInit was not called");
    }
    const Call call(name);
    body(call);
    return CUDA_SUCCESS;
  } catch (const ApiError& error) {
    return failed_call(name, error);
  } catch (const Fault& fault) {
    return failed_call(name, {static_cast<CUresult>(fault.code), fault.text});
  } catch (const std::bad_alloc&) {
    return failed_call(name, {CUDA_ERROR_OUT_OF_MEMORY, {}});
  } catch (const std::exception& error) {
    return failed_call(name, {CUDA_ERROR_UNKNOWN, error.what()});
  }
}

// The body of an exported function: SIM_CALL({ ... }) sees `call`.
#define SIM_CALL(...) \
  return ::plait::sim::api_call(__func__, [&]([[maybe_unused]] const ::plait::sim::Call& call) __VA_ARGS__)

}  // namespace plait::sim
