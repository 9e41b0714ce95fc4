#pragma once
// The reference device: products in double precision, of integers modulo 2^64; segments are evaluated by executable.h.
#include "device/device.h"

namespace plait::reference {

// Device "reference": `library` gives every product, in double precision, rounded once, of integers modulo 2^64;
// `compile` is refused (segments come as executables).
std::unique_ptr<Device> make_reference_device();

}  // namespace plait::reference
