#pragma once
// What the stand-ins for cuBLASLt and NCCL need of the stand-in for the driver: put work on its streams, reach its
// memory. Exported by the driver's stand-in.
#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

namespace plait::sim {

// Bytes of device memory that work reads or writes; checked (bounds, freed memory, uninitialised reads, order between
// streams) when the work runs.
struct Access {
  uint64_t address = 0;
  size_t bytes = 0;
  bool write = false;
};

// One piece of work of a stream. It runs when everything before it on its stream is done, all events waited for are
// done, and `ready` says so.
// run, ready and waits_for are called under the engine's lock, by any thread that waits: a lock that they take must not
// be held by anybody who calls the engine, this header's functions or the driver's. run and ready may be called again
// where the work was captured; ready may be called any number of times.
struct Work {
  std::string name;  // for reports: "cublasLtMatmul", "ncclAllReduce of rank 2"
  std::vector<Access> accesses;
  std::function<void()> run;                 // may throw Fault
  std::function<bool()> ready{};             // empty: always
  std::function<std::string()> waits_for{};  // says for whom, in reports of work that cannot go on
};

// A misuse found while work runs: the stream's context is lost, as after a fault on hardware; the text is reported and
// is what cuGetErrorString says of the code until the next fault.
struct Fault {
  int code = 0;  // CUresult
  std::string text;
};

#define PLAIT_SIM_API __attribute__((visibility("default")))

// `stream` is a CUstream; null: the default stream of the current context. Returns a CUresult.
PLAIT_SIM_API int enqueue(void* stream, Work work);
// The host's address of device memory; null unless the whole range is one live allocation (or host memory).
PLAIT_SIM_API void* host_address(uint64_t address, size_t bytes);
// Ordinal of the device of the stream, or of the current context where it is null; -1: no context.
PLAIT_SIM_API int device_of(void* stream);
// Whether the stream is being captured: what may not be captured must be refused.
PLAIT_SIM_API bool is_capturing(void* stream);
// Adds to the list of findings (see simulator.h) and prints it to standard error.
PLAIT_SIM_API void report(std::string text);
// Wakes threads that wait for work whose `ready` may have changed.
PLAIT_SIM_API void notify();

}  // namespace plait::sim
