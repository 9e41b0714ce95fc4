#include "mesh/mesh.h"

#include <set>

#include "base/error.h"
#include "base/suggest.h"
#include "mesh/remedies.h"

namespace plait {
namespace {

[[noreturn]] void refuse_axis(const std::string& mesh, std::string_view axis, const std::vector<MeshAxis>& axes,
                              const std::vector<MeshGroup>& groups) {
  std::vector<std::string> names;
  for (const auto& a : axes) names.push_back(a.name);
  for (const auto& g : groups) names.push_back(g.name);
  throw UserError(fmt::format("mesh @{} has no axis `{}`", mesh, axis), "", suggestion(axis, names));
}

}  // namespace

Mesh::Mesh(std::string name, std::vector<MeshAxis> axes, std::vector<MeshGroup> groups)
    : name_(std::move(name)), axes_(std::move(axes)), groups_(std::move(groups)) {
  std::set<std::string> seen;
  const std::string where = fmt::format("mesh @{}", name_);
  for (auto& axis : axes_) {
    if (axis.symbol.empty() && axis.size == -1) axis.symbol = axis.name, axis.size = 0;
    if (!seen.insert(axis.name).second)
      throw UserError(fmt::format("mesh axis `{}` is named twice", axis.name), where, "give every axis its own name");
    if (axis.symbol.empty() && axis.size < 1)
      throw UserError(fmt::format("mesh axis `{}` has size {}", axis.name, axis.size), where,
                      "sizes are at least 1, or -1 for what the ranks leave");
    if (axis.bandwidth < 0 || axis.latency < 0 || (axis.bandwidth == 0 && axis.latency > 0))
      throw UserError(
          fmt::format("the link of mesh axis `{}` has {} GB/s and {} us", axis.name, axis.bandwidth, axis.latency),
          where, "a bandwidth is at least 1, a latency at least 0");
    if ((axis.bandwidth > 0) != (axes_[0].bandwidth > 0))
      throw UserError(fmt::format("mesh axis `{}` says {} of its link, others {}", axis.name,
                                  axis.bandwidth > 0 ? "something" : "nothing", axis.bandwidth > 0 ? "do not" : "do"),
                      where, "give each axis a bandwidth and a latency, or none");
  }
  for (const MeshGroup& group : groups_) {
    if (!seen.insert(group.name).second)
      throw UserError(fmt::format("`{}` is the name of an axis or group already", group.name), where,
                      "give every group a name of its own");
    const std::string of = fmt::format("{}, group `{}`", where, group.name);
    if (group.axes.empty()) throw UserError("a group of no axes", of, "name them: dp = [dp_replicate, dp_shard]");
    std::set<std::string> once;
    for (const std::string& axis : group.axes) {
      if (find(axis) < 0) refuse_axis(name_, axis, axes_, {});  // groups have axes alone
      if (!once.insert(axis).second)
        throw UserError(fmt::format("mesh axis `{}` is named twice", axis), of, "name it once");
    }
  }
}

Team Mesh::team(std::string_view name) const {
  Team out;
  for (const MeshGroup& group : groups_)
    if (group.name == name)
      for (const std::string& axis : group.axes) out.axes.push_back(index(axis));
  if (out.axes.empty()) out.axes.push_back(index(name));
  return out;
}

int Mesh::find(std::string_view axis) const {
  for (size_t i = 0; i < axes_.size(); ++i)
    if (axes_[i].name == axis) return static_cast<int>(i);
  return -1;
}

int Mesh::index(std::string_view axis) const {
  const int found = find(axis);
  if (found < 0) refuse_axis(name_, axis, axes_, groups_);
  return found;
}

DeviceMesh::DeviceMesh(std::vector<int64_t> sizes) : sizes_(std::move(sizes)) {
  for (int64_t s : sizes_) PLAIT_CHECK(s >= 1, "mesh axis of size {}", s);
}

int64_t DeviceMesh::ranks() const {
  int64_t product = 1;
  for (int64_t s : sizes_) product *= s;
  return product;
}

std::vector<int64_t> DeviceMesh::coordinates(int64_t rank) const {
  std::vector<int64_t> out(sizes_.size());
  for (size_t i = sizes_.size(); i-- > 0;) {
    out[i] = rank % sizes_[i];
    rank /= sizes_[i];
  }
  return out;
}

int64_t DeviceMesh::rank(const std::vector<int64_t>& coordinates) const {
  PLAIT_CHECK(coordinates.size() == sizes_.size(), "{} coordinates on {} axes", coordinates.size(), sizes_.size());
  int64_t out = 0;
  for (size_t i = 0; i < sizes_.size(); ++i) out = out * sizes_[i] + coordinates[i];
  return out;
}

int64_t DeviceMesh::first_of_team(int64_t rank_of_member, const Team& team) const {
  std::vector<int64_t> at = coordinates(rank_of_member);
  for (int axis : team.axes) at[axis] = 0;
  return rank(at);
}

std::vector<int64_t> DeviceMesh::team(int64_t rank_of_member, const Team& team) const {
  const int64_t count = members(team);
  std::vector<int64_t> at = coordinates(rank_of_member), out;
  for (int axis : team.axes) at[axis] = 0;
  while (std::ssize(out) < count) {
    out.push_back(rank(at));
    for (size_t i = team.axes.size(); i-- > 0;) {
      int64_t& position = at[team.axes[i]];
      if (++position < sizes_[team.axes[i]]) break;
      position = 0;
    }
  }
  return out;
}

int64_t DeviceMesh::members(const Team& team) const {
  int64_t out = 1;
  for (int axis : team.axes) out *= sizes_[axis];
  return out;
}

int64_t DeviceMesh::position(int64_t rank, const Team& team) const {
  const std::vector<int64_t> at = coordinates(rank);
  int64_t out = 0;
  for (int axis : team.axes) out = out * sizes_[axis] + at[axis];
  return out;
}

std::string print(const Team& team, const Mesh& mesh) {
  std::string out;
  for (int axis : team.axes) {
    const bool known = axis >= 0 && static_cast<size_t>(axis) < mesh.axes().size();
    if (!out.empty()) out += ", ";
    out += known ? mesh.axes()[static_cast<size_t>(axis)].name : fmt::format("?{}", axis);
  }
  return team.axes.size() == 1 ? out : fmt::format("[{}]", out);
}

void check_team(const Team& team, const Mesh& mesh) {
  if (team.axes.empty()) throw UserError("a team of no mesh axis", "", "name one: team = tp");
  for (size_t i = 0; i < team.axes.size(); ++i)
    if (std::find(team.axes.begin(), team.axes.begin() + static_cast<ptrdiff_t>(i), team.axes[i]) !=
        team.axes.begin() + static_cast<ptrdiff_t>(i))
      throw UserError(fmt::format("mesh axis `{}` is named twice", mesh.axes()[static_cast<size_t>(team.axes[i])].name),
                      "", "name it once");
}

namespace {

constexpr int64_t kMostRanks = int64_t{1} << 20;

// Product that stops growing at one above the most ranks.
int64_t bounded_product(int64_t a, int64_t b) { return b > kMostRanks / a ? kMostRanks + 1 : a * b; }

std::string describe(const Mesh& mesh) {
  std::string out;
  for (const auto& a : mesh.axes())
    out +=
        fmt::format("{}{} = {}", out.empty() ? "" : ", ", a.name, a.symbol.empty() ? std::to_string(a.size) : a.symbol);
  return mesh.axes().empty() ? "a fusion without a mesh" : fmt::format("mesh @{} ({})", mesh.name(), out);
}

}  // namespace

DeviceMesh resolve(const Mesh& mesh, const std::map<std::string, int64_t, std::less<>>& bindings,
                   std::optional<int64_t> ranks) {
  std::map<std::string, int64_t, std::less<>> values = bindings;
  if (ranks && (*ranks < 1 || *ranks > kMostRanks))
    throw UserError(fmt::format("{} ranks", *ranks), describe(mesh), fmt::format("ranks are 1 to {}", kMostRanks));
  std::string free_symbol;
  int64_t fixed = 1, power = 0;
  for (const auto& axis : mesh.axes()) {
    if (axis.symbol.empty()) {
      fixed = bounded_product(fixed, axis.size);
    } else if (auto it = values.find(axis.symbol); it != values.end()) {
      if (it->second < 1)
        throw UserError(fmt::format("mesh axis `{}` has size {}", axis.name, it->second), describe(mesh),
                        "sizes are at least 1");
      fixed = bounded_product(fixed, it->second);
    } else if (free_symbol.empty() || free_symbol == axis.symbol) {
      free_symbol = axis.symbol;
      ++power;
    } else if (ranks) {
      throw UserError(fmt::format("symbols `{}` and `{}` are both free", free_symbol, axis.symbol), describe(mesh),
                      fmt::format("give one of them among the sizes, e.g. {} = 2", axis.symbol));
    } else {
      values[axis.symbol] = 1;
    }
  }
  const int64_t others = fixed;
  if (!free_symbol.empty()) {
    int64_t value = 1;
    auto product = [&](int64_t v) {
      int64_t p = fixed;
      for (int64_t i = 0; i < power; ++i) p = bounded_product(p, v);
      return p;
    };
    if (ranks)
      while (product(value) < *ranks) ++value;
    values[free_symbol] = value;
    fixed = product(value);
  }
  if (fixed > kMostRanks)
    throw UserError("the mesh has too many ranks", describe(mesh), fmt::format("ranks are 1 to {}", kMostRanks));
  if (ranks && fixed != *ranks && !free_symbol.empty())
    throw UserError(fmt::format("{} ranks do not fit: no size of `{}` makes them", *ranks, free_symbol), describe(mesh),
                    fmt::format("the other axes make {}: ranks are that times {}", others,
                                power == 1 ? "a size" : fmt::format("a size to the power {}", power)));
  if (ranks && fixed != *ranks)
    throw UserError(
        fmt::format("{} ranks do not fit: the axes make {}", *ranks, fixed), describe(mesh),
        mesh.axes().empty()
            ? fmt::format("run it on 1 rank, or {}", kDeclareMesh)
            : "ranks must be the product of the mesh axes; of an axis with a name in place of a size, as in "
              "(tp = t), they tell the size");
  std::vector<int64_t> sizes;
  for (const auto& axis : mesh.axes())
    sizes.push_back(axis.symbol.empty() ? axis.size : values.find(axis.symbol)->second);
  return DeviceMesh(std::move(sizes));
}

}  // namespace plait
