// The text of schedules by hand, and what tensors say of them.
#include <gtest/gtest.h>

#include "base/error.h"
#include "ir/fusion.h"

namespace plait {
namespace {

TEST(ManualSchedule, TextIsReadBack) {
  for (const char* text :
       {"manual", "manual(%y: loops (split(0, 8), merge(1), reorder(1, 0), parallel(0, cpu_thread)) inline 1 keep 64)",
        "manual(%t: inline 0, %y: loops (split(0, 8)), %u: keep 1)"})
    EXPECT_EQ(print(parse_schedule(text)), text);
  EXPECT_EQ(print(parse_schedule("  manual ( )  ")), "manual");
  EXPECT_EQ(parse_schedule("manual(%y:inline 1)"), parse_schedule("manual( %y : inline  1 )"));
  EXPECT_NE(parse_schedule("manual(%y: inline 1)"), parse_schedule("manual(%y: inline 2)"));
  EXPECT_TRUE(is_generated(parse_schedule("manual")));
}

TEST(ManualSchedule, WhatIsNoScheduleIsRefused) {
  for (const char* text :
       {"manual(%y)", "manual(%y:)", "manual(y: inline 1)", "manual(%y: inline)", "manual(%y: inline 65)",
        "manual(%y: keep 0)", "manual(%y: loops ())", "manual(%y: loops (split(0)))", "manual(%y: loops (fold(0)))",
        "manual(%y: loops (split(0, 0)))", "manual(%y: loops (parallel(0, fast)))", "manual(%y: keep 1 inline 1)",
        "manual(%y: inline 1, %y: keep 1)", "manual(%y: inline 1", "manual %y: inline 1", "manual(%y: inline 1) more",
        "manual(vector = 8)"})
    EXPECT_THROW(parse_schedule(text), UserError) << text;
}

const char* kText = R"(fusion @f (
  %x: f32[40]
) -> (%z) {
  segment @a (%x) -> (%z) schedule manual {
    %y: f32[40] inline 1 keep 8 = exp(%x)
    %z: f32[40] loops (split(0, 8), parallel(0, cpu_thread)) = neg(%y)
  }
}
)";

TEST(ManualSchedule, TensorsAndTheScheduleAreTwoSpellings) {
  const auto on_tensors = parse_fusion(kText);
  EXPECT_EQ(print(*on_tensors), kText);
  const auto in_schedule = parse_fusion(R"(fusion @f (%x: f32[40]) -> (%z) {
  segment @a (%x) -> (%z) schedule manual(%y: inline 1 keep 8, %z: loops (split(0, 8), parallel(0, cpu_thread))) {
    %y = exp(%x)
    %z = neg(%y)
  }
})");
  EXPECT_EQ(print(*in_schedule), kText);
  EXPECT_TRUE(equal(*in_schedule, *on_tensors));
  EXPECT_EQ(print(Schedule(manual_schedule(on_tensors->segments[0]))),
            "manual(%y: inline 1 keep 8, %z: loops (split(0, 8), parallel(0, cpu_thread)))");
  const auto copy = clone(*on_tensors);
  EXPECT_TRUE(equal(*copy, *on_tensors));
  copy->find("y")->keep(16);
  EXPECT_FALSE(equal(*copy, *on_tensors));
  EXPECT_EQ(print(*clone_segment(*on_tensors, on_tensors->segments[0])).find("loops"), std::string::npos);
}

TEST(ManualSchedule, TensorsOfOtherSegmentsAreRefused) {
  const auto text = [](const std::string& schedule) {
    return "fusion @f (%x: f32[40]) -> (%z) {\n  segment @a (%x) -> (%z) schedule " + schedule +
           " {\n    %z: f32[40] inline 1 = neg(%x)\n  }\n}\n";
  };
  EXPECT_THROW(parse_fusion(text("manual(%q: inline 1)")), UserError);
  EXPECT_THROW(parse_fusion(text("manual(%x: inline 1)")), UserError);
  EXPECT_THROW(parse_fusion(text("manual(%z: inline 1)")), UserError);  // twice
  EXPECT_NO_THROW(parse_fusion(text("manual")));
}

}  // namespace
}  // namespace plait
