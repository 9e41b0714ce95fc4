#pragma once
// A GPU that is not there: kernels for a Target are compiled by NVRTC, and nothing runs.
#include <memory>

#include "device/device.h"

namespace plait {

// Its name is the target's architecture. compile() gives the facts of the machine code, and an executable whose launch
// is a UserError; so are memory and streams. library() takes what cuBLASLt takes, without the library. MissingError of
// compile(): no NVRTC, or one that does not know the architecture.
// With `disk_cache`, code is kept in DiskCache::of_process().
std::unique_ptr<Device> make_offline_device(const Target& target, bool disk_cache = true);

}  // namespace plait
