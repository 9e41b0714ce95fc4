#pragma once
// What the passes of lowering hand to each other.
#include "axes/place.h"
#include "axes/walk.h"
#include "lower/extents.h"
#include "lower/lower.h"

namespace plait::lowering {

// How a loop of the nest runs.
enum class LoopRole : uint8_t {
  bound,  // to threads of the CPU, or to blocks and threads of a GPU
  serial,
  unroll,    // one copy of the body per iteration
  sum,       // an op sums over it
  lane,      // the lanes of the vectors
  sum_lane,  // the same, and an op sums over them
};

struct Loop {
  LoopRole role = LoopRole::serial;
  kir::LoopKind kind = kir::LoopKind::serial;
  int cls = -1;
  sym::Expr var, extent;
  bool idle = false;  // see NestLoop
  const std::string& name() const { return var.symbol_name(); }
  bool is_lane() const { return role == LoopRole::lane || role == LoopRole::sum_lane; }
  bool is_summed() const { return role == LoopRole::sum || role == LoopRole::sum_lane; }
};

// `value < bound`, needed for every element that is stored (or summed, where it speaks of a sum loop).
struct Term {
  sym::Expr value, bound;
};

struct State {
  State(const Fusion& f, const Segment& s, const LowerOptions& o)
      : fusion(f), segment(s), options(o), pool(std::make_shared<sym::Pool>()), extents(pool), group(*pool) {}

  const Fusion& fusion;
  const Segment& segment;
  const LowerOptions& options;
  std::shared_ptr<sym::Pool> pool;
  KernelExtents extents;
  AxisGroup group;
  Nest nest;
  std::vector<Loop> loops;   // kept ones, outermost first; then sum loops; then the lane loop
  std::optional<Walk> walk;  // from loop variables to all classes
  std::vector<Term> terms;   // predicates of the nest
  int lanes = 1;             // of what is kept
  int sum_lanes = 1;         // of what is summed; at most one of both is not 1
  sym::Expr lane;            // null where both are 1
  sym::Expr scan;            // variable of the loop that a running sum goes along; null where there is none
  sym::Expr scatter;  // variable of the serial loop along a scatter's dim; null where there is none, or it is 1 long
  std::optional<uint32_t> status;        // the buffer of the status words of the run
  sym::Expr ordinal;                     // of the lookup that the status hears of
  std::optional<uint64_t> first_offset;  // of the random op that was lowered first, and where it stands in the kernel
  sym::Expr offset_base;
  kir::Kernel kernel;

  std::string where() const;  // `segment @s1, %y`, for messages
  sym::Expr extent(sym::Expr size) { return extents(size); }
  int width() const { return lanes * sum_lanes; }  // of the vectors
};

// The passes, in order; each has its file.
void group_axes(State& state);         // axis graph of the segment over the kernel's integers
void place_tensors(State& state);      // the nest, by the rules of validity
void declare_buffers(State& state);    // inputs, then outputs
void index_loops(State& state);        // loop variables and their roles; own coordinates
void derive_predicates(State& state);  // one term per lossy step
void write_body(State& state);         // loops with their tails and guards, statements inside

// Row-major offset of coordinates in a tensor's memory, by its allocation order.
sym::Expr memory_offset(State& state, const TensorView& tensor, const std::vector<sym::Expr>& coordinates);

}  // namespace plait::lowering
