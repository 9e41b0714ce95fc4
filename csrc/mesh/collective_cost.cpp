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

LinkCost link_cost(const Mesh& mesh, const std::vector<int>& team) {
  std::vector<LinkCost> links;
  for (int a = 0; mesh.has_links() && a < std::ssize(mesh.axes()); ++a) links.push_back(link_cost(mesh, a));
  return slowest(links, team);
}

int64_t most_joined_bytes(const Mesh& mesh, const std::vector<int>& axes) {
  if (!mesh.has_links()) return kMostJoinedBytes;
  constexpr double kMost = int64_t{1} << 40;
  double fastest = 1;
  for (int a = 0; a < std::ssize(mesh.axes()); ++a) fastest = std::min(fastest, link_cost(mesh, a).per_byte);
  return static_cast<int64_t>(std::min(kMost, link_cost(mesh, axes).latency / (2 * 4 * kOwnByteCost * fastest)));
}

std::string cost_text(const Mesh& mesh, double cost) {
  return fmt::format("{:.0f} {}", cost, mesh.has_links() ? "ns" : "B");
}

}  // namespace plait
