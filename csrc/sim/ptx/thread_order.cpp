#include "sim/ptx/thread_order.h"

#include <algorithm>
#include <bit>

namespace plait::sim::ptx {

ThreadOrder::ThreadOrder(size_t warps, bool fences) : fences_(fences), of_(warps), lanes_(fences ? warps * kLanes : 0) {
  for (OfWarp& each : of_) each.known.assign(warps, 0);
}

void ThreadOrder::begin(uint32_t block, uint32_t cluster) {
  whole_barrier();
  block_ = block;
  cluster_ = cluster;
  first_epoch_ = epoch_;
  all_ = {};
  for (OfLane& each : lanes_) each = {};
}

Moment ThreadOrder::now(uint32_t warp) const {
  const OfWarp& own = of_[warp];
  return {block_, epoch_, own.meetings, own.arrivals, static_cast<uint16_t>(warp)};
}

void ThreadOrder::meet(uint32_t warp, uint32_t lanes, bool all) {
  OfWarp& own = of_[warp];
  const uint32_t number = ++own.meetings;
  if (fences_) {
    Heard together;
    for (uint32_t rest = lanes; rest != 0; rest &= rest - 1) add_heard(lane_at(warp, std::countr_zero(rest)), together);
    if (!together.empty())
      for (uint32_t rest = lanes; rest != 0; rest &= rest - 1) lane_at(warp, std::countr_zero(rest)).heard = together;
  }
  if (all) {
    own.all_met = number;
    return;
  }
  std::array<uint32_t, kLanes> together{};
  for (uint32_t rest = lanes; rest != 0; rest &= rest - 1) {
    const auto& of_lane = own.met[static_cast<size_t>(std::countr_zero(rest))];
    for (size_t other = 0; other < kLanes; ++other) together[other] = std::max(together[other], of_lane[other]);
  }
  for (uint32_t rest = lanes; rest != 0; rest &= rest - 1)
    together[static_cast<size_t>(std::countr_zero(rest))] = number;
  for (uint32_t rest = lanes; rest != 0; rest &= rest - 1)
    own.met[static_cast<size_t>(std::countr_zero(rest))] = together;
}

void ThreadOrder::whole_barrier() {
  ++epoch_;
  for (OfLane& each : lanes_) {
    add_heard(each, all_);
    each.heard = {};
  }
}

void ThreadOrder::arrive(uint32_t warp, Knowledge* together) {
  OfWarp& own = of_[warp];
  ++own.arrivals;
  together->arrivals.resize(of_.size(), 0);
  for (size_t i = 0; i < of_.size(); ++i) together->arrivals[i] = std::max(together->arrivals[i], own.known[i]);
  together->arrivals[warp] = own.arrivals;
  together->epoch = epoch_;
  if (fences_)
    for (int lane = 0; lane < kLanes; ++lane) add_heard(lane_at(warp, lane), together->heard);
}

void ThreadOrder::take(uint32_t warp, const Knowledge& together) {
  std::vector<uint32_t>& known = of_[warp].known;
  for (size_t i = 0; i < together.arrivals.size(); ++i) known[i] = std::max(known[i], together.arrivals[i]);
  if (!together.heard.empty())
    for (int lane = 0; lane < kLanes; ++lane) lane_at(warp, lane).heard.add(together.heard);
}

std::shared_ptr<const Release> ThreadOrder::release_of_all(const Knowledge& together, uint32_t phase) const {
  auto out = std::make_shared<Release>();
  out->at = {.block = block_, .epoch = std::max(first_epoch_, together.epoch), .meeting = phase, .warp = kNoWarp};
  out->cluster = cluster_;
  out->known = together.arrivals;
  out->known.resize(of_.size(), 0);
  return out;
}

void ThreadOrder::take_from_cluster(uint32_t warp, uint32_t lanes, const std::shared_ptr<const Release>& release,
                                    const Knowledge& together) {
  for (; lanes != 0; lanes &= lanes - 1) {
    Heard& heard = lane_at(warp, std::countr_zero(lanes)).heard;
    heard.add(together.heard);
    heard.acquired.add(release);
  }
}

// ---- Fences.

bool ThreadOrder::knows(const Moment& moment, int other, uint32_t warp, int lane) const {
  return all_.acquired.covers(moment, other) || lane_at(warp, lane).heard.acquired.covers(moment, other);
}

// What reads have found, as far as it was meant for this block.
void ThreadOrder::acquire(Acquired& to, const std::vector<Taken>& reads, Scope scope, bool all, bool heard) const {
  for (const Taken& read : reads)
    for (size_t i = 0; i < read.count; ++i) {
      const Given& given = (*read.history)[i];
      if ((given.for_sc && !all) || (heard && !given.by_sc)) continue;
      const Scope reaches = std::min({given.scope, read.scope, scope});
      if (given.release->at.block == block_ || reaches >= Scope::device ||
          (reaches == Scope::cluster && given.release->cluster == cluster_))
        to.add(given.release);
    }
}

// What is ordered before the lane now. Its warp's time goes on, so that what it does from now on is not.
std::shared_ptr<const Release> ThreadOrder::release(uint32_t warp, int lane) {
  const OfWarp& own = of_[warp];
  auto out = std::make_shared<Release>();
  out->at = now(warp);
  out->cluster = cluster_;
  out->lane = lane;
  out->all_met = own.all_met;
  out->met = own.met[static_cast<size_t>(lane)];
  out->known = own.known;
  const Acquired& of_lane = lane_at(warp, lane).heard.acquired;
  if (!of_lane.empty() || !all_.acquired.empty()) {
    auto more = std::make_shared<Acquired>(all_.acquired);
    more->add(of_lane);
    out->more = std::move(more);
  }
  return out;
}

void ThreadOrder::fence(uint32_t warp, uint32_t lanes, Scope scope, bool all) {
  ++of_[warp].meetings;
  for (uint32_t rest = lanes; rest != 0; rest &= rest - 1) {
    const int lane = std::countr_zero(rest);
    OfLane& own = lane_at(warp, lane);
    acquire(own.heard.acquired, own.taken, scope, all, false);
    if (scope >= Scope::device) own.taken.clear();  // a wider fence would find no more
    if (all) {
      acquire(own.heard.acquired, own.heard.taken, scope, true, true);
      acquire(own.heard.acquired, all_.taken, scope, true, true);
    }
    const std::shared_ptr<const Release> now = release(warp, lane);
    for (size_t narrower = 0; narrower <= static_cast<size_t>(scope); ++narrower) own.fenced[narrower] = {};
    own.fenced[static_cast<size_t>(scope)] = {now, scope, all};
    if (all && scope >= Scope::device) own.heard.fenced.add(now);
  }
}

void ThreadOrder::give(uint32_t warp, int lane, Scope scope, bool releases, History& to) {
  if (releases) {
    ++of_[warp].meetings;
    to.push_back({release(warp, lane), scope});
  }
  const OfLane& own = lane_at(warp, lane);
  for (const Given& fenced : own.fenced)
    if (fenced.release != nullptr) to.push_back({fenced.release, std::min(scope, fenced.scope), fenced.by_sc});
  if (own.heard.fenced.empty() && all_.fenced.empty()) return;
  auto fenced = std::make_shared<Acquired>(all_.fenced);
  fenced->add(own.heard.fenced);
  auto together = std::make_shared<Release>();
  together->at.block = block_;
  together->cluster = cluster_;
  together->more = std::move(fenced);
  to.push_back({std::move(together), scope, true, true});
}

void ThreadOrder::read(uint32_t warp, int lane, Taken taken, bool acquires) {
  OfLane& own = lane_at(warp, lane);
  if (acquires)
    acquire(own.heard.acquired, {taken}, taken.scope, false, false);
  else
    add_read(own.taken, std::move(taken));
}

// What a lane tells at a barrier: what it has read as well, which stays its own too.
void ThreadOrder::add_heard(const OfLane& from, Heard& to) {
  to.add(from.heard);
  for (const Taken& each : from.taken) add_read(to.taken, each);
}

}  // namespace plait::sim::ptx
