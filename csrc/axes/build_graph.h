#pragma once
// The axis graph of a group of ops: axes of every tensor that the group computes or reads, joined by its edges.
#include <functional>
#include <map>
#include <string>

#include "axes/axis_graph.h"
#include "axes/read_through.h"
#include "ir/factors.h"

namespace plait {

// Axes of one tensor in the graph. For the first result of an op of the group, `reduction` are the axes that the op
// sums over: the results of an op are computed together.
struct TensorAxes {
  std::vector<int> logical, reduction;
};

// One operand of one op, or a tensor of the group that the op reads through reads (axes/read_through.h); these come
// behind the operands. A hard edge's operand is computed in the group, a soft edge's is in memory. A cut edge was
// refused: its axes stay apart, which costs nothing where it is soft.
struct Edge {
  const Op* op = nullptr;
  const TensorView* operand = nullptr;
  std::vector<int> pairing;  // operand dim -> place in logical + reduction of the op's first result; -1: none
  // Operand dim -> root axis of the op, which the operand's joins; -1: pairs with nothing. Root axes are the op's own,
  // or what its own recipe (axes/own_recipe.h) relates to them.
  std::vector<int> root;
  bool recipe = false;
  bool hard = false, cut = false;
  bool elsewhere = false;  // reads move elements along a dim without a root: the op needs all of it
  std::string reason;      // of a cut, or where that is
};

struct ByTensorId {
  bool operator()(const TensorView* a, const TensorView* b) const { return a->id < b->id; }
};

struct AxisGroup {
  explicit AxisGroup(sym::Pool& pool) : graph(pool) {}
  AxisGraph graph;
  std::vector<const Op*> ops;  // in topological order
  std::map<const TensorView*, TensorAxes, ByTensorId> axes;
  std::vector<Edge> edges;                                  // op after op, operands in order, then what reads reach
  std::map<const Op*, std::pair<size_t, size_t>> op_edges;  // first and number, in `edges`

  std::span<const Edge> edges_of(const Op& op) const;
  bool computes(const TensorView* tensor) const;
  // Class that the place of a pairing stands for, in the first result of `op`.
  int root_class(const Op& op, int place) const;
};

struct BuildGraphOptions {
  // Maps extents of the fusion's pool to extents of the graph's pool.
  std::function<sym::Expr(sym::Expr)> extent;
  bool test_unions = true;                     // off only in tests: accepts every edge
  const std::set<const Op*>* reads = nullptr;  // of the ops: those that have no place of their own
};

// Ops in topological order, each with its factors; a factor of several results is one axis, and the first result has a
// dim for each. Hard edges join first, then soft ones; an edge that would make an axis equal to another axis of the
// same tensor is cut, with the reason, and so is one through reads that move elements along a dim.
AxisGroup build_axis_graph(sym::Pool& pool, std::span<Op* const> ops, const BuildGraphOptions& options = {});

// Unites the axes of the tensors with those of the first, dim by dim (units left out), so that they can share one nest.
// Null, or the first tensor that does not fit: extents not proven equal, or a domain would hold a class twice; then
// nothing has changed.
const TensorView* align(AxisGroup& group, std::span<TensorView* const> tensors);

// Domains of a tensor, each of classes that must be able to vary independently: its axes, and per operand that its op
// has a recipe for its root axes. Sorted, without units.
std::vector<std::vector<int>> domains(const AxisGroup& group, const TensorView& tensor);

// Classes of a tensor's logical axes without units, in order.
std::vector<int> domain_classes(const AxisGroup& group, const TensorView& tensor);

// Throws InternalError: the graph's own invariants, every domain free of conflicts, every accepted edge's pairs in one
// class.
void verify(const AxisGroup& group);

// One line per refused edge: op, operand, why.
std::string explain_cuts(const AxisGroup& group);

}  // namespace plait
