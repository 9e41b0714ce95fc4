#pragma once
// Communicators: the collectives of one team of ranks, every one with a count per rank; even forms are the special
// case.
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "comm/blocks.h"
#include "comm/bootstrap.h"
#include "device/stream.h"
#include "scalar/dtype.h"

namespace plait {

class FlightRecorder;  // comm/flight_recorder.h

// How values of the members become one; name(): its word in the text of a program.
enum class CommReduce : uint8_t { sum, max, min, prod };
std::string_view name(CommReduce reduce);

// The pieces of a tensor [outer, total, inner] cut along its middle: member p of the team holds
// [outer, counts[p], inner], dense and row-major; total is the sum of the counts. Counts may be 0.
struct CommPieces {
  DType dtype = DType::f32;
  int64_t outer = 1, inner = 1;
  std::span<const int64_t> counts;  // by position in the team
  int64_t total() const;
};

// One member whose memory this process holds. Buffers are dense and row-major; buffers of zero bytes are legal.
struct CommMember {
  int64_t position = 0;  // in the team
  const void* in = nullptr;
  void* out = nullptr;
  Stream* stream = nullptr;  // GPU: the call queues its work there; host memory: null, done when the call returns
};

// Bytes that ranks took from other ranks' buffers, and the least that the collectives could take:
// (n-1) x global bytes for all_gather and reduce_scatter, twice that for all_reduce, what members take and do not hold
// for all_to_all. Of the members in this process;
// the least is counted where position 0 is.
struct CommTraffic {
  int64_t wire_bytes = 0, wire_bytes_min = 0;
  bool operator==(const CommTraffic&) const = default;
};

// The collectives of one team. Every process that holds members calls with the same arguments but `members`, in the
// same order. The communicator packs strided views as it needs. `in` and `out` of one member are equal (all_reduce
// only) or disjoint; buffers of different members are disjoint.
// Reductions: in the accumulation type of the dtype (f32 for f16, bf16, f32; f64; 64-bit integers, which wrap; bool as
// an integer, stored as != 0), rounded once to the dtype. max and min propagate NaN. Each implementation says whether
// it adds in the order of positions.
class Communicator {
 public:
  virtual ~Communicator() = default;
  virtual int64_t size() const = 0;  // members of the team
  // out = the elementwise reduction of the members' `in`; `elements` each. Carried out as reduce-scatter + all-gather.
  virtual void all_reduce(DType dtype, CommReduce reduce, int64_t elements, std::span<const CommMember> members) = 0;
  // out[outer, total, inner] = the members' in[outer, counts[p], inner], one after another along the middle.
  virtual void all_gather(const CommPieces& pieces, std::span<const CommMember> members) = 0;
  // out[outer, counts[p], inner] = member p's part of the reduction of the members' in[outer, total, inner].
  virtual void reduce_scatter(const CommPieces& pieces, CommReduce reduce, std::span<const CommMember> members) = 0;
  // out = the block that a member takes, from the blocks that the members' `in` are.
  virtual void all_to_all(const CommBlocks& blocks, std::span<const CommMember> members) = 0;
};

// Makes the communicators of a run and counts their bytes.
class Communicators {
 public:
  Communicators();
  Communicators(const Communicators&) = delete;
  virtual ~Communicators() = default;
  // Of this process, never used twice: tells communicators apart, also those that are gone.
  uint64_t serial() const { return serial_; }
  // The communicator of the ranks, in this order; the same ranks give the same object. Collective over the processes
  // that hold them.
  virtual Communicator& team(std::span<const int64_t> ranks) = 0;
  virtual CommTraffic traffic() const = 0;  // of all teams of this process, since the last reset
  virtual void reset_traffic() = 0;         // counts from 0 again
  // The processes that share the ranks; null where this one holds all of them.
  virtual Bootstrap* bootstrap() { return nullptr; }
  // Throws CommError if an operation failed meanwhile, if one has not ended in time, or after abort(). Cheap: called
  // while waiting for streams.
  virtual void check() {}
  // Ends all operations of this process and makes later ones throw CommError with `why`; safe from every thread. Other
  // members are told where the transport can.
  virtual void abort(std::string_view why) { (void)why; }
  // What a rank of this process did last; executors name its steps there. Null where nothing is recorded.
  virtual FlightRecorder* recorder(int64_t rank) {
    (void)rank;
    return nullptr;
  }
  // Writes the recorders of this process: rank_N.json in the folder, which is made. UserError if it cannot be written.
  virtual void dump(const std::string& folder, std::string_view reason) {
    (void)folder;
    (void)reason;
  }
  // GPU: whether the streams given to collectives are being captured from now on. No operation may be unfinished.
  virtual void set_capturing(bool on) { (void)on; }

 private:
  uint64_t serial_;
};

}  // namespace plait
