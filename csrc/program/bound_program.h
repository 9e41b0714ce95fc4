#pragma once
// A program with numbers for its symbols on the ranks that this process holds, ready to run. docs/programs.md.
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "comm/communicator.h"
#include "device/device.h"
#include "program/binding.h"
#include "program/interleaving.h"
#include "program/program.h"

namespace plait {

// Tensors of one rank, in the order of the program's inputs or outputs.
using RankTensors = std::vector<Tensor>;

// Called after a step of a rank; `BoundProgram::value` shows its results. A collective is seen once for each member.
// One call at a time, from any thread that drives a rank.
using StepObserver = std::function<void(int64_t rank, size_t step)>;

// Who goes on with the ranks of this process. stepped: the calling thread, in an interleaving of ranks and streams that
// a seed decides. threads: a thread for each rank, in the order of the list; one rank is driven by the calling thread.
enum class RankDrive : uint8_t { stepped, threads };

struct ExecutorOptions {
  RankDrive drive = RankDrive::stepped;
  std::vector<int64_t> ranks;  // held by this process, ascending; empty: all
  // One held rank on a GPU that can capture: its streams are captured as one graph, run again while the addresses of
  // inputs and outputs stay.
  bool graph = false;
  // Before a run all temporaries and outputs, and before each step what it writes, are filled with bytes 0xff (NaN,
  // -1), so that memory read before it is written shows.
  bool poison = false;
  bool timing = false;      // step_times; on a GPU every step is waited for
  StepObserver observer{};  // empty: none; on a GPU every step is waited for
};

struct ExecutorRunOptions {
  uint64_t seed = 0;               // stepped: order of the ranks and streams; 0 is round robin
  Allocator* allocator = nullptr;  // of outputs; null: the device's. With `stream`: of everything
  void* stream = nullptr;          // GPU, one held rank: a caller's native stream; run() does not wait for it
  int threads = 0;                 // host: of one launch; 0: all with `stepped`, an equal share with `threads`
};

// Count and total duration of one step on one rank. With `stepped`, a collective's is booked on its first held member.
struct StepTime {
  int64_t count = 0, nanoseconds = 0;
};

// One run at a time. Memory of temporaries is the device's, for the lifetime of the object.
class BoundProgram {
 public:
  // `sizes`: as for bind(), whose errors it throws. InternalError: a kernel or product without an executable.
  // UserError: ranks that the program has not. The device must outlive the object. Makes the communicators of all teams
  // with held members, in the order of the steps.
  BoundProgram(std::shared_ptr<const Program> program, const sym::Environment& sizes, Device& device,
               std::shared_ptr<Communicators> comms, ExecutorOptions options = {});
  BoundProgram(const BoundProgram&) = delete;
  ~BoundProgram();

  // inputs[i], outputs[i]: the local pieces of rank held()[i]. An output without memory is allocated, one with memory
  // is written in place (dense, aligned, disjoint from all other tensors given). Inputs that are not dense and aligned
  // are copied. On a GPU, outputs are device memory; inputs in host memory are uploaded, and those of the rank's device
  // are used in place. Nothing else is allocated. After an error the outputs are undefined and the next run starts
  // afresh. Returns when the outputs are written, with `stream` when all work is queued: then host inputs must stay,
  // dense, until the stream is done. UserError: a tensor of a wrong number, dtype, shape or place, named with its rank.
  // CommError: ranks that wait for each other, a collective that failed or hangs. Any error in a step keeps its type
  // (those of others become CommError) and gets rank and step named.
  void run(std::span<const RankTensors> inputs, std::vector<RankTensors>& outputs,
           const ExecutorRunOptions& options = {});
  std::vector<RankTensors> run(std::span<const RankTensors> inputs, const ExecutorRunOptions& options = {});

  const Program& program() const { return *program_; }
  int64_t ranks() const { return int64_t(bindings_.size()); }  // of the program
  std::span<const int64_t> held() const { return held_; }      // ascending
  const RankBinding& binding(int64_t rank) const { return bindings_[rank]; }
  std::span<const RankBinding> bindings() const { return bindings_; }
  // A value's memory on a held rank as it is now; the contents hold until the arena reuses them or the next run.
  Tensor value(int64_t rank, ValueId id) const;
  // By step, since construction or the last reset; empty without `timing`.
  std::span<const StepTime> step_times(int64_t rank) const { return ranks_[rank].times; }
  void reset_step_times();  // starts the counts anew
  // One line a step: runs, mean and total over the held ranks.
  std::string print_timings() const;

 private:
  // A step that does something, its buffers being slots of its rank's table.
  struct Action {
    StepKind kind;
    size_t step;
    const Executable* executable = nullptr;
    LaunchArguments launch;
    void** buffers = nullptr;
    const BoundStep* numbers = nullptr;
    size_t unit = 1;        // copy: bytes of an element
    size_t fill_bytes = 0;  // product with an empty sum: bytes of the result
  };
  struct Patch {
    size_t slot;
    uint32_t value;
  };
  struct RankTable {
    std::shared_ptr<Memory> arena;
    std::vector<void*> values;   // by value; inputs and outputs are those of the latest run
    std::vector<void*> slots;    // buffers of all actions
    std::vector<Patch> patches;  // slots that hold inputs and outputs
    std::vector<Action> actions;
    std::vector<StepTime> times;  // by step
  };
  // A collective of one team.
  struct Meeting {
    const CollectiveStep* step;
    size_t index;  // of the step
    Communicator* communicator;
    DType dtype;
    int64_t elements, outer, inner;
    std::vector<int64_t> ranks, counts;
    std::vector<void**> buffers;  // by position
    std::vector<CommMember> members;
  };
  // A range of memory of a run's tensor.
  struct Extent {
    uintptr_t begin, end;
    bool written;
  };

  void build_rank(int64_t rank);
  void build_action(RankTable& table, const RankBinding& binding, size_t step);
  Interleaving build_meetings();
  void bind_inputs(std::span<const RankTensors> inputs, Allocator& allocator);
  void* input_data(const Tensor& tensor, int64_t rank, ValueId id, Allocator& allocator);
  void bind_outputs(std::vector<RankTensors>& outputs, Allocator& allocator);
  bool bind_output(Tensor& tensor, int64_t rank, ValueId id, Allocator& allocator);
  void check_overlap();
  void check_tensor(const Tensor& tensor, int64_t rank, ValueId id) const;
  [[noreturn]] void refuse(std::string what, int64_t rank, ValueId id, std::string remedy) const;
  void interleave(uint64_t seed);
  void execute(const Action& action) const;
  void execute_observed(int64_t rank, const Action& action);
  void meet(Meeting& meeting);
  void meet_observed(Meeting& meeting);
  void poison_values(int64_t rank, size_t step) const;
  void poison_all() const;
  std::string place(size_t step) const;

  std::shared_ptr<const Program> program_;
  Device& device_;
  Allocator& allocator_;
  std::shared_ptr<Communicators> comms_;
  ExecutorOptions options_;
  bool observed_ = false;
  std::vector<RankBinding> bindings_;
  std::vector<int64_t> held_;
  std::vector<RankTable> ranks_;
  std::vector<Meeting> meetings_;
  std::unique_ptr<Interleaving> interleaving_;
  std::vector<Extent> extents_;                  // of a run with outputs given
  std::vector<std::shared_ptr<Memory>> copies_;  // of inputs, for the time of a run
};

}  // namespace plait
