#include "lower/tree/attention_blocks.h"

#include <limits>

#include "base/error.h"

namespace plait::lowering {

AttentionEmitter::AttentionEmitter(const ScheduledGroup& group, LoopTree& tree, const AxisGroup& axes,
                                   KernelExtents& extents, const LowerOptions& options, kir::Kernel& kernel)
    : AttentionTiles(group, tree, axes, extents, options, kernel) {
  const auto refused = attention_blocks::plan(*group.graph, attention_);
  PLAIT_CHECK(!refused, "kernel {}: {}", options.name, refused->reason);
  const auto& numbers = std::get<schedules::Attention>(group.schedule);
  features_ = *numbers.features;
  value_columns_ = *numbers.values;
  before_ = attention_.behind;
  after_ = attention_.ahead;
  scores_out_ = {attention_.scores->out()};
}

void AttentionEmitter::run() {
  set_shape(*attention_.scores, false);
  declare();
  const TensorView* logits = attention_.logits;
  find_conditions({&logits, 1}, scores_out_);
  over_blocks([&] { block(); });
}

// Arguments first, then what a block has in shared memory, and a thread in registers.
void AttentionEmitter::declare() {
  declare_arguments();
  panels_ = {declare_panel(*attention_.scores, Side::right, features_, attention_.features, "tile_of_keys"),
             declare_panel(*attention_.product, Side::values, value_columns_, attention_.values, "tile_of_values")};
  const int64_t rows = 2 * tiles_;
  query_ = declare_stack("queries", narrow_, tiles_ * features_ / 2);
  scores_ = declare_stack("scores", DType::f32, tiles_ * width_ / 2);
  weights_ = declare_stack("weights", narrow_, tiles_ * width_ / 2);
  matrices_ = declare_stack("matrices", narrow_, attention_blocks::kHalf);
  sums_ = declare_stack("sums", DType::f32, tiles_ * value_columns_ / 2);
  greatest_ = declare_stack("greatest", DType::f32, rows);
  shift_ = declare_stack("shift", DType::f32, rows);
  total_ = declare_stack("total", DType::f32, rows);
}

// Over the four threads that share a row.
kir::Value AttentionEmitter::across_row(Pointwise function, Value in) {
  for (const int64_t by : {1, 2}) in = apply(function, {in, shuffled(in, by)});
  return in;
}

void AttentionEmitter::allocate_fragments() {
  for (const uint32_t buffer : {query_, scores_, weights_, matrices_, sums_, greatest_, shift_, total_})
    allocate(buffer);
}

void AttentionEmitter::block() {
  allocate_fragments();
  load_rows(*attention_.scores, query_, features_);
  zero(sums_, value_columns_);
  unrolled(2 * tiles_, [&](sym::Expr row) {
    store(greatest_, row, constant(-std::numeric_limits<double>::infinity()));
    store(total_, row, constant(0));
  });
  over_columns(panels_, [&](sym::Expr first) { tile(first); });
  finish_rows();
  const Weighed weighed = {&panels_[1], sums_};
  if (before_ || after_) poison({&weighed, 1});
  store_results();
}

}  // namespace plait::lowering
