#pragma once
// A walk: what follows from knowing some classes. Seeds are classes with an expression (loop variables); every class
// reached has a cheapest derivation and, from it, an expression.
#include <map>
#include <set>
#include <vector>

#include "axes/axis_graph.h"

namespace plait {

class Walk {
 public:
  explicit Walk(const AxisGraph& graph) : graph_(graph) {}

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
  const AxisGraph& graph() const { return graph_; }

 private:
  void collect(int cls, std::set<int>& seen, std::set<int>& seeds, std::set<int>& lossy) const;

  const AxisGraph& graph_;
  std::map<int, sym::Expr> seeds_;
  std::map<int, Step> steps_;
  mutable std::map<int, sym::Expr> values_;
};

}  // namespace plait
