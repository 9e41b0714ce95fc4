#pragma once
// The communicator of one team: NCCL's calls, what packing and padding need, operations that are not done.
#include <chrono>
#include <cstddef>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "comm/abort_flag.h"
#include "comm/comm_call.h"
#include "comm/flight_recorder.h"
#include "comm/nccl/nccl_communicators.h"
#include "comm/nccl/nccl_library.h"

namespace plait {

ncclDataType_t nccl_type(DType dtype);
inline std::byte* at(void* data, int64_t bytes) { return static_cast<std::byte*>(data) + bytes; }
inline const std::byte* at(const void* data, int64_t bytes) { return static_cast<const std::byte*>(data) + bytes; }

// What all teams of the process share.
struct NcclState {
  explicit NcclState(NcclOptions given) : options(std::move(given)), nccl(load_nccl(options.library)) {}
  int ordinal(int64_t rank) const { return int(rank % options.device->count()); }
  // Ends all communication of the process: records why, and aborts every team. Once; nobody may be at work in NCCL on
  // the calling thread.
  void end(std::string_view why) {
    if (!aborted.set(why)) return;
    recorders.dump_on_failure(options.dump_folder, why);
    abort_teams();
  }

  const NcclOptions options;
  const NcclLibrary& nccl;
  AbortFlag aborted;
  std::function<void()> abort_teams;
  FlightRecorders recorders{"nccl"};
  std::atomic<bool> capturing = false;
  std::mutex traffic_mutex;
  CommTraffic traffic;
};

class NcclTeam : public Communicator {
 public:
  // Makes the communicators of all members of this process. Collective over the processes that have members.
  NcclTeam(std::span<const int64_t> ranks, NcclState& state);
  ~NcclTeam() override;
  int64_t size() const override { return int64_t(ranks_.size()); }
  void all_reduce(DType dtype, CommReduce reduce, int64_t elements, std::span<const CommMember> members) override;
  void all_gather(const CommPieces& pieces, std::span<const CommMember> members) override;
  void reduce_scatter(const CommPieces& pieces, CommReduce reduce, std::span<const CommMember> members) override;
  void all_to_all(const CommBlocks& blocks, std::span<const CommMember> members) override;

  // What is wrong with the operations that are not done, empty: nothing. Takes those away that are.
  std::string trouble();
  void abort();

 private:
  struct Pending {
    std::unique_ptr<Event> done;
    int64_t issue;
    std::chrono::steady_clock::time_point deadline;
  };
  // A member of this process.
  struct Held {
    int64_t rank = 0, position = 0;
    FlightRecorder* recorder = nullptr;
    uint32_t recorder_team = 0;
    std::mutex mutex;  // while NCCL works on `comm`, and of what follows
    ncclComm_t comm = nullptr;
    bool busy = false;  // the last call has not been seen to end
    std::deque<Pending> pending;
    std::vector<std::unique_ptr<Event>> events;  // free ones
  };
  // A member in the call under way.
  struct Part {
    Held* held;
    const CommMember* member;
    int64_t issue = 0;
    std::shared_ptr<Memory> staging{}, padded{};
    const void* from = nullptr;  // what NCCL reads and writes
    void* to = nullptr;
  };
  struct Plan;
  using Parts = std::vector<Part>;

  void adopt(const std::vector<void*>& given);
  void make();
  void wait_until_made();
  std::string held_list() const;
  Held& held_at(int64_t position);
  [[noreturn]] void fail(const std::string& why);
  // Records the call for its members, carries it out, and watches its end.
  void run(const CommCall& call, std::span<const CommMember> members, const std::function<void(Parts&)>& carry_out);
  // One group of NCCL calls for all parts; returns when NCCL has queued them. `calls` notes the code of each.
  using Note = std::function<void(ncclResult_t, const char* call)>;
  void group(Parts& parts, const std::function<void(Part&, const Note&)>& calls);
  void settle(Parts& parts);
  std::string ask(Held& held, ncclResult_t& now);
  void watch(Part& part);
  void count(const Parts& parts, const CommCall& call, bool padded);
  Plan plan(const CommPieces& pieces) const;
  void gather_rows(const CommPieces& pieces, const Plan& plan, Parts& parts);
  void scatter_rows(const CommPieces& pieces, const Plan& plan, Parts& parts);
  struct Moves;
  Moves pack(const CommBlocks& blocks, Part& part) const;
  void unpack(const CommBlocks& blocks, const Part& part, const Moves& moves) const;
  void refuse(const CommCall& call) const;
  std::shared_ptr<Memory> allocate(const Part& part, int64_t bytes) const;
  void check(ncclResult_t code, const char* call, ncclComm_t comm);
  std::string place(const CommCall& call) const { return describe(call) + " of " + rank_list(ranks_); }

  NcclState& state_;
  const NcclLibrary& nccl_;
  const std::vector<int64_t> ranks_;
  bool adopted_ = false;
  std::vector<std::unique_ptr<Held>> held_;  // in order of position
};

}  // namespace plait
