#include "sim/ptx/cluster.h"

#include <fmt/format.h>

#include <algorithm>

#include "sim/ptx/addresses.h"
#include "sim/ptx/decoder.h"
#include "sim/ptx/families.h"
#include "sim/ptx/lanes.h"

namespace plait::sim::ptx {

namespace {

// Numbers in the grid of its blocks, by rank.
std::vector<uint32_t> blocks_of_cluster(const Run& run, uint32_t number) {
  const auto& extents = run.cluster;
  const auto& grid = run.launch->grid;
  const uint32_t across = grid[0] / extents[0], deep = grid[1] / extents[1];
  const std::array<uint32_t, 3> first = {number % across * extents[0], number / across % deep * extents[1],
                                         number / across / deep * extents[2]};
  std::vector<uint32_t> out;
  for (uint32_t z = 0; z < extents[2]; ++z)
    for (uint32_t y = 0; y < extents[1]; ++y)
      for (uint32_t x = 0; x < extents[0]; ++x)
        out.push_back(first[0] + x + grid[0] * (first[1] + y + grid[1] * (first[2] + z)));
  return out;
}

}  // namespace

Cluster::Cluster(const Run& run) : run_(run), blocks_(cluster_size(run)) {
  for (uint32_t rank = 0; rank < blocks_.size(); ++rank)
    blocks_[rank] = std::make_unique<ThreadBlock>(run, *this, rank);
}

void Cluster::begin(uint32_t number, const std::vector<uint32_t>& ranks, const std::vector<uint32_t>& warps) {
  turns_ = ranks;
  phases_ = 0;
  const std::vector<uint32_t> blocks = blocks_of_cluster(run_, number);
  for (uint32_t rank = 0; rank < blocks.size(); ++rank) blocks_[rank]->begin(blocks[rank], number, warps);
}

bool Cluster::run_turn(uint64_t slice) {
  bool some_ran = false;
  ThreadBlock* live = nullptr;
  for (uint32_t rank : turns_) {
    ThreadBlock& block = *blocks_[rank];
    if (block.has_ended()) continue;
    some_ran |= block.run_turn(slice);
    if (!block.has_ended()) live = &block;
  }
  if (live == nullptr) return false;
  if (complete_barrier() || some_ran) return true;
  for (uint32_t rank : turns_)
    if (!blocks_[rank]->has_arrived_at_cluster()) blocks_[rank]->report_standstill();
  live->report_standstill();
}

// Lets all go on that wait at the barrier of the cluster, if all have come; those that have not waited yet will not.
bool Cluster::complete_barrier() {
  const auto all = [&](auto test) {
    return std::ranges::all_of(blocks_, [&](const auto& each) { return test(*each); });
  };
  if (!all([](const ThreadBlock& block) { return block.has_arrived_at_cluster(); })) return false;
  if (all([](const ThreadBlock& block) { return block.has_ended() || !block.some_at_cluster(); })) return false;
  ++phases_;
  std::vector<ClusterPhase> phase;
  for (const auto& each : blocks_) phase.push_back(each->end_cluster_phase(phases_));
  for (const auto& each : blocks_) each->begin_cluster_phase(phase);
  return true;
}

LaunchCounts Cluster::counts() const {
  LaunchCounts out;
  for (const auto& each : blocks_) out.add(each->counts());
  return out;
}

bool Cluster::has_waited_for_grids() const {
  return std::ranges::any_of(blocks_, [](const auto& each) { return each->has_waited_for_grids(); });
}

// ---- A block of it.

bool ThreadBlock::has_arrived_at_cluster() const {
  return has_ended_ || std::ranges::all_of(warps_, [](const WarpState& each) {
           return (each.places.live() & ~each.cluster.arrived) == 0;
         });
}

bool ThreadBlock::some_at_cluster() const {
  return std::ranges::any_of(warps_,
                             [](const WarpState& each) { return (each.cluster.arrived & each.places.live()) != 0; });
}

void ThreadBlock::reach_cluster(WarpState& state, const Instruction& i, uint32_t lanes) {
  Warp& warp = state.warp;
  if (i.aligned && !gather(state, lanes)) return;
  const bool arrives = i.barrier == BarrierKind::arrive;
  AtCluster& at = state.cluster;
  const uint32_t between = at.arrived | at.passed;
  if (const uint32_t wrong = lanes & (arrives ? between : ~between); wrong != 0)
    fail(warp, i, std::countr_zero(wrong), kLaunchFailed,
         arrives ? "arrives at the barrier of the cluster again, without having waited there"
                 : "waits at the barrier of the cluster, at which it has not arrived");
  state.places.wait(lanes);
  if (arrives) {
    at.arrived |= lanes;
    if (i.releases) order_.arrive(warp.number, &at_cluster_);
    state.places.release(lanes);
    return;
  }
  const uint32_t passing = lanes & at.passed;
  at.waiting |= lanes & ~passing;
  pass_cluster(state, passing);
}

ClusterPhase ThreadBlock::end_cluster_phase(uint32_t number) {
  ClusterPhase out{order_.release_of_all(at_cluster_, number), std::move(at_cluster_)};
  at_cluster_.clear();
  return out;
}

void ThreadBlock::begin_cluster_phase(const std::vector<ClusterPhase>& phase) {
  cluster_phase_ = phase;
  for (WarpState& each : warps_) {
    each.cluster.passed = each.cluster.arrived;
    each.cluster.arrived = 0;
    pass_cluster(each, std::exchange(each.cluster.waiting, 0));
  }
}

// These lanes know what is before the arrivals of the phase.
void ThreadBlock::pass_cluster(WarpState& state, uint32_t lanes) {
  if (lanes == 0) return;
  state.cluster.passed &= ~lanes;
  for (size_t rank = 0; rank < cluster_phase_.size(); ++rank) {
    const ClusterPhase& of_block = cluster_phase_[rank];
    if (rank == rank_)
      order_.take(state.warp.number, of_block.together);
    else
      order_.take_from_cluster(state.warp.number, lanes, of_block.release, of_block.together);
  }
  state.places.release(lanes);
}

// A block's shared memory lives as long as one of its threads; so one of them must know of each access of another
// block.
void ThreadBlock::end() {
  has_ended_ = true;
  for (const auto& [from, last] : shared_.accesses_of_others()) {
    const auto known = [&](uint32_t warp) {
      for (int lane = 0; lane < kLanes; ++lane)
        if (order_.before(last.moment, last.lane, warp, lane)) return true;
      return false;
    };
    bool some = false;
    for (uint32_t warp = 0; warp < warps_.size() && !some; ++warp) some = known(warp);
    if (!some)
      fail(warps_[0].warp, program_.code.back(), 0, kLaunchFailed,
           fmt::format("ended too early: nothing orders an access to the shared memory of this block, by block {}, "
                       "thread {}, before its end\n  the other: {}",
                       text_of(block_index(run_, last.moment.block)), thread_text(run_, last.moment.warp, last.lane),
                       describe(*run_.module, run_.kernel->statements[last.statement])));
  }
}

// ---- Addresses of the shared memory of a cluster: in a block's own, the rank + 1 of another one above the offset.

ThreadBlock& block_of_address(Warp& warp, const Instruction& i, int lane, uint64_t* address) {
  Cluster& cluster = warp.of->cluster();
  const uint64_t above = *address >> kSharedBits;
  if (above == 0 || above > cluster.size()) return *warp.of;  // out of bounds, if it is none of these
  *address &= kSharedOffset;
  const uint32_t rank = static_cast<uint32_t>(above) - 1;
  ThreadBlock& block = cluster.block(rank);
  if (&block == warp.of) return block;
  const auto refuse = [&](const char* why) {
    fail(warp, i, lane, kLaunchFailed,
         fmt::format("the shared memory of block {}, rank {} of the cluster: {}", text_of(block.index()), rank, why));
  };
  if (!i.cluster) refuse("an access to .shared::cta");
  if (block.has_ended()) refuse("this block has ended");
  if (!warp.of->order().has_heard_of(block.number(), warp.number, lane))
    refuse("nothing says that this block has begun, as a barrier of the cluster would");
  return block;
}

namespace {

template <class U>
void map_lanes(Warp& warp, const Instruction& i) {
  const auto* from = row<U>(warp, i.a);
  const uint32_t* ranks = row32(warp, i.b);
  const size_t size = warp.of->cluster().size();
  for_lanes(warp, row<U>(warp, i.d), [&](int lane) {
    const uint64_t window = static_cast<uint64_t>(i.immediate);
    if (uint64_t(from[lane]) >> 56 << 56 != window)
      fail(warp, i, lane, kLaunchFailed, "the address is not of shared memory");
    if (ranks[lane] >= size)
      fail(warp, i, lane, kLaunchFailed, fmt::format("rank {} of a cluster of {} blocks", ranks[lane], size));
    return static_cast<U>(window | (uint64_t(ranks[lane]) + 1) << kSharedBits | (from[lane] & kSharedOffset));
  });
}

template <class U>
void rank_lanes(Warp& warp, const Instruction& i) {
  const auto* from = row<U>(warp, i.a);
  for_lanes(warp, row32(warp, i.d), [&](int lane) {
    const uint64_t above = uint64_t(from[lane]) << 8 >> 8 >> kSharedBits;
    return above == 0 ? warp.of->rank() : static_cast<uint32_t>(above) - 1;
  });
}

}  // namespace

// mapa: the address that a variable of this block has in another one; getctarank: whose an address is.
void decode_cluster_address(Decoder& d) {
  d.need_target(90);
  const bool maps = d.mnemonic() == "mapa", shared = d.take("shared::cluster");
  const Type type = d.take_type();
  if (type != Type::u32 && type != Type::u64) d.refuse("an address of this type");
  const bool wide = type == Type::u64;
  if (!wide && !shared) d.refuse("a generic address of this size");
  d.need_operands(maps ? 3 : 2);
  const uint32_t from = shared && d.operand(1).kind == Operand::Kind::name ? shared_address_row(d, d.operand(1), wide)
                                                                           : d.source(1, type);
  if (maps) {
    const uint32_t rank = d.source(2, Type::u32);
    d.emit(wide ? map_lanes<uint64_t> : map_lanes<uint32_t>, d.target(0, type), from, rank).immediate =
        static_cast<int64_t>(shared ? 0 : kSharedWindow);
  } else {
    d.emit(wide ? rank_lanes<uint64_t> : rank_lanes<uint32_t>, d.target(0, Type::u32), from);
  }
  d.clusters_wait();
}

// barrier.cluster.arrive and .wait.
void decode_cluster_barrier(Decoder& d) {
  d.need_target(90);
  const int what = d.take_one({"arrive", "wait"});
  if (what < 0) d.refuse("a barrier of this form");
  const bool relaxed = d.take("relaxed");
  d.skip({what == 0 ? "release" : "acquire"});
  const bool aligned = d.take("aligned");
  d.need_operands(0);
  if (relaxed && what != 0) d.refuse("a barrier of this form");
  Instruction& added = d.emit(no_lanes);
  added.control = Control::cluster;
  added.barrier = what == 0 ? BarrierKind::arrive : BarrierKind::sync;
  added.aligned = aligned;
  added.releases = !relaxed;
  d.clusters_wait();
}

}  // namespace plait::sim::ptx
