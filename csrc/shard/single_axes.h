#pragma once
// Mesh axes of one rank, as training jobs have them (`dp_replicate = 1`): they cut nothing.
#include <functional>

#include "ir/fusion.h"

namespace plait {

// The layout without pieces and pending reductions of the axes that are dropped, normalized.
Layout without_axes(Layout layout, const std::function<bool(int axis)>& dropped);

// Whether the mesh has an axis that is known to have one rank, beside others that have more.
bool has_single_axes(const Mesh& mesh);

// Takes such axes out of all layouts, so that nothing is gathered, merged or left pending over them, and lists of
// pieces begin with an axis that cuts. A reshard between layouts with such axes loses the step that it carries. On one
// rank in all layouts stay as they are.
void drop_single_axes(Fusion& fusion);

}  // namespace plait
