#pragma once
// Own recipes: ops whose operands' axes are not their own but related to them. reshape: folds between groups of dims of
// proven equal products; slice of step 1 and pad: a shift per dim; cat: for each operand a shift into the result's
// axis; a scan: its dim as it is. Dims without a relation pair with nothing: flip, roll, stepped slices, a slice to one
// element, repeat.
#include <functional>

#include "axes/axis_graph.h"
#include "ir/op.h"

namespace plait {

// Makes the root axes of one operand and relates them to the op's logical axes; `root`, per operand dim, holds those
// that pair as they are and gets the others. False where the op has no recipe: nothing has changed.
bool apply_recipe(AxisGraph& graph, const Op& op, size_t operand, const std::vector<int>& logical,
                  const std::function<sym::Expr(sym::Expr)>& extent, std::vector<int>& root);

// Dims of a reshape in groups: first and end on both sides. Within a group the elements stay in row-major order; the
// products of a group's extents are equal, of the last group perhaps only by what the op states.
struct DimGroup {
  size_t in, in_end, out, out_end;
  bool proven;
};
std::vector<DimGroup> reshape_groups(const std::vector<sym::Expr>& in, const std::vector<sym::Expr>& out);

}  // namespace plait
