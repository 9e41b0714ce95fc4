#pragma once
// Which segments share a launch, as phases of one kernel.
#include <functional>

#include "ir/fusion.h"
#include "segment/cut_groups.h"

namespace plait {

struct JoinOptions {
  std::function<bool(const Segment&)> is_alias;   // its result is its operand's memory
  std::function<bool(const Segment&)> may_share;  // a generated kernel computes it, and nobody says that it is alone
  std::function<std::string(const Segment&)> refuses;  // why it shares none, whatever a file says; empty: it may
  std::vector<std::vector<std::string>> together;      // results whose segments a file puts into one launch
  KernelLimits limits;                                 // of the tensors that a launch reads and writes
  std::function<bool(std::string_view)> decide;        // asked before each join; null: all are done
  std::string* explain = nullptr;                      // gets a line per join
};

// A segment joins the launch of what it reads where that is small: reduced from something else there, or of a constant
// number of elements; else the last launch of segments that only give outputs of the fusion and small tensors, as it
// does itself. It moves up to that launch: what it reads besides is there before it. Nothing that lies in a run's arena
// lives longer for it but the small. Sets names (s1, s2, ...), `joins` and the order of segments and ops; near-linear.
// UserError where `together` cannot be.
void join_launches(Fusion& fusion, const JoinOptions& options);

}  // namespace plait
