#pragma once
// What a kernel around scatters is made of: the scatters, elementwise producers of what they read, elementwise ops on
// their results. All is read at the coordinates of one row of a result or of one update.
#include <optional>
#include <span>
#include <vector>

#include "ir/fusion.h"
#include "scalar/atomics.h"
#include "schedule/refusal.h"

namespace plait {

struct ScatterPart {
  const Scatter* op = nullptr;
  size_t inner = 0;          // dims from here on are walked together for one update; the rank where there are none
  bool per_element = false;  // each of their elements has an index of its own
  bool has_inner() const { return inner < op->results[0]->rank(); }
};

struct ScatterPlan {
  std::vector<ScatterPart> parts;  // in order; several have one index, and inner dims of the same extents or none
  size_t widest = 0;               // the first part with inner dims, or the first
  // Every index names a whole row: no dim in front of the inner ones but the scattered one, others have one element.
  bool has_rows = false;
  std::vector<size_t> like;  // per output: the part whose result has its dims, units left out
};

// Why the ops, in topological order, are no such kernel with these results in memory; nothing where they are, and
// `plan` says how. Edits nothing.
std::optional<Refused> plan_scatters(std::span<Op* const> ops, std::span<TensorView* const> outputs, ScatterPlan& plan);

// The atomic that makes an update; nothing where there is none.
std::optional<AtomicOp> atomic_of(ScatterUpdate update);

// Per dim of an output, the dim of the part's result that it stands for; -1 for units.
std::vector<int> dims_like(const TensorView& output, const ScatterPart& part);

}  // namespace plait
