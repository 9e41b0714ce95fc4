// Recording streams into graphs. Runs against a real driver too, as contract_test.cpp does.
#include <thread>

#include "unit/sim/cuda/driver_fixture.h"

namespace plait::sim {
namespace {

constexpr int kCount = 96;
constexpr CUstreamCaptureMode kGlobal = CU_STREAM_CAPTURE_MODE_GLOBAL;

class CaptureTest : public DriverTest {
 protected:
  CUdeviceptr buffer() { return allocate(kCount * 4); }
  CUgraph end(CUstream on) {
    CUgraph graph = nullptr;
    EXPECT_OK(cu.cuStreamEndCapture(on, &graph));
    return graph;
  }
  // The recording of `on` is over and gave no graph.
  void expect_invalid(CUstream on) {
    CUstreamCaptureStatus status = CU_STREAM_CAPTURE_STATUS_NONE;
    EXPECT_OK(cu.cuStreamIsCapturing(on, &status));
    EXPECT_EQ(status, CU_STREAM_CAPTURE_STATUS_INVALIDATED);
    CUgraph graph = reinterpret_cast<CUgraph>(8);
    EXPECT_EQ(cu.cuStreamEndCapture(on, &graph), CUDA_ERROR_STREAM_CAPTURE_INVALIDATED);
    EXPECT_EQ(graph, nullptr);
    EXPECT_OK(cu.cuStreamIsCapturing(on, &status));
    EXPECT_EQ(status, CU_STREAM_CAPTURE_STATUS_NONE);
  }
  CUgraphExec instantiate(CUgraph graph) {
    CUgraphExec exec = nullptr;
    EXPECT_OK(cu.cuGraphInstantiate(&exec, graph, 0));
    return exec;
  }
};

TEST_F(CaptureTest, RunsOnlyWhenLaunched) {
  const CUstream on = stream();
  const CUdeviceptr a = buffer(), b = buffer();
  EXPECT_OK(cu.cuMemsetD32(a, 0, kCount));
  EXPECT_OK(cu.cuMemsetD32(b, 0, kCount));
  EXPECT_OK(cu.cuCtxSynchronize());
  EXPECT_OK(cu.cuStreamBeginCapture(on, kGlobal));
  CUstreamCaptureStatus status = CU_STREAM_CAPTURE_STATUS_NONE;
  cuuint64_t id = 0;
  EXPECT_OK(cu.cuStreamGetCaptureInfo(on, &status, &id, nullptr, nullptr, nullptr, nullptr));
  EXPECT_EQ(status, CU_STREAM_CAPTURE_STATUS_ACTIVE);
  EXPECT_OK(fill(on, a, 3, kCount));
  EXPECT_OK(add(on, b, b, a, kCount));
  EXPECT_OK(cu.cuMemsetD8Async(a, 0, 4, on));
  const CUgraph graph = end(on);
  EXPECT_EQ(read(b, kCount), std::vector<float>(kCount, 0));
  size_t nodes = 0, edges = 0;
  EXPECT_OK(cu.cuGraphGetNodes(graph, nullptr, &nodes));
  EXPECT_EQ(nodes, 3u);
  EXPECT_OK(cu.cuGraphGetEdges(graph, nullptr, nullptr, nullptr, &edges));
  EXPECT_EQ(edges, 2u);
  CUgraphNode root = nullptr;
  nodes = 1;
  EXPECT_OK(cu.cuGraphGetRootNodes(graph, &root, &nodes));
  CUgraphNodeType type = CU_GRAPH_NODE_TYPE_EMPTY;
  EXPECT_OK(cu.cuGraphNodeGetType(root, &type));
  EXPECT_EQ(type, CU_GRAPH_NODE_TYPE_KERNEL);
  const CUgraphExec exec = instantiate(graph);
  EXPECT_OK(cu.cuGraphDestroy(graph));
  EXPECT_OK(cu.cuGraphUpload(exec, on));
  for (int i = 0; i < 3; ++i) EXPECT_OK(cu.cuGraphLaunch(exec, on));
  EXPECT_OK(cu.cuStreamSynchronize(on));
  EXPECT_EQ(read(b, kCount), std::vector<float>(kCount, 9));
  EXPECT_EQ(read(a, 2), (std::vector<float>{0, 3}));
  EXPECT_OK(cu.cuGraphExecDestroy(exec));
}

TEST_F(CaptureTest, ForkAndJoinByEvents) {
  for (uint64_t seed = 0; seed <= 50; ++seed) {
    if (simulated()) plait_sim_set_seed(seed);
    const CUstream main = stream(), side = stream();
    const CUdeviceptr a = buffer(), b = buffer(), c = buffer();
    const CUevent forked = event(), joined = event();
    EXPECT_OK(cu.cuStreamBeginCapture(main, kGlobal));
    EXPECT_OK(fill(main, a, 1, kCount));
    order(main, side, forked);
    CUstreamCaptureStatus status = CU_STREAM_CAPTURE_STATUS_NONE;
    EXPECT_OK(cu.cuStreamIsCapturing(side, &status));
    EXPECT_EQ(status, CU_STREAM_CAPTURE_STATUS_ACTIVE);
    EXPECT_OK(add(side, b, a, a, kCount));
    EXPECT_OK(add(main, c, a, a, kCount));
    order(side, main, joined);
    EXPECT_OK(add(main, a, b, c, kCount));
    const CUgraph graph = end(main);
    EXPECT_OK(cu.cuStreamIsCapturing(side, &status));
    EXPECT_EQ(status, CU_STREAM_CAPTURE_STATUS_NONE);
    const CUgraphExec exec = instantiate(graph);
    EXPECT_OK(cu.cuGraphLaunch(exec, main));
    EXPECT_OK(cu.cuGraphLaunch(exec, main));
    EXPECT_OK(cu.cuStreamSynchronize(main));
    EXPECT_EQ(read(a, kCount), std::vector<float>(kCount, 4));
    ASSERT_EQ(findings(), "");
    EXPECT_OK(cu.cuGraphExecDestroy(exec));
    EXPECT_OK(cu.cuGraphDestroy(graph));
    free_all();
  }
}

TEST_F(CaptureTest, BranchesOfAGraphAreNotOrdered) {
  SIMULATED_ONLY();
  for (uint64_t seed = 0; seed <= 50; ++seed) {
    plait_sim_set_seed(seed);
    const CUstream main = stream(), side = stream();
    const CUdeviceptr a = buffer(), b = buffer();
    const CUevent forked = event(), joined = event();
    EXPECT_OK(cu.cuStreamBeginCapture(main, kGlobal));
    order(main, side, forked);
    EXPECT_OK(fill(side, a, 1, kCount));
    EXPECT_OK(add(main, b, a, a, kCount));
    order(side, main, joined);
    const CUgraph graph = end(main);
    const CUgraphExec exec = instantiate(graph);
    EXPECT_OK(cu.cuMemsetD32(a, 0, kCount));
    EXPECT_OK(cu.cuCtxSynchronize());
    EXPECT_OK(cu.cuGraphLaunch(exec, main));
    EXPECT_EQ(cu.cuStreamSynchronize(main), CUDA_ERROR_LAUNCH_FAILED);
    expect_findings({"not ordered", "`fill`", "`add`", "branch 1 of executable graph", "branch 2 of"});
    reset();
  }
}

TEST_F(CaptureTest, WaitingOnACapturedStreamInvalidates) {
  const CUstream on = stream();
  const CUdeviceptr a = buffer();
  using Wait = CUresult (*)(const DriverApi&, CUstream);
  const Wait waits[] = {
      [](const DriverApi& api, CUstream at) { return api.cuStreamSynchronize(at); },
      [](const DriverApi& api, CUstream at) { return api.cuStreamQuery(at); },
      [](const DriverApi& api, CUstream) { return api.cuCtxSynchronize(); },
  };
  for (const Wait wait : waits) {
    EXPECT_OK(cu.cuStreamBeginCapture(on, CU_STREAM_CAPTURE_MODE_RELAXED));
    EXPECT_OK(fill(on, a, 1, kCount));
    EXPECT_EQ(wait(cu, on), CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED);
    expect_findings({"is being captured"});
    EXPECT_EQ(fill(on, a, 1, kCount), CUDA_ERROR_STREAM_CAPTURE_INVALIDATED);
    expect_invalid(on);
  }
}

TEST_F(CaptureTest, CallsThatMaySynchroniseByMode) {
  const CUstream on = stream();
  CUdeviceptr memory = 0;
  EXPECT_OK(cu.cuStreamBeginCapture(on, kGlobal));
  EXPECT_EQ(cu.cuMemAlloc(&memory, 16), CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED);
  expect_findings({"cuMemAlloc: may synchronise", "is being captured"});
  expect_invalid(on);

  EXPECT_OK(cu.cuStreamBeginCapture(on, kGlobal));
  std::thread([&] {
    EXPECT_OK(cu.cuCtxSetCurrent(context));
    EXPECT_EQ(cu.cuMemAlloc(&memory, 16), CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED);
  }).join();
  expect_findings({"cuMemAlloc: may synchronise"});
  expect_invalid(on);

  EXPECT_OK(cu.cuStreamBeginCapture(on, CU_STREAM_CAPTURE_MODE_THREAD_LOCAL));
  std::thread([&] {
    EXPECT_OK(cu.cuCtxSetCurrent(context));
    EXPECT_OK(cu.cuMemAlloc(&memory, 16));
    EXPECT_OK(cu.cuMemFree(memory));
  }).join();
  EXPECT_OK(cu.cuGraphDestroy(end(on)));

  EXPECT_OK(cu.cuStreamBeginCapture(on, CU_STREAM_CAPTURE_MODE_RELAXED));
  EXPECT_OK(cu.cuMemAlloc(&memory, 16));
  EXPECT_OK(cu.cuMemFree(memory));
  EXPECT_OK(cu.cuGraphDestroy(end(on)));

  CUstreamCaptureMode mode = CU_STREAM_CAPTURE_MODE_RELAXED;
  EXPECT_OK(cu.cuThreadExchangeStreamCaptureMode(&mode));
  EXPECT_EQ(mode, kGlobal);
  EXPECT_OK(cu.cuStreamBeginCapture(on, kGlobal));
  EXPECT_OK(cu.cuMemAlloc(&memory, 16));
  EXPECT_OK(cu.cuMemFree(memory));
  EXPECT_OK(cu.cuGraphDestroy(end(on)));
  EXPECT_OK(cu.cuThreadExchangeStreamCaptureMode(&mode));
  EXPECT_EQ(mode, CU_STREAM_CAPTURE_MODE_RELAXED);
}

TEST_F(CaptureTest, TheLegacyStream) {
  const CUdeviceptr a = buffer();
  EXPECT_EQ(cu.cuStreamBeginCapture(nullptr, kGlobal), CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED);
  expect_findings({"legacy default stream cannot be captured"});
  const CUstream blocking = stream(CU_STREAM_DEFAULT), apart = stream();
  EXPECT_OK(cu.cuStreamBeginCapture(blocking, kGlobal));
  CUstreamCaptureStatus status = CU_STREAM_CAPTURE_STATUS_NONE;
  EXPECT_EQ(cu.cuStreamIsCapturing(nullptr, &status), CUDA_ERROR_STREAM_CAPTURE_IMPLICIT);
  EXPECT_EQ(fill(nullptr, a, 1, kCount), CUDA_ERROR_STREAM_CAPTURE_IMPLICIT);
  expect_findings({"the legacy default stream would wait for"});
  expect_invalid(blocking);
  EXPECT_OK(cu.cuStreamBeginCapture(apart, kGlobal));
  EXPECT_OK(fill(nullptr, a, 1, kCount));
  EXPECT_OK(cu.cuGraphDestroy(end(apart)));
}

TEST_F(CaptureTest, EventsAcrossTheBorder) {
  const CUstream on = stream(), outside = stream();
  const CUdeviceptr a = buffer();
  const CUevent before = event(), inside = event();
  EXPECT_OK(fill(outside, a, 1, kCount));
  EXPECT_OK(cu.cuEventRecord(before, outside));
  EXPECT_OK(cu.cuStreamBeginCapture(on, kGlobal));
  EXPECT_EQ(cu.cuStreamWaitEvent(on, before, 0), CUDA_ERROR_STREAM_CAPTURE_ISOLATION);
  expect_findings({"recorded outside"});
  expect_invalid(on);

  EXPECT_OK(cu.cuStreamBeginCapture(on, CU_STREAM_CAPTURE_MODE_RELAXED));
  EXPECT_OK(fill(on, a, 1, kCount));
  EXPECT_OK(cu.cuEventRecord(inside, on));
  EXPECT_EQ(cu.cuEventQuery(inside), CUDA_ERROR_CAPTURED_EVENT);
  expect_findings({"stands for no work"});
  expect_invalid(on);
  EXPECT_OK(cu.cuStreamSynchronize(outside));
}

TEST_F(CaptureTest, ForksMustJoin) {
  const CUstream on = stream(), side = stream();
  const CUdeviceptr a = buffer();
  const CUevent forked = event();
  EXPECT_OK(cu.cuStreamBeginCapture(on, kGlobal));
  order(on, side, forked);
  EXPECT_OK(fill(side, a, 1, kCount));
  CUgraph graph = nullptr;
  EXPECT_EQ(cu.cuStreamEndCapture(on, &graph), CUDA_ERROR_STREAM_CAPTURE_UNJOINED);
  EXPECT_EQ(graph, nullptr);
  expect_findings({"`fill` was captured on a stream that", "does not wait for"});
}

TEST_F(CaptureTest, EndsWhereAndByWhomItBegan) {
  const CUstream on = stream(), side = stream();
  const CUevent forked = event();
  CUgraph graph = nullptr;
  EXPECT_EQ(cu.cuStreamEndCapture(on, &graph), CUDA_ERROR_ILLEGAL_STATE);
  expect_findings({"is not being captured"});
  EXPECT_OK(cu.cuStreamBeginCapture(on, kGlobal));
  std::thread([&] {
    EXPECT_OK(cu.cuCtxSetCurrent(context));
    EXPECT_EQ(cu.cuStreamEndCapture(on, &graph), CUDA_ERROR_STREAM_CAPTURE_WRONG_THREAD);
  }).join();
  expect_findings({"another thread began the capture"});
  order(on, side, forked);
  EXPECT_EQ(cu.cuStreamEndCapture(side, &graph), CUDA_ERROR_STREAM_CAPTURE_UNMATCHED);
  expect_findings({"began on stream"});
  expect_invalid(on);
}

TEST_F(CaptureTest, CapturesDoNotMerge) {
  const CUstream first = stream(), second = stream();
  const CUevent done = event();
  EXPECT_OK(cu.cuStreamBeginCapture(first, kGlobal));
  EXPECT_OK(cu.cuStreamBeginCapture(second, kGlobal));
  EXPECT_OK(cu.cuEventRecord(done, first));
  EXPECT_EQ(cu.cuStreamWaitEvent(second, done, 0), CUDA_ERROR_STREAM_CAPTURE_MERGE);
  expect_findings({"belong to different captures"});
  expect_invalid(first);
  expect_invalid(second);
}

TEST_F(CaptureTest, ParametersOfALaunchCanBeSet) {
  const CUstream on = stream();
  const CUdeviceptr a = buffer(), b = buffer();
  EXPECT_OK(cu.cuStreamBeginCapture(on, kGlobal));
  EXPECT_OK(fill(on, a, 1, kCount));
  const CUgraph graph = end(on);
  const CUgraphExec exec = instantiate(graph);
  CUgraphNode node = nullptr;
  size_t count = 1;
  EXPECT_OK(cu.cuGraphGetNodes(graph, &node, &count));
  CUDA_KERNEL_NODE_PARAMS parameters = {};
  EXPECT_OK(cu.cuGraphKernelNodeGetParams(node, &parameters));
  EXPECT_EQ(parameters.blockDimX, 64u);
  EXPECT_EQ(*static_cast<float*>(parameters.kernelParams[1]), 1);
  CUdeviceptr to = b;
  float value = 8;
  int n = kCount;
  void* changed[] = {&to, &value, &n};
  parameters.kernelParams = changed;
  EXPECT_OK(cu.cuGraphExecKernelNodeSetParams(exec, node, &parameters));
  EXPECT_OK(cu.cuGraphLaunch(exec, on));
  EXPECT_OK(cu.cuStreamSynchronize(on));
  EXPECT_EQ(read(b, kCount), std::vector<float>(kCount, 8));
  EXPECT_OK(cu.cuGraphExecDestroy(exec));
  EXPECT_OK(cu.cuGraphDestroy(graph));
}

TEST_F(CaptureTest, GraphsCanTakeThePlaceOfOthers) {
  const CUstream on = stream();
  const CUdeviceptr a = buffer();
  const auto capture = [&](float value, int launches) {
    EXPECT_OK(cu.cuStreamBeginCapture(on, kGlobal));
    for (int i = 0; i < launches; ++i) EXPECT_OK(fill(on, a, value, kCount));
    return end(on);
  };
  const CUgraph one = capture(1, 1), two = capture(2, 1), longer = capture(3, 2);
  const CUgraphExec exec = instantiate(one);
  CUgraphExecUpdateResultInfo result = {};
  EXPECT_OK(cu.cuGraphExecUpdate(exec, two, &result));
  EXPECT_OK(cu.cuGraphLaunch(exec, on));
  EXPECT_OK(cu.cuStreamSynchronize(on));
  EXPECT_EQ(read(a, kCount), std::vector<float>(kCount, 2));
  EXPECT_EQ(cu.cuGraphExecUpdate(exec, longer, &result), CUDA_ERROR_GRAPH_EXEC_UPDATE_FAILURE);
  EXPECT_NE(result.result, CU_GRAPH_EXEC_UPDATE_SUCCESS);
  for (const CUgraph graph : {one, two, longer}) EXPECT_OK(cu.cuGraphDestroy(graph));
  EXPECT_OK(cu.cuGraphExecDestroy(exec));
}

TEST_F(CaptureTest, GraphsWithoutCapture) {
  const CUstream on = stream();
  CUdeviceptr a = buffer();
  float value = 5;
  int n = kCount;
  void* values[] = {&a, &value, &n};
  CUgraph graph = nullptr;
  ASSERT_OK(cu.cuGraphCreate(&graph, 0));
  CUDA_KERNEL_NODE_PARAMS parameters = {};
  parameters.func = kernel("fill");
  parameters.gridDimX = 2;
  parameters.gridDimY = parameters.gridDimZ = parameters.blockDimY = parameters.blockDimZ = 1;
  parameters.blockDimX = 64;
  parameters.kernelParams = values;
  CUgraphNode first = nullptr, second = nullptr, last = nullptr;
  EXPECT_OK(cu.cuGraphAddKernelNode(&first, graph, nullptr, 0, &parameters));
  value = 6;
  EXPECT_OK(cu.cuGraphAddKernelNode(&second, graph, &first, 1, &parameters));
  EXPECT_OK(cu.cuGraphAddEmptyNode(&last, graph, &second, 1));
  const CUgraphExec exec = instantiate(graph);
  EXPECT_OK(cu.cuGraphLaunch(exec, on));
  EXPECT_OK(cu.cuStreamSynchronize(on));
  EXPECT_EQ(read(a, kCount), std::vector<float>(kCount, 6));
  EXPECT_OK(cu.cuGraphExecDestroy(exec));
  EXPECT_OK(cu.cuGraphDestroy(graph));
}

}  // namespace
}  // namespace plait::sim
