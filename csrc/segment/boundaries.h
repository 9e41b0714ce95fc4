#pragma once
// Why segments are apart: per boundary who refused to compute both sides in one step, the reason, and what would have
// to change. For explain; segmentation does not ask it.
#include <string>
#include <vector>

#include "schedule/scheduler.h"

namespace plait {

struct Refused {
  std::string by, reason, change;  // a scheduler, or library, collective, order, cost
};

// Results of one segment that another one reads.
struct Boundary {
  const Segment *from = nullptr, *to = nullptr;
  std::vector<const TensorView*> tensors;
  std::vector<Refused> refused;  // never empty
};

// Of a fusion with segments, in order of the reading segment. Edits nothing.
std::vector<Boundary> boundaries(const Fusion& fusion, const Target& target);

// A block of lines per boundary; empty where there is none.
std::string print(const std::vector<Boundary>& boundaries);

}  // namespace plait
