#pragma once
// Why segments are apart: per boundary who refused to compute both sides in one step, the reason, and what would have
// to change. For explain; segmentation does not ask it.
#include <string>
#include <vector>

#include "schedule/scheduler.h"
#include "segment/cut_groups.h"

namespace plait {

struct Refuser {
  std::string by;  // a scheduler, or library, collective, copy, alias, order, cost
  Refused refused;
};

// Results of one segment that another one reads.
struct Boundary {
  const Segment *from = nullptr, *to = nullptr;
  std::vector<const TensorView*> tensors;
  // Never empty. Schedulers of whose kind the ops of both are not are left out, while others refuse.
  std::vector<Refuser> refusers;
};

// Of a fusion with segments, in order of the reading segment. Edits nothing. `guards`: whom to ask about sizes; null:
// only what facts prove holds.
std::vector<Boundary> boundaries(const Fusion& fusion, const Target& target, sym::Guards* guards = nullptr,
                                 const KernelLimits& limits = kernel_limits(Options()));

// A block of lines per boundary; empty where there is none.
std::string print(const std::vector<Boundary>& boundaries);

}  // namespace plait
