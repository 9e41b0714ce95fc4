#include "sim/cuda/machine.h"

#include <fmt/core.h>

#include "sim/cuda/streams.h"

namespace plait::sim {

Machine& machine() {
  static Machine* const machine = new Machine;  // never destroyed: other libraries' exit code may still call
  return *machine;
}

namespace {

// Code that runs at the exit of a thread may still call: the pointer outlives what frees it.
thread_local ThreadState* own_state = nullptr;
struct FreeAtExit {
  ~FreeAtExit() {
    delete own_state;
    own_state = nullptr;
  }
};

}  // namespace

ThreadState& thread_state() {
  thread_local FreeAtExit at_exit;
  (void)at_exit;
  if (own_state == nullptr) own_state = new ThreadState;
  return *own_state;
}

void KernelMeter::add(const Launch& launch, const KernelInfo& kernel, const LaunchCounts& counted) {
  launches += 1;
  counts.add(counted);
  const auto product = [](const std::array<uint32_t, 3>& of) { return uint64_t(of[0]) * of[1] * of[2]; };
  if (product(launch.block) < threads) return;
  blocks = product(launch.grid);
  threads = product(launch.block);
  shared_bytes = kernel.shared_bytes + launch.shared_bytes;
  bytes_in_flight = kernel.bytes_in_flight;
}

void Machine::forget_clocks() {
  notes_.clear();
  for (const auto& object : registry.list(ObjectKind::context, 0)) {
    static_cast<ContextObject&>(*object).issued = Clock();
  }
}

void Machine::lose(ContextObject& context, CUresult code, std::string text) {
  if (context.error == CUDA_SUCCESS) context.error = code;
  for (const auto& [lane, note] : notes_) {
    if (text.find("not ordered") != text.npos && text.find(fmt::format("on stream {})", lane)) != text.npos) {
      text += "\n  note: " + note;
    }
  }
  fault_code_ = code;
  fault_text_ = findings.keep(text);
  findings.add(std::move(text));
  scheduler.notify();
}

namespace {

// Names of cuda.h stand for versions of a function; users know the name without.
std::string without_version(const std::string& name) {
  const size_t at = name.rfind("_v");
  return at == name.npos ? name : name.substr(0, at);
}

}  // namespace

const char* Call::name() const {
  static std::map<std::string, std::string> names;
  return names.try_emplace(name_, without_version(name_)).first->second.c_str();
}

CUresult failed_call(const char* name, const ApiError& error) {
  if (!error.text.empty()) machine().findings.add(fmt::format("{}: {}", without_version(name), error.text));
  return error.code;
}

void Call::check(const ContextObject& context) const {
  if (!context.alive) misuse(CUDA_ERROR_CONTEXT_IS_DESTROYED, context.name + " was destroyed or reset before");
  if (context.error != CUDA_SUCCESS) fail(context.error);
}

std::shared_ptr<ContextObject> Call::context() const {
  const ThreadState& thread = thread_state();
  if (thread.contexts.empty() || thread.contexts.back() == nullptr) {
    misuse(CUDA_ERROR_INVALID_CONTEXT, "no context is current to the calling thread");
  }
  check(*thread.contexts.back());
  return thread.contexts.back();
}

std::shared_ptr<ContextObject> Call::context(CUcontext handle) const {
  if (handle == nullptr) return context();
  auto context = machine().registry.get<ContextObject>(handle, CUDA_ERROR_INVALID_CONTEXT);
  check(*context);
  return context;
}

DeviceState& Call::device(CUdevice ordinal) const {
  auto& devices = machine().devices;
  if (ordinal < 0 || static_cast<size_t>(ordinal) >= devices.size()) {
    misuse(CUDA_ERROR_INVALID_DEVICE, fmt::format("there is no device {}", ordinal));
  }
  return devices[ordinal];
}

std::shared_ptr<StreamObject> Call::stream(CUstream handle) const {
  if (handle == nullptr || handle == CU_STREAM_LEGACY) return context()->legacy;
  if (handle == CU_STREAM_PER_THREAD) return per_thread_stream(context());
  auto stream = machine().registry.get<StreamObject>(handle);
  check(*stream->owner);
  return stream;
}

}  // namespace plait::sim
