#pragma once
// A scheduled segment of a localized fusion -> one kernel.
#include "axes/place.h"
#include "base/pass.h"
#include "ir/fusion.h"
#include "kir/kernel.h"

namespace plait {

struct LowerOptions {
  TargetKind target = TargetKind::cpu;
  // Every tensor of narrow dtype is a rounding point. Off: only where a value enters a discontinuous op.
  bool strict_rounding = false;
  std::string name = "kernel";  // an identifier of C
  uint32_t rules_off = 0;       // see PlaceOptions; only for tests
  bool test_unions = true;      // see BuildGraphOptions; only for tests
  // Gets what each step to a kernel leaves, and may edit it: `place` (a LoopTree), `emit` and every pass over kernel IR
  // (a kir::Kernel). Of what has no loop tree only `lower`, of the whole, is offered, by who lowers. Empty: nobody.
  std::function<void(std::string_view step, const PassSubject& subject)> offer{};
};

struct LoweredKernel {
  kir::Kernel kernel;                // buffers: the segment's inputs, then its outputs
  std::vector<sym::Expr> arguments;  // value of kernel.integers[i], over the fusion's pool
  bool status = false;               // the last buffer holds the status words of the run (scalar/index_status.h)
  std::vector<int64_t> taken = {};   // of a joined kernel: KernelSlot::taken
};

// An expression over the kernel's integers as one over the sizes of the fusion, whose pool it is.
sym::Expr over_sizes(const LoweredKernel& lowered, sym::Pool& pool, sym::Expr e);

// Requires: segment.ops in topological order, and a complete schedule. Where that has a graph of its own
// (scheduled_group) this is lower_tree (lower/tree/lower_tree.h); else the ops are one nest, all elementwise or
// contractions, or one of another kind, and the first output carries the loops (apply_schedule). Ensures: kir::verify
// holds. Sizes enter as integer arguments with facts that hold on every rank, so one kernel serves all ranks and all
// sizes of a class. UserError naming segment, tensor and rule where the schedule does not fit.
LoweredKernel lower(const Fusion& fusion, const Segment& segment, const LowerOptions& options = {});

}  // namespace plait
