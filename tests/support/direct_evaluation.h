#pragma once
// Direct evaluation of a fusion by loops over all elements, in double. Shares no code with axes, schedules, lowering.
#include <map>
#include <vector>

#include "ir/fusion.h"

namespace plait::test {

using Values = std::map<const TensorView*, std::vector<double>>;

int64_t elements(const TensorView& tensor, const sym::Environment& env);
// Fills the result of every op of the fusion; `values` holds the inputs. Narrow tensors are rounded where asked.
void evaluate_directly(const Fusion& fusion, const sym::Environment& env, Values& values, bool round_narrow = false);
// The same for one op: values of each result.
std::vector<std::vector<double>> evaluate_op(const Fusion& fusion, const Op& op, const sym::Environment& env,
                                             const Values& values);

// Segments and kernels: lowers every generated segment and interprets it on what `values` holds, checks that the result
// is that of direct evaluation, bit for bit, and puts it into `values`. Ops of other segments are evaluated directly.
// Throws std::runtime_error naming segment and element.
struct LoweredRun {
  bool strict = false;  // round narrow tensors, in both
  bool cuda = false;
  // Where not 0: by way of a loop tree, as the plain loops of the first output with so many lanes along its last dim,
  // the segments whose ops have a place in one.
  int tree_lanes = 0;
};
// A CPU of so many lanes, or a GPU whose blocks have 4 threads, so that small tensors have several.
inline Target small_target(int lanes, bool cuda = false) {
  return {.kind = cuda ? TargetKind::cuda : TargetKind::cpu,
          .vector_lanes = lanes,
          .shared_bytes = cuda ? 48 << 10 : 0,
          .block_threads = 4};
}

void run_segments(const Fusion& fusion, const sym::Environment& env, Values& values, const LoweredRun& how = {});

}  // namespace plait::test
