#pragma once
// A group around scatters (schedule/scatter.h) -> plain kernel IR. What it computes follows from coordinates alone, so
// there is no loop tree: loops over places, updates and columns are made here, and values are those of TreeEmitter.
#include "axes/build_graph.h"
#include "lower/tree/emitter.h"
#include "schedule/scatter_plan.h"

namespace plait::lowering {

inline constexpr int64_t kThreadsOfTasks = 64;      // of a block whose threads have a task each
inline constexpr int64_t kThreadsOfCounts = 512;    // of the block that makes places of counts
inline constexpr int64_t kCountsOfThread = 8;       // that each of them has at once, side by side
inline constexpr int64_t kThreadsOfElements = 256;  // of a block whose threads have an element each

class ScatterEmitter : public TreeEmitter {
 public:
  // `tree` is empty: it takes the coordinates of what is being computed.
  ScatterEmitter(const ScheduledGroup& group, LoopTree& tree, const AxisGroup& axes, KernelExtents& extents,
                 const LowerOptions& options, kir::Kernel& kernel);
  void run();

 private:
  using Body = std::function<void()>;
  // Where a scatter's result is while updates go into it: rows from `first` on, columns from that of the tile on.
  struct Home {
    uint32_t buffer = 0;
    bool is_local = false;  // on the stack, one range; else all of it, as the result lies in memory
  };

  // scatter.cpp: buffers, coordinates, values, passes over places.
  void declare();
  void declare_result(size_t part);
  uint32_t declare_buffer(std::string name, DType dtype, sym::Expr extent, kir::Space space);
  std::optional<int64_t> stack_elements(const ScatterPart& part) const;
  sym::Expr variable_below(sym::Expr extent);
  void begin_phase();
  void loop(sym::Expr var, sym::Expr extent, kir::LoopKind kind, const Body& body);
  void over_inner(const ScatterPart& part, const TensorView& of, bool vectors, const Body& body);
  void over_places(const ScatterPart& part, const Body& body);
  Coordinates coordinates(const ScatterPart& part, sym::Expr along) const;
  sym::Expr home_index(size_t part, sym::Expr place);
  Value value_at(const TensorView& t, const Coordinates& at);
  Value operand_at(const Scatter& op, size_t i, const Coordinates& at);
  sym::Expr index_at(const ScatterPart& part, sym::Expr update);
  sym::Expr is_inside(sym::Expr place) const;
  void report_outside(const ScatterPart& part, sym::Expr place, sym::Expr update);
  void copy();
  void apply_update(size_t part, sym::Expr place, const std::function<Value(const Coordinates&)>& src,
                    sym::Expr update);
  std::vector<const TensorView*> unwritten(size_t part) const;
  void write(const std::vector<const TensorView*>& outputs, const ScatterPart& part);
  void finish();
  void in_one_walk();
  void walk(size_t part);
  // By threads: kThreadsOfTasks of a block have a task each, of so many that it has.
  void over_tasks(sym::Expr tasks, bool by_threads, const std::function<void(sym::Expr)>& body,
                  int64_t threads = kThreadsOfTasks);

  // scatter_sorted.cpp: phases.
  void in_ranges();
  void declare_sorted();
  void over_chunk(const std::function<void(sym::Expr chunk, sym::Expr update)>& body);
  void count();
  void make_places();
  void make_places_by_threads();
  sym::Expr slot(sym::Expr chunk, sym::Expr range) const;
  void put_updates();
  void walk_ranges();
  Value plus_one(Value value);

  // scatter_atomics.cpp
  void over_elements(const ScatterPart& part, const TensorView& of, int64_t width, const Body& body);
  void in_atomics();
  void add_updates(size_t part);

  LoopTree& tree_;
  const AxisGroup& axes_;
  ScatterPlan plan_;
  bool on_gpu_ = false, atomics_ = false;
  int64_t lanes_ = 1, rows_ = 0, columns_ = 0, chunk_ = 0;
  std::vector<Home> homes_;  // per part
  std::map<const Op*, size_t> part_of_;
  sym::Expr places_, updates_;                  // of the scattered dim, of the index along it
  sym::Expr tile_, tiles_;                      // number of columns' tile, and how many there are
  sym::Expr first_, count_;                     // places of the present range
  std::vector<sym::Expr> inner_;                // coordinates of the inner dims, the last dim first
  std::vector<sym::Expr> batch_;                // and of the dims in front of them
  sym::Expr ranges_, chunks_;                   // how many
  uint32_t counts_ = 0, targets_ = 0;           // workspaces: per chunk and range; the place of each update
  std::optional<uint32_t> numbers_;             // which update it is
  std::vector<std::optional<uint32_t>> moved_;  // per part: what it adds
  sym::Expr along_;                             // of the scattered dim, where a pass over places is
  std::map<std::pair<const TensorView*, std::vector<uint64_t>>, Value> known_;  // of the present evaluation
  int loops_ = 0;
};

}  // namespace plait::lowering
