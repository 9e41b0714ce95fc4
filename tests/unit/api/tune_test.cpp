// Schedules by measurement: what is tried, what a compilation takes of it, what never changes.
#include <gmock/gmock.h>

#include <cstdlib>
#include <set>

#include "api/check_program.h"
#include "api/tune.h"
#include "compile/pipeline.h"
#include "reference/draw_inputs.h"
#include "session/boundary.h"
#include "support/refusal.h"
#include "support/run_case.h"

namespace plait {
namespace {

using ::testing::HasSubstr;
using testing::refusal;

constexpr const char* kSoftmax = R"(let b = 40, n = 300
fusion @f (%x: f32[b, n], %w: f32[n]) -> (%y, %t) {
  %y = softmax(mul(%x, %w), dim = 1)
  %t = add(permute(%y, dims = [1, 0]), 1.0)
}
)";

Tensors inputs_of(const Fusion& fusion) {
  const auto inputs = reference::draw_inputs(fusion, {});
  return {inputs.begin(), inputs.end()};
}

Compiled compiled_with(const std::string& text, const MeasuredSchedules& measured) {
  const auto fusion = parse_fusion(text);
  Compiled out = compile(*fusion, {.device = "cpu", .measured = measured});
  out.run(inputs_of(*fusion));
  return out;
}

// Of the segments in order.
std::vector<std::string> keys_of(const std::string& text) {
  std::vector<std::string> out;
  compiled_with(text, [&](const std::string& key, const std::string&) {
    out.push_back(key);
    return std::nullopt;
  });
  return out;
}

std::string replaced(std::string text, const std::string& from, const std::string& to) {
  for (size_t at = 0; (at = text.find(from, at)) != std::string::npos; at += to.size())
    text.replace(at, from.size(), to);
  return text;
}

TEST(ScheduleKey, IsWhatIsComputed) {
  const std::vector<std::string> keys = keys_of(kSoftmax);
  ASSERT_FALSE(keys.empty());
  for (const std::string& key : keys) EXPECT_THAT(key, HasSubstr("b = 40\n"));
  EXPECT_EQ(keys_of(replaced(replaced(kSoftmax, "%y", "%other"), "%x", "%more")), keys);
  EXPECT_NE(keys_of(replaced(kSoftmax, "b = 40", "b = 41")), keys);
  EXPECT_NE(keys_of(replaced(kSoftmax, "f32", "bf16")), keys);
  EXPECT_NE(keys_of(replaced(kSoftmax, "1.0", "2.0")), keys);
  EXPECT_NE(keys_of(replaced(kSoftmax, "mul(", "add(")), keys);
}

TEST(MeasuredSchedule, IsTakenWhereItFits) {
  const auto schedule_with = [](const char* measured) {
    const Compiled program = compiled_with(kSoftmax, [&](const std::string&, const std::string&) {
      return MeasuredSchedule{parse_schedule(measured), "by hand"};
    });
    return program.report().kernels.at(0).schedule + "\n" + program.compiled_specialization().segment_reasons;
  };
  EXPECT_THAT(schedule_with("norm(vector = 4)"), HasSubstr("norm(vector = 4, "));
  EXPECT_THAT(schedule_with("norm(vector = 4)"), HasSubstr("was measured: by hand"));
  EXPECT_THAT(schedule_with("scatter(rows = 3)"), HasSubstr("not scatter(rows = 3), which was measured: "));
  EXPECT_THAT(schedule_with("scatter(rows = 3)"), HasSubstr("norm(vector = "));
}

TEST(MeasuredSchedule, StaysBehindWhatATextSays) {
  const std::string text = R"(let b = 40, n = 300
fusion @f (%x: f32[b, n]) -> (%y) {
  segment @s (%x) -> (%y) schedule pointwise(vector = 2) {
    %y = neg(%x)
  }
}
)";
  const Compiled program = compiled_with(text, [](const std::string&, const std::string&) -> MeasuredSchedule {
    throw InternalError("nobody should ask", "", "");
  });
  EXPECT_THAT(program.report().kernels.at(0).schedule, HasSubstr("vector = 2"));
}

