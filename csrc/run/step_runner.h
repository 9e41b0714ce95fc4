#pragma once
// What all executors share: one step of one or more ranks, watched where that is asked for; waiting for GPUs.
#include <atomic>
#include <mutex>
#include <span>
#include <string>
#include <vector>

#include "run/executor_options.h"
#include "run/rank_runner.h"
#include "run/stop_point.h"
#include "run/team_calls.h"

namespace plait {

class StepRunner {
 public:
  // Everything given must outlive it. Makes the communicators of the teams.
  StepRunner(const Program& program, RankValues& values, std::span<const std::unique_ptr<RankRunner>> runners,
             Communicators& comms, const ExecutorOptions& options);

  std::span<const std::unique_ptr<RankRunner>> runners() const { return runners_; }
  const Program& program() const { return program_; }
  Communicators& comms() { return comms_; }
  std::vector<TeamCall>& calls() { return calls_; }
  bool watched() const { return watched_; }
  std::string place(const RankRunner& runner, size_t action) const;  // "rank 0, step 3 (...)"

  // An action of one rank that is no collective.
  void local(RankRunner& runner, const RankAction& action);
  // A collective for all members that are held, or for one.
  void meet(TeamCall& call);
  void meet(TeamCall& call, size_t member);
  // All actions of a rank in the order of the list, between fork and join; collectives for this rank alone. Errors name
  // rank and step. Returns early, without an error, after stop() and where the caller ends the run; `asks`: it is the
  // caller's thread.
  void issue_all(RankRunner& runner, bool asks);

  // Waits until the ranks' queues are done; nothing on the host. Errors name rank and step as far as they are known.
  void wait(std::span<RankRunner* const> runners);
  void wait(RankRunner& runner);
  // The same without errors and with a limit in time: for what is left of a run that failed.
  void settle();
  // Of the run that begins: whether its caller ends it.
  StopPoint& stop_point() { return stop_point_; }
  // CancelledError where the caller ended the run, which no rank goes on with.
  void check_cancelled() const;
  // Makes issue_all and wait of all threads return early, until resume().
  void stop() { stopped_ = true; }
  void resume() { stopped_ = false; }
  bool stopped() const { return stopped_.load(std::memory_order_relaxed); }

 private:
  template <class Work>
  void watch(std::span<RankRunner* const> runners, size_t step, ProgramStream stream, Work&& work);
  template <class Work>
  void timed(std::span<RankRunner* const> runners, size_t step, ProgramStream stream, Work&& work);
  void drain(std::span<RankRunner* const> runners);
  std::string unfinished(std::span<RankRunner* const> runners) const;

  const Program& program_;
  std::span<const std::unique_ptr<RankRunner>> runners_;
  Communicators& comms_;
  const ExecutorOptions& options_;
  const bool watched_;
  std::vector<TeamCall> calls_;
  std::mutex observer_mutex_, check_mutex_;
  std::atomic<bool> stopped_ = false;
  StopPoint stop_point_;
};

// Throws the exception being handled again with `place` before its own; an exception of others becomes CommError.
[[noreturn]] void rethrow_at(const std::string& place);

}  // namespace plait
