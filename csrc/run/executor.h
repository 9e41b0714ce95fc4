#pragma once
#include <cstdint>

namespace plait {

// Carries out one run of a bound program whose tensors are bound: issues all steps of the held ranks, and returns when
// they are done, or with `guest` when they are queued. Errors name rank and step.
class Executor {
 public:
  virtual ~Executor() = default;
  virtual void run(uint64_t seed, bool guest) = 0;
};

}  // namespace plait
