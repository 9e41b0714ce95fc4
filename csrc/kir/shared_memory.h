#pragma once
#include <map>

#include "kir/kernel.h"

namespace plait::kir {

// Bytes of all shared buffers that come to life in the body. Their extents are constant.
int64_t shared_bytes(const Kernel& kernel, const Block& body);

// Where shared buffers of a phase begin, in bytes, in memory that its launch asks for: of a phase whose buffers have
// more than kMostSharedBytes together. `bytes` 0: of others, whose code declares each of its own.
struct SharedPlaces {
  std::map<uint32_t, int64_t> begin;
  int64_t bytes = 0;
};
SharedPlaces places_in_shared(const Kernel& kernel, const Block& phase);

}  // namespace plait::kir
