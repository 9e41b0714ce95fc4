#pragma once
// Which ops share a segment: greedy merging of elementwise ops, moves, reductions and scatters. Asks on group metadata;
// the fusion is not edited.
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "ir/fusion.h"

namespace plait {

struct Grouping {
  std::vector<Op*> ops;    // of the fusion, in its order; groups hold places in it
  std::vector<bool> free;  // constants, scalars from inputs, views of memory: in no group, duplicated into readers
  std::vector<std::vector<int>> groups;  // in execution order, ops in order
  std::map<const TensorView*, int> makers;
  std::vector<std::vector<int>> domains;  // of the results, as numbers of extents; units are left out

  bool is_elementwise(const std::vector<int>& group) const;  // all of it

  // Place of the op that makes the tensor, or -1 for inputs.
  int maker(const TensorView* tensor) const;
  // Places of the ops that make the fusion's tensors of these names.
  std::set<int> makers_of(const Fusion& fusion, const std::vector<std::string>& names) const;
};

struct GroupOptions {
  // Why ops, in topological order, are no kernel of rows (schedule/norm.h) with these results in memory; nothing where
  // they are. Null: no target has such kernels.
  std::function<std::optional<std::string>(std::span<Op* const>, std::span<TensorView* const>)> refuse_rows;
  // Why ops, in topological order, moves among them, are no kernel (schedule/moved.h) with these results in memory;
  // nothing where they are. Null: no target has such kernels.
  std::function<std::optional<std::string>(std::span<Op* const>, std::span<TensorView* const>)> refuse_moved;
  // The same of kernels around scatters (schedule/scatter.h).
  std::function<std::optional<std::string>(std::span<Op* const>, std::span<TensorView* const>)> refuse_scatters;
  std::function<bool(const Op&)>
      stays_apart;  // views that only a library reads, scatters with a schedule of their own; null: none
  std::function<bool(const Op&)> costs_nothing;  // results that lie in their operand's memory; null: none
  int64_t most_statements = 64;                  // of a kernel with rows or moves, as statements_of() counts
  std::vector<std::vector<Op*>> first;           // ops, in order, that merge among themselves before others
  // Each names results whose ops are one group, and nothing else joins it. UserError where a path between them passes
  // through another op.
  std::vector<std::vector<std::string>> fixed;
  // Asked before each merge (SegmentOptions). Null: all are done.
  std::function<bool(std::string_view)> decide;
  std::string* explain = nullptr;  // gets a line per edge whose ops stayed apart, with the reason
};

// Two elementwise groups merge if all their outputs have one domain (units left out) and no path between them passes
// through a third group; so do groups with moves where the scheduler takes them. Then reductions, and what they read
// and what reads them, merge where the scheduler of rows takes them together, along edges and where they read one
// tensor. Before that, scatters do the same with what is elementwise in front of them and behind, as their scheduler
// allows. Producers and readers come first, then elementwise groups of equal domain that have no edge between them.
Grouping group_ops(const Fusion& fusion, const GroupOptions& options = {});

}  // namespace plait
