#pragma once
// Making communicators: meeting the other members in shared memory.
#include <map>

#include "sim/nccl/comm.h"

namespace plait::sim::nccl {

// Makes `comm` (whose rank, ranks, device, label and id are set) when all members have come.
std::unique_ptr<Job> make_join(ncclComm& comm);
// Makes `child` from the members of `parent` that name the same color, ordered by key, then by rank.
// `endpoint` is the parent's.
std::unique_ptr<Job> make_split(ncclComm& parent, std::shared_ptr<Endpoint> endpoint, ncclComm& child, int color,
                                int key);
// Tells the other members of the parent that this one takes no part.
void split_without_color(ncclComm& parent, Endpoint& endpoint);

// A job of this thread and its handle.
struct Making {
  ncclComm* comm;
  const char* function;
};
// Waits for the jobs of all, together. Those of non-blocking communicators stay in progress. What failed is retired
// and its place set to null by the caller.
ncclResult_t wait_for(const std::vector<Making>& all);

}  // namespace plait::sim::nccl
