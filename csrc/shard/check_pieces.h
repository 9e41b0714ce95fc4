#pragma once
// The mesh of a run: its sizes as numbers, and whether local pieces of layouts divide what they split under them.
#include "ir/fusion.h"

namespace plait {

// The mesh with these sizes instead of symbols.
Mesh mesh_of_sizes(const Mesh& mesh, const DeviceMesh& sizes);

// Of extents that follow from the sizes of mesh axes alone.
void check_known_pieces(const Fusion& sharded, const DeviceMesh& mesh);

// At bind time, of all extents: UserError naming tensor and dim where a local piece of some rank does not divide what
// it splits. `sizes` gives the symbols of the extents; mesh symbols come from the mesh.
void check_local_pieces(const Fusion& sharded, const DeviceMesh& mesh, const sym::Environment& sizes);

}  // namespace plait
