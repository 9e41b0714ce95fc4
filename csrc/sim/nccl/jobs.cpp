#include "sim/nccl/jobs.h"

#include <fmt/core.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <thread>
#include <utility>

#include "base/environment.h"

namespace plait::sim::nccl {
namespace {

// Arenas of members of this process, by communicator and rank: one process maps each once.
class LocalArenas {
 public:
  void enter(const std::string& id, int rank, const std::shared_ptr<Arena>& arena) {
    const std::lock_guard lock(mutex_);
    arenas_[{id, rank}] = arena;
  }
  std::shared_ptr<Arena> find(const std::string& id, int rank) {
    const std::lock_guard lock(mutex_);
    const auto at = arenas_.find({id, rank});
    return at == arenas_.end() ? nullptr : at->second.lock();
  }

 private:
  std::mutex mutex_;
  std::map<std::pair<std::string, int>, std::weak_ptr<Arena>> arenas_;
};

LocalArenas& local_arenas() {
  static LocalArenas* arenas = new LocalArenas;
  return *arenas;
}

bool may_share_devices() { return environment("NCCL_MULTI_RANK_GPU_ENABLE") == "1"; }

class Join final : public Job {
 public:
  explicit Join(ncclComm& comm) : comm_(comm) {}
  ~Join() override {
    if (control_ != nullptr) control_->unlink();  // done, or given up: nobody else is to come
  }

  ncclResult_t advance() override {
    if (step_ == Step::enter) {
      if (const ncclResult_t result = enter(); result != ncclSuccess) return result;
      step_ = Step::meet;
    }
    if (step_ == Step::meet) {
      if (control_->joined() < static_cast<uint32_t>(comm_.ranks)) return still_waiting();
      if (const ncclResult_t result = map_arenas(); result != ncclSuccess) return result;
      ++control_->mapped();
      step_ = Step::map;
    }
    if (!all_mapped()) {
      // A failure may be of a member that went on when all had mapped.
      if (const ncclResult_t result = still_waiting(); !all_mapped()) return result;
    }
    control_->unlink();
    comm_.endpoint =
        std::make_shared<Endpoint>(MemberSetup{control_, std::move(arenas_), comm_.rank, comm_.device, comm_.label});
    return ncclSuccess;
  }

  std::string waits_for() override {
    std::string missing;
    for (int rank = 0; control_ != nullptr && rank < comm_.ranks; ++rank) {
      if (control_->member(rank).state == MemberState::absent) missing += fmt::format(" {}", rank);
    }
    return fmt::format("rank {} of {} waits for ranks{} to join {}", comm_.rank, comm_.ranks, missing, comm_.label);
  }

  void abandon() override {
    if (control_ == nullptr) return;
    control_->member(comm_.rank).state = MemberState::aborted;
    control_->fail({ncclRemoteError, false, fmt::format("{}: rank {} aborted it", comm_.label, comm_.rank)});
    control_->unlink();
  }

 private:
  enum class Step : uint8_t { enter, meet, map };

  bool all_mapped() const { return control_->mapped() >= static_cast<uint32_t>(comm_.ranks); }
  ncclResult_t refuse(const std::string& why, ncclResult_t code) {
    if (control_ != nullptr) {
      control_->fail({code, false, fmt::format("{}: {}", comm_.label, why)});
      control_->unlink();
    }
    return misuse("ncclCommInitRank", why, code);
  }
  ncclResult_t system_error(const std::string& what) {
    const std::string text = fmt::format("{}: {}: {}", comm_.label, what, std::strerror(errno));
    if (control_ != nullptr) control_->fail({ncclSystemError, false, text});
    return set_last_error(text, ncclSystemError);
  }

  ncclResult_t enter() {
    control_ = Control::open(comm_.id, comm_.ranks);
    if (control_ == nullptr && errno == EINVAL) {
      return refuse(
          fmt::format("{}: rank {} says {} ranks, another one says otherwise", comm_.label, comm_.rank, comm_.ranks),
          ncclInvalidArgument);
    }
    if (control_ == nullptr) return system_error("shared memory");
    Member& member = control_->member(comm_.rank);
    if (member.claims++ > 0) {
      return refuse(fmt::format("{}: two members are rank {}", comm_.label, comm_.rank), ncclInvalidArgument);
    }
    own_ = Arena::make();
    if (own_ == nullptr) return system_error("memory for exchange");
    local_arenas().enter(comm_.id, comm_.rank, own_);
    member.pid = getpid();
    member.started = process_start(getpid());
    member.device = comm_.device;
    member.arena = own_->file();
    member.state = MemberState::joined;
    ++control_->joined();
    return ncclSuccess;
  }

  ncclResult_t map_arenas() {
    // Simulated devices belong to their process, so only members of one process can share one.
    const bool may_share = may_share_devices();
    for (int a = 0; a < comm_.ranks && !may_share; ++a) {
      for (int b = 0; b < a; ++b) {
        const Member &first = control_->member(b), &second = control_->member(a);
        if (first.pid != second.pid || first.device != second.device) continue;
        return refuse(
            fmt::format("Duplicate GPU detected : rank {} and rank {} both on CUDA device {}", a, b, second.device),
            ncclInvalidUsage);
      }
    }
    for (int rank = 0; rank < comm_.ranks; ++rank) {
      const Member& member = control_->member(rank);
      std::shared_ptr<Arena> arena;
      if (rank == comm_.rank) {
        arena = own_;
      } else if (member.pid == getpid()) {
        arena = local_arenas().find(comm_.id, rank);
      } else {
        arena = Arena::open(member.pid, member.arena);
      }
      if (arena == nullptr) return system_error(fmt::format("memory of rank {}", rank));
      arenas_.push_back(std::move(arena));
    }
    return ncclSuccess;
  }

