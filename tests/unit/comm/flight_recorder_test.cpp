#include "comm/flight_recorder.h"

#include <gtest/gtest.h>

#include <chrono>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <thread>

#include "base/error.h"
#include "comm/local/local.h"
#include "command/run_command.h"
#include "support/allocation_counter.h"

namespace plait::testing {
namespace {

using nlohmann::json;

const std::vector<int64_t> kCounts = {3, 0, 2};
const CommCall kGather{Collective::all_gather, CommReduce::sum, {DType::bf16, 4, 5, kCounts}};

TEST(FlightRecorder, KeepsWhatWasAsked) {
  FlightRecorder recorder(2, "test");
  const uint32_t all = recorder.team(std::vector<int64_t>{0, 1, 2}), pair = recorder.team(std::vector<int64_t>{2, 0});
  EXPECT_EQ(recorder.team(std::vector<int64_t>{0, 1, 2}), all);
  recorder.set_step("step 7 (\"quoted\" %x)");
  const int64_t now = FlightRecorder::now();
  const int64_t first = recorder.begin(all, kGather, now);
  recorder.mark(first, FlightState::started, now + 1'000'000);
  recorder.mark(first, FlightState::done, now + 3'000'000);
  const int64_t elements = 9;
  recorder.begin(pair, {Collective::all_reduce, CommReduce::max, {DType::f64, 1, 1, {&elements, 1}}}, now);
  const json dump = json::parse(recorder.json("asked"));
  EXPECT_EQ(dump["rank"], 2);
  EXPECT_EQ(dump["reason"], "asked");
  EXPECT_EQ(dump["issued"], 2);
  EXPECT_EQ(dump["teams"][1]["ranks"], (std::vector<int64_t>{2, 0}));
  const json& a = dump["operations"][0];
  EXPECT_EQ(a["issue"], 0);
  EXPECT_EQ(a["kind"], "all_gather");
  EXPECT_EQ(a["op"], nullptr);
  EXPECT_EQ(a["dtype"], "bf16");
  EXPECT_EQ(a["counts"], kCounts);
  EXPECT_EQ(a["outer"], 4);
  EXPECT_EQ(a["bytes"], 4 * 5 * 5 * 2);
  EXPECT_EQ(a["state"], "done");
  EXPECT_EQ(a["step"], "step 7 (\"quoted\" %x)");
  EXPECT_EQ(a["started_us"].get<int64_t>() - a["queued_us"].get<int64_t>(), 1000);
  EXPECT_EQ(a["ended_us"].get<int64_t>() - a["queued_us"].get<int64_t>(), 3000);
  const json& b = dump["operations"][1];
  EXPECT_EQ(b["team"], 1);
  EXPECT_EQ(b["team_issue"], 0);
  EXPECT_EQ(b["op"], "max");
  EXPECT_EQ(b["state"], "queued");
  EXPECT_EQ(b["ended_us"], nullptr);
  EXPECT_EQ(recorder.describe(1),
            "operation 1, all_reduce(f64, max, 9 elements) of ranks 2, 0, in step 7 (\"quoted\" %x)");
}

TEST(FlightRecorder, KeepsTheLastOnesOnly) {
  FlightRecorder recorder(0, "test");
  const uint32_t team = recorder.team(std::vector<int64_t>{0, 1});
  const int64_t total = FlightRecorder::kCapacity + 10;
  for (int64_t i = 0; i < total; ++i) recorder.begin(team, kGather, i + 1);
  recorder.mark(3, FlightState::failed, 1);  // no longer kept: nothing happens
  const json dump = json::parse(recorder.json(""));
  ASSERT_EQ(dump["operations"].size(), size_t(FlightRecorder::kCapacity));
  EXPECT_EQ(dump["operations"][0]["issue"], 10);
  EXPECT_EQ(dump["operations"].back()["issue"], total - 1);
  EXPECT_EQ(dump["operations"].back()["team_issue"], total - 1);
  EXPECT_EQ(dump["teams"][0]["issued"], total);
  for (const json& operation : dump["operations"]) EXPECT_EQ(operation["state"], "queued");
  EXPECT_THROW(recorder.describe(9), InternalError);
}

TEST(FlightRecorder, LongStepsAndManyCountsAreCut) {
  FlightRecorder recorder(0, "test");
  const std::vector<int64_t> ranks(100, 0), counts(100, 2);
  recorder.set_step(std::string(200, 's'));
  recorder.begin(recorder.team(ranks), {Collective::all_gather, CommReduce::sum, {DType::f32, 1, 1, counts}}, 1);
  const json dump = json::parse(recorder.json(""));
  EXPECT_EQ(dump["operations"][0]["counts"].size(), FlightRecorder::kCounts);
  EXPECT_EQ(dump["operations"][0]["members"], 100);
  EXPECT_EQ(dump["operations"][0]["total"], 200);
  EXPECT_EQ(dump["operations"][0]["step"], std::string(FlightRecorder::kStepBytes - 1, 's'));
}

TEST(FlightRecorder, DumpsWhileAnotherThreadRecords) {
  const ScratchFolder folder;
  FlightRecorder recorder(5, "test");
  const uint32_t team = recorder.team(std::vector<int64_t>{5});
  std::atomic<bool> stop = false;
  std::thread other([&] {
    while (!stop) recorder.mark(recorder.begin(team, kGather, 1), FlightState::done, 2);
  });
  for (int i = 0; i < 5; ++i) recorder.dump(folder.path() / "new", "in between");
  stop = true;
  other.join();
  const json dump = json::parse(read_file(folder.path() / "new" / "rank_5.json"));
  EXPECT_EQ(dump["rank"], 5);
  EXPECT_THROW(recorder.dump("/proc/no/such", ""), UserError);
}

// On the way of every collective.
TEST(FlightRecorder, RecordingAllocatesNothing) {
  if (!test::counts_allocations()) GTEST_SKIP() << "this build has a malloc of its own";
  FlightRecorder recorder(0, "test");
  const uint32_t team = recorder.team(std::vector<int64_t>{0, 1, 2});
  const int64_t before = test::allocations();
  for (int i = 0; i < 10000; ++i)
    recorder.mark(recorder.begin(team, kGather, FlightRecorder::now()), FlightState::done, FlightRecorder::now());
  EXPECT_EQ(test::allocations() - before, 0);
}

TEST(LocalCommunicators, RecordEveryRankAndStopAfterAnAbort) {
  LocalCommunicators comms;
  const int64_t ranks[] = {0, 2};
  Communicator& team = comms.team(ranks);
  comms.recorder(2)->set_step("step 1");
  float x = 1, y = 2;
  const CommMember members[] = {{0, &x, &x}, {1, &y, &y}};
  team.all_reduce(DType::f32, CommReduce::sum, 1, members);
  EXPECT_EQ(comms.recorder(1), nullptr);
  const json dump = json::parse(comms.recorder(2)->json(""));
  EXPECT_EQ(dump["transport"], "local");
  EXPECT_EQ(dump["operations"][0]["state"], "done");
  EXPECT_EQ(dump["operations"][0]["step"], "step 1");
  comms.check();
  comms.abort("enough");
  EXPECT_THROW(comms.check(), CommError);
  EXPECT_THROW(team.all_reduce(DType::f32, CommReduce::sum, 1, members), CommError);
}

}  // namespace
}  // namespace plait::testing
