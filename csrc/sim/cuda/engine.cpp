// What other stand-ins use of this one.
#include "sim/cuda/engine.h"

#include "sim/cuda/streams.h"

namespace plait::sim {

int enqueue(void* stream, Work work) {
  const std::string name = work.name;
  return api_call(name.c_str(), [&](const Call& call) {
    Task task{std::move(work.name)};
    task.ready = std::move(work.ready);
    task.waits_for = std::move(work.waits_for);
    task.run = [accesses = std::move(work.accesses), run = std::move(work.run)](const Actor& actor) {
      AddressSpace& space = machine().scheduler.space;
      for (const Access& each : accesses) {
        if (!each.write) space.check_read(actor, each.address, each.bytes);
      }
      for (const Access& each : accesses) {
        if (each.write) space.check_write(actor, each.address, each.bytes);
      }
      if (run) run();
    };
    submit(call, *call.stream(static_cast<CUstream>(stream)), CU_GRAPH_NODE_TYPE_KERNEL, std::move(task));
  });
}

void* host_address(uint64_t address, size_t bytes) {
  std::lock_guard lock(machine().lock);
  AddressSpace& space = machine().scheduler.space;
  if (!space.is_device_address(address) && space.find(address) == nullptr) return reinterpret_cast<void*>(address);
  return space.host_address(address, bytes);
}

int device_of(void* stream) {
  int device = -1;
  api_call("cuStreamGetDevice",
           [&](const Call& call) { device = call.stream(static_cast<CUstream>(stream))->owner->device; });
  return device;
}

bool is_capturing(void* stream) {
  bool capturing = false;
  api_call("cuStreamIsCapturing",
           [&](const Call& call) { capturing = call.stream(static_cast<CUstream>(stream))->capture != nullptr; });
  return capturing;
}

void report(std::string text) {
  std::lock_guard lock(machine().lock);
  machine().findings.add(std::move(text));
}

void notify() { machine().scheduler.notify(); }

}  // namespace plait::sim
