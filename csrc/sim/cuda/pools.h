#pragma once
// Allocations: the capacity of devices, pools, and what was freed.
//
// Every allocation gets a new address, so that whatever still uses a freed one is found. What a real pool would do with
// its memory is kept as a count: a block may be used again by an allocation that is ordered after its free.
#include "sim/cuda/machine.h"

namespace plait::sim {

std::shared_ptr<PoolObject> make_pool(int device, const char* by);
// cuMemAlloc: usable at once. ApiError CUDA_ERROR_OUT_OF_MEMORY.
Allocation& allocate_now(const Call& call, const ContextObject& context, size_t bytes);
// cuMemAllocAsync: usable for what is ordered after.
Allocation& allocate_on(const Call& call, StreamObject& stream, const std::shared_ptr<PoolObject>& pool, size_t bytes);
// The live allocation that starts at an address; ApiError with what is wrong otherwise.
Allocation& find_allocation(uint64_t address, const char* what);
void free_now(const Call& call, Allocation& allocation);
void free_on(const Call& call, StreamObject& stream, Allocation& allocation);
// Frees what the host has; no checks.
void drop(Allocation& allocation, const char* by);
// Gives blocks back to the device until the pool holds at most `keep` bytes; only those whose work is done.
void trim(PoolObject& pool, size_t keep);
// Host memory that kernels may use.
Allocation& enter_host(const Call& call, const ContextObject& context, void* memory, size_t bytes, unsigned flags,
                       bool owned);
void leave_host(const Call& call, Allocation& allocation);

}  // namespace plait::sim
