#pragma once
// Which rank goes next: an interleaving of ranks that meet at rendezvous, decided by a seed.
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

namespace plait {

// Every rank has a list of actions; kLocal is its own, any other number is a rendezvous, where it waits until all of
// its members have come. Nothing is allocated while it runs.
class Interleaving {
 public:
  static constexpr int32_t kLocal = -1;
  // `actions` by rank; `members`, by rendezvous, are the ranks that meet.
  Interleaving(std::vector<std::vector<int32_t>> actions, std::vector<std::vector<int64_t>> members);

  // Starts all over and runs local(rank, action) and meet(rendezvous, rank of the last who came, its action), one at a
  // time. Seed 0: the ranks take turns in their order; any other seed draws who is next. False if ranks are left that
  // wait for each other: `report` says who. An exception of a callback ends the run.
  template <class Local, class Meet>
  bool run(uint64_t seed, Local&& local, Meet&& meet) {
    begin(seed);
    for (int64_t rank = next(); rank >= 0; rank = next()) {
      const size_t action = position_[rank];
      const int32_t rendezvous = actions_[rank][action];
      if (rendezvous == kLocal) {
        local(rank, action);
        advance(rank);
      } else if (arrive(rank, rendezvous)) {
        meet(rendezvous, rank, action);
        leave(rendezvous);
      }
    }
    return finished_ == actions_.size();
  }

  // After a run that returned false: one line per rank, where it waits (in the words of `describe`) and for whom.
  std::string report(const std::function<std::string(int64_t rank, size_t action)>& describe) const;

 private:
  enum class State : uint8_t { ready, waiting, done };
  void begin(uint64_t seed);
  int64_t next();  // a ready rank, or -1
  void advance(int64_t rank);
  bool arrive(int64_t rank, int32_t rendezvous);  // whether it was the last
  void leave(int32_t rendezvous);

  std::vector<std::vector<int32_t>> actions_;
  std::vector<std::vector<int64_t>> members_;
  std::vector<size_t> position_;  // by rank
  std::vector<State> state_;      // by rank
  std::vector<size_t> arrived_;   // by rendezvous
  size_t ready_ = 0, finished_ = 0;
  int64_t turn_ = 0;
  uint64_t seed_ = 0, random_ = 0;
};

}  // namespace plait
