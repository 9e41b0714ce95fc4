#pragma once
// Which lane goes next: an interleaving of lanes that meet and wait for each other's events, decided by a seed.
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

namespace plait {

// What a lane does next: work of its own, or nothing but a meeting, where it waits until all members have come, the
// setting of an event, or the wait for one. `id` numbers meetings and events.
struct LaneAction {
  enum class Kind : uint8_t { local, meet, record, wait };
  Kind kind = Kind::local;
  int32_t id = 0;
};

// Every lane has a list of actions. Nothing is allocated while it runs.
class Interleaving {
 public:
  // `members`, by meeting, are the lanes that meet. An event is recorded by one lane, once.
  Interleaving(std::vector<std::vector<LaneAction>> lanes, std::vector<std::vector<int64_t>> members);

  // Starts all over and runs local(lane, action) and meet(meeting, lane of the last who came, its action), one at a
  // time. Seed 0: the lanes take turns in their order; any other seed draws who is next. False if lanes are left that
  // wait for each other: `report` says who. An exception of a callback ends the run.
  template <class Local, class Meet>
  bool run(uint64_t seed, Local&& local, Meet&& meet) {
    begin(seed);
    for (int64_t lane = next(); lane >= 0; lane = next()) {
      const size_t at = position_[lane];
      const LaneAction action = lanes_[lane][at];
      switch (action.kind) {
        case LaneAction::Kind::local:
          local(lane, at);
          advance(lane);
          break;
        case LaneAction::Kind::meet:
          if (!arrive(lane, action.id)) break;
          meet(action.id, lane, at);
          leave(action.id);
          break;
        case LaneAction::Kind::record:
          advance(lane);
          record(action.id);
          break;
        case LaneAction::Kind::wait:
          wait(lane, action.id);
          break;
      }
    }
    return finished_ == lanes_.size();
  }

  // After a run that returned false: one line per lane that has actions, where it waits and for whom, in the words of
  // the callbacks.
  std::string report(const std::function<std::string(int64_t lane)>& name,
                     const std::function<std::string(int64_t lane, size_t action)>& describe) const;

 private:
  enum class State : uint8_t { ready, waiting, done };
  void begin(uint64_t seed);
  int64_t next();  // a ready lane, or -1
  void advance(int64_t lane);
  bool arrive(int64_t lane, int32_t meeting);  // whether it was the last
  void leave(int32_t meeting);
  void record(int32_t event);
  void wait(int64_t lane, int32_t event);
  void block(int64_t lane);
  void wake(int64_t lane);
  bool waits_at(int64_t lane, LaneAction::Kind kind, int32_t id) const;

  struct EventState {
    bool recorded = false;
    int64_t recorder = -1;
    std::vector<int64_t> waiters;  // lanes that wait for it at some time
  };
  std::vector<std::vector<LaneAction>> lanes_;
  std::vector<std::vector<int64_t>> members_;
  std::vector<EventState> events_;
  std::vector<size_t> position_;  // by lane
  std::vector<State> state_;      // by lane
  std::vector<size_t> arrived_;   // by meeting
  size_t ready_ = 0, finished_ = 0;
  int64_t turn_ = 0;
  uint64_t seed_ = 0, random_ = 0;
};

}  // namespace plait
