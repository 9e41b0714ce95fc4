#pragma once
// Placement: where each tensor of a group is computed. Narrow: one nest, that of the reference tensor; all outputs are
// stored in it and everything else is computed in place, in registers.
#include <optional>

#include "axes/transforms.h"
#include "axes/walk.h"

namespace plait {

// Rules of validity, numbered as in docs/architecture.md.
enum class Rule : uint8_t {
  v1_independent,  // no class twice among the loops; their coordinates vary independently
  v2_known,        // every axis of a tensor follows from the loops
  v3_reduction,    // a loop drives kept or reduced axes, never both; reduced axes are driven by loops
  v4_readers,      // a reader asks for what this iteration computes
  v5_covers,       // every element is computed, or a loop around asks for what is left
  v6_once,    // what is in memory is stored once: every loop follows from its coordinates by total steps or is idle
  v7_buffer,  // every reader has an index into the buffer
  // Parts of the loop tree's rules, switched off by tests alone.
  plain_loops,   // axes that follow from no loop of a plan become loops of it
  total_steps,   // what is reached back from coordinates is reached by total steps
  tied_buffers,  // a reader's own loop indexes a buffer only where it reaches its axes through it
  lossy_terms,   // predicates of lossy steps
  once_terms,    // predicates against repetition
};
std::string_view name(Rule rule);

struct Refusal {
  Rule rule = Rule::v1_independent;
  const TensorView* tensor = nullptr;
  std::string reason;
};

struct NestLoop {
  int cls = -1;  // never a unit class
  ParallelType parallel = ParallelType::serial;
  bool reduction = false;  // drives an axis that some op of the group sums over
  bool idle = false;       // drives no axis at all (a split of an extent-1 axis): runs once, under a predicate
};

struct Nest {
  const TensorView* reference = nullptr;
  std::vector<NestLoop> loops;  // outermost first
};

struct PlaceOptions {
  std::function<sym::Expr(sym::Expr)> extent;  // split factors into the graph's pool
  uint32_t rules_off = 0;                      // bits by Rule; only for tests of the rules
};

// The nest of the reference's loops with every tensor of the group in it, or why not.
std::optional<Refusal> place(AxisGroup& group, const TensorView& reference, std::span<TensorView* const> outputs,
                             Nest& nest, const PlaceOptions& options = {});

}  // namespace plait
