// Schedules and segments written in a file are obeyed or refused.
#include <gtest/gtest.h>

#include "base/error.h"
#include "compile/pipeline.h"
#include "support/run_case.h"

namespace plait {
namespace {

using testing::CaseOptions;
using testing::run_case;

std::string refusal(const std::string& text) {
  try {
    run_case(text, {});
    return "";
  } catch (const UserError& e) {
    return e.what();
  }
}

TEST(FileSchedules, APinnedScheduleIsObeyed) {
  auto result = run_case(R"(
fusion @f (%x: f32[40]) -> (%z) {
  segment @a (%x) -> (%z) schedule pointwise(vector = 4) {
    %y = exp(%x)
    %z = neg(%y)
  }
}
)",
                         {});
  EXPECT_TRUE(result.ok) << result.message;
  ASSERT_EQ(result.report.kernels.size(), 1u);
  EXPECT_NE(result.report.kernels[0].schedule.find("pointwise(vector = 4,"), std::string::npos)
      << result.report.kernels[0].schedule;
}

// Segments that a file joins are phases of one launch, and give what they give alone.
TEST(FileSchedules, SegmentsThatJoinAreOneLaunch) {
  const auto joined = run_case(R"(
fusion @f (%x: f32[40, 7], %v: i64[3] in 0..40) -> (%z, %w) {
  segment @a (%x) -> (%m) {
    %m = sum(%x, dims = [1])
  }
  segment @b (%m) -> (%z) joins @a {
    %z = exp(%m)
  }
  segment @c (%m, %v) -> (%w) joins @a {
    %w = index_select(%m, %v, dim = 0)
  }
}
)",
                               {});
  EXPECT_TRUE(joined.ok) << joined.message;
  EXPECT_EQ(joined.report.launches, 1);
  ASSERT_EQ(joined.report.kernels.size(), 1u);
  EXPECT_EQ(joined.report.kernels[0].schedule.rfind("joined(", 0), 0u) << joined.report.kernels[0].schedule;
}

// A sort works in the memory of its results, of which one is given and one is read by another part.
TEST(FileSchedules, ASortJoins) {
  const auto joined = run_case(R"(
fusion @f (%x: f32[40, 7], %z: f32[3]) -> (%s, %y) {
  segment @a (%z) -> (%y) {
    %y = exp(%z)
  }
  segment @b (%x) -> (%s, %i) joins @a {
    %s, %i = sort(%x, dim = 1)
  }
}
)",
                               {});
  EXPECT_TRUE(joined.ok) << joined.message;
  EXPECT_EQ(joined.report.launches, 1);
}

// A segment of the file is a step as it stands: what would merge stays apart, also ops that a graph pass opens.
// An op that two segments hold is one of each.
TEST(FileSchedules, EqualOpsOfSegmentsStayApart) {
  const auto result = run_case(R"(
fusion @f (%x: f32[6, 40]) -> (%y, %z) {
  segment @a (%x) -> (%e, %s, %y) schedule norm() {
    %e = exp(%x)
    %s = sum(%e, dims = [1], keepdim = true)
    %y = sub(%e, %s)
    %again = sub(%e, %s)
  }
  segment @b (%e, %s) -> (%z) schedule pointwise(vector = 4) {
    %d = sub(%e, %s)
    %z = flip(%d, dims = [1])
  }
}
)",
                               {});
  EXPECT_TRUE(result.ok) << result.message;
  ASSERT_EQ(result.report.kernels.size(), 2u);
  EXPECT_NE(result.report.kernels[1].schedule.find("pointwise(vector = 4"), std::string::npos);
}

TEST(FileSchedules, SegmentsAreObeyed) {
  const auto two = run_case(R"(
fusion @f (%x: f32[40]) -> (%z) {
  segment @a (%x) -> (%y) {
    %y = exp(%x)
  }
  segment @b (%y) -> (%z) {
    %z = neg(%y)
  }
}
)",
                            {});
  EXPECT_TRUE(two.ok) << two.message;
  EXPECT_EQ(two.report.launches, 2);
  const auto opened = run_case(R"(
fusion @f (%x: f32[4, 40]) -> (%z) {
  segment @a (%x) -> (%y) {
    %t = neg(%x)
    %y = softmax(%t, dim = 1)
  }
  segment @b (%y) -> (%z) {
    %z = neg(%y)
  }
}
)",
                               {});
  EXPECT_TRUE(opened.ok) << opened.message;
  EXPECT_EQ(opened.report.launches, 2);
  const std::string apart = R"(
fusion @f (%x: f32[4, 40], %w: f32[40, 4]) -> (%s, %t) {
  segment @a (%x, %w) -> (%s, %t) {
    %s = sum(%x, dims = [1])
    %t = sum(%w, dims = [1])
  }
}
)";
  EXPECT_NE(refusal(apart).find("no scheduler takes this segment"), std::string::npos) << refusal(apart);
}

TEST(FileSchedules, WhatCannotBeKeptIsRefused) {
  EXPECT_NE(refusal(R"(
fusion @f (%x: f32[4, 8], param %w: f32[6, 8]) -> (%z) {
  segment @a (%x, %w) -> (%z) {
    %y = linear(%x, %w)
    %z = neg(%y)
  }
}
)")
                .find("segment @a of the file cannot be one step: %y and %z"),
            std::string::npos);
  EXPECT_NE(refusal(R"(
fusion @f (%x: f32[40]) -> (%z) {
  segment @a (%x) -> (%z) schedule pointwise(vector = 3) {
    %z = neg(%x)
  }
}
)"),
            "");
}

TEST(FileSchedules, OnlyOptionalPassesAreSkipped) {
  CaseOptions how;
  how.options.skip = "widen_contractions,remove_dead_code";
  EXPECT_TRUE(run_case("fusion @f (%x: f32[8]) -> (%y) {\n  %y = exp(%x)\n}\n", how).ok);
  for (const char* name : {"nosuchpass", "propagate", "localize"}) {
    how.options.skip = name;
    EXPECT_THROW(run_case("fusion @f (%x: f32[8]) -> (%y) {\n  %y = exp(%x)\n}\n", how), UserError) << name;
  }
}

// Two segments that run the same kernel count once.
TEST(FileSchedules, KernelsAreDistinctByContent) {
  auto result = run_case(R"(
fusion @f (%x: f32[4, 8], param %w: f32[8, 8]) -> (%z) {
  %a = linear(%x, %w)
  %b = gelu(%a)
  %c = linear(%b, %w)
  %z = gelu(%c)
}
)",
                         {});
  EXPECT_TRUE(result.ok) << result.message;
  EXPECT_EQ(result.kernels, 1);
  EXPECT_EQ(result.library_calls, 2);
}

TEST(FileSchedules, EveryStageHasAText) {
  for (auto stage : stage_names()) {
    if (stage == "sass" || stage == "ptx") continue;  // need a disassembler, NVRTC
    auto fusion = parse_fusion("fusion @f (%x: f32[40]) -> (%z) {\n  %z = neg(%x)\n}\n");
    CompileOptions how;
    how.device = "cpu";
    how.until = stage;
    auto p = compile(*fusion, how);
    try {
      p.prepare({{"x", {DType::f32, {40}}}});
      ADD_FAILURE() << stage;
    } catch (const StoppedAt& stop) {
      EXPECT_EQ(stop.name, stage);
      EXPECT_FALSE(stop.text.empty());
    }
  }
}

}  // namespace
}  // namespace plait