TEST(MeasuredSchedule, IsKeptOnDisk) {
  if (std::getenv("PLAIT_CACHE_DIR") == nullptr) GTEST_SKIP() << "PLAIT_CACHE_DIR is not set: the cache is the user's";
  const std::string key = "key of a test\nwith lines";
  EXPECT_FALSE(measured_schedule(key));
  keep_measured_schedule(key, {parse_schedule("norm(vector = 4)"), "first"});
  keep_measured_schedule(key, {parse_schedule("norm(vector = 8)"), "second"});
  ASSERT_TRUE(measured_schedule(key));
  EXPECT_EQ(print(measured_schedule(key)->schedule), "norm(vector = 8)");
  EXPECT_EQ(measured_schedule(key)->note, "second");
  EXPECT_FALSE(measured_schedule(key + "!"));
  EXPECT_FALSE(measured_schedule(""));
  EXPECT_GE(count_measured_schedules(), 1);
  EXPECT_GE(forget_measured_schedules(), 1);
  EXPECT_FALSE(measured_schedule(key));
}

TEST(Neighbours, DifferInOneNumber) {
  const Target cpu = host_target();
  std::set<std::string> seen;
  for (const Schedule& s : neighbours(parse_schedule("pointwise(vector = 8, unroll = 1, split = 0, block = 0)"), cpu))
    seen.insert(print(s));
  const std::set<std::string> want = {
      "pointwise(vector = 16, unroll = 1, split = 0, block = 0)", "pointwise(vector = 16)",
      "pointwise(vector = 4, unroll = 1, split = 0, block = 0)",  "pointwise(vector = 4)",
      "pointwise(vector = 8, unroll = 2, split = 0, block = 0)",  "pointwise(unroll = 2)",
      "pointwise(vector = 8, unroll = 1, split = 64, block = 0)", "pointwise(split = 64)",
      "pointwise(vector = 8, unroll = 1, split = 0, block = 64)", "pointwise(block = 64)"};
  EXPECT_EQ(seen, want);
  for (const Schedule& s : neighbours(parse_schedule("norm(vector = 8, parts = 32)"), cpu))
    EXPECT_LE(std::get<schedules::Norm>(s).parts.value_or(0), 32) << print(s);
  EXPECT_TRUE(neighbours(schedules::Library(), cpu).empty());
  EXPECT_TRUE(neighbours(schedules::Manual(), cpu).empty());
}

TEST(Tune, GivesAProgramThatIsRight) {
  const auto fusion = parse_fusion(kSoftmax);
  const CompileOptions options{.device = "cpu"};
  const Tensors inputs = inputs_of(*fusion);
  int64_t told = 0;
  const TuneOptions how{.seconds = 20, .rounds = 2, .keep = false, .progress = [&](const TuneProgress&) { ++told; }};
  TuneResult result = tune(*fusion, options, inputs, how);
  EXPECT_GT(told, 0);
  EXPECT_GE(result.programs, 4);
  ASSERT_FALSE(result.schedules.empty());
  EXPECT_GT(result.schedules[0].tried, result.schedules[0].refused);
  EXPECT_EQ(result.schedules.size(), static_cast<size_t>(result.program->report().launches));
  for (size_t i = 0; i < result.schedules.size(); ++i)
    EXPECT_THAT(result.program->report().kernels.at(i).schedule, HasSubstr(result.schedules[i].after));
  const Tensors outputs = result.program->run(inputs);
  EXPECT_EQ(check_program(*fusion, options, *result.program, inputs, outputs).all.outcome(), reference::Outcome::ok);
}

TEST(Tune, EndsWhenItIsTold) {
  const auto fusion = parse_fusion(kSoftmax);
  const Tensors inputs = inputs_of(*fusion);
  int64_t asked = 0;
  const TuneOptions at_once{.seconds = 0, .rounds = 1, .keep = false};
  const TuneResult none = tune(*fusion, {.device = "cpu"}, inputs, at_once);
  EXPECT_FALSE(none.finished);
  EXPECT_EQ(none.programs, 3);
  for (const TunedSchedule& s : none.schedules) EXPECT_EQ(s.before, s.after);
  const TuneOptions soon{.rounds = 3, .keep = false, .stop = [&] { return ++asked > 5; }};
  const TuneResult some = tune(*fusion, {.device = "cpu"}, inputs, soon);
  EXPECT_FALSE(some.finished);
  EXPECT_LT(some.programs, 12);
}

TEST(Tune, RefusesWhatHasNoKernels) {
  const auto fusion = parse_fusion(kSoftmax);
  const Tensors inputs = inputs_of(*fusion);
  EXPECT_THAT(refusal([&] { tune(*fusion, {.device = "reference"}, inputs); }), HasSubstr("has no kernels"));
  EXPECT_THAT(refusal([&] { tune(*fusion, {.device = "cpu"}, inputs, {.rounds = 0}); }), HasSubstr("0 rounds"));
}

}  // namespace
}  // namespace plait
