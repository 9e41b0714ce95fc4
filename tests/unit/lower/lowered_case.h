#pragma once
// A case of ops or rows, segmented and lowered once, that is checked at any sizes.
#include <gtest/gtest.h>

#include <optional>
#include <string>

#include "segment/segment.h"
#include "support/direct_evaluation.h"
#include "support/op_cases.h"

namespace plait::test {

class LoweredCase {
 public:
  LoweredCase(const OpCase& c, const std::string& dtype, const Target& target, LoweredRun how = {})
      : name_(c.name + " of " + dtype + ", " + std::to_string(target.vector_lanes) + " lanes") {
    ParseOptions parse;
    parse.set["T"] = dtype;
    fusion_ = parse_fusion(c.text, parse);
    SegmentOptions options;
    options.target = target;
    how.strict = dtype == "bf16";
    how.cuda = target.kind == TargetKind::cuda;
    try {
      segment(*fusion_, options);
      verify(*fusion_);
      lowered_.emplace(*fusion_, how);
    } catch (const std::exception& error) {
      ADD_FAILURE() << name_ << ": " << error.what() << "\n" << print(*fusion_);
    }
  }

  void check(const sym::Environment& env) const {
    if (!lowered_) return;
    Values values = small_values(*fusion_, env);
    try {
      lowered_->run(env, values);
    } catch (const std::exception& error) {
      FAIL() << name_ << ": " << error.what() << "\n" << print(*fusion_);
    }
  }

 private:
  std::string name_;
  std::unique_ptr<Fusion> fusion_;
  std::optional<LoweredSegments> lowered_;
};

}  // namespace plait::test
