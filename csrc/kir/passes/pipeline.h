#pragma once
#include "kir/kernel.h"

namespace plait::kir {

// Of a serial loop with `stages` > 1 whose body first copies to shared memory, waits, and then does the rest, in which
// threads of several warps do not meet: the copies of an iteration begin so many iterations earlier, less one, in
// buffers of their own, so that the rest runs while they are under way. Iterations stand `stages` at a time in the body
// of one loop; copies of those behind the last one take no element. Wants: what pass `synchronise` leaves. Leaves: no
// loop with stages; one that copies in no such way, or has one iteration, or whose buffers would not fit
// kMostPipelinedBytes, is as it was. Why here: the waits are there, and threads loops still tell what belongs to a
// copy.
inline constexpr int64_t kMostPipelinedBytes = 99 << 10;  // that each GPU from sm_80 on has for a block that asks
void pipeline(Kernel& kernel);

}  // namespace plait::kir
