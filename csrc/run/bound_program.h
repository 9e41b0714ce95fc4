#pragma once
// A program with numbers for its symbols on the ranks that this process holds, ready to run. docs/programs.md.
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "base/forks.h"
#include "comm/communicator.h"
#include "device/device.h"
#include "program/program.h"
#include "run/binding.h"
#include "run/executor_options.h"
#include "scalar/index_status.h"

namespace plait {

class RankRunner;
class StepRunner;
class Executor;

// Tensors of one rank, in the order of the program's inputs or outputs.
using RankTensors = std::vector<Tensor>;

// One run at a time. Memory of temporaries is the device's, for the lifetime of the object.
class BoundProgram {
 public:
  // `sizes`: as for bind(), whose errors it throws. InternalError: a kernel or contraction without an executable.
  // UserError: ranks that the program has not. The device must outlive the object. Makes the communicators of all teams
  // with held members, in the order of the steps.
  BoundProgram(std::shared_ptr<const Program> program, const sym::Environment& sizes, Device& device,
               std::shared_ptr<Communicators> comms, ExecutorOptions options = {});
  BoundProgram(const BoundProgram&) = delete;
  ~BoundProgram();

  // inputs[i], outputs[i]: the local pieces of rank held()[i]. An output without memory is allocated, one with memory
  // is written in place (dense, aligned, disjoint from all other tensors given). Inputs that are not dense and aligned
  // are copied. On a GPU, outputs are device memory; inputs in host memory are uploaded, and those of the rank's device
  // are used in place. Nothing else is allocated. After an error the outputs are undefined; where other ranks could
  // wait for the one that failed (threads, GPUs, processes) the communicators are aborted, else the next run starts
  // afresh. Returns when the outputs are written, with `stream` when all work is queued: then host inputs must stay,
  // dense, until the stream is done. UserError: a tensor of a wrong number, dtype, shape or place, named with its rank.
  // CommError: ranks that wait for each other, a collective that failed or hangs. Any error in a step keeps its type
  // (those of others become CommError) and gets rank and step named.
  void run(std::span<const RankTensors> inputs, std::vector<RankTensors>& outputs,
           const ExecutorRunOptions& options = {});
  std::vector<RankTensors> run(std::span<const RankTensors> inputs, const ExecutorRunOptions& options = {});

  // The first index outside of its extent, by (op, position), that the kernels of the held ranks have met in runs since
  // the last call; after an error too. Runs with a stream may show theirs in a later call: nothing is waited for.
  std::optional<IndexOffence> take_offence();

  const Program& program() const { return *program_; }
  int64_t ranks() const { return int64_t(bindings_.size()); }  // of the program
  std::span<const int64_t> held() const { return held_; }      // ascending
  const RankBinding& binding(int64_t rank) const { return bindings_[rank]; }
  std::span<const RankBinding> bindings() const { return bindings_; }
  // A value's memory on a held rank as it is now; the contents hold until the arena reuses them or the next run.
  Tensor value(int64_t rank, ValueId id) const;
  // By step, since construction or the last reset; empty without `timing`.
  std::span<const StepTime> step_times(int64_t rank) const;
  void reset_step_times();  // starts the counts anew
  // One line a step: runs, mean and total over the held ranks.
  std::string print_timings() const;

 private:
  void bind_tensors(std::span<const RankTensors> inputs, std::vector<RankTensors>& outputs);
  void check_overlap();
  void hold_ranks();
  bool on_gpu() const;
  void check_options(const ExecutorRunOptions& options) const;
  int launch_threads(const ExecutorRunOptions& options) const;
  void clean_up(bool issued, const char* why);
  RankRunner& runner(int64_t rank) const;

  // A range of memory of a run's tensor.
  struct Extent {
    uintptr_t begin, end;
    bool written;
  };

  std::shared_ptr<const Program> program_;
  const uint64_t forks_ = fork_count();  // of the process that bound it
  Device& device_;
  std::shared_ptr<Communicators> comms_;
  ExecutorOptions options_;
  std::vector<RankBinding> bindings_;
  std::vector<int64_t> held_;
  std::vector<std::unique_ptr<RankRunner>> runners_;  // by held rank
  std::unique_ptr<StepRunner> steps_;
  std::unique_ptr<Executor> executor_;
  std::vector<Extent> extents_;  // of a run with outputs given
};

}  // namespace plait
