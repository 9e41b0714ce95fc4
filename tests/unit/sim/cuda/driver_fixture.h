#pragma once
// A test with a current context on device 0, a module of kernels, and no findings left behind.
#include <gtest/gtest.h>

#include <map>
#include <mutex>
#include <string>
#include <vector>

#include "sim/cuda/simulator.h"
#include "unit/sim/cuda/driver_api.h"
#include "unit/sim/cuda/kernels.h"

#define EXPECT_OK(call) EXPECT_EQ(call, CUDA_SUCCESS)
#define ASSERT_OK(call) ASSERT_EQ(call, CUDA_SUCCESS)
// For tests of what hardware does not report.
#define SIMULATED_ONLY() \
  if (!simulated()) GTEST_SKIP() << "only the simulated driver reports this"

namespace plait::sim {

class DriverTest : public testing::Test {
 protected:
  void SetUp() override {
    if (simulated()) {
      ASSERT_EQ(plait_sim_add_devices("sm_80", 2), 0);
      plait_sim_set_seed(0);
    }
    ASSERT_OK(cu.cuInit(0));
    ASSERT_OK(cu.cuDevicePrimaryCtxRetain(&context, 0));
    ASSERT_OK(cu.cuCtxSetCurrent(context));
    ASSERT_OK(cu.cuModuleLoadData(&module, kKernels));
  }

  void TearDown() override {
    EXPECT_EQ(findings(), "");
    EXPECT_OK(cu.cuCtxSynchronize());
    free_all();
    EXPECT_OK(cu.cuModuleUnload(module));
    EXPECT_OK(cu.cuDevicePrimaryCtxRelease(0));
    EXPECT_EQ(findings(), "");
  }

  const DriverApi& cu = driver_api();
  CUcontext context = nullptr;
  CUmodule module = nullptr;
  std::vector<CUdeviceptr> allocations;
  std::vector<CUstream> streams;
  std::vector<CUevent> events;
  std::map<std::string, CUfunction> functions;
  std::mutex asking;  // of functions

  // Of the module; asked for once, so that work can be given to a lost context too. From any thread.
  CUfunction kernel(const std::string& name) {
    const std::lock_guard<std::mutex> lock(asking);
    CUfunction& function = functions[name];
    if (function == nullptr) {
      EXPECT_OK(cu.cuModuleGetFunction(&function, module, name.c_str()));
    }
    return function;
  }
  CUdeviceptr allocate(size_t bytes) {
    CUdeviceptr made = 0;
    EXPECT_OK(cu.cuMemAlloc(&made, bytes));
    allocations.push_back(made);
    return made;
  }
  CUstream stream(unsigned flags = CU_STREAM_NON_BLOCKING) {
    CUstream made = nullptr;
    EXPECT_OK(cu.cuStreamCreate(&made, flags));
    streams.push_back(made);
    return made;
  }
  CUevent event(unsigned flags = CU_EVENT_DISABLE_TIMING) {
    CUevent made = nullptr;
    EXPECT_OK(cu.cuEventCreate(&made, flags));
    events.push_back(made);
    return made;
  }
  CUresult launch(const char* name, CUstream on, int n, std::vector<void*> parameters) {
    return cu.cuLaunchKernel(kernel(name), static_cast<unsigned>(n + 63) / 64, 1, 1, 64, 1, 1, 0, on, parameters.data(),
                             nullptr);
  }
  // out[i] = value for i < n.
  CUresult fill(CUstream on, CUdeviceptr out, float value, int n) { return launch("fill", on, n, {&out, &value, &n}); }
  CUresult add(CUstream on, CUdeviceptr out, CUdeviceptr a, CUdeviceptr b, int n) {
    return launch("add", on, n, {&out, &a, &b, &n});
  }
  void order(CUstream first, CUstream then, CUevent by) {
    EXPECT_OK(cu.cuEventRecord(by, first));
    EXPECT_OK(cu.cuStreamWaitEvent(then, by, 0));
  }
  // Floats of device memory, after all work.
  std::vector<float> read(CUdeviceptr from, size_t count) {
    std::vector<float> values(count, -1);
    EXPECT_OK(cu.cuCtxSynchronize());
    EXPECT_OK(cu.cuMemcpyDtoH(values.data(), from, count * sizeof(float)));
    return values;
  }

  static std::string findings() { return simulated() ? plait_sim_take_findings() : ""; }
  // Takes the findings, and expects that they contain every one of the texts.
  static void expect_findings(const std::vector<std::string>& parts) {
    if (!simulated()) return;
    const std::string all = findings();
    for (const std::string& part : parts) EXPECT_NE(all.find(part), all.npos) << part << "\n  is not in\n" << all;
  }
  void free_all() {
    for (CUdeviceptr each : allocations) EXPECT_OK(cu.cuMemFree(each));
    for (CUstream each : streams) EXPECT_OK(cu.cuStreamDestroy(each));
    for (CUevent each : events) EXPECT_OK(cu.cuEventDestroy(each));
    forget();
  }
  void forget() {
    allocations.clear();
    streams.clear();
    events.clear();
  }
  // The context as new, after a fault. All that was made is gone.
  void reset() {
    EXPECT_OK(cu.cuDevicePrimaryCtxReset(0));
    forget();
    functions.clear();
    EXPECT_OK(cu.cuModuleLoadData(&module, kKernels));
  }
};

}  // namespace plait::sim
