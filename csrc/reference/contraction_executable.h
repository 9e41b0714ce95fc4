#pragma once
// The reference device: products in double precision; segments are evaluated by executable.h.
#include "device/device.h"

namespace plait::reference {

// Device "reference": `library` gives every product, in double precision, rounded once; `compile` is refused (segments
// come as executables).
std::unique_ptr<Device> make_reference_device();

}  // namespace plait::reference
