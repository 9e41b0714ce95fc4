// Initialisation, versions, devices.
#include <fmt/core.h>

#include <cstring>

#include "sim/cuda/machine.h"
#include "sim/cuda/pools.h"

using namespace plait::sim;

extern "C" {

CUresult cuInit(unsigned int flags) {
  return api_call(
      __func__,
      [&](const Call&) {
        if (flags != 0) misuse(CUDA_ERROR_INVALID_VALUE, "flags are not 0");
        machine().initialised = true;
        if (machine().devices.empty()) fail(CUDA_ERROR_NO_DEVICE);
      },
      false);
}

CUresult cuDriverGetVersion(int* version) {
  return api_call(
      __func__,
      [&](const Call&) {
        need(version, "driverVersion");
        *version = 13000;
      },
      false);
}

CUresult cuDeviceGetCount(int* count) {
  SIM_CALL({
    need(count, "count");
    *count = static_cast<int>(machine().devices.size());
  });
}

CUresult cuDeviceGet(CUdevice* device, int ordinal) {
  SIM_CALL({
    need(device, "device");
    if (ordinal < 0 || static_cast<size_t>(ordinal) >= machine().devices.size()) fail(CUDA_ERROR_INVALID_DEVICE);
    *device = ordinal;
  });
}

CUresult cuDeviceGetName(char* name, int bytes, CUdevice device) {
  SIM_CALL({
    need(name, "name");
    if (bytes <= 0) misuse(CUDA_ERROR_INVALID_VALUE, "no room for the name");
    std::snprintf(name, bytes, "%s", call.device(device).architecture->device_name);
  });
}

CUresult cuDeviceGetUuid(CUuuid* uuid, CUdevice device) {
  SIM_CALL({
    need(uuid, "uuid");
    const Architecture& arch = *call.device(device).architecture;
    std::memset(uuid, 0, sizeof *uuid);
    std::snprintf(uuid->bytes, sizeof uuid->bytes, "sim%02d%02d-%d", arch.major, arch.minor, device);
  });
}

CUresult cuDeviceTotalMem(size_t* bytes, CUdevice device) {
  SIM_CALL({
    need(bytes, "bytes");
    *bytes = call.device(device).limit;
  });
}

CUresult cuDeviceGetAttribute(int* value, CUdevice_attribute attribute, CUdevice device) {
  SIM_CALL({
    need(value, "pi");
    if (!device_attribute(*call.device(device).architecture, device, attribute, value)) {
      misuse(CUDA_ERROR_INVALID_VALUE, fmt::format("attribute {} of devices is not known", int(attribute)));
    }
  });
}

CUresult cuDeviceGetPCIBusId(char* text, int bytes, CUdevice device) {
  SIM_CALL({
    need(text, "pciBusId");
    call.device(device);
    std::snprintf(text, bytes, "0000:%02X:00.0", device + 1);
  });
}

CUresult cuDeviceGetByPCIBusId(CUdevice* device, const char* text) {
  SIM_CALL({
    need(device, "dev");
    need(text, "pciBusId");
    unsigned domain = 0;
    unsigned bus = 0;
    if (std::sscanf(text, "%x:%x:", &domain, &bus) != 2) misuse(CUDA_ERROR_INVALID_VALUE, "no PCI bus id");
    if (domain != 0 || bus == 0 || bus > machine().devices.size()) fail(CUDA_ERROR_INVALID_DEVICE);
    *device = static_cast<int>(bus) - 1;
  });
}

// ---- Peers.

CUresult cuDeviceCanAccessPeer(int* can, CUdevice device, CUdevice peer) {
  SIM_CALL({
    need(can, "canAccessPeer");
    call.device(device);
    call.device(peer);
    *can = device != peer;
  });
}

CUresult cuDeviceGetP2PAttribute(int* value, CUdevice_P2PAttribute attribute, CUdevice from, CUdevice to) {
  SIM_CALL({
    need(value, "value");
    call.device(from);
    call.device(to);
    if (from == to) misuse(CUDA_ERROR_INVALID_DEVICE, "both devices are the same");
    switch (attribute) {
      case CU_DEVICE_P2P_ATTRIBUTE_ACCESS_SUPPORTED:
        *value = 1;
        break;
      case CU_DEVICE_P2P_ATTRIBUTE_PERFORMANCE_RANK:
      case CU_DEVICE_P2P_ATTRIBUTE_NATIVE_ATOMIC_SUPPORTED:
      case CU_DEVICE_P2P_ATTRIBUTE_CUDA_ARRAY_ACCESS_SUPPORTED:
        *value = 0;
        break;
      default:
        misuse(CUDA_ERROR_INVALID_VALUE, fmt::format("attribute {} of peers is not known", int(attribute)));
    }
  });
}

// ---- The pools of a device.

CUresult cuDeviceGetDefaultMemPool(CUmemoryPool* pool, CUdevice device) {
  SIM_CALL({
    need(pool, "pool_out");
    *pool = handle_of<CUmemoryPool>(*call.device(device).default_pool);
  });
}

CUresult cuDeviceGetMemPool(CUmemoryPool* pool, CUdevice device) {
  SIM_CALL({
    need(pool, "pool");
    *pool = handle_of<CUmemoryPool>(*call.device(device).current_pool);
  });
}

CUresult cuDeviceSetMemPool(CUdevice device, CUmemoryPool handle) {
  SIM_CALL({
    DeviceState& state = call.device(device);
    const auto pool = machine().registry.get<PoolObject>(handle, CUDA_ERROR_INVALID_VALUE);
    if (pool->device != device) {
      misuse(CUDA_ERROR_INVALID_DEVICE, fmt::format("{} is of device {}, not {}", pool->name, pool->device, device));
    }
    state.current_pool = pool;
  });
}
}
