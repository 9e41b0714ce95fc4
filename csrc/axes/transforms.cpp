#include "axes/transforms.h"

#include <numeric>

#include "base/error.h"
#include "ir/fusion.h"

namespace plait {

namespace {

void add(TensorView& tensor, Transform transform) {
  Domain next = tensor.domain;
  next.transforms.push_back(std::move(transform));
  try {
    loop_axes(next);
  } catch (const UserError& error) {
    throw UserError(error.message(), fmt::format("%{}, {}", tensor.name, error.where()), error.remedy());
  }
  tensor.domain = std::move(next);
}

}  // namespace

void split(TensorView& tensor, int position, sym::Expr factor) {
  add(tensor, {Transform::Kind::split, position, factor, {}, ParallelType::serial});
}

void split(TensorView& tensor, int position, int64_t factor) {
  split(tensor, position, tensor.fusion->pool().constant(factor));
}

void merge(TensorView& tensor, int position) {
  add(tensor, {Transform::Kind::merge, position, {}, {}, ParallelType::serial});
}

void reorder(TensorView& tensor, std::vector<int> order) {
  add(tensor, {Transform::Kind::reorder, 0, {}, std::move(order), ParallelType::serial});
}

void parallelize(TensorView& tensor, int position, ParallelType type) {
  add(tensor, {Transform::Kind::parallel, position, {}, {}, type});
}

void move_loop(TensorView& tensor, int from, int to) {
  std::vector<int> order(loop_axes(tensor.domain).size());
  std::iota(order.begin(), order.end(), 0);
  order.erase(order.begin() + from);
  order.insert(order.begin() + to, from);
  reorder(tensor, std::move(order));
}

void merge_loops(TensorView& tensor, int begin, int end) {
  for (int d = end - 1; d > begin; --d) merge(tensor, d - 1);
}

void clear_schedule(TensorView& tensor) {
  Domain next = tensor.domain;
  next.transforms.clear();
  tensor.domain = std::move(next);
}

void state_reduction_axes(TensorView& tensor) {
  if (tensor.definition == nullptr || !tensor.domain.reduction.empty()) return;
  Domain next = tensor.domain;
  next.reduction = reduction_axes(*tensor.definition);
  tensor.domain = std::move(next);
}

std::vector<LoopClass> loop_classes(AxisGroup& group, const TensorView& tensor,
                                    const std::function<sym::Expr(sym::Expr)>& extent) {
  const TensorAxes& axes = group.axes.at(&tensor);
  AxisGraph& graph = group.graph;
  std::vector<LoopClass> loops;
  for (const auto* list : {&axes.logical, &axes.reduction})
    for (int a : *list) loops.push_back({graph.find(a), ParallelType::serial});
  for (const Transform& t : tensor.domain.transforms) {
    const size_t at = static_cast<size_t>(t.position);
    switch (t.kind) {
      case Transform::Kind::merge:
        PLAIT_CHECK(at + 1 < loops.size(), "merge({}) of {} loops", t.position, loops.size());
        loops[at].cls = graph.merge(loops[at].cls, loops[at + 1].cls);
        loops.erase(loops.begin() + t.position + 1);
        break;
      case Transform::Kind::split: {
        PLAIT_CHECK(at < loops.size(), "split({}) of {} loops", t.position, loops.size());
        const auto [outer, inner] = graph.split(loops[at].cls, extent ? extent(t.factor) : t.factor);
        loops[at].cls = outer;
        loops.insert(loops.begin() + t.position + 1, {inner, loops[at].parallel});
        break;
      }
      case Transform::Kind::reorder: {
        PLAIT_CHECK(t.order.size() == loops.size(), "reorder of {} loops", loops.size());
        std::vector<LoopClass> next;
        for (int old : t.order) next.push_back(loops[static_cast<size_t>(old)]);
        loops = std::move(next);
        break;
      }
      case Transform::Kind::parallel:
        PLAIT_CHECK(at < loops.size(), "parallel({}) of {} loops", t.position, loops.size());
        loops[at].parallel = t.parallel;
        break;
    }
  }
  for (LoopClass& l : loops) l.cls = graph.find(l.cls);
  return loops;
}

}  // namespace plait
