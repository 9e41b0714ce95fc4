#pragma once
// One member of a communicator and the work that its calls queue.
//
// A call is two pieces of work on its stream: `arrive` leaves the input where the other members can read it, `finish`
// waits until all members that it needs have arrived and writes the output. The inputs of all calls of a group precede
// their outputs, so that sends and receives of one group pass each other.
#include <atomic>
#include <chrono>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "sim/cuda/engine.h"
#include "sim/nccl/arena.h"
#include "sim/nccl/control.h"
#include "sim/nccl/reduce.h"

namespace plait::sim::nccl {

struct MemberSetup {
  std::shared_ptr<Control> control;
  std::vector<std::shared_ptr<Arena>> arenas;  // by rank
  int rank = 0, device = 0;
  std::string label;  // "communicator 1a2b3c4d"
};

// A call as it was made.
struct Call {
  Terms terms;
  uint64_t send = 0, recv = 0;  // addresses; 0 where not used
  uint64_t device_scalar = 0;   // address of a factor that is read when the call runs; 0: none
  cudaStream_t stream = nullptr;
  uint64_t number = 0;  // of the member's calls, from 0
  // Bytes that the call reads and writes for this rank of this many.
  uint64_t input_bytes(int rank, int ranks) const;
  uint64_t output_bytes(int rank, int ranks) const;
};

class Endpoint;

// Seconds for which calls and works wait for other members; see plait_sim_nccl_set_timeout.
double timeout_seconds();

// Calls of one member that start together: one call, or those of a group.
struct Launch {
  std::shared_ptr<Endpoint> endpoint;
  std::vector<Call> calls;
  int64_t ticket = -1;  // order among launches that were not captured; -1: captured
  // Of the run in progress (a captured launch runs many times):
  size_t arrived = 0;                   // calls whose input was left
  std::vector<uint64_t> positions;      // of the records, once all have arrived; empty before
  std::vector<uint64_t> input_offsets;  // in the arena
  int64_t waiting_since = 0;            // steady clock, ns; 0: nothing waits
  struct Block {                        // where the input lies: until all have used these records
    bool published = false;
    uint64_t first = 0, count = 0;
  };
  std::shared_ptr<Block> block;
};

// The state of a member that works use; it outlives the handle. Works of the driver's stand-in run one at a time, and
// only they change it, but for what is atomic.
class Endpoint : public std::enable_shared_from_this<Endpoint> {
 public:
  explicit Endpoint(MemberSetup setup);

  int rank() const { return rank_; }
  int ranks() const { return control_->ranks(); }
  int device() const { return device_; }
  const std::string& label() const { return label_; }
  Control& control() { return *control_; }

  // Queues the works of the calls on their streams. A CUresult.
  int enqueue(std::vector<Call> calls, bool captured);
  uint64_t next_number() { return numbers_++; }
  int pending() const { return pending_; }

  // Looks, at most every 50 ms, whether processes of other members have died; then the communicator fails.
  void check_alive();
  // Calls queued so far still run; whoever waits for later ones of this member fails.
  void leave();
  // Works end without effect from here on.
  void abort();
  bool ended() const { return aborted_ || control_->failed(); }
  // Enters a failure that is a misuse as a finding, once per process and communicator.
  void report_failure();

 private:
  struct Seen {  // of one member's records
    uint64_t scanned = 0;
    std::map<uint64_t, uint64_t> collectives, sends, recvs;  // sequence -> position; pairs: those with this member
  };

  Work arrive_work(const std::shared_ptr<Launch>& launch, size_t index);
  Work finish_work(const std::shared_ptr<Launch>& launch, size_t index);
  bool may_arrive(Launch& launch);
  bool take_input_space(Launch& launch);
  void one_done(const Launch& launch);
  void check_patience(Launch& launch, size_t index);
  void arrive(Launch& launch, size_t index);
  void publish(Launch& launch);
  uint64_t write_record(const Call& call, uint64_t offset);

  bool may_finish(Launch& launch, size_t index);
  void finish(Launch& launch, size_t index);
  void scan(int rank);
  // Position of the record of `rank` that belongs to the call; ~0: it has not arrived.
  uint64_t partner(const Call& call, uint64_t sequence, int rank);
  std::vector<int> partners(const Call& call) const;  // ranks whose records a call needs
  bool agree(const Call& call, uint64_t sequence, int rank, uint64_t position);
  void compute(const Call& call, uint64_t sequence, std::byte* out);
  void poison(const Call& call);
  Record& record(int rank, uint64_t position) { return control_->member(rank).records[position % kRecords]; }
  const std::byte* input_of(int rank, uint64_t position);
  std::string waits_for(Launch& launch, size_t index);
  std::string last_call_of(int rank);
  std::string name_of(const Call& call) const;

  std::shared_ptr<Control> control_;
  std::vector<std::shared_ptr<Arena>> arenas_;
  int rank_, device_;
  std::string label_;
  std::vector<Seen> seen_;  // by rank
  uint64_t collectives_ = 0;
  std::map<int, uint64_t> sends_, recvs_;  // so many to (from) each peer
  std::atomic<int64_t> tickets_{0};
  int64_t started_ = 0;  // tickets whose calls have all arrived
  std::atomic<uint64_t> numbers_{0};
  std::atomic<int> pending_{0};
  std::atomic<bool> aborted_{false}, leaving_{false};
  std::atomic<int64_t> next_check_{0};  // steady clock, ns
};

}  // namespace plait::sim::nccl
