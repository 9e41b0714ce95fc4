#pragma once
// Control of the stand-in for the CUDA driver, by its C names in the shared object: for whoever loads it, and for
// tests.
#include <cstddef>
#include <cstdint>

#pragma GCC visibility push(default)
extern "C" {

// Adds `count` devices of an architecture ("sm_80", "sm_90a") and returns the ordinal of the first, or -1 with an
// unknown architecture, or where the process has no addresses left (a finding says so). Asked again for the same
// architecture with as many or fewer devices, returns those it has.
int plait_sim_add_devices(const char* architecture, int count);
// Order in which work of different streams, and blocks and warps of a kernel, run: 0 is the order given, any other
// number draws. Takes effect on work not yet run.
void plait_sim_set_seed(uint64_t seed);
// Seconds that waiting work may stand still, in this process, before it is reported as a deadlock; 60 at the start.
void plait_sim_set_timeout(double seconds);
// Memory of a device in bytes: 16 GiB at the start, at most 32. What is allocated stays. -1: no such device.
int plait_sim_set_memory(int device, size_t bytes);
// The findings since the last call, one to a line group, separated by an empty line; valid until the next call of the
// same thread. Empty: none.
const char* plait_sim_take_findings(void);
// Live allocations, streams, events, modules, contexts (primary ones without a user included: 0 after release).
struct plait_sim_counts {
  int64_t allocations, allocated_bytes, streams, events, modules, graphs;
  int64_t launches, copies;  // since the start
};
void plait_sim_get_counts(plait_sim_counts* counts);
// Whether launches from now on count their accesses of memory, which makes them slower.
void plait_sim_set_metering(int on);
// PTX that is loaded from now on becomes what `edit` makes of it, whose text stays valid until its next call; null:
// stays as it is. For tests that change code.
void plait_sim_set_code_edit(const char* (*edit)(const char* ptx));
// What the launches of a kernel counted (sim/ptx/ptx.h says of what each number is).
struct plait_sim_meter {
  const char* kernel;
  uint64_t launches, warp_instructions, thread_instructions;
  uint64_t kinds[6];  // thread_instructions by InstructionKind
  uint64_t requests, sectors, least_sectors;
  uint64_t shared_requests, shared_passes, least_passes;
  uint64_t blocks, threads, shared_bytes, bytes_in_flight;  // of a launch; threads and shared_bytes: of a block
};
// Those since the last call, by the names of kernels; how many there are. Valid until the next call of the same thread.
size_t plait_sim_take_meters(const plait_sim_meter** meters);
}
#pragma GCC visibility pop
