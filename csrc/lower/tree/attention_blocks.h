#pragma once
// Attention on GPUs (schedule/attention_blocks.h) -> plain kernel IR. A block has queries of one head, a warp some rows
// of these; threads bring tiles of keys and values to shared memory, and each has its part of scores, weights and sums
// in registers, as `mma` shares them: of a tile of 16 by 8, rows l / 4 and l / 4 + 8, columns 2 * (l % 4) and the next
// one. Rows go along their keys once, with the greatest logit so far; sums are scaled where that grows. What is
// elementwise is that of TreeEmitter, at coordinates.
#include "axes/build_graph.h"
#include "lower/tree/emitter.h"
#include "schedule/attention_blocks.h"
#include "schedule/masked_keys.h"

namespace plait::lowering {

class AttentionEmitter : public TreeEmitter {
 public:
  // `tree` is empty: it takes the coordinates of what is being computed.
  AttentionEmitter(const ScheduledGroup& group, LoopTree& tree, const AxisGroup& axes, KernelExtents& extents,
                   const LowerOptions& options, kir::Kernel& kernel);
  void run();

 private:
  using Body = std::function<void()>;
  // Keys or values in shared memory: an operand [..., key, x], or [..., x, key].
  struct Panel {
    uint32_t buffer = 0;
    const Op* op = nullptr;
    bool transposed = false;
    int64_t most = 0, row = 0;  // elements of a head, at most; of a row in shared memory
    sym::Expr elements;
  };
  // An element of a warp's rows by columns: tiles of 16 rows, of 8 columns, the upper or lower row, one of two columns.
  struct Element {
    sym::Expr tile, column, half, lane;
  };

  // attention_blocks.cpp: buffers, coordinates, values, tiles of keys.
  void declare();
  uint32_t declare_buffer(const std::string& name, DType dtype, int64_t extent, kir::Space space);
  void allocate_fragments();
  void block();
  sym::Expr find_head(sym::Expr block);
  void loop(sym::Expr extent, kir::LoopKind kind, bool unroll, const std::function<void(sym::Expr)>& body);
  void unrolled(int64_t extent, const std::function<void(sym::Expr)>& body) {
    loop(number(extent), kir::LoopKind::serial, true, body);
  }
  // body at each element of so many columns, two lanes at once, or one by one.
  void over_elements(int64_t columns, bool lanes, const std::function<void(const Element&)>& body);
  sym::Expr row_of(sym::Expr tile, sym::Expr half) const;  // the query
  sym::Expr column_of(const Element& e) const;
  sym::Expr index_of(const Element& e, int64_t columns) const;
  sym::Expr state_of(const Element& e) const { return e.tile * 2 + e.half; }
  Coordinates head_and(std::initializer_list<sym::Expr> last) const;
  Value value_at(const TensorView& t, const Coordinates& at);
  Value evaluated(const TensorView& t, const Coordinates& at);
  Value constant(double value) { return literal(Constant::from_double(DType::f32, value)); }
  std::optional<Value> divided(const PointwiseOp& op, const Coordinates& at);
  Value shuffled(Value in, int64_t by);
  Value across_row(Pointwise function, Value in);
  void load_queries();
  void over_keys();
  void copy_panel(const Panel& panel, sym::Expr first);
  sym::Expr tiles_of_keys() const;
  sym::Expr first_tile() const;
  sym::Expr last_tile() const;

  // attention_scores.cpp: what a warp does with a tile of keys.
  void tile(sym::Expr first);
  void zero(uint32_t buffer, int64_t columns);
  void multiply(const Panel& panel, bool scores);
  void find_logits(sym::Expr first);
  void where_present(sym::Expr first, bool reads, sym::Expr certain, const std::function<void(bool, bool)>& body);
  void find_conditions();
  sym::Expr are_certain(sym::Expr first);
  void find_rows();
  Value shift_of(Value greatest, Value otherwise, sym::Expr query);
  Value power(Value apart);
  void find_weights(sym::Expr first);

  // attention_results.cpp: behind all keys.
  void finish_rows();
  void poison();
  void spread_poison(uint32_t all, int64_t rows, int64_t pitch, int64_t step);
  void scan_values(sym::Expr begin, sym::Expr end, uint32_t sums, int64_t accesses);
  void store_results();
  void store_row(const TensorView& t);
  void store_product(const TensorView& t);
  Coordinates reshaped_at(const TensorView& t, const TensorView& from, const Coordinates& at);

  LoopTree& tree_;
  const AxisGroup& axes_;
  BlockAttention attention_;
  int64_t warps_ = 1, tiles_ = 1, keys_ = 0, stages_ = 1;  // of a block; of 16 rows of a warp; of a tile
  int64_t features_ = 0, value_columns_ = 0;               // of a head, at most
  DType narrow_ = DType::bf16;
  std::vector<sym::Expr> batch_, head_;  // extents, and the block's coordinates
  sym::Expr queries_, all_keys_;         // extents
  sym::Expr first_query_, warp_, thread_;
  Panel key_panel_, value_panel_;
  uint32_t query_ = 0, scores_ = 0, weights_ = 0, matrices_ = 0, sums_ = 0;  // fragments
  uint32_t greatest_ = 0, shift_ = 0, total_ = 0;
  // Comparisons of positions that logits come of, and what each is where it masks nothing.
  struct Condition {
    const TensorView* tensor;
    bool usual;
    std::vector<KeyDistance> distances;
  };
  Value compared(const Condition& condition, const Element& e, sym::Expr first);
  std::vector<Condition> conditions_;
  std::map<const TensorView*, Value> held_;                                     // of the present element
  std::map<std::pair<const TensorView*, std::vector<uint64_t>>, Value> known_;  // of the present evaluation
  int loops_ = 0;
};

}  // namespace plait::lowering
