#include "axes/walk.h"

#include "base/error.h"

namespace plait {

namespace {

// Cheapest derivation first: fold up 1, shift 2, fold or cover down 3 (a division), cover up 4 (a predicate). A step
// that loses elements is worse than any that needs a predicate.
int64_t step_cost(const Relation& r, Direction d) {
  int64_t base = d == Direction::down ? 3 : r.kind == RelationKind::fold ? 1 : 4;
  if (r.kind == RelationKind::shift) base = 2;
  return base + (covers(r, d) ? 0 : 1000);
}

}  // namespace

void Walk::seed(int cls, sym::Expr value) {
  cls = graph_.find(cls);
  if (!graph_.unit(cls)) seeds_.try_emplace(cls, value);
}

int64_t Walk::cost_of(int cls) const {
  if (graph_.unit(cls)) return 0;
  const auto it = steps_.find(cls);
  return it == steps_.end() ? -1 : it->second.cost;
}

void Walk::offer(const Relation& r, int id, int target, Direction d, int64_t from) {
  target = graph_.find(target);
  if (graph_.unit(target) || steps_.contains(target) || (total_only_ && !total(r, d))) return;
  queue_.emplace(from + step_cost(r, d), target, id, d);
}

void Walk::reach(const Relation& r, int id, int cls, int64_t cost) {
  if (r.kind == RelationKind::shift) {
    if (graph_.find(r.whole) == cls) offer(r, id, r.outer, Direction::down, cost);
    if (graph_.find(r.outer) == cls) offer(r, id, r.whole, Direction::up, cost);
    return;
  }
  if (graph_.find(r.whole) == cls) {
    offer(r, id, r.outer, Direction::down, cost);
    offer(r, id, r.inner, Direction::down, cost);
  }
  const int64_t outer = cost_of(graph_.find(r.outer)), inner = cost_of(graph_.find(r.inner));
  if (outer >= 0 && inner >= 0) offer(r, id, r.whole, Direction::up, outer + inner);
}

void Walk::run(bool total_only) {
  total_only_ = total_only;
  for (const auto& [cls, value] : seeds_) queue_.emplace(0, cls, -1, Direction::up);
  while (!queue_.empty()) {
    const auto [cost, cls, relation, direction] = queue_.top();
    queue_.pop();
    if (!steps_.try_emplace(cls, Step{relation, direction, cost}).second) continue;
    graph_.count_visit();
    for (int id : graph_.uses(cls))
      if (const Relation& r = graph_.relation(id); !r.dead) reach(r, id, cls, cost);
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
  if (s == nullptr && fixed_) return graph_.pool().constant(0);
  PLAIT_CHECK(s != nullptr, "class {} is not known in this walk", cls);
  sym::Expr e;
  if (s->relation < 0) {
    e = seeds_.at(cls);
  } else if (const Relation& r = graph_.relation(s->relation); r.kind == RelationKind::shift) {
    e = s->direction == Direction::down ? value(r.whole) + r.low : value(r.outer) - r.low;
  } else {
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

void Walk::collect(int cls, Use& use) const {
  cls = graph_.find(cls);
  if (graph_.unit(cls) || !use.classes.insert(cls).second) return;
  const Step* s = step(cls);
  if (s == nullptr && fixed_) {
    use.classes.erase(cls);
    return;
  }
  PLAIT_CHECK(s != nullptr, "class {} is not known in this walk", cls);
  if (s->relation < 0) {
    use.seeds.insert(cls);
    return;
  }
  const Relation& r = graph_.relation(s->relation);
  if (plait::lossy(r, s->direction)) use.lossy.insert(cls);
  if (!covers(r, s->direction)) use.shrunk.insert(cls);
  if (r.kind == RelationKind::shift) return collect(s->direction == Direction::down ? r.whole : r.outer, use);
  if (s->direction == Direction::down) return collect(r.whole, use);
  collect(r.outer, use);
  collect(r.inner, use);
}

Walk::Use Walk::use(std::span<const int> classes) const {
  Use out;
  for (int c : classes) collect(c, out);
  return out;
}

std::set<int> Walk::seeds(int cls) const {
  Use u;
  collect(cls, u);
  return u.seeds;
}

std::set<int> Walk::lossy(int cls) const {
  Use u;
  collect(cls, u);
  return u.lossy;
}

}  // namespace plait
