#include "ir/layout.h"

#include "base/error.h"

namespace plait {

std::string_view name(ReduceOp op) {
  constexpr std::string_view kNames[] = {"sum", "max", "min", "prod", "logsumexp"};
  return kNames[static_cast<size_t>(op)];
}

bool may_be_pending(ReduceOp op, DType dtype) {
  return op == ReduceOp::logsumexp ? is_float(dtype) : dtype != DType::boolean;
}

bool Layout::is_replicated() const {
  for (const auto& d : dims)
    for (const auto& p : d.pieces)
      if (!p.is_local()) return false;
  return partial.empty();
}

int Layout::dim_of(int mesh_axis) const {
  for (size_t d = 0; d < dims.size(); ++d)
    for (const auto& p : dims[d].pieces)
      if (p.mesh_axis == mesh_axis) return static_cast<int>(d);
  return -1;
}

bool Layout::uses(int mesh_axis) const { return partial.count(mesh_axis) || dim_of(mesh_axis) >= 0; }

void DimLayout::normalize() {
  while (!pieces.empty() && pieces.back().is_local()) pieces.pop_back();
  std::vector<Piece> kept;
  for (const Piece& p : pieces) {
    if (p.is_local() && p.local == 1) continue;
    if (p.is_local() && !kept.empty() && kept.back().is_local() && p.local <= kMaxGranule / kept.back().local)
      kept.back().local *= p.local;
    else
      kept.push_back(p);
  }
  pieces = std::move(kept);
}

void Layout::normalize() {
  for (DimLayout& dim : dims) dim.normalize();
}

std::string print(const Layout& layout, const Mesh& mesh) {
  std::string out;
  for (size_t d = 0; d < layout.dims.size(); ++d) {
    const auto& pieces = layout.dims[d].pieces;
    if (pieces.empty()) continue;
    std::string list;
    for (const auto& p : pieces) {
      if (!list.empty()) list += ", ";
      list += p.is_local() ? fmt::format("local {}", p.local) : mesh.axes()[p.mesh_axis].name;
      if (p.granule != 1) list += fmt::format(" granule {}", p.granule);
    }
    if (pieces.size() > 1) list = "[" + list + "]";
    out += fmt::format("{}{}: {}", out.empty() ? "" : ", ", d, list);
  }
  out = "{" + out + "}";
  std::string partial;
  for (const auto& [axis, op] : layout.partial)
    partial += fmt::format("{}{}: {}", partial.empty() ? "" : ", ", mesh.axes()[axis].name, name(op));
  return partial.empty() ? out : fmt::format("{} partial({})", out, partial);
}

std::string rank_symbol(const Mesh& mesh, int axis) { return "rank." + mesh.axes()[axis].name; }

sym::Expr local_extent(sym::Expr global, const DimLayout& dim, const Mesh& mesh, const std::vector<sym::Expr>& sizes) {
  sym::Pool& pool = global.pool();
  sym::Expr left = global, kept = pool.constant(1);
  for (const auto& p : dim.pieces) {
    if (p.is_local()) {
      kept = kept * p.local;
      left = sym::floordiv(left, p.local);
    } else {
      const sym::Expr size = sizes[p.mesh_axis];
      sym::SymbolInfo info{.lo = 0};
      if (const auto number = size.constant())
        info.hi = *number - 1;
      else
        info.below = size;
      left = sym::chunk(left, size, pool.symbol(rank_symbol(mesh, p.mesh_axis), info), p.granule);
    }
  }
  return kept * left;
}

std::vector<int64_t> owned_indices(int64_t global, const DimLayout& dim, const DeviceMesh& mesh,
                                   const std::vector<int64_t>& coordinates, const std::string& where) {
  std::vector<int64_t> starts = {0};  // of the runs of `left` elements that the rank holds
  int64_t left = global;
  for (const auto& p : dim.pieces) {
    if (left == 0) return {};
    if (p.is_local()) {
      if (left % p.local != 0)
        throw UserError(fmt::format("a piece of {} elements does not split into {} equal parts", left, p.local), where,
                        "choose an extent that divides, or another layout");
      int64_t part = left / p.local;
      std::vector<int64_t> next;
      for (int64_t start : starts)
        for (int64_t k = 0; k < p.local; ++k) next.push_back(start + k * part);
      starts = std::move(next);
      left = part;
    } else {
      int64_t parts = mesh.size(p.mesh_axis), granules = (left - 1) / p.granule + 1;
      int64_t size = (granules + parts - 1) / parts * p.granule;
      int64_t start = std::min(left, coordinates[p.mesh_axis] * size);
      for (int64_t& s : starts) s += start;
      left = std::min(size, left - start);
    }
  }
  std::vector<int64_t> out;
  for (int64_t start : starts)
    for (int64_t i = 0; i < left; ++i) out.push_back(start + i);
  return out;
}

}  // namespace plait
