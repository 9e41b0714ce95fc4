#pragma once
#include <span>

#include "comm/communicator.h"

namespace plait {

// out[i] = reduction over the members, in the order of the span, of the element at in + byte_offset + i * size, for i
// in 0 .. count. `out` is disjoint from what is read, or the very address of one member's part. At least one member.
void reduce_members(DType dtype, CommReduce reduce, std::span<const CommMember> members, int64_t byte_offset,
                    int64_t count, void* out);

}  // namespace plait
