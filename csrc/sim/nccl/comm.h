#pragma once
// What a handle of a communicator stands for, and the handles in use.
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "sim/nccl/works.h"

namespace plait::sim::nccl {

// Making a communicator: steps that wait for other members.
class Job {
 public:
  virtual ~Job() = default;
  // Goes as far as it can. ncclInProgress: waits; other results are final. The text of a failure is set_last_error's.
  virtual ncclResult_t advance() = 0;
  virtual std::string waits_for() = 0;
  // The communicator is given up; other members are told.
  virtual void abandon() = 0;
};

// An operation of ncclRedOpCreatePreMulSum.
struct ScaledSum {
  ncclDataType_t type = ncclFloat32;
  uint64_t factor = 0;         // as of Input
  uint64_t device_scalar = 0;  // address; 0: `factor` holds it
  bool live = true;
};

// The last error's text, and a finding with it. Returns `code`.
ncclResult_t misuse(const char* function, const std::string& why, ncclResult_t code = ncclInvalidArgument);
// The last error's text alone: not the caller's fault.
ncclResult_t set_last_error(const std::string& text, ncclResult_t code);

}  // namespace plait::sim::nccl

// The type that nccl.h names.
struct ncclComm {
  int rank = 0, ranks = 0, device = 0;
  bool blocking = true;
  std::string label;
  std::string id;  // of its shared memory
  // The rest is changed under the mutex.
  std::mutex mutex;
  std::unique_ptr<plait::sim::nccl::Job> job;  // null: made, or failed
  ncclResult_t made = ncclInProgress;          // result of the job
  std::shared_ptr<plait::sim::nccl::Endpoint> endpoint;
  bool in_progress = false;  // of a non-blocking communicator: its last call was not yet seen to end
  bool finalized = false;
  std::vector<plait::sim::nccl::ScaledSum> scaled_sums;
  uint64_t splits = 0;
};

namespace plait::sim::nccl {

// A new handle.
ncclComm* make_handle();
// What is wrong with a handle: empty if it is live.
std::string why_dead(ncclComm_t comm);
// The handle is dead from here on; its memory stays for a while.
void retire(ncclComm_t comm, const char* by);

// The member's state; null: not made, or another thread gave the communicator up meanwhile.
std::shared_ptr<Endpoint> endpoint_of(ncclComm& comm);
// What a call that finds none returns.
ncclResult_t gone(const ncclComm& comm);

// Goes on with the job, if any. The result of making the communicator; ncclInProgress: not made yet.
ncclResult_t advance(ncclComm& comm);
// Whether a call on the communicator may be made: ncclSuccess, or the result to return; misuse is a finding.
ncclResult_t usable(const char* function, ncclComm_t comm);
// Whether `state` of the communicator is one that its attributes can be asked in.
ncclResult_t known(const char* function, ncclComm_t comm);

}  // namespace plait::sim::nccl
