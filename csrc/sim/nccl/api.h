#pragma once
// NCCL's functions, exported from this shared object.
#pragma GCC visibility push(default)
#include "cuda_abi/nccl.h"

extern "C" {
// Seconds for which calls that block, such as ncclCommInitRank, and works on streams wait for other members; 50 at the
// start. After it the communicator fails with ncclTimeout, and who waited for whom is a finding.
void plait_sim_nccl_set_timeout(double seconds);
}
#pragma GCC visibility pop
