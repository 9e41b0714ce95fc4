#pragma once
// Plain kernel IR of a loop tree: a loop for a loop, a statement for a load, an op, a store, every predicate an If in
// the outermost body that its variables allow. No cleverness: passes over kernel IR hoist, merge and vectorize. For
// lower_tree.cpp, the emitter's own files and those of scatters (lower/tree/scatter.h).
#include <functional>
#include <set>

#include "axes/loop_tree.h"
#include "lower/extents.h"
#include "lower/kinds.h"
#include "lower/lower.h"
#include "schedule/scheduled_group.h"

namespace plait::lowering {

// Whether the op sums over the loop with this variable.
bool is_reduced_by(const PlacedOp& op, sym::Expr var);

class TreeEmitter {
 public:
  TreeEmitter(const ScheduledGroup& group, const LoopTree& tree, KernelExtents& extents, const LowerOptions& options,
              kir::Kernel& kernel);
  void run();
  bool has_status() const { return status_.has_value(); }

 protected:
  using Value = kir::Value;
  using Coordinates = std::vector<sym::Expr>;
  using Terms = std::vector<RangeTerm>;
  using Part = std::vector<Value>;    // the state of one Combine
  using Carried = std::vector<Part>;  // those of an op

  // A block that statements are put in: the root, a loop's body, or the body of an If over one term.
  struct Frame {
    kir::Block* block = nullptr;
    std::optional<RangeTerm> term;
  };
  struct Known {
    Value value;
    size_t frame;
  };
  // A read that is being computed: where, and for which op of the tree.
  struct Reading {
    const Op* op;
    Coordinates own;
    const Op* reader;
  };

  // emit.cpp: buffers, blocks, guards.
  void declare_buffers();
  std::string free_name(std::string name) const;
  uint32_t declare_local(const TensorView& tensor, const PlacedOp& placed);
  void declare_status();
  void find_parts();
  void find_terms();
  using Readers = std::map<const TensorView*, std::vector<const Op*>>;  // ops of the tree, through reads too
  void add_reader_terms(const Op& op, const Readers& readers);
  Terms own_terms(const PlacedOp& placed) const;
  bool is_bound(sym::Expr e, int loop) const;
  Terms kept_terms(const Op& op) const;
  Terms needed(const TreeItem& item, int loop) const;
  Terms needed_inside(int loop, int at) const;
  void items(const std::vector<TreeItem>& list, int loop);
  void allocate(uint32_t buffer);
  void item(const TreeItem& item);
  void statements(const TreeItem& item);
  void loop(int id);
  void in_loop(const TreeLoop& loop, const std::function<void()>& body);
  bool comes_first(const TreeItem& item) const;
  void enter_terms(size_t base, const Terms& terms);
  void leave();
  void guarded(sym::Expr condition, const std::function<void()>& body);
  void within(const Terms& terms, const std::function<void()>& body);
  sym::Expr condition(const RangeTerm& term) const;

  template <class S>
  Value put(std::unique_ptr<S> stmt) {
    const Value out = stmt->out;
    add(std::move(stmt));
    return out;
  }
  void add(std::unique_ptr<kir::Stmt> stmt) { frames_.back().block->push_back(std::move(stmt)); }
  Value fresh(DType dtype) { return {next_id_++, dtype, 1}; }
  const PlacedOp& placed(const Op& op) const { return tree_.ops.at(&op); }
  sym::Expr number(int64_t value) const { return kernel_.pool->constant(value); }

  // reads.cpp: ops that are computed at their readers' coordinates.
  bool is_read(const Op& op) const { return group_.reads.contains(&op); }
  bool is_input(const TensorView& tensor) const {
    return tensor.definition == nullptr && arguments_.contains(&tensor) && !held_inputs_.contains(&tensor);
  }
  // Whether the op finds the tensor at any coordinates.
  bool by_coordinates(const Op& op, const TensorView& tensor) const {
    return is_input(tensor) || (tensor.definition != nullptr && is_read(*tensor.definition)) || is_whole(op, tensor);
  }
  bool is_whole(const Op& op, const TensorView& tensor) const { return is_read(op) && group_.whole.contains(&tensor); }
  const Coordinates& own(const Op& op) const;
  const PlacedOperand& placed_operand(const Op& op, size_t i) const;
  Coordinates operand_at(const Op& op, size_t i);
  Value read_at(const Op& op, size_t i, const Coordinates& at, bool round_narrow = false);
  Value operand_value(const Op& op, size_t i, const Coordinates& at);
  Value value_at(const Op& reader, const TensorView& tensor, const Coordinates& at);
  Value load_whole(const TensorView& tensor, const Coordinates& at);
  // What the op gives at these coordinates, of operands that `value_of` gives where they are no inputs: for emitters
  // whose tree, which is this one's, places no op before.
  Value computed_at(const Op& op, const Coordinates& at, const AxisGroup& axes, LoopTree& tree,
                    const std::function<Value(const TensorView&, const Coordinates&)>& value_of);

