#include "comm/nccl/nccl_communicators.h"

#include <algorithm>
#include <mutex>

#include "base/error.h"
#include "comm/nccl/nccl_team.h"

namespace plait {
namespace {

class NcclCommunicators : public Communicators {
 public:
  explicit NcclCommunicators(NcclOptions options) : state_(std::move(options)) {
    for (int64_t rank : state_.options.held) state_.recorders.of(rank);
    state_.abort_teams = [this] {
      const std::lock_guard lock(mutex_);
      for (const auto& [ranks, team] : teams_) team->abort();
    };
  }

  // One thread makes a team for all members of the process, the others wait for it.
  Communicator& team(std::span<const int64_t> ranks) override {
    state_.aborted.check();
    const std::lock_guard making(making_);
    const std::vector<int64_t> key(ranks.begin(), ranks.end());
    {
      const std::lock_guard lock(mutex_);
      const auto at = teams_.find(key);
      if (at != teams_.end()) return *at->second;
    }
    auto team = std::make_unique<NcclTeam>(ranks, state_);
    const std::lock_guard lock(mutex_);
    return *(teams_[key] = std::move(team));
  }

  CommTraffic traffic() const override {
    const std::lock_guard lock(state_.traffic_mutex);
    return state_.traffic;
  }
  void reset_traffic() override {
    const std::lock_guard lock(state_.traffic_mutex);
    state_.traffic = {};
  }
  Bootstrap* bootstrap() override { return state_.options.bootstrap; }

  void check() override {
    state_.aborted.check();
    std::string why;
    {
      const std::lock_guard lock(mutex_);
      for (const auto& [ranks, team] : teams_)
        if (why.empty()) why = team->trouble();
    }
    if (why.empty()) return;
    state_.end(why);
    throw CommError(why, "", "");
  }

  void abort(std::string_view why) override { state_.end(why); }

  FlightRecorder* recorder(int64_t rank) override { return state_.recorders.find(rank); }
  void dump(const std::string& folder, std::string_view reason) override { state_.recorders.dump(folder, reason); }
  void set_capturing(bool on) override { state_.capturing = on; }

 private:
  mutable NcclState state_;
  std::mutex making_;
  mutable std::mutex mutex_;  // of the map
  std::map<std::vector<int64_t>, std::unique_ptr<NcclTeam>> teams_;
};

}  // namespace

std::shared_ptr<Communicators> make_nccl_communicators(NcclOptions options) {
  PLAIT_CHECK(options.device != nullptr && options.with_device, "no device");
  PLAIT_CHECK(!options.held.empty(), "no rank is of this process");
  if (options.bootstrap != nullptr)
    PLAIT_CHECK(options.held == std::vector<int64_t>{options.bootstrap->rank()},
                "process {} of a job holds its own rank alone", options.bootstrap->rank());
  return std::make_shared<NcclCommunicators>(std::move(options));
}

}  // namespace plait
