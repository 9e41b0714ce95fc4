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
    return std::vector<MeasuredSchedule>();
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
  EXPECT_EQ(keys_of(replaced(replaced(kSoftmax, "%y", "%other"), "%x", "%more")), keys);
  EXPECT_EQ(keys_of(replaced(kSoftmax, "b = 40", "b = 41")), keys);  // sizes are beside it
  EXPECT_NE(keys_of(replaced(kSoftmax, "f32", "bf16")), keys);
  EXPECT_NE(keys_of(replaced(kSoftmax, "1.0", "2.0")), keys);
  EXPECT_NE(keys_of(replaced(kSoftmax, "mul(", "add(")), keys);
}

TEST(MeasuredSchedule, IsTakenWhereItFits) {
  const auto schedule_with = [](const char* measured) {
    const Compiled program = compiled_with(kSoftmax, [&](const std::string&, const std::string&) {
      return std::vector{MeasuredSchedule{{}, parse_schedule(measured), "by hand"}};
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
  const Compiled program =
      compiled_with(text, [](const std::string&, const std::string&) -> std::vector<MeasuredSchedule> {
        throw InternalError("nobody should ask", "", "");
      });
  EXPECT_THAT(program.report().kernels.at(0).schedule, HasSubstr("vector = 2"));
}

// Sizes are part of the class: others have their own schedules, whatever came first.
TEST(MeasuredSchedule, IsOfItsSizes) {
  const auto fusion = parse_fusion("fusion @f (%x: f32[b, n]) -> (%y) {\n  %y = softmax(%x, dim = 1)\n}\n");
  int64_t asked = 0;
  CompileOptions options{.device = "cpu", .measured = [&](const std::string&, const std::string&) {
                           ++asked;
                           return std::vector{MeasuredSchedule{{{"n", 300}}, parse_schedule("norm(vector = 2)"), ""},
                                              MeasuredSchedule{{{"n", 500}}, parse_schedule("norm(vector = 4)"), ""}};
                         }};
  Compiled program = compile(*fusion, options);
  const auto lanes_at = [&](int64_t b, int64_t n) {
    program.run({{"x", Tensor::from_doubles(DType::f32, {b, n}, std::vector<double>(static_cast<size_t>(b * n), 1))}});
    return std::get<schedules::Norm>(parse_schedule(program.report().kernels.at(0).schedule)).vector.value_or(0);
  };
  for (const int64_t b : {3, 70}) {
    EXPECT_GT(lanes_at(b, 4000), 4);
    EXPECT_EQ(lanes_at(b, 300), 2);
    EXPECT_EQ(lanes_at(b, 500), 4);
    EXPECT_GT(lanes_at(b, 301), 4);
  }
  EXPECT_EQ(asked, 1);  // and remembered
  program = deserialize(program.serialize());
  EXPECT_EQ(lanes_at(9, 500), 4);
  EXPECT_GT(lanes_at(9, 70), 4);
  EXPECT_EQ(asked, 1);
}

TEST(MeasuredSchedule, IsKeptOnDisk) {
  if (std::getenv("PLAIT_CACHE_DIR") == nullptr) GTEST_SKIP() << "PLAIT_CACHE_DIR is not set: the cache is the user's";
  const std::string key = "key of a test\nwith lines";
  EXPECT_TRUE(kept_schedules(key).empty());
  keep_schedule(key, {{{"n", 7}}, parse_schedule("norm(vector = 4)"), "first; of two"});
  keep_schedule(key, {{{"n", 8}, {"m", 1}}, parse_schedule("pointwise(vector = 4)"), "others"});
  keep_schedule(key, {{{"n", 7}}, parse_schedule("norm(vector = 8)"), "second; of two"});
  const std::vector<MeasuredSchedule> kept = kept_schedules(key);
  ASSERT_EQ(kept.size(), 2u);
  EXPECT_EQ(print(kept[0].schedule), "norm(vector = 8)");
  EXPECT_EQ(kept[0].note, "second; of two");
  EXPECT_EQ(kept[0].sizes, (sym::Environment{{"n", 7}}));
  EXPECT_EQ(kept[1].sizes, (sym::Environment{{"m", 1}, {"n", 8}}));
  for (int64_t n = 0; n < 200; ++n) keep_schedule(key, {{{"n", n}}, parse_schedule("norm(vector = 8)"), ""});
  EXPECT_EQ(kept_schedules(key).size(), 64u);
  EXPECT_TRUE(kept_schedules(key + "!").empty());
  EXPECT_GE(count_schedules_on_disk(), 1);
  EXPECT_GE(forget_schedules_on_disk(), 1);
  EXPECT_TRUE(kept_schedules(key).empty());
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
  result.program->run({{"x", Tensor::from_doubles(DType::f32, {3, 50}, std::vector<double>(150, 1))},
                       {"w", Tensor::from_doubles(DType::f32, {50}, std::vector<double>(50, 1))}});  // other sizes
  result.program->run(inputs);
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
  EXPECT_EQ(none.programs, 2);
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
