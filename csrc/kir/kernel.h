#pragma once
// A kernel: ordered buffers, integer arguments, and phases of statements over them.
#include <string>
#include <vector>

#include "device/device.h"
#include "device/target.h"
#include "kir/stmt.h"

namespace plait::kir {

// Where a buffer lies, and from when to when.
enum class Space : uint8_t {
  argument,   // the caller's
  workspace,  // an argument whose contents matter to no one before or after; memory of the launch
  counter,    // an argument: words u32 of the launch, zero before and after; of a LastBlock or Await
  stack,      // of one iteration: from its Alloc to the end of that block
  shared,     // of one block of a GPU, likewise
};
std::string_view name(Space space);

// `extent` counts elements (an upper bound of every index).
struct Buffer {
  std::string name;  // for people: an identifier, unique among the buffers, never in generated code
  DType dtype = DType::f32;
  sym::Expr extent;
  bool written = false;  // an argument: by stores or atomics; else it is read
  bool updated = false;  // an argument: written, and read as well
  Space space = Space::argument;
  bool replaced = false;  // an argument that is read: its memory may be that of a written one (kir/passes/in_place.h)
  // Shared: rows of so many elements, whose pieces of kBankBytes are turned from row to row, so that equal pieces of
  // rows that follow one another lie in other banks; 0: none. Indices do not show it (place_in_banks).
  int64_t turned = 0;

  // Others than arguments are read and written, counters neither.
  bool loads() const { return space == Space::argument ? !written || updated : space != Space::counter; }
  bool stores() const { return space == Space::argument ? written : space != Space::counter; }
  bool is_local() const { return space >= Space::stack; }
};

inline constexpr int64_t kBankBytes = 16, kLineBytes = 128;  // that a thread meets at once; of all banks

// Where an element of a buffer lies, of its own memory.
sym::Expr place_in_banks(const Buffer& buffer, sym::Expr index);

// Most bytes of one stack buffer; of a GPU, until pass `threads` makes it each thread's own, of all threads of a
// cluster.
inline constexpr int64_t kMostStackBytes = int64_t{256} << 10;
inline int64_t most_stack_bytes(TargetKind target) {
  return target == TargetKind::cuda ? 4 * kMostStackBytes : kMostStackBytes;
}
// Bytes of shared memory that a block of any GPU has without asking.
inline constexpr int64_t kMostSharedBytes = 48 << 10;

// A phase begins when the ones before are done: it reads what they wrote. On a CPU the tasks of one phase are the
// iterations of its cpu_thread loop, or one; on a GPU a phase is a launch. Values and local buffers belong to the phase
// that defines them. A phase `beside` begins with the one before, and the tasks of both run at once: neither reads what
// the other writes.
struct Phase {
  Block body;
  bool beside = false;  // never the first one; GPUs: only until kir/merge_phases.h
};

// Invariants: see verify().
struct Kernel {
  std::string name;  // an identifier of C; deterministic
  TargetKind target = TargetKind::cpu;
  std::string schedule;  // text of the schedule that made it, e.g. `pointwise(vector = 8)`
  std::shared_ptr<sym::Pool> pool;
  std::vector<Buffer> buffers;      // arguments, workspaces, counters (all in the order of a launch), then local ones
  std::vector<sym::Expr> integers;  // symbols, in argument order; their facts stand in the pool
  std::vector<Phase> phases = std::vector<Phase>(1);  // at least one
  // Of a GPU: no argument has kMostNarrow (index_ranges.h) elements, so that indices have 32 bits.
  bool narrow = false;
};

// What elements of a buffer are to a Load or Store of `value`: the buffer's dtype, or, on CPUs, the unsigned integers
// of their size where they are narrow floats that the value has as bits.
DType element_type(const Kernel& kernel, uint32_t buffer, const Value& value);

// Buffers that a launch passes: all but the local ones.
size_t passed_buffers(const Kernel& kernel);

// How many phases run at once, by their order; one number for each phase that is not beside the one before.
std::vector<size_t> waves(const Kernel& kernel);

// The outermost cpu_thread loop, or null. Loops of kind block_* and thread_* appear only for TargetKind::cuda.
const For* thread_loop(const Phase& phase);

// Extents of the loops bound to block x, y, z and thread x, y, z (1 where there is none).
struct LaunchExtents {
  std::vector<sym::Expr> grid, block;  // three each
};
LaunchExtents launch_extents(const Kernel& kernel, size_t phase = 0);

// One phase of the kernel as a kernel, with the same head.
Kernel phase_kernel(const Kernel& kernel, size_t phase);

// The loop over the blocks of a cluster in the body of a phase; null: none.
const For* cluster_loop(const Block& body);

// How generated code of the kernel is called.
KernelText text_of(const Kernel& kernel, std::string code, bool status = false);

// Throws InternalError naming the first statement that only passes know, and the pass that was to replace it: what code
// writers ask before they begin.
void require_replaced(const Kernel& kernel);

// Text of the kernel, one statement a line: docs/kernel_ir.md.
std::string print(const Kernel& kernel);
// The line of one statement of the kernel, without its body; also for statements that break invariants.
std::string print(const Kernel& kernel, const Stmt& stmt);

// Throws InternalError naming the statement that breaks an invariant (listed at the top of kir/verify.cpp).
void verify(const Kernel& kernel);
// Called with every kernel that verify() accepts; null: nothing. For tests of what holds of all kernels.
using VerifyHook = void (*)(const Kernel& kernel);
void set_verify_hook(VerifyHook hook);

}  // namespace plait::kir
