// Capture and graphs.
#include <fmt/core.h>

#include <algorithm>

#include "sim/cuda/capture.h"
#include "sim/cuda/launch.h"
#include "sim/cuda/streams.h"

using namespace plait::sim;

namespace {

std::shared_ptr<GraphObject> graph_of(CUgraph handle) {
  return machine().registry.get<GraphObject>(handle, CUDA_ERROR_INVALID_VALUE);
}

std::shared_ptr<ExecObject> exec_of(const Call& call, CUgraphExec handle) {
  auto exec = machine().registry.get<ExecObject>(handle, CUDA_ERROR_INVALID_VALUE);
  call.check(*exec->owner);
  return exec;
}

std::shared_ptr<NodeObject> node_of(CUgraphNode handle) {
  return machine().registry.get<NodeObject>(handle, CUDA_ERROR_INVALID_VALUE);
}

// Handles of nodes into a caller's array of *count, or their number where there is none.
void list_nodes(const std::vector<std::shared_ptr<NodeObject>>& nodes, CUgraphNode* out, size_t* count) {
  need(count, "the number of nodes");
  if (out == nullptr) {
    *count = nodes.size();
    return;
  }
  for (size_t i = 0; i < *count; ++i) out[i] = i < nodes.size() ? handle_of<CUgraphNode>(*nodes[i]) : nullptr;
  *count = std::min(*count, nodes.size());
}

const NodeObject& kernel_node(const NodeObject& node) {
  if (node.kernel == nullptr) misuse(CUDA_ERROR_INVALID_VALUE, node.name + " is not the launch of a kernel");
  return node;
}

KernelLaunch launch_of(const Call& call, const CUDA_KERNEL_NODE_PARAMS* parameters) {
  need(parameters, "nodeParams");
  const unsigned grid[] = {parameters->gridDimX, parameters->gridDimY, parameters->gridDimZ};
  const unsigned block[] = {parameters->blockDimX, parameters->blockDimY, parameters->blockDimZ};
  const auto context = call.context(parameters->ctx);
  const CUfunction function =
      parameters->func != nullptr ? parameters->func : reinterpret_cast<CUfunction>(parameters->kern);
  return make_launch(resolve_function(call, function, context), grid, block, parameters->sharedMemBytes,
                     parameters->kernelParams, parameters->extra);
}

void instantiate_graph(const Call& call, CUgraphExec* exec, CUgraph graph, unsigned long long flags) {
  need(exec, "phGraphExec");
  if ((flags & ~7ull) != 0 || (flags & CUDA_GRAPH_INSTANTIATE_FLAG_DEVICE_LAUNCH) != 0) {
    misuse(CUDA_ERROR_INVALID_VALUE, fmt::format("flags {}", flags));
  }
  const auto made = instantiate(*graph_of(graph), call.context(), call.name());
  made->flags = flags;
  *exec = handle_of<CUgraphExec>(*made);
}

void launch_exec(const Call& call, CUgraphExec handle, CUstream stream_handle) {
  const auto exec = exec_of(call, handle);
  const auto stream = call.stream(stream_handle);
  if (stream->capture == nullptr) return launch_graph(*exec, *stream);
  // The captured graph gets the nodes themselves.
  std::vector<std::shared_ptr<NodeObject>> nodes, ends;
  std::vector<bool> followed(exec->steps.size(), false);
  for (const ExecObject::Step& step : exec->steps) {
    std::vector<std::shared_ptr<NodeObject>> after;
    for (size_t before : step.after) {
      after.push_back(nodes[before]);
      followed[before] = true;
    }
    if (after.empty()) after = stream->frontier;
    nodes.push_back(add_node(*stream->capture->graph, step.node->type, step.task, std::move(after), call.name()));
    nodes.back()->kernel = step.kernel;
  }
  for (size_t i = 0; i < nodes.size(); ++i) {
    if (!followed[i]) ends.push_back(nodes[i]);
  }
  if (!ends.empty()) stream->frontier = std::move(ends);
}

}  // namespace

