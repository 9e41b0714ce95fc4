#pragma once
// The collectives of a bound program, one for each step and team with held members, ready to be called.
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "comm/comm_call.h"
#include "comm/communicator.h"
#include "run/binding.h"
#include "run/rank_runner.h"

namespace plait {

// What the members of a team ask of each other in a step.
struct TeamNumbers {
  DType dtype = DType::f32;
  int64_t elements = 0, outer = 1, middle = 1, inner = 1;
  std::vector<int64_t> counts;                      // by position
  std::vector<CommBlock> held, taken;               // of an exchange, by position
  CommCall call(const CollectiveStep& step) const;  // valid as long as the numbers
};
// Of members in their order, be they held or not.
TeamNumbers team_numbers(const Program& program, RankValues& values, const CollectiveStep& step,
                         std::span<const int64_t> team);

struct TeamCall {
  // A member that this process holds.
  struct Held {
    int64_t position;  // in the team
    RankRunner* runner;
    size_t action;  // of the runner
    FlightRecorder* recorder;
  };
  const CollectiveStep* step = nullptr;
  size_t index = 0;  // of the step
  Communicator* communicator = nullptr;
  TeamNumbers numbers;
  std::vector<Held> held;           // by position
  std::vector<CommMember> members;  // of a call for all that are held
  std::string place;                // "step 3 (all_reduce %h -> %y ...)"

  // For all held members, or for one of them.
  void call();
  void call(size_t member) const;
  std::string ranks() const;  // of the held members: "rank 0", "ranks 0, 2"

 private:
  CommMember member(const Held& held) const;
  void call(std::span<const CommMember> members) const;
};

// In the order of the steps; within one, of the lowest held member. Tells the runners' actions their call. Makes the
// communicators of the teams.
std::vector<TeamCall> make_team_calls(const Program& program, RankValues& values,
                                      std::span<const std::unique_ptr<RankRunner>> runners, Communicators& comms);

// "step 3 (launch @k1(%x) -> (%h) on compute)"
std::string step_place(const Program& program, size_t step);

}  // namespace plait
