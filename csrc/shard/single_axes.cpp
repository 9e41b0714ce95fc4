#include "shard/single_axes.h"

#include <algorithm>

namespace plait {

namespace {

bool is_single(const MeshAxis& axis) { return axis.symbol.empty() && axis.size == 1; }

}  // namespace

Layout without_axes(Layout layout, const std::function<bool(int axis)>& dropped) {
  for (DimLayout& dim : layout.dims)
    std::erase_if(dim.pieces, [&](const Piece& p) { return !p.is_local() && dropped(p.mesh_axis); });
  std::erase_if(layout.partial, [&](const auto& p) { return dropped(p.first); });
  layout.normalize();
  return layout;
}

bool has_single_axes(const Mesh& mesh) {
  return std::ranges::any_of(mesh.axes(), is_single) && !std::ranges::all_of(mesh.axes(), is_single);
}

void drop_single_axes(Fusion& fusion) {
  if (!has_single_axes(fusion.mesh())) return;
  const auto single = [&](int axis) { return is_single(fusion.mesh().axes()[static_cast<size_t>(axis)]); };
  const auto has_some = [&](const TensorView& t) {
    const auto changes = [&](const Layout& layout) { return without_axes(layout, single) != layout; };
    return changes(t.layout) || (t.stored && changes(*t.stored));
  };
  for (Op* op : fusion.ops())
    if (auto* reshard = as<Reshard>(*op); reshard && (has_some(*reshard->in) || has_some(*reshard->out())))
      reshard->step.reset(), reshard->team = {};
  for (TensorView* t : fusion.tensors()) {
    t->layout = without_axes(t->layout, single);
    if (t->stored) t->stored = without_axes(*t->stored, single);
  }
}

}  // namespace plait
