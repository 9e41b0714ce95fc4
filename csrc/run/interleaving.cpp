#include "run/interleaving.h"

#include <algorithm>

#include "base/error.h"

namespace plait {

Interleaving::Interleaving(std::vector<std::vector<LaneAction>> lanes, std::vector<std::vector<int64_t>> members)
    : lanes_(std::move(lanes)), members_(std::move(members)) {
  position_.resize(lanes_.size());
  state_.resize(lanes_.size());
  arrived_.resize(members_.size());
  for (size_t lane = 0; lane < lanes_.size(); ++lane) {
    for (const LaneAction& action : lanes_[lane]) {
      const bool records = action.kind == LaneAction::Kind::record;
      if (!records && action.kind != LaneAction::Kind::wait) continue;
      if (size_t(action.id) >= events_.size()) events_.resize(size_t(action.id) + 1);
      if (records)
        events_[action.id].recorder = int64_t(lane);
      else
        events_[action.id].waiters.push_back(int64_t(lane));
    }
  }
}

void Interleaving::begin(uint64_t seed) {
  std::fill(position_.begin(), position_.end(), 0);
  std::fill(arrived_.begin(), arrived_.end(), 0);
  for (EventState& event : events_) event.recorded = false;
  ready_ = finished_ = 0;
  for (size_t lane = 0; lane < lanes_.size(); ++lane) {
    state_[lane] = lanes_[lane].empty() ? State::done : State::ready;
    ++(lanes_[lane].empty() ? finished_ : ready_);
  }
  turn_ = int64_t(lanes_.size()) - 1;
  seed_ = random_ = seed;
}

int64_t Interleaving::next() {
  if (ready_ == 0) return -1;
  const int64_t lanes = int64_t(lanes_.size());
  if (seed_ != 0) {  // splitmix64
    uint64_t z = random_ += 0x9e3779b97f4a7c15;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9;
    z = (z ^ (z >> 27)) * 0x94d049bb133111eb;
    turn_ = int64_t((z ^ (z >> 31)) % uint64_t(lanes));
  }
  do {
    turn_ = turn_ + 1 == lanes ? 0 : turn_ + 1;
  } while (state_[turn_] != State::ready);
  return turn_;
}

void Interleaving::advance(int64_t lane) {
  if (++position_[lane] < lanes_[lane].size()) return;
  state_[lane] = State::done;
  --ready_;
  ++finished_;
}

void Interleaving::block(int64_t lane) {
  state_[lane] = State::waiting;
  --ready_;
}

// The lane goes on behind the action that it waited at.
void Interleaving::wake(int64_t lane) {
  state_[lane] = State::ready;
  ++ready_;
  advance(lane);
}

bool Interleaving::waits_at(int64_t lane, LaneAction::Kind kind, int32_t id) const {
  if (state_[lane] != State::waiting) return false;
  const LaneAction& action = lanes_[lane][position_[lane]];
  return action.kind == kind && action.id == id;
}

bool Interleaving::arrive(int64_t lane, int32_t meeting) {
  block(lane);
  return ++arrived_[meeting] == members_[meeting].size();
}

void Interleaving::leave(int32_t meeting) {
  for (int64_t lane : members_[meeting]) wake(lane);
}

void Interleaving::record(int32_t event) {
  events_[event].recorded = true;
  for (int64_t lane : events_[event].waiters)
    if (waits_at(lane, LaneAction::Kind::wait, event)) wake(lane);
}

void Interleaving::wait(int64_t lane, int32_t event) {
  if (events_[event].recorded)
    advance(lane);
  else
    block(lane);
}

std::string Interleaving::report(const std::function<std::string(int64_t)>& name,
                                 const std::function<std::string(int64_t, size_t)>& describe) const {
  std::string out;
  for (size_t lane = 0; lane < lanes_.size(); ++lane) {
    if (lanes_[lane].empty()) continue;
    out += out.empty() ? "" : "\n      ";
    if (state_[lane] == State::done) {
      out += name(int64_t(lane)) + " has finished";
      continue;
    }
    const LaneAction& action = lanes_[lane][position_[lane]];
    std::string missing;
    auto add = [&](int64_t other) { missing += (missing.empty() ? "" : " and ") + name(other); };
    if (action.kind == LaneAction::Kind::wait && events_[action.id].recorder >= 0) add(events_[action.id].recorder);
    if (action.kind == LaneAction::Kind::meet)
      for (int64_t member : members_[action.id])
        if (!waits_at(member, LaneAction::Kind::meet, action.id)) add(member);
    out += fmt::format("{} waits at {} for {}", name(int64_t(lane)), describe(int64_t(lane), position_[lane]),
                       missing.empty() ? "nobody" : missing);
  }
  return out;
}

}  // namespace plait
