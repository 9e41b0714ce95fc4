// Launches of kernels.
#include <fmt/core.h>

#include "sim/cuda/launch.h"

using namespace plait::sim;

namespace {

// Takes what a launch attribute asks for; those that are not simulated are refused.
void take_attribute(const CUlaunchAttribute& attribute, Launch& launch) {
  switch (attribute.id) {
    case CU_LAUNCH_ATTRIBUTE_IGNORE:
    case CU_LAUNCH_ATTRIBUTE_PRIORITY:
    case CU_LAUNCH_ATTRIBUTE_ACCESS_POLICY_WINDOW:
    case CU_LAUNCH_ATTRIBUTE_MEM_SYNC_DOMAIN:
    case CU_LAUNCH_ATTRIBUTE_MEM_SYNC_DOMAIN_MAP:
    case CU_LAUNCH_ATTRIBUTE_PREFERRED_SHARED_MEMORY_CARVEOUT:
      return;
    case CU_LAUNCH_ATTRIBUTE_COOPERATIVE:
      launch.cooperative = attribute.value.cooperative != 0;
      return;
    case CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_STREAM_SERIALIZATION:
      launch.programmatic = attribute.value.programmaticStreamSerializationAllowed != 0;
      return;
    case CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION: {
      const auto& cluster = attribute.value.clusterDim;
      launch.cluster = {cluster.x, cluster.y, cluster.z};
      return;
    }
    default:
      break;
  }
  misuse(CUDA_ERROR_NOT_SUPPORTED, fmt::format("launch attribute {} is not simulated", int(attribute.id)));
}

}  // namespace

extern "C" {

CUresult cuLaunchKernel(CUfunction function, unsigned int grid_x, unsigned int grid_y, unsigned int grid_z,
                        unsigned int block_x, unsigned int block_y, unsigned int block_z, unsigned int shared_bytes,
                        CUstream stream, void** parameters, void** extra) {
  SIM_CALL({
    const unsigned grid[] = {grid_x, grid_y, grid_z};
    const unsigned block[] = {block_x, block_y, block_z};
    const auto on = call.stream(stream);
    const auto found = resolve_function(call, function, call.context());
    launch_kernel(call, on, make_launch(found, grid, block, shared_bytes, parameters, extra));
  });
}

CUresult cuLaunchKernelEx(const CUlaunchConfig* config, CUfunction function, void** parameters, void** extra) {
  SIM_CALL({
    need(config, "config");
    if (config->numAttrs > 0) need(config->attrs, "the list of attributes");
    const unsigned grid[] = {config->gridDimX, config->gridDimY, config->gridDimZ};
    const unsigned block[] = {config->blockDimX, config->blockDimY, config->blockDimZ};
    const auto on = call.stream(config->hStream);
    const auto found = resolve_function(call, function, call.context());
    KernelLaunch launch = make_launch(found, grid, block, config->sharedMemBytes, parameters, extra);
    for (unsigned i = 0; i < config->numAttrs; ++i) take_attribute(config->attrs[i], launch.what);
    launch_kernel(call, on, launch);
  });
}
}
