#pragma once
// Launches of kernels.
#include "sim/cuda/modules.h"

namespace plait::sim {

// What a launch of a kernel is made of; a node of a graph keeps it to have it set again.
struct KernelLaunch {
  std::shared_ptr<FunctionObject> function;
  Launch what;
};

// Makes a task run its own copy of a launch, which is returned. ApiError: clusters or blocks side by
// side that the device does not take.
std::shared_ptr<KernelLaunch> bind_kernel(Task& task, const KernelLaunch& launch);
// Checks extents and collects the parameters; ApiError as the driver answers.
KernelLaunch make_launch(std::shared_ptr<FunctionObject> function, const unsigned grid[3], const unsigned block[3],
                         unsigned shared_bytes, void** parameters, void** extra);
// Queues or records a launch.
void launch_kernel(const Call& call, const std::shared_ptr<StreamObject>& stream, const KernelLaunch& launch);
// Blocks of a kernel that fit a multiprocessor at once, by threads and shared memory (registers are not modelled).
int active_blocks(const FunctionObject& function, int threads, size_t dynamic_shared);

}  // namespace plait::sim
