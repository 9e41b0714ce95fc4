#include "shard/single_axes.h"

#include <algorithm>

namespace plait {

namespace {

bool is_single(const MeshAxis& axis) { return axis.symbol.empty() && axis.size == 1; }

void drop(Layout& layout, const Mesh& mesh) {
  const auto single = [&](int axis) { return is_single(mesh.axes()[static_cast<size_t>(axis)]); };
  for (DimLayout& dim : layout.dims)
    std::erase_if(dim.pieces, [&](const Piece& p) { return !p.is_local() && single(p.mesh_axis); });
  std::erase_if(layout.partial, [&](const auto& p) { return single(p.first); });
  layout.normalize();
}

}  // namespace

bool has_single_axes(const Mesh& mesh) {
  return std::ranges::any_of(mesh.axes(), is_single) && !std::ranges::all_of(mesh.axes(), is_single);
}

void drop_single_axes(Fusion& fusion) {
  if (!has_single_axes(fusion.mesh())) return;
  for (TensorView* t : fusion.tensors()) {
    drop(t->layout, fusion.mesh());
    if (t->stored) drop(*t->stored, fusion.mesh());
  }
}

}  // namespace plait
