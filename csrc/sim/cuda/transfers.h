#pragma once
// Copies and fills as pieces of work.
#include "sim/cuda/machine.h"

namespace plait::sim {

// Rows of bytes; one row is a plain copy.
struct Transfer {
  CUdeviceptr to = 0, from = 0;
  size_t to_pitch = 0, from_pitch = 0;  // bytes between rows
  size_t bytes = 0, rows = 1;           // of a row; rows
};

// What a caller says of an address.
enum class Side : uint8_t { device, host, any };

// Checks both sides as the driver does when it is called, then queues the copy. Pageable memory is read before the call
// returns; a copy into it is waited for. `synchronous`: a call without stream, which waits as the manual says.
void transfer(const Call& call, const std::shared_ptr<StreamObject>& stream, Transfer what, Side to, Side from,
              bool synchronous);
// Elements of 1, 2 or 4 bytes.
void fill(const Call& call, const std::shared_ptr<StreamObject>& stream, CUdeviceptr to, size_t pitch, uint32_t value,
          size_t element, size_t width, size_t rows, bool synchronous);

}  // namespace plait::sim
