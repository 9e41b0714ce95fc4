#include "sim/nccl/comm.h"

#include <fmt/core.h>

#include <atomic>
#include <deque>
#include <map>
#include <set>
#include <utility>

#include "sim/cuda/engine.h"

namespace plait::sim::nccl {
namespace {

struct Handles {
  std::mutex mutex;
  std::set<const ncclComm*> live;
  std::map<const ncclComm*, std::string> dead;  // -> by which call
  std::deque<std::unique_ptr<ncclComm>> kept;
  std::set<std::string> texts;  // that ncclGetLastError gave out
  const char* last_error = "";
};

Handles& handles() {
  static Handles* handles = new Handles;
  return *handles;
}

std::atomic<double> timeout{50.0};  // less than the driver's stand-in waits, which would lose contexts

}  // namespace

ncclResult_t set_last_error(const std::string& text, ncclResult_t code) {
  Handles& all = handles();
  const std::lock_guard lock(all.mutex);
  all.last_error = all.texts.insert(text).first->c_str();
  return code;
}

ncclResult_t misuse(const char* function, const std::string& why, ncclResult_t code) {
  const std::string text = fmt::format("{}: {}", function, why);
  report(text);
  return set_last_error(text, code);
}

double timeout_seconds() { return timeout; }

ncclComm* make_handle() {
  Handles& all = handles();
  const std::lock_guard lock(all.mutex);
  all.kept.push_back(std::make_unique<ncclComm>());
  all.live.insert(all.kept.back().get());
  return all.kept.back().get();
}

std::string why_dead(ncclComm_t comm) {
  if (comm == nullptr) return "the communicator is null";
  Handles& all = handles();
  const std::lock_guard lock(all.mutex);
  if (all.live.count(comm) > 0) return {};
  auto at = all.dead.find(comm);
  if (at == all.dead.end()) return "the communicator is none of this library";
  return fmt::format("the communicator was given up before by {}", at->second);
}

void retire(ncclComm_t comm, const char* by) {
  {
    Handles& all = handles();
    const std::lock_guard lock(all.mutex);
    all.live.erase(comm);
    all.dead[comm] = by;
  }
  const std::lock_guard lock(comm->mutex);
  comm->endpoint = nullptr;
  comm->job = nullptr;
}

std::shared_ptr<Endpoint> endpoint_of(ncclComm& comm) {
  const std::lock_guard lock(comm.mutex);
  return comm.endpoint;
}

ncclResult_t gone(const ncclComm& comm) {
  return set_last_error(comm.label + " was given up by another thread", ncclInvalidArgument);
}

ncclResult_t advance(ncclComm& comm) {
  const std::lock_guard lock(comm.mutex);
  if (comm.job == nullptr) return comm.made;
  const ncclResult_t result = comm.job->advance();
  if (result == ncclInProgress) return result;
  comm.made = result;
  comm.job = nullptr;
  return result;
}

ncclResult_t known(const char* function, ncclComm_t comm) {
  if (const std::string why = why_dead(comm); !why.empty()) return misuse(function, why);
  const ncclResult_t made = advance(*comm);
  if (made != ncclInProgress) return made;
  return misuse(function, fmt::format("{} of rank {} is not made yet: ask ncclCommGetAsyncError until it says so",
                                      comm->label, comm->rank));
}

ncclResult_t usable(const char* function, ncclComm_t comm) {
  if (const ncclResult_t result = known(function, comm); result != ncclSuccess) return result;
  const std::shared_ptr<Endpoint> endpoint = endpoint_of(*comm);
  if (endpoint == nullptr) return gone(*comm);
  if (const Failure failure = endpoint->control().failure(); failure.code != ncclSuccess) {
    endpoint->report_failure();
    return set_last_error(failure.text, failure.code);
  }
  const std::lock_guard lock(comm->mutex);
  if (comm->finalized) {
    return misuse(function, fmt::format("{} of rank {} was finalized", comm->label, comm->rank));
  }
  if (comm->in_progress) {
    return misuse(function, fmt::format("the last call on {} of rank {} returned ncclInProgress: ask "
                                        "ncclCommGetAsyncError until it ends",
                                        comm->label, comm->rank));
  }
  return ncclSuccess;
}

}  // namespace plait::sim::nccl

using namespace plait::sim::nccl;

void plait_sim_nccl_set_timeout(double seconds) { timeout = seconds; }

ncclResult_t ncclGetVersion(int* version) {
  if (version == nullptr) return misuse(__func__, "the place for the version is null");
  *version = NCCL_VERSION_CODE;
  return ncclSuccess;
}

