#include "sim/nccl/group.h"

#include <fmt/core.h>

#include <algorithm>
#include <map>
#include <mutex>
#include <thread>
#include <utility>

#include "sim/cuda/engine.h"

namespace plait::sim::nccl {
namespace {

struct Group {
  int depth = 0;
  ncclResult_t failed = ncclSuccess;
  std::vector<std::pair<ncclComm_t, Call>> calls;
  std::vector<std::pair<Making, ncclComm_t*>> makings;
};

thread_local Group group;

// Which thread made which call without a group, by communicator: one thread that makes the same call for two members
// waits for itself on hardware.
class Ungrouped {
 public:
  // Empty, or the rank whose call of this number the same thread made before.
  std::optional<int> enter(const ncclComm& comm, uint64_t number) {
    const std::lock_guard lock(mutex_);
    auto& members = by_id_[comm.id];
    std::optional<int> other;
    for (const auto& [rank, last] : members) {
      if (rank != comm.rank && last == std::pair(number, std::this_thread::get_id())) other = rank;
    }
    members[comm.rank] = {number, std::this_thread::get_id()};
    return other;
  }

 private:
  std::mutex mutex_;
  std::map<std::string, std::map<int, std::pair<uint64_t, std::thread::id>>> by_id_;
};

Ungrouped& ungrouped() {
  static Ungrouped* calls = new Ungrouped;
  return *calls;
}

ncclResult_t finished_call(ncclComm& comm) {
  if (comm.blocking) return ncclSuccess;
  const std::lock_guard lock(comm.mutex);
  comm.in_progress = true;
  return ncclInProgress;
}

ncclResult_t start(ncclComm& comm, std::vector<Call> calls) {
  const std::shared_ptr<Endpoint> endpoint = endpoint_of(comm);
  if (endpoint == nullptr) return gone(comm);
  bool captured = false;
  for (const Call& call : calls) captured = captured || is_capturing(call.stream);
  if (calls.size() > kRecords) {
    return misuse("ncclGroupEnd",
                  fmt::format("more than {} calls of one communicator in a group are not simulated", kRecords),
                  ncclInvalidUsage);
  }
  if (const int result = endpoint->enqueue(std::move(calls), captured); result != 0) {
    return set_last_error(fmt::format("{}: a stream refused work, CUresult {}", comm.label, result),
                          ncclUnhandledCudaError);
  }
  return finished_call(comm);
}

ncclResult_t end_calls(std::vector<std::pair<ncclComm_t, Call>> calls) {
  std::vector<ncclComm_t> comms;  // in order of their first calls
  std::map<ncclComm_t, std::vector<Call>> by_comm;
  for (auto& [comm, call] : calls) {
    if (by_comm.count(comm) == 0) comms.push_back(comm);
    by_comm[comm].push_back(std::move(call));
  }
  ncclResult_t result = ncclSuccess;
  for (ncclComm_t comm : comms) {
    const ncclResult_t one = start(*comm, std::move(by_comm[comm]));
    if (result == ncclSuccess || (one != ncclSuccess && one != ncclInProgress)) result = one;
  }
  return result;
}

// Those that are not made yet tell the other members; `by` null: the call that made the communicator.
void give_up(const std::vector<std::pair<Making, ncclComm_t*>>& makings, const char* by) {
  for (const auto& [making, place] : makings) {
    {
      const std::lock_guard lock(making.comm->mutex);
      if (making.comm->job != nullptr) making.comm->job->abandon();
    }
    retire(making.comm, by == nullptr ? making.function : by);
    *place = nullptr;
  }
}

ncclResult_t end_makings(const std::vector<std::pair<Making, ncclComm_t*>>& makings) {
  std::vector<Making> all;
  for (const auto& [making, place] : makings) all.push_back(making);
  const ncclResult_t result = wait_for(all);
  if (result == ncclSuccess || result == ncclInProgress) return result;
  give_up(makings, nullptr);
  return result;
}

}  // namespace

bool in_group() { return group.depth > 0; }

ncclResult_t note(ncclResult_t result) {
  if (in_group() && result != ncclSuccess && result != ncclInProgress) group.failed = result;
  return result;
}

ncclResult_t submit(const char* function, ncclComm_t comm, Call call) {
  const std::shared_ptr<Endpoint> endpoint = endpoint_of(*comm);
  if (endpoint == nullptr) return gone(*comm);
  call.number = endpoint->next_number();
  if (in_group()) {
    group.calls.emplace_back(comm, std::move(call));
    return ncclSuccess;
  }
  if (const std::optional<int> other = ungrouped().enter(*comm, call.number)) {
    report(
        fmt::format("{}: missing group: one thread makes call {} on {} for rank {} and for rank {}; on hardware the "
                    "first may wait for the second",
                    function, call.number, comm->label, *other, comm->rank));
  }
  return start(*comm, {std::move(call)});
}

ncclResult_t submit(Making making, ncclComm_t* place) {
  if (in_group()) {
    group.makings.emplace_back(making, place);
    return ncclSuccess;
  }
  return end_makings({{making, place}});
}

}  // namespace plait::sim::nccl

using namespace plait::sim::nccl;

ncclResult_t ncclGroupStart() {
  ++group.depth;
  return ncclSuccess;
}

ncclResult_t ncclGroupEnd() {
  if (group.depth == 0) return misuse(__func__, "there was no ncclGroupStart", ncclInvalidUsage);
  if (--group.depth > 0) return ncclSuccess;
  Group ended = std::move(group);
  group = {};
  if (!ended.calls.empty() && !ended.makings.empty()) {
    ended.failed = misuse(__func__, "a group holds calls and communicators in the making", ncclInvalidUsage);
  }
  if (ended.failed != ncclSuccess) {
    give_up(ended.makings, __func__);
    return ended.failed;
  }
  if (!ended.makings.empty()) return end_makings(ended.makings);
  return end_calls(std::move(ended.calls));
}
