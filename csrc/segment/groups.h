#pragma once
// Which ops share a segment: greedy merging of elementwise ops. Asks on group metadata; the fusion is not edited.
#include <functional>
#include <set>

#include "ir/fusion.h"

namespace plait {

struct Grouping {
  std::vector<Op*> ops;    // of the fusion, in its order; groups hold places in it
  std::vector<bool> free;  // constants and scalars from inputs alone: in no group, duplicated into readers
  std::vector<std::vector<int>> groups;  // in execution order, ops in order
  std::map<const TensorView*, int> makers;
  std::vector<std::vector<int>> domains;  // of the results, as numbers of extents; units are left out

  // Place of the op that makes the tensor, or -1 for inputs.
  int maker(const TensorView* tensor) const;
};

// Two groups merge if all their outputs have one domain (units left out) and no path between them passes through a
// third group. Producers and readers first, then groups of equal domain that have no edge between them. `explain`,
// where not null, gets a line per edge between elementwise ops that stayed apart, with the reason.
// `decide`, where not null, is asked before each merge (SegmentOptions). Each of `fixed` names results whose ops are
// one group, and nothing else joins it. UserError where a path between them passes through another op.
Grouping group_ops(const Fusion& fusion, std::string* explain,
                   const std::function<bool(std::string_view)>& decide = nullptr,
                   const std::vector<std::vector<std::string>>& fixed = {});

}  // namespace plait
