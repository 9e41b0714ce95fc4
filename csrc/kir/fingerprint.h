#pragma once
#include <cstdint>

#include "kir/kernel.h"

namespace plait::kir {

// XXH3 of all that a kernel states, but for its name and schedule and for facts in its pool: equal for kernels of one
// pool that are equal. Takes a small part of the time of verify().
uint64_t fingerprint(const Kernel& kernel);

}  // namespace plait::kir
