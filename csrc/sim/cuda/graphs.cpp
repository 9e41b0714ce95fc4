#include "sim/cuda/graphs.h"

#include <fmt/core.h>

#include <algorithm>

#include "sim/cuda/launch.h"
#include "sim/cuda/streams.h"

namespace plait::sim {

std::shared_ptr<NodeObject> add_node(GraphObject& graph, CUgraphNodeType type, Task task,
                                     std::vector<std::shared_ptr<NodeObject>> after, const char* by) {
  auto node = machine().registry.make<NodeObject>(by, 0);
  node->type = type;
  node->task = std::move(task);
  node->after = std::move(after);
  graph.nodes.push_back(node);
  return node;
}

namespace {

// A step continues the lane of the first of its predecessors that nobody else continues.
void assign_lanes(ExecObject& exec) {
  std::vector<size_t> last;  // per lane: its last step
  for (size_t i = 0; i < exec.steps.size(); ++i) {
    ExecObject::Step& step = exec.steps[i];
    step.lane = last.size();
    for (size_t before : step.after) {
      if (last[exec.steps[before].lane] == before) {
        step.lane = exec.steps[before].lane;
        break;
      }
    }
    if (step.lane == last.size()) {
      last.push_back(i);
      exec.lanes.push_back(machine().scheduler.make_lane(fmt::format("branch {} of {}", last.size(), exec.name)));
    }
    last[step.lane] = i;
  }
}

}  // namespace

std::shared_ptr<ExecObject> instantiate(const GraphObject& graph, std::shared_ptr<ContextObject> owner,
                                        const char* by) {
  auto exec = machine().registry.make<ExecObject>(by, owner->handle);
  exec->owner = std::move(owner);
  std::map<const NodeObject*, size_t> places;
  for (const auto& node : graph.nodes) {
    ExecObject::Step step{node, node->task, nullptr, {}, 0};
    if (node->kernel != nullptr) step.kernel = bind_kernel(step.task, *node->kernel);
    for (const auto& before : node->after) step.after.push_back(places.at(before.get()));
    places[node.get()] = exec->steps.size();
    exec->steps.push_back(std::move(step));
  }
  assign_lanes(*exec);
  return exec;
}

bool update(ExecObject& exec, const GraphObject& graph, std::string* why_not) {
  if (graph.nodes.size() != exec.steps.size()) {
    *why_not = fmt::format("the graph has {} nodes, not {}", graph.nodes.size(), exec.steps.size());
    return false;
  }
  std::map<const NodeObject*, size_t> places;
  for (size_t i = 0; i < graph.nodes.size(); ++i) {
    const NodeObject& node = *graph.nodes[i];
    std::vector<size_t> after;
    for (const auto& before : node.after) after.push_back(places.at(before.get()));
    places[&node] = i;
    if (node.type != exec.steps[i].node->type || after != exec.steps[i].after) {
      *why_not = fmt::format("node {} (`{}`) differs in kind or order", i + 1, node.task.name);
      return false;
    }
  }
  for (size_t i = 0; i < graph.nodes.size(); ++i) {
    ExecObject::Step& step = exec.steps[i];
    step.task = graph.nodes[i]->task;
    if (step.kernel != nullptr) step.kernel = bind_kernel(step.task, *graph.nodes[i]->kernel);
  }
  return true;
}

void launch_graph(ExecObject& exec, StreamObject& stream) {
  for (const ExecObject::Step& step : exec.steps) {
    if (step.kernel != nullptr && step.kernel->function->module.expired()) {
      misuse(CUDA_ERROR_INVALID_HANDLE,
             fmt::format("{}: the module of kernel `{}` is unloaded", exec.name, step.task.name));
    }
  }
  Scheduler& scheduler = machine().scheduler;
  Task begin{exec.name + " begins"};
  begin.context = stream.owner;
  const OpRef start = issue(stream, std::move(begin), {exec.last});
  std::vector<OpRef> ops;
  std::vector<bool> followed(exec.steps.size(), false);
  for (const ExecObject::Step& step : exec.steps) {
    std::vector<OpRef> after{start};
    for (size_t before : step.after) {
      after.push_back(ops[before]);
      followed[before] = true;
    }
    ops.push_back(scheduler.issue(step.task, exec.lanes[step.lane], after));
  }
  std::vector<OpRef> ends;
  for (size_t i = 0; i < ops.size(); ++i) {
    if (!followed[i]) ends.push_back(ops[i]);
  }
  Task end{exec.name + " ends"};
  end.context = stream.owner;
  exec.last = issue(stream, std::move(end), ends);
}

void destroy(GraphObject& graph, const char* by) {
  Registry& registry = machine().registry;
  for (const auto& node : graph.nodes) registry.destroy(*node, by);
  registry.destroy(graph, by);
}

}  // namespace plait::sim
