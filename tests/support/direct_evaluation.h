#pragma once
// Direct evaluation of a fusion by loops over all elements, in double. Shares no code with axes, schedules, lowering.
#include <map>
#include <vector>

#include "ir/fusion.h"
#include "lower/lower.h"

namespace plait::test {

using Values = std::map<const TensorView*, std::vector<double>>;

int64_t elements(const TensorView& tensor, const sym::Environment& env);
// Fills the result of every op of the fusion; `values` holds the inputs. Narrow tensors are rounded where asked.
void evaluate_directly(const Fusion& fusion, const sym::Environment& env, Values& values, bool round_narrow = false);
// The same for one op: values of each result.
std::vector<std::vector<double>> evaluate_op(const Fusion& fusion, const Op& op, const sym::Environment& env,
                                             const Values& values);

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

// Small integers for the inputs of a fusion; indices fall on both sides of every extent.
Values small_values(const Fusion& fusion, const sym::Environment& env);

// The kernels of every generated segment of a fusion, which must outlive it; they run at any sizes.
class LoweredSegments {
 public:
  explicit LoweredSegments(const Fusion& fusion, const LoweredRun& how = {});
  // Interprets each on what `values` holds, checks that the result is that of direct evaluation, bit for bit, and puts
  // it into `values`. Ops of other segments are evaluated directly. Throws std::runtime_error naming segment and
  // element.
  void run(const sym::Environment& env, Values& values) const;

 private:
  const Fusion& fusion_;
  LoweredRun how_;
  std::vector<LoweredKernel> kernels_;  // of the segments that are generated, in order
};

// For one run.
void run_segments(const Fusion& fusion, const sym::Environment& env, Values& values, const LoweredRun& how = {});

}  // namespace plait::test
