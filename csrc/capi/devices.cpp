// The devices that are here.
#include "capi/handles.h"

using namespace plait;  // NOLINT: this file defines the C functions

extern "C" {

plait_error* plait_devices(plait_device_list** out) {
  return guarded([&] {
    required(out, "out") = nullptr;
    auto list = std::make_unique<plait_device_list>();
    list->devices = devices();
    *out = list.release();
  });
}

size_t plait_device_list_count(const plait_device_list* list) { return list ? list->devices.size() : 0; }

plait_error* plait_device_list_get(const plait_device_list* list, size_t index, plait_device_info* out) {
  return guarded([&] {
    const auto& devices = required(list, "list").devices;
    if (index >= devices.size())
      throw UserError(fmt::format("there is no device {}", index), "", fmt::format("there are {}", devices.size()));
    const DeviceInfo& device = devices[index];
    plait_device_info info = {};
    info.name = device.name.c_str();
    info.architecture = device.target.architecture.c_str();
    info.description = device.description.c_str();
    info.count = device.count;
    info.cores = device.target.cuda() ? device.target.multiprocessors : device.target.cores;
    info.host_memory = device.target.cuda() ? 0 : 1;
    info.is_default = device.is_default ? 1 : 0;
    give(info, out, "out");
  });
}

void plait_device_list_free(plait_device_list* list) { delete list; }

}  // extern "C"
