#pragma once
#include "base/error.h"

namespace plait {

// The caller asked a run to end; its outputs are undefined. Nothing is wrong with the program.
class CancelledError : public Error {
 public:
  using Error::Error;
};

}  // namespace plait
