#pragma once
// Named mesh axes, ranks and teams. Ranks are numbered row-major over the axes, the last axis fastest.
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace plait {

// A reference to a mesh axis by name, as users write it: `mesh["tp"]`.
struct MeshAxisRef {
  std::string name;
};

// One axis: a number, or a symbol whose value `--set` or `--ranks` gives.
struct MeshAxis {
  std::string name;
  int64_t size = 0;    // 0: not fixed
  std::string symbol;  // empty where the size is a number
  bool operator==(const MeshAxis&) const = default;
};

class Mesh {
 public:
  Mesh() = default;
  // Throws UserError on duplicate names, sizes below 1, or an axis with neither size nor symbol.
  Mesh(std::string name, std::vector<MeshAxis> axes);
  const std::string& name() const { return name_; }
  const std::vector<MeshAxis>& axes() const { return axes_; }
  // Index of an axis, or -1.
  int find(std::string_view axis) const;
  // Index of an axis; UserError naming the axes the mesh has, with a suggestion.
  int index(std::string_view axis) const;
  MeshAxisRef operator[](std::string_view axis) const { return {axes_[index(axis)].name}; }
  bool operator==(const Mesh&) const = default;

 private:
  std::string name_;
  std::vector<MeshAxis> axes_;
};

// A mesh whose sizes are numbers.
class DeviceMesh {
 public:
  DeviceMesh() = default;  // one rank, no axes
  explicit DeviceMesh(std::vector<int64_t> sizes);
  int64_t size(int axis) const { return sizes_[axis]; }
  const std::vector<int64_t>& sizes() const { return sizes_; }
  int64_t ranks() const;
  // Position along every axis of a rank, and back.
  std::vector<int64_t> coordinates(int64_t rank) const;
  int64_t rank(const std::vector<int64_t>& coordinates) const;
  // Ranks that differ from `rank` only along the axis, in order of their position on it; the first of them.
  std::vector<int64_t> team(int64_t rank, int axis) const;
  int64_t first_of_team(int64_t rank, int axis) const;

 private:
  std::vector<int64_t> sizes_;
};

// Fixes the sizes of a mesh: `bindings` gives symbols, `ranks` the total, which solves the one symbol left free.
// Without ranks a free symbol is 1. UserError naming the axes when the product differs from `ranks`, does not divide,
// or two symbols are free.
DeviceMesh resolve(const Mesh& mesh, const std::map<std::string, int64_t, std::less<>>& bindings,
                   std::optional<int64_t> ranks);

}  // namespace plait
