// One program with one mistake each: the report names the mistake and its place. What the order of streams is about is
// in order_test.cpp, what capture is about in capture_test.cpp.
#include <cstring>

#include "unit/sim/cuda/driver_fixture.h"

namespace plait::sim {
namespace {

constexpr int kCount = 96;

class PlantedBugTest : public DriverTest {
 protected:
  void SetUp() override {
    SIMULATED_ONLY();
    DriverTest::SetUp();
  }
  void TearDown() override {
    if (simulated()) DriverTest::TearDown();
  }
  CUdeviceptr buffer() { return allocate(kCount * 4); }
  // All work ends with the code; the report has the texts; the context is as new afterwards.
  void expect_fault(CUresult code, const std::vector<std::string>& parts) {
    EXPECT_EQ(cu.cuCtxSynchronize(), code);
    const char* text = nullptr;
    EXPECT_OK(cu.cuGetErrorString(code, &text));
    const std::string said = text;
    const std::string all = findings();
    EXPECT_NE(all.find(said), all.npos) << said << "\n  is not in\n" << all;
    for (const std::string& part : parts) EXPECT_NE(all.find(part), all.npos) << part << "\n  is not in\n" << all;
    reset();
  }
  // Another module in the place of the fixture's.
  void load_again() {
    functions.clear();
    EXPECT_OK(cu.cuModuleLoadData(&module, kKernels));
  }
  // The second device's context, made current.
  CUcontext other() {
    CUcontext made = nullptr;
    EXPECT_OK(cu.cuDevicePrimaryCtxRetain(&made, 1));
    EXPECT_OK(cu.cuCtxSetCurrent(made));
    return made;
  }
  void leave_other() {
    EXPECT_OK(cu.cuDevicePrimaryCtxRelease(1));
    EXPECT_OK(cu.cuCtxSetCurrent(context));
  }
};

// ---- Memory, by kernels.

TEST_F(PlantedBugTest, BoundIsOneTooLarge) {
  EXPECT_OK(fill(stream(), allocate(kCount * 4 - 4), 1, kCount));
  expect_fault(CUDA_ERROR_ILLEGAL_ADDRESS, {"out of bounds: writes", "+ 380 of 380 bytes", "`fill`",
                                            "block (1, 0, 0), thread (31, 0, 0)", "PTX line", "st.global.f32"});
}

TEST_F(PlantedBugTest, MisalignedVectors) {
  CUdeviceptr from = buffer(), to = buffer();
  EXPECT_OK(cu.cuMemsetD8(from, 0, kCount * 4));
  from += 4;
  int n = 4;
  const CUstream on = stream(CU_STREAM_DEFAULT);
  EXPECT_OK(launch("vector_add", on, n, {&to, &from, &n}));
  expect_fault(CUDA_ERROR_MISALIGNED_ADDRESS, {"misaligned: reads 16 bytes", "`vector_add`", "ld.global.v4.f32"});
}

TEST_F(PlantedBugTest, BufferIsNeverWritten) {
  EXPECT_OK(add(stream(), buffer(), buffer(), buffer(), kCount));
  expect_fault(CUDA_ERROR_LAUNCH_FAILED, {"uninitialised: reads", "never written", "`add`", "thread (0, 0, 0)"});
}

TEST_F(PlantedBugTest, ResultIsCopiedBeforeItIsWritten) {
  std::vector<float> values(kCount);
  EXPECT_EQ(cu.cuMemcpyDtoH(values.data(), buffer(), kCount * 4), CUDA_ERROR_LAUNCH_FAILED);
  expect_fault(CUDA_ERROR_LAUNCH_FAILED, {"uninitialised: reads 384 bytes", "`cuMemcpyDtoH`"});
}

TEST_F(PlantedBugTest, FreedBufferIsUsed) {
  const CUstream on = stream();
  const CUdeviceptr a = buffer();
  EXPECT_OK(cu.cuMemFree(a));
  EXPECT_OK(fill(on, a, 1, kCount));
  expect_fault(CUDA_ERROR_ILLEGAL_ADDRESS, {"use after free", "`fill`", "freed by `cuMemFree`"});
}

TEST_F(PlantedBugTest, FreedBufferOfAPoolIsUsed) {
  const CUstream on = stream();
  CUdeviceptr a = 0;
  EXPECT_OK(cu.cuMemAllocAsync(&a, kCount * 4, on));
  EXPECT_OK(cu.cuMemFreeAsync(a, on));
  EXPECT_OK(fill(on, a, 1, kCount));
  expect_fault(CUDA_ERROR_ILLEGAL_ADDRESS, {"use after free", "`fill`", "freed by `cuMemFreeAsync` (operation 2"});
}

TEST_F(PlantedBugTest, PoolMemoryIsFreedWithoutWaiting) {
  const CUstream on = stream();
  CUdeviceptr a = 0;
  EXPECT_OK(cu.cuMemAllocAsync(&a, kCount * 4, on));
  EXPECT_OK(fill(on, a, 1, kCount));
  cu.cuStreamQuery(on);
  cu.cuMemFree(a);  // does not wait for memory of pools
  EXPECT_NE(cu.cuCtxSynchronize(), CUDA_SUCCESS);
  expect_findings({"`fill`", "cuMemFree"});
  reset();
}

TEST_F(PlantedBugTest, HostPointerIsGivenToAKernel) {
  std::vector<float> values(kCount);
  EXPECT_OK(fill(stream(), reinterpret_cast<CUdeviceptr>(values.data()), 1, kCount));
  expect_fault(CUDA_ERROR_ILLEGAL_ADDRESS,
               {"out of bounds: writes", "no device memory and no registered host memory", "`fill`"});
}

TEST_F(PlantedBugTest, PointerAndCountAreSwapped) {
  CUdeviceptr a = buffer();
  const CUdeviceptr wrong = 96;
  (void)a;
  EXPECT_OK(fill(stream(), wrong, 1, kCount));
  expect_fault(CUDA_ERROR_ILLEGAL_ADDRESS, {"out of bounds", "address 0x60"});
}

TEST_F(PlantedBugTest, PeerWithoutAccess) {
  const CUcontext their_context = other();
  CUdeviceptr theirs = 0;
  EXPECT_OK(cu.cuMemAlloc(&theirs, kCount * 4));
  EXPECT_OK(cu.cuCtxSetCurrent(context));
  EXPECT_OK(fill(stream(), theirs, 1, kCount));
  expect_fault(CUDA_ERROR_ILLEGAL_ADDRESS, {"no peer access: device 0 writes", "device 1", "`fill`"});
  EXPECT_OK(cu.cuCtxSetCurrent(their_context));
  EXPECT_OK(cu.cuMemFree(theirs));
  leave_other();
}

TEST_F(PlantedBugTest, PoolOfAPeerWithoutAccess) {
  // Access between contexts says nothing of pools.
  const CUcontext their_context = other();
  CUdeviceptr theirs = 0;
  EXPECT_OK(cu.cuMemAllocAsync(&theirs, kCount * 4, nullptr));
  EXPECT_OK(cu.cuCtxSynchronize());
  EXPECT_OK(cu.cuCtxSetCurrent(context));
  EXPECT_OK(cu.cuCtxEnablePeerAccess(their_context, 0));
  CUmemoryPool pool = nullptr;
  EXPECT_OK(cu.cuDeviceGetDefaultMemPool(&pool, 1));
  CUmemAccessDesc access = {};
  access.location.type = CU_MEM_LOCATION_TYPE_DEVICE;
  access.flags = CU_MEM_ACCESS_FLAGS_PROT_READWRITE;
  EXPECT_OK(cu.cuMemPoolSetAccess(pool, &access, 1));
  EXPECT_OK(fill(stream(), theirs, 1, kCount));
  EXPECT_OK(cu.cuCtxSynchronize());
  EXPECT_EQ(findings(), "");
  access.flags = CU_MEM_ACCESS_FLAGS_PROT_NONE;
  EXPECT_OK(cu.cuMemPoolSetAccess(pool, &access, 1));
  EXPECT_OK(fill(streams[0], theirs, 1, kCount));
  expect_fault(CUDA_ERROR_ILLEGAL_ADDRESS, {"no peer access: device 0 writes", "cuMemAllocAsync, device 1"});
  EXPECT_OK(cu.cuCtxSetCurrent(their_context));
  EXPECT_OK(cu.cuMemFree(theirs));
  leave_other();
}

// ---- Memory, by calls: refused at once.

TEST_F(PlantedBugTest, FreedTwice) {
  CUdeviceptr a = 0, b = 0;
  EXPECT_OK(cu.cuMemAlloc(&a, 64));
  EXPECT_OK(cu.cuMemFree(a));
  EXPECT_EQ(cu.cuMemFree(a), CUDA_ERROR_INVALID_VALUE);
  expect_findings({"cuMemFree: device memory", "freed twice: allocation of 64 bytes, freed by cuMemFree before"});
  const CUstream on = stream();
  EXPECT_OK(cu.cuMemAllocAsync(&b, 64, on));
  EXPECT_OK(cu.cuMemFreeAsync(b, on));
  EXPECT_EQ(cu.cuMemFreeAsync(b, on), CUDA_ERROR_INVALID_VALUE);
  expect_findings({"cuMemFreeAsync: device memory", "freed twice", "freed by cuMemFreeAsync before"});
  EXPECT_EQ(cu.cuMemFree(b), CUDA_ERROR_INVALID_VALUE);
  expect_findings({"cuMemFree: device memory", "freed twice"});
}

TEST_F(PlantedBugTest, FreedFromTheMiddle) {
  const CUdeviceptr a = buffer();
  EXPECT_EQ(cu.cuMemFree(a + 4), CUDA_ERROR_INVALID_VALUE);
  expect_findings({"cuMemFree: device memory", "is not the start of an allocation", "+ 4 of 384 bytes"});
  int here = 0;
  EXPECT_EQ(cu.cuMemFree(reinterpret_cast<CUdeviceptr>(&here)), CUDA_ERROR_INVALID_VALUE);
  expect_findings({"no device memory and no registered host memory"});
}

TEST_F(PlantedBugTest, CopyIsTooLong) {
  std::vector<float> values(kCount + 1);
  const CUdeviceptr a = buffer();
  EXPECT_EQ(cu.cuMemcpyHtoDAsync(a, values.data(), kCount * 4 + 4, stream()), CUDA_ERROR_INVALID_VALUE);
  expect_findings({"cuMemcpyHtoDAsync: out of bounds: 388 bytes at the target", "of 384 bytes"});
  EXPECT_EQ(cu.cuMemsetD8(a + 1, 0, kCount * 4), CUDA_ERROR_INVALID_VALUE);
  expect_findings({"cuMemsetD8: out of bounds"});
}

TEST_F(PlantedBugTest, CopyHasItsSidesSwapped) {
  std::vector<float> values(kCount);
  const CUdeviceptr a = buffer();
  const auto host = reinterpret_cast<CUdeviceptr>(values.data());
  EXPECT_EQ(cu.cuMemcpyDtoDAsync(a, host, kCount * 4, stream()), CUDA_ERROR_INVALID_VALUE);
  expect_findings({"cuMemcpyDtoDAsync: the source is no device memory"});
  EXPECT_EQ(cu.cuMemcpyHtoD(a, reinterpret_cast<void*>(a), 4), CUDA_ERROR_INVALID_VALUE);
  expect_findings({"cuMemcpyHtoD: the source is device memory"});
}

TEST_F(PlantedBugTest, CopyOverlapsItself) {
  const CUdeviceptr a = buffer();
  EXPECT_EQ(cu.cuMemcpyDtoDAsync(a + 4, a, 64, stream()), CUDA_ERROR_INVALID_VALUE);
  expect_findings({"cuMemcpyDtoDAsync: source and target overlap"});
}

TEST_F(PlantedBugTest, FreedBufferIsCopied) {
  const CUdeviceptr a = buffer();
  EXPECT_OK(cu.cuMemFree(a));
  allocations.clear();
  EXPECT_EQ(cu.cuMemsetD8Async(a, 0, 4, stream()), CUDA_ERROR_INVALID_VALUE);
  expect_findings({"cuMemsetD8Async: use after free", "freed by `cuMemFree`"});
}

TEST_F(PlantedBugTest, PinnedMemoryIsFreedInUse) {
  void* pinned = nullptr;
  EXPECT_OK(cu.cuMemHostAlloc(&pinned, kCount * 4, 0));
  const CUstream on = stream();
  const CUdeviceptr a = buffer();
  std::memset(pinned, 0, kCount * 4);
  EXPECT_OK(cu.cuMemcpyHtoDAsync(a, pinned, kCount * 4, on));
  EXPECT_OK(cu.cuMemFreeHost(pinned));
  expect_findings({"cuMemFreeHost: not ordered", "`cuMemcpyHtoDAsync`"});
  EXPECT_OK(cu.cuStreamSynchronize(on));
}

// ---- Handles and contexts.

TEST_F(PlantedBugTest, StreamIsUsedAfterItsEnd) {
  CUstream on = nullptr;
  EXPECT_OK(cu.cuStreamCreate(&on, CU_STREAM_NON_BLOCKING));
  EXPECT_OK(cu.cuStreamDestroy(on));
  EXPECT_EQ(fill(on, buffer(), 1, kCount), CUDA_ERROR_INVALID_HANDLE);
  expect_findings({"cuLaunchKernel: stream", "was destroyed by cuStreamDestroy before"});
  EXPECT_EQ(cu.cuStreamDestroy(on), CUDA_ERROR_INVALID_HANDLE);
  expect_findings({"cuStreamDestroy: stream", "was destroyed by cuStreamDestroy before"});
}

TEST_F(PlantedBugTest, StreamIsDestroyedInUse) {
  CUstream on = nullptr;
  const CUdeviceptr a = buffer();
  EXPECT_OK(cu.cuStreamCreate(&on, CU_STREAM_NON_BLOCKING));
  EXPECT_OK(fill(on, a, 1, kCount));
  EXPECT_OK(cu.cuStreamDestroy(on));
  expect_findings({"cuStreamDestroy: stream", "destroyed in use: nobody waited for `fill`"});
  EXPECT_EQ(read(a, kCount), std::vector<float>(kCount, 1));  // its work is done all the same
}

TEST_F(PlantedBugTest, EventIsUsedAfterItsEnd) {
  CUevent done = nullptr;
  EXPECT_OK(cu.cuEventCreate(&done, CU_EVENT_DISABLE_TIMING));
  EXPECT_OK(cu.cuEventDestroy(done));
  EXPECT_EQ(cu.cuStreamWaitEvent(stream(), done, 0), CUDA_ERROR_INVALID_HANDLE);
  expect_findings({"cuStreamWaitEvent: event", "was destroyed by cuEventDestroy before"});
}

TEST_F(PlantedBugTest, HandlesAreMixedUp) {
  const CUevent done = event();
  EXPECT_EQ(cu.cuStreamSynchronize(reinterpret_cast<CUstream>(done)), CUDA_ERROR_INVALID_HANDLE);
  expect_findings({"cuStreamSynchronize: event", "is no stream"});
  EXPECT_EQ(cu.cuEventRecord(nullptr, nullptr), CUDA_ERROR_INVALID_HANDLE);
  expect_findings({"cuEventRecord: the event is null"});
  int here = 0;
  EXPECT_EQ(cu.cuGraphLaunch(reinterpret_cast<CUgraphExec>(&here), nullptr), CUDA_ERROR_INVALID_VALUE);
  expect_findings({"cuGraphLaunch: 0x", "is no executable graph"});
}

TEST_F(PlantedBugTest, KernelOfAnotherContext) {
  const CUdeviceptr a = buffer();
  const CUcontext their_context = other();
  CUstream theirs = nullptr;
  EXPECT_OK(cu.cuStreamCreate(&theirs, CU_STREAM_NON_BLOCKING));
  EXPECT_EQ(fill(theirs, a, 1, kCount), CUDA_ERROR_INVALID_HANDLE);
  expect_findings({"cuLaunchKernel: kernel `fill` belongs to context", "(device 0), stream", "(device 1)"});
  EXPECT_EQ(cu.cuEventRecord(event(), nullptr), CUDA_SUCCESS);  // both of the current one
  EXPECT_OK(cu.cuCtxSetCurrent(context));
  EXPECT_EQ(cu.cuEventRecord(event(), theirs), CUDA_ERROR_INVALID_HANDLE);
  expect_findings({"cuEventRecord: event", "(device 0), stream", "(device 1)"});
  EXPECT_OK(cu.cuCtxSetCurrent(their_context));
  EXPECT_OK(cu.cuStreamDestroy(theirs));
  EXPECT_OK(cu.cuEventDestroy(events[0]));
  events.erase(events.begin());
  leave_other();
}

TEST_F(PlantedBugTest, ContextIsUsedAfterItsEnd) {
  CUcontext made = nullptr;
  EXPECT_OK(cu.cuCtxCreate(&made, nullptr, 0, 0));
  EXPECT_OK(cu.cuCtxDestroy(made));
  EXPECT_EQ(cu.cuCtxPushCurrent(made), CUDA_ERROR_INVALID_CONTEXT);
  expect_findings({"cuCtxPushCurrent: context", "was destroyed by cuCtxDestroy before"});
  EXPECT_EQ(cu.cuDevicePrimaryCtxRelease(1), CUDA_ERROR_INVALID_CONTEXT);
  expect_findings({"cuDevicePrimaryCtxRelease: the primary context of device 1 was not retained"});
}

TEST_F(PlantedBugTest, KernelGetsTooFewParameters) {
  CUdeviceptr a = buffer();
  float value = 1;
  void* parameters[] = {&a, &value, nullptr};
  EXPECT_EQ(cu.cuLaunchKernel(kernel("fill"), 2, 1, 1, 64, 1, 1, 0, nullptr, parameters, nullptr),
            CUDA_ERROR_INVALID_VALUE);
  expect_findings({"cuLaunchKernel: kernel `fill` takes 3 parameters; number 3 (4 bytes)"});
  struct {
    CUdeviceptr out;
    float value;
  } some{a, 1};
  size_t bytes = 12;
  void* extra[] = {CU_LAUNCH_PARAM_BUFFER_POINTER, &some, CU_LAUNCH_PARAM_BUFFER_SIZE, &bytes, CU_LAUNCH_PARAM_END};
  EXPECT_EQ(cu.cuLaunchKernel(kernel("fill"), 2, 1, 1, 64, 1, 1, 0, nullptr, nullptr, extra), CUDA_ERROR_INVALID_VALUE);
  expect_findings({"kernel `fill` takes 16 bytes of parameters; the buffer has 12"});
}

TEST_F(PlantedBugTest, ModuleIsUnloadedInUse) {
  const CUstream on = stream();
  EXPECT_OK(fill(on, buffer(), 1, kCount));
  EXPECT_OK(cu.cuModuleUnload(module));
  expect_findings({"cuModuleUnload: module", "while `fill` (operation 1", "may still run"});
  EXPECT_OK(cu.cuStreamSynchronize(on));
  load_again();
}

TEST_F(PlantedBugTest, GraphOutlivesItsModule) {
  const CUstream on = stream();
  const CUdeviceptr a = buffer();
  EXPECT_OK(cu.cuStreamBeginCapture(on, CU_STREAM_CAPTURE_MODE_GLOBAL));
  EXPECT_OK(fill(on, a, 1, kCount));
  CUgraph graph = nullptr;
  CUgraphExec exec = nullptr;
  EXPECT_OK(cu.cuStreamEndCapture(on, &graph));
  EXPECT_OK(cu.cuGraphInstantiate(&exec, graph, 0));
  EXPECT_OK(cu.cuModuleUnload(module));
  EXPECT_EQ(cu.cuGraphLaunch(exec, on), CUDA_ERROR_INVALID_HANDLE);
  expect_findings({"cuGraphLaunch: executable graph", "the module of kernel `fill` is unloaded"});
  EXPECT_OK(cu.cuGraphExecDestroy(exec));
  EXPECT_OK(cu.cuGraphDestroy(graph));
  load_again();
}

TEST_F(PlantedBugTest, VariablesOfAModuleInUse) {
  CUdeviceptr out = buffer();
  void* parameters[] = {&out};
  const CUstream on = stream();
  EXPECT_OK(cu.cuLaunchKernel(kernel("count"), 1, 1, 1, 1, 1, 1, 0, on, parameters, nullptr));
  reset();  // gives up everything at once
  expect_findings({"leak"});
  out = buffer();
  EXPECT_OK(cu.cuLaunchKernel(kernel("count"), 1, 1, 1, 1, 1, 1, 0, stream(), parameters, nullptr));
  EXPECT_OK(cu.cuCtxSynchronize());
}

TEST_F(PlantedBugTest, MachineCodeAndNewerTargets) {
  CUmodule made = nullptr;
  const char cubin[64] =
      "\x7f"
      "ELF\x02\x01";
  EXPECT_EQ(cu.cuModuleLoadData(&made, cubin), CUDA_ERROR_NO_BINARY_FOR_GPU);
  std::string text = kKernels;
  text.replace(text.find("sm_80"), 5, "sm_90");
  EXPECT_EQ(cu.cuModuleLoadData(&made, text.c_str()), CUDA_ERROR_NO_BINARY_FOR_GPU);
  text.replace(text.find("sm_90"), 5, "sm_90a");
  EXPECT_EQ(cu.cuModuleLoadData(&made, text.c_str()), CUDA_ERROR_NO_BINARY_FOR_GPU);
  const int hopper = plait_sim_add_devices("sm_90a", 1);
  CUcontext newer = nullptr;
  EXPECT_OK(cu.cuDevicePrimaryCtxRetain(&newer, hopper));
  EXPECT_OK(cu.cuCtxSetCurrent(newer));
  EXPECT_OK(cu.cuModuleLoadData(&made, text.c_str()));
  EXPECT_OK(cu.cuModuleUnload(made));
  EXPECT_OK(cu.cuModuleLoadData(&made, kKernels));
  EXPECT_OK(cu.cuModuleUnload(made));
  EXPECT_OK(cu.cuDevicePrimaryCtxRelease(hopper));
  EXPECT_OK(cu.cuCtxSetCurrent(context));
}

TEST_F(PlantedBugTest, HostFunctionCallsTheDriver) {
  const CUstream on = stream();
  CUresult got = CUDA_SUCCESS;
  EXPECT_OK(cu.cuLaunchHostFunc(
      on,
      [](void* data) {
        CUdeviceptr memory = 0;
        *static_cast<CUresult*>(data) = driver_api().cuMemAlloc(&memory, 16);
      },
      &got));
  EXPECT_OK(cu.cuStreamSynchronize(on));
  EXPECT_EQ(got, CUDA_ERROR_NOT_PERMITTED);
  expect_findings({"cuMemAlloc: called by a host function"});
}

// ---- The end of a context.

TEST_F(PlantedBugTest, Leaks) {
  const CUcontext theirs = other();
  (void)theirs;
  CUdeviceptr memory = 0;
  CUstream on = nullptr;
  CUevent done = nullptr;
  CUmodule code = nullptr;
  CUgraph graph = nullptr;
  void* pinned = nullptr;
  EXPECT_OK(cu.cuMemAlloc(&memory, 1000));
  EXPECT_OK(cu.cuMemAllocAsync(&memory, 2000, nullptr));
  EXPECT_OK(cu.cuMemHostAlloc(&pinned, 3000, 0));
  EXPECT_OK(cu.cuStreamCreate(&on, 0));
  EXPECT_OK(cu.cuEventCreate(&done, 0));
  EXPECT_OK(cu.cuModuleLoadData(&code, kKernels));
  EXPECT_OK(cu.cuGraphCreate(&graph, 0));
  leave_other();
  expect_findings({"cuDevicePrimaryCtxRelease: leak: context", "of device 1 is given up with 7 things alive",
                   "1000 bytes (cuMemAlloc)", "2000 bytes (cuMemAllocAsync)", "3000 bytes (host memory)",
                   "(cuStreamCreate)", "(cuEventCreate)", "(cuModuleLoadData)", "(cuGraphCreate)"});
  plait_sim_counts counts = {};
  plait_sim_get_counts(&counts);
  EXPECT_EQ(counts.allocations, 0);
  EXPECT_EQ(counts.streams, 0);
  EXPECT_EQ(counts.events, 0);
  EXPECT_EQ(counts.modules, 1);  // the fixture's
  EXPECT_EQ(counts.graphs, 0);
}

TEST_F(PlantedBugTest, FaultsStayUntilTheContextIsReset) {
  const CUstream on = stream();
  EXPECT_OK(fill(on, 64, 1, 1));
  EXPECT_EQ(cu.cuStreamSynchronize(on), CUDA_ERROR_ILLEGAL_ADDRESS);
  expect_findings({"out of bounds"});
  CUdeviceptr memory = 0;
  EXPECT_EQ(cu.cuMemAlloc(&memory, 64), CUDA_ERROR_ILLEGAL_ADDRESS);
  EXPECT_EQ(cu.cuStreamQuery(on), CUDA_ERROR_ILLEGAL_ADDRESS);
  EXPECT_EQ(cu.cuEventCreate(&events.emplace_back(), 0), CUDA_ERROR_ILLEGAL_ADDRESS);
  EXPECT_EQ(findings(), "");
  // Another device goes on.
  other();
  EXPECT_OK(cu.cuMemAlloc(&memory, 64));
  EXPECT_OK(cu.cuMemsetD8(memory, 1, 64));
  EXPECT_OK(cu.cuCtxSynchronize());
  EXPECT_OK(cu.cuMemFree(memory));
  leave_other();
  reset();
  const CUdeviceptr a = buffer();
  EXPECT_OK(fill(nullptr, a, 2, kCount));
  EXPECT_EQ(read(a, kCount), std::vector<float>(kCount, 2));
}

TEST_F(PlantedBugTest, OutOfMemoryIsNoFinding) {
  ASSERT_EQ(plait_sim_set_memory(0, 1 << 20), 0);
  CUdeviceptr a = 0, b = 0, c = 0;
  const CUstream on = stream(), elsewhere = stream();
  EXPECT_OK(cu.cuMemAllocAsync(&a, 700 << 10, on));
  EXPECT_EQ(cu.cuMemAllocAsync(&b, 700 << 10, on), CUDA_ERROR_OUT_OF_MEMORY);
  EXPECT_EQ(cu.cuMemAlloc(&b, 700 << 10), CUDA_ERROR_OUT_OF_MEMORY);
  EXPECT_OK(cu.cuMemFreeAsync(a, on));
  EXPECT_OK(cu.cuMemAllocAsync(&b, 700 << 10, on));  // ordered after the free
  EXPECT_OK(cu.cuMemFreeAsync(b, on));
  EXPECT_OK(cu.cuMemAllocAsync(&c, 700 << 10, elsewhere));  // the driver waits for the free
  EXPECT_OK(cu.cuMemFreeAsync(c, elsewhere));
  EXPECT_OK(cu.cuCtxSynchronize());
  size_t free = 0, total = 0;
  EXPECT_OK(cu.cuMemGetInfo(&free, &total));
  EXPECT_EQ(total, size_t(1) << 20);
  EXPECT_EQ(free, total);  // a synchronisation gives back what the pool need not keep
  EXPECT_EQ(plait_sim_set_memory(0, size_t(16) << 30), 0);
  EXPECT_EQ(plait_sim_set_memory(77, 1), -1);
}

TEST_F(PlantedBugTest, ReleasesCountedByContext) {
  EXPECT_EQ(plait_sim_add_devices("sm_20", 1), -1);
  EXPECT_EQ(plait_sim_add_devices(nullptr, 1), -1);
  EXPECT_EQ(plait_sim_add_devices("sm_80", 1), 0);
  EXPECT_EQ(plait_sim_add_devices("sm_80", 2), 0);
}

}  // namespace
}  // namespace plait::sim
