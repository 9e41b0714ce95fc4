#pragma once
// A kernel: ordered buffers, integer arguments, and a body of statements over them.
#include <string>
#include <vector>

#include "device/target.h"
#include "kir/stmt.h"

namespace plait::kir {

// One buffer argument; `extent` counts elements (an upper bound of every index).
struct Buffer {
  std::string name;  // for people: an identifier, unique among the buffers, never in generated code
  DType dtype = DType::f32;
  sym::Expr extent;
  bool written = false;  // by stores or atomics; else it is read
  bool updated = false;  // written, and read as well
};

// Invariants: see verify().
struct Kernel {
  std::string name;  // an identifier of C; deterministic
  TargetKind target = TargetKind::cpu;
  std::string schedule;  // text of the schedule that made it, e.g. `pointwise(vector = 8)`
  std::shared_ptr<sym::Pool> pool;
  std::vector<Buffer> buffers;      // in argument order
  std::vector<sym::Expr> integers;  // symbols, in argument order; their facts stand in the pool
  Block body;
};

// The outermost cpu_thread loop, or null. Loops of kind block_* and thread_* appear only for TargetKind::cuda.
const For* thread_loop(const Kernel& kernel);

// Extents of the loops bound to block x, y, z and thread x, y, z (1 where there is none).
struct LaunchExtents {
  std::vector<sym::Expr> grid, block;  // three each
};
LaunchExtents launch_extents(const Kernel& kernel);

// Text of the kernel, one statement a line. Source: docs/ir.md.
std::string print(const Kernel& kernel);
// The line of one statement of the kernel, without its body; also for statements that break invariants.
std::string print(const Kernel& kernel, const Stmt& stmt);

// Throws InternalError naming the statement that breaks an invariant (listed at the top of kir/verify.cpp).
void verify(const Kernel& kernel);

}  // namespace plait::kir
