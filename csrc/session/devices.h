#pragma once
// The devices of the process, by name: cpu, reference, cuda, sim:ARCH[:N].
#include <cstdint>
#include <string>
#include <vector>

#include "base/options.h"
#include "device/device.h"
#include "device/target.h"

namespace plait {

// The device of that name; made once per name and settings, and kept. UserError for an unknown name, MissingError for
// an absent one. sim:ARCH:N is N simulated GPUs, ARCH sm_80 or sm_90a; cuda is every GPU like the first.
Device& find_device(const std::string& name, const Options& options);

// A device that find_device() gives here.
struct DeviceInfo {
  std::string name;         // `cpu`, `cuda`, `reference`, `sim:sm_80`
  int64_t count = 1;        // of GPUs, each a rank; simulated ones are as many as a name asks for, here 1
  Target target;            // what code is made for
  std::string description;  // `x86-64-v3, 8 lanes, 2 cores, caches 32 KiB, 512 KiB, 32 MiB`; empty of reference
  bool is_default = false;  // of one rank
};
// All of them, the default first. Those that lack something are left out; `plait doctor` says what.
std::vector<DeviceInfo> devices();

// The name of the device where a caller names none, by the command, C++, C and Python alike: cuda where the driver has
// a GPU for each rank of this process and `comm` is not mpi, which moves host memory; else cpu where LLVM can be
// loaded, else reference. `ranks` is all of the mesh; with mpi, nccl in a job, and given, a process has one of them.
std::string default_device(int64_t ranks = 1, const std::string& comm = "local");

// Whether the name asks for simulated GPUs: "sim:sm_90a:4".
bool is_simulated(const std::string& device);

// The stand-in for NCCL where the device is simulated; empty: the real one.
std::string nccl_library(const Device& device);

// Order in which work of simulated streams and blocks runs; nothing on other devices.
void set_simulation_seed(const Device& device, uint64_t seed);

// What the launches of one kernel on simulated GPUs did: instructions of warps and of their threads, these by kind
// (floats, integers, memory, control, together, other: sim/ptx/ptx.h says which). Accesses of memory: requests are
// instructions of warps; sectors of 32 bytes, those that requests touch and those that all bytes read and all bytes
// written lie in; passes over the banks of shared memory, and how few would do; the blocks of a launch, the threads and
// bytes of shared memory of one, and what a thread may ask of device memory at once, at most.
struct KernelMeter {
  std::string kernel;
  uint64_t launches = 0, warp_instructions = 0, thread_instructions = 0;
  std::array<uint64_t, 6> kinds{};
  uint64_t requests = 0, sectors = 0, least_sectors = 0;
  uint64_t shared_requests = 0, shared_passes = 0, least_passes = 0;
  uint64_t blocks = 0, threads = 0, shared_bytes = 0, bytes_in_flight = 0;
};
// "sm_90a" of "sim:sm_90a:4", of which is_simulated() holds.
std::string simulated_architecture(const std::string& device);
// Whether simulated launches are metered from now on. MissingError where there is no simulator.
void meter_simulated_gpus(bool on);
// What was metered since the last call, by kernel.
std::vector<KernelMeter> take_meters();

}  // namespace plait
