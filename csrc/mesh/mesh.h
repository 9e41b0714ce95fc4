#pragma once
// Named mesh axes, ranks and teams. Ranks are numbered row-major over the axes, the last axis fastest.
#include <algorithm>
#include <compare>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace plait {

// A reference to a mesh axis, or to a group of them, by name, as users write it: `mesh["tp"]`.
struct MeshAxisRef {
  std::string name;
};

// One axis: a number, or a symbol whose value `--set` or `--ranks` gives. Size -1 without a symbol is a symbol of the
// axis's own name.
struct MeshAxis {
  std::string name;
  int64_t size = 0;    // 0: not fixed
  std::string symbol;  // empty where the size is a number
  // Of a rank's link to others along the axis, GB/s and microseconds; 0: not said, on all axes.
  int64_t bandwidth = 0, latency = 0;
  bool operator==(const MeshAxis&) const = default;
};

// A name for several axes at once, in this order, wherever pieces are named.
struct MeshGroup {
  std::string name;
  std::vector<std::string> axes;
  bool operator==(const MeshGroup&) const = default;
};

// Ranks that act together: those that differ only along some mesh axes, numbered row-major over these in the order
// given, the last one fastest. Pieces of a dim that is cut along the same axes in the same order lie one after another.
struct Team {
  std::vector<int> axes;  // indices in the mesh, each once
  // Whether members differ along the axis.
  bool has(int axis) const { return std::ranges::find(axes, axis) != axes.end(); }
  auto operator<=>(const Team&) const = default;
};

// Named axes along which tensors are cut, each of a size that is a number or a symbol; and names for several at once.
class Mesh {
 public:
  Mesh() = default;
  // Throws UserError on duplicate names, sizes below 1, an axis with neither size nor symbol, links of some axes, or a
  // group of no axes, of one that is not there, or of one twice.
  Mesh(std::string name, std::vector<MeshAxis> axes, std::vector<MeshGroup> groups = {});
  const std::string& name() const { return name_; }
  const std::vector<MeshAxis>& axes() const { return axes_; }
  const std::vector<MeshGroup>& groups() const { return groups_; }
  bool has_links() const { return !axes_.empty() && axes_[0].bandwidth > 0; }
  // Index of an axis, or -1.
  int find(std::string_view axis) const;
  // Index of an axis; UserError naming the axes the mesh has, with a suggestion.
  int index(std::string_view axis) const;
  // What a name stands for: an axis, or the axes of a group. UserError as index().
  Team team(std::string_view name) const;
  MeshAxisRef operator[](std::string_view name) const { return team(name), MeshAxisRef{std::string(name)}; }
  bool operator==(const Mesh&) const = default;

 private:
  std::string name_;
  std::vector<MeshAxis> axes_;
  std::vector<MeshGroup> groups_;
};

// A mesh whose sizes are numbers.
class DeviceMesh {
 public:
  DeviceMesh() = default;  // one rank, no axes
  explicit DeviceMesh(std::vector<int64_t> sizes);
  int64_t size(int axis) const { return sizes_[axis]; }  // of an axis of the mesh, by its index
  const std::vector<int64_t>& sizes() const { return sizes_; }
  int64_t ranks() const;
  // Position along every axis of a rank, and back.
  std::vector<int64_t> coordinates(int64_t rank) const;
  int64_t rank(const std::vector<int64_t>& coordinates) const;
  // The team of a rank in order, its first member, how many they are, and which of them the rank is.
  std::vector<int64_t> team(int64_t rank, const Team& team) const;
  int64_t first_of_team(int64_t rank, const Team& team) const;
  int64_t members(const Team& team) const;
  int64_t position(int64_t rank, const Team& team) const;

 private:
  std::vector<int64_t> sizes_;
};

// `tp`, or `[dp, tp]` of several axes; an index that the mesh lacks as `?3`.
std::string print(const Team& team, const Mesh& mesh);
// UserError: no axis, an axis twice.
void check_team(const Team& team, const Mesh& mesh);

// Fixes the sizes of a mesh: `bindings` gives symbols, `ranks` the total, which solves the one symbol left free.
// Without ranks a free symbol is 1. UserError naming the axes when the product differs from `ranks`, does not divide,
// or two symbols are free.
DeviceMesh resolve(const Mesh& mesh, const std::map<std::string, int64_t, std::less<>>& bindings,
                   std::optional<int64_t> ranks);

}  // namespace plait
