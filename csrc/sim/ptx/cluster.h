#pragma once
// Blocks of a cluster while they run: side by side, with a barrier of their own, each with its shared memory in reach
// of the others. A launch without clusters runs clusters of one block.
#include <memory>
#include <vector>

#include "sim/ptx/thread_block.h"

namespace plait::sim::ptx {

class Cluster {
 public:
  explicit Cluster(const Run& run);
  Cluster(const Cluster&) = delete;

  // Begins the cluster of this number. The orders in which its blocks have their turns, by rank, and warps in a block.
  void begin(uint32_t number, const std::vector<uint32_t>& ranks, const std::vector<uint32_t>& warps);
  // Every warp of every block runs a slice of so many instructions. False: all have ended. Fault.
  bool run_turn(uint64_t slice);
  LaunchCounts counts() const;
  bool has_waited_for_grids() const;

  size_t size() const { return blocks_.size(); }
  // By rank; x counts fastest.
  ThreadBlock& block(uint32_t rank) { return *blocks_[rank]; }

 private:
  bool complete_barrier();

  const Run& run_;
  std::vector<std::unique_ptr<ThreadBlock>> blocks_;
  std::vector<uint32_t> turns_;  // of the blocks
  uint32_t phases_ = 0;          // of the barrier that are complete
};

// The block whose shared memory an address names; takes what names it out of the address. Fault: one that cannot be
// reached from here, or not now.
ThreadBlock& block_of_address(Warp& warp, const Instruction& i, int lane, uint64_t* address);

}  // namespace plait::sim::ptx
