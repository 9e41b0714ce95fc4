#pragma once
#include "base/error.h"

namespace plait {

// Memory of the host or of a GPU does not suffice; what was asked for is as if it had not been. Exit code 3.
class MemoryError : public MissingError {
 public:
  using MissingError::MissingError;
};

}  // namespace plait
