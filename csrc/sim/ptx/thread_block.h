#pragma once
// A block of threads while it runs: its warps, each with its own place in the program, its shared memory, its barriers.
#include <array>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "sim/ptx/async_copies.h"
#include "sim/ptx/lane_places.h"
#include "sim/ptx/shared_memory.h"
#include "sim/ptx/thread_order.h"

namespace plait::sim::ptx {

// What a block gave at the barrier of its cluster, in the phase that ended last.
struct ClusterPhase {
  std::shared_ptr<const Release> release;
  ThreadOrder::Knowledge together;
};

class Cluster;

// A block runs on the caller's thread, a turn at a time. Warps run one after the other, each until it ends or all of
// its lanes wait; where warps may wait for what others write, each runs a slice in a turn, and else a turn is all.
class ThreadBlock {
 public:
  ThreadBlock(const Run& run, Cluster& cluster, uint32_t rank);
  ThreadBlock(const ThreadBlock&) = delete;

  // Begins the block of this number, in the cluster of that; `order`: in which its warps run.
  void begin(uint32_t number, uint32_t cluster, const std::vector<uint32_t>& order);
  // Every warp runs a slice of so many instructions. False: no thread could go on. Fault.
  bool run_turn(uint64_t slice);
  bool has_ended() const { return has_ended_; }
  [[noreturn]] void report_standstill();
  const LaunchCounts& counts() const { return counts_; }

  // ---- For its cluster.
  bool has_arrived_at_cluster() const;  // every thread that has not ended
  bool some_at_cluster() const;         // have arrived, and not waited yet where all have
  ClusterPhase end_cluster_phase(uint32_t number);
  void begin_cluster_phase(const std::vector<ClusterPhase>& phase);

  // ---- For instructions.
  Cluster& cluster() { return cluster_; }
  uint32_t rank() const { return rank_; }
  uint32_t number() const { return number_; }
  const std::array<uint32_t, 3>& index() const { return index_; }
  SharedMemory& shared() { return shared_; }
  ThreadOrder& order() { return order_; }
  AsyncCopies& copies() { return copies_; }
  // A thread knows that what is in front of the launch has ended.
  void waited_for_grids() { waited_ = true; }
  bool has_waited_for_grids() const { return waited_; }
  uint32_t live(uint32_t warp) const { return warps_[one_state_ ? 0 : warp].places.live(); }

 private:
  struct FreeMemory {
    void operator()(void* memory) const { std::free(memory); }
  };
  // Lanes that arrived at the barrier of the cluster and have not waited there: in this phase, in the one before; and
  // those that wait.
  struct AtCluster {
    uint32_t arrived = 0, passed = 0, waiting = 0;
  };
  // Registers and local memory of a warp, and where its lanes are.
  struct WarpState {
    std::unique_ptr<uint32_t, FreeMemory> file;
    std::vector<uint32_t> predicates;
    std::vector<uint8_t> local, local_written;
    Warp warp;
    LanePlaces places;
    uint32_t gathered = 0;  // lanes at an aligned barrier, to which the others are on their way
    uint64_t steps = 0;
    AtCluster cluster;
  };
  // A barrier that some threads have reached.
  struct Barrier {
    std::vector<uint32_t> arrived, waiting;  // by warp: lanes; those that wait are among those that arrived
    uint64_t threads = 0;                    // that arrived, whole warps where it is aligned
    uint64_t expected = 0;                   // 0: all of the block that have not ended
    uint64_t count = 0;                      // of those whose predicate holds
    bool all = true;                         // of their predicates
    ThreadOrder::Knowledge together;
    std::optional<BarrierKind> kind;  // of those that wait
    bool begun = false;
    void reset() {
      kind.reset();
      begun = false;
      threads = count = 0;
      all = true;
      together.clear();
    }
  };

  void make_state(WarpState& state);
  void fill(Warp& warp, const FixedRow& row, uint64_t value);
  void fill_constant(Warp& warp, const FixedRow& row);
  void start(WarpState& state, uint32_t number, const std::array<uint32_t, 3>& index);
  void run_by_themselves();
  void run_warp(WarpState& state, uint64_t slice);
  void meet(WarpState& state, const Instruction& i, uint32_t lanes);
  bool complete_meeting(WarpState& state, int lane);
  bool complete_meetings(WarpState& state);
  void arrive(WarpState& state, const Instruction& i, uint32_t lanes);
  bool gather(WarpState& state, uint32_t& lanes);
  [[noreturn]] void report_divergence(WarpState& state, uint32_t others);
  bool complete_barrier(Barrier& barrier);
  bool complete_barriers();
  void reach_cluster(WarpState& state, const Instruction& i, uint32_t lanes);
  void pass_cluster(WarpState& state, uint32_t lanes);
  void end();
  std::string waits_text(const WarpState& state) const;

  const Run& run_;
  const Program& program_;
  Cluster& cluster_;
  uint32_t rank_;  // within it
  bool waited_ = false, has_ended_ = true;
  bool one_state_;  // warps wait for nothing: one after the other in the same registers
  std::vector<WarpState> warps_;
  std::vector<uint32_t> turns_;  // of the warps
  uint32_t number_ = 0;          // in the grid
  std::array<uint32_t, 3> index_{};
  SharedMemory shared_;
  ThreadOrder order_;
  AsyncCopies copies_;
  std::array<Barrier, 16> barriers_;
  ThreadOrder::Knowledge at_cluster_;  // of those that arrived there
  std::vector<ClusterPhase> cluster_phase_;
  LaunchCounts counts_;
};

}  // namespace plait::sim::ptx
