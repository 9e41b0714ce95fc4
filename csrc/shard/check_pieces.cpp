#include "shard/check_pieces.h"

#include <algorithm>
#include <optional>
#include <set>

#include "base/error.h"

namespace plait {

namespace {

void check_dim(const TensorView& t, const DimLayout& dim, size_t d, int64_t extent, const DeviceMesh& mesh) {
  std::set<int64_t> left = {extent};  // on some rank
  for (const Piece& p : dim.pieces) {
    std::set<int64_t> next;
    for (int64_t n : left) {
      if (p.is_local()) {
        if (n % p.local != 0)
          throw UserError(fmt::format("a piece of {} elements does not split into {} equal parts", n, p.local),
                          fmt::format("%{}: {} dim {} {}", t.name, type_text(t), d, print(t.layout, t.fusion->mesh())),
                          "choose an extent that divides, or another layout");
        next.insert(n / p.local);
        continue;
      }
      int64_t parts = mesh.size(p.mesh_axis), granules = n / p.granule + (n % p.granule != 0);
      int64_t size = (granules + parts - 1) / parts * p.granule;
      for (int64_t r = 0, start = 0; r < parts; ++r, start = std::min(n, start + size))
        next.insert(std::min(size, n - start));
    }
    left = std::move(next);
  }
}

// `known` gives the value of an extent, or nothing where it is not known yet.
template <class Known>
void check_pieces(const Fusion& fusion, const DeviceMesh& mesh, Known&& known) {
  for (const TensorView* t : fusion.tensors())
    for (const Layout* layout : {&t->layout, t->stored ? &*t->stored : nullptr})
      for (size_t d = 0; layout && d < t->rank(); ++d) {
        const auto& pieces = layout->dims[d].pieces;
        if (std::none_of(pieces.begin(), pieces.end(), [](const Piece& p) { return p.is_local(); })) continue;
        if (std::optional<int64_t> extent = known(t->extent(d))) check_dim(*t, layout->dims[d], d, *extent, mesh);
      }
}

sym::Environment mesh_environment(const Fusion& fusion, const DeviceMesh& mesh, sym::Environment sizes) {
  for (size_t i = 0; i < mesh.sizes().size(); ++i)
    if (const auto& symbol = fusion.mesh().axes()[i].symbol; !symbol.empty()) sizes[symbol] = mesh.sizes()[i];
  return sizes;
}

}  // namespace

Mesh mesh_of_sizes(const Mesh& mesh, const DeviceMesh& sizes) {
  PLAIT_CHECK(mesh.axes().size() == sizes.sizes().size(), "mesh @{} has {} axes, the device mesh {}", mesh.name(),
              mesh.axes().size(), sizes.sizes().size());
  if (mesh.axes().empty()) return {};
  std::vector<MeshAxis> axes = mesh.axes();
  for (size_t i = 0; i < axes.size(); ++i) axes[i].size = sizes.sizes()[i], axes[i].symbol.clear();
  return {mesh.name(), std::move(axes), mesh.groups()};
}

void check_known_pieces(const Fusion& sharded, const DeviceMesh& mesh) {
  sym::Environment sizes = mesh_environment(sharded, mesh, {});
  check_pieces(sharded, mesh, [&](sym::Expr e) -> std::optional<int64_t> {
    for (const auto& symbol : sym::symbols(e))
      if (!sizes.count(symbol)) return std::nullopt;
    return sym::evaluate(e, sizes);
  });
}

void check_local_pieces(const Fusion& sharded, const DeviceMesh& mesh, const sym::Environment& sizes) {
  sym::Environment all = mesh_environment(sharded, mesh, sizes);
  check_pieces(sharded, mesh, [&](sym::Expr e) -> std::optional<int64_t> { return sym::evaluate(e, all); });
}

}  // namespace plait
