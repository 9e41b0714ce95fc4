#pragma once
// A compiled class with one set of sizes on the ranks that this process holds: cuts global tensors into pieces, runs
// the program, gathers its outputs.
#include "compile/pipeline.h"
#include "run/bound_program.h"
#include "run/pieces.h"
#include "session/arguments.h"

namespace plait {

// Several threads may run it where concurrent(), else one at a time.
class BoundSpecialization {
 public:
  // Errors of check_local_pieces, bind() and the communicators. Everything given by reference must outlive the object.
  BoundSpecialization(const CompiledSpecialization& compiled, const DeviceMesh& mesh, const sym::Environment& sizes,
                      Device& device, std::shared_ptr<Communicators> comms, const ExecutorOptions& how);
  BoundSpecialization(const BoundSpecialization&) = delete;

  // Global tensors in, global tensors out; metadata must be that of the sizes. Where the job has several processes, all
  // of them call and all get the outputs. Outputs of GPUs are brought to the host unless an input, a given output or
  // how.stream is of a GPU: then the one held rank's are returned where they are. `given` are outputs that are written
  // into (RunOptions): UserError where one does not fit, before anything is written. `run_ms` gets the time of the
  // program alone.
  Tensors run(const Tensors& inputs, const Tensors& given, const ExecutorRunOptions& how, bool check_replicas,
              double& run_ms);
  // The pieces of the one held rank in, its pieces out, on the device that they are on. UserError for other shapes.
  Tensors run_pieces(const Tensors& pieces, const Tensors& given, const ExecutorRunOptions& how, double& run_ms);

  BoundProgram& program() { return *program_; }
  // UserError: what is given for outputs, which run() refuses too.
  void check_call(const Tensors& inputs, const Tensors& given, const ExecutorRunOptions& how) const {
    check_given(given, inputs, false, stays_on_device(inputs, given, how));
  }
  bool concurrent() const { return program_->concurrent(); }
  Communicators& comms() { return *comms_; }
  // Of memory that it holds between runs, of which one goes on at a time: pieces that are not handed out, and a GPU's
  // arenas.
  int64_t kept_bytes() const;
  // Of outputs, by rank.
  const std::map<std::string, std::vector<std::vector<int64_t>>>& local_shapes() const { return local_shapes_; }

 private:
  class Leave;
  struct Pending {
    ReduceOp reduce;
    Team over;  // more than one rank
  };
  struct Side {  // inputs or outputs
    std::vector<std::string> names;
    std::vector<DType> dtypes;
    std::vector<std::vector<int64_t>> shapes;  // global
    std::vector<std::vector<PieceMap>> maps;   // by tensor, by rank
    std::vector<std::optional<Pending>> pending;
    // Whether a rank's piece of an input is all of what is given.
    bool is_given(size_t i, int64_t rank) const { return maps[i][rank].is_whole() && !pending[i]; }
  };
  // What a run writes; memory in it is used again by later ones. By held rank.
  struct RunState {
    std::vector<RankTensors> inputs, outputs;
    std::vector<RankTensors> home;  // of GPUs: outputs on the host
  };
  Side make_side(const std::vector<TensorView*>& tensors, const sym::Environment& sizes) const;
  std::unique_ptr<RunState> make_state() const;
  void raise(const IndexOffence& offence) const;
  void execute(RunState& state, const ExecutorRunOptions& how, double& run_ms);
  void shard_inputs(RunState& state, const Tensors& inputs) const;
  void drop_inputs(RunState& state) const;
  bool stays_on_device(const Tensors& inputs, const Tensors& given, const ExecutorRunOptions& how) const;
  void check_given(const Tensors& given, const Tensors& inputs, bool pieces, bool on_device) const;
  void place_given(RunState& state, const Tensors& given, const Tensors& inputs, bool pieces, bool on_device) const;
  static void fill_given(const Tensors& given, Tensors& made, const ExecutorRunOptions& how);
  bool is_everywhere(size_t output) const;
  std::optional<size_t> in_place_of(size_t output) const;
  void part_replaced(RunState& state, const ExecutorRunOptions& how) const;
  void keep_pieces(RunState& state) const;
  void drop_handed_out(RunState& state) const;
  static void forget(std::vector<RankTensors>& side);
  void bring_home(RunState& state);
  Tensors take_outputs(RunState& state) const;
  RankTensors pieces_of(RunState& state, size_t output, std::vector<std::string>& bytes) const;
  Tensors gather_outputs(RunState& state, const Tensors& given, Allocator& allocator, bool check_replicas) const;
  void add_up(size_t output, const RankTensors& pieces, Tensor& global, bool check_replicas) const;
  void compare_replicas(size_t output, const Tensor& global, const RankTensors& pieces, int64_t position = 0) const;
  Tensor& home(RunState& state, size_t held, size_t output) const;

  const DeviceMesh& mesh_;
  Device& device_;
  std::shared_ptr<Communicators> comms_;
  const std::vector<Lookup>& lookups_;
  sym::Environment sizes_;  // with those of the mesh
  std::unique_ptr<BoundProgram> program_;
  Side inputs_, outputs_;
  std::map<std::string, std::vector<std::vector<int64_t>>> local_shapes_;
  Turns<RunState> states_;
  std::vector<std::unique_ptr<Stream>> downloads_;  // by ordinal, made when needed
};

}  // namespace plait
