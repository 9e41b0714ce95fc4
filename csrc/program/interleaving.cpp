#include "program/interleaving.h"

#include <algorithm>

#include "base/error.h"

namespace plait {

Interleaving::Interleaving(std::vector<std::vector<int32_t>> actions, std::vector<std::vector<int64_t>> members)
    : actions_(std::move(actions)), members_(std::move(members)) {
  position_.resize(actions_.size());
  state_.resize(actions_.size());
  arrived_.resize(members_.size());
}

void Interleaving::begin(uint64_t seed) {
  std::fill(position_.begin(), position_.end(), 0);
  std::fill(arrived_.begin(), arrived_.end(), 0);
  ready_ = finished_ = 0;
  for (size_t rank = 0; rank < actions_.size(); ++rank) {
    state_[rank] = actions_[rank].empty() ? State::done : State::ready;
    ++(actions_[rank].empty() ? finished_ : ready_);
  }
  turn_ = int64_t(actions_.size()) - 1;
  seed_ = random_ = seed;
}

int64_t Interleaving::next() {
  if (ready_ == 0) return -1;
  const int64_t ranks = int64_t(actions_.size());
  if (seed_ != 0) {  // splitmix64
    uint64_t z = random_ += 0x9e3779b97f4a7c15;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9;
    z = (z ^ (z >> 27)) * 0x94d049bb133111eb;
    turn_ = int64_t((z ^ (z >> 31)) % uint64_t(ranks));
  }
  do {
    turn_ = turn_ + 1 == ranks ? 0 : turn_ + 1;
  } while (state_[turn_] != State::ready);
  return turn_;
}

void Interleaving::advance(int64_t rank) {
  if (++position_[rank] < actions_[rank].size()) return;
  state_[rank] = State::done;
  --ready_;
  ++finished_;
}

bool Interleaving::arrive(int64_t rank, int32_t rendezvous) {
  state_[rank] = State::waiting;
  --ready_;
  return ++arrived_[rendezvous] == members_[rendezvous].size();
}

void Interleaving::leave(int32_t rendezvous) {
  for (int64_t rank : members_[rendezvous]) {
    state_[rank] = State::ready;
    ++ready_;
    advance(rank);
  }
}

std::string Interleaving::report(const std::function<std::string(int64_t, size_t)>& describe) const {
  std::string out;
  for (size_t rank = 0; rank < actions_.size(); ++rank) {
    out += out.empty() ? "" : "\n      ";
    if (state_[rank] == State::done) {
      out += fmt::format("rank {} has finished", rank);
      continue;
    }
    const int32_t rendezvous = actions_[rank][position_[rank]];
    std::string missing;
    for (int64_t member : members_[rendezvous]) {
      const bool came = state_[member] == State::waiting && actions_[member][position_[member]] == rendezvous;
      if (!came) missing += fmt::format("{}{}", missing.empty() ? "" : ", ", member);
    }
    out += fmt::format("rank {} waits at {} for rank {}", rank, describe(int64_t(rank), position_[rank]), missing);
  }
  return out;
}

}  // namespace plait
