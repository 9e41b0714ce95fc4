#pragma once
// Pieces across a reshape: lists of the dims on one side of a run as lists of those on the other. Pieces of the outer
// dims come first, what they leave of a dim are local pieces of the dim that it becomes part of.
#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "ir/layout.h"
#include "ir/reshape_runs.h"

namespace plait {

// Of a run (ir/reshape_runs.h) the dims of one side: extents, where they are numbers, and lists in normal form.
struct RunDims {
  std::string tensor;  // its name
  size_t first = 0;    // dim of the tensor that the first one is
  std::vector<std::optional<int64_t>> extents;
  std::vector<std::vector<Piece>> pieces;
  size_t mesh_pieces() const;
  // `%x dim 2` of the one at 0, where 2 is the first.
  std::string name(size_t dim) const;
};

// The pieces that stay on one side, of which `made` on the other cut the same elements for every rank, in any
// number of ranks where it is not known: from the outermost on, as many as can. Both lists are in normal form, and
// those of the other side give back the ones that stay.
struct Regrouped {
  RunDims kept, made;
  std::string why;  // not all stay: what keeps the first that does not
};
// `other`: the dims of the other side, whose lists do not matter.
Regrouped regroup(const RunDims& dims, RunDims other, const Mesh& mesh);

// Whether it says all of a run: of a single dim on both sides lists are the same, and where extents behind the first
// ones are not known, pieces of whole steps are (reshape_factors).
bool regroups(const Reshape& op, const ReshapeRun& run);

// Of a tensor of a reshape, the result or its operand, in a layout without some mesh axes.
Regrouped regroup(const Reshape& op, const ReshapeRun& run, bool of_result, const Layout& layout,
                  const std::set<int>& without);

}  // namespace plait
