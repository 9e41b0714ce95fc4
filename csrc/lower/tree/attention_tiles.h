#pragma once
// What kernels of attention on GPUs share (attention_blocks.h, attention_gradient.h). A block has rows of one head, a
// warp some of these: queries, or, by keys, keys. Threads bring tiles of the other side, columns, to shared memory, and
// each has its part of scores, weights and sums in registers, as `mma` shares them: of a tile of 16 by 8, rows l / 4
// and l / 4 + 8, columns 2 * (l % 4) and the next one. What is elementwise is that of TreeEmitter, at coordinates.
#include "axes/build_graph.h"
#include "lower/tree/emitter.h"
#include "schedule/attention_blocks.h"
#include "schedule/masked_keys.h"

namespace plait::lowering {

class AttentionTiles : public TreeEmitter {
 protected:
  using Side = attention_blocks::Side;
  // Columns in shared memory, a row of features or values for each.
  struct Panel {
    uint32_t buffer = 0;
    const Op* op = nullptr;
    Side side = Side::right;
    int64_t most = 0, row = 0;  // elements of a head, at most; of a row in shared memory
    sym::Expr elements;
  };
  // An element of a warp's rows by columns: tiles of 16 rows, of 8 columns, the upper or lower row, one of two columns.
  struct Element {
    sym::Expr tile, column, half, lane;
  };

  // `tree` is empty: it takes the coordinates of what is being computed.
  AttentionTiles(const ScheduledGroup& group, LoopTree& tree, const AxisGroup& axes, KernelExtents& extents,
                 const LowerOptions& options, kir::Kernel& kernel);

  // attention_tiles.cpp: buffers, coordinates, values, tiles of columns.
  void set_shape(const Matmul& scores, bool by_keys);
  void declare_arguments();
  uint32_t declare_buffer(const std::string& name, DType dtype, int64_t extent, kir::Space space);
  uint32_t declare_stack(const char* name, DType dtype, int64_t extent) {
    return declare_buffer(name, dtype, extent, kir::Space::stack);
  }
  Panel declare_panel(const Matmul& m, Side side, int64_t most, sym::Expr elements, const char* name,
                      bool rows = false);
  void over_blocks(const std::function<void()>& block);
  sym::Expr find_head(sym::Expr block);
  void loop(sym::Expr extent, kir::LoopKind kind, bool unroll, const std::function<void(sym::Expr)>& body);
  void unrolled(int64_t extent, const std::function<void(sym::Expr)>& body) {
    loop(number(extent), kir::LoopKind::serial, true, body);
  }
  // body at each element of so many columns, two lanes at once, or one by one.
  void over_elements(int64_t columns, bool lanes, const std::function<void(const Element&)>& body);
  sym::Expr row_of(sym::Expr tile, sym::Expr half) const;
  sym::Expr column_of(const Element& e) const;
  sym::Expr index_of(const Element& e, int64_t columns) const;
  sym::Expr state_of(const Element& e) const { return e.tile * 2 + e.half; }
  sym::Expr rows_of_block() const { return number(warps_ * tiles_ * attention_blocks::kMatrix); }
  Coordinates head_and(std::initializer_list<sym::Expr> last) const;
  // Of an element of scores.
  Coordinates at(sym::Expr row, sym::Expr column) const {
    return by_keys_ ? head_and({column, row}) : head_and({row, column});
  }
  Coordinates element_at(const Op& op, Side side, sym::Expr index, sym::Expr x) const;
  Value value_at(const TensorView& t, const Coordinates& at);
  Value evaluated(const TensorView& t, const Coordinates& at);
  Value constant(double value) { return literal(Constant::from_double(DType::f32, value)); }
  std::optional<Value> divided(const PointwiseOp& op, const Coordinates& at);
  Value power(Pointwise function, Value in);
  Value shuffled(Value in, int64_t by);
  void load_rows(const Matmul& scores, uint32_t fragments, int64_t most);
  void over_columns(std::span<const Panel> panels, const std::function<void(sym::Expr)>& tile);
  void copy_panel(const Panel& panel, sym::Expr first, bool rows = false);
  sym::Expr tiles_of_columns() const { return sym::ceildiv(columns_, width_); }
  sym::Expr first_tile() const;
  sym::Expr last_tile() const;

  // attention_masks.cpp: products of a tile, and where masks cut it.
  void zero(uint32_t buffer, int64_t columns);
  // Left operands: fragments of all terms, or, of rows in shared memory, of the 16 that are multiplied.
  struct Left {
    uint32_t fragments = 0;
    std::optional<Panel> rows;
  };
  void multiply(const Panel& panel, const Left& left, uint32_t sums, bool scores);
  void load_left(const Left& left, sym::Expr step);
  sym::Expr is_whole(sym::Expr first, bool rows) const;
  void find_conditions(std::span<const TensorView* const> made, const std::set<const TensorView*>& scores);
  sym::Expr are_certain(sym::Expr first);
  void hold_conditions(const Element& e, sym::Expr first, bool certain);
  Value is_there(const Element& e, sym::Expr first);

  // attention_results.cpp: behind all columns.
  struct Weighed {
    const Panel* panel;
    uint32_t sums;
  };
  // Where a block has what it finds of values that are left out: of `rows` of `pieces`.
  struct UnseenPlaces {
    int64_t pieces, rows, accesses, step, pitch;
    int64_t extent() const { return rows * pitch; }
  };
  void poison(std::span<const Weighed> all_weighed);
  UnseenPlaces unseen_of(const Panel& panel) const;
  void spread_poison(const Weighed& to, uint32_t all, const UnseenPlaces& u);
  void scan_values(const Panel& panel, sym::Expr begin, sym::Expr end, uint32_t sums, const UnseenPlaces& u);
  void store_product(const TensorView& t, const Matmul& product, const Weighed& from,
                     const std::function<void(const Element&)>& hold);

  LoopTree& tree_;
  const AxisGroup& axes_;
  bool by_keys_ = false;
  int64_t warps_ = 1, tiles_ = 1, width_ = 0, stages_ = 1;  // of a block; of 16 rows of a warp; columns of a tile
  DType narrow_ = DType::bf16;
  std::vector<sym::Expr> batch_, head_;      // extents, and the block's coordinates
  sym::Expr rows_, columns_;                 // extents
  std::optional<sym::Expr> before_, after_;  // columns that a row sees, of the graph: row - before to row + after
  sym::Expr first_row_, warp_, thread_;
  uint32_t matrices_ = 0;                            // a fragment of two right operands
  std::set<const TensorView*> scores_out_, powers_;  // of which products by numbers, and exponentials, are cheap
  std::map<const TensorView*, Value> held_;          // of the present element
  std::map<std::pair<const TensorView*, std::vector<uint64_t>>, Value> known_;  // of the present evaluation

 private:
  // Comparisons of positions that weights come of, and what each is where it masks nothing.
  struct Condition {
    const TensorView* tensor;
    bool usual;
    std::vector<KeyDistance> distances;
  };
  int of_row(const KeyDistance& d) const { return by_keys_ ? d.keys : d.queries; }
  int of_column(const KeyDistance& d) const { return by_keys_ ? d.queries : d.keys; }
  Value is_positive(sym::Expr first, sym::Expr more);
  Value compared(const Condition& condition, const Element& e, sym::Expr first);

  std::vector<Condition> conditions_;
  int loops_ = 0;
};

}  // namespace plait::lowering
