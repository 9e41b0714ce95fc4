#pragma once
// Schedule transforms on tensors: split, merge, reorder, parallelize. They are data on the tensor's domain; here they
// are added to it and interpreted on classes of the axis graph.
#include "axes/build_graph.h"

namespace plait {

// Each adds one transform to the domain (swapped as a whole). `position` counts the loop axes from 0. UserError naming
// the tensor and the transform that does not apply.
void split(TensorView& tensor, int position, sym::Expr factor);  // position -> outer, inner of extent `factor`
void split(TensorView& tensor, int position, int64_t factor);
void merge(TensorView& tensor, int position);              // position and position + 1 -> one
void reorder(TensorView& tensor, std::vector<int> order);  // new position -> old position
void parallelize(TensorView& tensor, int position, ParallelType type);
// By these: the loop at `from` goes to `to`, and the others keep their order; the loops of [begin, end) become one.
void move_loop(TensorView& tensor, int from, int to);
void merge_loops(TensorView& tensor, int begin, int end);
// Forgets all transforms.
void clear_schedule(TensorView& tensor);
// States the reduction axes of the tensor's op in its domain, where they are missing.
void state_reduction_axes(TensorView& tensor);

// A loop of a schedule: a class and how it runs.
struct LoopClass {
  int cls = -1;
  ParallelType parallel = ParallelType::serial;
  bool operator==(const LoopClass&) const = default;
};

// What the tensor's transforms make of its classes (logical axes, then reduction axes). The tensor is computed in the
// group. `extent` maps split factors into the graph's pool. May add axes and relations to the graph.
std::vector<LoopClass> loop_classes(AxisGroup& group, const TensorView& tensor,
                                    const std::function<sym::Expr(sym::Expr)>& extent = {});

}  // namespace plait
