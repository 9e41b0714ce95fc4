#pragma once
// What a collective costs a member of its team, for choices between plans.
#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

#include "mesh/collective.h"
#include "mesh/mesh.h"

namespace plait {

// What a collective costs before a byte moves, in bytes, where the mesh says nothing of links, and what it moves at
// least: fewer are not faster.
inline constexpr double kCollectiveLatencyBytes = 16384, kLeastPayloadBytes = 1024;

// Of a link: what a collective costs before a byte moves, and each byte. Nanoseconds where the mesh says what its links
// do, else bytes.
struct LinkCost {
  double latency = kCollectiveLatencyBytes, per_byte = 1;
  bool operator==(const LinkCost&) const = default;
};
// Of an axis, and of a team: of its slowest axis.
LinkCost link_cost(const Mesh& mesh, int axis);
LinkCost slowest(const std::vector<LinkCost>& links, const std::vector<int>& axes);
LinkCost link_cost(const Mesh& mesh, const std::vector<int>& team);
// "3162112 B", "4200 ns".
std::string cost_text(const Mesh& mesh, double cost);

// What a byte that is read or written in a rank's own memory costs, in bytes that it takes from others.
inline constexpr double kOwnByteCost = 1.0 / 16;

// Bytes of a tensor at most that is worth joining with another one for one collective: both are read and written before
// it, and behind it, for one latency.
inline constexpr auto kMostJoinedBytes = static_cast<int64_t>(kCollectiveLatencyBytes / (2 * 4 * kOwnByteCost));

// The same by a team along these axes of a mesh that says what its links do: a byte in own memory costs a part of what
// one does over the fastest link.
int64_t most_joined_bytes(const Mesh& mesh, const std::vector<int>& axes);

// What each member of a team takes from the others, with the latency; `bytes` are of the whole tensor that the team
// shares, all of what a member holds before an all_reduce or reduce_scatter.
constexpr double collective_cost(Collective collective, int64_t members, double bytes, const LinkCost& link = {}) {
  if (members < 2) return 0;
  const CollectiveInfo what = info(collective);
  const auto n = static_cast<double>(members);
  const double share = what.exchanges() ? bytes / n : bytes;  // what one member holds moves
  return link.latency +
         link.per_byte * std::max(kLeastPayloadBytes, static_cast<double>(what.gathers) * share * (n - 1) / n);
}

}  // namespace plait
