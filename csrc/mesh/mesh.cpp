#include "mesh/mesh.h"

#include <set>

#include "base/error.h"
#include "base/suggest.h"

namespace plait {

Mesh::Mesh(std::string name, std::vector<MeshAxis> axes) : name_(std::move(name)), axes_(std::move(axes)) {
  std::set<std::string> seen;
  for (const auto& axis : axes_) {
    std::string where = fmt::format("mesh @{}", name_);
    if (!seen.insert(axis.name).second)
      throw UserError(fmt::format("mesh axis `{}` is named twice", axis.name), where, "give every axis its own name");
    if (axis.symbol.empty() && axis.size < 1)
      throw UserError(fmt::format("mesh axis `{}` has size {}", axis.name, axis.size), where, "sizes are at least 1");
  }
}

int Mesh::find(std::string_view axis) const {
  for (size_t i = 0; i < axes_.size(); ++i)
    if (axes_[i].name == axis) return static_cast<int>(i);
  return -1;
}

int Mesh::index(std::string_view axis) const {
  int found = find(axis);
  if (found >= 0) return found;
  std::vector<std::string> names;
  for (const auto& a : axes_) names.push_back(a.name);
  throw UserError(fmt::format("mesh @{} has no axis `{}`", name_, axis), "", suggestion(axis, names));
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

int64_t DeviceMesh::first_of_team(int64_t rank_of_member, int axis) const {
  std::vector<int64_t> at = coordinates(rank_of_member);
  at[axis] = 0;
  return rank(at);
}

std::vector<int64_t> DeviceMesh::team(int64_t rank_of_member, int axis) const {
  std::vector<int64_t> at = coordinates(rank_of_member), out;
  for (int64_t i = 0; i < sizes_[axis]; ++i) {
    at[axis] = i;
    out.push_back(rank(at));
  }
  return out;
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
                      fmt::format("give one of them, e.g. --set {}=2", axis.symbol));
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
    throw UserError(fmt::format("{} ranks do not fit: the axes make {}", *ranks, fixed), describe(mesh),
                    mesh.axes().empty()
                        ? "run it on 1 rank, or declare a mesh: mesh @m (tp = t), fusion @f on @m"
                        : "ranks must be the product of the mesh axes; a symbol follows: mesh @m (tp = t)");
  std::vector<int64_t> sizes;
  for (const auto& axis : mesh.axes())
    sizes.push_back(axis.symbol.empty() ? axis.size : values.find(axis.symbol)->second);
  return DeviceMesh(std::move(sizes));
}

}  // namespace plait
