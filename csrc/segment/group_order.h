#pragma once
// An acyclic graph of groups under merging. Topological positions are maintained as edges come (Pearce and Kelly, "A
// dynamic topological sort algorithm for directed acyclic graphs", 2006), so that a question looks only at the groups
// between two positions.
#include <cstddef>
#include <set>
#include <vector>

namespace plait {

class GroupOrder {
 public:
  // Groups 0 .. count-1, no edges; positions are the numbers.
  explicit GroupOrder(int count);

  // Requires from < to in position order (edges of a graph that is sorted already).
  void add_edge(int from, int to);
  const std::set<int>& successors(int group) const { return out_[static_cast<size_t>(group)]; }
  const std::set<int>& predecessors(int group) const { return in_[static_cast<size_t>(group)]; }
  bool alive(int group) const { return alive_[static_cast<size_t>(group)]; }
  int position(int group) const { return position_[static_cast<size_t>(group)]; }

  // Whether merging the two makes a cycle: a path between them passes through a third group.
  bool path_around(int a, int b) const;
  // Merges b into a (either may come first). Requires no path around.
  void merge(int a, int b);

 private:
  // Groups reached from `start` over groups at positions below `limit`, without the direct edge to `target`.
  bool reaches(int start, int target, int limit) const;
  void reorder(int a);

  std::vector<std::set<int>> in_, out_;
  std::vector<int> position_;
  std::vector<bool> alive_;
};

// Numbers 0 .. next.size()-1 such that each stands in front of those in its `next`, the lowest first where several may
// stand. InternalError where there is a cycle.
std::vector<size_t> topological_order(const std::vector<std::set<size_t>>& next);

}  // namespace plait
