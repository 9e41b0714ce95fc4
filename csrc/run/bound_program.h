#pragma once
// A program with numbers for its symbols on the ranks that this process holds, ready to run. docs/programs.md.
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/forks.h"
#include "comm/communicator.h"
#include "device/device.h"
#include "program/program.h"
#include "run/binding.h"
#include "run/executor_options.h"
#include "run/turns.h"
#include "scalar/index_status.h"

namespace plait {

class RankRunner;

// Tensors of one rank, in the order of the program's inputs or outputs.
using RankTensors = std::vector<Tensor>;

// Memory of temporaries is the device's, for the time of a run, on a GPU for the lifetime of the object. Several
// threads may run it: at once where concurrent(), else one after another.
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
  // is written in place (dense, on a GPU aligned, disjoint from all other tensors given). One that lies in
  // place of an input becomes a tensor of that memory, or of the copy that the input was read from, and what is given
  // for it is dropped; the caller keeps such an input apart from all others. Inputs that are not dense are copied,
  // on a GPU those that are not aligned too, on the host those whose elements are not. On a GPU, outputs are device
  // memory; inputs in host memory are uploaded, and those of the rank's device are used in place. Nothing else is
  // allocated. After an error the outputs are undefined; where other ranks could wait for the one that failed (threads,
  // GPUs, processes) the communicators are aborted, else the next run starts afresh. Returns when the outputs are
  // written, with `stream` when all work is queued: then host inputs must stay, dense, until the stream is done.
  // UserError: a tensor of a wrong number, dtype, shape or place, named with its rank. CommError: ranks that wait for
  // each other, a collective that failed or hangs. Any error in a step keeps its type (those of others become
  // CommError) and gets rank and step named.
  // The first index outside of its extent, by (op, position), that the kernels of the held ranks have met in this run.
  // With `stream` nothing is waited for: it is that of runs before it, and then nothing runs.
  std::optional<IndexOffence> run(std::span<const RankTensors> inputs, std::vector<RankTensors>& outputs,
                                  const ExecutorRunOptions& options = {});
  std::vector<RankTensors> run(std::span<const RankTensors> inputs, const ExecutorRunOptions& options = {});

  const Program& program() const { return *program_; }
  // Whether runs share nothing that they write: in host memory, all ranks held, no collectives, nothing that watches
  // steps, no threads of the ranks' own.
  bool concurrent() const { return concurrent_; }
  size_t most_at_once() const { return states_.count(); }                              // runs so far
  int64_t ranks() const { return program_->devices.ranks(); }                          // of the program
  std::span<const int64_t> held() const { return held_; }                              // ascending
  const RankBinding& binding(int64_t rank) const { return bindings_[held_at(rank)]; }  // of a held one
  const RankBinding& first_rank() const { return first_ ? *first_ : bindings_[0]; }    // rank 0, held or not
  // A value's memory on a held rank as it is now: temporaries in the host's memory during a run that is not concurrent,
  // others as long as their tensors; the contents hold until the arena reuses them.
  Tensor value(int64_t rank, ValueId id) const;
  // By step, since construction or the last reset; empty without `timing`.
  std::span<const StepTime> step_times(int64_t rank) const;
  std::span<const StepSpan> step_spans(int64_t rank) const;  // of the last run; empty without `timing`
  void reset_step_times();                                   // starts the counts anew
  // One line a step: runs, mean and total over the held ranks.
  std::string print_timings() const;

 private:
  struct RunState;  // what a run writes
  std::unique_ptr<RunState> make_state();
  bool can_run_at_once() const;
  void bind_tensors(RunState& state, std::span<const RankTensors> inputs, std::vector<RankTensors>& outputs,
                    const ExecutorRunOptions& options) const;
  int64_t take_donated(RunState& state, const RankTensors& inputs, RankTensors& outputs,
                       const ExecutorRunOptions& options) const;
  static void check_overlap(RunState& state, const Program& program);
  static std::optional<IndexOffence> take_offence(RunState& state);
  void hold_ranks();
  bool on_gpu() const;
  void check_options(const ExecutorRunOptions& options) const;
  int launch_threads(const ExecutorRunOptions& options) const;
  void clean_up(RunState& state, bool issued, const char* why);
  RankRunner& runner(int64_t rank) const;
  size_t held_at(int64_t rank) const;  // InternalError: it is not
  bool all_held() const { return int64_t(held_.size()) == ranks(); }

  std::shared_ptr<const Program> program_;
  const uint64_t forks_ = fork_count();  // of the process that bound it
  Device& device_;
  std::shared_ptr<Communicators> comms_;
  ExecutorOptions options_;
  RankValues values_;
  std::vector<int64_t> held_;
  std::vector<RankBinding> bindings_;  // by held rank
  std::optional<RankBinding> first_;   // where rank 0 is not held
  bool concurrent_ = false;
  Turns<RunState> states_;
};

}  // namespace plait
