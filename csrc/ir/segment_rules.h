#pragma once
// What segments must hold; one list for the verifier and the parser. Private to csrc/ir.
#include <optional>
#include <string>

#include "ir/fusion.h"

namespace plait {

// The first rule that the segments of a fusion break. `segment`: its index in Fusion::segments.
struct SegmentProblem {
  size_t segment = 0;
  std::string what, remedy;
};

// Nothing where the fusion has no segments or they keep all rules:
// a. names differ; a segment holds at least one op; all segments together hold every op once, in the order of the ops;
// b. a segment's inputs are inputs of the fusion or outputs of earlier segments, its outputs are made in it; each is
//    listed once;
// c. what an op reads is an input of its segment or made in it;
// d. an output of the fusion that a segment makes is one of its outputs;
// e. a segment joins the first one of the launch directly in front of it, and kernels compute both.
std::optional<SegmentProblem> segment_problem(const Fusion& fusion);

}  // namespace plait
