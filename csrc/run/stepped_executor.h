#pragma once
// All held ranks on the calling thread, one step of one lane at a time.
#include "run/executor.h"
#include "run/interleaving.h"
#include "run/step_runner.h"

namespace plait {

// On the host a lane is a stream of a rank, where a step is done when its call returns: waits hold a lane back until
// their event is recorded, and collectives until all held members have come. On GPUs a lane is a rank, which queues its
// steps in the order of the list on its two streams; a collective is queued for all held members in one call.
class SteppedExecutor : public Executor {
 public:
  explicit SteppedExecutor(StepRunner& steps);
  void run(uint64_t seed, bool guest) override;

 private:
  struct Lane {
    RankRunner* runner;
    std::vector<size_t> actions;  // of the runner
    std::string name;             // "rank 0", "rank 0, comm"
  };
  std::vector<Lane> make_lanes() const;
  Interleaving make_interleaving() const;
  void ask(size_t action, RankRunner& runner);
  void interleave(uint64_t seed);

  StepRunner& steps_;
  const bool queues_;  // the ranks have queues
  std::vector<Lane> lanes_;
  Interleaving interleaving_;
  std::vector<RankRunner*> runners_;
};

}  // namespace plait
