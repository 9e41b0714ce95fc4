#pragma once
// Happens-before between operations of simulated streams.
#include <cstdint>
#include <string>
#include <vector>

namespace plait::sim {

// A vector clock: per stream index the sequence number up to which that stream's operations are known to be done.
class Clock {
 public:
  uint64_t of(int stream) const { return static_cast<size_t>(stream) < done_.size() ? done_[stream] : 0; }
  void raise(int stream, uint64_t sequence);  // to at least `sequence`
  void join(const Clock& other);              // to the larger of both, stream by stream
  bool includes(const Clock& other) const;    // whether join would change nothing
  friend bool operator==(const Clock& a, const Clock& b) { return a.includes(b) && b.includes(a); }

 private:
  std::vector<uint64_t> done_;
};

// One piece of work. Stream indices are dense and never reused within an address space (the host may be one of them);
// sequence numbers count from 1 within a stream.
struct Operation {
  std::string name;         // "k1", "cuMemcpyAsync", "ncclAllReduce of rank 2"
  int stream = 0;           // index
  uint64_t sequence = 0;    // position on its stream
  std::string stream_name;  // for reports: "comm of device 1"; may be empty
};

// Identifies an operation of a Trace. 0 is what was before everything: allocations whose order is not in question.
using OperationId = uint32_t;
inline constexpr OperationId kBeforeAll = 0;

// An operation while it runs: what it is, where it runs, and all that happens before it.
struct Actor {
  OperationId id = kBeforeAll;
  int stream = 0;
  uint64_t sequence = 0;
  int device = -1;  // whose peers' memory it may reach; -1: any memory (copies, libraries)
  Clock before;
};

}  // namespace plait::sim
