#pragma once
// A walk: what follows from knowing some classes. Seeds are classes with an expression (loop variables); every class
// reached has a cheapest derivation and, from it, an expression.
#include <map>
#include <queue>
#include <set>
#include <span>
#include <tuple>
#include <vector>

#include "axes/axis_graph.h"

namespace plait {

class Walk {
 public:
  // `fixed`: a class that does not follow is 0 and rests on nothing, instead of a mistake; only for tests of the rules.
  explicit Walk(const AxisGraph& graph, bool fixed = false) : graph_(graph), fixed_(fixed) {}

  // Before run(). The expression may be null where only reachability is asked for.
  void seed(int cls, sym::Expr value = {});
  // Derives all that follows; with `total_only` by steps that stay inside their target.
  void run(bool total_only = false);

  bool knows(int cls) const;           // units always
  sym::Expr value(int cls) const;      // of a known class; units are 0
  std::set<int> seeds(int cls) const;  // seed classes the value rests on
  std::set<int> lossy(int cls) const;  // classes on the way that need `0 <= x < extent`

  struct Step {
    int relation = -1;  // -1: a seed
    Direction direction = Direction::up;
    int64_t cost = 0;
  };
  const Step* step(int cls) const;  // of a class that is known and no unit, else null

  // What the values of some known classes rest on: the classes on the way, seeds among them, those that need a
  // predicate, and those that a step reached which does not cover them.
  struct Use {
    std::set<int> classes, seeds, lossy, shrunk;
  };
  Use use(std::span<const int> classes) const;
  const AxisGraph& graph() const { return graph_; }

 private:
  using Item = std::tuple<int64_t, int, int, Direction>;  // cost, class, relation, direction
  int64_t cost_of(int cls) const;
  void reach(const Relation& r, int id, int cls, int64_t cost);
  void offer(const Relation& r, int id, int target, Direction d, int64_t from);
  void collect(int cls, Use& use) const;

  const AxisGraph& graph_;
  const bool fixed_;
  bool total_only_ = false;
  std::map<int, sym::Expr> seeds_;
  std::map<int, Step> steps_;
  std::priority_queue<Item, std::vector<Item>, std::greater<>> queue_;
  mutable std::map<int, sym::Expr> values_;
};

}  // namespace plait
