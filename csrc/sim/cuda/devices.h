#pragma once
// The devices that can be simulated: what the driver says of them.
#include <cstddef>
#include <string>
#include <string_view>

#include "sim/cuda/cuda_api.h"

namespace plait::sim {

// Facts of an architecture, as the driver reports them on a device of that kind.
struct Architecture {
  const char* name;  // "sm_80"
  const char* device_name;
  int major, minor;
  bool specific;  // "sm_90a": runs code of its own target besides the common one
  int multiprocessors;
  int threads_per_multiprocessor, blocks_per_multiprocessor;
  int shared_per_multiprocessor, shared_per_block, shared_per_block_optin;  // bytes
  int l2_bytes, bus_bits, clock_khz, memory_clock_khz;
};

// Null for an architecture that is not simulated.
const Architecture* find_architecture(std::string_view name);

// cuDeviceGetAttribute of device `ordinal`; false for an attribute that the driver does not know.
bool device_attribute(const Architecture& architecture, int ordinal, CUdevice_attribute attribute, int* value);

}  // namespace plait::sim
