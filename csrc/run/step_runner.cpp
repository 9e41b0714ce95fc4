#include "run/step_runner.h"

#include <chrono>
#include <thread>

#include "base/cancelled_error.h"
#include "base/error.h"

namespace plait {
namespace {

constexpr std::chrono::seconds kSettleLimit{2};

int64_t now() {
  return std::chrono::duration_cast<std::chrono::nanoseconds>(std::chrono::steady_clock::now().time_since_epoch())
      .count();
}

// Waiting that leaves the core to others: shortly by giving way, then by sleeping.
class Patience {
 public:
  void pause() {
    if (++rounds_ < 100)
      std::this_thread::yield();
    else
      std::this_thread::sleep_for(std::chrono::microseconds(20));
  }

 private:
  int rounds_ = 0;
};

}  // namespace

void rethrow_at(const std::string& place) {
  try {
    throw;
  } catch (Error& e) {
    e.add_place(place);
    throw;
  } catch (const std::exception& e) {
    throw CommError(fmt::format("a step failed: {}", e.what()), place, "");
  }
}

StepRunner::StepRunner(const Program& program, RankValues& values, std::span<const std::unique_ptr<RankRunner>> runners,
                       Communicators& comms, const ExecutorOptions& options)
    : program_(program),
      runners_(runners),
      comms_(comms),
      options_(options),
      watched_(options.poison || options.timing || options.observer || options.before),
      calls_(make_team_calls(program, values, runners, comms)) {}

std::string StepRunner::place(const RankRunner& runner, size_t action) const {
  const std::string rank = fmt::format("rank {}", runner.rank());
  if (action >= runner.actions().size()) return rank;
  return rank + ", " + step_place(program_, runner.actions()[action].step);
}

template <class Work>
void StepRunner::watch(std::span<RankRunner* const> runners, size_t step, ProgramStream stream, Work&& work) {
  if (options_.before)
    for (RankRunner* runner : runners) options_.before(runner->rank(), step);
  if (options_.poison)
    for (RankRunner* runner : runners) runner->poison_step(step, stream);
  if (options_.observer) drain(runners);
  if (options_.timing)
    timed(runners, step, stream, work);
  else
    work();
  if (!options_.observer) return;
  drain(runners);
  const std::lock_guard lock(observer_mutex_);
  for (RankRunner* runner : runners) options_.observer(runner->rank(), step);
}

template <class Work>
void StepRunner::timed(std::span<RankRunner* const> runners, size_t step, ProgramStream stream, Work&& work) {
  if (!runners[0]->queues()) {
    const int64_t start = now();
    work();
    const int64_t end = now();
    runners[0]->times()[step].nanoseconds += end - start;
    for (RankRunner* runner : runners) {
      ++runner->times()[step].count;
      runner->spans().push_back({step, start, end});
    }
    return;
  }
  std::vector<size_t> begins;
  for (RankRunner* runner : runners) begins.push_back(runner->queues()->mark(stream));
  work();
  for (size_t i = 0; i < runners.size(); ++i)
    runners[i]->add_marked(step, begins[i], runners[i]->queues()->mark(stream), i == 0);
}

void StepRunner::local(RankRunner& runner, const RankAction& action) {
  if (!watched_ || action.kind == StepKind::RecordStep || action.kind == StepKind::WaitStep)
    return runner.issue(action);
  RankRunner* one = &runner;
  watch({&one, 1}, action.step, action.stream, [&] { runner.issue(action); });
}

void StepRunner::meet(TeamCall& call) {
  if (!watched_) return call.call();
  std::vector<RankRunner*> members;
  for (const TeamCall::Held& held : call.held) members.push_back(held.runner);
  watch(members, call.index, call.step->stream, [&] { call.call(); });
}

void StepRunner::meet(TeamCall& call, size_t member) {
  if (!watched_) return call.call(member);
  RankRunner* one = call.held[member].runner;
  watch({&one, 1}, call.index, call.step->stream, [&] { call.call(member); });
}

void StepRunner::check_cancelled() const {
  if (const auto at = stop_point_.stopped_at(); at && *at < program_.steps.size())
    throw CancelledError("the run was cancelled", "before " + step_place(program_, *at), "");
}

void StepRunner::issue_all(RankRunner& runner, bool asks) {
  size_t at = 0;
  const std::vector<RankAction>& actions = runner.actions();
  try {
    if (runner.queues()) runner.queues()->fork();
    for (; at < actions.size(); ++at) {
      if (stopped()) return;
      if (asks) stop_point_.ask();
      if (!stop_point_.may_begin(actions[at].step)) break;
      if (actions[at].kind == StepKind::CollectiveStep)
        meet(calls_[actions[at].team_call], actions[at].member);
      else
        local(runner, actions[at]);
    }
    if (runner.queues()) runner.queues()->join();
  } catch (...) {
    rethrow_at(place(runner, at));
  }
}

// Every rank is asked in every round: a simulated queue may go on only when it is.
void StepRunner::drain(std::span<RankRunner* const> runners) {
  Patience patience;
  while (true) {
    bool done = true;
    for (RankRunner* runner : runners)
      if (runner->queues()) done = runner->queues()->done() && done;
    if (done || stopped()) return;
    {
      const std::lock_guard lock(check_mutex_);
      comms_.check();
    }
    patience.pause();
  }
}

// The ranks, and the first collective that one of them has not ended.
std::string StepRunner::unfinished(std::span<RankRunner* const> runners) const {
  std::string ranks;
  std::optional<size_t> step;
  for (RankRunner* runner : runners) {
    const std::optional<size_t> its = runner->unfinished_collective();
    if (its && (!step || *its < *step)) {
      step = its;
      ranks.clear();
    }
    if (its == step) ranks += fmt::format("{}{}", ranks.empty() ? "" : ", ", runner->rank());
  }
  ranks = (ranks.find(',') == std::string::npos ? "rank " : "ranks ") + ranks;
  return step ? ranks + ", " + step_place(program_, *step) : ranks;
}

void StepRunner::wait(std::span<RankRunner* const> runners) {
  try {
    drain(runners);
  } catch (...) {
    rethrow_at(unfinished(runners));
  }
}

void StepRunner::wait(RankRunner& runner) {
  RankRunner* one = &runner;
  wait({&one, 1});
}

void StepRunner::settle() {
  Patience patience;
  const auto limit = std::chrono::steady_clock::now() + kSettleLimit;
  while (std::chrono::steady_clock::now() < limit) {
    bool done = true;
    for (const auto& runner : runners_) {
      try {
        if (runner->queues()) done = runner->queues()->done() && done;
      } catch (...) {  // a queue that failed has nothing left to do
      }
    }
    if (done) return;
    patience.pause();
  }
}

}  // namespace plait