  // phases.cpp: what phases leave to later ones.
  void declare_workspaces();
  uint32_t declare_workspace(std::string name, DType dtype, const Workspace& workspace);
  std::vector<std::vector<DType>> part_types(const Op& op) const;
  sym::Expr element(const Workspace& workspace) const;
  void save(const Op& op);
  // Statements within a loop over parts of tasks, which threads may share where they need no order.
  void over_parts(int loop, bool in_order, const std::function<void()>& body);
  void one_by_one(const TreeLoop& parts, const std::function<void()>& body);
  std::unique_ptr<kir::For> new_loop(sym::Expr extent, kir::LoopKind kind);
  static kir::LoopKind threads_of(const TreeLoop& parts);
  void take_turns(const TreeLoop& parts, const std::function<void()>& body);
  void merge_parts(const Op& op);
  void part_result(const Op& op);
  void merge_online(const Op& op);
  Part fold(Combine combine, const Part& state);

  // values.cpp: statements of one value, elementwise ops, what is read and written.
  Value convert(Value in, DType to);
  Value round(Value in, DType to);
  Value literal(Constant constant);
  Value apply(Pointwise function, std::vector<Value> in);
  Value coordinate(sym::Expr index);
  Value variable(Constant initial);
  void assign(Value variable, Value in);
  Value saturate(Value in, DType to);
  Value cast(const PointwiseOp& op);
  Value pointwise(const PointwiseOp& op);
  Value rounded(const PointwiseOp& op);
  Value compute(const Op& op);
  Value operand(const Op& op, size_t i, bool round_narrow = false);
  Value rounded(const TensorView& t, Value v, bool round_narrow);
  Value read(const Op& op, size_t i);
  Value load(uint32_t buffer, sym::Expr index);
  Value load_at(const TensorView& tensor, const Coordinates& at);
  void store(uint32_t buffer, sym::Expr index, Value in);
  void deliver(const Op& op, const TensorView& result, Value value);
  sym::Expr place_in_buffer(const Op& op, const TensorView& result) const;
  sym::Expr memory_offset(const TensorView& tensor, const Coordinates& at);

  // creation.cpp: tensors from nothing.
  Value number_as(Value integer, DType to);
  Value iota(const Iota& op);
  Value size(const Size& op);
  template <class Random>
  sym::Expr random_index(const Random& op);
  sym::Expr random_offset(const Op& op);
  Value random(const Op& op, sym::Expr index);
  Value normal(const Normal& op);

  // moves.cpp: ops that read elsewhere than where they write.
  Value moved(const Reshape& op);
  Value moved(const Slice& op);
  Value moved(const Flip& op);
  Value moved(const Roll& op);
  Value moved(const Repeat& op);
  Value moved(const Pad& op);
  Value moved(const Cat& op);
  sym::Expr bind(Value in);
  Value looked_up(const Op& op, const Coordinates& index_at, int64_t dim, Coordinates at);
  Value looked_up(const Gather& op);
  Value looked_up(const IndexSelect& op);
  Value combined(ScatterUpdate update, Value before, Value src);
  Value placed_one(const Scatter& op);
  void report(const Op& op, sym::Expr j, const Coordinates& at);

  // scans.cpp: a state is what is carried, and results that readers in other guards read.
  class StepBuilder;
  void start_scan(const Op& op, int loop);
  Part begin_of(const Op& scan, const Part& total);
  Part total_in_front(const Op& scan, int threads, const Terms& terms);
  void carry_parts(const Op& op);
  Value element_of_scan(const Op& op);
  void step(const Op& op, Value x);

  // thread_scans.cpp: scans of rows that threads of a block have together, in states of the reductions of their kind.
  struct Across {
    int loop = -1;  // over threads
    Combine combine = Combine::sum;
    std::vector<DType> types;
    std::optional<DType> element;
    Part carry, own;  // variables: of all elements in front of the present iteration; the state of the thread's
    Part begin;       // what the thread's scan carries at first
  };
  int thread_loop(const Op& scan) const;
  std::vector<const Op*> scans_of_threads(const TreeItem& item) const;
  void drop_terms_of_threads(const TreeItem& item, Terms& terms) const;
  void start_across(const Op& op, int loop);
  Part fresh_state(const Across& a);
  class FormulaBuilder;
  Part merged(const Across& a, const Part& first, const Part& second);
  void add_to_own(const Op& op, Value x);
  void join_threads(const Op& op);
  std::vector<std::vector<const Op*>> in_turns(const std::vector<const Op*>& scans) const;
  void scan_across(const TreeItem& item, const std::vector<const Op*>& scans);
  void scan_element(const Op& op);
  void item_for_own(const TreeItem& item);

