#pragma once
// nccl.h, its functions exported from this shared object.
#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <cuda_fp8.h>
#include <cuda_runtime_api.h>
#pragma GCC visibility push(default)
#include <nccl.h>

extern "C" {
// Seconds for which calls that block, such as ncclCommInitRank, and works on streams wait for other members; 50 at the
// start. After it the communicator fails with ncclTimeout, and who waited for whom is a finding.
void plait_sim_nccl_set_timeout(double seconds);
}
#pragma GCC visibility pop
