#pragma once
// The gradient of attention on GPUs (schedule/attention_blocks.h) -> plain kernel IR: rows are queries, whose gradient
// it is, or keys; scores and weights of a tile of columns are computed, and go into sums of the products.
#include "lower/tree/attention_tiles.h"

namespace plait::lowering {

class AttentionGradientEmitter : public AttentionTiles {
 public:
  AttentionGradientEmitter(const ScheduledGroup& group, LoopTree& tree, const AxisGroup& axes, KernelExtents& extents,
                           const LowerOptions& options, kir::Kernel& kernel);
  void run();

 private:
  void declare();
  void block();
  void load_own();
  void tile(sym::Expr first);
  Value row_value(const TensorView& t, sym::Expr query);
  void find_own_rows();
  void find_rows(sym::Expr first);
  std::vector<Value> weights_at(const Element& e, sym::Expr first, bool certain);
  void find_weights(sym::Expr first);
  void choose_weights(sym::Expr first);
  void ask_weights(sym::Expr first);
  void put(const Element& e, const std::vector<Value>& values, const std::vector<uint32_t>& buffers);
  void store_results();

  BlockGradient gradient_;
  std::vector<Panel> panels_;
  std::vector<Left> own_;                 // rows of each of the scores
  std::vector<uint32_t> scores_;          // fragments of each of the scores
  std::vector<uint32_t> weights_, sums_;  // of each product
  std::map<const TensorView*, uint32_t> row_values_;
};

}  // namespace plait::lowering
