#pragma once
// Shrinks a graph while something stays true of it: delta debugging on the fusion IR.
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "ir/fusion.h"

namespace plait {

struct ReduceOptions {
  int64_t max_runs = 2000;                           // how often `fails` may be asked
  std::function<void(const std::string&)> progress;  // a line after every step that made the graph smaller
  std::function<void(const std::string&)> smaller;   // the text after each
};

struct ReducedGraph {
  std::string text;  // of the smallest graph found
  int64_t runs = 0;
  bool complete = true;  // no edit makes it smaller; false: max_runs came first
};

// The smallest graph that greedy editing finds for which `fails` (of the graph's text) holds: fewer outputs, ops (an op
// gives way to one of its operands, or to a fresh input), inputs, annotations, mesh axes, lets, attributes; extents
// towards 1, 2, 3; dtypes towards f32. Every graph that is tried was printed and parsed, so it is one that a user could
// have written. Deterministic. `fails(print(fusion))` must hold.
ReducedGraph reduce_graph(const Fusion& fusion, const std::function<bool(const std::string&)>& fails,
                          const ReduceOptions& options = {});

// One way to make a graph smaller. Tensors are named, so that edits of one list can be applied together; those whose
// tensor is gone do nothing.
struct GraphEdit {
  std::function<void(Fusion&)> apply;                     // on a copy; null: nothing
  std::function<std::string(std::string)> apply_to_text;  // on its text, afterwards; null: nothing
  std::map<std::string, int64_t> constants;               // symbols that become numbers
};

// A list of alternatives of one kind for a graph, made anew for every graph.
struct EditList {
  const char* name;
  bool together;  // whether edits are tried in batches, or each on its own
  std::vector<GraphEdit> (*make)(const Fusion&);
};
// All kinds, the most effective first.
std::span<const EditList> edit_lists();

// The graph after the edits: what no output needs is gone, types are inferred anew. Null where the rules of the ops or
// of the text form refuse it.
std::unique_ptr<Fusion> edited(const Fusion& fusion, std::span<const GraphEdit> edits);

// What counts as smaller, compared from the left: ops, inputs and outputs, operands, mesh axes, segments, annotations,
// attributes, tensors that are not f32, lets, extents.
std::vector<int64_t> graph_size(const Fusion& fusion);

}  // namespace plait