extern "C" {

// ---- Capture.

CUresult cuStreamBeginCapture(CUstream stream, CUstreamCaptureMode mode) {
  SIM_CALL({ begin_capture(call, call.stream(stream), mode); });
}

CUresult cuStreamEndCapture(CUstream stream, CUgraph* graph) {
  SIM_CALL({
    need(graph, "phGraph");
    *graph = nullptr;
    *graph = handle_of<CUgraph>(*end_capture(call, *call.stream(stream)));
  });
}

CUresult cuStreamIsCapturing(CUstream handle, CUstreamCaptureStatus* status) {
  SIM_CALL({
    need(status, "captureStatus");
    const auto stream = call.stream(handle);
    if (stream->legacy) {
      for (const auto& weak : stream->owner->streams) {
        const auto other = weak.lock();
        if (other != nullptr && other->blocking() && other->capture != nullptr) {
          fail(CUDA_ERROR_STREAM_CAPTURE_IMPLICIT);
        }
      }
    }
    *status = stream->capture == nullptr ? CU_STREAM_CAPTURE_STATUS_NONE
              : stream->capture->valid   ? CU_STREAM_CAPTURE_STATUS_ACTIVE
                                         : CU_STREAM_CAPTURE_STATUS_INVALIDATED;
  });
}

CUresult cuStreamGetCaptureInfo(CUstream handle, CUstreamCaptureStatus* status, cuuint64_t* id, CUgraph* graph,
                                const CUgraphNode** dependencies, const CUgraphEdgeData** edges, size_t* count) {
  SIM_CALL({
    need(status, "captureStatus_out");
    const auto stream = call.stream(handle);
    const auto& capture = stream->capture;
    if (edges != nullptr) *edges = nullptr;
    if (capture == nullptr) {
      *status = CU_STREAM_CAPTURE_STATUS_NONE;
      return;
    }
    *status = capture->valid ? CU_STREAM_CAPTURE_STATUS_ACTIVE : CU_STREAM_CAPTURE_STATUS_INVALIDATED;
    if (!capture->valid) return;
    if (id != nullptr) *id = capture->id;
    if (graph != nullptr) *graph = handle_of<CUgraph>(*capture->graph);
    thread_local std::vector<CUgraphNode> nodes;  // valid until the next call
    nodes.clear();
    for (const auto& node : stream->frontier) nodes.push_back(handle_of<CUgraphNode>(*node));
    if (dependencies != nullptr) *dependencies = nodes.data();
    if (count != nullptr) *count = nodes.size();
  });
}

CUresult cuThreadExchangeStreamCaptureMode(CUstreamCaptureMode* mode) {
  SIM_CALL({
    need(mode, "mode");
    if (*mode > CU_STREAM_CAPTURE_MODE_RELAXED) misuse(CUDA_ERROR_INVALID_VALUE, fmt::format("mode {}", int(*mode)));
    std::swap(*mode, thread_state().capture_mode);
  });
}

// ---- Graphs.

CUresult cuGraphCreate(CUgraph* graph, unsigned int flags) {
  SIM_CALL({
    need(graph, "phGraph");
    if (flags != 0) misuse(CUDA_ERROR_INVALID_VALUE, "flags are not 0");
    *graph = handle_of<CUgraph>(*machine().registry.make<GraphObject>(call.name(), call.context()->handle));
  });
}

CUresult cuGraphDestroy(CUgraph handle) {
  SIM_CALL({ destroy(*graph_of(handle), call.name()); });
}

CUresult cuGraphAddKernelNode(CUgraphNode* node, CUgraph handle, const CUgraphNode* dependencies, size_t count,
                              const CUDA_KERNEL_NODE_PARAMS* parameters) {
  SIM_CALL({
    need(node, "phGraphNode");
    const auto graph = graph_of(handle);
    std::vector<std::shared_ptr<NodeObject>> after;
    if (count > 0) need(dependencies, "dependencies");
    for (size_t i = 0; i < count; ++i) after.push_back(node_of(dependencies[i]));
    Task task;
    auto launch = bind_kernel(task, launch_of(call, parameters));
    const auto made = add_node(*graph, CU_GRAPH_NODE_TYPE_KERNEL, std::move(task), std::move(after), call.name());
    made->kernel = std::move(launch);
    *node = handle_of<CUgraphNode>(*made);
  });
}

CUresult cuGraphAddEmptyNode(CUgraphNode* node, CUgraph handle, const CUgraphNode* dependencies, size_t count) {
  SIM_CALL({
    need(node, "phGraphNode");
    const auto graph = graph_of(handle);
    std::vector<std::shared_ptr<NodeObject>> after;
    if (count > 0) need(dependencies, "dependencies");
    for (size_t i = 0; i < count; ++i) after.push_back(node_of(dependencies[i]));
    Task task{"empty node"};
    task.context = call.context();
    const auto made = add_node(*graph, CU_GRAPH_NODE_TYPE_EMPTY, std::move(task), std::move(after), call.name());
    *node = handle_of<CUgraphNode>(*made);
  });
}

CUresult cuGraphGetNodes(CUgraph handle, CUgraphNode* nodes, size_t* count) {
  SIM_CALL({ list_nodes(graph_of(handle)->nodes, nodes, count); });
}

CUresult cuGraphGetRootNodes(CUgraph handle, CUgraphNode* nodes, size_t* count) {
  SIM_CALL({
    std::vector<std::shared_ptr<NodeObject>> roots;
    for (const auto& node : graph_of(handle)->nodes) {
      if (node->after.empty()) roots.push_back(node);
    }
    list_nodes(roots, nodes, count);
  });
}

CUresult cuGraphGetEdges(CUgraph handle, CUgraphNode* from, CUgraphNode* to, CUgraphEdgeData* edges, size_t* count) {
  SIM_CALL({
    need(count, "numEdges");
    size_t found = 0;
    for (const auto& node : graph_of(handle)->nodes) {
      for (const auto& before : node->after) {
        if (from != nullptr && to != nullptr && found < *count) {
          from[found] = handle_of<CUgraphNode>(*before);
          to[found] = handle_of<CUgraphNode>(*node);
          if (edges != nullptr) edges[found] = {};
        }
        ++found;
      }
    }
    *count = from == nullptr ? found : std::min(found, *count);
  });
}

CUresult cuGraphNodeGetType(CUgraphNode handle, CUgraphNodeType* type) {
  SIM_CALL({
    need(type, "type");
    *type = node_of(handle)->type;
  });
}

CUresult cuGraphNodeGetDependencies(CUgraphNode handle, CUgraphNode* nodes, CUgraphEdgeData* edges, size_t* count) {
  SIM_CALL({
    list_nodes(node_of(handle)->after, nodes, count);
    for (size_t i = 0; edges != nullptr && nodes != nullptr && i < *count; ++i) edges[i] = {};
  });
}

CUresult cuGraphKernelNodeGetParams(CUgraphNode handle, CUDA_KERNEL_NODE_PARAMS* parameters) {
  SIM_CALL({
    need(parameters, "nodeParams");
    const auto node = node_of(handle);
    const KernelLaunch& launch = *kernel_node(*node).kernel;
    *parameters = {};
    parameters->func = handle_of<CUfunction>(*launch.function);
    parameters->gridDimX = launch.what.grid[0];
    parameters->gridDimY = launch.what.grid[1];
    parameters->gridDimZ = launch.what.grid[2];
    parameters->blockDimX = launch.what.block[0];
    parameters->blockDimY = launch.what.block[1];
    parameters->blockDimZ = launch.what.block[2];
    parameters->sharedMemBytes = static_cast<unsigned>(launch.what.shared_bytes);
    thread_local std::vector<void*> pointers;  // valid until the next call; the values live as long as the node
    pointers.clear();
    for (const KernelParameter& each : launch.function->info().parameters) {
      pointers.push_back(const_cast<uint8_t*>(launch.what.parameters.data()) + each.offset);
    }
    parameters->kernelParams = pointers.data();
    parameters->ctx = handle_of<CUcontext>(*launch.function->owner);
  });
}

CUresult cuGraphKernelNodeSetParams(CUgraphNode handle, const CUDA_KERNEL_NODE_PARAMS* parameters) {
  SIM_CALL({
    const auto node = node_of(handle);
    kernel_node(*node);
    node->kernel = bind_kernel(node->task, launch_of(call, parameters));
  });
}

// ---- Executable graphs.

CUresult cuGraphInstantiate(CUgraphExec* exec, CUgraph graph, unsigned long long flags) {
  SIM_CALL({ instantiate_graph(call, exec, graph, flags); });
}

CUresult cuGraphInstantiateWithParams(CUgraphExec* exec, CUgraph graph, CUDA_GRAPH_INSTANTIATE_PARAMS* parameters) {
  SIM_CALL({
    need(parameters, "instantiateParams");
    parameters->result_out = CUDA_GRAPH_INSTANTIATE_ERROR;
    parameters->hErrNode_out = nullptr;
    instantiate_graph(call, exec, graph, parameters->flags);
    parameters->result_out = CUDA_GRAPH_INSTANTIATE_SUCCESS;
  });
}

CUresult cuGraphUpload(CUgraphExec handle, CUstream stream) {
  SIM_CALL({
    exec_of(call, handle);
    refuse_captured(*call.stream(stream), "a graph cannot be uploaded on it");
  });
}

CUresult cuGraphLaunch(CUgraphExec exec, CUstream stream) {
  SIM_CALL({ launch_exec(call, exec, stream); });
}

CUresult cuGraphExecDestroy(CUgraphExec handle) {
  SIM_CALL({ machine().registry.destroy(*exec_of(call, handle), call.name()); });
}

CUresult cuGraphExecKernelNodeSetParams(CUgraphExec handle, CUgraphNode node_handle,
                                        const CUDA_KERNEL_NODE_PARAMS* parameters) {
  SIM_CALL({
    const auto exec = exec_of(call, handle);
    // The node may be gone with its graph; the handle still says which step is meant.
    const auto step = std::find_if(exec->steps.begin(), exec->steps.end(), [&](const ExecObject::Step& each) {
      return each.node->handle == reinterpret_cast<uint64_t>(node_handle);
    });
    if (step == exec->steps.end()) {
      misuse(CUDA_ERROR_INVALID_VALUE, fmt::format("{} holds no such node", exec->name));
    }
    kernel_node(*step->node);
    const KernelLaunch launch = launch_of(call, parameters);
    if (launch.function->owner != step->kernel->function->owner) {
      misuse(CUDA_ERROR_INVALID_VALUE, "the kernel is of another context than before");
    }
    step->kernel = bind_kernel(step->task, launch);
  });
}

CUresult cuGraphExecUpdate(CUgraphExec handle, CUgraph graph, CUgraphExecUpdateResultInfo* result) {
  SIM_CALL({
    need(result, "resultInfo");
    *result = {};
    std::string why_not;
    if (update(*exec_of(call, handle), *graph_of(graph), &why_not)) return;
    result->result = CU_GRAPH_EXEC_UPDATE_ERROR_TOPOLOGY_CHANGED;
    fail(CUDA_ERROR_GRAPH_EXEC_UPDATE_FAILURE);
  });
}
}