const char* ncclGetErrorString(ncclResult_t result) {
  switch (result) {
    case ncclSuccess:
      return "no error";
    case ncclUnhandledCudaError:
      return "unhandled cuda error";
    case ncclSystemError:
      return "system error";
    case ncclInternalError:
      return "internal error";
    case ncclInvalidArgument:
      return "invalid argument";
    case ncclInvalidUsage:
      return "invalid usage";
    case ncclRemoteError:
      return "remote process exited or there was a network error";
    case ncclInProgress:
      return "operation in progress";
    case ncclTimeout:
      return "operation timed out";
    default:
      return "unknown result code";
  }
}

const char* ncclGetLastError(ncclComm_t) {
  Handles& all = handles();
  const std::lock_guard lock(all.mutex);
  return all.last_error;
}

ncclResult_t ncclCommCount(const ncclComm_t comm, int* count) {
  if (const ncclResult_t result = known(__func__, comm); result != ncclSuccess) return result;
  if (count == nullptr) return misuse(__func__, "the place for the number is null");
  *count = comm->ranks;
  return ncclSuccess;
}

ncclResult_t ncclCommUserRank(const ncclComm_t comm, int* rank) {
  if (const ncclResult_t result = known(__func__, comm); result != ncclSuccess) return result;
  if (rank == nullptr) return misuse(__func__, "the place for the rank is null");
  *rank = comm->rank;
  return ncclSuccess;
}

ncclResult_t ncclCommCuDevice(const ncclComm_t comm, int* device) {
  if (const ncclResult_t result = known(__func__, comm); result != ncclSuccess) return result;
  if (device == nullptr) return misuse(__func__, "the place for the device is null");
  *device = comm->device;
  return ncclSuccess;
}

ncclResult_t ncclCommGetAsyncError(ncclComm_t comm, ncclResult_t* error) {
  if (const std::string why = why_dead(comm); !why.empty()) return misuse(__func__, why);
  if (error == nullptr) return misuse(__func__, "the place for the error is null");
  *error = advance(*comm);
  if (*error != ncclSuccess) return ncclSuccess;
  const std::shared_ptr<Endpoint> endpoint = endpoint_of(*comm);
  if (endpoint == nullptr) return gone(*comm);
  endpoint->check_alive();
  if (const Failure failure = endpoint->control().failure(); failure.code != ncclSuccess) {
    endpoint->report_failure();
    *error = set_last_error(failure.text, failure.code);
    return ncclSuccess;
  }
  const std::lock_guard lock(comm->mutex);
  // The first look at a call finds it in progress, so that callers that do not look again are noticed.
  if (comm->in_progress) *error = ncclInProgress;
  comm->in_progress = false;
  if (comm->finalized && endpoint->pending() > 0) *error = ncclInProgress;
  return ncclSuccess;
}

ncclResult_t ncclCommFinalize(ncclComm_t comm) {
  if (const ncclResult_t result = usable(__func__, comm); result != ncclSuccess) return result;
  const std::shared_ptr<Endpoint> endpoint = endpoint_of(*comm);
  if (endpoint == nullptr) return gone(*comm);
  const std::lock_guard lock(comm->mutex);
  comm->finalized = true;
  return !comm->blocking && endpoint->pending() > 0 ? ncclInProgress : ncclSuccess;
}

ncclResult_t ncclCommDestroy(ncclComm_t comm) {
  if (comm == nullptr) return ncclSuccess;
  if (const std::string why = why_dead(comm); !why.empty()) return misuse(__func__, why);
  if (advance(*comm) == ncclInProgress) {
    return misuse(__func__, fmt::format("{} of rank {} is not made yet", comm->label, comm->rank));
  }
  if (const std::shared_ptr<Endpoint> endpoint = endpoint_of(*comm)) endpoint->leave();
  retire(comm, __func__);
  plait::sim::notify();
  return ncclSuccess;
}

ncclResult_t ncclCommAbort(ncclComm_t comm) {
  if (comm == nullptr) return ncclSuccess;
  if (const std::string why = why_dead(comm); !why.empty()) return misuse(__func__, why);
  advance(*comm);
  {
    const std::lock_guard lock(comm->mutex);
    if (comm->job != nullptr) comm->job->abandon();
  }
  if (const std::shared_ptr<Endpoint> endpoint = endpoint_of(*comm)) endpoint->abort();
  retire(comm, __func__);
  return ncclSuccess;
}
