#pragma once
// What the members of one communicator share, in memory that several processes map.
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>

#include "sim/nccl/api.h"

namespace plait::sim::nccl {

enum class CallKind : uint32_t {
  all_reduce,
  reduce,
  broadcast,
  all_gather,
  reduce_scatter,
  all_to_all,
  gather,
  scatter,
  send,
  recv
};
const char* name(CallKind kind);  // "ncclAllReduce"
inline bool is_pairwise(CallKind kind) { return kind >= CallKind::send; }

// What all members must say alike, but for `scalar`.
struct Terms {
  CallKind kind = CallKind::all_reduce;
  int32_t type = 0;      // ncclDataType_t
  uint32_t combine = 0;  // Combine; 0 where nothing is reduced
  int32_t root = -1;     // or the peer of send and recv
  uint64_t count = 0;
  uint64_t scalar = 0;  // factor of scaled sums
};
// "ncclReduce(count 12, f32, sum, root 1)"
std::string describe(const Terms& terms);

// One call that a member has arrived at. Written by its member only; it stays until all that need it have used it.
struct Record {
  std::atomic<uint64_t> position{0};  // 1 + its place in the order of the member's arrivals; 0: being written
  Terms terms;
  uint64_t sequence = 0;           // among the member's collectives, or its sends to (recvs from) the peer
  uint64_t offset = 0;             // of the input in the member's arena
  std::atomic<uint32_t> users{0};  // members that have not used it yet
};

inline constexpr uint64_t kRecords = 512;  // calls of a member in flight; more wait
inline constexpr int kMaxRanks = 256;

enum class MemberState : uint32_t { absent, joined, left, aborted };

struct Member {
  std::atomic<MemberState> state{MemberState::absent};
  std::atomic<int32_t> claims{0};  // processes and threads that wanted to be this member
  int32_t pid = 0;
  int32_t device = 0;
  int32_t arena = -1;                // file descriptor in that process
  uint64_t started = 0;              // when that process did, so that a new one of the same id is not taken for it
  std::atomic<uint64_t> arrived{0};  // records written
  std::atomic<uint64_t> split_calls{0};
  struct Split {
    int32_t color = 0, key = 0;
  } splits[2];  // of split calls, by number modulo 2
  Record records[kRecords];
};

// Why a communicator cannot go on.
struct Failure {
  ncclResult_t code = ncclSuccess;
  bool misuse = false;  // a finding
  std::string text;
};

// The shared memory of one communicator. Everything in it is 0 when it is made.
class Control {
 public:
  // Makes it or opens it; null and errno set where the system cannot. `ranks` must be equal in all calls for a name:
  // otherwise null with errno EINVAL.
  static std::shared_ptr<Control> open(const std::string& name, int ranks);
  ~Control();
  Control(const Control&) = delete;

  int ranks() const { return ranks_; }
  Member& member(int rank) { return members_[rank]; }
  std::atomic<uint32_t>& joined() { return header_->joined; }  // members that have entered themselves
  std::atomic<uint32_t>& mapped() { return header_->mapped; }  // members that map all arenas
  void unlink();                                               // no process needs the name any more

  // The first failure is kept, others are dropped; `failed` holds for all members once it returns.
  void fail(const Failure& failure);
  bool failed() const { return header_->failure.load(std::memory_order_acquire) == 2; }
  Failure failure() const;  // code 0: none

 private:
  struct Header {
    std::atomic<uint32_t> ranks, joined, mapped;
    std::atomic<uint32_t> failure;  // 1: being written, 2: written
    int32_t code;
    uint32_t misuse;
    char text[1024];
  };
  Control() = default;
  std::string name_;
  int ranks_ = 0;
  size_t bytes_ = 0;
  Header* header_ = nullptr;
  Member* members_ = nullptr;
};

// Start time of a process in clock ticks since boot; 0: there is none, or it has ended.
uint64_t process_start(int pid);

}  // namespace plait::sim::nccl
