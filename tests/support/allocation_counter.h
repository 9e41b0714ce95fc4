#pragma once
// Counts calls of malloc and its relatives above 4 KiB, by this process, from any library.
#include <cstdint>

namespace plait::test {

// Whether this build can count (not under sanitizers, which have their own malloc).
bool counts_allocations();
// Allocations above 4 KiB so far.
int64_t large_allocations();

}  // namespace plait::test
