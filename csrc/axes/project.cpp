#include "axes/project.h"

namespace plait {

namespace {

void seed_own_axes(Walk& walk, const AxisGroup& group, const TensorView& tensor) {
  for (const std::vector<int>& domain : domains(group, tensor))
    for (int a : domain) walk.seed(a);
}

}  // namespace

Projection::Projection(AxisGroup& group, const TensorView& reference, const TensorView& tensor)
    : group_(group), derivation_(group.graph), reach_(group.graph) {
  seed_own_axes(derivation_, group, reference);
  derivation_.run();
  seed_own_axes(reach_, group, tensor);
  reach_.run(true);
}

std::optional<int> Projection::project(int cls) {
  AxisGraph& graph = group_.graph;
  cls = graph.find(cls);
  if (graph.unit(cls)) return std::nullopt;
  if (reach_.knows(cls)) return cls;
  if (const auto it = memo_.find(cls); it != memo_.end()) return it->second;
  memo_[cls] = std::nullopt;
  const Walk::Step* step = derivation_.step(cls);
  if (step == nullptr || step->relation < 0) return std::nullopt;
  const Relation r = graph.relation(step->relation);
  if (r.kind == RelationKind::shift) return std::nullopt;
  std::optional<int> result;
  if (step->direction == Direction::up) {
    const auto outer = project(r.outer), inner = project(r.inner);
    result = outer && inner ? graph.merge(*outer, *inner) : outer ? outer : inner;
  } else if (const auto whole = project(r.whole)) {
    const bool is_inner = graph.find(r.inner) == cls;
    const auto [outer, inner] = graph.split(*whole, graph.extent(r.inner));
    result = is_inner ? inner : outer;
    if (graph.unit(*result)) result = std::nullopt;
  }
  return memo_[cls] = result;
}

}  // namespace plait
