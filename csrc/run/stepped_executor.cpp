#include "run/stepped_executor.h"

#include "base/cancelled_error.h"
#include "base/error.h"

namespace plait {

SteppedExecutor::SteppedExecutor(StepRunner& steps)
    : steps_(steps),
      queues_(!steps.runners().empty() && steps.runners()[0]->queues() != nullptr),
      lanes_(make_lanes()),
      interleaving_(make_interleaving()) {
  for (const auto& runner : steps.runners()) runners_.push_back(runner.get());
}

std::vector<SteppedExecutor::Lane> SteppedExecutor::make_lanes() const {
  std::vector<Lane> lanes;
  for (const auto& runner : steps_.runners()) {
    const size_t first = lanes.size();
    for (size_t stream = 0; stream < (queues_ ? 1 : kProgramStreams); ++stream)
      lanes.push_back({runner.get(),
                       {},
                       stream == 0 ? fmt::format("rank {}", runner->rank())
                                   : fmt::format("rank {}, {}", runner->rank(), name(ProgramStream(stream)))});
    for (size_t i = 0; i < runner->actions().size(); ++i)
      lanes[first + (queues_ ? 0 : size_t(runner->actions()[i].stream))].actions.push_back(i);
  }
  return lanes;
}

Interleaving SteppedExecutor::make_interleaving() const {
  std::vector<std::vector<LaneAction>> lanes;
  std::vector<std::vector<int64_t>> members(steps_.calls().size());
  int32_t first_event = 0;  // of the rank
  for (const Lane& lane : lanes_) {
    auto& list = lanes.emplace_back();
    for (size_t index : lane.actions) {
      const RankAction& action = lane.runner->actions()[index];
      if (action.kind == StepKind::CollectiveStep) {
        members[action.team_call].push_back(int64_t(lanes.size()) - 1);
        list.push_back({LaneAction::Kind::meet, int32_t(action.team_call)});
      } else if (!queues_ && action.kind == StepKind::RecordStep) {
        list.push_back({LaneAction::Kind::record, first_event + int32_t(action.event)});
      } else if (!queues_ && action.kind == StepKind::WaitStep) {
        list.push_back({LaneAction::Kind::wait, first_event + int32_t(action.event)});
      } else {
        list.push_back({LaneAction::Kind::local, 0});
      }
    }
    if (lanes.size() % (queues_ ? 1 : kProgramStreams) == 0) first_event += int32_t(lane.runner->events());
  }
  return Interleaving(std::move(lanes), std::move(members));
}

// Lanes begin anew with each run: it may end anywhere.
void SteppedExecutor::ask(size_t action, RankRunner& runner) {
  StopPoint& point = steps_.stop_point();
  if (!point.watched()) return;
  point.ask();
  if (!point.stopped_at()) return;
  throw CancelledError("the run was cancelled", "before " + steps_.place(runner, action), "");
}

void SteppedExecutor::interleave(uint64_t seed) {
  int64_t lane_now = 0;
  size_t at_now = 0;
  TeamCall* call_now = nullptr;
  auto action_of = [&](int64_t lane, size_t at) { return lanes_[lane].actions[at]; };
  auto local = [&](int64_t lane, size_t at) {
    lane_now = lane, at_now = at, call_now = nullptr;
    RankRunner& runner = *lanes_[lane].runner;
    ask(action_of(lane, at), runner);
    steps_.local(runner, runner.actions()[action_of(lane, at)]);
  };
  auto meet = [&](int32_t meeting, int64_t lane, size_t at) {
    lane_now = lane, at_now = at, call_now = &steps_.calls()[meeting];
    ask(action_of(lane, at), *lanes_[lane].runner);
    steps_.meet(*call_now);
  };
  bool finished = false;
  try {
    finished = interleaving_.run(seed, local, meet);
  } catch (const CancelledError&) {
    throw;
  } catch (...) {
    if (call_now) rethrow_at(call_now->ranks() + ", " + call_now->place);
    rethrow_at(steps_.place(*lanes_[lane_now].runner, action_of(lane_now, at_now)));
  }
  if (finished) return;
  throw CommError("deadlock: no rank can go on",
                  interleaving_.report([&](int64_t lane) { return lanes_[lane].name; },
                                       [&](int64_t lane, size_t at) {
                                         const RankRunner& runner = *lanes_[lane].runner;
                                         return step_place(steps_.program(),
                                                           runner.actions()[action_of(lane, at)].step);
                                       }),
                  "");
}

void SteppedExecutor::run(uint64_t seed, bool guest) {
  if (!queues_) return interleave(seed);
  for (RankRunner* runner : runners_) runner->queues()->fork();
  interleave(seed);
  for (RankRunner* runner : runners_) runner->queues()->join();
  if (!guest) steps_.wait(runners_);
}

}  // namespace plait
