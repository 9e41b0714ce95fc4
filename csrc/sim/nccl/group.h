#pragma once
// Groups of calls of one thread.
#include <functional>

#include "sim/nccl/comm.h"
#include "sim/nccl/jobs.h"

namespace plait::sim::nccl {

bool in_group();
// A call that was checked: queued now, or at the end of the group.
ncclResult_t submit(const char* function, ncclComm_t comm, Call call);
// A communicator in the making; `place` is set to null where that fails. Waits now, or at the end of the group.
ncclResult_t submit(Making making, ncclComm_t* place);
// A failed call of a group makes its end fail. Returns `result`.
ncclResult_t note(ncclResult_t result);

}  // namespace plait::sim::nccl
