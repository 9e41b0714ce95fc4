#include "sim/ptx/fence_order.h"

#include <algorithm>

namespace plait::sim::ptx {

bool Release::covers(const Moment& moment, int other) const {
  if (moment.block != at.block || moment.epoch > at.epoch) return false;
  if (moment.epoch < at.epoch) return true;
  if (moment.warp != at.warp) return known[moment.warp] > moment.arrivals;
  if (other == lane) return moment.meeting < at.meeting;
  return moment.meeting < all_met || moment.arrivals < known[at.warp] ||
         moment.meeting < met[static_cast<size_t>(other)];
}

// Whether it was not known. A release in a later time of its block covers those before.
bool Acquired::add_alone(const std::shared_ptr<const Release>& release) {
  std::vector<std::shared_ptr<const Release>>& known = of_[release->at.block];
  const auto covered = [](const Release& older, const Release& by) {
    return older.at.epoch < by.at.epoch || (older.at.epoch == by.at.epoch && older.at.warp == by.at.warp &&
                                            older.lane == by.lane && older.at.meeting <= by.at.meeting);
  };
  if (std::ranges::any_of(known, [&](const auto& each) { return covered(*release, *each); })) return false;
  std::erase_if(known, [&](const auto& each) { return covered(*each, *release); });
  known.push_back(release);
  return true;
}

void Acquired::add(const std::shared_ptr<const Release>& release) {
  const bool known = release->at.epoch != 0 && !add_alone(release);
  if (!known && release->more != nullptr) add(*release->more);
}

void Acquired::add(const Acquired& other) {
  for (const auto& [block, releases] : other.of_)
    for (const auto& each : releases) add_alone(each);
}

bool Acquired::covers(const Moment& moment, int lane) const {
  const auto found = of_.find(moment.block);
  return found != of_.end() &&
         std::ranges::any_of(found->second, [&](const auto& each) { return each->covers(moment, lane); });
}

void add_read(std::vector<Taken>& reads, Taken read) {
  const auto again = std::ranges::find(reads, read.history, &Taken::history);
  if (again == reads.end())
    reads.push_back(std::move(read));
  else if (again->count <= read.count)  // as loops do that wait for a value
    *again = std::move(read);
}

void Heard::add(const Heard& other) {
  acquired.add(other.acquired);
  fenced.add(other.fenced);
  for (const Taken& each : other.taken) add_read(taken, each);
}

}  // namespace plait::sim::ptx
