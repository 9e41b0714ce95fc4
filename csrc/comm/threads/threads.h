#pragma once
// Ranks of one process, one thread each: a collective is carried out by the last member that comes, with comm/local's
// code, so that results are the same bits.
#include <chrono>
#include <condition_variable>
#include <map>
#include <memory>
#include <mutex>
#include <vector>

#include "comm/abort_flag.h"
#include "comm/comm_options.h"
#include "comm/communicator.h"
#include "comm/flight_recorder.h"
#include "comm/local/local.h"

namespace plait {

// Safe to use from several threads at once; every call of a collective brings the members that the calling thread
// drives, one as a rule, and returns when the collective is done. CommError, and the end of all communication of the
// process, where members ask for different collectives (both ranks and calls are named), where ranks wait for each
// other for good (at once), and where a member has not come in time (who waits for whom).
class ThreadCommunicators : public Communicators {
 public:
  explicit ThreadCommunicators(CommOptions options = {});
  ~ThreadCommunicators() override;
  Communicator& team(std::span<const int64_t> ranks) override;
  CommTraffic traffic() const override;
  void reset_traffic() override;
  void check() override { aborted_.check(); }
  void abort(std::string_view why) override;
  FlightRecorder* recorder(int64_t rank) override { return &recorders_.of(rank); }
  void dump(const std::string& folder, std::string_view reason) override { recorders_.dump(folder, reason); }

 private:
  class Team;
  bool end(std::string_view why);
  [[noreturn]] void fail(std::string_view why);
  std::string who_waits() const;
  std::string find_deadlock() const;

  const CommOptions options_;
  mutable std::mutex mutex_;  // of all below and of all teams
  CommTraffic traffic_;
  AbortFlag aborted_;
  FlightRecorders recorders_;
  std::map<std::vector<int64_t>, std::unique_ptr<Team>> teams_;
  std::map<int64_t, Team*> waits_;  // where a rank waits; null: nowhere
};

}  // namespace plait
