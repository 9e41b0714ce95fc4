#pragma once
// Forward attention on GPUs (schedule/attention_blocks.h) -> plain kernel IR. Rows go along their keys once, with the
// greatest logit so far; sums are scaled where that grows.
#include "lower/tree/attention_tiles.h"

namespace plait::lowering {

class AttentionEmitter : public AttentionTiles {
 public:
  AttentionEmitter(const ScheduledGroup& group, LoopTree& tree, const AxisGroup& axes, KernelExtents& extents,
                   const LowerOptions& options, kir::Kernel& kernel);
  void run();

 private:
  void declare();
  void allocate_fragments();
  void block();
  Value across_row(Pointwise function, Value in);

  // attention_scores.cpp: what a warp does with a tile of keys.
  void tile(sym::Expr first);
  void find_logits(sym::Expr first);
  void where_present(sym::Expr first, bool reads, sym::Expr certain, const std::function<void(bool, bool)>& body);
  void find_rows();
  Value shift_of(Value greatest, Value otherwise, sym::Expr query);
  void find_weights(sym::Expr first);

  // attention_results.cpp: behind all keys.
  void finish_rows();
  void store_results();
  void store_row(const TensorView& t);
  Coordinates reshaped_at(const TensorView& t, const TensorView& from, const Coordinates& at);

  BlockAttention attention_;
  int64_t features_ = 0, value_columns_ = 0;                  // of a head, at most
  std::vector<Panel> panels_;                                 // of keys, of values
  uint32_t query_ = 0, scores_ = 0, weights_ = 0, sums_ = 0;  // fragments
  uint32_t greatest_ = 0, shift_ = 0, total_ = 0;
};

}  // namespace plait::lowering
