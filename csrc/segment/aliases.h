#pragma once
// Results that lie in the memory of their operand: a view of the same buffer, and no kernel.
#include <map>
#include <string>

#include "segment/segment.h"
#include "segment/views.h"

namespace plait {

// What the library computes, and which results are views.
struct Aliases {
  struct Contraction {
    bool by_library = false;
    std::string why;  // where it is not
  };
  std::map<const Op*, Contraction> contractions;
  MemoryViews views;
  std::set<const Op*> view_ops;

  // Whether the op's result is its operand's memory: a reshape or a change of dims of extent 1 of what is row-major,
  // whoever reads it, or one of view_ops.
  bool is_alias(const Op& op) const;
};

// Asks the library for every contraction. Permutes, broadcasts, slices and reshapes that only contractions of the
// library read, directly or through each other, become views where it takes their strides; one that it does not take
// is computed, with what it is a view of, and a note says why. Before ops are grouped.
Aliases find_aliases(const Fusion& fusion, const SegmentOptions& options);

}  // namespace plait
