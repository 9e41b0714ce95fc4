#include "mesh/collective_cost.h"

#include <fmt/core.h>

namespace plait {

LinkCost link_cost(const Mesh& mesh, int axis) {
  const MeshAxis& along = mesh.axes()[static_cast<size_t>(axis)];
  if (along.bandwidth == 0) return {};
  return {1000.0 * static_cast<double>(along.latency), 1.0 / static_cast<double>(along.bandwidth)};
}

LinkCost slowest(const std::vector<LinkCost>& links, const std::vector<int>& axes) {
  if (links.empty() || axes.empty()) return {};
  LinkCost out = {0, 0};
  for (int axis : axes) {
    const LinkCost& link = links[static_cast<size_t>(axis)];
    out = {std::max(out.latency, link.latency), std::max(out.per_byte, link.per_byte)};
  }
  return out;
}

std::string cost_text(const Mesh& mesh, double cost) {
  return fmt::format("{:.0f} {}", cost, mesh.has_links() ? "ns" : "B");
}

}  // namespace plait