  // state_tiles.cpp: reductions with a state for each iteration of loops over kept dims inside.
  bool has_tile(const Op& op) const;
  bool has_tile_in_memory(const Op& op) const;
  bool ends_tile_in_memory(const TreeItem& item) const;
  const TreeLoop* lanes_of_sum(const Op& op) const;
  std::vector<int> loops_of_tile(const Op& op) const;
  sym::Expr first_of_task(const Op& op) const;
  void declare_tiles();
  sym::Expr place_in_tile(const std::vector<int>& loops) const;
  const Op* tile_begun_by(const TreeItem& item) const;
  bool is_inside_of_start(const Op& op, int loop) const;
  void over_states(const Op& op, const std::vector<int>& loops, const std::function<void(sym::Expr)>& body);
  void over_part(const Op& op, size_t loop, const std::function<void()>& body);
  void put_identity(const Op& op, uint32_t tile, const std::vector<int>& loops);
  void start_tile(const Op& op);
  void start_part_tile(const Op& op);
  void merge_part_tile(const Op& op);
  void add_to_tile(const Op& op);
  Value state_in_tile(const Op& op);

  // panels.cpp: buffers that threads of a block fill together.
  const PanelLayout* panel_of(const TensorView& tensor) const;
  bool is_panel(const Op& op) const { return panel_of(*op.results[0]) != nullptr; }
  bool is_filled_panel(const Op& op) const { return is_panel(op) && panel_of(*op.results[0])->filled; }
  bool sums_panels(const Op& op) const;
  bool fills_panels(const TreeLoop& loop) const;
  uint32_t declare_panel(const TensorView& tensor, const PanelLayout& panel);
  void fill_panel(const Op& op);
  bool copy_to_panel(const Op& op, const Terms& terms);

  // combines.cpp: reductions.
  std::vector<Combine> combines_of(const Op& op) const;
  Carried start(const Op& op, bool wide);
  void accumulate(const Op& op);
  void start_part(const Op& op);
  void merge_part(const Op& op);
  void finish(const Op& op);
  Value terms_of(const Op& op, int64_t less, DType type);
  sym::Expr position(const Op& op);

  const ScheduledGroup& group_;
  const LoopTree& tree_;
  KernelExtents& extents_;
  const LowerOptions& options_;
  kir::Kernel& kernel_;
  std::vector<Frame> frames_;
  std::map<const TensorView*, Known> values_;
  std::vector<Reading> readings_;                                                   // each for the one before it
  std::map<std::pair<const TensorView*, std::vector<uint64_t>>, Known> values_at_;  // of reads, by coordinates
  std::map<const TensorView*, uint32_t> arguments_, locals_, cross_;
  std::set<const TensorView*> held_inputs_;  // whose values an emitter has read, and gives to computed_at
  std::map<std::string, sym::Expr> turn_;    // the part of a thread, for the variable of a loop over parts
  std::map<const Op*, std::vector<std::vector<uint32_t>>> saved_;  // workspaces of states, by combine
  std::map<const Op*, Terms> terms_;                               // without which nobody needs the op's result
  std::map<const Op*, Terms> panel_terms_;                         // outside of which an element of a panel is 0
  std::map<int, std::vector<const Op*>> parts_;  // loops, and the sums that have a part of their own in each iteration
  std::set<const Op*> part_of_;                  // those sums
  std::map<const Op*, Carried> whole_, part_;    // states of reductions
  std::map<const Op*, uint32_t> tiles_, part_tiles_;  // those of tiles
  std::map<const Op*, std::vector<int>> part_loops_;  // over kept dims, inside of a part
  std::map<const Op*, Across> across_;
  std::set<const Op*> adds_to_;     // the scans for the sake of which a loop is emitted: of what a thread has of them
  std::optional<uint32_t> status_;  // the buffer of the status words of the run
  std::map<const Op*, sym::Expr> ordinals_;  // of the lookups that the status hears of
  std::optional<uint64_t> first_offset_;     // of the random op that came first, and where it stands
  sym::Expr offset_base_;
  uint32_t next_id_ = 0;
  int symbols_ = 0;
};

}  // namespace plait::lowering
