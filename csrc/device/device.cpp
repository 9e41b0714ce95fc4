#include "device/device.h"

#include "base/error.h"

namespace plait {

std::unique_ptr<Stream> Device::make_stream(int) { return make_host_stream(); }

std::unique_ptr<Stream> Device::adopt_stream(void*, int) {
  throw UserError("this device has no streams of its own", "device " + name(), "leave the stream empty");
}

}  // namespace plait
