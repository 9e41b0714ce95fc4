#pragma once
// Option `on_internal_error = nest`: where the kernel of a group fails its checks or the compiler, the group is taken
// again as a kernel per op.
#include "compile/pipeline.h"

namespace plait {

// Thrown where the segment is to be taken again.
struct FailedKernel {
  std::string segment, schedule;
  std::vector<std::string> tensors;  // results of its ops
  std::string text;                  // its ops as a fusion
  std::string message, where;        // of the error
};

// Runs work on the kernel of a segment. An internal error of it, or a refusal of loops that no file asks for, becomes a
// FailedKernel where the option says so and the segment is not nests already; else such a refusal is an internal error.
void on_kernel(const Fusion& fusion, const Segment& segment, const PipelineContext& context,
               const std::function<void()>& work);

// Notes the ops in the context, so that they stand alone from now on, and leaves the file that repeats the failure (in
// the folder of option `reproducers`, the current one where it is empty; none under PLAIT_NO_REPRODUCER). Returns the
// one line that says so.
std::string take_as_nests(const FailedKernel& failed, PipelineContext& context);

}  // namespace plait
