#pragma once
#include "base/error.h"

namespace plait {

// An index of a lookup or scatter lies outside of its extent; outputs of the run are undefined. Exit code 1.
class BoundsError : public UserError {
 public:
  using UserError::UserError;
};

}  // namespace plait
