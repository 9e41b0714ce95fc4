#pragma once
// Held ranks that go through the list each on its own: a thread for each, or the caller's for one.
#include <condition_variable>
#include <exception>
#include <memory>
#include <mutex>
#include <thread>
#include <vector>

#include "run/executor.h"
#include "run/step_runner.h"

namespace plait {

// Every rank calls its collectives with itself as the one member. After an error in one the communicators are aborted,
// so that all end; the error that came first is thrown. Threads live as long as the executor; a forked process starts
// its own, and where it was forked during a run, run() throws UserError.
class ListExecutor : public Executor {
 public:
  // `graph`: one rank on a GPU is captured and run again while its tensors stay where they are.
  ListExecutor(StepRunner& steps, bool graph);
  ~ListExecutor() override;
  void run(uint64_t seed, bool guest) override;

 private:
  void drive(RankRunner& runner, bool guest, bool asks);
  // The threads of one process, with the locks that they hold.
  struct Crew {
    ~Crew();
    uint64_t forks = 0;  // fork_count() of the process
    std::vector<std::thread> threads;
    std::mutex mutex;
    std::condition_variable start, end;
    int64_t generation = 0;  // runs begun
    size_t running = 0;      // threads that have not ended this run
    bool closing = false;
    std::exception_ptr error;
  };

  void start_threads();
  void run_threads();
  void work(Crew& crew, RankRunner& runner);
  void fail(Crew& crew, const std::exception_ptr& error);
  bool run_graph(RankRunner& runner);
  bool capture(RankRunner& runner);

  StepRunner& steps_;
  std::unique_ptr<Crew> crew_;  // null: the caller's thread

  bool graph_wanted_;
  std::unique_ptr<Graph> graph_;
  std::vector<void*> addresses_, graph_addresses_;  // of the tensors of the latest run, and of the graph
};

}  // namespace plait
