// A libplait_sim_cuda.so that is the driver of the machine: with it beside them, tests of simulated GPUs run on its
// first GPU, as sim:sm_80 and as sim:sm_90a alike, from the same PTX. Its functions are those of libcuda.so.1, which it
// needs and the loader finds them in. It counts nothing, and orders nothing by seeds; of several devices there are
// none.
#include "sim/cuda/simulator.h"

extern "C" {

int plait_sim_add_devices(const char*, int count) { return count == 1 ? 0 : -1; }
void plait_sim_set_seed(uint64_t) {}
void plait_sim_set_timeout(double) {}
int plait_sim_set_memory(int, size_t) { return 0; }
const char* plait_sim_take_findings() { return ""; }
void plait_sim_get_counts(plait_sim_counts* counts) { *counts = {}; }
void plait_sim_set_metering(int) {}
void plait_sim_set_code_edit(const char* (*)(const char*)) {}
size_t plait_sim_take_meters(const plait_sim_meter** meters) {
  *meters = nullptr;
  return 0;
}
}
