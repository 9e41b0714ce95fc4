// What a user of the driver API may rely on: launches.
#include "unit/sim/cuda/contract.h"

namespace plait::sim {
namespace {

// Of 64 threads each.
CUlaunchConfig four_blocks(CUlaunchAttribute* attribute = nullptr) {
  CUlaunchConfig config = {};
  config.gridDimX = 4;
  config.gridDimY = config.gridDimZ = config.blockDimY = config.blockDimZ = 1;
  config.blockDimX = 64;
  config.attrs = attribute;
  config.numAttrs = attribute != nullptr ? 1 : 0;
  return config;
}

TEST_F(ContractTest, Launches) {
  const CUdeviceptr a = allocate(1000), b = allocate(1000);
  EXPECT_OK(fill(nullptr, a, 1.5f, 250));
  EXPECT_OK(add(nullptr, b, a, a, 250));
  EXPECT_EQ(read(b, 250), std::vector<float>(250, 3));
  // The same by a buffer of parameters.
  struct {
    CUdeviceptr out;
    float value;
    int n;
  } parameters{a, 4, 250};
  size_t bytes = sizeof parameters;
  void* extra[] = {CU_LAUNCH_PARAM_BUFFER_POINTER, &parameters, CU_LAUNCH_PARAM_BUFFER_SIZE, &bytes,
                   CU_LAUNCH_PARAM_END};
  EXPECT_OK(cu.cuLaunchKernel(kernel("fill"), 4, 1, 1, 64, 1, 1, 0, nullptr, nullptr, extra));
  EXPECT_EQ(read(a, 250), std::vector<float>(250, 4));
  CUlaunchConfig config = four_blocks();
  parameters.value = 6;
  EXPECT_OK(cu.cuLaunchKernelEx(&config, kernel("fill"), nullptr, extra));
  EXPECT_EQ(read(a, 250), std::vector<float>(250, 6));
}

TEST_F(ContractTest, LaunchesWhoseBlocksRunSideBySide) {
  CUdeviceptr a = allocate(1000);
  float value = 2;
  int n = 250;
  void* parameters[] = {&a, &value, &n};
  CUlaunchAttribute attribute = {};
  attribute.id = CU_LAUNCH_ATTRIBUTE_COOPERATIVE;
  attribute.value.cooperative = 1;
  CUlaunchConfig config = four_blocks(&attribute);
  EXPECT_OK(cu.cuLaunchKernelEx(&config, kernel("fill"), parameters, nullptr));
  EXPECT_EQ(read(a, 250), std::vector<float>(250, 2));
  config.gridDimX = 1 << 20;
  refused(cu.cuLaunchKernelEx(&config, kernel("fill"), parameters, nullptr), CUDA_ERROR_COOPERATIVE_LAUNCH_TOO_LARGE,
          {"`fill`", "1048576 blocks side by side"});
  attribute.value.cooperative = 0;
  config.gridDimX = 4;
  value = 3;
  EXPECT_OK(cu.cuLaunchKernelEx(&config, kernel("fill"), parameters, nullptr));
  EXPECT_EQ(read(a, 250), std::vector<float>(250, 3));
}

TEST_F(ContractTest, LaunchesOfClusters) {
  if (!simulated()) GTEST_SKIP() << "needs a device of each kind";
  float value = 2;
  int n = 250;
  CUdeviceptr a = allocate(1000);
  void* parameters[] = {&a, &value, &n};
  CUlaunchAttribute attribute = {};
  attribute.id = CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION;
  attribute.value.clusterDim = {2, 1, 1};
  CUlaunchConfig config = four_blocks(&attribute);
  refused(cu.cuLaunchKernelEx(&config, kernel("fill"), parameters, nullptr), CUDA_ERROR_NOT_SUPPORTED,
          {"`fill`", "clusters on sm_80"});
  const int hopper = plait_sim_add_devices("sm_90a", 1);
  CUcontext newer = nullptr;
  CUmodule made = nullptr;
  CUfunction fill = nullptr;
  EXPECT_OK(cu.cuDevicePrimaryCtxRetain(&newer, hopper));
  EXPECT_OK(cu.cuCtxSetCurrent(newer));
  EXPECT_OK(cu.cuModuleLoadData(&made, kKernels));
  EXPECT_OK(cu.cuModuleGetFunction(&fill, made, "fill"));
  EXPECT_OK(cu.cuMemAlloc(&a, 1000));
  EXPECT_OK(cu.cuLaunchKernelEx(&config, fill, parameters, nullptr));
  EXPECT_EQ(read(a, 250), std::vector<float>(250, 2));
  config.gridDimX = 5;
  refused(cu.cuLaunchKernelEx(&config, fill, parameters, nullptr), CUDA_ERROR_INVALID_CLUSTER_SIZE,
          {"grid (5, 1, 1) does not consist of clusters (2, 1, 1)"});
  config.gridDimX = 32;
  attribute.value.clusterDim = {16, 1, 1};
  refused(cu.cuLaunchKernelEx(&config, fill, parameters, nullptr), CUDA_ERROR_INVALID_CLUSTER_SIZE,
          {"a cluster of 16 blocks", "NON_PORTABLE_CLUSTER_SIZE_ALLOWED"});
  EXPECT_OK(cu.cuFuncSetAttribute(fill, CU_FUNC_ATTRIBUTE_NON_PORTABLE_CLUSTER_SIZE_ALLOWED, 1));
  value = 3;
  EXPECT_OK(cu.cuLaunchKernelEx(&config, fill, parameters, nullptr));
  EXPECT_EQ(read(a, 250), std::vector<float>(250, 3));
  attribute.value.clusterDim = {32, 1, 1};
  refused(cu.cuLaunchKernelEx(&config, fill, parameters, nullptr), CUDA_ERROR_INVALID_CLUSTER_SIZE,
          {"of more than 16 blocks"});
  attribute.value.clusterDim = {2, 0, 1};
  refused(cu.cuLaunchKernelEx(&config, fill, parameters, nullptr), CUDA_ERROR_INVALID_CLUSTER_SIZE);
  EXPECT_OK(cu.cuMemFree(a));
  EXPECT_OK(cu.cuModuleUnload(made));
  EXPECT_OK(cu.cuDevicePrimaryCtxRelease(hopper));
  EXPECT_OK(cu.cuCtxSetCurrent(context));
}

TEST_F(ContractTest, LaunchesThatCannotBe) {
  CUdeviceptr a = allocate(1000);
  float value = 1;
  int n = 250;
  void* parameters[] = {&a, &value, &n};
  const CUfunction function = kernel("fill");
  const auto launch = [&](unsigned gx, unsigned gy, unsigned bx, unsigned bz, unsigned shared) {
    return cu.cuLaunchKernel(function, gx, gy, 1, bx, 1, bz, shared, nullptr, parameters, nullptr);
  };
  refused(launch(0, 1, 64, 1, 0), CUDA_ERROR_INVALID_VALUE, {"`fill`", "grid of (0, 1, 1)"});
  refused(launch(1, 65536, 64, 1, 0), CUDA_ERROR_INVALID_VALUE);
  refused(launch(1, 1, 1025, 1, 0), CUDA_ERROR_INVALID_VALUE, {"block of (1025, 1, 1)"});
  refused(launch(1, 1, 1, 65, 0), CUDA_ERROR_INVALID_VALUE);
  refused(launch(1, 1, 64, 32, 0), CUDA_ERROR_INVALID_VALUE, {"2048 threads"});
  refused(launch(1, 1, 64, 1, 1 << 20), CUDA_ERROR_INVALID_VALUE, {"dynamic shared memory"});
  refused(cu.cuLaunchKernel(function, 1, 1, 1, 64, 1, 1, 0, nullptr, nullptr, nullptr), CUDA_ERROR_INVALID_VALUE,
          {"`fill` takes 3 parameters; none are given"});
  if (!simulated()) {  // shared memory is not simulated
    EXPECT_OK(launch(1, 1, 64, 1, 48 * 1024));
  }
  EXPECT_OK(cu.cuCtxSynchronize());
}

}  // namespace
}  // namespace plait::sim
