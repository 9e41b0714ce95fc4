#pragma once
// Decoded kernels and the state in which they run.
//
// A warp executes together: every register is a row of 32 lanes, 32 or 64 bits each, in the warp's file; a predicate is
// a mask of 32 lanes. Constants, special registers and addresses of variables are rows too, so that every operand is
// one. Lanes have their own place in the program (lane_places.h).
#include <array>
#include <cstdint>
#include <vector>

#include "sim/ptx/text.h"

namespace plait::sim::ptx {

inline constexpr int kLanes = 32;
inline constexpr uint64_t kLocalWindow = uint64_t(2) << 56;   // generic addresses of local memory
inline constexpr uint64_t kSharedWindow = uint64_t(3) << 56;  // and of shared memory
inline constexpr int kSharedBits = 24;  // of an address in shared memory; above them whose it is (cluster.h)
inline constexpr uint64_t kSharedOffset = (uint64_t(1) << kSharedBits) - 1;

struct Warp;
struct Instruction;
using Handler = void (*)(Warp&, const Instruction&);

// meet: an instruction of several lanes, which wait until all that it names are there. barrier: of several warps;
// cluster: the one of several blocks.
enum class Control : uint8_t { next, branch, leave, meet, barrier, cluster };
// What a barrier does beside waiting: nothing; it does not even wait; a result from predicates of all threads.
enum class BarrierKind : uint8_t { sync, arrive, count, all, any };

// How far a fence or a strong access is heard.
enum class Scope : uint8_t { block, cluster, device, system };

// Predicates 0 and 1 of a warp are constants; writes to 2 are never read; 3 is the carry of sums of several words.
inline constexpr uint32_t kTrue = 0, kFalse = 1, kNowhere = 2, kCarry = 3;

struct Instruction {
  Handler run = nullptr;                       // reads and writes lanes in Warp::exec; null for branches
  uint32_t d = 0, a = 0, b = 0, c = 0, e = 0;  // rows: offsets in words of the file; or numbers of predicates
  uint32_t guard = kTrue, guard_flip = 0;      // lanes that execute: predicate xor flip
  uint32_t target = 0;                         // branch: an instruction; vectors: first row in Program::rows
  uint32_t statement = 0;                      // in TextKernel::statements
  Control control = Control::next;
  uint8_t count = 1;           // elements of a vector
  uint8_t bytes = 0;           // of an element in memory
  uint8_t narrow = 0;          // 1: the address has 32 bits
  uint8_t strong = 0;          // 1: a volatile, relaxed or atomic access
  uint8_t constant = 0;        // 1: a load of what nobody writes during the launch
  uint8_t update = 0;          // 1: an atomic, whose write continues what its read found
  Scope scope = Scope::block;  // of a strong access, or of a fence
  bool acquires = false, releases = false;
  bool cluster = false;   // an access that may be to the shared memory of another block
  int64_t immediate = 0;  // offset of an address, table of lop3 ...
  uint32_t members = 0;   // meet: row of the mask of lanes
  BarrierKind barrier = BarrierKind::sync;
  InstructionKind kind = InstructionKind::other;
  bool aligned = false;  // barrier: all lanes of a warp reach it together
};

// What fills a row that no instruction writes.
struct FixedRow {
  enum class Kind : uint8_t {
    value,
    global,
    thread,
    block,
    threads,
    blocks,
    lane,
    lane_mask,
    warp,
    cluster,         // of the grid
    clusters,        // in the grid
    cluster_block,   // within its cluster
    cluster_blocks,  // of a cluster
    cluster_rank,
    cluster_size
  };
  Kind kind = Kind::value;
  bool wide = false;  // 64 bits a lane
  uint32_t row = 0;
  // global: offset from the variable; thread ... blocks, cluster ... cluster_blocks: dimension; lane_mask: 0 to 4 for
  // eq, le, lt, ge, gt.
  uint64_t value = 0;
  int global = 0;  // index of the variable
};

struct Program {
  std::vector<Instruction> code;
  std::vector<uint32_t> rows;  // of vectors
  std::vector<FixedRow> fixed;
  uint32_t words = 0;  // of the file
  uint32_t predicates = 0;
  std::vector<uint32_t> written;     // predicates that say which lanes wrote a register that might be read before
  std::vector<std::string> tracked;  // names of those registers, in the same order
  bool waits = false;                // its warps may wait for each other: at barriers, or for what another one writes
  bool clusters_wait = false;        // it has what blocks of a cluster do together
  bool blocks_wait = false;          // its blocks may wait for each other, for what another one writes
  bool copies = false;               // it has cp.async
  bool fences = false;               // it has fences, or accesses that acquire or release
};

class Meter;
class LaunchMemory;

// What a launch shares.
struct Run {
  const TextModule* module = nullptr;
  const TextKernel* kernel = nullptr;
  const Program* program = nullptr;
  const Launch* launch = nullptr;
  const Actor* actor = nullptr;
  AddressSpace* space = nullptr;
  Meter* meter = nullptr;          // null: nothing is counted
  LaunchMemory* memory = nullptr;  // of device memory
  std::array<uint32_t, 3> cluster{1, 1, 1};
};

class ThreadBlock;

struct Warp {
  const Run* run = nullptr;
  uint32_t* file = nullptr;           // Program::words of them, aligned to 64 bytes
  uint32_t* predicates = nullptr;     // Program::predicates of them
  uint32_t exec = 0;                  // lanes of the instruction in hand
  std::array<Region*, 16> regions{};  // that statements used last, by their number modulo 16
  uint8_t* local = nullptr;           // bytes of local memory, lane by lane
  uint8_t* local_written = nullptr;
  uint32_t number = 0;  // within its block
  std::array<uint32_t, 3> block{};
  ThreadBlock* of = nullptr;
  uint32_t behind = 0;  // lanes that know that what is in front of the launch has ended
};

// Throws the Fault of a lane (-1: the first of exec) with all places.
[[noreturn]] void fail(const Warp& warp, const Instruction& instruction, int lane, int code, const std::string& what);
// A block of the grid by its number; x counts fastest.
std::array<uint32_t, 3> block_index(const Run& run, uint32_t number);
// "(3, 0, 0)", a thread of the block.
std::string thread_text(const Run& run, uint32_t warp, int lane);
std::string text_of(const std::array<uint32_t, 3>& index);  // "(3, 0, 0)"
inline uint32_t cluster_size(const Run& run) { return run.cluster[0] * run.cluster[1] * run.cluster[2]; }
// Bytes of shared memory of a block of the launch, with those that are asked for at the launch.
size_t shared_size(const Run& run);

// Decodes a kernel; Fault kInvalidPtx.
Program decode(const TextModule& module, const TextKernel& kernel);
// Registers that some path reads before it writes them, by index: ascending.
std::vector<int> maybe_unwritten(const TextKernel& kernel);
// Operand 0 is written, all others are read; nothing is written by stores and control.
bool writes_first_operand(const Statement& statement);

}  // namespace plait::sim::ptx

namespace plait::sim {

struct PtxCode {
  ptx::TextModule module;
  std::vector<ptx::Program> programs;  // by kernel
};

}  // namespace plait::sim
