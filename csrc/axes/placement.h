#pragma once
// What the parts of placement share: the tree as it grows, cached walks, the plan of one op. Private to csrc/axes.
#include <memory>

#include "axes/loop_tree.h"
#include "axes/walk.h"

namespace plait::placement {

// Walks by their seeds. Reachability only; dropped when the graph changes.
class Walks {
 public:
  Walks(const AxisGraph& graph, bool fixed) : graph_(graph), fixed_(fixed) {}
  const Walk& from(const std::vector<int>& classes, bool total_only = false);
  bool conflict(const std::vector<int>& classes);  // the coordinate test

 private:
  std::vector<int> key(const std::vector<int>& classes);
  const AxisGraph& graph_;
  const bool fixed_;
  uint64_t version_ = 0;
  std::map<std::pair<std::vector<int>, bool>, std::unique_ptr<Walk>> walks_;
  std::map<std::vector<int>, bool> conflicts_;
};

// An own loop of a plan. `position` in the reference's loops that it projects, or -1.
struct OwnLoop {
  int cls = -1;
  ParallelType parallel = ParallelType::serial;
  int position = -1;
  bool reduction = false;
};

// A way to compute an op: loops of the tree that it stands in, and its own below them.
struct Plan {
  std::vector<int> shared;
  std::vector<OwnLoop> own;
  bool by_coordinates = false;  // its elements lie by logical coordinates: in memory, or in a logical buffer
};

// One reader of a result of an op.
struct Reader {
  const Edge* edge;
  size_t operand;
};

struct State {
  AxisGroup& group;
  const TreeOptions& options;
  LoopTree& tree;
  Walks walks;
  std::map<const Op*, std::vector<Reader>> readers = {};
  std::vector<int> positions = {};  // by loop of the tree: position in the reference's loops, or -1

  bool off(Rule rule) const { return options.off(rule); }
  sym::Expr extent(sym::Expr e) const { return options.extent ? options.extent(e) : e; }
  std::vector<int> classes(const std::vector<int>& loops) const;  // of loops of the tree
  std::vector<int> path_of(const Op& op) const { return tree.path(tree.ops.at(&op).loop); }
  bool in_memory(const Op& op) const;
  std::vector<TreeItem>& items(int loop) { return loop < 0 ? tree.items : tree.loops[static_cast<size_t>(loop)].items; }
};

// Whether the plan computes the op as all of its readers, which are placed, ask for it. Own loops that drive nothing
// are dropped and the others' `reduction` is set. The rule that does not hold.
std::optional<Refusal> check_plan(State& state, const Op& op, Plan& plan);

// Whether what one iteration of `loops` (the plan's own, which are those of readers) computes is what all readers in
// the first of them ask for in that iteration.
bool asked_in(State& state, const Op& op, const Plan& plan, const std::vector<int>& loops);

// Loops along the scanned dim, outermost first, of an op whose loops the walk starts from; empty where they do not
// enumerate it in its order, or it has one element.
std::vector<int> scan_order(const Walk& walk, const State& state, const Op& op);
LoopOrder order_of_scan(const Op& op);
// Whether a scan goes through iterations of the loop: they run in turn, or are threads of a block.
inline bool carries_scans(ParallelType loop) {
  return loop == ParallelType::serial || loop == ParallelType::unroll || loop == ParallelType::thread_x;
}

// Fills coordinates, indices and predicates of all ops of the finished tree.
void fill_coordinates(State& state);

// Classes that the op's coordinates do not determine and that its value does not rest on: parts that are left over
// where a class among `steps` was taken apart, and idle `loops`. Their iterations repeat one another.
std::vector<int> left_over(const Walk& walk, const Walk& determined, const std::set<int>& used,
                           const std::set<int>& steps, const std::vector<int>& loops);

// Where a reader's index along a dim of a buffer comes from.
enum class IndexSource : uint8_t { none, coordinates, loops };
IndexSource index_source(const Walk& from_coordinates, const Walk& from_loops, const Walk& producer, const State& state,
                         const Reader& reader, int cls);

// Non-unit classes of the axes, by find().
std::vector<int> known_classes(const AxisGraph& graph, const std::vector<int>& axes);

}  // namespace plait::placement
