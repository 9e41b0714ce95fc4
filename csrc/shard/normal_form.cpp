#include "shard/normal_form.h"

#include <fmt/core.h>

#include <algorithm>
#include <numeric>

#include "ir/fusion.h"

namespace plait {

namespace {

constexpr int64_t kMostExtent = kMaxGranule;  // larger ones are taken as not known: products of them would not fit

bool has_granules(const std::vector<Piece>& pieces) {
  return std::ranges::any_of(pieces, [](const Piece& p) { return !p.is_local() && p.granule != 1; });
}

// The divisors, ascending.
std::vector<int64_t> divisors(int64_t n) {
  std::vector<int64_t> low, high;
  for (int64_t d = 1; d * d <= n; ++d) {
    if (n % d != 0) continue;
    low.push_back(d);
    if (d != n / d) high.push_back(n / d);
  }
  low.insert(low.end(), high.rbegin(), high.rend());
  return low;
}

}  // namespace

std::optional<int64_t> known_members(const Mesh& mesh, int axis) {
  const auto at = static_cast<size_t>(axis);
  if (axis < 0 || at >= mesh.axes().size()) return std::nullopt;
  const MeshAxis& along = mesh.axes()[at];
  return along.symbol.empty() && along.size > 0 ? std::optional(along.size) : std::nullopt;
}

int64_t chunk_size(int64_t extent, int64_t members, int64_t granule) {
  const auto ceil = [](int64_t a, int64_t b) { return a / b + (a % b != 0); };
  const int64_t granules = ceil(ceil(extent, granule), members);
  return granules > extent / granule ? extent : granules * granule;
}

std::optional<int64_t> least_granule(const std::map<int64_t, int64_t>& chunks, int64_t members) {
  if (members == 1) return 1;
  int64_t least = 1, common = 0;
  for (const auto& [extent, chunk] : chunks)
    chunk >= extent ? void(least = std::max(least, extent)) : void(common = std::gcd(common, chunk));
  const auto cuts = [&](int64_t granule) {
    return std::ranges::all_of(chunks,
                               [&](const auto& c) { return chunk_size(c.first, members, granule) == c.second; });
  };
  const std::vector<int64_t> all = common == 0 ? std::vector{least} : divisors(common);
  for (int64_t d : all)
    if (d >= least && cuts(d)) return d;
  return std::nullopt;
}

Extents extents_behind(const Extents& left, const Piece& piece, const Mesh& mesh) {
  const auto members = piece.is_local() ? std::nullopt : known_members(mesh, piece.mesh_axis);
  if (!left || (!piece.is_local() && !members)) return std::nullopt;
  std::set<int64_t> out;
  for (int64_t n : *left) {
    if (piece.is_local()) {
      if (n % piece.local != 0) return std::nullopt;
      out.insert(n / piece.local);
      continue;
    }
    const int64_t chunk = chunk_size(n, *members, piece.granule);
    if (n == 0) {
      out.insert(0);
      continue;
    }
    const int64_t full = n / chunk, last = n % chunk;
    out.insert(chunk);
    if (last != 0 && full < *members) out.insert(last);
    if (full + (last != 0) < *members) out.insert(0);
  }
  return out;
}

std::vector<Piece> normal_pieces(std::optional<int64_t> extent, std::vector<Piece> pieces, const Mesh& mesh) {
  DimLayout dim{std::move(pieces)};
  dim.normalize();
  if (!extent || *extent < 1 || *extent > kMostExtent || !has_granules(dim.pieces)) return dim.pieces;
  Extents left = std::set<int64_t>{*extent};
  for (Piece& p : dim.pieces) {
    const auto members = p.is_local() ? std::nullopt : known_members(mesh, p.mesh_axis);
    if (members && p.granule != 1) {
      std::map<int64_t, int64_t> chunks;
      for (int64_t n : *left)
        if (n > 0) chunks.emplace(n, chunk_size(n, *members, p.granule));
      p.granule = least_granule(chunks, *members).value_or(p.granule);
    }
    left = extents_behind(left, p, mesh);
    if (!left) break;
  }
  return dim.pieces;
}

Layout normal_layout(const TensorView& tensor, Layout layout) {
  for (size_t d = 0; d < layout.dims.size(); ++d) {
    const auto extent = d < tensor.rank() ? tensor.extent(d).constant() : std::nullopt;
    layout.dims[d].pieces = normal_pieces(extent, std::move(layout.dims[d].pieces), tensor.fusion->mesh());
  }
  return layout;
}

void put_in_normal_form(TensorView& tensor) {
  tensor.reason.clear();
  for (Layout* layout : {&tensor.layout, tensor.stored ? &*tensor.stored : nullptr}) {
    if (layout == nullptr) continue;
    Layout normal = normal_layout(tensor, *layout);
    if (normal != *layout)
      tensor.reason = fmt::format("annotated as {}, which cuts alike", print(*layout, tensor.fusion->mesh()));
    *layout = std::move(normal);
  }
}

}  // namespace plait
