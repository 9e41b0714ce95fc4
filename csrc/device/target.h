#pragma once
// Target: what code is made for, one description of a machine. A device has one; target_named() makes one of a GPU
// without any.
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace plait {

// What code is made for a target.
enum class TargetKind : uint8_t {
  cpu,        // LLVM IR, for vectors of the host
  cuda,       // CUDA C++
  reference,  // no code: segments are evaluated
};

// Sizes that nobody told are 0.
struct Target {
  TargetKind kind = TargetKind::cpu;
  std::string architecture;  // GPUs: "sm_90a"; CPUs: "x86-64-v3"; empty where there are no such names
  int vector_lanes = 8;      // f32 lanes of a CPU's vectors
  int cores = 1;         // of a CPU: threads that run a kernel; it may choose the grain, never an order of additions
  int64_t l1_bytes = 0;  // data cache of a core
  int64_t l2_bytes = 0;  // CPUs: of a core; GPUs: of all multiprocessors
  int64_t l3_bytes = 0;
  int multiprocessors = 0;   // of a GPU
  int64_t shared_bytes = 0;  // that a block may ask for
  int64_t registers = 0;     // 32-bit ones of a multiprocessor
  int block_threads = 256;   // that a block has where nothing speaks for fewer

  bool cuda() const { return kind == TargetKind::cuda; }
  // A GPU whose blocks have memory through which their threads exchange.
  bool threads_cooperate() const { return cuda() && shared_bytes > 0; }
  // Number of a GPU's architecture: 90 of "sm_90a".
  int compute_capability() const;
};

// Of the largest GPU of an architecture: "sm_80", "sm_90a". An architecture that is not in the table has the numbers of
// the nearest earlier one. UserError for what is no name of an architecture, or one before sm_80.
Target target_named(std::string_view architecture);

// Of the CPU that this process runs on, with all of its cores.
Target host_target();

// One line for people: `x86-64-v3, 8 lanes, 2 cores, caches 32 KiB, 512 KiB, 32 MiB`.
std::string print(const Target& target);

}  // namespace plait
