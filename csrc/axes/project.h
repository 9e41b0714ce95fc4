#pragma once
// Projection: the loops that another tensor has in place of the reference's loops.
#include <optional>

#include "axes/build_graph.h"
#include "axes/walk.h"

namespace plait {

// What total steps reach from a tensor's own axes, and the reference's loop classes projected on it. By total steps
// only: a class reached by a lossy step may be asked for outside of its range.
class Projection {
 public:
  // `reference` and `tensor` are computed in the group. New classes may be added to the graph.
  Projection(AxisGroup& group, const TensorView& reference, const TensorView& tensor);

  // The class that stands for the reference's loop class in the tensor, or nothing where the tensor lacks it.
  std::optional<int> project(int cls);

 private:
  AxisGroup& group_;
  Walk derivation_;  // how the reference derives its loop classes from its own axes
  Walk reach_;
  std::map<int, std::optional<int>> memo_;
};

}  // namespace plait
