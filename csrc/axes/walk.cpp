#include "axes/walk.h"

#include <queue>
#include <tuple>

#include "base/error.h"

namespace plait {

namespace {

// Cheapest derivation first: fold up 1, fold or cover down 3 (a division), cover up 4 (a predicate). A step that loses
// elements is worse than any that needs a predicate.
int64_t step_cost(RelationKind kind, Direction d) {
  const int64_t base = d == Direction::down ? 3 : kind == RelationKind::fold ? 1 : 4;
  return base + (covers(kind, d) ? 0 : 1000);
}

}  // namespace

void Walk::seed(int cls, sym::Expr value) {
  cls = graph_.find(cls);
  if (!graph_.unit(cls)) seeds_.try_emplace(cls, value);
}

void Walk::run(bool total_only) {
  using Item = std::tuple<int64_t, int, int, Direction>;  // cost, class, relation, direction
  std::priority_queue<Item, std::vector<Item>, std::greater<>> queue;
  for (const auto& [cls, value] : seeds_) queue.emplace(0, cls, -1, Direction::up);
  const auto cost_of = [&](int cls) -> int64_t {
    if (graph_.unit(cls)) return 0;
    const auto it = steps_.find(cls);
    return it == steps_.end() ? -1 : it->second.cost;
  };
  while (!queue.empty()) {
    const auto [cost, cls, relation, direction] = queue.top();
    queue.pop();
    if (!steps_.try_emplace(cls, Step{relation, direction, cost}).second) continue;
    for (int id : graph_.uses(cls)) {
      const Relation& r = graph_.relation(id);
      if (r.dead) continue;
      const auto reach = [&](int target, Direction d, int64_t from) {
        target = graph_.find(target);
        if (graph_.unit(target) || steps_.contains(target) || (total_only && !total(r.kind, d))) return;
        queue.emplace(from + step_cost(r.kind, d), target, id, d);
      };
      if (graph_.find(r.whole) == cls) {
        reach(r.outer, Direction::down, cost);
        reach(r.inner, Direction::down, cost);
      }
      const int64_t outer = cost_of(graph_.find(r.outer)), inner = cost_of(graph_.find(r.inner));
      if (outer >= 0 && inner >= 0) reach(r.whole, Direction::up, outer + inner);
    }
  }
}

bool Walk::knows(int cls) const { return graph_.unit(cls) || steps_.contains(graph_.find(cls)); }

const Walk::Step* Walk::step(int cls) const {
  const auto it = steps_.find(graph_.find(cls));
  return it == steps_.end() ? nullptr : &it->second;
}

sym::Expr Walk::value(int cls) const {
  cls = graph_.find(cls);
  if (graph_.unit(cls)) return graph_.pool().constant(0);
  if (const auto it = values_.find(cls); it != values_.end()) return it->second;
  const Step* s = step(cls);
  PLAIT_CHECK(s != nullptr, "class {} is not known in this walk", cls);
  sym::Expr e;
  if (s->relation < 0) {
    e = seeds_.at(cls);
  } else {
    const Relation& r = graph_.relation(s->relation);
    const sym::Expr inner = graph_.extent(r.inner);
    if (s->direction == Direction::up)
      e = value(r.outer) * inner + value(r.inner);
    else if (graph_.find(r.outer) == cls)
      e = sym::floordiv(value(r.whole), inner);
    else
      e = sym::mod(value(r.whole), inner);
  }
  return values_[cls] = e;
}

void Walk::collect(int cls, std::set<int>& seen, std::set<int>& seeds, std::set<int>& lossy) const {
  cls = graph_.find(cls);
  if (graph_.unit(cls) || !seen.insert(cls).second) return;
  const Step* s = step(cls);
  PLAIT_CHECK(s != nullptr, "class {} is not known in this walk", cls);
  if (s->relation < 0) {
    seeds.insert(cls);
    return;
  }
  const Relation& r = graph_.relation(s->relation);
  if (plait::lossy(r.kind, s->direction)) lossy.insert(cls);
  if (s->direction == Direction::down) return collect(r.whole, seen, seeds, lossy);
  collect(r.outer, seen, seeds, lossy);
  collect(r.inner, seen, seeds, lossy);
}

std::set<int> Walk::seeds(int cls) const {
  std::set<int> seen, seeds, lossy;
  collect(cls, seen, seeds, lossy);
  return seeds;
}

std::set<int> Walk::lossy(int cls) const {
  std::set<int> seen, seeds, lossy;
  collect(cls, seen, seeds, lossy);
  return lossy;
}

}  // namespace plait
