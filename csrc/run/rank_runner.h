#pragma once
// One held rank of a bound program: its memory, the table of its buffers, its steps ready to run.
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "device/device.h"
#include "program/program.h"
#include "run/binding.h"
#include "run/executor_options.h"
#include "run/rank_memory.h"
#include "run/rank_queues.h"
#include "scalar/index_status.h"

namespace plait {

// A step that does something, its buffers being slots of its rank's table.
struct RankAction {
  StepKind kind;
  size_t step;
  ProgramStream stream;
  const Executable* executable = nullptr;
  LaunchArguments launch;
  void** buffers = nullptr;
  const BoundStep* numbers = nullptr;
  size_t unit = 1;        // copy: bytes of an element
  size_t fill_bytes = 0;  // contraction with an empty sum: bytes of the result
  uint32_t event = 0;     // record, wait: number among the events of the program
  size_t team_call = 0;   // collective: its TeamCall (run/team_calls.h), and which of its held members this is
  size_t member = 0;
};

class RankRunner {
 public:
  // Everything given must outlive it. InternalError: a kernel or contraction without an executable.
  RankRunner(const Program& program, const RankBinding& binding, Device& device, bool timing);
  RankRunner(const RankRunner&) = delete;

  int64_t rank() const { return binding_.rank; }
  const RankBinding& binding() const { return binding_; }
  std::vector<RankAction>& actions() { return actions_; }
  const std::vector<RankAction>& actions() const { return actions_; }
  RankMemory& memory() { return memory_; }
  const RankMemory& memory() const { return memory_; }
  std::vector<StepTime>& times() { return times_; }
  std::vector<StepSpan>& spans() { return spans_; }  // of the run
  // On a GPU: `step` ran between two marks of the queues. `booked`: its time counts for this rank.
  void add_marked(size_t step, size_t begin, size_t end, bool booked) { marked_.push_back({step, begin, end, booked}); }
  void take_marked_times();                  // behind a run that was waited for: their spans and times
  size_t events() const { return events_; }  // of the program
  // Null on the host, where a step is done when its call returns.
  RankQueues* queues() { return queues_.get(); }
  Stream* stream(ProgramStream stream) { return queues_ ? &queues_->stream(stream) : nullptr; }

  // Before the tensors of a run are bound, and behind it. `threads`: of a launch on the host.
  void begin(const ExecutorRunOptions& options, int threads);
  // Points the table at the tensors of the run, once all are bound.
  void tensors_bound();
  // Runs, or queues, an action that is no collective. On the host, records and waits do nothing.
  void issue(const RankAction& action);
  // After a collective was queued: its end can be asked for.
  void queued_collective(size_t action);
  // The step of the first collective of the run that was queued and has not ended; nothing on the host.
  std::optional<size_t> unfinished_collective();
  void forget_collectives() { queued_ = 0; }  // those that a graph captured have no end of their own
  // The first index outside of its extent that kernels of this rank have met since the last call, and forgets it.
  // Nothing while a guest's run is under way: it comes with a later call.
  std::optional<IndexOffence> take_offence();
  // Behind the steps of a guest's run, which nobody waits for.
  void mark_end();
  // Bytes 0xff for the arena and the outputs, or for what a step writes.
  void poison_all();
  void poison_step(size_t step, ProgramStream stream);

 private:
  void build_action(size_t index);
  void point(size_t slot, void* value) {
    slots_[slot] = value == nullptr ? nullptr : static_cast<std::byte*>(value) + slot_offset_[slot];
  }
  void copy(const RankAction& action);
  void fill(void* data, uint8_t value, size_t bytes, ProgramStream stream);
  void find_progress_events();

  struct Marked {
    size_t step, begin, end;
    bool booked;
  };
  // A collective and the event behind it: the program's own where the stream's next step records one.
  struct Progress {
    size_t step;
    std::optional<uint32_t> event;
    std::unique_ptr<Event> own{};
  };

  const Program& program_;
  const RankBinding& binding_;
  std::unique_ptr<RankQueues> queues_;
  size_t counters_at_, counter_bytes_;  // behind the arena: from which byte of its workspace on
  bool guest_ = false;                  // the run is on a caller's stream
  RankMemory memory_;
  std::shared_ptr<Memory> status_;  // words; null: no kernel has any
  std::unique_ptr<Event> end_;      // of a guest's run; null: there was none
  size_t next_counter_ = 0;         // bytes of counters that actions have
  std::vector<RankAction> actions_;
  std::vector<void*> slots_;          // buffers of all actions
  std::vector<uint32_t> slot_value_;  // which value a slot is a view of; or the status, or a counter
  std::vector<size_t> slot_offset_;   // and from which byte on
  std::vector<size_t> tensor_slots_;  // slots that hold inputs and outputs
  const void* arena_ = nullptr;       // that the slots point into
  std::vector<StepTime> times_;       // by step
  std::vector<StepSpan> spans_;
  std::vector<Marked> marked_;  // whose times are not known yet
  size_t events_ = 0;
  std::vector<Progress> progress_;  // GPU: by collective, in the order of the list
  size_t queued_ = 0;               // of them in this run
};

}  // namespace plait
