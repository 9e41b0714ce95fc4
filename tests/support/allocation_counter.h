#pragma once
// Counts calls of malloc and its relatives by this process, from any library.
#include <cstdint>

namespace plait::test {

// Whether this build can count (not under sanitizers, which have their own malloc).
bool counts_allocations();
// Allocations above 4 KiB so far.
int64_t large_allocations();
// All of them so far: a measure of work that no load of the machine changes.
int64_t allocations();

}  // namespace plait::test
