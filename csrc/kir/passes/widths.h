#pragma once
// How many lanes each value has when loops of kind lanes are gone, and which statements have no vector form.
#include <unordered_map>

#include "kir/passes/edit.h"

namespace plait::kir {

struct LaneLoop {
  const For* loop = nullptr;
  sym::Expr var;
  int width = 1;
};

// A condition as `scalar`, which is the same for all lanes, and lane < limit (null: in all lanes).
struct Limits {
  sym::Expr scalar, limit;
};
// Nothing where the condition cuts lanes in another way.
std::optional<Limits> limits_of(sym::Expr condition, const LaneLoop& lanes);

// The lanes of values, found by going over the kernel until nothing changes. Within a lanes loop of W iterations a
// value has W lanes if it depends on the lane; a state that is started around it and accumulated or merged within has
// W lanes from its start on, and so has what merges it or computes with it outside of a lanes loop, up to a fold.
class Widths {
 public:
  explicit Widths(const Kernel& kernel);

  int of(uint32_t id) const;
  int most() const { return most_; }  // of any lanes loop
  // Whether the value is defined in the lanes loop.
  bool inside(uint32_t id, const LaneLoop& lanes) const;
  const Start& start_of(uint32_t id) const { return *starts_.at(id); }
  // Whether the lanes loop combines into the state, which is started around it.
  bool combines(uint32_t id, const LaneLoop& lanes) const { return combined_.contains({id, lanes.loop}); }
  // A copy of a value is as wide, and stands in the same loop.
  void copied(uint32_t from, uint32_t to);
  size_t uses(uint32_t id) const;  // in the whole kernel
  const Literal* literal(uint32_t id) const;
  // The end of the statements from the i-th on that run lane by lane as one; i where the i-th has a vector form.
  size_t outlined(const Block& block, size_t i, const LaneLoop& lanes) const;
  bool depends(sym::Expr e, const LaneLoop& lanes) const;

 private:
  void collect(const Block& block, const For* lanes);
  void scan(const Block& block, const LaneLoop* lanes, int depth);
  void scan(const Stmt& stmt, const LaneLoop* lanes, int depth);
  void scan_outer(const Stmt& stmt);
  void scan_lanes(const Stmt& stmt, const LaneLoop& lanes, int depth);
  void widen(const Value& v, int lanes);
  int widest(const std::vector<Value>& values) const;

  const Kernel& kernel_;
  bool changed_ = false;
  int most_ = 1;
  std::unordered_map<uint32_t, int> lanes_, depth_;  // depth: conditions on lanes around a definition
  std::unordered_map<uint32_t, const For*> owner_;
  std::unordered_map<uint32_t, const Start*> starts_;
  std::unordered_map<uint32_t, const Literal*> literals_;
  std::unordered_map<uint32_t, size_t> uses_;
  std::set<std::pair<uint32_t, const For*>> combined_;  // never iterated
  std::unordered_map<const Bind*, size_t> reach_;       // statements from a Bind to the last that speaks of its symbol
  mutable std::map<std::pair<const sym::Node*, const sym::Node*>, bool> depends_;  // never iterated
};

}  // namespace plait::kir
