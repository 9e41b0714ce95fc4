#pragma once
// PTX modules and their execution, warp by warp.
//
// load() reads the text and decodes every kernel; an instruction that is not modelled is refused there, by its PTX line
// and the line of the CUDA text. launch() runs one kernel to its end on the caller's thread. A loaded module does not
// change: several threads may share it.
#include <array>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "sim/memory/address_space.h"

namespace plait::sim {

inline constexpr int kInvalidPtx = 218;              // load: malformed text, or an instruction that is not modelled
inline constexpr int kLaunchOutOfResources = 701;    // launch: more threads than .maxntid or the device allow
inline constexpr int kInvalidClusterSize = 912;      // launch: of clusters
inline constexpr uint64_t kDefaultBudget = 1 << 28;  // instructions of one warp

struct KernelParameter {
  size_t offset = 0, bytes = 0;  // within the parameter bytes
};

// What the text declares of a kernel. Extents of 0 are not declared.
struct KernelInfo {
  std::string name;
  std::vector<KernelParameter> parameters;
  size_t parameter_bytes = 0;
  std::array<uint32_t, 3> max_threads{}, required_threads{};  // .maxntid, .reqntid
  std::array<uint32_t, 3> cluster{};                          // .reqnctapercluster
  size_t local_bytes = 0;                                     // of a thread
  size_t shared_bytes = 0;                                    // of a block, static
  int registers = 0;                                          // that the text declares: virtual ones
  size_t bytes_in_flight = 0;                                 // that a thread may ask of device memory at once, at most
};

// A variable of the module (.global, .const). Whoever loads the module allocates it and writes `initial`, or zeros.
struct GlobalVariable {
  std::string name;
  size_t bytes = 0, alignment = 1;
  bool constant = false;
  std::vector<uint8_t> initial;  // empty: zeros, else `bytes` of them
};

struct PtxCode;  // decoded kernels

class PtxModule {
 public:
  // `cuda_text`, if not empty, is what NVRTC compiled: reports quote its lines. Without it a text that follows in the
  // PTX as comments is taken (see with_source). Fault kInvalidPtx.
  static std::shared_ptr<const PtxModule> load(std::string_view ptx, std::string_view cuda_text = {});

  const std::string& target() const { return target_; }  // "sm_90a"
  // Whether a device of an architecture ("sm_90a") can run the module: its own or an older plain target; one with a
  // suffix only exactly.
  bool runs_on(std::string_view architecture) const;
  const std::vector<KernelInfo>& kernels() const { return kernels_; }
  // Index of a kernel in kernels(); -1: there is none.
  int find(std::string_view kernel) const;
  const std::vector<GlobalVariable>& globals() const { return globals_; }

  PtxModule();
  ~PtxModule();
  const PtxCode& code() const { return *code_; }

 private:
  std::string target_;
  std::vector<KernelInfo> kernels_;
  std::vector<GlobalVariable> globals_;
  std::unique_ptr<PtxCode> code_;
};

// PTX with the CUDA text that it came from behind it, as comments that assemblers skip and load() reads: a line
// `//cuda FILE|TEXT` for each. `file` is the name in the module's .file, without folders; it may be empty where there
// is but one.
std::string with_source(std::string_view ptx, std::string_view cuda_text, std::string_view file = {});

// One launch. The grid has no empty extent.
struct Launch {
  int kernel = 0;  // index in kernels()
  std::array<uint32_t, 3> grid{1, 1, 1}, block{1, 1, 1};
  std::array<uint32_t, 3> cluster{};  // blocks of a cluster; 0: as the kernel declares, or clusters of one
  size_t shared_bytes = 0;            // dynamic
  std::vector<uint8_t> parameters;    // parameter_bytes of them
  std::vector<uint64_t> globals;      // address of every variable of the module, in its order
  uint64_t seed = 0;                  // order of blocks and of warps in a block; 0: ascending
  bool metered = false;               // whether LaunchCounts::memory is counted
  bool cooperative = false;           // all blocks run side by side
  bool programmatic = false;          // may begin before what is in front of it on its stream has ended
  uint64_t budget = kDefaultBudget;   // instructions that a warp may execute before it is held to be in a loop
};

// Of accesses, where a launch is metered: how many instructions of warps touch device memory; the sectors of 32 bytes
// that each of them touches, and those that all bytes read and all bytes written lie in; the same of shared memory, and
// the passes over its banks, of which one for each 128 bytes is the least. Atomics are not counted.
struct MemoryCounts {
  uint64_t requests = 0, sectors = 0, least_sectors = 0;
  uint64_t shared_requests = 0, shared_passes = 0, least_passes = 0;
  void add(const MemoryCounts& other) {
    requests += other.requests;
    sectors += other.sectors;
    least_sectors += other.least_sectors;
    shared_requests += other.shared_requests;
    shared_passes += other.shared_passes;
    least_passes += other.least_passes;
  }
};

// Kinds of instructions: arithmetic of floats, of integers and bits; accesses of memory but for parameters; branches
// and ends; what threads do together (shuffles, votes, barriers, fences); moves, conversions and comparisons.
enum class InstructionKind : uint8_t { floats, integers, memory, control, together, other };
inline constexpr size_t kInstructionKinds = 6;

struct LaunchCounts {
  uint64_t warp_instructions = 0, thread_instructions = 0;
  std::array<uint64_t, kInstructionKinds> kinds{};  // of threads, where the launch is metered
  MemoryCounts memory;
  void add(const LaunchCounts& other) {
    warp_instructions += other.warp_instructions;
    thread_instructions += other.thread_instructions;
    for (size_t i = 0; i < kinds.size(); ++i) kinds[i] += other.kinds[i];
    memory.add(other.memory);
  }
};

// The blocks of a cluster in a launch, as it or the kernel says. Fault kInvalidClusterSize: they contradict each other,
// the grid does not consist of such, or one has more blocks than any device takes.
std::array<uint32_t, 3> cluster_of(const Launch& launch, const KernelInfo& info);

// Runs all blocks. Reads and writes are checked and entered in the address space for `actor`, whose operation's name is
// the kernel's for reports and whose device is the one it runs on. Fault with kernel, PTX line, CUDA line, block and
// thread: kIllegalAddress, kMisalignedAddress, kLaunchFailed (uninitialised read, race, trap, budget used up),
// kInvalidValue, kInvalidClusterSize or kLaunchOutOfResources (what does not fit the kernel or the device). Memory
// written before a fault stays written.
LaunchCounts launch(const PtxModule& module, const Launch& launch, const Actor& actor, AddressSpace& space);

}  // namespace plait::sim
