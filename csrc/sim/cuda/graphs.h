#pragma once
// Graphs: recorded work, and its launches.
#include "sim/cuda/machine.h"

namespace plait::sim {

struct KernelLaunch;  // launch.h

struct NodeObject : Object {
  static constexpr ObjectKind kKind = ObjectKind::node;
  CUgraphNodeType type = CU_GRAPH_NODE_TYPE_EMPTY;
  Task task;
  std::shared_ptr<KernelLaunch> kernel;            // of kernel nodes
  std::vector<std::shared_ptr<NodeObject>> after;  // nodes made earlier
};

struct GraphObject : Object {
  static constexpr ObjectKind kKind = ObjectKind::graph;
  std::vector<std::shared_ptr<NodeObject>> nodes;  // in an order that keeps dependencies
};

// A graph made ready to run. Nodes that follow each other share a lane; branches have their own, so that work of
// different branches is unordered.
struct ExecObject : Object {
  static constexpr ObjectKind kKind = ObjectKind::exec;
  struct Step {
    std::shared_ptr<NodeObject> node;  // for what may be set again; its task is not used
    Task task;
    std::shared_ptr<KernelLaunch> kernel;
    std::vector<size_t> after;  // steps
    size_t lane = 0;
  };
  std::shared_ptr<ContextObject> owner;
  std::vector<Step> steps;
  std::vector<Lane> lanes;
  OpRef last;  // end of the latest launch: launches of one graph follow each other
  unsigned long long flags = 0;
};

// A node at the end of a graph.
std::shared_ptr<NodeObject> add_node(GraphObject& graph, CUgraphNodeType type, Task task,
                                     std::vector<std::shared_ptr<NodeObject>> after, const char* by);
std::shared_ptr<ExecObject> instantiate(const GraphObject& graph, std::shared_ptr<ContextObject> owner, const char* by);
// Takes over the tasks of a graph of the same shape; false with the reason where it differs.
bool update(ExecObject& exec, const GraphObject& graph, std::string* why_not);
// Queues all steps on a stream that is not captured.
void launch_graph(ExecObject& exec, StreamObject& stream);
// Destroys the graph's handle and those of its nodes.
void destroy(GraphObject& graph, const char* by);

}  // namespace plait::sim