  ncclResult_t still_waiting() {
    if (const Failure failure = control_->failure(); failure.code != ncclSuccess) {
      return set_last_error(failure.text, failure.code);
    }
    const auto now = std::chrono::steady_clock::now();
    if (now < next_check_) return ncclInProgress;
    next_check_ = now + std::chrono::milliseconds(50);
    for (int rank = 0; rank < comm_.ranks; ++rank) {
      const Member& member = control_->member(rank);
      if (member.state != MemberState::joined || member.pid == getpid()) continue;
      if (process_start(member.pid) == member.started) continue;
      control_->fail({ncclRemoteError, false,
                      fmt::format("{}: the process {} of rank {} has ended", comm_.label, member.pid, rank)});
      control_->unlink();
    }
    return ncclInProgress;
  }

  ncclComm& comm_;
  Step step_ = Step::enter;
  std::shared_ptr<Control> control_;
  std::shared_ptr<Arena> own_;
  std::vector<std::shared_ptr<Arena>> arenas_;
  std::chrono::steady_clock::time_point next_check_{};
};

class Split final : public Job {
 public:
  Split(ncclComm& parent, std::shared_ptr<Endpoint> endpoint, ncclComm& child, int color, int key)
      : endpoint_(std::move(endpoint)), id_(parent.id), child_(child), number_(parent.splits++), color_(color) {
    Member& member = endpoint_->control().member(endpoint_->rank());
    member.splits[number_ % 2] = {color, key};
    member.split_calls = number_ + 1;
  }

  ncclResult_t advance() override {
    if (join_ != nullptr) return join_->advance();
    Control& control = endpoint_->control();
    std::vector<std::pair<int, int>> members;  // key, rank
    for (int rank = 0; rank < endpoint_->ranks(); ++rank) {
      const Member& member = control.member(rank);
      if (member.split_calls <= number_) {
        endpoint_->check_alive();
        const Failure failure = control.failure();
        return failure.code == ncclSuccess ? ncclInProgress : set_last_error(failure.text, failure.code);
      }
      const Member::Split split = member.splits[number_ % 2];
      if (split.color == color_) members.emplace_back(split.key, rank);
    }
    std::sort(members.begin(), members.end());
    const auto own = std::find_if(members.begin(), members.end(),
                                  [&](const auto& member) { return member.second == endpoint_->rank(); });
    child_.rank = static_cast<int>(own - members.begin());
    child_.ranks = static_cast<int>(members.size());
    child_.id = fmt::format("{}_{}_{}", id_, number_, color_);
    join_ = make_join(child_);
    return join_->advance();
  }

  std::string waits_for() override {
    if (join_ != nullptr) return join_->waits_for();
    std::string missing;
    for (int rank = 0; rank < endpoint_->ranks(); ++rank) {
      if (endpoint_->control().member(rank).split_calls <= number_) missing += fmt::format(" {}", rank);
    }
    return fmt::format("rank {} waits for ranks{} to split {}", endpoint_->rank(), missing, endpoint_->label());
  }

  void abandon() override {
    if (join_ != nullptr) join_->abandon();
  }

 private:
  std::shared_ptr<Endpoint> endpoint_;
  std::string id_;
  ncclComm& child_;
  uint64_t number_;
  int color_;
  std::unique_ptr<Job> join_;
};

}  // namespace

std::unique_ptr<Job> make_join(ncclComm& comm) { return std::make_unique<Join>(comm); }

std::unique_ptr<Job> make_split(ncclComm& parent, std::shared_ptr<Endpoint> endpoint, ncclComm& child, int color,
                                int key) {
  return std::make_unique<Split>(parent, std::move(endpoint), child, color, key);
}

void split_without_color(ncclComm& parent, Endpoint& endpoint) {
  Member& member = endpoint.control().member(parent.rank);
  member.splits[parent.splits % 2] = {NCCL_SPLIT_NOCOLOR, 0};
  member.split_calls = ++parent.splits;
}

ncclResult_t wait_for(const std::vector<Making>& all) {
  const auto start = std::chrono::steady_clock::now();
  ncclResult_t result = ncclSuccess;
  while (true) {
    bool waiting = false, waiting_to_block = false;
    for (const Making& making : all) {
      const ncclResult_t made = advance(*making.comm);
      if (made == ncclInProgress) {
        waiting = true;
        waiting_to_block = waiting_to_block || making.comm->blocking;
      } else if (made != ncclSuccess) {
        result = made;
      }
    }
    if (result != ncclSuccess) return result;
    if (!waiting) return ncclSuccess;
    if (!waiting_to_block) return ncclInProgress;
    const std::chrono::duration<double> waited = std::chrono::steady_clock::now() - start;
    if (waited.count() > timeout_seconds()) break;
    std::this_thread::sleep_for(std::chrono::microseconds(waited.count() < 0.01 ? 50 : 1000));
  }
  std::string text;
  for (const Making& making : all) {
    const std::lock_guard lock(making.comm->mutex);
    if (making.comm->job == nullptr) continue;
    text += (text.empty() ? "" : "; ") + making.comm->job->waits_for();
    making.comm->job->abandon();
  }
  return misuse(all.front().function,
                fmt::format("nobody came for {:.3g} s: {}. A thread that makes several communicators groups the calls",
                            timeout_seconds(), text),
                ncclTimeout);
}

}  // namespace plait::sim::nccl
